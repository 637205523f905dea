//! A 2: real modules are read, optimised by the default pipeline and written, and stay valid.

use super::corpus::{Deburr, Item, SECONDS, Said, has_tool, modules, root, start, weighted};
use super::{Args, Outcome, Verdict};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;
use std::process::Command;

/// What became of a module.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Fate {
    /// Optimised, and as valid as the input.
    Done,
    /// Refused, with the reason.
    Refused(String),
    /// Called invalid, as spirv-val calls it.
    InvalidInput(String),
    /// Wrongly called invalid, or broken by a pass.
    Failed(String),
    /// Written with an error that the input had not.
    Invalid(String),
    /// A panic, a signal or the time limit.
    Crashed(String),
}

/// Sources whose share must be 99 %, and the one of 75 %.
const MOST: &[&str] = &["grilly", "taichi", "vello_shaders", "rend3-routine", "examples"];
const SOME: &str = "spirv-cross-sys";

/// What spirv-val is asked by.
const ENVIRONMENTS: &[&str] = &["vulkan1.4", "spv1.6"];

/// Runs the line.
pub fn run(args: &Args) -> Outcome {
    let target = "≥ 99 % of grilly, taichi, vello_shaders, rend3-routine and examples, ≥ 75 % of spirv-cross-sys; no new \
                  spirv-val errors; 0 panics"
        .to_owned();
    let skipped = |why: String| Outcome::skipped(target.clone(), Vec::new(), why);
    if !has_tool("spirv-val") {
        return skipped("needs spirv-val".into());
    }
    let deburr = match Deburr::new(args) {
        Ok(deburr) => deburr,
        Err(why) => return skipped(why),
    };
    let sources: Vec<&str> = MOST.iter().copied().chain([SOME]).collect();
    let items = match modules(args, &deburr, &sources) {
        Ok(items) => items,
        Err(why) => return skipped(why),
    };
    let fates: Vec<(Item, Fate)> =
        items.into_iter().map(|item| (item.clone(), fate(&deburr, &item))).collect();
    let mut sources: BTreeMap<&str, Vec<&Fate>> = BTreeMap::new();
    for (item, fate) in &fates {
        sources.entry(&item.source).or_default().push(fate);
    }
    let mut list = Vec::new();
    for (item, fate) in &fates {
        if *fate != Fate::Done {
            list.push(format!("{}/{}: {fate:?}", item.source, item.name));
        }
    }
    let mut met = !fates.is_empty();
    let mut most = Vec::new();
    let count =
        |fates: &[&Fate], which: fn(&Fate) -> bool| fates.iter().filter(|fate| which(fate)).count();
    for (source, fates) in &sources {
        let done = count(fates, |f| *f == Fate::Done);
        let share = done as f64 / fates.len() as f64;
        list.push(format!(
            "{source}: {} modules, {done} done ({:.1} %), {} refused, {} invalid inputs, {} failed, {} newly invalid, {} \
             crashed",
            fates.len(),
            share * 100.0,
            count(fates, |f| matches!(f, Fate::Refused(_))),
            count(fates, |f| matches!(f, Fate::InvalidInput(_))),
            count(fates, |f| matches!(f, Fate::Failed(_))),
            count(fates, |f| matches!(f, Fate::Invalid(_))),
            count(fates, |f| matches!(f, Fate::Crashed(_))),
        ));
        if *source == SOME {
            met &= share >= 0.75;
        } else {
            most.push((fates.len(), share));
        }
    }
    let total = weighted(&most);
    let all: Vec<&Fate> = fates.iter().map(|(_, fate)| fate).collect();
    let invalid = count(&all, |f| matches!(f, Fate::Invalid(_)));
    let crashed = count(&all, |f| matches!(f, Fate::Crashed(_)));
    let failed = count(&all, |f| matches!(f, Fate::Failed(_)));
    met &= (most.is_empty() || total >= 0.99) && invalid + crashed + failed == 0;
    if args.corpus.is_none()
        && args.cases >= 1.0
        && let Err(why) = unsupported(&fates)
    {
        met = false;
        list.push(format!("docs/unsupported.md: {why}"));
    }
    Outcome {
        figure: format!(
            "{:.1} % of the first five (no source above a third), {invalid} newly invalid, {failed} failed, {crashed} \
             crashed",
            total * 100.0
        ),
        target,
        verdict: Verdict::of(met),
        list,
    }
}

fn fate(deburr: &Deburr, item: &Item) -> Fate {
    let out = deburr.file("a_2", &format!("{}-{}.spv", item.source, item.name));
    let _ = std::fs::remove_file(&out);
    let said = deburr.call(["opt".as_ref(), item.path.as_os_str(), "-o".as_ref(), out.as_os_str()]);
    let said = match said {
        Ok(said) => said,
        Err(why) => return Fate::Failed(why),
    };
    if said.crashed() {
        let detail =
            said.err.lines().filter(|l| !l.trim().is_empty()).take(3).collect::<Vec<_>>().join(" ");
        return Fate::Crashed(if said.status.is_none() {
            format!("no end within {SECONDS} s")
        } else {
            detail
        });
    }
    match said.code() {
        Some(0) => match new_error(&item.path, &out) {
            None => Fate::Done,
            Some(error) => Fate::Invalid(error),
        },
        Some(3 | 4) => Fate::Refused(reason(&said)),
        Some(1) if is_invalid(&item.path) => Fate::InvalidInput(reason(&said)),
        _ => Fate::Failed(reason(&said)),
    }
}

/// Whether spirv-val finds an input invalid, whatever the environment.
pub(super) fn is_invalid(path: &Path) -> bool {
    has_tool("spirv-val") && ENVIRONMENTS.iter().all(|env| first_error(path, env).is_some())
}

/// An error that the output has and the input had not. spirv-val stops at the first, and many inputs have one under
/// Vulkan's rules: the universal ones are asked as well, and two first errors must be of one kind.
pub(super) fn new_error(before: &Path, after: &Path) -> Option<String> {
    ENVIRONMENTS.iter().find_map(|env| {
        let error = first_error(after, env)?;
        let old = first_error(before, env).map(|old| kind_of(&old));
        (old != Some(kind_of(&error))).then_some(error)
    })
}

fn first_error(path: &Path, env: &str) -> Option<String> {
    match start(Command::new("spirv-val").args(["--target-env", env]).arg(path), &[]) {
        Ok(said) if said.code() == Some(0) => None,
        Ok(said) => {
            let text = format!("{}{}", said.text(), said.err);
            let line = text.lines().next().unwrap_or_default();
            // Less the line's number, and what stands in quotes: names differ.
            Some(line.split_once(": ").map_or(line, |(_, rest)| rest).to_owned())
        }
        Err(why) => Some(why),
    }
}

/// The reason of a refusal, without the names and numbers of the module.
fn reason(said: &Said) -> String {
    let line = said.message();
    line.split_once("]: ").map_or(line.as_str(), |(_, rest)| rest).to_owned()
}

/// The kind of a reason: ids, numbers and names in quotes are what differs between modules.
fn kind_of(reason: &str) -> String {
    let words = reason.split(' ').map(|word| {
        let digit = word.chars().any(|c| c.is_ascii_digit());
        if word.starts_with(['%', '\'']) || (digit && !word.starts_with('[')) { "N" } else { word }
    });
    let kind = words.collect::<Vec<_>>().join(" ");
    // The writer's reasons end with the instruction.
    kind.split_once(": N ").map_or(kind.clone(), |(what, _)| what.to_owned())
}

/// Holds `docs/unsupported.md` to what is refused, with its share of each source; with `BLESS=1`, writes it.
fn unsupported(fates: &[(Item, Fate)]) -> Result<(), String> {
    let mut sizes: BTreeMap<&str, usize> = BTreeMap::new();
    let mut reasons: BTreeMap<String, BTreeMap<&str, usize>> = BTreeMap::new();
    for (item, fate) in fates {
        *sizes.entry(&item.source).or_default() += 1;
        if let Fate::Refused(reason) = fate {
            *reasons.entry(kind_of(reason)).or_default().entry(&item.source).or_default() += 1;
        }
    }
    if !sizes.contains_key(SOME) {
        return Err("the corpus is not there".into());
    }
    let mut text = String::from(
        "# What is not supported\n\nEvery reason for which `deburr opt` refuses a module of the corpora (exit 3 or 4), with \
         how many modules it stops.\nWritten by `BLESS=1 cargo test --release -p deburr-tests --test accept -- accept_a_2`.\n\n",
    );
    let names: Vec<&str> = sizes.keys().copied().collect();
    let head: Vec<String> = names.iter().map(|name| format!("{name} ({})", sizes[name])).collect();
    let _ =
        writeln!(text, "| Reason | {} |\n|---|{}", head.join(" | "), "--:|".repeat(names.len()));
    let mut rows: Vec<_> = reasons.into_iter().collect();
    rows.sort_by_key(|(reason, counts)| {
        (std::cmp::Reverse(counts.values().sum::<usize>()), reason.clone())
    });
    for (reason, counts) in rows {
        let cells = names.iter().map(|name| match counts.get(name) {
            Some(n) => format!("{n} ({:.1} %)", *n as f64 * 100.0 / sizes[name] as f64),
            None => String::new(),
        });
        let _ = writeln!(
            text,
            "| {} | {} |",
            reason.replace('|', "\\|"),
            cells.collect::<Vec<_>>().join(" | ")
        );
    }
    let path = root().join("docs/unsupported.md");
    if std::env::var_os("BLESS").is_some() {
        return std::fs::write(path, text).map_err(|e| e.to_string());
    }
    match std::fs::read_to_string(path) {
        Ok(there) if there == text => Ok(()),
        Ok(_) => Err("other refusals than it lists; `BLESS=1` writes it".into()),
        Err(e) => Err(e.to_string()),
    }
}
