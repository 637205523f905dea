//! The points at which an opcode is compared with the oracle.
//!
//! Exhaustive where the operands have at most 16 bits together, all pairs of [`EDGES`] values of each operand's type,
//! triples and more sampled from them, and random patterns above.

use super::{Base, Op, fp};

/// How many edge values a type has.
pub const EDGES: usize = 40;

/// SplitMix64 (Steele, Lea, Flood 2014): a stream of 64-bit numbers from a seed.
#[derive(Clone, Debug)]
pub struct Random(pub u64);

impl Random {
    /// The next number.
    pub fn draw(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ z >> 31
    }

    /// A number below `n`.
    pub fn below(&mut self, n: usize) -> usize {
        (self.draw() % n as u64) as usize
    }
}

fn mask(width: u32) -> u64 {
    u64::MAX >> (64 - width)
}

fn int_edges(width: u32) -> Vec<u64> {
    let top = 1u64 << (width - 1);
    let mut all = vec![
        0, 1, 2, 3, 4, 5, 7, 8, 9, 10, 15, 16, 17, 31, 32, 33, 63, 64, 100, 127, 128, 129, 255,
    ];
    for shift in [0, 1, 2, 8] {
        all.push(top.wrapping_sub(shift));
        all.push(top + (shift & top.wrapping_sub(1)));
        all.push(0u64.wrapping_sub(shift + 1));
    }
    all.extend([
        0x5555_5555_5555_5555,
        0xaaaa_aaaa_aaaa_aaaa,
        0x0123_4567_89ab_cdef,
        0x00ff_00ff_00ff_00ff,
        0x0f0f,
    ]);
    all.extend([
        0x7fff,
        0x8000,
        0xffff,
        0x1_0000,
        0x7f_ffff,
        0x80_0000,
        0xff_ffff,
        0x100_0000,
        0xffff_ffff,
        1 << 53,
    ]);
    all
}

fn float_edges(size: u32) -> Vec<u64> {
    let f = fp::Fp { size, flush: false, rtz: false };
    let (fraction, _) = fp::layout(size);
    let sign = fp::sign_bit(size);
    let least = 1u64 << fraction;
    let one = fp::one(size);
    let mut all = vec![
        0,
        1,
        least - 1,
        least,
        least + 1,
        one - 1,
        one,
        one + 1,
        fp::largest(size),
        fp::inf(size),
    ];
    all.extend(
        [0.5, 1.5, 2.0, 2.5, 3.0, 10.0, 255.0, 1000.5, 32767.0, 65519.0].map(|v| f.constant(v)),
    );
    for bits in all.clone() {
        all.push(bits | sign);
    }
    // Quiet and signalling NaNs of both signs, with payloads.
    let quiet = fp::nan(size);
    all.extend([quiet, quiet | sign | 5, fp::inf(size) | 1, fp::inf(size) | sign | 3]);
    // Bounds of integer and of smaller float types.
    all.extend(
        [0.1, 127.5, 128.0, 65520.0, 2147483648.0, -2147483649.0, 4294967296.0]
            .map(|v| f.constant(v)),
    );
    all.extend(
        [9.3e18, 1.9e19, 1e39, 6.1e-5, 6.097e-5, 1e-7, 2.9e-8, 1e-39, 0.785, 3.0625, -0.3]
            .map(|v| f.constant(v)),
    );
    all
}

/// [`EDGES`] values of a type, or all where it has fewer; more are drawn at random to fill up.
pub fn edges(base: Base, size: u32, seed: u64) -> Vec<u64> {
    let listed = match (base, size) {
        (_, 1) => return vec![0, 1],
        (Base::Bool, _) => return vec![0, mask(size), 1, 1 << (size - 1), 2],
        (Base::Float, _) => float_edges(size),
        _ => int_edges(size),
    };
    let mut all: Vec<u64> = Vec::new();
    for value in listed {
        let value = value & mask(size);
        if !all.contains(&value) {
            all.push(value);
        }
    }
    let mut random = Random(seed);
    while all.len() < EDGES {
        all.push(random.draw() & mask(size));
    }
    all
}

/// A random value of a type: a third uniform, the rest with structure (few bits, small, a number near one).
pub fn random_value(random: &mut Random, base: Base, size: u32) -> u64 {
    let raw = random.draw();
    let kind = random.below(6);
    if base == Base::Bool && size > 1 {
        return if raw & 7 == 0 {
            raw & mask(size)
        } else {
            (raw >> 3 & 1).wrapping_neg() & mask(size)
        };
    }
    let value = match (base, kind) {
        (Base::Float, 0 | 1) => {
            // Exponents around one, where products and sums interact.
            let (fraction, bias) = fp::layout(size);
            let field = (bias as u64 - 8 + raw % 17) << fraction;
            field | raw >> 8 & ((1 << fraction) - 1) | raw & fp::sign_bit(size)
        }
        (Base::Float, 3) => {
            // Exponents whose sums are near that of the least normal number, where products meet the denormals.
            let (fraction, bias) = fp::layout(size);
            let field = (if raw >> 63 == 0 { bias as u64 / 2 } else { 1 }) + raw % 5;
            field << fraction | raw >> 8 & ((1 << fraction) - 1) | raw << 1 & fp::sign_bit(size)
        }
        (Base::Float, 2) => {
            // Few significant bits.
            let (fraction, _) = fp::layout(size);
            raw & !(((1u64 << fraction) - 1) >> 3)
        }
        (Base::Int | Base::Uint, 0) => raw % if raw >> 63 == 0 { 64 } else { 5 },
        (Base::Int | Base::Uint, 1) => (raw % 64).wrapping_neg(),
        (Base::Int | Base::Uint, 2) => raw & random.draw() & random.draw(),
        (Base::Int | Base::Uint, 3) => mask(1 + (raw % u64::from(size)) as u32) ^ (raw >> 63),
        _ => raw,
    };
    value & mask(size)
}

/// The scalar slots of an opcode at one width and component count: type and size of each component of each source.
pub fn slots(op: &Op, bits: u32, comps: u32) -> Vec<(Base, u32)> {
    op.srcs
        .iter()
        .flat_map(|o| {
            let n = if o.comps == 0 { comps } else { o.comps };
            std::iter::repeat_n((o.base, o.width(bits)), n as usize)
        })
        .collect()
}

/// How many points an opcode is compared at.
#[derive(Clone, Copy, Debug)]
pub struct Effort {
    /// Random points, and as many tuples of edge values where there are more than two operands.
    pub samples: u64,
    /// Of the exhaustive points, take every `thin`-th: 1 is all of them.
    pub thin: u64,
    /// Seed of everything random.
    pub seed: u64,
    /// Stop comparing at the first difference.
    pub first_only: bool,
}

/// Calls `visit` with the points of an opcode at one width and component count; a point has a value for every slot.
pub fn points(op: &Op, bits: u32, comps: u32, effort: Effort, visit: &mut dyn FnMut(&[u64])) {
    let slots = slots(op, bits, comps);
    let mut random = Random(effort.seed ^ u64::from(bits) << 32 ^ u64::from(comps) << 40);
    let mut point = vec![0u64; slots.len()];
    let total: u32 = slots.iter().map(|s| s.1).sum();
    if total <= 16 {
        let first = if effort.thin > 1 { random.draw() % effort.thin } else { 0 };
        for all in (first..1u64 << total).step_by(effort.thin as usize) {
            let mut rest = all;
            for (value, slot) in point.iter_mut().zip(&slots) {
                *value = rest & mask(slot.1);
                rest >>= slot.1;
            }
            visit(&point);
        }
        if effort.thin == 1 {
            return;
        }
    }
    let edges: Vec<Vec<u64>> = slots
        .iter()
        .enumerate()
        .map(|(i, s)| edges(s.0, s.1, effort.seed.wrapping_add(i as u64)))
        .collect();
    match edges.as_slice() {
        [only] => only.iter().for_each(|&a| visit(&[a])),
        [first, second] => {
            // All values of an operand of 8 bits, against the edges of the other.
            let every = |i: usize, edges: &[u64]| match slots[i].1 {
                8 if effort.thin == 1 => (0..=0xff).collect(),
                _ => edges.to_vec(),
            };
            let (first, second) = (every(0, first), every(1, second));
            // A thinned grid has a seventh of the pairs: 7 divides no list's length, so that every value has its turn.
            let (stride, mut at) = (effort.thin.min(7), effort.seed);
            for &a in &first {
                for &b in &second {
                    if at.is_multiple_of(stride) {
                        visit(&[a, b]);
                    }
                    at = at.wrapping_add(1);
                }
            }
        }
        many => {
            if many.len() <= 4 && effort.thin == 1 {
                every_key(&slots, &mut |point| visit(point));
            }
            for _ in 0..effort.samples {
                for (value, edge) in point.iter_mut().zip(&edges) {
                    *value = edge[random.below(edge.len())];
                }
                visit(&point);
            }
        }
    }
    let first = op.srcs.first().map_or(0, |o| if o.comps == 0 { comps } else { o.comps } as usize);
    for _ in 0..effort.samples {
        let mixed = random.below(4) == 0;
        for (i, &(base, size)) in slots.iter().enumerate() {
            point[i] = if mixed && random.below(2) == 0 {
                edges[i][random.below(edges[i].len())]
            } else {
                random_value(&mut random, base, size)
            };
        }
        match random.below(8) {
            // Equal operands and components now and then: cancellation, equality.
            0 => {
                for i in 1..slots.len() {
                    if slots[i - 1] == slots[i] {
                        point[i] = point[i - 1];
                    }
                }
            }
            // Operands equal but for one component, of which both have an edge value.
            1 | 2 => {
                for i in first..slots.len() {
                    if slots[i - first] == slots[i] {
                        point[i] = point[i - first];
                    }
                }
                let odd = random.below(slots.len());
                for i in [odd, (odd + first) % slots.len()] {
                    point[i] = edges[i][random.below(edges[i].len())];
                }
            }
            _ => {}
        }
        visit(&point);
    }
}

/// Values at which an operand among three or four is most likely to change the course of a definition.
fn keys((base, size): (Base, u32)) -> Vec<u64> {
    let all: Vec<u64> = match (base, size) {
        (_, 1) | (Base::Bool, _) => vec![0, 1],
        (Base::Float, _) => {
            let sign = fp::sign_bit(size);
            vec![
                0,
                sign,
                1,
                sign | 2,
                fp::one(size),
                fp::one(size) | sign,
                fp::inf(size),
                fp::nan(size),
            ]
        }
        _ => vec![0, 1, 8, 31, 32, 33, u64::MAX, 1 << (size - 1)],
    };
    all.into_iter().map(|v| v & mask(size)).collect()
}

/// Every tuple of key values.
fn every_key(slots: &[(Base, u32)], visit: &mut dyn FnMut(&[u64])) {
    let keys: Vec<Vec<u64>> = slots.iter().map(|&s| keys(s)).collect();
    let total: usize = keys.iter().map(Vec::len).product();
    let mut point = vec![0u64; slots.len()];
    for all in 0..total {
        let mut rest = all;
        for (value, key) in point.iter_mut().zip(&keys) {
            *value = key[rest % key.len()];
            rest /= key.len();
        }
        visit(&point);
    }
}

/// A point cut into the components of each source.
pub fn sources(op: &Op, comps: u32, point: &[u64], into: &mut Vec<Vec<u64>>) {
    into.resize(op.srcs.len(), Vec::new());
    let mut rest = point;
    for (source, o) in into.iter_mut().zip(&op.srcs) {
        let n = if o.comps == 0 { comps } else { o.comps } as usize;
        source.clear();
        source.extend_from_slice(&rest[..n]);
        rest = &rest[n..];
    }
}
