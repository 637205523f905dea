//! The command's own error codes. Those of tables and rules are listed by the generator library.

use deburr_rulegen::diagnostics::{Code, CodeInfo};

/// A code of the command itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cli(pub u16);

impl Cli {
    /// As it is shown.
    pub fn name(self) -> String {
        Code(self.0).to_string()
    }
}

macro_rules! codes {
    ($($name:ident = $number:literal, $title:literal, $explanation:literal;)*) => {
        $(
            #[allow(dead_code, reason = "some are told with the feature `naga` only, some without it only")]
            pub const $name: Cli = Cli($number);
        )*
        /// Every code of the command.
        pub const CODES: &[CodeInfo] = &[
            $(CodeInfo { code: Code($number), title: $title, explanation: $explanation },)*
        ];
    };
}

codes! {
    FILE = 1, "a file that can't be read or written",
        "The message says what the system says. Results are written to a temporary file beside their destination and renamed, so a failure leaves an old result as it was.";
    KIND_OF_INPUT = 2, "an input of unknown kind",
        "SPIR-V is known by its magic number, IR text by its first word (`deburr_ir` or `shader`), everything else by the file's extension: .wgsl, .comp, .vert, .frag, .glsl, .nir.";
    INPUT_SIZE = 3, "an input that is too large",
        "Files above 256 MiB are not read.";
    IR_TEXT = 10, "IR text that doesn't follow the grammar",
        "The grammar is in the book's IR reference. `deburr print` shows any module in it.";
    IR_INVALID = 11, "IR that breaks a rule of the IR",
        "The text parses, but the module isn't valid: an operand of the wrong size, a value that doesn't dominate its use, control flow out of shape. The message names the rule.";
    SPIRV_INVALID = 20, "SPIR-V that breaks a rule of SPIR-V",
        "The place is the number of the word at which the instruction begins, counted from the start of the file. `spirv-val` says more.";
    SPIRV_UNSUPPORTED = 21, "SPIR-V that is valid but not supported",
        "The module uses an instruction, capability or type that deburr doesn't translate. `docs/unsupported.md` lists what is known to be missing.";
    SPIRV_LIMIT = 22, "SPIR-V beyond a limit",
        "The module is larger or nested more deeply than deburr reads, or than SPIR-V lets it be written.";
    WRITE_UNSUPPORTED = 23, "a module that SPIR-V can't say",
        "The IR holds an operation that has no instruction in SPIR-V, or none under the capabilities that the module declares.";
    WGSL = 30, "WGSL that naga refuses",
        "The message and the place are naga's.";
    GLSL = 31, "GLSL that naga can't read",
        "naga reads a part of GLSL. The help gives the command that makes SPIR-V of the file with glslang.";
    FRONT_END = 32, "a front end that isn't there",
        "This deburr was built without the feature `naga`, which reads WGSL and GLSL. The default build has it.";
    WGSL_OUT = 33, "a result that can't be written as WGSL",
        "WGSL is written by naga from the optimised SPIR-V. naga reads a part of SPIR-V.";
    FRONT_LIMIT = 34, "source text beyond a limit of the front end",
        "The front end recurses over the source text: brackets, braces and chains of operators nest only so deeply. SPIR-V made by another front end has no such limit.";
    PASS_BUG = 40, "a pass broke the module",
        "This is a bug of deburr. Nothing was written. Please report it with the input; `--print-after PASS` shows the module after each run of a pass.";
    TARGET_ENV = 41, "a module that is newer than its target environment",
        "The module's SPIR-V version is above what the environment of `--target-env` takes.";
    SPEC = 42, "a specialisation constant that can't be frozen",
        "`--spec ID=V` names the constant by its `SpecId`. As a warning: the module has no such constant, so the option does nothing. As an error: IR text is taken as it is, its constants are frozen when SPIR-V is read.";
    DEBUG_INFO = 43, "debug information that can't be kept",
        "The module tells of its source text: lines, sources, debug instructions. The IR holds the names of values and nothing else of it, so `--debug` refuses the module. Without `--debug` the result has the names only.";
    READING = 44, "an option that has no effect",
        "`--float` says how SPIR-V is read. Instructions of IR text carry their licences themselves.";
    RUN = 50, "a dispatch that can't be run",
        "The module has no such compute entry point, uses what the interpreter doesn't know, or a barrier isn't reached by every invocation.";
    RUN_LIMIT = 51, "a dispatch that was given up",
        "The instructions, invocations or bytes of a run are bounded. `--fuel` sets the number of instructions, which a shader that loops for ever uses up whatever it is; `check` leaves out an input on which neither module ends, and stops at the second.";
    RUN_BIND = 52, "a binding that the module doesn't have",
        "`--bind SET.BINDING=FILE` names a buffer of the module, `--push FILE` is for its push constants. `deburr print` shows the variables with their set and binding.";
    INTERFACE = 55, "modules with different interfaces",
        "`check` compares modules that take the same buffers: the same sets and bindings, entry point and workgroup size.";
    DIFFERS = 56, "modules that compute different values",
        "For the input shown the two modules write different bytes that no choice of the shader explains. Where float arithmetic may be rearranged, 32-bit floats may be off by 2^-8 of their value or by 10^-6; what is off by more may still be right in a shader that amplifies rounding. A licence such as `reassoc` also allows what neither is near nor checked by `verify`: an intermediate result that overflows or underflows in one order and not in the other. `--float strict` on both sides compares bit for bit.";
    TERM = 60, "a term that can't be evaluated",
        "Terms are written as in rule files: `iadd(a, ineg(b))`. Every operation of the opcode table may stand in one, but no intrinsics, textures or phis.";
    TERM_VALUE = 61, "a value for a term that doesn't fit",
        "Values are written `a=0x7fc00000`, `a=1.5`, `a=-3` or `a=true`, components of a vector separated by commas. Bits must fit the size of the variable.";
    ENTRY_NAME = 62, "a name that no table has",
        "`deburr ops`, `deburr intrinsics`, `deburr rules` and `deburr passes` list what there is.";
    BISECT = 63, "a check that can't guide a search",
        "`bisect` runs the check on the module with more or fewer rewrites. It must succeed on the module without any: what fails even then is no rewrite's fault. Exit codes 126 and 127 say that the shell can't run the command.";
    NOT_FORMATTED = 65, "a rule file that isn't formatted",
        "`deburr rules fmt FILE` writes rule files in their one form, `--check` only asks whether they have it. Nothing that the file says changes.";
    VERIFY = 70, "a rule that isn't proved",
        "`deburr verify` found inputs for which the two sides differ, or has no verdict for an instance. The witness shows the inputs and both results. An instance that is `bounded` (under `reassoc`, `transform` or `ulps`) is checked where every float input lies between 0.03 and 16, either sign, and the pattern's result is finite; elsewhere results that differ are not held against the rule: intermediate results that overflow or underflow, zeros, infinities, NaN. What decides on floats (a compare, a conversion, a selection) may decide otherwise only where inputs off by the bound do.";
    SOLVER = 71, "no solver on the path",
        "`deburr verify --budget SECONDS` puts to a solver what trial can't decide. It starts `bitwuzla`, `z3` and `cvc5`, as many of them as the path has. Bitwuzla's Python package has no command: `tools/bitwuzla` in the source tree is one.";
    LEDGER = 72, "a line of the ledger that can't be read",
        "`verify/ledger` holds the verdicts of the tree's rules, one line each, written by `deburr verify` alone. Every line carries a check value, so that a verdict edited by hand is caught. Remove the line: the next run works it out again.";
    LICENCES = 73, "a rule that asks for more than it needs",
        "Every instance of the rule holds without the licence, so that it would never fire where it could. The licences of a rule are the least with which it holds.";
}
