//! Loads and stores through derefs, as passes build and judge them.

use deburr_ir_core::{Builder, Def, Function, Index, Instr, Intrinsic, Modes, Shape, index};

/// Memory that nothing writes while the shader runs.
const CONSTANT: Modes = Modes::IN
    .union(Modes::UBO)
    .union(Modes::PUSH_CONST)
    .union(Modes::UNIFORM)
    .union(Modes::CONSTANT);

/// A load of a whole scalar or vector.
pub(crate) fn load(b: &mut Builder<'_>, pointer: Def, shape: Shape, access: u32) -> Def {
    b.load_deref(shape.comps(), shape.bits(), pointer, &[(Index::ACCESS, access)])
}

/// A store of every component of a value.
pub(crate) fn store(b: &mut Builder<'_>, pointer: Def, value: Def, access: u32) {
    let mask = (1u32 << b.f.comps(value)) - 1;
    b.store_deref(pointer, value, &[(Index::WRITE_MASK, mask), (Index::ACCESS, access)]);
}

/// Whether the access may be merged, moved or removed by no pass.
pub(crate) fn is_volatile(f: &Function, instr: Instr) -> bool {
    f.index(instr, Index::ACCESS).is_some_and(|a| a & index::access::VOLATILE != 0)
}

/// Whether the instruction loads, through a deref, memory that does not change while the shader runs.
pub(crate) fn is_load_of_constant_memory(f: &Function, instr: Instr) -> bool {
    f.intrinsic(instr) == Some(Intrinsic::LOAD_DEREF)
        && !is_volatile(f, instr)
        && f.deref(f.src(instr, 0).instr()).is_some_and(|d| d.modes.must_be(CONSTANT))
}
