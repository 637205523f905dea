//! The default pipeline takes about linear time on the kinds of code below: eight times the code takes far less than
//! sixty-four times as long. (Many `if`s on constants are not among them: `dead_cf` walks the function for each.)

use deburr_algebraic::Target;
use deburr_passes::{DEFAULT, Options, Pipeline};
use std::fmt::Write;
use std::time::{Duration, Instant};

/// Time that each is run for, over and over: the clock may tick in hundredths of a second.
const LONG: Duration = Duration::from_millis(200);
/// How much longer eight times the code may take.
const MOST: f64 = 24.0;

const HEAD: &str = "deburr_ir 1
shader compute \"main\" entry(main) LocalSize(1, 1, 1)
decl_type Words = struct(Block) { [u32; *, stride=4] data (offset=0), }
decl_var ssbo Words &in (0, 0)
decl_var ssbo Words &out (0, 1)
decl_function main()
";

/// A module whose main function has this code: it finds two words in `%x0` and `%y`, and leaves a word in `%r`.
fn module(functions: &str, locals: &str, code: &str) -> String {
    format!(
        "{HEAD}{functions}impl main {{
{locals}  block b:
    32 %k0 = load_const (0)
    32 %k1 = load_const (1)
    32 %pi = deref_var &in
    32 %pid = deref_struct &(%pi).0
    32 %po = deref_var &out
    32 %pod = deref_struct &(%po).0
    32 %a0 = deref_array &(%pid)[%k0]
    32 %x0 = @load_deref %a0
    32 %a1 = deref_array &(%pid)[%k1]
    32 %y = @load_deref %a1
{code}    32 %o = deref_array &(%pod)[%k0]
    @store_deref %o, %r (write_mask=x)
}}
"
    )
}

fn straight(n: usize) -> String {
    let mut code = String::new();
    for i in 0..n {
        let op = ["iadd", "imul", "ixor", "isub"][i % 4];
        let _ = writeln!(code, "    32 %x{} = {op} %x{i}, %y", i + 1);
    }
    let _ = writeln!(code, "    32 %r = iadd %x{n}, %y");
    module("", "", &code)
}

const ONE_LOCAL: &str = "  decl_var function u32 &v\n";
const STORE_LOCAL: &str = "    32 %v = deref_var &v\n    @store_deref %v, %x0 (write_mask=x)\n";

fn ifs(n: usize) -> String {
    let mut code = STORE_LOCAL.to_owned();
    for i in 0..n {
        let _ = writeln!(
            code,
            "    32 %l{i} = @load_deref %v\n    32 %c{i} = load_const ({i})\n    1 %b{i} = ult %l{i}, %c{i}\n  \
             if %b{i} {{\n  block t{i}:\n    32 %s{i} = imul %l{i}, %y\n    @store_deref %v, %s{i} (write_mask=x)\n  \
             }} else {{\n  block e{i}:\n    32 %u{i} = umod %l{i}, %y\n    @store_deref %v, %u{i} (write_mask=x)\n  \
             }}\n  block n{i}:"
        );
    }
    code += "    32 %r = @load_deref %v\n";
    module("", ONE_LOCAL, &code)
}

/// Ifs that become selects.
fn selects(n: usize) -> String {
    ifs(n).replace("umod", "ixor")
}

fn loops(n: usize) -> String {
    let mut code = STORE_LOCAL.to_owned();
    for i in 0..n {
        let _ = writeln!(
            code,
            "  loop {{\n  block h{i}:\n    32 %l{i} = @load_deref %v\n    32 %c{i} = load_const ({i})\n    \
             1 %b{i} = ult %l{i}, %c{i}\n  if %b{i} {{\n  block t{i}:\n    break\n  }} else {{\n  block e{i}:\n  }}\n  \
             block g{i}:\n    32 %s{i} = iadd %l{i}, %y\n    @store_deref %v, %s{i} (write_mask=x)\n  }}\n  block n{i}:"
        );
    }
    code += "    32 %r = @load_deref %v\n";
    module("", ONE_LOCAL, &code)
}

/// Loops whose result nobody wants.
fn dead_loops(n: usize) -> String {
    loops(n).replace("    32 %r = @load_deref %v\n", "    32 %r = iadd %x0, %y\n")
}

fn locals(n: usize) -> String {
    let (mut vars, mut code) = (String::new(), String::new());
    for i in 0..n {
        let _ = writeln!(vars, "  decl_var function u32 &v{i}");
        let _ = writeln!(
            code,
            "    32 %v{i} = deref_var &v{i}\n    32 %t{i} = iadd %x0, %y\n    @store_deref %v{i}, %t{i} (write_mask=x)"
        );
    }
    code += "    1 %c = ult %x0, %y\n  if %c {\n  block t:\n";
    for i in 0..n {
        let _ = writeln!(
            code,
            "    32 %q{i} = @load_deref %v{i}\n    32 %w{i} = imul %q{i}, %x0\n    @store_deref %v{i}, %w{i} (write_mask=x)"
        );
    }
    code += "  } else {\n  block e:\n  }\n  block n:\n    32 %z0 = load_const (0)\n";
    for i in 0..n {
        let _ = writeln!(
            code,
            "    32 %r{i} = @load_deref %v{i}\n    32 %z{} = ixor %z{i}, %r{i}",
            i + 1
        );
    }
    let _ = writeln!(code, "    32 %r = iadd %z{n}, %y");
    module("", &vars, &code)
}

/// Calls of one small function.
fn calls(n: usize) -> String {
    let mut code = String::new();
    for i in 0..n {
        let _ = writeln!(code, "    32 %x{} = call f(%x{i})", i + 1);
    }
    let _ = writeln!(code, "    32 %r = iadd %x{n}, %y");
    let body = "impl f {\n  block b:\n    32 %a = @load_param (param_idx=0)\n    32 %r = imul %a, %a\n    return %r\n}\n";
    module("decl_function f(u32 a) -> u32\n", "", &code) + body
}

/// Functions that are called once each.
fn functions(n: usize) -> String {
    let (mut heads, mut code, mut bodies) = (String::new(), String::new(), String::new());
    for i in 0..n {
        let _ = writeln!(heads, "decl_function f{i}(u32 a) -> u32");
        let _ = writeln!(code, "    32 %x{} = call f{i}(%x{i})", i + 1);
        let _ = writeln!(
            bodies,
            "impl f{i} {{\n  block b:\n    32 %a = @load_param (param_idx=0)\n    32 %k = load_const ({i})\n    \
             32 %r = imul %a, %k\n    return %r\n}}"
        );
    }
    let _ = writeln!(code, "    32 %r = iadd %x{n}, %y");
    module(&heads, "", &code) + &bodies
}

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
    let kinds: [(&str, fn(usize) -> String, usize); 8] = [
        ("straight-line instructions", straight, 20_000),
        ("ifs", ifs, 5_000),
        ("selects", selects, 5_000),
        ("loops", loops, 5_000),
        ("dead loops", dead_loops, 5_000),
        ("locals", locals, 8_000),
        ("calls", calls, 8_000),
        ("functions", functions, 8_000),
    ];
    for (name, make, n) in kinds {
        let (small, large) = (time(&make(n / 8)), time(&make(n)));
        let ratio = large.as_secs_f64() / small.as_secs_f64();
        println!("{n} {name}: {:.1} ms, {ratio:.1} times an eighth", large.as_secs_f64() * 1e3);
        assert!(ratio < MOST, "{n} {name} take {ratio:.1} times as long as an eighth of them");
    }
}
