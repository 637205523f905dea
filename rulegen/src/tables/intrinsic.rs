//! Entries of the intrinsic table: const indices and intrinsics.

use super::op::{Convergent, Dir};
use super::range::{self, ValueRange};
use super::read::{Entry, check_unique};
use super::sig::OPERANDS;
use super::{E_FORM, E_FULL, E_KIND, E_REFERENCE, E_WORD, Place, Tables};
use crate::diagnostics::Span;
use crate::expr::SourceText;

/// A const index: a named number on an intrinsic instruction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IndexDef {
    /// Its name.
    pub name: String,
    /// Where it is defined.
    pub place: Place,
    /// What it holds.
    pub kind: IndexKind,
    /// The value that the text may leave out.
    pub default: u32,
    /// Documentation.
    pub doc: String,
}

/// What a const index holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum IndexKind {
    /// An unsigned number.
    U32,
    /// A signed number.
    I32,
    /// 0 or 1.
    Bool,
    /// An ALU opcode.
    Op,
    /// One of these, numbered in order.
    Enum(Vec<String>),
    /// A set of these, bit i = the i-th.
    Flags(Vec<String>),
}

/// An intrinsic.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IntrinsicDef {
    /// Its name.
    pub name: String,
    /// Where it is defined.
    pub place: Place,
    /// Components of each source: 0 = the instruction's count, −1 = any.
    pub srcs: Vec<i8>,
    /// Bit size of each source, 0 = any; empty = all any.
    pub src_bits: Vec<u8>,
    /// Components of the result: 0 = the instruction's count, −1 = any.
    pub dest: Option<i8>,
    /// Admissible bit sizes of the result; empty = any.
    pub dest_bits: Vec<u8>,
    /// The source that has the result's bit size.
    pub bits_from: Option<u8>,
    /// Values that each component of the result may have; all if there is none.
    pub range: Option<ValueRange>,
    /// Const indices by name, in order.
    pub indices: Vec<String>,
    /// May be removed when its result is unused.
    pub eliminate: bool,
    /// May be reordered, so that equal ones may be merged.
    pub reorder: bool,
    /// May be executed where the program didn't.
    pub speculatable: bool,
    /// Loads a system value.
    pub system_value: bool,
    /// What it does to memory.
    pub memory: Memory,
    /// Which invocations it depends on.
    pub convergent: Convergent,
    /// Divergence of the result in the stages not listed.
    pub divergence: Divergence,
    /// Divergence of the result by stage.
    pub divergence_by_stage: Vec<(String, Divergence)>,
    /// SPIR-V built-in that it is read from.
    pub builtin: Option<String>,
    /// SPIR-V instructions that it is read from or written as, the preferred one to write first.
    pub spirv: Vec<IntrinsicForm>,
    /// Documentation.
    pub doc: String,
}

/// What an intrinsic does to memory.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Memory {
    /// Orders everything around it.
    pub barrier: bool,
    /// Modes read.
    pub reads: Vec<MemoryMode>,
    /// Modes written.
    pub writes: Vec<MemoryMode>,
}

/// A kind of memory that an intrinsic may touch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MemoryMode {
    /// A mode by name.
    Named(String),
    /// The modes of the deref in this source.
    Deref(u8),
    /// Every mode.
    Any,
}

/// Whether the invocations of a subgroup may see different results.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Divergence {
    /// They don't.
    Uniform,
    /// They may.
    #[default]
    Divergent,
    /// They do if the sources do.
    Sources,
}

const DIVERGENCE: [(&str, Divergence); 3] = [
    ("uniform", Divergence::Uniform),
    ("divergent", Divergence::Divergent),
    ("sources", Divergence::Sources),
];

/// Stages that `divergence` may name.
const STAGES: [&str; 14] = [
    "vertex",
    "tess_ctrl",
    "tess_eval",
    "geometry",
    "fragment",
    "compute",
    "task",
    "mesh",
    "kernel",
    "ray",
    "raygen",
    "any_hit",
    "closest_hit",
    "miss",
];

/// Kinds of memory, in the order of their bits.
pub const MODES: [&str; 22] = [
    "function",
    "private",
    "in",
    "out",
    "uniform",
    "ubo",
    "ssbo",
    "shared",
    "push_const",
    "image",
    "global",
    "task_payload",
    "node_payload",
    "ray_payload",
    "ray_payload_in",
    "callable_data",
    "callable_data_in",
    "hit_attrib",
    "shader_record",
    "atomic_counter",
    "constant",
    "scratch",
];

/// A SPIR-V instruction that an intrinsic is read from or written as.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IntrinsicForm {
    /// Instruction name without `Op`, or the GLSL.std.450 instruction.
    pub name: String,
    /// Whether `name` is of GLSL.std.450.
    pub ext: bool,
    /// The form stands for these values of const indices.
    pub when: Vec<(String, u32)>,
    /// Operands in SPIR-V's order, as the table writes them; empty = the sources in order.
    pub args: String,
    /// Bit sizes of the result where the form applies; empty = all.
    pub sizes: Vec<u8>,
    /// Only in modules that declare this capability.
    pub capability: Option<String>,
    /// Direction of use.
    pub dir: Dir,
}

/// Largest number of const indices, built-in and a dialect's together.
const MAX_INDICES: usize = 255;
/// Largest number of intrinsics of a table.
const MAX_INTRINSICS: usize = 0x4000;

/// Reads a const index.
pub(super) fn read_index(entry: &mut Entry<'_, '_>, tables: &mut Tables, builtin: Option<&Tables>) {
    let name = entry.name();
    let types = [
        ("u32", IndexKind::U32),
        ("i32", IndexKind::I32),
        ("bool", IndexKind::Bool),
        ("op", IndexKind::Op),
    ];
    let words: Vec<(&str, usize)> =
        types.iter().enumerate().map(|(i, (word, _))| (*word, i)).collect();
    let kind = match entry.required("type") {
        Some(text) => entry.choose(&text, "type", &words).map(|i| types[i].1.clone()),
        None => None,
    };
    let values = names(entry, "values");
    let flags = names(entry, "flags");
    let default = entry.integer("default", 0..=u32::MAX.into()).unwrap_or(0) as u32;
    let doc = entry.doc();
    let (Some((name, place)), Some(mut kind)) = (name, kind) else { return };
    if (values.is_some() || flags.is_some()) && kind != IndexKind::U32 {
        entry.error(E_KIND, place.span, "only an index of type u32 has `values` or `flags`");
    }
    match (values, flags) {
        (Some(_), Some(_)) => {
            entry.error(E_KIND, place.span, "an index has `values` or `flags`, not both")
        }
        (Some(values), None) => kind = IndexKind::Enum(values),
        (None, Some(flags)) if flags.len() > 32 => {
            entry.error(E_FULL, place.span, "more than 32 flags")
        }
        (None, Some(flags)) => kind = IndexKind::Flags(flags),
        (None, None) => {}
    }
    if tables.indices.len() + builtin.map_or(0, |t| t.indices.len()) >= MAX_INDICES {
        entry.error(E_FULL, place.span, format!("more than {MAX_INDICES} const indices"));
        return;
    }
    let earlier = builtin.and_then(|t| t.index(&name)).or_else(|| tables.index(&name));
    let earlier = earlier.map(|(_, index)| (&index.place.file, index.place.span));
    if check_unique(entry, &name, &place, earlier) {
        tables.indices.push(IndexDef { name, place, kind, default, doc });
    }
}

/// A list of names, each given once.
fn names(entry: &mut Entry<'_, '_>, key: &'static str) -> Option<Vec<String>> {
    let list = entry.strings(key)?;
    let mut names: Vec<String> = Vec::new();
    for text in list {
        let good = text.text.starts_with(|c: char| c.is_ascii_lowercase())
            && text.text.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_');
        if !good || names.contains(&text.text) {
            let what = if good { "given twice" } else { "no name" };
            entry.error(super::E_BAD_NAME, text.whole(), format!("`{}` is {what}", text.text));
        }
        names.push(text.text);
    }
    Some(names)
}

/// Reads an intrinsic.
pub(super) fn read(entry: &mut Entry<'_, '_>, tables: &mut Tables, builtin: Option<&Tables>) {
    let name = entry.name();
    let srcs: Vec<i8> = entry
        .strings("src")
        .unwrap_or_default()
        .iter()
        .filter_map(|text| components(entry, text))
        .collect();
    let dest = entry.string("dest").and_then(|text| components(entry, &text));
    let src_bits = entry.integers("src_bits", 0..=64).unwrap_or_default();
    if !src_bits.is_empty() && src_bits.len() != srcs.len() {
        let span = entry.peek_span("src_bits").unwrap_or(entry.span);
        entry.error(
            E_REFERENCE,
            span,
            format!("{} bit sizes for {} sources", src_bits.len(), srcs.len()),
        );
    }
    let dest_bits = entry.integers("bits", 1..=64).unwrap_or_default();
    let bits_from = entry.integer("bits_from", 0..=15).map(|n| n as u8);
    if bits_from.is_some_and(|n| usize::from(n) >= srcs.len()) {
        let span = entry.peek_span("bits_from").unwrap_or(entry.span);
        entry.error(E_REFERENCE, span, format!("the entry has {} sources", srcs.len()));
    }
    let range = range::read(entry, dest.is_some(), &dest_bits);
    let index_texts = entry.strings("indices").unwrap_or_default();
    let indices = check_indices(entry, &index_texts, tables, builtin);
    let flags = entry.strings("flags").unwrap_or_default();
    let (mut eliminate, mut reorder) = (false, false);
    for text in &flags {
        match entry.choose(text, "flags", &[("eliminate", true), ("reorder", false)]) {
            Some(true) => eliminate = true,
            Some(false) => reorder = true,
            None => {}
        }
    }
    let memory = memory(entry);
    let convergent = entry.word("convergent", &Convergent::WORDS).unwrap_or_default();
    let speculatable = entry.boolean("speculatable").unwrap_or(false);
    let system_value = entry.boolean("system_value").unwrap_or(false);
    let (divergence, divergence_by_stage) = divergence(entry);
    let doc = entry.doc();
    let mut forms = Vec::new();
    let mut builtins = Vec::new();
    let sources = srcs.len();
    entry.each("spirv", |form| {
        read_form(form, sources, &indices, tables, builtin, &mut forms, &mut builtins)
    });
    let Some((name, place)) = name else { return };
    if builtins.len() > 1 {
        entry.error(E_FORM, place.span, "an intrinsic is read from one built-in at most");
    }
    if tables.intrinsics.len() >= MAX_INTRINSICS {
        entry.error(E_FULL, place.span, format!("more than {MAX_INTRINSICS} intrinsics"));
        return;
    }
    let earlier = builtin.and_then(|t| t.intrinsic(&name)).or_else(|| tables.intrinsic(&name));
    let earlier = earlier.map(|(_, i)| (&i.place.file, i.place.span));
    if check_unique(entry, &name, &place, earlier) {
        tables.intrinsics.push(IntrinsicDef {
            name,
            place,
            srcs,
            src_bits,
            dest,
            dest_bits,
            bits_from,
            range,
            indices,
            eliminate,
            reorder,
            speculatable,
            system_value,
            memory,
            convergent,
            divergence,
            divergence_by_stage,
            builtin: builtins.into_iter().next(),
            spirv: forms,
            doc,
        });
    }
}

/// A component count: "-1", "0" or a number.
fn components(entry: &mut Entry<'_, '_>, text: &SourceText) -> Option<i8> {
    let count = text.text.parse::<i8>().ok().filter(|n| matches!(n, -1..=5 | 8 | 16));
    if count.is_none() {
        let message = format!(
            "`{}` is no component count: a number, \"0\" = the instruction's, \"-1\" = any",
            text.text
        );
        entry.error(E_KIND, text.whole(), message);
    }
    count
}

fn check_indices(
    entry: &mut Entry<'_, '_>,
    texts: &[SourceText],
    tables: &Tables,
    builtin: Option<&Tables>,
) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for text in texts {
        if names.contains(&text.text) {
            entry.error(
                super::E_DUPLICATE,
                text.whole(),
                format!("`{}` is given twice", text.text),
            );
        } else if find_index(&text.text, tables, builtin).is_none() {
            let known = tables.indices.iter().chain(builtin.iter().flat_map(|t| &t.indices));
            let diagnostic = crate::diagnostics::Diagnostic::error(
                E_REFERENCE,
                &entry.file.name,
                text.whole(),
                format!("no index `{}`", text.text),
            );
            entry.log.push(diagnostic.suggest(&text.text, known.map(|i| i.name.as_str())));
        } else {
            names.push(text.text.clone());
        }
    }
    names
}

fn find_index<'t>(
    name: &str,
    tables: &'t Tables,
    builtin: Option<&'t Tables>,
) -> Option<&'t IndexDef> {
    tables.index(name).or_else(|| builtin.and_then(|t| t.index(name))).map(|(_, index)| index)
}

fn memory(entry: &mut Entry<'_, '_>) -> Memory {
    let mut memory = Memory::default();
    match entry.peek("memory") {
        None => {}
        Some(value) if value.is_str() => {
            memory.barrier = entry.word("memory", &[("barrier", true)]).unwrap_or(false);
        }
        Some(_) => {
            let Some(mut table) = entry.table("memory") else { return memory };
            for (key, list) in [("reads", &mut memory.reads), ("writes", &mut memory.writes)] {
                for text in table.strings(key).unwrap_or_default() {
                    let words: Vec<(&str, usize)> = ["deref", "deref1", "any"]
                        .into_iter()
                        .chain(MODES)
                        .enumerate()
                        .map(|(i, w)| (w, i))
                        .collect();
                    match table.choose(&text, key, &words) {
                        Some(index @ (0 | 1)) => list.push(MemoryMode::Deref(index as u8)),
                        Some(2) => list.push(MemoryMode::Any),
                        Some(_) => list.push(MemoryMode::Named(text.text)),
                        None => {}
                    }
                }
            }
            table.finish();
        }
    }
    memory
}

fn divergence(entry: &mut Entry<'_, '_>) -> (Divergence, Vec<(String, Divergence)>) {
    if entry.peek("divergence").is_none_or(|value| value.is_str()) {
        return (entry.word("divergence", &DIVERGENCE).unwrap_or_default(), Vec::new());
    }
    let mut default = Divergence::default();
    let mut stages = Vec::new();
    for (stage, span, text) in entry.pairs("divergence") {
        let Some(value) = entry.choose(&text, "divergence", &DIVERGENCE) else { continue };
        if stage == "default" {
            default = value;
        } else if STAGES.contains(&stage.as_str()) {
            stages.push((stage, value));
        } else {
            entry.error(E_WORD, span, format!("no stage `{stage}`"));
        }
    }
    stages.sort_by(|a, b| a.0.cmp(&b.0));
    (default, stages)
}

/// Reads a SPIR-V form, or the built-in that a system value is read from.
fn read_form(
    form: &mut Entry<'_, '_>,
    sources: usize,
    indices: &[String],
    tables: &Tables,
    builtin: Option<&Tables>,
    forms: &mut Vec<IntrinsicForm>,
    builtins: &mut Vec<String>,
) {
    let names = ["op", "ext", "builtin"].map(|key| form.string(key));
    if names.iter().flatten().count() != 1 {
        form.ignore_rest(&["when", "args", "sizes", "capability", "dir"]);
        form.error(E_FORM, form.span, "a form has exactly one of `op`, `ext`, `builtin`");
        return;
    }
    let [op, ext, built_in] = names;
    if let Some(name) = built_in {
        builtins.push(name.text);
        return;
    }
    let is_ext = ext.is_some();
    let Some(name) = op.or(ext) else { return };
    let when = form
        .pairs("when")
        .into_iter()
        .filter_map(|(index, span, value)| {
            if !indices.contains(&index) {
                form.error(E_REFERENCE, span, format!("the entry has no index `{index}`"));
                return None;
            }
            let number = index_value(form, find_index(&index, tables, builtin)?, &value)?;
            Some((index, number))
        })
        .collect();
    let args = form.string("args");
    if let Some(text) = &args {
        check_args(form, text, sources, indices);
    }
    forms.push(IntrinsicForm {
        name: name.text,
        ext: is_ext,
        when,
        args: args.map(|text| text.text).unwrap_or_default(),
        sizes: form.integers("sizes", 1..=64).unwrap_or_default(),
        capability: form.string("capability").map(|text| text.text),
        dir: form.word("dir", &Dir::WORDS).unwrap_or_default(),
    });
}

/// The number that a value of an index is written as.
fn index_value(form: &mut Entry<'_, '_>, index: &IndexDef, text: &SourceText) -> Option<u32> {
    let named = match &index.kind {
        IndexKind::Enum(names) => names.iter().position(|n| *n == text.text).map(|i| i as u32),
        IndexKind::Flags(names) => names.iter().position(|n| *n == text.text).map(|i| 1 << i),
        IndexKind::Bool => ["false", "true"].iter().position(|n| *n == text.text).map(|i| i as u32),
        IndexKind::U32 | IndexKind::Op => None,
        IndexKind::I32 => text.text.parse::<i32>().ok().map(|n| n as u32),
    };
    let value = named.or_else(|| text.text.parse::<u32>().ok());
    if value.is_none() {
        form.error(
            E_WORD,
            text.whole(),
            format!("`{}` is no value of the index `{}`", text.text, index.name),
        );
    }
    value
}

/// Whether the operands of a form exist: letters (with a component), numbers, `@index`, literal enumerants.
fn check_args(form: &mut Entry<'_, '_>, text: &SourceText, sources: usize, indices: &[String]) {
    let mut at = 0;
    for word in text.text.split(' ') {
        let span: Span = text.span(at..at + word.len());
        at += word.len() + 1;
        if let Some(name) = word.strip_prefix('@') {
            if !indices.iter().any(|i| i == name) {
                form.error(E_REFERENCE, span, format!("the entry has no index `{name}`"));
            }
        } else if word.starts_with(|c: char| c.is_ascii_lowercase()) {
            let letter = word.split('.').next().unwrap_or(word);
            if !OPERANDS[..sources.min(OPERANDS.len())].contains(&letter) {
                form.error(
                    E_REFERENCE,
                    span,
                    format!("no source `{letter}`: the entry has {sources}"),
                );
            }
        }
    }
}
