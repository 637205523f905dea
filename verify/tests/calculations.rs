//! What a solver is told of every opcode is what the folder computes: the solver is used as a calculator.

use deburr_ir_core::{ALU_INFO, AluInfo, AluOp, BaseType, Denorm, FloatEnv, Rounding, fold};
use deburr_rulegen::rules::Ops;
use deburr_rulegen::tables::{TableFile, Tables};
use deburr_verify::smt::{Calculation, calculations};
use std::collections::BTreeSet;
use std::path::Path;

mod z3;

/// Points of an opcode at a width.
const POINTS: usize = 12;

/// SplitMix64.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ z >> 31
    }

    /// A value of some bits: an edge of its type, one near the middle of its range, or any.
    fn value(&mut self, base: BaseType, bits: u32) -> u64 {
        let mask = u64::MAX >> (64 - bits);
        let (top, raw) = (1u64 << (bits - 1), self.next());
        let edges = match base {
            BaseType::Bool => return if raw & 1 == 0 { 0 } else { mask },
            BaseType::Float => {
                let inf = fold::prim::inf(bits);
                let one = fold::prim::fconst(bits, 1.0);
                [0, top, one, one | top, inf, inf | top, inf | 1, fold::prim::nan(bits), 1, inf - 1]
            }
            BaseType::Int | BaseType::Uint => {
                [0, 1, mask, top, top - 1, 2, 7, u64::from(bits), u64::from(bits) - 1, mask - 1]
            }
        };
        match (self.next() % 3, base) {
            (0, _) => edges[(raw % 10) as usize] & mask,
            // Of moderate size, so that sums and products are numbers.
            (1, BaseType::Float) => {
                let v = (raw % 4001) as f64 / 64.0 - 31.0;
                fold::prim::fconst(bits, v)
            }
            (1, _) => raw % 100 & mask,
            _ => raw & mask,
        }
    }
}

/// The folder's results at some points.
fn computed(
    (op, info): (AluOp, &AluInfo),
    width: u8,
    env: &FloatEnv,
    random: &mut Random,
) -> Vec<Calculation> {
    let bits_of = |bits: u8| u32::from(if bits == 0 { width } else { bits });
    let point = |_| {
        let operands: Vec<Vec<u64>> = info
            .inputs
            .iter()
            .map(|ty| {
                (0..ty.comps.max(1)).map(|_| random.value(ty.base, bits_of(ty.bits))).collect()
            })
            .collect();
        let srcs: Vec<&[u64]> = operands.iter().map(Vec::as_slice).collect();
        let mut out = [0; 16];
        let shadow = fold::fold(op, width, 1, &srcs, env, &mut out)?;
        let comps = usize::from(info.output.comps.max(1));
        let result = (0..comps).map(|i| (shadow.free >> i & 1 == 0).then_some(out[i])).collect();
        Some(Calculation { operands, result })
    };
    (0..POINTS).filter_map(point).collect()
}

/// The scale of the test.
fn cases() -> f64 {
    std::env::var("DEBURR_CASES").ok().and_then(|v| v.parse().ok()).unwrap_or(0.01)
}

#[test]
fn a_solver_calculates_what_the_folder_does() {
    let Some(z3) = z3::found() else { return };
    let root = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/.."));
    let text = std::fs::read_to_string(root.join("opcodes.toml")).expect("the table is there");
    let tables = Tables::parse(&[TableFile::new("opcodes.toml", text)]).expect("it is right");
    let ops = Ops::from_tables(&tables);
    let mut random = Random(1);
    let (mut asked, mut decided, mut wrong) = (0, 0, Vec::new());
    let (mut unknown, mut slow) = (BTreeSet::new(), BTreeSet::new());
    // At reduced size one opcode in so many.
    let step = if cases() >= 1.0 { 1 } else { 5 };
    for (id, info) in ALU_INFO.iter().enumerate().step_by(step) {
        let (Some(sig), true) = (ops.find(info.name), info.fold.is_some()) else { continue };
        let widths = if info.sizes.is_empty() { &[0][..] } else { info.sizes };
        for (n, width) in widths.iter().enumerate() {
            // Every environment has its turn.
            let denorm = [Denorm::Keep, Denorm::Flush][(id + n) % 2];
            let rounding = [Rounding::Rte, Rounding::Rtz][(id + n) / 2 % 2];
            let env = FloatEnv::uniform(denorm, rounding);
            let list = computed((AluOp(id as u16), info), *width, &env, &mut random);
            let Some(script) = calculations(ops.get(sig), *width, env, &list) else {
                unknown.insert(info.name);
                continue;
            };
            asked += 1;
            match z3.says(&script).lines().next() {
                Some("unsat") => decided += 1,
                // Long sums of floats take it longer than it has.
                Some("unknown") => {
                    slow.insert(info.name);
                }
                said => {
                    wrong.push(format!("{}@{width} {denorm:?} {rounding:?}: {said:?}", info.name))
                }
            }
        }
    }
    println!("{decided} of {asked} opcodes × widths decided; slow: {slow:?}; unknown: {unknown:?}");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(asked > 1200 / step && decided * 50 > asked * 49, "{decided} of {asked}");
}
