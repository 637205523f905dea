//! The reference pages of the book, made of the tables: one row an entry, so that a page says neither more nor less
//! than the definitions do.

use std::fmt::Write;

use crate::tables::intrinsic::MemoryMode;
use crate::tables::op::{Convergent, Dir, Eval, OpForm, Sign};
use crate::tables::{
    Divergence, IndexDef, IndexKind, IntrinsicDef, IntrinsicForm, Memory, OpDef, Outside, Tables,
    UpperEnd, ValueRange,
};

const OPCODES_HEAD: &str = "\
# Opcodes

This page is made of `opcodes.toml`; a test keeps it so.

*Operands and result*: `int`, `uint`, `float`, `bool` say how the bits are read. A type without a number has the
instruction's own width, one of *Widths*; `xN` takes exactly N components, anything else works per component.
*Meaning* is the `eval` expression that folder, interpreter and prover share, over the operands `a`, `b`, …;
*dom*, *nsw* and *nuw* are the conditions that the promises of that name make. *SPIR-V* lists the instructions that an
opcode is read from and written as: `→` is read only, `←` written only, `*` sets `dom` when read.

";

const INTRINSICS_HEAD: &str = "\
# Intrinsics

This page is made of `intrinsics.toml`; a test keeps it so.

## Const indices

";

const INTRINSICS_TABLE: &str = "
## Intrinsics

*Sources* and *Result* are component counts: `n` = as many as the instruction has, `any` = as many as the value has;
behind the result, its bit sizes or the source that it has them from, and the values that each of its components may
have where not all are. *Effects*: `eliminate` may be removed when
unused, `reorder` may change places with its like, `speculate` may run where the program did not; then the memory that
is read and written, the invocations that it depends on, and whether its result is the same in all of a subgroup.

";

/// The page of all opcodes, in Markdown.
pub fn opcodes(tables: &Tables) -> String {
    let mut page = String::from(OPCODES_HEAD);
    row(
        &mut page,
        &["Opcode", "Operands and result", "Widths", "Properties", "Cost", "Meaning", "SPIR-V", ""],
    );
    rule(&mut page, 8);
    for op in &tables.ops {
        row(
            &mut page,
            &[
                &code(&op.name),
                &code(&op.sig.to_string()),
                &words(&op.sizes),
                &properties(op).join(", "),
                &costs(op),
                &meaning(op),
                &op.spirv.iter().map(op_form).collect::<Vec<_>>().join("; "),
                &op.doc,
            ],
        );
    }
    page
}

/// The page of all const indices and intrinsics, in Markdown.
pub fn intrinsics(tables: &Tables) -> String {
    let mut page = String::from(INTRINSICS_HEAD);
    row(&mut page, &["Index", "Holds", ""]);
    rule(&mut page, 3);
    for index in &tables.indices {
        row(&mut page, &[&code(&index.name), &index_kind(index), &index.doc]);
    }
    page.push_str(INTRINSICS_TABLE);
    row(&mut page, &["Intrinsic", "Sources", "Result", "Indices", "Effects", "SPIR-V", ""]);
    rule(&mut page, 7);
    for intrinsic in &tables.intrinsics {
        let sources: Vec<String> = intrinsic.srcs.iter().map(|&n| components(n)).collect();
        let indices: Vec<String> = intrinsic.indices.iter().map(|name| code(name)).collect();
        row(
            &mut page,
            &[
                &code(&intrinsic.name),
                &sources.join(", "),
                &result(intrinsic),
                &indices.join(" "),
                &effects(intrinsic).join(", "),
                &intrinsic_forms(intrinsic).join("; "),
                &intrinsic.doc,
            ],
        );
    }
    page
}

fn row(page: &mut String, cells: &[&str]) {
    page.push('|');
    for cell in cells {
        // A bar ends a cell even inside a code span.
        let cell = cell.replace('|', "\\|");
        page.push(' ');
        page.push_str(&cell);
        page.push_str(if cell.is_empty() { "|" } else { " |" });
    }
    page.push('\n');
}

fn rule(page: &mut String, columns: usize) {
    page.push('|');
    page.push_str(&"---|".repeat(columns));
    page.push('\n');
}

fn code(text: &str) -> String {
    format!("`{text}`")
}

fn words<T: ToString>(list: &[T]) -> String {
    list.iter().map(T::to_string).collect::<Vec<_>>().join(" ")
}

fn properties(op: &OpDef) -> Vec<&'static str> {
    let all = [
        (op.commutative, "commutative"),
        (op.associative, "associative"),
        (op.selection, "selection"),
        (op.conversion, "conversion"),
        (op.float, "float"),
        (op.convergent == Convergent::Quad, "over the quad"),
        (op.convergent == Convergent::Subgroup, "over the subgroup"),
    ];
    all.into_iter().filter(|(has, _)| *has).map(|(_, name)| name).collect()
}

fn costs(op: &OpDef) -> String {
    let mut text = op.costs.default.to_string();
    for (class, cost) in &op.costs.classes {
        let _ = write!(text, ", {class} {cost}");
    }
    text
}

fn meaning(op: &OpDef) -> String {
    let mut text = match &op.eval {
        Eval::Expr(expr) => code(&bare(&expr.to_string())),
        Eval::Quad(kind) => format!("derivative `{kind:?}` over the quad"),
    };
    for (name, condition) in [("dom", &op.dom), ("nsw", &op.nsw), ("nuw", &op.nuw)] {
        if let Some(condition) = condition {
            let _ = write!(text, "; {name}: {}", code(&bare(&condition.to_string())));
        }
    }
    text
}

/// An expression without the parentheses around the whole of it.
fn bare(text: &str) -> String {
    let Some(inner) = text.strip_prefix('(').and_then(|t| t.strip_suffix(')')) else {
        return text.to_owned();
    };
    let mut depth = 0i32;
    for c in inner.chars() {
        depth += match c {
            '(' => 1,
            ')' => -1,
            _ => 0,
        };
        if depth < 0 {
            return text.to_owned();
        }
    }
    inner.to_owned()
}

fn direction(dir: Dir) -> &'static str {
    match dir {
        Dir::Both => "",
        Dir::Read => "→ ",
        Dir::Write => "← ",
    }
}

fn op_form(form: &OpForm) -> String {
    let prefix = if form.ext { "GLSL " } else { "Op" };
    let mut text = format!("{}{prefix}{}", direction(form.dir), form.name);
    if form.reads_dom {
        text.push('*');
    }
    if let Some(member) = form.member {
        let _ = write!(text, ", member {member}");
    }
    if form.column {
        text.push_str(", one column");
    }
    if let Some(mode) = form.rounding {
        let _ = write!(text, ", FPRoundingMode {mode}");
    }
    for (what, list) in [("bits", &form.sizes), ("components", &form.comps)] {
        if !list.is_empty() {
            let _ = write!(text, ", {what} {}", words(list));
        }
    }
    match form.sign {
        Some(Sign::Signed) => text.push_str(", signed"),
        Some(Sign::Unsigned) => text.push_str(", unsigned"),
        None => {}
    }
    if let Some(exact) = &form.exact {
        let _ = write!(text, ", exact where {}", code(&bare(&exact.to_string())));
    }
    match form.outside {
        Outside::Nothing => {}
        Outside::Mask(operand) => {
            let _ = write!(text, ", operand {operand} masked outside");
        }
        Outside::Guard => text.push_str(", guarded outside"),
        Outside::Expand => text.push_str(", expanded outside"),
        Outside::Refuse => text.push_str(", refused outside"),
    }
    text
}

fn index_kind(index: &IndexDef) -> String {
    let list = |names: &[String]| names.iter().map(|n| code(n)).collect::<Vec<_>>().join(" ");
    let mut text = match &index.kind {
        IndexKind::U32 => "unsigned number".to_owned(),
        IndexKind::I32 => "signed number".to_owned(),
        IndexKind::Bool => "bool".to_owned(),
        IndexKind::Op => "opcode".to_owned(),
        IndexKind::Enum(names) => format!("one of {}", list(names)),
        IndexKind::Flags(names) => format!("any of {}", list(names)),
    };
    if index.default != 0 {
        let _ = write!(text, "; {} by default", index.default);
    }
    text
}

fn components(count: i8) -> String {
    match count {
        -1 => "any".to_owned(),
        0 => "n".to_owned(),
        count => count.to_string(),
    }
}

fn result(intrinsic: &IntrinsicDef) -> String {
    let Some(dest) = intrinsic.dest else { return String::new() };
    let mut text = components(dest);
    if !intrinsic.dest_bits.is_empty() {
        let _ = write!(text, " of {} bits", words(&intrinsic.dest_bits));
    }
    if let Some(source) = intrinsic.bits_from {
        let _ = write!(text, ", sized as source {source}");
    }
    if let Some(range) = intrinsic.range {
        let _ = write!(text, ", {}", value_range(range));
    }
    text
}

fn value_range(range: ValueRange) -> String {
    let less = |less: u64, what: &str| match less {
        0 => what.to_owned(),
        less => format!("{what} − {less}"),
    };
    match range {
        ValueRange::Int(low, high) => {
            let high = match high {
                UpperEnd::Value(high) => high.to_string(),
                UpperEnd::WorkgroupSize(n) => less(n, "the workgroup's size"),
                UpperEnd::WorkgroupInvocations(n) => less(n, "the workgroup's invocations"),
            };
            format!("{low} to {high}")
        }
        ValueRange::Float(low, high) => format!("{low:?} to {high:?}"),
    }
}

fn effects(intrinsic: &IntrinsicDef) -> Vec<String> {
    let mut list = Vec::new();
    let flags = [
        (intrinsic.eliminate, "eliminate"),
        (intrinsic.reorder, "reorder"),
        (intrinsic.speculatable, "speculate"),
        (intrinsic.system_value, "system value"),
    ];
    list.extend(flags.into_iter().filter(|(has, _)| *has).map(|(_, name)| name.to_owned()));
    list.extend(memory(&intrinsic.memory));
    match intrinsic.convergent {
        Convergent::None => {}
        Convergent::Quad => list.push("over the quad".to_owned()),
        Convergent::Subgroup => list.push("over the subgroup".to_owned()),
    }
    if intrinsic.dest.is_some() {
        list.push(divergence(intrinsic.divergence).to_owned());
        for (stage, value) in &intrinsic.divergence_by_stage {
            list.push(format!("{} in {stage}", divergence(*value)));
        }
    }
    list
}

fn memory(memory: &Memory) -> Vec<String> {
    let modes = |list: &[MemoryMode]| {
        let names = list.iter().map(|mode| match mode {
            MemoryMode::Named(name) => name.clone(),
            MemoryMode::Deref(source) => format!("deref {source}"),
            MemoryMode::Any => "any".to_owned(),
        });
        names.collect::<Vec<_>>().join(" ")
    };
    let mut list = Vec::new();
    if memory.barrier {
        list.push("barrier".to_owned());
    }
    for (verb, what) in [("reads", &memory.reads), ("writes", &memory.writes)] {
        if !what.is_empty() {
            list.push(format!("{verb} {}", modes(what)));
        }
    }
    list
}

fn divergence(divergence: Divergence) -> &'static str {
    match divergence {
        Divergence::Uniform => "uniform",
        Divergence::Divergent => "divergent",
        Divergence::Sources => "uniform if the sources are",
    }
}

fn intrinsic_forms(intrinsic: &IntrinsicDef) -> Vec<String> {
    let mut list: Vec<String> = Vec::new();
    list.extend(intrinsic.builtin.iter().map(|name| format!("built-in {name}")));
    for form in &intrinsic.spirv {
        let text = intrinsic_form(form);
        // Forms that differ in operands only, such as a constant's value, are one to the reader of the page.
        if !list.contains(&text) {
            list.push(text);
        }
    }
    list
}

fn intrinsic_form(form: &IntrinsicForm) -> String {
    let prefix = if form.ext { "GLSL " } else { "Op" };
    let mut text = format!("{}{prefix}{}", direction(form.dir), form.name);
    if !form.sizes.is_empty() {
        let _ = write!(text, ", bits {}", words(&form.sizes));
    }
    if let Some(capability) = &form.capability {
        let _ = write!(text, ", with {capability}");
    }
    text
}
