//! Licences and promises as SPIR-V's fast-math masks (`FPFastMathMode`, `FPFastMathDefault`).

use deburr_ir_core::Flags;
use spirv::FPFastMathMode as M;

/// Which bit of a mask stands for which flag.
const BITS: [(M, Flags); 7] = [
    (M::NOT_NAN, Flags::NNAN),
    (M::NOT_INF, Flags::NINF),
    (M::NSZ, Flags::NSZ),
    (M::ALLOW_RECIP, Flags::ARCP),
    (M::ALLOW_CONTRACT, Flags::CONTRACT),
    (M::ALLOW_REASSOC, Flags::REASSOC),
    (M::ALLOW_TRANSFORM, Flags::TRANSFORM),
];

/// The flags that a fast-math mask stands for.
pub(crate) fn flags_of(mask: u32) -> Flags {
    let mask = M::from_bits_truncate(mask);
    if mask.contains(M::FAST) {
        return Flags::NNAN | Flags::NINF | Flags::LICENCES - Flags::RELAXED;
    }
    BITS.iter().filter(|(m, _)| mask.contains(*m)).fold(Flags::empty(), |f, (_, flag)| f | *flag)
}

/// The mask that says no more than the flags. Transforming is only said with reassociating and contracting.
pub(crate) fn mask_of(flags: Flags) -> u32 {
    let mut mask =
        BITS.iter().filter(|(_, f)| flags.contains(*f)).fold(M::NONE, |m, (b, _)| m | *b);
    if !mask.contains(M::ALLOW_CONTRACT | M::ALLOW_REASSOC) {
        mask.remove(M::ALLOW_TRANSFORM);
    }
    mask.bits()
}

/// Flags of arithmetic that no mask is said for: `preserve` is the mode SignedZeroInfNanPreserve.
pub(crate) fn default_flags(preserve: bool) -> Flags {
    let arithmetic = Flags::ARCP | Flags::CONTRACT | Flags::REASSOC | Flags::TRANSFORM;
    match preserve {
        true => arithmetic,
        false => arithmetic | Flags::NSZ | Flags::NNAN | Flags::NINF,
    }
}
