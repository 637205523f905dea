//! The ranges of the intrinsic table against the interpreter: a module notes the least and the greatest value of each
//! intrinsic that has one, and is run.
//!
//! The column is read here by other code than that which the rewrite driver asks, and what that says of the same
//! instruction is checked beside it.

use deburr_algebraic::facts::{Loads, Memo, abs::Abs};
use deburr_eval::{Buffer, Dispatch, Trap, run, workgroup_size};
use deburr_ir_core::{
    AluOp, AluSrc, ArrayLen, Builder, Cursor, Decoration, Def, DerefKind, Function, INTRINSIC_INFO,
    Index, Instr, InstrKind, Intrinsic, Member, Modes, Module, Stage, StructType, Type, TypeData,
    UpperEnd, ValueRange, Var, Variable, index,
};

/// The descriptor set of the buffer that values are noted in.
const SET: u32 = 0xface;

/// The column `range`, or a copy of it with something else in it.
pub type Column = Vec<(&'static str, ValueRange)>;

/// The column of the table.
pub fn column() -> Column {
    INTRINSIC_INFO.iter().filter_map(|info| Some((info.name, info.range?))).collect()
}

/// What was seen of a component of an intrinsic's results.
#[derive(Clone, Debug)]
pub struct Seen {
    /// The intrinsic; of a load of a built-in variable that which stands for it.
    pub name: &'static str,
    /// The component, if that is known.
    pub comp: Option<u8>,
    /// The least value.
    pub low: u64,
    /// The greatest.
    pub high: u64,
    /// What the driver would know.
    pub known: Abs,
    /// The workgroup's size.
    pub size: [u32; 3],
    /// Whether it came from anywhere: what isn't known to the interpreter is free.
    pub free: bool,
}

/// An instruction whose values are noted.
struct Site {
    name: &'static str,
    comp: Option<u8>,
    bits: u32,
    known: Abs,
}

/// Runs a module, and gives what was seen of intrinsics that have a range.
///
/// # Errors
/// If the module can't be run.
pub fn observe(m: &Module, dispatch: &Dispatch) -> Result<Vec<Seen>, Trap> {
    let mut m = m.clone();
    let sites = instrument(&mut m);
    let entry = m.entry_points.iter().find(|e| {
        e.stage == Stage::Compute && dispatch.entry.as_ref().is_none_or(|name| *name == e.name)
    });
    let entry = entry.ok_or_else(|| Trap::NoEntry(String::new()))?;
    let size = workgroup_size(&m, entry, &dispatch.specs)?;
    let mut dispatch = dispatch.clone();
    let bytes = vec![0; 8 * sites.len().max(1)];
    dispatch.buffers.push(Buffer { set: SET, binding: 0, element: 0, bytes });
    let outcome = run(&m, &dispatch)?;
    let out = outcome.buffers.iter().find(|b| b.buffer.set == SET);
    let Some(out) = out else { return Err(Trap::Limit("the notes are gone".into())) };
    let word = |n: usize| {
        let bytes = &out.buffer.bytes[4 * n..4 * n + 4];
        u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]])
    };
    let mut seen = Vec::new();
    for (n, site) in sites.iter().enumerate() {
        let (high, low) = (u64::from(word(2 * n)), u64::from(!word(2 * n + 1)));
        let free = out.free[8 * n..8 * n + 8].contains(&true);
        // Nobody came by where there is no least value.
        if low <= high || free {
            let Site { name, comp, known, bits } = *site;
            debug_assert!(bits <= 32);
            seen.push(Seen { name, comp, low, high, known, size, free });
        }
    }
    Ok(seen)
}

/// What was seen that the column or the driver's knowledge doesn't have.
pub fn outside(seen: &[Seen], column: &Column) -> Vec<String> {
    let mut wrong = Vec::new();
    for s in seen.iter().filter(|s| !s.free) {
        let range = column.iter().find(|(name, _)| *name == s.name).map(|(_, range)| *range);
        let (low, high) = range.map_or((0, u64::MAX), |range| ends(range, s));
        if s.low < low || s.high > high {
            wrong.push(format!(
                "{} {:?} of a workgroup {:?}: {} to {} were seen, {low} to {high} expected",
                s.name, s.comp, s.size, s.low, s.high
            ));
        }
        for value in [s.low, s.high] {
            if !s.known.contains(32, value) {
                wrong.push(format!("{}: {value} was seen, known is {:?}", s.name, s.known));
            }
        }
    }
    wrong
}

/// The ends of a range of integers where the workgroup has a size. Ranges of floats are of stages that aren't run.
fn ends(range: ValueRange, seen: &Seen) -> (u64, u64) {
    let [x, y, z] = seen.size.map(u64::from);
    match range {
        ValueRange::Float(..) => (0, u64::MAX),
        ValueRange::Int(low, UpperEnd::Value(high)) => (low, high),
        ValueRange::Int(low, UpperEnd::WorkgroupInvocations(less)) => {
            (low, (x * y * z).saturating_sub(less))
        }
        ValueRange::Int(low, UpperEnd::WorkgroupSize(less)) => {
            let sizes = [x, y, z];
            let one = seen.comp.and_then(|n| sizes.get(usize::from(n)).copied());
            (low, one.unwrap_or(x.max(y).max(z)).saturating_sub(less))
        }
    }
}

/// Has a module note the greatest value of each site, and the greatest complement.
fn instrument(m: &mut Module) -> Vec<Site> {
    let loads = Loads::of_module(m);
    let (block, words, word) = types(m);
    let notes = m.add_var(Variable {
        binding: Some((SET, 0)),
        ..Variable::new("notes", Modes::SSBO, block)
    });
    let vars = m.vars.clone();
    let mut sites = Vec::new();
    for (f, loads) in m.functions.iter_mut().zip(loads).filter(|(f, _)| f.has_body()) {
        let mut memo = Memo::new(Some(loads));
        let rules = deburr_ruleset::rules();
        for instr in f.all_instrs().collect::<Vec<_>>() {
            let Some((name, only)) = named(f, &vars, instr) else { continue };
            let def = instr.def();
            if !matches!(f.bits(def), 32) {
                continue;
            }
            for comp in 0..f.comps(def) {
                let at = sites.len() as u64;
                let known = memo.of_component(f, rules, def, comp);
                let comp_of_value = only.map_or(Some(comp), |only| only);
                sites.push(Site { name, comp: comp_of_value, bits: 32, known });
                note(f, instr, comp, (notes, block, words, word), at);
            }
        }
    }
    sites
}

/// The types of the buffer of notes: the block, its array, a word.
fn types(m: &mut Module) -> (Type, Type, Type) {
    let word = m.types.int(32, false);
    let words = m.types.intern(TypeData::Array { elem: word, len: ArrayLen::Runtime, stride: 4 });
    let member = Member {
        name: "notes".into(),
        ty: words,
        offset: Some(0),
        matrix_stride: None,
        row_major: false,
        decorations: Vec::new(),
    };
    let block = m.types.intern(TypeData::Struct(StructType {
        name: "Notes".into(),
        members: vec![member],
        decorations: vec![Decoration { name: "Block".into(), args: Vec::new() }],
    }));
    (block, words, word)
}

/// Notes a component of a value behind the instruction that gives it, in words `2 * at` and `2 * at + 1`.
fn note(
    f: &mut Function,
    instr: Instr,
    comp: u8,
    (notes, block, words, word): (Var, Type, Type, Type),
    at: u64,
) {
    let indices = [(Index::ATOMIC_OP, index::atomic_op::UMAX)];
    let mut b = Builder::new(f, Cursor::After(instr));
    let value = b.alu_instr(AluOp::MOV, 1, &[AluSrc::comp(instr.def(), comp)]).def();
    let other = b.inot(value);
    for (n, value) in [value, other].into_iter().enumerate() {
        let whole = b.deref_var(notes, Modes::SSBO, block);
        let list = b.deref_step(DerefKind::Struct(0), whole, None, words);
        let place = b.load_const(32, &[2 * at + n as u64]);
        let place = b.deref_step(DerefKind::Array, list, Some(place), word);
        b.deref_atomic(place, value, &indices);
    }
}

/// The table's name of what an instruction gives, if it has a range; for a load of one component of a built-in variable
/// which one that is, if it is known.
fn named(
    f: &Function,
    vars: &[Variable],
    instr: Instr,
) -> Option<(&'static str, Option<Option<u8>>)> {
    if f.kind(instr) != InstrKind::Intrinsic {
        return None;
    }
    if f.intrinsic(instr) != Some(Intrinsic::LOAD_DEREF) {
        let info = f.intrinsic_info(instr)?;
        return info.range.map(|_| (info.name, None));
    }
    let step = |def: Def| f.deref(def.instr()).map(|info| info.kind);
    let mut deref = f.src(instr, 0);
    let mut only = None;
    if step(deref)? == DerefKind::Array {
        let constant = f.constant(f.src(deref.instr(), 1)).and_then(|c| c.first().copied());
        only = Some(constant.and_then(|c| u8::try_from(c).ok()));
        deref = f.src(deref.instr(), 0);
    }
    let DerefKind::Var(var) = step(deref)? else { return None };
    let name = vars.get(var.slot()).filter(|_| !var.is_local())?.builtin.as_deref()?;
    let info = INTRINSIC_INFO.iter().find(|info| info.builtin == Some(name))?;
    info.range.map(|_| (info.name, only))
}
