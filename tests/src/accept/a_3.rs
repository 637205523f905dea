//! A 3: reading and writing alone is not worse than the input, means the same, and needs nothing that the text lacks.

use super::corpus::{Deburr, Item, modules, start, words};
use super::{Args, Outcome, Verdict};
use std::process::Command;

/// Measures it.
pub fn run(args: &Args) -> Outcome {
    let target = "body instructions ≤ 103 % of the input in total; equal under the interpreter where it runs; the same \
                  bytes by way of the text"
        .to_owned();
    let deburr = Deburr::new(args);
    let sources =
        ["grilly", "taichi", "vello_shaders", "rend3-routine", "spirv-cross-sys", "examples"];
    let items = deburr.and_then(|deburr| Ok((modules(args, &deburr, &sources)?, deburr)));
    let (items, deburr) = match items {
        Ok(items) => items,
        Err(why) => {
            return Outcome::skipped(target, Vec::new(), why);
        }
    };
    let mut totals = Totals::default();
    for item in &items {
        if let Err(why) = totals.module(&deburr, item) {
            totals.wrong.push(format!("{}/{}: {why}", item.source, item.name));
        }
    }
    let ratio = totals.after as f64 / totals.before.max(1) as f64;
    let mut list = totals.list;
    list.extend(totals.wrong.iter().cloned());
    Outcome {
        figure: format!(
            "{:.2} % ({} of {} body instructions, {} modules, {} refused, {} invalid inputs); {} equal under the interpreter, {} not run by \
             it; {} things wrong",
            ratio * 100.0,
            totals.after,
            totals.before,
            totals.done,
            totals.refused,
            totals.invalid,
            totals.equal,
            totals.not_run,
            totals.wrong.len()
        ),
        target,
        verdict: Verdict::of(totals.done > 0 && ratio <= 1.03 && totals.wrong.is_empty()),
        list,
    }
}

#[derive(Default)]
struct Totals {
    before: u64,
    after: u64,
    done: usize,
    refused: usize,
    invalid: usize,
    equal: usize,
    not_run: usize,
    list: Vec<String>,
    wrong: Vec<String>,
}

impl Totals {
    fn module(&mut self, deburr: &Deburr, item: &Item) -> Result<(), String> {
        let name = format!("{}-{}", item.source, item.name);
        let out = deburr.file("a_3", &format!("{name}.spv"));
        let said = deburr.call([
            "opt".as_ref(),
            item.path.as_os_str(),
            "--passes".as_ref(),
            "none".as_ref(),
            "-o".as_ref(),
            out.as_os_str(),
        ])?;
        match said.code() {
            Some(0) => {}
            Some(3 | 4) => {
                self.refused += 1;
                return Ok(());
            }
            Some(1) if super::a_2::is_invalid(&item.path) => {
                self.invalid += 1;
                self.list.push(format!("{}/{}: an invalid input", item.source, item.name));
                return Ok(());
            }
            _ => return Err(format!("opt: {}", said.message())),
        }
        let count =
            |words: &[u32]| deburr_spirv::count(words).map(|c| c.body).map_err(|e| e.to_string());
        let (before, after) = (count(&words(&item.path))?, count(&words(&out))?);
        self.before += before;
        self.after += after;
        self.done += 1;
        if after * 100 > before * 103 && after > before + 3 {
            self.list.push(format!(
                "{}/{}: {before} -> {after} body instructions",
                item.source, item.name
            ));
        }
        self.by_text(deburr, item, &out)?;
        let said = deburr.call([
            "check".as_ref(),
            item.path.as_os_str(),
            out.as_os_str(),
            "--float".as_ref(),
            "strict".as_ref(),
            "--inputs".as_ref(),
            "2".as_ref(),
        ])?;
        // What the interpreter can't run to its end of the input is no difference.
        let stopped = format!("--> {}", item.path.display());
        let ended = said.code() == Some(1) && said.err.contains(&stopped);
        match said.code() {
            Some(0) => self.equal += 1,
            _ if ended || matches!(said.code(), Some(3 | 4)) => {
                self.not_run += 1;
                self.list.push(format!(
                    "{}/{}: not run: {}",
                    item.source,
                    item.name,
                    said.message()
                ));
            }
            _ => return Err(format!("check: {} {}", said.message(), said.text().trim())),
        }
        Ok(())
    }

    /// The same bytes from the printed text, under the default passes.
    fn by_text(&self, deburr: &Deburr, item: &Item, out: &std::path::Path) -> Result<(), String> {
        let printed = deburr.call(["print".as_ref(), item.path.as_os_str()])?;
        if printed.code() != Some(0) {
            return Err(format!("print: {}", printed.message()));
        }
        let (direct, by_text) = (out.with_extension("direct.spv"), out.with_extension("text.spv"));
        let said = deburr.call([
            "opt".as_ref(),
            item.path.as_os_str(),
            "-o".as_ref(),
            direct.as_os_str(),
        ])?;
        if matches!(said.code(), Some(3 | 4)) {
            return Ok(());
        }
        if said.code() != Some(0) {
            return Err(format!("opt: {}", said.message()));
        }
        let mut command = Command::new(&deburr.path);
        command.args(["opt", "-", "--emit", "spv", "-o"]).arg(&by_text);
        let said = start(&mut command, &printed.out)?;
        if said.code() != Some(0) {
            return Err(format!("opt of the text: {}", said.message()));
        }
        if words(&direct) != words(&by_text) {
            return Err("the bytes by way of the text differ".into());
        }
        Ok(())
    }
}
