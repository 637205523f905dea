//! A 7: the text of a module is the module, after every pass and on random programs.

use super::corpus::{Deburr, examples, words};
use super::{Args, Outcome, Verdict};
use deburr_algebraic::Target;
use deburr_ir_core::{Module, parse};
use deburr_passes::{DEFAULT, Options, Pipeline};
use deburr_spirv::{ReadOptions, read};

/// Random programs at full size.
const PROGRAMS: u64 = 10_000;

/// Measures it.
pub fn run(args: &Args) -> Outcome {
    let target = "parse(print(m)) == m and print(parse(t)) == t on all examples after every pass and on 10⁴ random programs"
        .to_owned();
    let mut list = Vec::new();
    let mut texts = 0usize;
    let items = match Deburr::new(args).and_then(|deburr| examples(&deburr)) {
        Ok(items) => items,
        Err(why) => {
            return Outcome::skipped(target, list, why);
        }
    };
    let mut wrong = 0;
    let mut translated = 0;
    for item in &items {
        let module = match read(&words(&item.path), &ReadOptions::default()) {
            Ok(module) => module,
            Err(e) => {
                list.push(format!("{}: not read: {e}", item.name));
                wrong += 1;
                continue;
            }
        };
        translated += 1;
        let (passes, found) = after_every_pass(module);
        texts += passes;
        match found {
            Some(why) => {
                wrong += 1;
                list.push(format!("{}: {why}", item.name));
            }
            None => list.push(format!("{}: {passes} texts", item.name)),
        }
    }
    let programs = args.count(PROGRAMS);
    for n in 0..programs {
        let mut options = deburr_fuzz::Options::default();
        options.licences = n % 2 == 1;
        let module =
            deburr_fuzz::program(args.seed.wrapping_mul(1_000_003).wrapping_add(n), &options);
        texts += 1;
        if let Err(why) = round_trip(&module) {
            wrong += 1;
            list.push(format!("random program {n}: {why}"));
        }
    }
    Outcome {
        figure: format!(
            "{texts} texts of {translated} examples and {programs} random programs, {wrong} do not come back"
        ),
        target,
        verdict: Verdict::of(wrong == 0 && translated > 0),
        list,
    }
}

/// Holds the module to its text as it is and after every pass; how many texts, and the first that fails.
fn after_every_pass(mut module: Module) -> (usize, Option<String>) {
    let mut texts = 1;
    let mut found = round_trip(&module).err().map(|e| format!("as read: {e}"));
    let target = Target::spirv_of(&module);
    let pipeline = match Pipeline::parse(DEFAULT) {
        Ok(pipeline) => pipeline,
        Err(e) => return (texts, Some(e.to_string())),
    };
    let mut observer = |pass: &'static str, module: &Module, changed: bool| {
        if changed && found.is_none() {
            texts += 1;
            found = round_trip(module).err().map(|e| format!("after {pass}: {e}"));
        }
    };
    let ran = pipeline.run_observed(
        &mut module,
        deburr_ruleset::rules(),
        &target,
        &Options::default(),
        &mut observer,
    );
    if let Err(e) = ran {
        found.get_or_insert(e.to_string());
    }
    (texts, found)
}

fn round_trip(module: &Module) -> Result<(), String> {
    let text = module.to_string();
    let again = parse(&text).map_err(|errors| {
        let first = errors
            .first()
            .map_or_else(String::new, |e| format!("{}:{}: {}", e.line, e.col, e.message));
        let line = errors.first().and_then(|e| text.lines().nth(e.line.saturating_sub(1) as usize));
        format!("the text does not parse: {first}: `{}`", line.unwrap_or_default().trim())
    })?;
    if again != *module {
        return Err("the text is another module".into());
    }
    let printed = again.to_string();
    match text.lines().zip(printed.lines()).find(|(a, b)| a != b) {
        Some((a, b)) => Err(format!("`{}` is printed as `{}`", a.trim(), b.trim())),
        None if text != printed => Err("the text is printed at another length".into()),
        None => Ok(()),
    }
}
