//! Random sequences of control-flow edits (F28): after each step the validator is silent and the program does what it
//! did before.
//!
//! `program` makes programs, `machine` runs them, `edits` has the edits, each of which keeps the meaning by
//! construction: if the trace changes, an edit function lost an edge, a phi's source or an instruction.

mod machine;
mod operations;
mod program;

use deburr_ir_core::{
    AluOp, Builder, Cursor, Func, Function, Instr, InstrInit, InstrKind, JumpKind, Module, Shape,
    parse, validate,
};
use machine::{Trace, run};
use operations::Editor;
use program::program;

/// A small deterministic generator (Vigna, splitmix64).
#[derive(Clone, Debug)]
pub struct Rng(u64);

impl Rng {
    /// A generator of this seed.
    pub fn new(seed: u64) -> Self {
        Rng(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0x1234_5678_9abc_def1)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, n: usize) -> usize {
        (self.next() % n.max(1) as u64) as usize
    }

    fn chance(&mut self, of_hundred: u64) -> bool {
        self.next() % 100 < of_hundred
    }

    fn pick<T: Copy>(&mut self, of: &[T]) -> Option<T> {
        if of.is_empty() { None } else { Some(of[self.below(of.len())]) }
    }
}

/// What happened in one sequence.
#[derive(Clone, Debug, Default)]
pub struct Summary {
    /// Edits made, by name.
    pub edits: Vec<&'static str>,
    /// Depth of the deepest node at the start.
    pub depth: usize,
    /// Phis with uses when the sequence ended.
    pub live_phis: usize,
    /// Events that the program gave.
    pub events: usize,
}

/// Inputs that every program is run on.
const INPUTS: [[u32; 3]; 3] = [[1, 2, 3], [0x8000_0001, 7, 0], [12, 5, 0xffff_ffff]];

/// A bug put into the program after an edit, to see that it is noticed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bug {
    /// Two sources of a phi are exchanged.
    SwappedPhi,
    /// A phi gets undef from an edge.
    LostPhiSource,
    /// A call is gone.
    LostCode,
    /// The branches of an `if` take each other's place.
    FlippedBranch,
    /// An edge is not in the tree: a jump was put in past the edit functions.
    StaleEdge,
    /// A value is moved behind its uses.
    UnsafeMove,
}

impl Bug {
    /// Every bug.
    pub const ALL: &'static [Bug] = &[
        Bug::SwappedPhi,
        Bug::LostPhiSource,
        Bug::LostCode,
        Bug::FlippedBranch,
        Bug::StaleEdge,
        Bug::UnsafeMove,
    ];
}

/// Makes a program and edits it `steps` times.
///
/// # Errors
/// What went wrong, with the edit and the program before and after it.
pub fn sequence(seed: u64, steps: usize) -> Result<Summary, String> {
    sequence_with(seed, steps, None)
}

/// The same, with a bug after every edit.
///
/// # Errors
/// What went wrong, with the edit and the program before and after it.
pub fn sequence_with(seed: u64, steps: usize, bug: Option<Bug>) -> Result<Summary, String> {
    let mut rng = Rng::new(seed);
    let mut module = program(&mut rng);
    let func = Func::from_index(0);
    let expected = traces(&module[func]);
    check(&module, &expected, &module[func], "the program")?;
    let mut summary = Summary {
        depth: depth(&module[func]),
        events: expected.iter().map(|t| t.events.len()).sum(),
        ..Summary::default()
    };
    while summary.edits.len() < steps {
        let before = module[func].clone();
        let edit = Editor { f: &mut module[func], rng: &mut rng }.step();
        let Some(edit) = edit else { continue };
        summary.edits.push(edit);
        module[func].remove_unreachable();
        if let Some(bug) = bug {
            sabotage(&mut module[func], &mut rng, bug);
        }
        check(&module, &expected, &before, edit)?;
        if rng.chance(5) {
            compact(&mut module, func)?;
        }
    }
    let f = &module[func];
    summary.live_phis =
        f.blocks().flat_map(|b| f.phis(b)).filter(|phi| f.is_used(phi.def())).count();
    Ok(summary)
}

fn sabotage(f: &mut Function, rng: &mut Rng, bug: Bug) {
    let phis: Vec<Instr> = f
        .blocks()
        .flat_map(|b| f.phis(b))
        .filter(|&phi| f.srcs(phi).len() > 1 && f.is_used(phi.def()))
        .collect();
    let instrs: Vec<Instr> = f.all_instrs().filter(|&i| f.kind(i) != InstrKind::Phi).collect();
    match bug {
        Bug::SwappedPhi => {
            let Some(phi) = rng.pick(&phis) else { return };
            let (x, y) = (f.src(phi, 0), f.src(phi, 1));
            f.set_src(phi, 0, y);
            f.set_src(phi, 1, x);
        }
        Bug::LostPhiSource => {
            let Some(phi) = rng.pick(&phis) else { return };
            let shape = f.shape(phi.def());
            let undef = Builder::new(f, Cursor::BlockStart(f.start_block()))
                .undef(shape.comps(), shape.bits());
            f.set_src(phi, 0, undef);
        }
        Bug::LostCode => {
            let calls: Vec<Instr> =
                instrs.into_iter().filter(|&i| f.kind(i) == InstrKind::Call).collect();
            if let Some(call) = rng.pick(&calls) {
                f.remove(call);
            }
        }
        Bug::FlippedBranch => {
            let nodes: Vec<_> = f
                .blocks()
                .filter_map(|b| f.next_node(f.block_node(b)?))
                .filter(|&n| f.condition(n).is_some())
                .collect();
            let Some(node) = rng.pick(&nodes) else { return };
            let block = f.block_before(node);
            let old = f.condition(node).expect("an if has a condition");
            let mut b = Builder::new(f, Cursor::BlockEnd(block));
            let no = b.imm_bool(false);
            let flipped = b.alu(AluOp::IEQ, &[old, no]);
            f.set_condition(node, flipped);
        }
        Bug::StaleEdge => {
            let blocks: Vec<_> =
                f.blocks().filter(|&b| f.block_jump(b).is_none() && f.is_reachable(b)).collect();
            let Some(block) = rng.pick(&blocks) else { return };
            let jump = f.create(InstrInit::Jump(JumpKind::Halt), Shape::NONE, &[]);
            f.insert(jump, Cursor::BlockEnd(block));
        }
        Bug::UnsafeMove => {
            let used: Vec<Instr> =
                instrs.into_iter().filter(|&i| f.def(i).is_some_and(|d| f.is_used(d))).collect();
            if let Some(instr) = rng.pick(&used) {
                f.move_to(instr, Cursor::BeforeJump(f.last_block(f.body())));
            }
        }
    }
}

fn traces(f: &Function) -> Vec<Trace> {
    INPUTS.iter().map(|input| run(f, input)).collect()
}

fn check(module: &Module, expected: &[Trace], before: &Function, edit: &str) -> Result<(), String> {
    let f = &module[Func::from_index(0)];
    let report =
        |what: String| Err(format!("after {edit}: {what}\n--- before\n{before}\n--- after\n{f}"));
    if let Err(errors) = validate(module) {
        return report(errors.iter().map(|e| format!("{e}\n")).collect());
    }
    let now = traces(f);
    for (now, expected) in now.iter().zip(expected) {
        if !now.agrees(expected) {
            return report(format!("{now:?}\nbut it was\n{expected:?}"));
        }
    }
    Ok(())
}

/// Compacts the function; the result, and the text read back, equal it.
fn compact(module: &mut Module, func: Func) -> Result<(), String> {
    let text = module.to_string();
    let compacted = module[func].compacted();
    if compacted != module[func] {
        return Err(format!("compaction changes\n{text}\ninto\n{compacted}"));
    }
    match parse(&text) {
        Ok(parsed) if parsed == *module && parsed.to_string() == text => {}
        Ok(parsed) => return Err(format!("the text reads back as another\n{text}\n{parsed}")),
        Err(errors) => return Err(format!("{errors:?}\n{text}")),
    }
    module[func] = compacted;
    Ok(())
}

/// Depth of the deepest node of a function.
fn depth(f: &Function) -> usize {
    let of = |block| {
        let mut depth = 0;
        let mut node = f.block_node(block).and_then(|n| f.parent(n));
        while let Some(n) = node {
            depth += 1;
            node = f.parent(n);
        }
        depth
    };
    f.blocks().map(of).max().unwrap_or(0)
}
