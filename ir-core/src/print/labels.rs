//! Labels of module-level things in the text.
//!
//! A thing with a debug name that is a word, free and not of the form that unnamed things have is labelled by that
//! name, and the label is read back as the name. Everything else gets prefix + number, with the name beside it as a
//! string if there is one.

use crate::entity::{Func, SpecConst, Type, Var};
use crate::func::Function;
use crate::module::Module;
use crate::types::{TypeData, TypeTable};
use rustc_hash::FxHashSet;

/// Prefix of the labels of unnamed things of each kind.
pub(crate) const TYPE: char = 't';
pub(crate) const VAR: char = 'v';
pub(crate) const LOCAL: char = 'l';
pub(crate) const FUNC: char = 'f';
pub(crate) const SPEC: char = 's';

/// A label, and the name to print beside it where the label does not say it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Label {
    pub text: String,
    pub name: Option<String>,
}

/// Whether the text can stand as one word.
pub(crate) fn is_word(s: &str) -> bool {
    let mut bytes = s.bytes();
    bytes.next().is_some_and(|b| b.is_ascii_alphabetic() || b == b'_')
        && bytes.all(|b| b.is_ascii_alphanumeric() || b == b'_')
}

/// Whether a label is one that unnamed things get, which says nothing of a name.
pub(crate) fn is_numbered(s: &str, prefix: char) -> bool {
    s.strip_prefix(prefix)
        .is_some_and(|rest| !rest.is_empty() && rest.bytes().all(|b| b.is_ascii_digit()))
}

/// Whether a word begins an anonymous type, so that no type may be labelled by it.
pub(crate) fn is_type_keyword(s: &str) -> bool {
    const WORDS: &[&str] = &[
        "void",
        "bool",
        "vec",
        "mat",
        "struct",
        "image",
        "sampler",
        "sampled_image",
        "accel",
        "ray_query",
        "ptr",
        "forward_ptr",
        "none",
    ];
    WORDS.contains(&s) || scalar(s).is_some()
}

/// Reads `i32`, `u8x4`, `f16`, `boolx2`: base letter, bits, components.
pub(crate) fn scalar(s: &str) -> Option<(char, u8, u8)> {
    let (base, rest) = match s.strip_prefix("bool") {
        Some(rest) => ('b', rest),
        None => {
            let base = s.chars().next().filter(|c| matches!(c, 'i' | 'u' | 'f'))?;
            (base, &s[1..])
        }
    };
    let (bits, comps) = match rest.split_once('x') {
        Some((bits, comps)) => (bits, comps.parse().ok().filter(|&n| n > 1)?),
        None => (rest, 1),
    };
    match base {
        'b' => bits.is_empty().then_some(('b', 1, comps)),
        _ => Some((base, bits.parse().ok().filter(|&n| n > 0)?, comps)),
    }
}

fn labels<'a>(
    names: impl Iterator<Item = &'a str>,
    prefix: char,
    taken: &mut FxHashSet<String>,
    allowed: impl Fn(&str) -> bool,
) -> Vec<Label> {
    names
        .enumerate()
        .map(|(i, name)| {
            let fits = is_word(name) && !is_numbered(name, prefix) && allowed(name);
            if fits && taken.insert(name.to_owned()) {
                return Label { text: name.to_owned(), name: None };
            }
            let name = (!name.is_empty()).then(|| name.to_owned());
            Label { text: format!("{prefix}{i}"), name }
        })
        .collect()
}

/// The labels of a module.
#[derive(Debug, Default)]
pub(crate) struct ModuleLabels {
    types: Vec<Option<Label>>,
    vars: Vec<Label>,
    var_names: FxHashSet<String>,
    specs: Vec<Label>,
    funcs: Vec<Label>,
}

impl ModuleLabels {
    pub fn new(module: &Module) -> Self {
        let mut var_names = FxHashSet::default();
        let vars = labels(module.vars.iter().map(|v| v.name.as_str()), VAR, &mut var_names, |n| {
            !is_numbered(n, LOCAL)
        });
        let any = |_: &str| true;
        let taken = &mut FxHashSet::default();
        let specs = labels(module.spec_consts.iter().map(|s| s.name.as_str()), SPEC, taken, any);
        let taken = &mut FxHashSet::default();
        let funcs = labels(module.functions.iter().map(|f| f.name.as_str()), FUNC, taken, any);
        ModuleLabels { types: type_labels(&module.types), vars, var_names, specs, funcs }
    }

    /// The label of a type that has a declaration; `None` for those written in place.
    pub fn ty(&self, ty: Type) -> Option<&Label> {
        self.types.get(ty.index())?.as_ref()
    }

    pub fn var(&self, var: Var) -> Label {
        self.vars.get(var.slot()).cloned().unwrap_or_else(|| numbered(VAR, var.slot()))
    }

    pub fn spec(&self, spec: SpecConst) -> Label {
        self.specs.get(spec.index()).cloned().unwrap_or_else(|| numbered(SPEC, spec.index()))
    }

    pub fn func(&self, func: Func) -> Label {
        self.funcs.get(func.index()).cloned().unwrap_or_else(|| numbered(FUNC, func.index()))
    }

    /// Labels of a function's locals, different from those of the module's variables.
    pub fn locals(&self, function: &Function) -> Vec<Label> {
        let mut taken = FxHashSet::default();
        labels(function.locals.iter().map(|v| v.name.as_str()), LOCAL, &mut taken, |n| {
            !is_numbered(n, VAR) && !self.var_names.contains(n)
        })
    }
}

fn numbered(prefix: char, slot: usize) -> Label {
    Label { text: format!("{prefix}{slot}"), name: None }
}

/// Structs, images and forward pointers are declared, and every fourth step of what nests deeply; the rest is
/// written in place.
fn type_labels(types: &TypeTable) -> Vec<Option<Label>> {
    let mut height = vec![0u8; types.len()];
    let mut declared = vec![false; types.len()];
    for (ty, data) in types.iter() {
        let inner = |t: &Type| height.get(t.index()).map_or(1, |h| h + 1);
        let h = match data {
            TypeData::Void
            | TypeData::Bool
            | TypeData::Int { .. }
            | TypeData::Float { .. }
            | TypeData::Sampler
            | TypeData::AccelerationStructure
            | TypeData::RayQuery => 0,
            TypeData::Vector { elem, .. } => inner(elem),
            TypeData::Matrix { column, .. } => inner(column),
            TypeData::Array { elem, .. } => inner(elem),
            TypeData::Pointer { pointee, .. } if !types.is_forward(ty) => {
                pointee.as_ref().map_or(0, inner)
            }
            TypeData::SampledImage { image } => inner(image),
            TypeData::Struct(_) | TypeData::Image(_) | TypeData::Pointer { .. } => u8::MAX,
        };
        declared[ty.index()] = h > 4;
        height[ty.index()] = if h > 4 { 0 } else { h };
    }
    // Numbers count the declared types alone, so that reading and printing again gives the same ones.
    let names = types.iter().filter(|(ty, _)| declared[ty.index()]).map(|(_, data)| match data {
        TypeData::Struct(s) => s.name.as_str(),
        _ => "",
    });
    let allowed = |name: &str| !is_type_keyword(name);
    let mut all = labels(names, TYPE, &mut FxHashSet::default(), allowed).into_iter();
    declared.into_iter().map(|declared| if declared { all.next() } else { None }).collect()
}
