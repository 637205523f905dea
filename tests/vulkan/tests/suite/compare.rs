//! Comparing buffers: by bits, and by the bound for floats.

use deburr_vulkan::{Leaf, Member};

/// How two contents of a buffer relate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Relation {
    /// Bit for bit equal, NaNs apart.
    Equal,
    /// Equal but for floats within the bound.
    Near,
}

/// Relative error that a float may have, and the size below which the error is absolute: sums of a few hundred terms of
/// size 1 in 32 bits, rearranged by the optimiser or the driver, and made of what Vulkan lets a device compute inexactly
/// (division 2.5 ulp, exp2 3 + 2·|x| ulp, log2 3 ulp, pow as exp2 of a product, sin and cos 2⁻¹¹, fma fused or not).
/// Integers have no bound: they are equal.
const BOUND: (f64, f64) = (2e-3, 1e-1);

/// The same for 16 bits.
const BOUND_HALF: (f64, f64) = (2e-2, 1.0);

/// Compares two contents, whose scalars are at `members`.
pub fn compare(before: &[u8], after: &[u8], members: &[Member]) -> Result<Relation, String> {
    if before.len() != after.len() {
        return Err(format!("{} bytes, then {}", before.len(), after.len()));
    }
    if before == after {
        return Ok(Relation::Equal);
    }
    let mut relation = Relation::Equal;
    let mut covered = vec![false; before.len()];
    for m in members {
        let range = m.offset as usize..(m.offset + m.size) as usize;
        let (Some(a), Some(b)) = (before.get(range.clone()), after.get(range.clone())) else {
            continue;
        };
        covered[range].fill(true);
        if a == b {
            continue;
        }
        let near = m.leaf == Leaf::Float && near(a, b);
        if !near {
            let shown = |bytes: &[u8]| match m.leaf {
                Leaf::Float => format!("{:?} = {}", bytes, value(bytes)),
                Leaf::Int => format!("{bytes:?}"),
            };
            return Err(format!("byte {}: {}, then {}", m.offset, shown(a), shown(b)));
        }
        if !value(a).is_nan() {
            relation = Relation::Near;
        }
    }
    match (0..before.len()).find(|&i| !covered[i] && before[i] != after[i]) {
        Some(at) => {
            Err(format!("byte {at}, which is no member's: {}, then {}", before[at], after[at]))
        }
        None => Ok(relation),
    }
}

fn near(a: &[u8], b: &[u8]) -> bool {
    let (x, y) = (value(a), value(b));
    let (relative, floor) = if a.len() == 2 { BOUND_HALF } else { BOUND };
    x == y
        || (x.is_nan() && y.is_nan())
        || (x - y).abs() <= relative * x.abs().max(y.abs()).max(floor)
}

/// The value of a float of 2, 4 or 8 bytes.
fn value(bytes: &[u8]) -> f64 {
    match *bytes {
        [a, b] => half(u16::from_le_bytes([a, b])),
        [a, b, c, d] => f64::from(f32::from_le_bytes([a, b, c, d])),
        _ => bytes.try_into().map_or(f64::NAN, f64::from_le_bytes),
    }
}

fn half(bits: u16) -> f64 {
    let (exponent, fraction) = (i32::from(bits >> 10 & 31), f64::from(bits & 0x3ff));
    let size = match exponent {
        0 => fraction * 2f64.powi(-24),
        31 if fraction == 0.0 => f64::INFINITY,
        31 => f64::NAN,
        _ => (1024.0 + fraction) * 2f64.powi(exponent - 25),
    };
    if bits >> 15 == 1 { -size } else { size }
}
