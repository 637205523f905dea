//! What operations read of their operands, against what they compute: a bit that isn't read changes no read bit of the
//! result, whatever the operands are.

use deburr_algebraic::facts::abs::{self, Abs, Env};
use deburr_algebraic::facts::used::{self, Reads};
use deburr_ir_core::fold::{FloatEnv, fold_info};
use deburr_ir_core::{AluInfo, AluOp, BaseType};

/// A small generator of numbers: the tests are the same in every run.
struct Rng(u64);

impl Rng {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        self.0 >> 24 ^ self.0 << 40
    }
}

/// Operands of an operation at a width: bits and components of each.
fn shapes(info: &AluInfo, width: u8) -> Vec<(u8, u8)> {
    let shape = |ty: &deburr_ir_core::AluType| {
        let bits = if ty.bits == 0 { width } else { ty.bits };
        (bits, ty.comps.max(1))
    };
    info.inputs.iter().map(shape).collect()
}

type Point = Vec<Vec<u64>>;

fn result(info: &AluInfo, width: u8, point: &Point) -> Option<[u64; 16]> {
    let srcs: Vec<&[u64]> = point.iter().map(Vec::as_slice).collect();
    let mut out = [0; 16];
    let comps = info.output.comps.max(1);
    fold_info(info, width, comps, &srcs, &FloatEnv::default(), &mut out)?;
    Some(out)
}

/// What may be asked of a result.
fn masks(rng: &mut Rng, bits: u8) -> u64 {
    let all = abs::mask(bits.into());
    let n = rng.next() % u64::from(bits);
    all & match rng.next() % 5 {
        0 => 1 << n,
        1 => (1 << n) - 1,
        2 => all << n,
        3 => rng.next() & rng.next(),
        _ => rng.next(),
    }
}

/// Numbers that masks, counts and indices are.
fn number(rng: &mut Rng, bits: u8) -> u64 {
    let v = match rng.next() % 6 {
        0 => rng.next() % 9,
        1 => 8 * (rng.next() % 9),
        2 => (1u64 << (rng.next() % u64::from(bits))).wrapping_sub(rng.next() % 2),
        3 => (rng.next() % 4).wrapping_neg(),
        _ => rng.next(),
    };
    v & abs::mask(bits.into())
}

/// Compares at a point: the first bit that matters although it is said not to.
fn wrong(
    info: &AluInfo,
    width: u8,
    run: &dyn Fn(&Env, u32, &[Abs], u64, usize) -> u64,
    point: &Point,
    rng: &mut Rng,
) -> Option<String> {
    let env = Env { float: FloatEnv::default(), folding: false };
    let shapes = shapes(info, width);
    let out_bits = if info.output.bits == 0 { width } else { info.output.bits };
    let before = result(info, width, point)?;
    let (read, constants) = (masks(rng, out_bits), rng.next());
    let known: Vec<Abs> = shapes
        .iter()
        .zip(point)
        .enumerate()
        .map(|(i, ((bits, _), values))| {
            let truth = info.inputs[i].base == BaseType::Bool;
            let bits = if truth { 1 } else { u32::from(*bits) };
            match constants >> i & 1 {
                0 => abs::top(bits),
                _ => {
                    let value = |v: &u64| if truth { u64::from(*v != 0) } else { *v };
                    let sets = values.iter().map(|v| abs::int(bits, value(v)));
                    sets.reduce(|a, b| abs::join(bits, a, b)).unwrap_or(abs::top(bits))
                }
            }
        })
        .collect();
    for (n, (bits, comps)) in shapes.iter().enumerate() {
        // What is a constant isn't changed.
        let mut seen = known.clone();
        seen[n] = match info.inputs[n].base {
            BaseType::Bool => abs::top(1),
            _ => abs::top((*bits).into()),
        };
        let says = run(&env, width.into(), &seen, read, n);
        for bit in (0..*bits).filter(|bit| says >> bit & 1 == 0) {
            for comp in 0..usize::from(*comps) {
                let mut other = point.clone();
                other[n][comp] ^= 1 << bit;
                let after = result(info, width, &other)?;
                if before.iter().zip(&after).any(|(a, b)| (a ^ b) & read != 0) {
                    return Some(format!(
                        "{} at {width}: of {point:x?} bit {bit} of operand {n} changes {before:x?} to {after:x?}, \
                         of which {read:#x} is read; it says {says:#x} by {constants:b}",
                        info.name
                    ));
                }
            }
        }
    }
    None
}

/// Tries all operands of 16 bits together, or many.
fn check(
    info: &AluInfo,
    width: u8,
    run: &dyn Fn(&Env, u32, &[Abs], u64, usize) -> u64,
) -> Result<u64, String> {
    let mut rng = Rng(u64::from(width) + info.name.len() as u64);
    let shapes = shapes(info, width);
    let total: u32 = shapes.iter().map(|(bits, comps)| u32::from(*bits) * u32::from(*comps)).sum();
    // Debug builds take a part of them.
    let (step, many) = if cfg!(debug_assertions) { (7, 1500) } else { (1, 20_000) };
    let all = total <= 16;
    let points = if all { 1u64 << total } else { many };
    let mut tried = 0;
    for index in (0..points).step_by(if all { step } else { 1 }) {
        let mut rest = index;
        let mut component = |bits: u8| match all {
            true => {
                let v = rest & abs::mask(bits.into());
                rest >>= bits;
                v
            }
            false => number(&mut rng, bits),
        };
        let point: Point = shapes
            .iter()
            .map(|(bits, comps)| (0..*comps).map(|_| component(*bits)).collect())
            .collect();
        if let Some(text) = wrong(info, width, run, &point, &mut rng) {
            return Err(text);
        }
        tried += 1;
    }
    Ok(tried)
}

fn with_reads() -> impl Iterator<Item = (AluOp, &'static AluInfo, &'static Reads)> {
    let rules = deburr_ruleset::rules();
    (0..rules.reads.len()).filter_map(|id| {
        let op = AluOp(id as u16);
        Some((op, op.builtin()?, rules.reads(op)?))
    })
}

#[test]
fn bits_that_are_not_read_change_nothing() {
    let (mut ops, mut points) = (0, 0);
    for (_, info, reads) in with_reads() {
        let widths: Vec<u8> = match info.sizes {
            [] => vec![0],
            sizes => [8, 32].into_iter().filter(|w| sizes.contains(w)).collect(),
        };
        for width in widths {
            match check(info, width, &reads.run) {
                Ok(tried) => points += tried,
                Err(text) => panic!("{text}"),
            }
        }
        ops += 1;
    }
    println!("{ops} operations, {points} points");
    assert!(ops > 60, "{ops} operations read less than the whole");
    for op in
        [AluOp::IAND, AluOp::IADD, AluOp::ISHR, AluOp::U2U8, AluOp::BCSEL, AluOp::BITFIELD_INSERT]
    {
        assert!(deburr_ruleset::rules().reads(op).is_some(), "{op:?}");
    }
}

/// What is exact where it can be: of the low byte of a sum the low bytes of both, of a shifted value the rest.
#[test]
fn what_is_read_is_no_more_than_that() {
    let env = Env { float: FloatEnv::default(), folding: false };
    let reads = |op: AluOp, args: &[Abs], u: u64, n: usize| {
        let reads = deburr_ruleset::rules().reads(op).expect("it reads less");
        (reads.run)(&env, 32, args, u, n)
    };
    let (any, int) = (abs::top(32), |v| abs::int(32, v));
    let cases = [
        (AluOp::IADD, vec![any, any], 0x80, 0, 0xff),
        (AluOp::IMUL, vec![any, int(16)], 0xffff, 0, 0xfff),
        (AluOp::IAND, vec![any, int(0xf0)], u64::from(u32::MAX), 0, 0xf0),
        (AluOp::IAND, vec![any, any], 0x3c, 1, 0x3c),
        (AluOp::IOR, vec![any, int(0xf0)], 0xff, 0, 0x0f),
        (AluOp::ISHL, vec![any, int(24)], u64::from(u32::MAX), 0, 0xff),
        (AluOp::ISHL, vec![any, any], 0x100, 0, 0x1ff),
        (AluOp::ISHL, vec![any, any], 1, 1, 31),
        (AluOp::USHR, vec![any, int(24)], u64::from(u32::MAX), 0, 0xff00_0000),
        (AluOp::ISHR, vec![any, int(4)], 0xf, 0, 0xf0),
        (AluOp::ISHR, vec![any, int(4)], 0xf000_0000, 0, 0x8000_0000),
        (AluOp::U2U8, vec![any], 0xff, 0, 0xff),
        (AluOp::IEQ, vec![any, any], 1, 0, u64::from(u32::MAX)),
    ];
    for (op, args, u, n, want) in cases {
        let got = match deburr_ruleset::rules().reads(op) {
            Some(_) => reads(op, &args, u, n),
            None => u64::from(u32::MAX),
        };
        assert_eq!(got, want, "{op:?} of {args:?}, {u:#x} of it read, operand {n}");
    }
}

/// The check finds functions that say a bit too little.
#[test]
fn functions_that_leave_out_a_bit_are_found() {
    let info = |op: AluOp| op.builtin().expect("it is in the table");
    type Run = fn(&Env, u32, &[Abs], u64, usize) -> u64;
    let wrong: [(AluOp, Run); 6] = [
        (AluOp::IADD, |_, _, _, u, _| u),
        (AluOp::IMUL, |_, _, v, u, n| used::down(u) >> v[1 - n].zeros.trailing_ones().min(7) >> 1),
        (AluOp::ISHR, |_, w, v, u, n| match n {
            0 => used::ushr(w, u, v[1]),
            _ => used::shift_count(w, u),
        }),
        (AluOp::ISHL, |_, w, v, u, n| match n {
            0 => used::shl(w, u, v[1]),
            _ => used::shift_count(w, u) >> 1,
        }),
        (AluOp::IAND, |_, _, v, u, n| used::or(u, v[1 - n])),
        (AluOp::BCSEL, |_, _, _, u, n| if n == 2 { 0 } else { u }),
    ];
    for (op, run) in wrong {
        assert!(check(info(op), 8, &run).is_err(), "{op:?}: a wrong function passes");
    }
}
