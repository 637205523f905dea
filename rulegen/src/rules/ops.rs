//! What the rule language needs to know of opcodes.

use super::classes::{ALL_SIZES, BOOL_SIZES, FLOAT_SIZES};
use super::model::flags;
use crate::expr::{Base, Expr, ExprKind};
use crate::tables::intrinsic::{IndexDef, IntrinsicDef};
use crate::tables::op::{Convergent, Dir, Eval, OpDef};
use crate::tables::{self, Tables};
use std::collections::HashMap;
use std::sync::Arc;

/// The type of an operand or result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SigTy {
    /// How the bits are read.
    pub base: Base,
    /// Bits; 0 = the op's unsized width.
    pub bits: u8,
    /// Components; 0 = per component.
    pub comps: u8,
}

/// An opcode.
#[derive(Clone, Debug)]
pub struct OpSig {
    /// Name.
    pub name: String,
    /// Result.
    pub output: SigTy,
    /// Operands.
    pub inputs: Vec<SigTy>,
    /// Admissible unsized widths as a set.
    pub sizes: u8,
    /// Whether the first two operands may be exchanged.
    pub commutative: bool,
    /// Whether chains of it may be bracketed differently.
    pub associative: bool,
    /// Whether it carries licences, `nnan` and `ninf`, and follows the float environment.
    pub float: bool,
    /// Promises that it may carry.
    pub promises: u16,
    /// Whether its result depends on other invocations.
    pub convergent: bool,
    /// Whether it only moves bits, so that an untyped operand of it may be of any base.
    pub moves: bool,
    /// Chooses between operands.
    pub selection: bool,
    /// Id in the IR.
    pub id: u16,
    /// Cost of a component.
    pub cost: u8,
    /// Widths at which SPIR-V has it in a module that declares every capability, as a set: the unsized one, or that of
    /// the result where every operand has a size.
    pub spirv: u8,
    /// What it computes; `None` for derivatives.
    pub eval: Option<Arc<Expr>>,
    /// Its domain.
    pub dom: Option<Arc<Expr>>,
    /// Where it doesn't overflow as a signed number.
    pub nsw: Option<Arc<Expr>>,
    /// Where it doesn't overflow as an unsigned number.
    pub nuw: Option<Arc<Expr>>,
}

/// Whether an expression gives an operand's bits unchanged, whichever it chooses.
pub fn moves_bits(expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::Var { .. } | ExprKind::Any => true,
        ExprKind::If { then, otherwise, .. } => moves_bits(then) && moves_bits(otherwise),
        ExprKind::Component(a, _) | ExprKind::Splat(a) => moves_bits(a),
        ExprKind::Vector(list) => list.iter().all(moves_bits),
        _ => false,
    }
}

impl std::fmt::Display for SigTy {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self.base {
            Base::Int => "int",
            Base::Uint => "uint",
            Base::Float => "float",
            Base::Bool => "bool",
        })?;
        if self.bits != 0 {
            write!(f, "{}", self.bits)?;
        }
        if self.comps != 0 {
            write!(f, "x{}", self.comps)?;
        }
        Ok(())
    }
}

impl OpSig {
    /// Whether the operands of a chain of it may stand in any order and bracketing: what `ac` asks for.
    pub fn is_ac(&self) -> bool {
        self.commutative && self.associative && self.inputs.len() == 2 && self.output.comps == 0
    }

    /// Whether a constant as one operand makes poison in the other harmless: all ones or, if false, zero.
    pub fn absorbing(&self) -> Option<bool> {
        match self.name.as_str() {
            "iand" => Some(false),
            "ior" => Some(true),
            _ => None,
        }
    }

    /// `iadd(int, int) -> int`
    pub fn signature(&self) -> String {
        let inputs: Vec<String> = self.inputs.iter().map(SigTy::to_string).collect();
        format!("{}({}) -> {}", self.name, inputs.join(", "), self.output)
    }

    /// Default sizes by the bases of the unsized operands.
    pub fn default_sizes(output: SigTy, inputs: &[SigTy]) -> u8 {
        let open: Vec<Base> =
            inputs.iter().chain([&output]).filter(|t| t.bits == 0).map(|t| t.base).collect();
        if open.contains(&Base::Float) {
            FLOAT_SIZES
        } else if open.iter().any(|b| b.is_integer()) {
            ALL_SIZES & !1
        } else {
            BOOL_SIZES
        }
    }
}

/// An intrinsic.
#[derive(Clone, Debug)]
pub struct IntrinsicSig {
    /// Name.
    pub name: String,
    /// Id in the IR.
    pub id: u16,
    /// Components of each source: 0 = the instruction's count, −1 = any.
    pub srcs: Vec<i8>,
    /// Bit size of each source, 0 = any; empty = all any.
    pub src_bits: Vec<u8>,
    /// Components of the result, `None` = there is none.
    pub dest: Option<i8>,
    /// Admissible sizes of the result as a set.
    pub sizes: u8,
    /// The source that has the result's size.
    pub bits_from: Option<u8>,
    /// Const indices, by their place in the table of indices.
    pub indices: Vec<usize>,
    /// May be removed when its result is unused.
    pub eliminate: bool,
    /// May be created anywhere, and any number of times.
    pub free: bool,
    /// Whether its result depends on other invocations.
    pub convergent: bool,
    /// Whether it is read from a SPIR-V built-in, which depends on stage and entry point: none is made.
    pub system_value: bool,
    /// The SPIR-V instructions that it is written as.
    pub spirv: Vec<IntrinsicForm>,
}

/// An instruction that an intrinsic is written as.
#[derive(Clone, Debug)]
pub struct IntrinsicForm {
    /// Sizes of the result as a set.
    pub sizes: u8,
    /// Const indices, by their place in the table of indices, and the values that they must have.
    pub when: Vec<(usize, u32)>,
}

/// The opcode table as the rule language sees it.
#[derive(Clone, Debug, Default)]
pub struct Ops {
    list: Vec<OpSig>,
    by_name: HashMap<String, usize>,
    intrinsics: Vec<IntrinsicSig>,
    indices: Vec<IndexDef>,
    /// Whether it has a dialect's opcodes and intrinsics.
    pub(super) dialect: bool,
}

impl IntrinsicSig {
    fn from_table(id: u16, def: &IntrinsicDef, indices: &[IndexDef]) -> IntrinsicSig {
        let place = |name: &String| indices.iter().position(|i| i.name == *name);
        let set =
            |bits: &[u8]| bits.iter().fold(0, |s, b| s | super::classes::size_set((*b).into()));
        let convergent = def.convergent != Convergent::None;
        let effect = def.memory.barrier || !def.memory.writes.is_empty();
        let system_value = def.builtin.is_some();
        let written =
            |form: &&tables::intrinsic::IntrinsicForm| form.dir != Dir::Read && !system_value;
        let form = |form: &tables::intrinsic::IntrinsicForm| IntrinsicForm {
            sizes: if form.sizes.is_empty() { ALL_SIZES } else { set(&form.sizes) },
            when: form
                .when
                .iter()
                .filter_map(|(name, value)| Some((place(name)?, *value)))
                .collect(),
        };
        IntrinsicSig {
            name: def.name.clone(),
            id,
            srcs: def.srcs.clone(),
            src_bits: def.src_bits.clone(),
            dest: def.dest,
            sizes: if def.dest_bits.is_empty() { ALL_SIZES } else { set(&def.dest_bits) },
            bits_from: def.bits_from,
            indices: def.indices.iter().filter_map(place).collect(),
            eliminate: def.eliminate,
            free: def.eliminate && def.reorder && !convergent && !effect,
            convergent,
            system_value,
            spirv: def.spirv.iter().filter(written).map(form).collect(),
        }
    }

    /// Whether SPIR-V has it with a result of so many bits, with these const indices and the defaults of others, in a
    /// module that declares every capability.
    pub fn in_spirv(&self, bits: u8, given: &[(usize, u32)], indices: &[IndexDef]) -> bool {
        let has = |at: usize| {
            given.iter().find(|i| i.0 == at).map_or(indices[at].default, |(_, value)| *value)
        };
        self.spirv.iter().any(|form| {
            form.sizes & super::classes::size_set(bits.into()) != 0
                && form.when.iter().all(|(at, value)| has(*at) == *value)
        })
    }
}

/// The widths at which SPIR-V has an opcode.
fn spirv_sizes(op: &OpDef) -> u8 {
    let set = |bits: &[u8]| bits.iter().fold(0, |s, b| s | super::classes::size_set((*b).into()));
    let mut sizes = ALL_SIZES;
    for ty in std::iter::once(&op.sig.output).chain(&op.sig.inputs) {
        let has = match ty.base {
            Base::Float => FLOAT_SIZES,
            Base::Bool => 1,
            Base::Int | Base::Uint => ALL_SIZES,
        };
        sizes &= match ty.bits {
            None => has,
            Some(bits) if has & set(&[bits]) != 0 => ALL_SIZES,
            Some(_) => 0,
        };
    }
    // Moves need no instruction.
    let forms = op.spirv.iter().filter(|form| form.dir != Dir::Read).fold(0, |all, form| {
        all | if form.sizes.is_empty() { ALL_SIZES } else { set(&form.sizes) }
    });
    sizes & if op.costs.default == 0 { ALL_SIZES } else { forms }
}

impl From<&tables::SigTy> for SigTy {
    fn from(ty: &tables::SigTy) -> SigTy {
        SigTy { base: ty.base, bits: ty.bits.unwrap_or(0), comps: ty.comps.unwrap_or(0) }
    }
}

impl OpSig {
    fn from_table(id: u16, op: &OpDef) -> OpSig {
        let eval = match &op.eval {
            Eval::Expr(expr) => Some(Arc::new(expr.clone())),
            Eval::Quad(_) => None,
        };
        let shared = |e: &Option<Expr>| e.clone().map(Arc::new);
        let mut promises = if op.float { flags::NNAN | flags::NINF } else { 0 };
        for (flag, expr) in [(flags::DOM, &op.dom), (flags::NSW, &op.nsw), (flags::NUW, &op.nuw)] {
            promises |= if expr.is_some() { flag } else { 0 };
        }
        OpSig {
            name: op.name.clone(),
            output: (&op.sig.output).into(),
            inputs: op.sig.inputs.iter().map(SigTy::from).collect(),
            sizes: op.sizes.iter().fold(0, |set, b| set | super::classes::size_set((*b).into())),
            commutative: op.commutative,
            associative: op.associative,
            float: op.float,
            promises,
            convergent: op.convergent != Convergent::None,
            moves: eval.as_ref().is_some_and(|e| moves_bits(e)),
            selection: op.selection,
            id,
            cost: op.costs.default,
            spirv: spirv_sizes(op),
            eval,
            dom: shared(&op.dom),
            nsw: shared(&op.nsw),
            nuw: shared(&op.nuw),
        }
    }
}

impl Ops {
    /// The ops of the built-in tables.
    pub fn from_tables(tables: &Tables) -> Ops {
        let list = tables.ops.iter().enumerate().map(|(i, op)| OpSig::from_table(i as u16, op));
        let indices = tables.indices.clone();
        let intrinsics = Ops::intrinsics_from(tables, 0, &indices).collect();
        Ops { intrinsics, indices, ..Ops::new(list.collect()) }
    }

    /// The intrinsics of a table, whose ids begin at `first`; `indices` are all that there are.
    fn intrinsics_from(
        tables: &Tables,
        first: u16,
        indices: &[IndexDef],
    ) -> impl Iterator<Item = IntrinsicSig> {
        let numbered = (first..).zip(&tables.intrinsics);
        numbered.map(|(id, def)| IntrinsicSig::from_table(id, def, indices))
    }

    /// The ops of the built-in tables and of a dialect whose ids begin at `first`. Ids of const indices go on from the
    /// built-in ones, so that an index is where its id says.
    pub fn with_dialect(tables: &Tables, dialect: &Tables, first: u16) -> Ops {
        let builtin = Ops::from_tables(tables);
        let own = dialect.ops.iter().enumerate();
        let own = own.map(|(i, op)| OpSig::from_table(first + i as u16, op));
        let list = builtin.list.into_iter().chain(own).collect();
        let indices = [builtin.indices.as_slice(), &dialect.indices].concat();
        let own = Ops::intrinsics_from(dialect, first, &indices);
        let intrinsics = builtin.intrinsics.into_iter().chain(own).collect();
        Ops { intrinsics, indices, dialect: true, ..Ops::new(list) }
    }

    /// A table of these ops, in the order of their ids.
    pub fn new(list: Vec<OpSig>) -> Ops {
        let by_name = list.iter().enumerate().map(|(i, op)| (op.name.clone(), i)).collect();
        Ops { list, by_name, ..Ops::default() }
    }

    /// The op at an index.
    pub fn get(&self, index: usize) -> &OpSig {
        &self.list[index]
    }

    /// The index of a name.
    pub fn find(&self, name: &str) -> Option<usize> {
        self.by_name.get(name).copied()
    }

    /// The intrinsic at an index.
    pub fn intrinsic(&self, index: usize) -> &IntrinsicSig {
        &self.intrinsics[index]
    }

    /// All intrinsics in order.
    pub fn intrinsics(&self) -> &[IntrinsicSig] {
        &self.intrinsics
    }

    /// All const indices in the order of their ids.
    pub fn indices(&self) -> &[IndexDef] {
        &self.indices
    }

    /// All ops in order.
    pub fn iter(&self) -> impl Iterator<Item = &OpSig> {
        self.list.iter()
    }
}
