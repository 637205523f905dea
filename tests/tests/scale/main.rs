//! Passes take about linear time on the kinds of code in [`code`]. The default pipeline: eight times the code takes far
//! less than sixty-four times as long. Each pass by itself: twice the code takes little more than twice as long, three times
//! over.

mod code;

use deburr_algebraic::Target;
use deburr_ir_core::Module;
use deburr_passes::{DEFAULT, Options, PASSES, Pipeline};
use std::time::{Duration, Instant};

/// Time that each is run for, over and over: the clock may tick in hundredths of a second.
const LONG: Duration = Duration::from_millis(200);
/// How much longer eight times the code may take.
const MOST: f64 = 24.0;

/// Time that this thread has run, where the system tells: other processes do not count then. Else the time of day.
fn clock(start: Instant) -> Duration {
    let told = std::fs::read_to_string("/proc/thread-self/schedstat").ok();
    let nanoseconds = told.and_then(|text| text.split(' ').next()?.parse().ok());
    nanoseconds.map_or_else(|| start.elapsed(), Duration::from_nanos)
}

/// Time of the default pipeline, over runs that together take long for the clock.
fn time(source: &str) -> Duration {
    let module = deburr_ir_core::parse(source).unwrap_or_else(|e| panic!("{}", e[0]));
    let pipeline = Pipeline::parse(DEFAULT).expect("the default pipeline parses");
    let mut options = Options::default();
    options.validate = false;
    let target = Target::generic("test");
    let (start, mut runs) = (Instant::now(), 0);
    let from = clock(start);
    loop {
        let mut module = module.clone();
        let report = pipeline.run(&mut module, deburr_ruleset::rules(), &target, &options);
        assert!(!report.expect("passes don't fail").budget_stop);
        runs += 1;
        let time = clock(start) - from;
        if time >= LONG {
            return time / runs;
        }
    }
}

#[test]
fn time_is_about_linear() {
    let kinds: [(&str, fn(usize) -> String, usize); 13] = [
        ("straight-line instructions", code::straight, 100_000),
        ("additions of constants", code::constant_chain, 100_000),
        ("diamonds", code::diamonds, 100_000),
        ("selects of selects", code::select_ladder, 100_000),
        ("ifs on constants", code::constant_ifs, 5_000),
        ("ifs in each other on constants", code::nested_constant_ifs, 1_000),
        ("ifs", code::ifs, 5_000),
        ("selects", code::selects, 5_000),
        ("loops", code::loops, 5_000),
        ("dead loops", code::dead_loops, 5_000),
        ("locals", code::locals, 8_000),
        ("calls", code::calls, 8_000),
        ("functions", code::functions, 8_000),
    ];
    for (name, make, n) in kinds {
        let (small, large) = (time(&make(n / 8)), time(&make(n)));
        let ratio = large.as_secs_f64() / small.as_secs_f64();
        println!("{n} {name}: {:.1} ms, {ratio:.1} times an eighth", large.as_secs_f64() * 1e3);
        assert!(ratio < MOST, "{n} {name} take {ratio:.1} times as long as an eighth of them");
    }
}

/// How much longer twice the code may take in a pass, on average of three doublings: tables grow by steps, and caches end.
const TWICE: f64 = 2.6;
/// Less than this is not looked at: it is noise, and a quadratic walk of this size would take longer.
const SHORT: Duration = Duration::from_micros(400);

/// The least time of some runs of a pipeline.
fn least(module: &Module, pipeline: &Pipeline) -> Duration {
    let mut options = Options::default();
    options.validate = false;
    let target = Target::generic("test");
    let (mut best, started) = (Duration::MAX, Instant::now());
    for n in 0..12 {
        let mut module = module.clone();
        let from = Instant::now();
        let report = pipeline.run(&mut module, deburr_ruleset::rules(), &target, &options);
        best = best.min(from.elapsed());
        assert!(!report.expect("passes don't fail").budget_stop);
        if n >= 2 && started.elapsed() > LONG / 4 {
            break;
        }
    }
    best
}

/// Modules of a kind: as they are, and with calls and locals gone.
fn stages(source: &str) -> [Module; 2] {
    let module = deburr_ir_core::parse(source).unwrap_or_else(|e| panic!("{}", e[0]));
    let mut later = module.clone();
    let passes = "lower_returns,inline,global_to_local,lower_copies,vars_to_ssa";
    let pipeline = Pipeline::parse(passes).expect("the test names passes");
    let mut options = Options::default();
    options.validate = false;
    let target = Target::generic("test");
    pipeline
        .run(&mut later, deburr_ruleset::rules(), &target, &options)
        .expect("passes don't fail");
    [module, later]
}

#[test]
fn each_pass_takes_about_linear_time() {
    let kinds: [(&str, fn(usize) -> String, usize); 34] = [
        ("straight-line instructions", code::straight, 20_000),
        ("additions of constants", code::constant_chain, 20_000),
        ("diamonds", code::diamonds, 20_000),
        ("selects of selects", code::select_ladder, 20_000),
        ("ifs", code::ifs, 5_000),
        ("ifs on constants", code::constant_ifs, 5_000),
        ("ifs in each other", code::nested_ifs, 1_000),
        ("ifs in each other on constants", code::nested_constant_ifs, 1_000),
        ("loops", code::loops, 2_500),
        ("dead loops", code::dead_loops, 2_500),
        ("loops in each other", code::nested_loops, 500),
        ("locals", code::locals, 5_000),
        ("accesses to one local", code::accesses, 10_000),
        ("loads and stores", code::memory, 10_000),
        ("private variables", code::privates, 5_000),
        ("copies", code::copies, 5_000),
        ("values carried round a loop", code::carried, 5_000),
        ("exits of one once", code::exits, 1_000),
        ("calls", code::calls, 2_000),
        ("calls with a pointer", code::pointer_calls, 2_000),
        ("functions", code::functions, 2_000),
        ("functions that branch", code::branching_functions, 1_000),
        ("loops that return", code::returns, 1_000),
        ("functions that call the one before", code::call_chain, 2_000),
        ("functions that call the one behind", code::call_chain_reversed, 2_000),
        ("functions that call and branch behind", code::branch_behind_calls, 2_000),
        ("functions that branch and call behind", code::branch_before_calls, 2_000),
        ("functions that hand on a pointer", code::pointer_chain, 1_000),
        // So many that all of them meet the bound on what `inline` copies, in debug builds too.
        ("entry points that share functions", code::entries, 8_000),
        ("copies of a large struct", code::large_copies, 2_000),
        ("locals that an if stores each", code::local_an_if, 2_000),
        ("jumps out of and within a loop", code::jumps, 1_000),
        ("phis of one value", code::trivial_phis, 5_000),
        ("equal phis of many values", code::equal_phis, 2_000),
    ];
    // Debug builds take longer for everything.
    let part = if cfg!(debug_assertions) { 8 } else { 1 };
    let mut slow = Vec::new();
    for (name, make, n) in kinds {
        let n = n / part;
        let (small, large) = (stages(&make(n / 4)), stages(&make(2 * n)));
        for pass in PASSES {
            let pipeline = Pipeline::parse(pass.name).expect("it is a pass");
            for (stage, (small, large)) in small.iter().zip(&large).enumerate() {
                let measure = || {
                    let (a, b) = (least(small, &pipeline), least(large, &pipeline));
                    (b, (b.as_secs_f64() / a.as_secs_f64()).cbrt())
                };
                let (mut time, mut ratio) = measure();
                // Other processes only ever make it longer: what is slow by itself is slow again and again.
                for _ in 0..4 {
                    if time < SHORT || ratio < TWICE {
                        break;
                    }
                    let (again, least) = measure();
                    (time, ratio) = (time.min(again), ratio.min(least));
                }
                if time >= SHORT {
                    let ms = time.as_secs_f64() * 1e3;
                    println!(
                        "{}: {} {name} ({stage}): {ms:.2} ms, {ratio:.1} times for twice",
                        pass.name,
                        2 * n
                    );
                    if ratio >= TWICE {
                        slow.push(format!(
                            "{}: {} {name}, {ms:.2} ms, {ratio:.1} times for twice",
                            pass.name,
                            2 * n
                        ));
                    }
                }
            }
        }
    }
    assert!(slow.is_empty(), "not linear:\n{}", slow.join("\n"));
}
