//! The list of `rules.txt`, read and judged: for the test of this crate, and for the acceptance line that replays every
//! counterexample with the command.

use deburr_rulegen::expr::Base;
use deburr_rulegen::rules::{Library, Ops, compile_bare};
use deburr_rulegen::tables::{TableFile, Tables};
use deburr_verify::{Kind, Options, Verdict, Witness, check_rule};
use std::path::Path;

/// An entry of the list.
#[derive(Clone, Debug, Default)]
pub struct Entry {
    /// Its name.
    pub id: String,
    /// Whether it is to be refused: there are rules that are wrong, or that are none.
    pub refuse: bool,
    /// Bits of the counterexample that is known, and how many of its inputs are not plain.
    pub given: Option<(u8, usize)>,
    /// Rules that are refuted.
    pub wrong: Vec<String>,
    /// The replacement in operations that the command has.
    pub eval: Option<String>,
    /// What is no rule, with the code that says so.
    pub invalid: Vec<(String, String)>,
    /// Rules that are accepted.
    pub right: Vec<String>,
}

/// A wrong rule's instance as the checker sees it: refuted in this environment, with this counterexample.
pub struct Refutation {
    /// The first environment in which it is refuted, `keep,rte` if it is refuted there.
    pub verdict: Verdict,
    /// The counterexample.
    pub witness: Witness,
}

fn read(name: &str) -> String {
    let path = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/..")).join(name);
    std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

/// The entries of the list.
///
/// # Errors
/// The line that is none of its language.
pub fn entries() -> Result<Vec<Entry>, String> {
    let mut out: Vec<Entry> = Vec::new();
    for line in read("verify/tests/known_wrong/rules.txt").lines() {
        if line.is_empty() || line.starts_with("//") {
            continue;
        }
        let bad = || format!("known_wrong/rules.txt: `{line}`");
        let (word, rest) = line.split_once(' ').ok_or_else(bad)?;
        if word == "==" {
            let (id, refuse) = match rest.split_once(": ").ok_or_else(bad)? {
                (id, "refuse") => (id.into(), true),
                (id, "accept") => (id.into(), false),
                _ => return Err(bad()),
            };
            out.push(Entry { id, refuse, ..Entry::default() });
            continue;
        }
        let entry = out.last_mut().ok_or_else(bad)?;
        match word {
            "given" => {
                let (bits, count) = rest.split_once(' ').ok_or_else(bad)?;
                let numbers = bits.parse().ok().zip(count.parse().ok());
                entry.given = Some(numbers.ok_or_else(bad)?);
            }
            "wrong" => entry.wrong.push(rest.into()),
            "eval" => entry.eval = Some(rest.into()),
            "invalid" => {
                let (code, rule) = rest.split_once(' ').ok_or_else(bad)?;
                entry.invalid.push((code.into(), rule.into()));
            }
            "right" => entry.right.push(rest.into()),
            _ => return Err(bad()),
        }
    }
    Ok(out)
}

/// The id of the list's first opcode: where dialects begin.
const FIRST_ID: u16 = 0x4000;

/// The library of the tree, with the opcodes and facts of the list.
///
/// # Errors
/// What is wrong in them.
pub fn library() -> Result<Library, String> {
    let said = |d: &[deburr_rulegen::diagnostics::Diagnostic]| {
        d.iter().map(|d| d.message.clone()).collect::<Vec<_>>().join("; ")
    };
    let files = ["opcodes.toml", "intrinsics.toml"].map(|name| TableFile::new(name, read(name)));
    let tables = Tables::parse(&files).map_err(|d| said(&d))?;
    let name = "verify/tests/known_wrong/ops.toml";
    let own = Tables::parse(&[TableFile::new(name, read(name))]).map_err(|d| said(&d))?;
    let facts = read("rules/facts.rules") + &read("verify/tests/known_wrong/facts.rules");
    let mut diags = Vec::new();
    let library = Library::new(
        Ops::with_dialect(&tables, &own, FIRST_ID),
        (&"facts.rules".into(), &facts),
        (&"groups.rules".into(), &read("rules/groups.rules")),
        &mut diags,
    );
    if diags.is_empty() { Ok(library) } else { Err(said(&diags)) }
}

/// The verdicts of a rule, or the codes with which it is refused.
pub fn verdicts(
    library: &Library,
    rule: &str,
    options: &Options,
) -> Result<Vec<Verdict>, Vec<String>> {
    let set = compile_bare(library, &"expr".into(), rule)
        .map_err(|diags| diags.iter().map(|d| d.code.to_string()).collect::<Vec<_>>())?;
    Ok(check_rule(&set, &set.rules[0], options, &[]))
}

/// One refutation for each instance of a wrong rule.
///
/// # Errors
/// The instance that is accepted, or why it is no rule.
pub fn refutations(verdicts: Vec<Verdict>) -> Result<Vec<Refutation>, String> {
    let mut out: Vec<Refutation> = Vec::new();
    let mut open: Vec<String> = Vec::new();
    for verdict in verdicts {
        if out.iter().any(|r| r.verdict.instance == verdict.instance) {
            continue;
        }
        match (verdict.kind, verdict.witness.clone()) {
            (Kind::Refuted, Some(witness)) => {
                open.retain(|name| *name != verdict.instance);
                out.push(Refutation { verdict, witness });
            }
            _ if open.contains(&verdict.instance) => {}
            _ => open.push(verdict.instance),
        }
    }
    match open.first() {
        None => Ok(out),
        Some(name) => Err(format!("{name} is accepted")),
    }
}

/// How many components of inputs are not plain: not 0, 1 or -1, and read as a float not 0.0, -0.0 or 1.0.
pub fn not_plain(witness: &Witness) -> usize {
    let inputs = witness.inputs.iter().zip(&witness.types);
    inputs.map(|((_, text), ty)| scalars(text).filter(|v| !is_plain(v, *ty)).count()).sum()
}

/// The components of a value as a witness shows it.
pub fn scalars(text: &str) -> impl Iterator<Item = &str> {
    text.trim_matches(['(', ')']).split(", ")
}

fn is_plain(text: &str, (bits, base): (u8, Base)) -> bool {
    let digits = text.strip_prefix("0x").and_then(|d| u64::from_str_radix(d, 16).ok());
    let ones = if bits >= 64 { u64::MAX } else { (1 << bits) - 1 };
    let one = match bits {
        16 => 0x3c00,
        32 => 0x3f80_0000,
        _ => 0x3ff0_0000_0000_0000,
    };
    match (digits, base) {
        (Some(v), Base::Float) => v == 0 || v == one || v == 1 << (bits - 1),
        (Some(v), _) => v <= 1 || v == ones,
        (None, _) => false,
    }
}

/// Bits of a refutation: those of its floats, else of its root.
pub fn size(refutation: &Refutation) -> u8 {
    let witness = &refutation.witness;
    let inputs = &witness.types[..witness.inputs.len()];
    inputs.iter().find(|ty| ty.1 == Base::Float).map_or(refutation.verdict.size, |ty| ty.0)
}

/// How the refutations of an entry are larger than the counterexample that is known: all have more bits, or one has more
/// inputs that are not plain.
pub fn larger(entry: &Entry, found: &[Refutation]) -> Option<String> {
    let (bits, count) = entry.given?;
    if found.iter().all(|r| size(r) > bits) {
        return Some(format!("a counterexample of {bits} bits is known"));
    }
    let more = found.iter().find(|r| not_plain(&r.witness) > count)?;
    Some(format!("{}: {} inputs suffice that are not plain", more.verdict, count))
}

/// What is said of the rules of an entry that it should not be: of those that are no rules, and of those that are right.
pub fn misjudged(library: &Library, entry: &Entry, options: &Options) -> Vec<String> {
    let passed =
        entry.invalid.iter().filter_map(|(code, rule)| match verdicts(library, rule, options) {
            Err(codes) if codes.contains(code) => None,
            Err(codes) => Some(format!("{rule}: refused with {codes:?}")),
            Ok(_) => Some(format!("{rule}: it is a rule")),
        });
    let refused = entry.right.iter().filter_map(|rule| match verdicts(library, rule, options) {
        Err(codes) => Some(format!("{rule}: no rule: {codes:?}")),
        Ok(found) => {
            let bad = found.iter().find(|v| !v.is_good() || v.kind == Kind::Waived)?;
            Some(format!("{rule}: {bad}"))
        }
    });
    passed.chain(refused).collect()
}
