//! What is known of values that come from outside a function: the results of intrinsics.
//!
//! The column `range` of the intrinsic table says what values an intrinsic may give. A load through a deref of a built-in
//! variable gives what the intrinsic gives that stands for the built-in. Some ranges end at the size of the workgroup,
//! which the entry points of the module say; all of this is looked up where it is asked for, and nothing is kept.

use super::abs::{self, Abs};
use super::class;
use deburr_ir_core::{
    Constant, Def, DerefKind, EntryPoint, Func, Function, INTRINSIC_INFO, Instr, InstrView,
    Intrinsic, ModeArg, Modes, Module, SpecConst, SpecValue, UpperEnd, ValueRange, Variable,
};
use std::sync::Arc;

/// What a module says of the values that one of its functions loads.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Loads {
    /// By module variable: the values of a built-in input.
    builtins: Vec<Option<ValueRange>>,
    /// The size of the workgroup, or one that is not less in any dimension.
    pub(super) size: Option<[u32; 3]>,
}

/// What is known where no module says anything.
pub(super) const NOTHING: Loads = Loads { builtins: Vec::new(), size: None };

/// SPIR-V's number of the built-in `WorkgroupSize`.
const WORKGROUP_SIZE: u32 = 25;

impl Loads {
    /// What a module says of each of its functions.
    ///
    /// A function that several entry points reach has the largest of their workgroups in each dimension, and none that is
    /// known if one of them has none: a size that is a specialisation constant isn't known.
    pub fn of_module(m: &Module) -> Vec<Arc<Loads>> {
        let builtins: Vec<_> = m.vars.iter().map(|var| range_of(m, var)).collect();
        let sizes: Vec<_> = m.entry_points.iter().map(|entry| size_of(m, entry)).collect();
        let with = |size| Arc::new(Loads { builtins: builtins.clone(), size });
        match &sizes[..] {
            [first, rest @ ..] if rest.iter().any(|size| size != first) => {
                let sizes = sizes_by_function(m, &sizes);
                sizes.into_iter().map(with).collect()
            }
            _ => vec![with(sizes.first().copied().flatten()); m.functions.len()],
        }
    }

    /// The values that the listed components of an intrinsic's result may have, bit `i` for component `i`. They are
    /// listed only where there is a range, which few loads have.
    pub(super) fn known(&self, f: &Function, def: Def, comps: impl FnOnce() -> u16) -> Abs {
        let bits = u32::from(f.bits(def));
        match self.range(f, def.instr()) {
            None => abs::top(bits),
            Some((ValueRange::Int(low, end), only)) => {
                let high = self.greatest(end, only.unwrap_or_else(comps)).unwrap_or(u64::MAX);
                abs::range(bits, low, high.min(abs::mask(bits)))
            }
            Some((ValueRange::Float(low, high), _)) => match bits {
                16 | 32 | 64 => class::float(bits, class::between(low, high)),
                _ => abs::top(bits),
            },
        }
    }

    /// The range of an intrinsic's values; where a load takes a part of a variable, which of its components.
    fn range(&self, f: &Function, instr: Instr) -> Option<(ValueRange, Option<u16>)> {
        if f.intrinsic(instr) != Some(Intrinsic::LOAD_DEREF) {
            return Some((f.intrinsic_info(instr)?.range?, None));
        }
        let mut deref = f.src(instr, 0).instr();
        let step = f.deref(deref).filter(|step| step.modes == Modes::IN)?;
        let mut only = None;
        if step.kind == DerefKind::Array {
            only = Some(match f.constant(f.src(deref, 1)) {
                Some(&[index @ 0..16]) => 1 << index,
                _ => u16::MAX,
            });
            deref = f.src(deref, 0).instr();
        }
        let DerefKind::Var(var) = f.deref(deref)?.kind else { return None };
        let range = (!var.is_local()).then(|| self.builtins.get(var.slot()).copied());
        Some((range.flatten().flatten()?, only))
    }

    /// The greatest value of any of the components.
    fn greatest(&self, end: UpperEnd, comps: u16) -> Option<u64> {
        let (most, less) = match end {
            UpperEnd::Value(value) => return Some(value),
            UpperEnd::WorkgroupSize(less) => {
                let sizes = self.size?.into_iter().enumerate();
                let meant = sizes.filter(|(n, _)| comps >> n & 1 != 0).map(|(_, size)| size);
                (u64::from(meant.max()?), less)
            }
            UpperEnd::WorkgroupInvocations(less) => {
                let sizes = self.size?.into_iter();
                (sizes.fold(1u64, |all, size| all.saturating_mul(size.into())), less)
            }
        };
        most.checked_sub(less)
    }
}

/// The values of a built-in input.
fn range_of(m: &Module, var: &Variable) -> Option<ValueRange> {
    let name = var.builtin.as_deref().filter(|_| var.mode == Modes::IN)?;
    let own = m.dialects.0.iter().flat_map(|dialect| dialect.intrinsics);
    INTRINSIC_INFO.iter().chain(own).find(|info| info.builtin == Some(name))?.range
}

/// The size of an entry point's workgroup, if no specialisation constant has a part in it.
fn size_of(m: &Module, entry: &EntryPoint) -> Option<[u32; 3]> {
    let is_size =
        |name: &str, args: &[u32]| name == "BuiltIn" && args.first() == Some(&WORKGROUP_SIZE);
    let builtin =
        m.spec_consts.iter().find(|c| c.decorations.iter().any(|d| is_size(&d.name, &d.args)));
    if let Some(constant) = builtin {
        // It stands above the execution mode.
        let SpecValue::Composite(parts) = &constant.value else { return None };
        let part = |n: usize| match parts.get(n)? {
            Constant::Bits(bits) => u32::try_from(*bits.first()?).ok(),
            Constant::Spec(spec) => fixed(m, *spec),
            Constant::Composite(_) | Constant::Null | Constant::Undef | Constant::Address(_) => {
                None
            }
        };
        return Some([part(0)?, part(1)?, part(2)?]);
    }
    let mode =
        entry.modes.iter().find(|mode| mode.name == "LocalSize" || mode.name == "LocalSizeId")?;
    let arg = |n: usize| match mode.args.get(n)? {
        ModeArg::Literal(size) => Some(*size),
        ModeArg::Spec(spec) => fixed(m, *spec),
    };
    Some([arg(0)?, arg(1)?, arg(2)?])
}

/// The value of a specialisation constant that nobody can replace.
fn fixed(m: &Module, spec: SpecConst) -> Option<u32> {
    match m.spec_consts.get(spec.index())?.value {
        SpecValue::Scalar { id: None, default } => u32::try_from(default).ok(),
        SpecValue::Scalar { .. } | SpecValue::Composite(_) | SpecValue::Op { .. } => None,
    }
}

/// For each function the largest workgroup that runs it, given that of each entry point.
fn sizes_by_function(m: &Module, entries: &[Option<[u32; 3]>]) -> Vec<Option<[u32; 3]>> {
    let callees: Vec<Vec<Func>> = m.functions.iter().map(callees).collect();
    // What nothing reaches has no workgroup at all.
    let mut sizes: Vec<Option<Option<[u32; 3]>>> = vec![None; m.functions.len()];
    for (entry, size) in m.entry_points.iter().zip(entries) {
        let mut reached = vec![false; m.functions.len()];
        let mut todo = vec![entry.function.index()];
        while let Some(at) = todo.pop() {
            if std::mem::replace(&mut reached[at], true) {
                continue;
            }
            sizes[at] = Some(match sizes[at] {
                None => *size,
                Some(other) => other.zip(*size).map(|(a, b)| [0, 1, 2].map(|n| a[n].max(b[n]))),
            });
            todo.extend(callees[at].iter().map(|f| f.index()));
        }
    }
    sizes.into_iter().map(Option::flatten).collect()
}

fn callees(f: &Function) -> Vec<Func> {
    if !f.has_body() {
        return Vec::new();
    }
    let called = f.all_instrs().filter_map(|i| match f.view(i) {
        InstrView::Call(func) => Some(func),
        _ => None,
    });
    called.collect()
}
