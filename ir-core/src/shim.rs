//! Stand-in for the generated tables until the build script makes them.
use crate::*;
macro_rules! ops { ($($n:ident = $v:literal),*) => { #[allow(missing_docs)] impl AluOp { $(pub const $n: AluOp = AluOp($v);)* } } }
ops!(MOV = 0, VEC2 = 1, VEC3 = 2, VEC4 = 3, VEC5 = 4, VEC8 = 5, VEC16 = 6, IADD = 17, VEC_EXTRACT2 = 11, VEC_INSERT4 = 16, IAND = 900, IOR = 901);
#[allow(missing_docs)]
impl AluOp {
    pub fn builtin(self) -> Option<&'static AluInfo> {
        None
    }
    pub fn from_name(_: &str) -> Option<AluOp> {
        None
    }
}
#[allow(missing_docs)]
impl Intrinsic {
    pub fn builtin(self) -> Option<&'static IntrinsicInfo> {
        None
    }
    pub fn from_name(_: &str) -> Option<Intrinsic> {
        None
    }
}
#[allow(missing_docs)]
impl Index {
    pub fn builtin(self) -> Option<&'static IndexInfo> {
        None
    }
    pub fn from_name(_: &str) -> Option<Index> {
        None
    }
}
