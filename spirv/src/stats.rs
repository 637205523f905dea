//! Counting the instructions of a binary, of any module, translated or not.
//!
//! The terms are those of the book's chapter on counting: *body* instructions stand in functions, *cost* weighs them by
//! the cost column of the opcode table, *moves*, *loads* and *stores* are counted apart from the cost.

use crate::error::Error;
use deburr_ir_core::ALU_INFO;
use rspirv::grammar::{GLSL_STD_450_INSTRUCTION_TABLE, INSTRUCTION_TABLE};
use rustc_hash::{FxHashMap, FxHashSet};
use spirv::Op;

/// What a module holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Counts {
    /// Instructions in functions, without parameters, labels, lines, variables and what has no semantics.
    pub body: u64,
    /// Body instructions weighted by cost; moves, loads and stores apart.
    pub cost: u64,
    /// Instructions that only move components.
    pub moves: u64,
    /// Loads but those of handles.
    pub loads: u64,
    /// Loads of images, samplers and acceleration structures.
    pub handle_loads: u64,
    /// Stores and copies.
    pub stores: u64,
    /// All instructions of the module.
    pub all: u64,
}

impl std::ops::AddAssign for Counts {
    fn add_assign(&mut self, other: Self) {
        self.body += other.body;
        self.cost += other.cost;
        self.moves += other.moves;
        self.loads += other.loads;
        self.handle_loads += other.handle_loads;
        self.stores += other.stores;
        self.all += other.all;
    }
}

/// Counts the instructions of a binary.
///
/// # Errors
/// Where the words are no sequence of instructions.
pub fn count(words: &[u32]) -> Result<Counts, Error> {
    let costs = Costs::new();
    let mut counts = Counts::default();
    let mut state = Seen::default();
    let mut at = 5;
    if words.first() != Some(&spirv::MAGIC_NUMBER) {
        return Err(Error::invalid("no SPIR-V: the magic number is missing"));
    }
    while at < words.len() {
        let len = (words[at] >> 16) as usize;
        let Some(instr) = (len > 0).then(|| words.get(at..at + len)).flatten() else {
            let mut error = Error::invalid("an instruction that is longer than the module");
            error.word = Some(at);
            return Err(error);
        };
        counts.all += 1;
        state.instruction(instr, &costs, &mut counts);
        at += len;
    }
    Ok(counts)
}

/// Cost of each instruction that the opcode table writes or reads.
struct Costs {
    core: FxHashMap<u32, u64>,
    glsl: FxHashMap<u32, u64>,
}

impl Costs {
    fn new() -> Self {
        let core: FxHashMap<&str, u32> =
            INSTRUCTION_TABLE.iter().map(|i| (i.opname, i.opcode as u32)).collect();
        let glsl: FxHashMap<&str, u32> =
            GLSL_STD_450_INSTRUCTION_TABLE.iter().map(|i| (i.opname, i.opcode.into())).collect();
        let mut costs = Costs { core: FxHashMap::default(), glsl: FxHashMap::default() };
        for info in ALU_INFO.iter() {
            for form in info.spirv {
                let (names, out) =
                    if form.ext { (&glsl, &mut costs.glsl) } else { (&core, &mut costs.core) };
                if let Some(&number) = names.get(form.name) {
                    out.entry(number).or_insert(info.cost.into());
                }
            }
        }
        costs
    }
}

#[derive(Default)]
struct Seen {
    in_function: bool,
    handles: FxHashSet<u32>,
    glsl: FxHashSet<u32>,
    non_semantic: FxHashSet<u32>,
    /// Columns of matrix types.
    columns: FxHashMap<u32, u64>,
    /// Columns of values of matrix type.
    matrices: FxHashMap<u32, u64>,
}

impl Seen {
    fn instruction(&mut self, instr: &[u32], costs: &Costs, counts: &mut Counts) {
        let word = |n: usize| instr.get(n).copied().unwrap_or(0);
        let Some(op) = Op::from_u32(instr[0] & 0xffff) else { return };
        match op {
            Op::TypeImage
            | Op::TypeSampler
            | Op::TypeSampledImage
            | Op::TypeAccelerationStructureKHR => {
                self.handles.insert(word(1));
            }
            Op::TypeMatrix => {
                self.columns.insert(word(1), word(3).into());
            }
            Op::ExtInstImport => {
                let name: Vec<u8> = instr[2..].iter().flat_map(|w| w.to_le_bytes()).collect();
                if name.starts_with(b"GLSL.std.450\0") {
                    self.glsl.insert(word(1));
                } else if name.starts_with(b"NonSemantic.") {
                    self.non_semantic.insert(word(1));
                }
            }
            Op::Function => self.in_function = true,
            Op::FunctionEnd => self.in_function = false,
            _ if self.in_function => self.body(op, instr, costs, counts),
            _ => {}
        }
    }

    fn body(&mut self, op: Op, instr: &[u32], costs: &Costs, counts: &mut Counts) {
        let word = |n: usize| instr.get(n).copied().unwrap_or(0);
        let uncounted = matches!(
            op,
            Op::FunctionParameter | Op::Label | Op::Line | Op::NoLine | Op::Nop | Op::Variable
        ) || op == Op::ExtInst && self.non_semantic.contains(&word(3));
        if uncounted {
            return;
        }
        counts.body += 1;
        if let Some(&columns) = self.columns.get(&word(1)) {
            self.matrices.insert(word(2), columns);
        }
        match op {
            Op::Bitcast
            | Op::CopyObject
            | Op::CompositeExtract
            | Op::CompositeConstruct
            | Op::CompositeInsert
            | Op::VectorShuffle => counts.moves += 1,
            Op::Load if self.handles.contains(&word(1)) => counts.handle_loads += 1,
            Op::Load => counts.loads += 1,
            Op::Store | Op::CopyMemory => counts.stores += 1,
            Op::ExtInst if self.glsl.contains(&word(3)) => {
                counts.cost += costs.glsl.get(&word(4)).copied().unwrap_or(1);
            }
            _ => counts.cost += self.cost(op, instr, costs),
        }
    }

    fn cost(&self, op: Op, instr: &[u32], costs: &Costs) -> u64 {
        let columns =
            || instr[1..].iter().filter_map(|id| self.matrices.get(id)).max().copied().unwrap_or(1);
        match op {
            Op::Phi
            | Op::SelectionMerge
            | Op::LoopMerge
            | Op::Branch
            | Op::Return
            | Op::ReturnValue
            | Op::Unreachable => 0,
            Op::MatrixTimesScalar
            | Op::MatrixTimesVector
            | Op::VectorTimesMatrix
            | Op::MatrixTimesMatrix
            | Op::OuterProduct
            | Op::Transpose => columns(),
            _ => match costs.core.get(&(op as u32)) {
                Some(&cost) => cost,
                None => {
                    let name = INSTRUCTION_TABLE.get(op).opname;
                    let heavy = [
                        "Image",
                        "Atomic",
                        "GroupNonUniform",
                        "Subgroup",
                        "ControlBarrier",
                        "MemoryBarrier",
                    ];
                    let ray = name.starts_with("RayQuery")
                        || name.starts_with("Trace")
                        || name.starts_with("Report");
                    if ray || heavy.iter().any(|h| name.starts_with(h)) { 4 } else { 1 }
                }
            },
        }
    }
}
