//! Building code at a cursor. One method an opcode and intrinsic comes from the tables; this file has the rest.

use crate::entity::{Block, Def, Func, Instr, Type, Var};
use crate::func::{Cursor, Function};
use crate::instr::{DerefInfo, DerefKind, Flags, InstrInit, JumpKind, Shape, Swizzle, TexInfo};
use crate::intrinsic::{Index, Intrinsic};
use crate::op::AluOp;
use crate::types::Modes;

/// A source of an ALU instruction: a value and the components taken of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AluSrc {
    /// The value.
    pub def: Def,
    /// The components.
    pub swizzle: Swizzle,
}

impl From<Def> for AluSrc {
    fn from(def: Def) -> Self {
        AluSrc { def, swizzle: Swizzle::IDENTITY }
    }
}

impl AluSrc {
    /// One component of a value, for every component of the operand.
    pub fn comp(def: Def, comp: u8) -> Self {
        AluSrc { def, swizzle: Swizzle::splat(comp) }
    }

    /// The listed components of a value.
    pub fn swizzled(def: Def, comps: &[u8]) -> Self {
        AluSrc { def, swizzle: Swizzle::new(comps) }
    }
}

/// Inserts instructions one after the other at a cursor.
///
/// ```
/// use deburr_ir_core::{AluOp, Builder, Function};
///
/// let mut f = Function::new("main");
/// let mut b = Builder::at_end(&mut f);
/// let one = b.imm_u32(1);
/// let two = b.alu(AluOp::IADD, &[one, one]);
/// assert_eq!(f.bits(two), 32);
/// ```
#[derive(Debug)]
pub struct Builder<'f> {
    /// The function.
    pub f: &'f mut Function,
    /// Where the next instruction goes.
    pub cursor: Cursor,
    /// Flags that every instruction built gets.
    pub flags: Flags,
}

impl<'f> Builder<'f> {
    /// A builder at the cursor.
    pub fn new(f: &'f mut Function, cursor: Cursor) -> Self {
        Builder { f, cursor, flags: Flags::empty() }
    }

    /// A builder at the end of the function's body, before a jump there.
    pub fn at_end(f: &'f mut Function) -> Self {
        let cursor = Cursor::BeforeJump(f.last_block(f.body()));
        Builder::new(f, cursor)
    }

    /// Inserts an instruction made by [`Function::create`] and moves behind it.
    pub fn insert(&mut self, instr: Instr) -> Instr {
        self.f.insert(instr, self.cursor);
        self.cursor = Cursor::After(instr);
        instr
    }

    fn add(&mut self, init: InstrInit<'_>, shape: Shape, srcs: &[Def]) -> Instr {
        let instr = self.f.create(init, shape, srcs);
        self.insert(instr)
    }

    fn shape(comps: u8, bits: u8) -> Shape {
        Shape::new(comps, bits)
            .expect("the caller names a component count and bit size that the IR has")
    }

    /// An ALU instruction; components and bit size follow from the operands: as many components as the widest
    /// operand that works per component has, or the opcode's own.
    ///
    /// # Panics
    /// If the opcode is in no table of the function's dialects.
    pub fn alu(&mut self, op: AluOp, srcs: &[Def]) -> Def {
        let info = self.f.dialects.alu(op).expect("the opcode is in a table");
        let comps = match info.output.comps {
            0 => {
                let per_component = info.inputs.iter().zip(srcs).filter(|(ty, _)| ty.comps == 0);
                per_component.map(|(_, &s)| self.f.comps(s)).max().unwrap_or(1)
            }
            n => n,
        };
        let instr =
            self.alu_instr(op, comps, &srcs.iter().map(|&s| AluSrc::from(s)).collect::<Vec<_>>());
        // A scalar among vectors is splat.
        for (n, ty) in info.inputs.iter().enumerate() {
            if ty.comps == 0 && comps > 1 && self.f.comps(srcs[n]) == 1 {
                self.f.set_swizzle(instr, n, Swizzle::splat(0));
            }
        }
        instr.def()
    }

    /// An ALU instruction of `comps` components on swizzled sources.
    ///
    /// # Panics
    /// If the opcode is in no table of the function's dialects.
    pub fn alu_instr(&mut self, op: AluOp, comps: u8, srcs: &[AluSrc]) -> Instr {
        let info = self.f.dialects.alu(op).expect("the opcode is in a table");
        let bits = match info.output.bits {
            0 => {
                let sized = info.inputs.iter().zip(srcs).find(|(ty, _)| ty.bits == 0);
                sized.map_or(32, |(_, s)| self.f.bits(s.def))
            }
            n => n,
        };
        let defs: smallvec::SmallVec<[Def; 4]> = srcs.iter().map(|s| s.def).collect();
        let instr = self.f.create(InstrInit::Alu(op), Self::shape(comps, bits), &defs);
        for (n, src) in srcs.iter().enumerate() {
            self.f.set_swizzle(instr, n, src.swizzle);
        }
        self.f.set_flags(instr, self.flags);
        self.insert(instr)
    }

    /// An intrinsic. `shape` is [`Shape::NONE`] where it has no result.
    pub fn intrinsic(
        &mut self,
        op: Intrinsic,
        shape: Shape,
        srcs: &[Def],
        indices: &[u32],
    ) -> Instr {
        self.add(InstrInit::Intrinsic(op, indices), shape, srcs)
    }

    /// An intrinsic whose const indices are given by name; those not given have their defaults.
    ///
    /// # Panics
    /// If the intrinsic is in no table of the function's dialects, or hasn't an index that is given.
    pub fn intrinsic_with(
        &mut self,
        op: Intrinsic,
        shape: Shape,
        srcs: &[Def],
        indices: &[(Index, u32)],
    ) -> Instr {
        let info = self.f.dialects.intrinsic(op).expect("the intrinsic is in a table");
        let dialects = self.f.dialects;
        let default = |index: &Index| dialects.index_of(op, *index).map_or(0, |info| info.default);
        let mut values: smallvec::SmallVec<[u32; 8]> = info.indices.iter().map(default).collect();
        for (index, value) in indices {
            let slot = info.index_slot(*index).expect("the intrinsic has the index");
            values[slot] = *value;
        }
        self.intrinsic(op, shape, srcs, &values)
    }

    /// A texture instruction.
    pub fn tex(&mut self, info: TexInfo, shape: Shape, srcs: &[Def]) -> Def {
        self.add(InstrInit::Tex(info), shape, srcs).def()
    }

    /// A constant: zero-extended bits a component.
    pub fn load_const(&mut self, bits: u8, comps: &[u64]) -> Def {
        self.add(InstrInit::LoadConst(comps), Self::shape(comps.len() as u8, bits), &[]).def()
    }

    /// A 1-bit constant.
    pub fn imm_bool(&mut self, value: bool) -> Def {
        self.load_const(1, &[u64::from(value)])
    }

    /// A 32-bit constant.
    pub fn imm_u32(&mut self, value: u32) -> Def {
        self.load_const(32, &[u64::from(value)])
    }

    /// A 32-bit float constant.
    pub fn imm_f32(&mut self, value: f32) -> Def {
        self.imm_u32(value.to_bits())
    }

    /// An integer constant of `bits` bits.
    pub fn imm_int(&mut self, value: i64, bits: u8) -> Def {
        let mask = if bits >= 64 { u64::MAX } else { (1 << bits) - 1 };
        self.load_const(bits, &[value as u64 & mask])
    }

    /// One arbitrary value.
    pub fn undef(&mut self, comps: u8, bits: u8) -> Def {
        self.add(InstrInit::Undef, Self::shape(comps, bits), &[]).def()
    }

    /// A phi, at the start of `block`, with a source for each of the predecessors named.
    pub fn phi(&mut self, block: Block, shape: Shape, srcs: &[(Block, Def)]) -> Def {
        let (preds, defs): (Vec<Block>, Vec<Def>) = srcs.iter().copied().unzip();
        let phi = self.f.create(InstrInit::Phi(&preds), shape, &defs);
        self.f.insert(phi, Cursor::AfterPhis(block));
        phi.def()
    }

    /// One component of a value.
    pub fn channel(&mut self, def: Def, comp: u8) -> Def {
        if self.f.comps(def) == 1 {
            return def;
        }
        self.alu_instr(AluOp::MOV, 1, &[AluSrc::comp(def, comp)]).def()
    }

    /// The listed components of a value.
    pub fn swizzle(&mut self, def: Def, comps: &[u8]) -> Def {
        if comps.len() == usize::from(self.f.comps(def)) && Swizzle::new(comps) == Swizzle::IDENTITY
        {
            return def;
        }
        self.alu_instr(AluOp::MOV, comps.len() as u8, &[AluSrc::swizzled(def, comps)]).def()
    }

    /// A vector of scalars (2–5, 8, 16 of them; a single one is returned as it is).
    ///
    /// # Panics
    /// If the IR has no vector of that many components.
    pub fn vec(&mut self, comps: &[Def]) -> Def {
        match comps {
            [one] => *one,
            _ => self.alu(Self::vec_op(comps.len()), comps),
        }
    }

    /// A vector of single components of values (as [`Builder::vec`], one component a source).
    ///
    /// # Panics
    /// If the IR has no vector of that many components.
    pub fn vec_of(&mut self, comps: &[AluSrc]) -> Def {
        if let [one] = comps {
            return self.channel(one.def, one.swizzle.get(0));
        }
        let op = Self::vec_op(comps.len());
        self.alu_instr(op, comps.len() as u8, comps).def()
    }

    fn vec_op(comps: usize) -> AluOp {
        match comps {
            2 => AluOp::VEC2,
            3 => AluOp::VEC3,
            4 => AluOp::VEC4,
            5 => AluOp::VEC5,
            8 => AluOp::VEC8,
            16 => AluOp::VEC16,
            n => panic!("no vector has {n} components"),
        }
    }

    fn deref(&mut self, info: DerefInfo, bits: u8, srcs: &[Def]) -> Def {
        self.add(InstrInit::Deref(info), Self::shape(1, bits), srcs).def()
    }

    /// Bit size of a pointer of these modes.
    pub fn pointer_bits(modes: Modes) -> u8 {
        if modes == Modes::GLOBAL { 64 } else { 32 }
    }

    /// A pointer to a variable of this mode and type.
    pub fn deref_var(&mut self, var: Var, mode: Modes, ty: Type) -> Def {
        let info = DerefInfo { kind: DerefKind::Var(var), modes: mode, ty, stride: 0, access: 0 };
        self.deref(info, Self::pointer_bits(mode), &[])
    }

    /// A step from a parent deref; `index` for the kinds that have one. Modes are the parent's.
    ///
    /// # Panics
    /// If `parent` is no deref.
    pub fn deref_step(
        &mut self,
        kind: DerefKind,
        parent: Def,
        index: Option<Def>,
        ty: Type,
    ) -> Def {
        let modes = self.f.deref(parent.instr()).expect("the parent is a deref").modes;
        let info = DerefInfo { kind, modes, ty, stride: 0, access: 0 };
        let bits = self.f.bits(parent);
        match index {
            Some(index) => self.deref(info, bits, &[parent, index]),
            None => self.deref(info, bits, &[parent]),
        }
    }

    /// A pointer value seen as a pointer of these modes to this type.
    pub fn deref_cast(&mut self, pointer: Def, modes: Modes, ty: Type, stride: u32) -> Def {
        let info = DerefInfo { kind: DerefKind::Cast, modes, ty, stride, access: 0 };
        let bits = self.f.bits(pointer);
        self.deref(info, bits, &[pointer])
    }

    /// A call; `shape` is [`Shape::NONE`] where the function returns nothing.
    pub fn call(&mut self, func: Func, shape: Shape, args: &[Def]) -> Instr {
        self.add(InstrInit::Call(func), shape, args)
    }

    /// Ends the current block with a jump. The cursor stays; nothing may be built behind it.
    pub fn jump(&mut self, kind: JumpKind, value: Option<Def>) {
        let block = self.block();
        self.f.add_jump(block, kind, value);
    }

    /// The block of the cursor.
    ///
    /// # Panics
    /// If the cursor stands at a removed instruction.
    pub fn block(&self) -> Block {
        match self.cursor {
            Cursor::BlockStart(b)
            | Cursor::AfterPhis(b)
            | Cursor::BlockEnd(b)
            | Cursor::BeforeJump(b) => b,
            Cursor::Before(i) | Cursor::After(i) => {
                self.f.block_of(i).expect("the cursor stands at an instruction in a block")
            }
        }
    }

    /// `if (condition) then(…) else otherwise(…)`; the cursor goes behind it. Returns the blocks that the branches
    /// end in, for phis.
    pub fn if_else(
        &mut self,
        condition: Def,
        then: impl FnOnce(&mut Builder<'_>),
        otherwise: impl FnOnce(&mut Builder<'_>),
    ) -> [Block; 2] {
        let parts = self.f.insert_if(self.cursor, condition);
        let mut ends = [parts.then_block, parts.else_block];
        let mut inner =
            Builder { f: self.f, cursor: Cursor::BlockEnd(parts.then_block), flags: self.flags };
        then(&mut inner);
        ends[0] = inner.block();
        let mut inner =
            Builder { f: self.f, cursor: Cursor::BlockEnd(parts.else_block), flags: self.flags };
        otherwise(&mut inner);
        ends[1] = inner.block();
        self.cursor = Cursor::AfterPhis(parts.after);
        ends
    }
}
