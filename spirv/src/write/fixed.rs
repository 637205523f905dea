//! Classes that SPIR-V fixes: which instructions take and give floats, unsigned or signed integers alone.
//!
//! The IR's integers have no sign, so a value of either kind may stand where the instruction wants one of them.

use super::infer::Want;
use super::types::Class;

/// An intrinsic's instruction: its name, a letter for each source of the intrinsic, and one for the result.
/// `u` is an unsigned integer, `i` an integer of either kind, `f` a float, `r` the class of the result, `.` anything.
const INTRINSICS: &[(&str, &str, char)] = &[
    ("GroupNonUniformBallot", ".", 'u'),
    ("SubgroupBallotKHR", ".", 'u'),
    ("GroupNonUniformInverseBallot", "u", '.'),
    ("GroupNonUniformBallotBitExtract", "uu", '.'),
    ("GroupNonUniformBallotBitCount", "u", 'u'),
    ("GroupNonUniformBallotFindLSB", "u", 'u'),
    ("GroupNonUniformBallotFindMSB", "u", 'u'),
    ("GroupNonUniformBroadcast", "ru", '.'),
    ("SubgroupReadInvocationKHR", "ru", '.'),
    ("GroupNonUniformShuffle", "ru", '.'),
    ("GroupNonUniformShuffleXor", "ru", '.'),
    ("GroupNonUniformShuffleUp", "ru", '.'),
    ("GroupNonUniformShuffleDown", "ru", '.'),
    ("GroupNonUniformRotateKHR", "ru", '.'),
    ("GroupNonUniformQuadBroadcast", "ru", '.'),
    ("GroupNonUniformUMin", "u", 'u'),
    ("GroupNonUniformUMax", "u", 'u'),
    ("ReadClockKHR", "", 'u'),
    ("SetMeshOutputsEXT", "uu", '.'),
    ("EmitMeshTasksEXT", "u.", '.'),
    ("InterpolateAtSample", ".i", '.'),
    ("InterpolateAtOffset", ".f", '.'),
    ("TraceRayKHR", ".iiiiiffff.", '.'),
    ("ExecuteCallableKHR", "u.", '.'),
    ("ReportIntersectionKHR", "fu", '.'),
    ("RayQueryInitializeKHR", "..iiffff", '.'),
    ("RayQueryGenerateIntersectionKHR", ".f", '.'),
    ("ImageSparseTexelsResident", "i", '.'),
];

/// An opcode's instruction likewise, with a letter for each operand; `s` is a signed integer.
const OPCODES: &[(&str, &str, char)] = &[
    ("UDiv", "uu", 'u'),
    ("UMod", "uu", 'u'),
    ("UConvert", "u", 'u'),
    ("ConvertFToU", "f", 'u'),
    ("UMulExtended", "uu", 'u'),
    ("SMulExtended", "rr", '.'),
    ("IAddCarry", "uu", 'u'),
    ("ISubBorrow", "uu", 'u'),
    // The exponent, by the struct that the writer makes.
    ("FrexpStruct", "f", 's'),
    ("BitFieldInsert", "rr", '.'),
    ("BitFieldSExtract", "r", '.'),
    ("BitFieldUExtract", "r", '.'),
    ("BitReverse", "r", '.'),
    // The vectors are of one type, unless they are of two signs.
    ("SDot", "ss", '.'),
    ("SDotAccSat", "ssr", '.'),
    ("UDot", "uu", 'u'),
    ("UDotAccSat", "uuu", 'u'),
    ("SUDot", "su", '.'),
    ("SUDotAccSat", "sur", '.'),
];

fn row(
    table: &'static [(&str, &'static str, char)],
    name: &str,
) -> Option<(&'static str, Option<Want>)> {
    let (_, srcs, result) = table.iter().find(|(form, ..)| *form == name)?;
    Some((srcs, want(*result)))
}

fn want(letter: char) -> Option<Want> {
    match letter {
        'u' => Some(Want::Class(Class::Uint)),
        's' => Some(Want::Class(Class::Sint)),
        'f' => Some(Want::Class(Class::Float)),
        'i' => Some(Want::Int),
        'r' => Some(Want::Result),
        _ => None,
    }
}

fn source(row: Option<(&'static str, Option<Want>)>, n: usize) -> Option<Want> {
    row.and_then(|(srcs, _)| want(srcs.chars().nth(n)?))
}

fn result(row: Option<(&'static str, Option<Want>)>) -> Option<Class> {
    match row?.1? {
        Want::Class(class) => Some(class),
        Want::Int | Want::Result | Want::Any => None,
    }
}

/// What source `n` of an intrinsic must be in this instruction.
pub(super) fn intrinsic_source(form: &str, n: usize) -> Option<Want> {
    source(row(INTRINSICS, form), n)
}

/// The class of what this instruction of an intrinsic gives.
pub(super) fn intrinsic_result(form: &str) -> Option<Class> {
    result(row(INTRINSICS, form))
}

/// What operand `n` of an opcode must be in this instruction.
pub(super) fn alu_source(form: &str, n: usize) -> Option<Want> {
    source(row(OPCODES, form), n)
}

/// The class of what this instruction of an opcode gives.
pub(super) fn alu_result(form: &str) -> Option<Class> {
    result(row(OPCODES, form))
}
