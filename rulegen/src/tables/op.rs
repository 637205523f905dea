//! Entries of the opcode table.

use super::read::{Entry, check_unique};
use super::sig::{OPERANDS, SigTy, Signature};
use super::{E_BAD_NAME, E_EVAL, E_FORM, E_FULL, E_PROPERTY, E_REFERENCE, E_SIZES, Place, Tables};
use crate::diagnostics::Diagnostic;
use crate::expr::{Base, Expr, Prim, Reduction, Scope, SourceText, Ty, parse_expr};

/// An opcode.
#[derive(Clone, Debug, PartialEq)]
pub struct OpDef {
    /// Its name.
    pub name: String,
    /// Where it is defined.
    pub place: Place,
    /// Operands and result.
    pub sig: Signature,
    /// Admissible widths of the operands without a size, ascending; empty if there are none.
    pub sizes: Vec<u8>,
    /// The first two operands may be exchanged.
    pub commutative: bool,
    /// `op(op(a, b), c)` equals `op(a, op(b, c))`.
    pub associative: bool,
    /// Chooses between operands without changing their bits.
    pub selection: bool,
    /// Changes base type or size.
    pub conversion: bool,
    /// Arithmetic on floats: follows the float environment, may carry licences.
    pub float: bool,
    /// Which invocations the result depends on.
    pub convergent: Convergent,
    /// What it computes: an expression over the operands, variables 0, 1, 2, …
    pub eval: Eval,
    /// The domain, a bool over the operands: with the promise `dom` anything else is poison.
    pub dom: Option<Expr>,
    /// Where the result doesn't overflow as a signed number.
    pub nsw: Option<Expr>,
    /// Where the result doesn't overflow as an unsigned number.
    pub nuw: Option<Expr>,
    /// Cost of a component.
    pub costs: Costs,
    /// SPIR-V instructions it is read from and written as, the preferred one to write first.
    pub spirv: Vec<OpForm>,
    /// Documentation.
    pub doc: String,
}

/// What an opcode computes.
#[derive(Clone, Debug, PartialEq)]
pub enum Eval {
    /// A value of the result's type; of one component unless the result's count is fixed.
    Expr(Expr),
    /// A derivative over the quad, of this kind.
    Quad(Quad),
}

/// Derivatives over a quad of invocations.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "named after the opcodes, which the table documents")]
pub enum Quad {
    Ddx,
    Ddy,
    DdxFine,
    DdyFine,
    DdxCoarse,
    DdyCoarse,
}

/// Which invocations an instruction's result depends on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Convergent {
    /// Its own.
    #[default]
    None,
    /// The quad's.
    Quad,
    /// The subgroup's.
    Subgroup,
}

impl Convergent {
    /// The words of the tables.
    pub const WORDS: [(&'static str, Convergent); 3] = [
        ("none", Convergent::None),
        ("quad", Convergent::Quad),
        ("subgroup", Convergent::Subgroup),
    ];
}

/// Cost of a component by target class.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Costs {
    /// Where no class says otherwise.
    pub default: u8,
    /// By class, in the order of their names.
    pub classes: Vec<(String, u8)>,
}

/// A SPIR-V instruction that an opcode is read from or written as.
#[derive(Clone, Debug, PartialEq)]
pub struct OpForm {
    /// Instruction name without `Op`, or the GLSL.std.450 instruction.
    pub name: String,
    /// Whether `name` is of GLSL.std.450.
    pub ext: bool,
    /// Direction of use.
    pub dir: Dir,
    /// `args[i]` = the operand of the opcode that stands as the instruction's i-th operand.
    pub args: Vec<u8>,
    /// Widths where the form exists; empty = all.
    pub sizes: Vec<u8>,
    /// Component counts where the form exists; empty = all.
    pub comps: Vec<u8>,
    /// Reading the form sets the promise `dom`.
    pub reads_dom: bool,
    /// What the writer does where the domain is neither promised nor proved.
    pub outside: Outside,
    /// The form's domain where it differs from the opcode's.
    pub exact: Option<Expr>,
    /// Signedness that the instruction wants of its operand types.
    pub sign: Option<Sign>,
    /// The instruction returns a struct and the opcode is this member of it.
    pub member: Option<u8>,
    /// This operand of the instruction is a matrix, whose columns are consecutive operands of the opcode there.
    pub matrix: Option<u8>,
    /// The instruction returns a matrix; the opcode gives the column that its last operand numbers.
    pub column: bool,
    /// The instruction is decorated with this rounding mode.
    pub rounding: Option<&'static str>,
}

/// Directions of a SPIR-V form.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Dir {
    /// Reading and writing.
    #[default]
    Both,
    /// Reading only.
    Read,
    /// Writing only.
    Write,
}

impl Dir {
    /// The words of the tables.
    pub const WORDS: [(&'static str, Dir); 3] =
        [("both", Dir::Both), ("read", Dir::Read), ("write", Dir::Write)];
}

/// Signedness of SPIR-V integer types.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Sign {
    /// Signedness 1.
    Signed,
    /// Signedness 0.
    Unsigned,
}

/// What the SPIR-V writer does outside a form's domain.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Outside {
    /// The form has no narrower domain.
    #[default]
    Nothing,
    /// The operand of this index is reduced modulo the bit size.
    Mask(u8),
    /// Selects guard the instruction.
    Guard,
    /// Other opcodes take its place.
    Expand,
    /// The module is refused.
    Refuse,
}

impl OpDef {
    /// Operands as the variables of an expression's scope.
    pub fn scope(&self) -> Vec<(&'static str, Ty)> {
        OPERANDS.into_iter().zip(self.sig.inputs.iter().map(|ty| ty.ty())).collect()
    }

    /// The expression that it computes, if it isn't a derivative.
    pub fn expr(&self) -> Option<&Expr> {
        match &self.eval {
            Eval::Expr(expr) => Some(expr),
            Eval::Quad(_) => None,
        }
    }
}

/// Largest number of opcodes of a table.
const MAX_OPS: usize = 0x4000;

/// Reads an opcode.
pub(super) fn read(entry: &mut Entry<'_, '_>, tables: &mut Tables, builtin: Option<&Tables>) {
    let name = entry.name();
    let sig = entry.required("sig").and_then(|text| match Signature::parse(&text) {
        Ok(sig) => Some((sig, text)),
        Err(diagnostic) => {
            entry.log.push(diagnostic);
            None
        }
    });
    let doc = entry.doc();
    let sizes = entry.integers("sizes", 1..=64);
    let props = entry.strings("props").unwrap_or_default();
    let float = entry.boolean("float");
    let convergent = entry.word("convergent", &Convergent::WORDS).unwrap_or_default();
    let costs = costs(entry);
    let quad = entry.word("quad", &QUADS);
    let texts = ["eval", "dom", "nsw", "nuw"].map(|key| entry.string(key));
    let (Some((name, place)), Some((sig, sig_text))) = (name, sig) else {
        // The forms are still checked for unknown keys.
        entry.each("spirv", |form| form.ignore_rest(&FORM_KEYS));
        return;
    };
    let sizes = admissible(entry, &sig, &sig_text, sizes);
    let mut op = OpDef {
        name,
        place,
        sizes,
        commutative: false,
        associative: false,
        selection: false,
        conversion: false,
        float: float.unwrap_or_else(|| sig.types().any(|ty| ty.base == Base::Float)),
        sig,
        convergent,
        eval: Eval::Quad(Quad::Ddx),
        dom: None,
        nsw: None,
        nuw: None,
        costs,
        spirv: Vec::new(),
        doc,
    };
    properties(entry, &props, &mut op);
    let output = op.sig.output.ty();
    let [eval, dom, nsw, nuw] = texts;
    match (eval, quad) {
        (Some(text), None) => {
            if let Some(expr) = expression(entry, &text, &op, output) {
                op.eval = Eval::Expr(expr);
            }
        }
        (None, Some(quad)) => op.eval = Eval::Quad(quad),
        (Some(text), Some(_)) => {
            entry.error(E_EVAL, text.whole(), "an opcode has `eval` or `quad`, not both")
        }
        (None, None) => {
            let span = op.place.span;
            entry.error(E_EVAL, span, format!("`{}` has neither `eval` nor `quad`", op.name));
        }
    }
    op.dom = dom.and_then(|text| expression(entry, &text, &op, Ty::BOOL));
    op.nsw = nsw.and_then(|text| expression(entry, &text, &op, Ty::BOOL));
    op.nuw = nuw.and_then(|text| expression(entry, &text, &op, Ty::BOOL));
    let mut forms = Vec::new();
    entry.each("spirv", |form| forms.extend(read_form(form, &op)));
    op.spirv = forms;
    add(entry, op, tables, builtin);
}

const QUADS: [(&str, Quad); 6] = [
    ("ddx", Quad::Ddx),
    ("ddy", Quad::Ddy),
    ("ddx_fine", Quad::DdxFine),
    ("ddy_fine", Quad::DdyFine),
    ("ddx_coarse", Quad::DdxCoarse),
    ("ddy_coarse", Quad::DdyCoarse),
];

const FORM_KEYS: [&str; 14] = [
    "op",
    "ext",
    "args",
    "dir",
    "sizes",
    "comps",
    "reads_dom",
    "outside",
    "exact",
    "sign",
    "member",
    "matrix",
    "column",
    "rounding",
];

/// Appends an opcode whose name is new and no function's.
fn add(entry: &mut Entry<'_, '_>, op: OpDef, tables: &mut Tables, builtin: Option<&Tables>) {
    if is_function(&op.name) {
        let message = format!("`{}` is a function of the expression language", op.name);
        entry.error(E_BAD_NAME, op.place.span, message);
    }
    if tables.ops.len() >= MAX_OPS {
        entry.error(E_FULL, op.place.span, format!("more than {MAX_OPS} opcodes"));
        return;
    }
    let earlier = builtin.and_then(|t| t.op(&op.name)).or_else(|| tables.op(&op.name));
    let earlier = earlier.map(|(_, op)| (&op.place.file, op.place.span));
    if check_unique(entry, &op.name, &op.place, earlier) {
        tables.ops.push(op);
    }
}

/// Whether the expression language has a function of that name.
fn is_function(name: &str) -> bool {
    Prim::by_name(name).is_some()
        || Reduction::ALL.iter().any(|(n, _)| *n == name)
        || ["any", "poison", "choose"].contains(&name)
}

fn costs(entry: &mut Entry<'_, '_>) -> Costs {
    let is_table = entry.peek("cost").is_some_and(|value| value.is_table());
    if !is_table {
        let default = entry.integer("cost", 0..=255).unwrap_or(1) as u8;
        return Costs { default, classes: Vec::new() };
    }
    let mut costs = Costs { default: 1, classes: Vec::new() };
    for (class, span, text) in entry.pairs("cost") {
        match text.text.parse::<u8>() {
            Ok(cost) if class == "default" => costs.default = cost,
            Ok(cost) => costs.classes.push((class, cost)),
            Err(_) => entry.error(
                super::E_KIND,
                span,
                format!("the cost of `{class}` is an integer from 0 to 255"),
            ),
        }
    }
    costs.classes.sort();
    costs
}

/// Admissible widths: those given, or the default for the operands without a size.
fn admissible(
    entry: &mut Entry<'_, '_>,
    sig: &Signature,
    sig_text: &SourceText,
    given: Option<Vec<u8>>,
) -> Vec<u8> {
    let open: Vec<SigTy> = sig.types().filter(|ty| ty.bits.is_none()).collect();
    let span = sig_text.whole();
    if sig.output.bits.is_none()
        && sig.inputs.iter().all(|ty| ty.bits.is_some())
        && !open.is_empty()
    {
        entry.error(
            E_SIZES,
            span,
            "the result has the opcode's own width, but no operand gives it",
        );
    }
    let default: &[u8] = if open.is_empty() {
        &[]
    } else if open.iter().any(|ty| ty.base == Base::Float) {
        &[16, 32, 64]
    } else if open.iter().any(|ty| ty.base.is_integer()) {
        &[8, 16, 32, 64]
    } else {
        &[1, 8, 16, 32]
    };
    let Some(mut sizes) = given else { return default.to_vec() };
    let span = entry.peek_span("sizes").unwrap_or(span);
    if open.is_empty() && !sizes.is_empty() {
        entry.error(E_SIZES, span, "every operand has its size, so there is no width to choose");
        return Vec::new();
    }
    for &size in &sizes {
        if let Some(ty) = open.iter().find(|ty| !ty.admits(size)) {
            entry.error(E_SIZES, span, format!("no {} has {size} bits", ty.base.name()));
        }
    }
    if sizes.is_empty() {
        entry.error(E_SIZES, span, "an opcode has at least one width");
    }
    sizes.sort_unstable();
    sizes.dedup();
    sizes
}

fn properties(entry: &mut Entry<'_, '_>, props: &[SourceText], op: &mut OpDef) {
    #[derive(Clone, Copy, PartialEq)]
    enum Property {
        Commutative,
        Associative,
        Selection,
        Conversion,
        Derivative,
    }
    let words = [
        ("commutative", Property::Commutative),
        ("associative", Property::Associative),
        ("selection", Property::Selection),
        ("conversion", Property::Conversion),
        ("derivative", Property::Derivative),
    ];
    for text in props {
        let inputs = &op.sig.inputs;
        match entry.choose(text, "props", &words) {
            Some(Property::Commutative) => {
                if inputs.len() < 2 || inputs[0] != inputs[1] {
                    entry.error(
                        E_PROPERTY,
                        text.whole(),
                        "the first two operands are not of one type",
                    );
                }
                op.commutative = true;
            }
            Some(Property::Associative) => {
                if inputs.len() < 2 || inputs.iter().any(|ty| *ty != op.sig.output) {
                    entry.error(
                        E_PROPERTY,
                        text.whole(),
                        "not two or more operands, all of the result's type",
                    );
                }
                op.associative = true;
            }
            Some(Property::Selection) => op.selection = true,
            Some(Property::Conversion) => op.conversion = true,
            // Said by `quad`; kept in the table for the reader.
            Some(Property::Derivative) | None => {}
        }
    }
}

fn expression(
    entry: &mut Entry<'_, '_>,
    text: &SourceText,
    op: &OpDef,
    expected: Ty,
) -> Option<Expr> {
    let vars = op.scope();
    match parse_expr(text, &Scope { vars: &vars, sizes: &op.sizes }, expected) {
        Ok(expr) => Some(expr),
        Err(diagnostics) => {
            entry.log.extend(diagnostics);
            None
        }
    }
}

/// Reads a SPIR-V form of `op`.
fn read_form(form: &mut Entry<'_, '_>, op: &OpDef) -> Option<OpForm> {
    let core = form.string("op");
    let ext = form.string("ext");
    let (name, ext) = match (core, ext) {
        (Some(name), None) => (name, false),
        (None, Some(name)) => (name, true),
        _ => {
            form.ignore_rest(&FORM_KEYS);
            form.error(
                E_FORM,
                form.span,
                "a form is `op`, a core instruction, or `ext`, one of GLSL.std.450",
            );
            return None;
        }
    };
    if !name.text.starts_with(|c: char| c.is_ascii_uppercase())
        || !name.text.chars().all(|c| c.is_ascii_alphanumeric())
    {
        form.error(
            E_FORM,
            name.whole(),
            format!("`{}` is no instruction: its name without `Op`", name.text),
        );
    }
    let arity = op.sig.inputs.len();
    let args = match form.string("args") {
        None => (0..arity as u8).collect(),
        Some(text) => letters(form, &text, arity),
    };
    let sizes = form.integers("sizes", 1..=64).unwrap_or_default();
    if let Some(size) = sizes.iter().find(|size| !op.sizes.contains(size)) {
        let span = form.peek_span("sizes").unwrap_or(form.span);
        form.error(E_SIZES, span, format!("`{}` doesn't exist at {size} bits", op.name));
    }
    let outside = match form.string("outside") {
        None => Outside::Nothing,
        Some(text) => match text.text.strip_prefix("mask ") {
            Some(letter) => match OPERANDS[..arity].iter().position(|name| *name == letter) {
                Some(index) => Outside::Mask(index as u8),
                None => {
                    form.error(
                        E_REFERENCE,
                        text.whole(),
                        format!("`{}` has no operand `{letter}`", op.name),
                    );
                    Outside::Nothing
                }
            },
            None => {
                let words = [
                    ("guard", Outside::Guard),
                    ("expand", Outside::Expand),
                    ("refuse", Outside::Refuse),
                ];
                form.choose(&text, "outside", &words).unwrap_or_default()
            }
        },
    };
    let exact = form.string("exact").and_then(|text| expression(form, &text, op, Ty::BOOL));
    let roundings = [("rte", Some("RTE")), ("rtz", Some("RTZ"))];
    let signs = [("s", Some(Sign::Signed)), ("u", Some(Sign::Unsigned)), ("", None)];
    Some(OpForm {
        name: name.text,
        ext,
        dir: form.word("dir", &Dir::WORDS).unwrap_or_default(),
        args,
        sizes,
        comps: form.integers("comps", 1..=16).unwrap_or_default(),
        reads_dom: form.boolean("reads_dom").unwrap_or(false),
        outside,
        exact,
        sign: form.word("sign", &signs).flatten(),
        member: form.integer("member", 0..=15).map(|n| n as u8),
        matrix: form.integer("matrix", 0..=15).map(|n| n as u8),
        column: form.boolean("column").unwrap_or(false),
        rounding: form.word("rounding", &roundings).flatten(),
    })
}

/// Operand numbers from letters.
fn letters(form: &mut Entry<'_, '_>, text: &SourceText, arity: usize) -> Vec<u8> {
    let mut args = Vec::new();
    for (at, letter) in text.text.char_indices() {
        let name = &text.text[at..at + letter.len_utf8()];
        match OPERANDS[..arity].iter().position(|n| *n == name) {
            Some(index) => args.push(index as u8),
            None => {
                let last = OPERANDS[arity.saturating_sub(1)];
                let span = text.span(at..at + name.len());
                let message = format!("no operand `{letter}`: they are a to {last}");
                form.log.push(Diagnostic::error(E_REFERENCE, &form.file.name, span, message));
            }
        }
    }
    args
}
