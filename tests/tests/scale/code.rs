//! Code of a kind and a size, as text.

use std::fmt::Write;

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

/// Instructions in a row, each on the one before.
pub fn straight(n: usize) -> String {
    links(n, |i| {
        let op = ["iadd", "imul", "ixor", "isub"][i % 4];
        format!("    32 %x{} = {op} %x{i}, %y", i + 1)
    })
}

const ONE_LOCAL: &str = "  decl_var function u32 &v\n";
const STORE_LOCAL: &str = "    32 %v = deref_var &v\n    @store_deref %v, %x0 (write_mask=x)\n";

/// `if`s in a row, on a local.
pub fn ifs(n: usize) -> String {
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

/// Code that makes `%x1` of `%x0`, `%x2` of `%x1` and so on, so often.
fn links(n: usize, link: impl Fn(usize) -> String) -> String {
    let code: String = (0..n).map(|i| format!("{}\n", link(i))).collect();
    module("", "", &format!("{code}    32 %r = iadd %x{n}, %y\n"))
}

/// Additions of constants, each to the sum before: they become one, from the front on.
pub fn constant_chain(n: usize) -> String {
    links(n, |i| format!("    32 %c{i} = load_const ({i})\n    32 %x{} = iadd %x{i}, %c{i}", i + 1))
}

/// Operations that each use the one before twice, by two ways: more paths than can be walked.
pub fn diamonds(n: usize) -> String {
    links(n / 3, |i| {
        format!(
            "    32 %d{i} = iand %x{i}, %y\n    32 %e{i} = umin %x{i}, %y\n    32 %x{} = ixor %d{i}, %e{i}",
            i + 1
        )
    })
}

/// Selects, each of the one before or of a number, by a comparison.
pub fn select_ladder(n: usize) -> String {
    links(n / 3, |i| {
        format!(
            "    32 %c{i} = load_const ({i})\n    1 %b{i} = ult %y, %c{i}\n    32 %x{} = bcsel %b{i}, %c{i}, %x{i}",
            i + 1
        )
    })
}

/// Ifs that become selects.
pub fn selects(n: usize) -> String {
    ifs(n).replace("umod", "ixor")
}

/// Loops in a row.
pub fn loops(n: usize) -> String {
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
pub fn dead_loops(n: usize) -> String {
    loops(n).replace("    32 %r = @load_deref %v\n", "    32 %r = iadd %x0, %y\n")
}

/// Locals that are set, changed between two pieces of code, and read behind them.
fn locals_around(n: usize, set: &str, before: &str, after: &str) -> String {
    let (mut vars, mut code) = (String::new(), String::new());
    for i in 0..n {
        let _ = writeln!(vars, "  decl_var function u32 &v{i}");
        let _ = writeln!(
            code,
            "    32 %v{i} = deref_var &v{i}\n    32 %t{i} = {set} %x0, %y\n    @store_deref %v{i}, %t{i} (write_mask=x)"
        );
    }
    code += before;
    for i in 0..n {
        let _ = writeln!(
            code,
            "    32 %q{i} = @load_deref %v{i}\n    32 %w{i} = imul %q{i}, %x0\n    @store_deref %v{i}, %w{i} (write_mask=x)"
        );
    }
    code += after;
    code += "  block n:\n    32 %z0 = load_const (0)\n";
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

/// Locals that are all alive over an `if`.
pub fn locals(n: usize) -> String {
    let before = "    1 %c = ult %x0, %y\n  if %c {\n  block t:\n";
    locals_around(n, "iadd", before, "  } else {\n  block e:\n  }\n")
}

/// Calls of one small function.
pub fn calls(n: usize) -> String {
    let mut code = String::new();
    for i in 0..n {
        let _ = writeln!(code, "    32 %x{} = call f(%x{i})", i + 1);
    }
    let _ = writeln!(code, "    32 %r = iadd %x{n}, %y");
    let body = "impl f {\n  block b:\n    32 %a = @load_param (param_idx=0)\n    32 %r = imul %a, %a\n    return %r\n}\n";
    module("decl_function f(u32 a) -> u32\n", "", &code) + body
}

/// Functions that are called once each.
pub fn functions(n: usize) -> String {
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

/// `if`s on constants, each way in turn.
pub fn constant_ifs(n: usize) -> String {
    let mut code =
        format!("{STORE_LOCAL}    1 %yes = load_const (1)\n    1 %no = load_const (0)\n");
    for i in 0..n {
        let c = ["yes", "no"][i % 2];
        let _ = writeln!(
            code,
            "    32 %l{i} = @load_deref %v\n  if %{c} {{\n  block t{i}:\n    32 %s{i} = imul %l{i}, %y\n    \
             @store_deref %v, %s{i} (write_mask=x)\n  }} else {{\n  block e{i}:\n    32 %u{i} = ixor %l{i}, %y\n    \
             @store_deref %v, %u{i} (write_mask=x)\n  }}\n  block n{i}:"
        );
    }
    code += "    32 %r = @load_deref %v\n";
    module("", ONE_LOCAL, &code)
}

/// `if`s in each other on the condition that `make` gives for each level.
fn nested(n: usize, start: &str, make: impl Fn(usize) -> String) -> String {
    let mut code = format!("{STORE_LOCAL}{start}");
    for i in 0..n {
        let _ = writeln!(
            code,
            "    32 %l{i} = @load_deref %v\n{}  if %b{i} {{\n  block t{i}:\n    32 %s{i} = imul %l{i}, %y\n    \
             @store_deref %v, %s{i} (write_mask=x)",
            make(i)
        );
    }
    for i in (0..n).rev() {
        let _ = writeln!(
            code,
            "  }} else {{\n  block e{i}:\n    32 %u{i} = ixor %l{i}, %y\n    @store_deref %v, %u{i} (write_mask=x)\n  \
             }}\n  block n{i}:"
        );
    }
    code += "    32 %r = @load_deref %v\n";
    module("", ONE_LOCAL, &code)
}

/// `if`s in each other.
pub fn nested_ifs(n: usize) -> String {
    nested(n, "", |i| format!("    32 %c{i} = load_const ({i})\n    1 %b{i} = ult %l{i}, %c{i}\n"))
}

/// `if`s in each other, on constants.
pub fn nested_constant_ifs(n: usize) -> String {
    nested(n, "", |i| format!("    1 %b{i} = load_const ({})\n", u32::from(i % 7 != 3)))
}

/// Loops in each other that store at their innermost.
pub fn nested_loops(n: usize) -> String {
    let mut code = STORE_LOCAL.to_owned();
    for i in 0..n {
        let _ = writeln!(
            code,
            "  loop {{\n  block h{i}:\n    32 %l{i} = @load_deref %v\n    32 %c{i} = load_const ({i})\n    \
             1 %b{i} = ult %l{i}, %c{i}\n  if %b{i} {{\n  block t{i}:\n    break\n  }} else {{\n  block e{i}:\n  }}\n  \
             block g{i}:\n    32 %s{i} = iadd %l{i}, %y\n    @store_deref %v, %s{i} (write_mask=x)"
        );
    }
    code += "    32 %po0 = deref_array &(%pod)[%k1]\n    @store_deref %po0, %y (write_mask=x)\n";
    for i in (0..n).rev() {
        let _ = writeln!(code, "  }}\n  block n{i}:");
    }
    code += "    32 %r = @load_deref %v\n";
    module("", ONE_LOCAL, &code)
}

/// One local that is loaded and stored over and over.
pub fn accesses(n: usize) -> String {
    let mut code = STORE_LOCAL.to_owned();
    for i in 0..n {
        let _ = writeln!(
            code,
            "    32 %v{i} = deref_var &v\n    32 %l{i} = @load_deref %v{i}\n    32 %s{i} = iadd %l{i}, %y\n    \
             @store_deref %v{i}, %s{i} (write_mask=x)"
        );
    }
    code += "    32 %r = @load_deref %v\n";
    module("", ONE_LOCAL, &code)
}

/// Loads and stores of buffers in one block.
pub fn memory(n: usize) -> String {
    let mut code = String::new();
    for i in 0..n {
        let _ = writeln!(
            code,
            "    32 %i{i} = load_const ({i})\n    32 %f{i} = deref_array &(%pid)[%i{i}]\n    32 %l{i} = @load_deref %f{i}\n    \
             32 %t{i} = deref_array &(%pod)[%i{i}]\n    @store_deref %t{i}, %l{i} (write_mask=x)"
        );
    }
    code += "    32 %r = iadd %x0, %y\n";
    module("", "", &code)
}

/// Private variables, each used once.
pub fn privates(n: usize) -> String {
    let (mut vars, mut code) = (String::new(), String::new());
    for i in 0..n {
        let _ = writeln!(vars, "decl_var private u32 &g{i}");
        let _ = writeln!(
            code,
            "    32 %g{i} = deref_var &g{i}\n    @store_deref %g{i}, %x{i} (write_mask=x)\n    \
             32 %l{i} = @load_deref %g{i}\n    32 %x{} = iadd %l{i}, %y",
            i + 1
        );
    }
    let _ = writeln!(code, "    32 %r = iadd %x{n}, %y");
    module(&vars, "", &code)
}

/// Copies of a pair to and fro.
pub fn copies(n: usize) -> String {
    let mut code = "    32 %p = deref_var &p\n    32 %q = deref_var &q\n    32 %p0 = deref_struct &(%p).0\n    \
                    @store_deref %p0, %x0 (write_mask=x)\n"
        .to_owned();
    for i in 0..n {
        let (to, from) = [("q", "p"), ("p", "q")][i % 2];
        let _ = writeln!(code, "    @copy_deref %{to}, %{from}");
    }
    code += "    32 %r = @load_deref %p0\n";
    let pair = "decl_type Pair = struct(Plain) {\n  u32 a,\n  u32 b,\n}\n";
    module(pair, "  decl_var function Pair &p\n  decl_var function Pair &q\n", &code)
        .replace("(Plain)", "")
}

/// A loop that carries as many values round as there are locals.
pub fn carried(n: usize) -> String {
    let before = "  loop {\n  block h:\n    32 %l = @load_deref %v0\n    1 %b = ult %l, %y\n  if %b {\n  block t:\n    \
                  break\n  } else {\n  block e:\n  }\n  block g:\n";
    locals_around(n, "ixor", before, "  }\n")
}

/// A `once` that is left in many places.
pub fn exits(n: usize) -> String {
    let mut code = format!("{STORE_LOCAL}  once {{\n  block o:\n");
    for i in 0..n {
        let _ = writeln!(
            code,
            "    32 %l{i} = @load_deref %v\n    32 %c{i} = load_const ({i})\n    1 %b{i} = ult %l{i}, %c{i}\n  \
             if %b{i} {{\n  block t{i}:\n    break\n  }} else {{\n  block e{i}:\n  }}\n  block n{i}:\n    \
             32 %u{i} = umod %l{i}, %y\n    @store_deref %v, %u{i} (write_mask=x)"
        );
    }
    code += "  }\n  block m:\n    32 %r = @load_deref %v\n";
    module("", ONE_LOCAL, &code)
}

/// Calls that are given a pointer to one local.
pub fn pointer_calls(n: usize) -> String {
    let mut code = STORE_LOCAL.to_owned();
    for i in 0..n {
        let _ = writeln!(code, "    32 %q{i} = call f(%v)");
    }
    code += "    32 %r = @load_deref %v\n";
    let head = "decl_function f(ptr(function, u32) p) -> u32\n";
    let body = "impl f {\n  block b:\n    32 %a = @load_param (param_idx=0)\n    32 %p = deref_cast &(%a) (function u32)\n    \
                32 %x = @load_deref %p\n    32 %r = imul %x, %x\n    @store_deref %p, %r (write_mask=x)\n    return %r\n}\n";
    module(head, ONE_LOCAL, &code) + body
}

/// Functions with an `if` that are called twice each, with a pointer to one local.
pub fn branching_functions(n: usize) -> String {
    let (mut heads, mut code, mut bodies) = (String::new(), STORE_LOCAL.to_owned(), String::new());
    for i in 0..n {
        let _ = writeln!(heads, "decl_function f{i}(ptr(function, u32) p) -> u32");
        let _ = writeln!(code, "    32 %q{i} = call f{i}(%v)\n    32 %w{i} = call f{i}(%v)");
        let _ = writeln!(
            bodies,
            "impl f{i} {{\n  block b:\n    32 %a = @load_param (param_idx=0)\n    32 %p = deref_cast &(%a) (function u32)\n    \
             32 %k = load_const ({i})\n    32 %x = @load_deref %p\n    1 %c = ult %x, %k\n  if %c {{\n  block t:\n    \
             32 %s = imul %x, %k\n    @store_deref %p, %s (write_mask=x)\n  }} else {{\n  block e:\n  }}\n  block n:\n    \
             return %x\n}}"
        );
    }
    code += "    32 %r = @load_deref %v\n";
    module(&heads, ONE_LOCAL, &code) + &bodies
}

/// A function that returns from loops in a row, with a value of each that is used behind it.
pub fn returns(n: usize) -> String {
    let mut body = "impl f {\n  block b:\n    32 %x0 = @load_param (param_idx=0)\n    32 %y = load_const (1)\n".to_owned();
    for i in 0..n {
        let _ = writeln!(
            body,
            "  loop {{\n  block h{i}:\n    32 %s{i} = iadd %x{i}, %y\n    1 %b{i} = ult %s{i}, %y\n  if %b{i} {{\n  \
             block t{i}:\n    return %s{i}\n  }} else {{\n  block e{i}:\n  }}\n  block g{i}:\n    \
             32 %x{} = imul %s{i}, %s{i}\n    break\n  }}\n  block n{i}:",
            i + 1
        );
    }
    let _ = writeln!(body, "    return %x{n}\n}}");
    module("decl_function f(u32 a) -> u32\n", "", "    32 %r = call f(%x0)\n") + &body
}

/// Functions that each call the one before in the middle, with code around it that `around` gives for each function.
fn chain(n: usize, reversed: bool, around: impl Fn(usize) -> [String; 2]) -> String {
    let mut heads = String::new();
    let mut bodies: Vec<String> = Vec::new();
    for i in 0..n {
        let _ = writeln!(heads, "decl_function f{i}(u32 a) -> u32");
        let [before, after] = around(i);
        let call = match i {
            0 => "    32 %q = imul %r, %r\n".to_owned(),
            _ => format!("    32 %q = call f{}(%r)\n", i - 1),
        };
        bodies.push(format!(
            "impl f{i} {{\n  block b:\n    32 %a = @load_param (param_idx=0)\n    32 %k = load_const ({i})\n\
             {before}{call}{after}    return %z\n}}\n"
        ));
    }
    if reversed {
        bodies.reverse();
    }
    module(&heads, "", &format!("    32 %r = call f{}(%x0)\n", n - 1)) + &bodies.concat()
}

/// Functions of one block, each of which calls the one before.
pub fn call_chain(n: usize) -> String {
    chain(n, false, |_| {
        ["    32 %r = iadd %a, %k\n".to_owned(), "    32 %z = ixor %q, %a\n".to_owned()]
    })
}

/// The same, the callers first.
pub fn call_chain_reversed(n: usize) -> String {
    chain(n, true, |_| {
        ["    32 %r = iadd %a, %k\n".to_owned(), "    32 %z = ixor %q, %a\n".to_owned()]
    })
}

/// An `if` that changes a value.
fn branch(from: &str, to: &str, name: &str) -> String {
    format!(
        "    1 %c{name} = ult %{from}, %k\n  if %c{name} {{\n  block t{name}:\n    32 %d{name} = umod %{from}, %k\n  \
         }} else {{\n  block e{name}:\n  }}\n  block n{name}:\n    32 %{to} = phi t{name}: %d{name}, e{name}: %{from}\n"
    )
}

/// Functions that call in one block with all that comes before, and branch behind it.
pub fn branch_behind_calls(n: usize) -> String {
    chain(n, false, |_| ["    32 %r = iadd %a, %k\n".to_owned(), branch("q", "z", "")])
}

/// Functions that branch first, and call in one block with all that comes behind.
pub fn branch_before_calls(n: usize) -> String {
    chain(n, false, |_| [branch("a", "r", ""), "    32 %z = ixor %q, %a\n".to_owned()])
}

/// Functions that branch before and behind the call, and hand on a pointer to a local with an initialiser.
pub fn pointer_chain(n: usize) -> String {
    let (mut heads, mut bodies) = (String::new(), String::new());
    for i in 0..n {
        let _ = writeln!(heads, "decl_function f{i}(ptr(function, u32) p) -> u32");
        let call = match i {
            0 => "    32 %q = imul %x, %x\n".to_owned(),
            _ => format!("    32 %lv = deref_var &l\n    32 %q = call f{}(%lv)\n", i - 1),
        };
        let _ = writeln!(
            bodies,
            "impl f{i} {{\n  decl_var function u32 &l = 0x7\n  block b:\n    32 %a = @load_param (param_idx=0)\n    \
             32 %p = deref_cast &(%a) (function u32)\n    32 %x = @load_deref %p\n{call}    32 %k = load_const ({i})\n\
             {}    @store_deref %p, %z (write_mask=x)\n    return %z\n}}",
            branch("q", "z", "")
        );
    }
    let code = format!("{STORE_LOCAL}    32 %r = call f{}(%v)\n", n - 1);
    module(&heads, ONE_LOCAL, &code) + &bodies
}

/// Entry points that each call one function of a chain.
pub fn entries(n: usize) -> String {
    let (mut shaders, mut heads) = (String::new(), String::new());
    let mut bodies = String::new();
    for i in 0..n {
        let _ = writeln!(shaders, "shader compute \"e{i}\" entry(e{i}) LocalSize(1, 1, 1)");
        let _ = writeln!(heads, "decl_function f{i}(u32 a) -> u32\ndecl_function e{i}()");
        let call = match i {
            0 => "    32 %q = imul %k, %a\n".to_owned(),
            _ => format!("    32 %q = call f{}(%a)\n", i - 1),
        };
        let _ = writeln!(
            bodies,
            "impl f{i} {{\n  block b:\n    32 %a = @load_param (param_idx=0)\n    32 %k = load_const ({i})\n{call}    \
             32 %z = iadd %q, %k\n    return %z\n}}\nimpl e{i} {{\n  block b:\n    32 %k = load_const ({i})\n    \
             32 %q = call f{i}(%k)\n    32 %po = deref_var &out\n    32 %pod = deref_struct &(%po).0\n    \
             32 %o = deref_array &(%pod)[%k]\n    @store_deref %o, %q (write_mask=x)\n}}"
        );
    }
    let main = module(&heads, "", "    32 %r = iadd %x0, %y\n");
    main.replacen("decl_type", &format!("{shaders}decl_type"), 1) + &bodies
}

/// Copies of a struct with many members.
pub fn large_copies(n: usize) -> String {
    let mut members = "decl_type Many = struct {\n".to_owned();
    for i in 0..n {
        let _ = writeln!(members, "  u32 m{i},");
    }
    members += "}\n";
    let mut code = "    32 %p = deref_var &p\n    32 %q = deref_var &q\n".to_owned();
    for i in 0..n {
        let (to, from) = [("q", "p"), ("p", "q")][i % 2];
        let _ = writeln!(
            code,
            "    32 %m{i} = deref_struct &(%{from}).{i}\n    @store_deref %m{i}, %x0 (write_mask=x)\n    \
             @copy_deref %{to}, %{from}"
        );
    }
    code += "    32 %r = @load_deref %m0\n";
    module(&members, "  decl_var function Many &p\n  decl_var function Many &q\n", &code)
}

/// As many locals as `if`s, each of which stores one of them.
pub fn local_an_if(n: usize) -> String {
    let (mut vars, mut code) = (String::new(), String::new());
    for i in 0..n {
        let _ = writeln!(vars, "  decl_var function u32 &v{i}");
        let _ = writeln!(
            code,
            "    32 %v{i} = deref_var &v{i}\n    @store_deref %v{i}, %x0 (write_mask=x)"
        );
    }
    for i in 0..n {
        let _ = writeln!(
            code,
            "    32 %c{i} = load_const ({i})\n    1 %b{i} = ult %x0, %c{i}\n  if %b{i} {{\n  block t{i}:\n    \
             32 %s{i} = umod %y, %c{i}\n    @store_deref %v{i}, %s{i} (write_mask=x)\n  }} else {{\n  block e{i}:\n  }}\n  \
             block n{i}:"
        );
    }
    code += "    32 %z0 = load_const (0)\n";
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

/// A loop with as many `break`s and `continue`s.
pub fn jumps(n: usize) -> String {
    let mut code = format!("{STORE_LOCAL}  loop {{\n  block h:\n");
    for i in 0..n {
        let jump = ["break", "continue"][i % 2];
        let _ = writeln!(
            code,
            "    32 %l{i} = @load_deref %v\n    32 %c{i} = load_const ({i})\n    1 %b{i} = ult %l{i}, %c{i}\n  \
             if %b{i} {{\n  block t{i}:\n    {jump}\n  }} else {{\n  block e{i}:\n  }}\n  block n{i}:\n    \
             32 %u{i} = umod %l{i}, %y\n    @store_deref %v, %u{i} (write_mask=x)"
        );
    }
    code += "  }\n  block m:\n    32 %r = @load_deref %v\n";
    module("", ONE_LOCAL, &code)
}

/// Phis in a row, each of which takes the one before from both arms of an `if`.
pub fn trivial_phis(n: usize) -> String {
    let mut code = "    32 %p0 = iadd %x0, %y\n".to_owned();
    for i in 0..n {
        let _ = writeln!(
            code,
            "    32 %c{i} = load_const ({i})\n    1 %b{i} = ult %y, %c{i}\n  if %b{i} {{\n  block t{i}:\n    \
             @store_deref %a1, %c{i} (write_mask=x)\n  }} else {{\n  block e{i}:\n  }}\n  block n{i}:\n    \
             32 %p{} = phi t{i}: %p{i}, e{i}: %p{i}\n    @store_deref %a1, %p{} (write_mask=x)",
            i + 1,
            i + 1
        );
    }
    let _ = writeln!(code, "    32 %r = iadd %p{n}, %y");
    module("", "", &code)
}

/// Equal phis of many values, behind a loop that is left in as many places.
pub fn equal_phis(n: usize) -> String {
    let mut code = "  loop {\n  block h:\n".to_owned();
    for i in 0..n {
        let _ = writeln!(
            code,
            "    32 %l{i} = @load_deref %a0\n    1 %b{i} = ult %l{i}, %y\n  if %b{i} {{\n  block t{i}:\n    break\n  }} \
             else {{\n  block e{i}:\n  }}\n  block n{i}:"
        );
    }
    code += "  }\n  block m:\n";
    for phi in 0..4 {
        let sources: Vec<String> = (0..n).map(|i| format!("t{i}: %l{i}")).collect();
        let _ = writeln!(code, "    32 %p{phi} = phi {}", sources.join(", "));
    }
    code += "    32 %q0 = imul %p0, %p1\n    32 %q1 = imul %p2, %p3\n    32 %r = iadd %q0, %q1\n";
    module("", "", &code)
}
