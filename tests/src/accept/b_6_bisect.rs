//! B 6, the part about `bisect`: wrong rules, each of which fires once somewhere among hundreds of rewrites, are found by
//! the interpreter's complaint about the module.

use super::corpus::{Deburr, start};
use deburr_fuzz::Rng;
use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;

/// Rewrites at least among which one is wrong.
const AMONG: u64 = 500;
/// Words that a module writes, each by code that some rule rewrites.
const OUTPUTS: usize = 640;
/// Words that it reads.
const INPUTS: usize = 16;

/// Code that ends in `%r`, of the inputs `%x` and `%y` and a constant `%k` that nothing else has; and a wrong rule for it.
const PLANTED: [(&str, &str); 20] = [
    ("32 %r = ixor %x, %k", "ixor(a:32, K) => ior(a, K)"),
    ("32 %r = ior %x, %k", "ior(a:32, K) => a"),
    ("32 %r = iand %x, %k", "iand(a:32, K) => ior(a, K)"),
    ("32 %r = iadd %x, %k", "iadd(a:32, K) => a"),
    ("32 %r = imul %x, %k", "imul(a:32, K) => iadd(a, K)"),
    ("32 %r = umin %x, %k", "umin(a:32, K) => umax(a, K)"),
    ("32 %r = umax %x, %k", "umax(a:32, K) => umin(a, K)"),
    ("32 %r = imin %x, %k", "imin(a:32, K) => imax(a, K)"),
    ("32 %r = imax %x, %k", "imax(a:32, K) => imin(a, K)"),
    ("32 %r = isub %k, %x", "isub(K, a:32) => a"),
    ("32 %s = ushr %x, %y\n32 %r = ixor %s, %k", "ixor(ushr(a:32, b), K) => ixor(ishl(a, b), K)"),
    ("32 %r = udiv %x, %k", "udiv(a:32, K) => umod(a, K)"),
    ("32 %r = umod %x, %k", "umod(a:32, K) => udiv(a, K)"),
    ("1 %c = ult %x, %k\n32 %r = bcsel %c, %x, %y", "bcsel(ult(a:32, K), b, c) => c"),
    ("32 %s = ixor %x, %k\n32 %r = inot %s", "inot(ixor(a:32, K)) => ixor(a, K)"),
    ("32 %s = imul %x, %k\n32 %r = iadd %s, %y", "iadd(imul(a:32, K), b) => imul(a, K)"),
    ("32 %s = imul %x, %k\n32 %r = isub %y, %s", "isub(a:32, imul(b, K)) => a"),
    ("32 %s = ior %x, %k\n32 %r = iand %s, %y", "iand(ior(a:32, K), b) => b"),
    ("32 %s = iand %x, %k\n32 %r = ior %s, %y", "ior(iand(a:32, K), b) => b"),
    ("1 %c = ieq %x, %k\n32 %r = bcsel %c, %x, %y", "bcsel(ieq(a:32, K), b, c) => b"),
];

/// The constant of a planted rule.
fn constant(n: usize) -> u32 {
    0x5eed_0101 + 0x0202 * n as u32
}

/// Code for one word, which some rule of the tree rewrites.
fn shape(rng: &mut Rng, n: usize) -> String {
    let power = 1u32 << (1 + rng.below(20));
    let k =
        format!("32 %k = load_const ({:#x})\n32 %p = load_const ({power:#x})\n", 0x0101 + 6 * n);
    let code = match rng.below(8) {
        0 => "32 %t = imul %x, %p\n32 %r = ixor %t, %k",
        1 => "32 %t = iadd %x, %k\n32 %r = iadd %t, %p",
        2 => "32 %m = ineg %y\n32 %t = iadd %x, %m\n32 %r = ixor %t, %k",
        3 => "32 %t = udiv %x, %p\n32 %r = iadd %t, %k",
        4 => "32 %t = umod %x, %p\n32 %r = ixor %t, %k",
        5 => "32 %m = ior %x, %y\n32 %t = iand %m, %x\n32 %r = iadd %t, %k",
        6 => "32 %r = isub %x, %k",
        _ => "32 %m = inot %x\n32 %t = inot %m\n32 %r = imul %t, %k",
    };
    k + code
}

/// A module in which the planted code writes one of the words.
fn module(rng: &mut Rng, planted: usize) -> String {
    let mut text = format!(
        "deburr_ir 1\ndecl_env spirv 1 3 Logical GLSL450\ndecl_capability Shader\n\
         shader compute \"main\" entry(main) LocalSize(1, 1, 1)\n\
         decl_type In = struct(Block) {{\n  [u32; {INPUTS}, stride=4] (offset=0),\n}}\n\
         decl_type Out = struct(Block) {{\n  [u32; {OUTPUTS}, stride=4] (offset=0),\n}}\n\
         decl_var ssbo In &words (0, 0)\ndecl_var ssbo Out &results (0, 1)\n\
         decl_function main()\nimpl main {{\n  block b0:\n\
         32 %in = deref_var &words\n32 %ins = deref_struct &(%in).0\n\
         32 %out = deref_var &results\n32 %outs = deref_struct &(%out).0\n"
    );
    for n in 0..INPUTS {
        // Writing to a string can't fail.
        let _ = writeln!(
            text,
            "32 %i{n} = load_const ({n})\n32 %d{n} = deref_array &(%ins)[%i{n}]\n32 %w{n} = @load_deref %d{n}"
        );
    }
    let place = rng.below(OUTPUTS);
    for n in 0..OUTPUTS {
        let code = match n == place {
            true => {
                let k = constant(planted);
                format!("32 %k = load_const ({k:#x})\n{}", PLANTED[planted].0)
            }
            false => shape(rng, n),
        };
        let mut code = code.replace("%x", &format!("%w{}", rng.below(INPUTS)));
        code = code.replace("%y", &format!("%w{}", rng.below(INPUTS)));
        for name in ["k", "p", "t", "m", "s", "c", "r"] {
            code = code.replace(&format!("%{name}"), &format!("%{name}_{n}"));
        }
        let _ = writeln!(
            text,
            "{code}\n32 %o{n} = load_const ({n})\n32 %e{n} = deref_array &(%outs)[%o{n}]\n\
             @store_deref %e{n}, %r_{n} (write_mask=x)"
        );
    }
    text + "}\n"
}

/// What became of one planted rule.
pub struct Found {
    /// What was found.
    pub text: String,
    /// Whether it is what was planted.
    pub right: bool,
    /// Rewrites there are.
    pub among: u64,
    /// Runs of the check.
    pub runs: u64,
}

/// Plants so many wrong rules, one after the other, and looks for each.
///
/// # Errors
/// If the command can't be started or files can't be written.
pub fn run(deburr: &Deburr, seed: u64, count: u64) -> Result<Vec<Found>, String> {
    let mut rng = Rng::new(seed ^ 0xb6);
    let first = rng.below(PLANTED.len());
    (0..count.min(PLANTED.len() as u64) as usize)
        .map(|n| one(deburr, &mut rng, (first + n) % PLANTED.len()))
        .collect()
}

fn one(deburr: &Deburr, rng: &mut Rng, planted: usize) -> Result<Found, String> {
    let path = deburr.file("bisect", "module.nir");
    let folder = path.parent().unwrap_or(&path);
    let put = |name: &str, text: String| {
        std::fs::write(folder.join(name), text).map_err(|e| format!("{name}: {e}"))
    };
    put("module.nir", module(rng, planted))?;
    let rule = PLANTED[planted].1.replace('K', &format!("{:#x}", constant(planted)));
    put("own.rules", format!("rules 1\nrule planted: {rule};\n"))?;
    let command = std::path::absolute(&deburr.path).map_err(|e| e.to_string())?;
    let call = |args: &[&str]| start(Command::new(&command).args(args).current_dir(folder), &[]);
    let wrong = |text: String| Found { text, right: false, among: 0, runs: 0 };
    let said = call(&["opt", "module.nir", "--passes", "none", "-o", "plain.spv"])?;
    if said.code() != Some(0) {
        return Ok(wrong(format!("{rule}: {}", said.message())));
    }
    // The rewrites in order, of which one is by the planted rule.
    let traced = call(&["opt", "module.nir", "--rules", "own.rules", "--trace", "-o", "all.spv"])?;
    if traced.code() != Some(0) {
        return Ok(wrong(format!("{rule}: {}", traced.message())));
    }
    let trace = traced.text();
    let rewrites = trace.lines().filter(|line| line.contains(" => ") && line.contains(" by "));
    let places: Vec<usize> = rewrites
        .enumerate()
        .filter(|(_, line)| line.contains(" by planted "))
        .map(|r| r.0 + 1)
        .collect();
    let &[place] = places.as_slice() else {
        return Ok(wrong(format!("{rule}: fires {} times", places.len())));
    };
    let check = format!("{} check plain.spv", quoted(&command));
    let said =
        call(&["bisect", "module.nir", "--rules", "own.rules", "--check", &check, "--json"])?;
    let line = said.text();
    let number = |key: &str| -> u64 {
        let rest = line.split(&format!("\"{key}\":")).nth(1);
        rest.and_then(|r| r.split([',', '}']).next()?.parse().ok()).unwrap_or(0)
    };
    let (found, among, runs) = (number("rewrite"), number("of"), number("runs"));
    let steps = u64::from(u64::BITS - among.leading_zeros());
    let right = found == place as u64
        && line.contains("\"rule\":\"planted\"")
        && line.contains("\"alone\":true")
        && among >= AMONG
        && runs <= steps + 3;
    let text = format!("{rule}: planted at {place}, found {found} of {among} in {runs} runs");
    let text = match right {
        true => text,
        false => format!("{text}; {}{}", line.trim_end(), said.message()),
    };
    Ok(Found { text, right, among, runs })
}

/// A path for a shell.
fn quoted(path: &Path) -> String {
    format!("'{}'", path.to_string_lossy().replace('\'', r"'\''"))
}
