//! Instructions that some stages don't have are refused, or written as what the stage has.

use deburr_spirv::{ErrorKind, WriteOptions, write};
use rspirv::binary::Disassemble;

/// A module with an entry point of the stage, whose code this is, and a function that it may call.
fn module(entry: &str, code: &str, callee: &str) -> deburr_spirv::Module {
    let text = format!(
        "deburr_ir 1
shader {entry}
decl_function main()
decl_function f()
impl main {{
  block b:
{code}
}}
impl f {{
  block b:
{callee}
}}
"
    );
    deburr_ir_core::parse(&text).expect("the text is read")
}

const COMPUTE: &str = "compute \"main\" entry(main) LocalSize(1, 1, 1)";
const FRAGMENT: &str = "fragment \"main\" entry(main) OriginUpperLeft";
const QUADS: &str = "compute \"main\" entry(main) LocalSize(4, 1, 1) DerivativeGroupLinearKHR";

/// The message and the place of the refusal, or the instructions of both functions.
fn written(entry: &str, code: &str, callee: &str) -> Result<Vec<String>, String> {
    let module = module(entry, code, callee);
    let words = write(&module, &WriteOptions::default()).map_err(|e| {
        assert_eq!(e.kind, ErrorKind::Unsupported);
        let (function, instr) = e.ir.clone().expect("the place is told");
        format!("{e}: `{instr}` in `{function}`")
    })?;
    let text = rspirv::dr::load_words(words).expect("what is written is SPIR-V").disassemble();
    let code = text.lines().map(str::trim).skip_while(|line| !line.contains("OpFunction "));
    let op = |line: &str| line.split(' ').find(|w| w.starts_with("Op")).map(str::to_owned);
    let own = ["OpFunction", "OpLabel", "OpFunctionEnd"];
    Ok(code.filter_map(op).filter(|op| !own.contains(&&**op)).collect())
}

fn ops(names: &[&str]) -> Result<Vec<String>, String> {
    Ok(names.iter().map(|n| n.to_string()).collect())
}

#[test]
fn halt() {
    assert_eq!(written(FRAGMENT, "    halt", ""), ops(&["OpKill", "OpReturn"]));
    assert_eq!(written(COMPUTE, "    halt", ""), ops(&["OpReturn", "OpReturn"]));
    // Within a function it ends more than the function.
    let refused = "SPIR-V has no OpKill in a compute shader: `halt` in `f`";
    assert_eq!(written(COMPUTE, "    call f()", "    halt"), Err(refused.into()));
    // A function that nothing calls is in no stage.
    assert_eq!(written(COMPUTE, "", "    halt"), ops(&["OpReturn", "OpKill"]));
}

#[test]
fn demote() {
    assert_eq!(
        written(FRAGMENT, "    @demote", ""),
        ops(&["OpDemoteToHelperInvocation", "OpReturn", "OpReturn"])
    );
    let refused =
        "SPIR-V has no OpDemoteToHelperInvocation in a compute shader: `@demote` in `main`";
    assert_eq!(written(COMPUTE, "    @demote", ""), Err(refused.into()));
}

#[test]
fn derivatives() {
    let code = "    32 %0 = load_const (0x3f800000)\n    32 %1 = fddx %0";
    let names = ops(&["OpDPdx", "OpReturn", "OpReturn"]);
    assert_eq!(written(FRAGMENT, code, ""), names);
    assert_eq!(written(QUADS, code, ""), names, "the mode says what a quad is");
    let refused = "SPIR-V has no OpDPdx in a compute shader: `32 %1 = fddx %0` in `main`";
    assert_eq!(written(COMPUTE, code, ""), Err(refused.into()));
}

#[test]
fn vertices() {
    let refused = "SPIR-V has no OpEmitVertex in a compute shader: `@emit_vertex` in `main`";
    assert_eq!(written(COMPUTE, "    @emit_vertex", ""), Err(refused.into()));
}
