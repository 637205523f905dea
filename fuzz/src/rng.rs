//! Random numbers: small, seedable, the same on every platform (SplitMix64; Steele, Lea, Flood 2014).

/// A stream of random numbers.
#[derive(Clone, Debug)]
pub struct Rng(u64);

impl Rng {
    /// The stream of a seed.
    pub fn new(seed: u64) -> Self {
        Rng(seed ^ 0x5851_f42d_4c95_7f2d)
    }

    /// The next 64 bits.
    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ z >> 31
    }

    /// A number below `n`; 0 for 0.
    pub fn below(&mut self, n: usize) -> usize {
        ((u128::from(self.bits()) * n as u128) >> 64) as usize
    }

    /// True once in `n` times.
    pub fn one_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }

    /// One of the items.
    ///
    /// # Panics
    /// If there is none.
    pub fn pick<'a, T>(&mut self, items: &'a [T]) -> &'a T {
        &items[self.below(items.len())]
    }

    /// Bits of a value of `width` bits that tends to the edges: small, large, powers of two, special floats.
    pub fn edge(&mut self, width: u8) -> u64 {
        let mask = if width >= 64 { u64::MAX } else { (1 << width) - 1 };
        let float = |v: f64| match width {
            16 => f16_bits(v),
            32 => u64::from((v as f32).to_bits()),
            64 => v.to_bits(),
            _ => v as i64 as u64,
        };
        let value = match self.below(8) {
            0 => self.below(4) as u64,
            1 => (self.below(4) as u64).wrapping_neg(),
            2 => 1 << self.below(width.into()),
            3 => (1u64 << self.below(width.into())).wrapping_sub(1),
            4 => 1 << (width - 1),
            5 => float(*self.pick(&[0.0, -0.0, 1.0, -1.0, 0.5, 2.0, 1.5, -3.25, 100.0])),
            6 => float(*self.pick(&[
                f64::INFINITY,
                f64::NEG_INFINITY,
                f64::NAN,
                1e-40,
                65504.0,
                1e30,
            ])),
            _ => self.bits(),
        };
        value & mask
    }
}

/// A few plain values as binary16; what does not fit goes to infinity or zero.
fn f16_bits(v: f64) -> u64 {
    if v.is_nan() {
        return 0x7e00;
    }
    let sign = if v.is_sign_negative() { 0x8000 } else { 0 };
    let magnitude = v.abs();
    if magnitude == 0.0 || magnitude < 6e-5 {
        return sign;
    }
    if magnitude > 65504.0 {
        return sign | 0x7c00;
    }
    let bits = magnitude.to_bits();
    let exponent = (bits >> 52) as i64 - 1023 + 15;
    sign | (exponent as u64) << 10 | bits >> 42 & 0x3ff
}
