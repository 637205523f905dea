//! Writing takes about linear time: eight times the code, of kinds that could cost more, takes far less than sixty-four
//! times as long.

use deburr_spirv::{WriteOptions, write};
use std::fmt::Write;
use std::time::{Duration, Instant};

/// How much longer eight times the code may take.
const MOST: f64 = 24.0;

/// A module whose main function has this code: it finds a word in `%x`, and its place in `%a`.
fn module(code: &str) -> String {
    format!(
        "deburr_ir 1
shader compute \"main\" entry(main) LocalSize(1, 1, 1)
decl_type Words = struct(Block) {{ [u32; *, stride=4] data (offset=0), }}
decl_var ssbo Words &buf (0, 0)
decl_function main()
impl main {{
  block b:
    32 %k0 = load_const (0)
    32 %p = deref_var &buf
    32 %d = deref_struct &(%p).0
    32 %a = deref_array &(%d)[%k0]
    32 %x = @load_deref %a
{code}}}
"
    )
}

/// One rung of many literals, behind one of a single literal.
fn literals(n: usize) -> String {
    let mut code = "    32 %q = load_const (999999)\n    1 %c = ieq %x, %q\n".to_owned();
    code += "  if %c {\n  block t:\n  } else {\n  block e:\n    1 %o0 = ieq %x, %k0\n";
    for i in 1..n {
        let _ = writeln!(code, "    32 %q{i} = load_const ({i})\n    1 %e{i} = ieq %x, %q{i}");
        let _ = writeln!(code, "    1 %o{i} = ior %o{}, %e{i}", i - 1);
    }
    let _ = writeln!(code, "  if %o{} {{\n  block u:", n - 1);
    code += "    @store_deref %a, %k0 (write_mask=x)\n  } else {\n  block f:\n  }\n  block g:\n  }\n  block h:\n";
    module(&code)
}

/// A ladder whose last arm leaves a `once`, so that no switch begins with any of its rungs.
fn refused(n: usize) -> String {
    let mut code = String::new();
    for i in 0..n {
        let _ = writeln!(code, "    32 %q{i} = load_const ({i})");
    }
    code += "  once {\n  block o:\n";
    for i in 0..n {
        let _ = writeln!(code, "    1 %e{i} = ieq %x, %q{i}\n  if %e{i} {{\n  block t{i}:");
        let _ = writeln!(code, "    @store_deref %a, %q{i} (write_mask=x)");
        let leave = if i + 1 == n { "    break\n" } else { "" };
        let _ = writeln!(code, "{leave}  }} else {{\n  block e{i}:");
    }
    for i in 0..n {
        let _ = writeln!(code, "  }}\n  block g{i}:");
    }
    code += "    @store_deref %a, %k0 (write_mask=x)\n  }\n  block h:\n";
    module(&code)
}

/// The fastest of some runs: others may have the machine in the meantime.
fn time(text: &str) -> Duration {
    let module = deburr_ir_core::parse(text).expect("the text is read");
    let run = |_| {
        let start = Instant::now();
        write(&module, &WriteOptions::default()).expect("the module can be written");
        start.elapsed()
    };
    (0..5).map(run).min().unwrap_or_default()
}

fn check(kind: &str, code: fn(usize) -> String, n: usize) {
    let (small, large) = (time(&code(n)), time(&code(8 * n)));
    let growth = large.as_secs_f64() / small.as_secs_f64();
    assert!(growth < MOST, "{kind}: {small:?}, then {large:?}: {growth:.1} times as long");
}

#[test]
fn rungs_of_many_literals() {
    check("literals", literals, 1000);
}

#[test]
fn ladders_that_are_no_switch() {
    // SPIR-V nests no deeper than 1023.
    check("refused", refused, 120);
}
