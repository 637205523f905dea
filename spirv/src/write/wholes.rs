//! Large objects that are values in SPIR-V.
//!
//! Reading keeps an aggregate of many leaves in a variable that one copy fills. Where everything behind the copy reads
//! the variable at constant indices, the variable is the value that one OpLoad gives: it is stored whole, and parts are
//! extracted.

use super::code::Emit;
use crate::error::Error;
use deburr_ir_core::{
    Def, DerefKind, Dominance, Function, Instr, InstrView, Intrinsic, Type, TypeTable, User, Var,
};
use rustc_hash::FxHashMap;
use spirv::Op;

/// The variables of a function that are values, with the id and type of the value once it is written.
pub(super) type Wholes = FxHashMap<Var, Option<(u32, Type)>>;

/// How a variable is used so far.
#[derive(Default)]
struct Uses {
    fills: Vec<Instr>,
    reads: Vec<Instr>,
    other: bool,
}

/// Finds the variables that are values.
pub(super) fn find(f: &Function, types: &TypeTable) -> Wholes {
    let is_candidate = |var: Var| {
        let data = &f.locals[var.slot()];
        data.name.is_empty() && data.init.is_none()
    };
    let mut uses: FxHashMap<Var, Uses> = FxHashMap::default();
    let mut place: FxHashMap<Instr, usize> = FxHashMap::default();
    if !f.locals.iter().any(|v| v.name.is_empty() && v.init.is_none()) {
        return Wholes::default();
    }
    for (n, instr) in f.all_instrs().enumerate() {
        if f.intrinsic(instr).is_some() {
            place.insert(instr, n);
        }
        let Some((var, direct)) = root(f, instr).filter(|(var, _)| var.is_local()) else {
            continue;
        };
        if is_candidate(var) {
            note(f, types, instr, direct, uses.entry(var).or_default());
        }
    }
    uses.retain(|_, u| !u.other && u.fills.len() == 1);
    if uses.is_empty() {
        return Wholes::default();
    }
    let dominance = Dominance::new(f);
    let before = |a: Instr, b: Instr| match (f.block_of(a), f.block_of(b)) {
        (Some(x), Some(y)) if x == y => place.get(&a) < place.get(&b),
        (Some(x), Some(y)) => dominance.dominates(x, y),
        _ => false,
    };
    uses.retain(|_, u| u.reads.iter().all(|&read| before(u.fills[0], read)));
    uses.into_keys().map(|var| (var, None)).collect()
}

/// The variable that a deref leads into at constant indices, and whether it is the variable's own.
fn root(f: &Function, deref: Instr) -> Option<(Var, bool)> {
    let mut at = deref;
    loop {
        match f.deref(at)?.kind {
            DerefKind::Var(var) => return Some((var, at == deref)),
            _ => at = f.src(at, 0).instr(),
        }
    }
}

/// Notes the uses of a deref of a variable.
fn note(f: &Function, types: &TypeTable, deref: Instr, direct: bool, uses: &mut Uses) {
    let constant = match f.deref(deref).map(|d| d.kind) {
        Some(DerefKind::Var(_) | DerefKind::Struct(_)) => true,
        // An index past the end is undefined in memory, but no part of a value.
        Some(DerefKind::Array) => {
            let whole = f.deref(f.src(deref, 0).instr()).map(|d| d.ty);
            let index = f.constant(f.src(deref, 1)).map(|c| c[0]);
            whole.zip(index).is_some_and(|(ty, index)| types.part(ty, index).is_some())
        }
        _ => false,
    };
    uses.other |= !constant;
    for (user, n) in f.uses_at(deref.def()) {
        let User::Instr(user) = user else {
            uses.other = true;
            continue;
        };
        match f.view(user) {
            InstrView::Intrinsic(Intrinsic::COPY_DEREF, _) if n == 0 && direct => {
                uses.fills.push(user);
            }
            InstrView::Intrinsic(Intrinsic::COPY_DEREF, _) if n == 1 => uses.reads.push(user),
            InstrView::Intrinsic(Intrinsic::LOAD_DEREF, _) => uses.reads.push(user),
            InstrView::Deref(_) if n == 0 => {}
            _ => uses.other = true,
        }
    }
}

impl Emit<'_, '_> {
    /// The variable that is a value, of a deref into one, and the indices from there.
    pub(super) fn whole_var(&self, deref: Def) -> Option<(Var, Vec<u32>)> {
        if self.objects.is_empty() {
            return None;
        }
        let f = self.f;
        let mut path = Vec::new();
        let mut at = deref.instr();
        loop {
            match f.deref(at)?.kind {
                DerefKind::Var(var) => {
                    path.reverse();
                    return self.objects.contains_key(&var).then_some((var, path));
                }
                DerefKind::Struct(member) => path.push(member),
                DerefKind::Array => path.push(f.constant(f.src(at, 1))?[0] as u32),
                DerefKind::PtrAsArray | DerefKind::Wildcard | DerefKind::Cast => return None,
            }
            at = f.src(at, 0).instr();
        }
    }

    /// What a deref points to, as the part of a value of this type; `None` where it points into memory.
    pub(super) fn whole_value(&mut self, deref: Def, wanted: Type) -> Result<Option<u32>, Error> {
        let Some((id, ty)) = self.whole_part(deref)? else { return Ok(None) };
        match ty == wanted {
            true => Ok(Some(id)),
            false => self.relaid(id, wanted, ty).map(Some),
        }
    }

    /// What a deref points to, as the part of a value, and its type there.
    pub(super) fn whole_part(&mut self, deref: Def) -> Result<Option<(u32, Type)>, Error> {
        let Some((var, path)) = self.whole_var(deref) else { return Ok(None) };
        let Some((id, mut ty)) = self.objects.get(&var).copied().flatten() else {
            return Err(Error::invalid("an object is read before it is there"));
        };
        if path.is_empty() {
            return Ok(Some((id, ty)));
        }
        let types = &self.w.module.types;
        for &index in &path {
            let part = types.member(ty, index).or_else(|| types.element(ty));
            ty = part.ok_or_else(|| Error::invalid("an index leads out of the object"))?;
        }
        let type_id = self.w.ir_type(ty)?;
        let part = self.w.id();
        let mut words = vec![type_id, part, id];
        words.extend(path);
        self.code.op(Op::CompositeExtract, &words);
        Ok(Some((part, ty)))
    }
}
