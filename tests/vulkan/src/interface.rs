//! What a compute module binds, read from its words: descriptors, push constants, specialisation constants.
//!
//! An own small reading of the binary and not the compiler's: a harness that binds buffers by what the reader under test
//! says would follow it into its errors.

use crate::Error;
use std::collections::HashMap;

/// Kind of a scalar in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Leaf {
    /// Integer.
    Int,
    /// Float.
    Float,
}

/// A scalar of a block, at its offset.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Member {
    /// Offset in bytes.
    pub offset: u32,
    /// Size in bytes.
    pub size: u32,
    /// Kind.
    pub leaf: Leaf,
}

/// Kind of a descriptor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Uniform buffer.
    Uniform,
    /// Storage buffer.
    Storage,
    /// Image, sampler, array of descriptors: not bound here.
    Other,
}

/// A descriptor that a module declares.
#[derive(Clone, Debug)]
pub struct Descriptor {
    /// Set.
    pub set: u32,
    /// Binding.
    pub binding: u32,
    /// Kind.
    pub kind: Kind,
    /// The type of its block.
    ty: u32,
}

/// What a module declares.
#[derive(Clone, Debug, Default)]
pub struct Interface {
    /// Descriptors, by set and binding.
    pub descriptors: Vec<Descriptor>,
    /// Names of the compute entry points.
    pub entries: Vec<String>,
    /// Ids of specialisation constants.
    pub specs: Vec<u32>,
    /// Whether anything is atomic on floats or waits for other workgroups' stores, so that results depend on order.
    pub unordered: bool,
    push: Option<u32>,
    types: HashMap<u32, Type>,
    constants: HashMap<u32, u32>,
    offsets: HashMap<(u32, u32), u32>,
    strides: HashMap<u32, u32>,
    matrix_strides: HashMap<(u32, u32), (u32, bool)>,
}

#[derive(Clone, Debug)]
enum Type {
    Int(u32),
    Float(u32),
    Vector(u32, u32),
    Matrix(u32, u32),
    Array(u32, u32),
    Runtime(u32),
    Struct(Vec<u32>),
    Pointer(u32),
}

/// Bytes of the longest block that is filled: enough for every index that a filled integer gives.
const MOST: u32 = 1 << 20;

#[derive(Default)]
struct Decorations {
    set: HashMap<u32, u32>,
    binding: HashMap<u32, u32>,
    buffer_block: Vec<u32>,
}

impl Interface {
    /// Reads the words of a module.
    ///
    /// # Errors
    /// If an instruction runs past the end.
    pub fn of(words: &[u32]) -> Result<Interface, Error> {
        let mut interface = Interface::default();
        let mut seen = Decorations::default();
        let mut variables = Vec::new();
        let mut at = 5;
        while at < words.len() {
            let length = (words[at] >> 16) as usize;
            let Some(instr) = words.get(at..at + length).filter(|i| !i.is_empty()) else {
                return Err(Error::Invalid(format!(
                    "word {at}: the instruction runs past the end"
                )));
            };
            interface.instruction(instr, &mut seen, &mut variables);
            at += length;
        }
        for (id, pointer, class) in variables {
            interface.variable(id, pointer, class, &seen);
        }
        interface.descriptors.sort_by_key(|d| (d.set, d.binding));
        // Aliases of one binding are one descriptor.
        interface.descriptors.dedup_by_key(|d| (d.set, d.binding));
        Ok(interface)
    }

    fn instruction(
        &mut self,
        instr: &[u32],
        seen: &mut Decorations,
        variables: &mut Vec<(u32, u32, u32)>,
    ) {
        match (instr[0] & 0xffff, &instr[1..]) {
            (15, [5, _, name @ ..]) => self.entries.push(string(name)),
            (21, [id, bits, _]) => drop(self.types.insert(*id, Type::Int(bits / 8))),
            (22, [id, bits, ..]) => drop(self.types.insert(*id, Type::Float(bits / 8))),
            (23, [id, ty, n]) => drop(self.types.insert(*id, Type::Vector(*ty, *n))),
            (24, [id, ty, n]) => drop(self.types.insert(*id, Type::Matrix(*ty, *n))),
            (28, [id, ty, length]) => {
                let length = self.constants.get(length).copied().unwrap_or(1);
                self.types.insert(*id, Type::Array(*ty, length));
            }
            (29, [id, ty]) => drop(self.types.insert(*id, Type::Runtime(*ty))),
            (30, [id, members @ ..]) => {
                drop(self.types.insert(*id, Type::Struct(members.to_vec())))
            }
            (32, [id, _, ty]) => drop(self.types.insert(*id, Type::Pointer(*ty))),
            (43 | 50, [_, id, value, ..]) => drop(self.constants.insert(*id, *value)),
            (59, [pointer, id, class, ..]) => variables.push((*id, *pointer, *class)),
            (71, [id, 33, n]) => drop(seen.binding.insert(*id, *n)),
            (71, [id, 34, n]) => drop(seen.set.insert(*id, *n)),
            (71, [id, 3]) => seen.buffer_block.push(*id),
            (71, [id, 6, n]) => drop(self.strides.insert(*id, *n)),
            (71, [_, 1, n]) => self.specs.push(*n),
            (72, [id, member, 35, n]) => drop(self.offsets.insert((*id, *member), *n)),
            (72, [id, member, 7, n]) => {
                self.matrix_strides.entry((*id, *member)).or_default().0 = *n
            }
            (72, [id, member, 4]) => {
                self.matrix_strides.entry((*id, *member)).or_default().1 = true
            }
            // OpAtomicFAddEXT, OpAtomicExchange, OpAtomicCompareExchange.
            (6035 | 229 | 230, _) => self.unordered = true,
            _ => {}
        }
    }

    fn variable(&mut self, id: u32, pointer: u32, class: u32, seen: &Decorations) {
        let Some(Type::Pointer(ty)) = self.types.get(&pointer) else { return };
        let ty = *ty;
        let is_struct = matches!(self.types.get(&ty), Some(Type::Struct(_)));
        let kind = match class {
            9 => {
                self.push = Some(ty);
                return;
            }
            2 if is_struct && !seen.buffer_block.contains(&ty) => Kind::Uniform,
            2 | 12 if is_struct => Kind::Storage,
            0 | 2 | 12 => Kind::Other,
            _ => return,
        };
        let (set, binding) = (seen.set.get(&id).copied(), seen.binding.get(&id).copied());
        self.descriptors.push(Descriptor {
            set: set.unwrap_or(0),
            binding: binding.unwrap_or(0),
            kind,
            ty,
        });
    }

    /// Kind of the descriptor at a set and binding.
    pub fn kind(&self, set: u32, binding: u32) -> Option<Kind> {
        self.descriptors.iter().find(|d| (d.set, d.binding) == (set, binding)).map(|d| d.kind)
    }

    /// The scalars of a descriptor's block within its first `size` bytes.
    pub fn members(&self, descriptor: &Descriptor, size: u32) -> Vec<Member> {
        self.flatten(descriptor.ty, size)
    }

    /// The scalars of the push constants.
    pub fn push_members(&self) -> Vec<Member> {
        self.push.map_or_else(Vec::new, |ty| self.flatten(ty, 256))
    }

    /// Scalars of a type in order, as long as they end within `limit`. An explicit stack instead of recursion: the types
    /// of a module nest as deep as it likes.
    fn flatten(&self, ty: u32, limit: u32) -> Vec<Member> {
        let limit = limit.min(MOST);
        let mut members = Vec::new();
        let mut stack = vec![(ty, 0u32, (0u32, false))];
        while let Some((ty, offset, matrix)) = stack.pop() {
            let scalar = |size: u32, leaf| Member { offset, size, leaf };
            match self.types.get(&ty) {
                _ if offset >= limit => {}
                Some(Type::Int(size)) if offset + size <= limit => {
                    members.push(scalar(*size, Leaf::Int))
                }
                Some(Type::Float(size)) if offset + size <= limit => {
                    members.push(scalar(*size, Leaf::Float))
                }
                Some(Type::Vector(element, n)) => {
                    let step = if matrix.1 { matrix.0 } else { self.scalar_size(*element) };
                    stack.extend((0..*n).rev().map(|i| (*element, offset + i * step, (0, false))));
                }
                Some(Type::Matrix(column, n)) => {
                    let step = if matrix.1 { self.scalar_size(*column) } else { matrix.0 };
                    stack.extend((0..*n).rev().map(|i| (*column, offset + i * step, matrix)));
                }
                Some(Type::Array(..) | Type::Runtime(_)) => {
                    let (element, most) = match self.types[&ty] {
                        Type::Array(element, n) => (element, n),
                        Type::Runtime(element) => (element, u32::MAX),
                        _ => continue,
                    };
                    let step = self.strides.get(&ty).copied().unwrap_or(16).max(1);
                    let n = most.min((limit - offset).div_ceil(step));
                    stack.extend((0..n).rev().map(|i| (element, offset + i * step, matrix)));
                }
                Some(Type::Struct(fields)) => {
                    stack.extend(fields.iter().enumerate().rev().map(|(i, field)| {
                        let i = i as u32;
                        let at = self.offsets.get(&(ty, i)).copied().unwrap_or(0);
                        let matrix =
                            self.matrix_strides.get(&(ty, i)).copied().unwrap_or((16, false));
                        (*field, offset.saturating_add(at), matrix)
                    }))
                }
                _ => {}
            }
        }
        members
    }

    /// Bytes of a scalar, or of a vector's scalar.
    fn scalar_size(&self, ty: u32) -> u32 {
        match self.types.get(&ty) {
            Some(Type::Int(size) | Type::Float(size)) => *size,
            Some(Type::Vector(element, _)) => match self.types.get(element) {
                Some(Type::Int(size) | Type::Float(size)) => *size,
                _ => 4,
            },
            _ => 4,
        }
    }

    /// Bytes that a uniform block or the push constants take.
    pub fn end(members: &[Member]) -> u32 {
        members.iter().map(|m| m.offset + m.size).max().unwrap_or(0).next_multiple_of(4)
    }
}

/// A literal string: bytes up to the first zero.
fn string(words: &[u32]) -> String {
    let bytes: Vec<u8> =
        words.iter().flat_map(|w| w.to_le_bytes()).take_while(|b| *b != 0).collect();
    String::from_utf8_lossy(&bytes).into_owned()
}
