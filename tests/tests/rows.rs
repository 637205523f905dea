//! Rows of `docs/features.md` that no other test shows by itself: each test's comment has the row's number.

use deburr_algebraic::Target;
use deburr_eval::{Dispatch, run};
use deburr_fuzz::{Options as Programs, program};
use deburr_ir_core::{
    ALU_INFO, Def, DerefKind, Function, Instr, InstrKind, InstrView, Modes, Module, User, parse,
    validate,
};
use deburr_passes::{Options, Pipeline};

/// A shader of one invocation; `code` finds pointers to the words of two buffers in `%in` and `%out`, and 0, 1 and 2 in
/// `%k0`, `%k1` and `%k2`.
fn shader(declarations: &str, code: &str) -> Module {
    parsed(&format!(
        "shader compute \"main\" entry(main) LocalSize(1, 1, 1)
decl_type Words = struct(Block) {{ [u32; *, stride=4] data (offset=0), }}
decl_var ssbo Words &in (0, 0)
decl_var ssbo Words &out (0, 1)
decl_function main()
{declarations}
impl main {{
  block b0:
    32 %k0 = load_const (0)
    32 %k1 = load_const (1)
    32 %k2 = load_const (2)
    32 %bi = deref_var &in
    32 %in = deref_struct &(%bi).0
    32 %bo = deref_var &out
    32 %out = deref_struct &(%bo).0
    32 %pa = deref_array &(%in)[%k0]
    32 %a = @load_deref %pa
    32 %pb = deref_array &(%in)[%k1]
    32 %b = @load_deref %pb
    32 %o = deref_array &(%out)[%k0]
{code}
}}
"
    ))
}

#[track_caller]
fn parsed(text: &str) -> Module {
    let module = parse(text).unwrap_or_else(|errors| panic!("{text}\n{errors:?}"));
    if let Err(errors) = validate(&module) {
        panic!("{text}\n{}", errors[0]);
    }
    module
}

#[track_caller]
fn after(passes: &str, mut module: Module) -> Module {
    let pipeline = Pipeline::parse(passes).expect("the passes are known");
    let mut options = Options::default();
    options.validate = true;
    pipeline
        .run(&mut module, deburr_ruleset::rules(), &Target::generic("rows"), &options)
        .expect("the passes keep the module valid");
    module
}

fn main_of(module: &Module) -> &Function {
    module.functions.iter().find(|f| f.name == "main").expect("there is a main")
}

/// How many instructions of the body print with this word.
fn count(module: &Module, word: &str) -> usize {
    let text = module.to_string();
    text.lines().filter(|l| l.split([' ', '(']).any(|w| w == word)).count()
}

fn ran(module: &Module, words: &[u32]) -> Vec<u8> {
    let mut dispatch = Dispatch::default();
    let buffer = |binding, bytes| deburr_eval::Buffer { set: 0, binding, element: 0, bytes };
    dispatch.buffers = vec![
        buffer(0, words.iter().flat_map(|w| w.to_le_bytes()).collect()),
        buffer(1, vec![0; 4 * words.len()]),
    ];
    dispatch.fuel = 100_000;
    let outcome = run(module, &dispatch).expect("the shader runs");
    outcome.buffers[1].buffer.bytes.clone()
}

/// F1: every source of every instruction is a value that another instruction defines, and the text has no way to write
/// an expression in its place.
#[test]
fn sources_are_values() {
    for seed in 0..20 {
        let module = program(seed, &Programs::default());
        for f in module.functions.iter().filter(|f| f.has_body()) {
            for instr in f.all_instrs() {
                for source in f.srcs(instr) {
                    let definer = source.def().instr();
                    assert_eq!(f.def(definer), Some(source.def()));
                    let own = definer == instr;
                    assert!(
                        !own || f.kind(instr) == InstrKind::Phi,
                        "{}",
                        module.show(f).instr(instr)
                    );
                }
            }
        }
    }
    let nested = "decl_function f() impl f { 32 %0 = undef 32 %1 = iadd (iadd %0, %0), %0 }";
    assert!(parse(nested).is_err());
}

/// F4: printing, CSE, copy propagation, matching and folding each tell one component from another.
#[test]
fn swizzles_are_respected() {
    let code = |rest: &str| format!("    32x2 %v = vec2 %a, %b\n{rest}");
    let same = code(
        "    32 %x = ineg %v.x 32 %y = ineg %v.x 32 %s = imul %x, %y @store_deref %o, %s (write_mask=x)",
    );
    let other = code(
        "    32 %x = ineg %v.x 32 %y = ineg %v.y 32 %s = imul %x, %y @store_deref %o, %s (write_mask=x)",
    );
    let (same, other) = (shader("", &same), shader("", &other));
    assert_ne!(same.to_string(), other.to_string());
    assert_eq!(parse(&other.to_string()).expect("it was printed"), other);
    assert_eq!(count(&after("cse,dce", same), "ineg"), 1);
    assert_eq!(count(&after("cse,dce", other), "ineg"), 2);

    let copied = shader(
        "",
        &code("    32x2 %w = mov %v.yx 32 %s = ineg %w.x @store_deref %o, %s (write_mask=x)"),
    );
    let text = after("copy_prop,dce", copied).to_string();
    assert!(!text.contains("mov"), "{text}");
    // The first component of the copy is the second of the vector, which is the second word.
    let line = text.lines().find(|l| l.contains("ineg")).expect("it is used");
    let source = line.split_whitespace().last().expect("it has a source");
    let definition = text.lines().find(|l| l.contains(&format!(" {source} = ")));
    let loads: Vec<&str> = text.lines().filter(|l| l.contains("@load_deref")).collect();
    assert_eq!(definition, loads.last().copied(), "{text}");

    let sum = |comp: &str| {
        let rest = format!(
            "    32 %n = ineg %v.x 32 %s = iadd %n, %v.{comp} @store_deref %o, %s (write_mask=x)"
        );
        count(&after("algebraic,dce", shader("", &code(&rest))), "iadd")
            + count(&after("algebraic,dce", shader("", &code(&rest))), "isub")
    };
    assert_eq!(sum("x"), 0, "-x + x is 0");
    assert_ne!(sum("y"), 0, "-x + y is not");

    let folded = shader(
        "",
        "    32x2 %v = load_const (3, 5) 32 %s = isub %v.y, %v.x @store_deref %o, %s (write_mask=x)",
    );
    assert_eq!(ran(&after("constant_fold,dce", folded), &[0, 0])[0], 2);
}

/// F6: a value's instruction is found from the value alone, and a use's value from the use.
#[test]
fn uses_point_at_definitions() {
    // No function is asked: the step from a value to its instruction can't be a search.
    let definer: fn(Def) -> Instr = Def::instr;
    let module = program(3, &Programs::default());
    let f = main_of(&module);
    for instr in f.all_instrs() {
        let Some(def) = f.def(instr) else { continue };
        assert_eq!(definer(def), instr);
        for used in f.uses(def) {
            if let User::Instr(user) = used.user() {
                assert!(f.srcs(user).iter().any(|s| s.def() == def));
            }
        }
    }
}

/// F14: functions have parameters and a body or none; one without a body can be called.
#[test]
fn functions_may_be_declared_only() {
    let module = shader(
        "decl_function ext(u32 x) -> u32",
        "    32 %r = call ext(%a) @store_deref %o, %r (write_mask=x)",
    );
    let ext = module.functions.iter().find(|f| f.name == "ext").expect("it is declared");
    assert!(!ext.has_body() && ext.params.len() == 1 && ext.ret.is_some());
}

const SQUARE: &str = "decl_function square(u32 x) -> u32
impl square {
  decl_var function u32 &kept
  block s0:
    32 %x = @load_param (param_idx=0)
    32 %p = deref_var &kept
    32 %q = imul %x, %x
    @store_deref %p, %q (write_mask=x)
    32 %r = @load_deref %p
    return %r
}";
const TWO_CALLS: &str = "    32 %r = call square(%a) 32 %s = call square(%b) 32 %t = iadd %r, %s @store_deref %o, %t (write_mask=x)";

/// F15: inlining copies body and locals, parameters become the arguments, and functions that are no longer called go.
#[test]
fn inlining_copies_body_and_locals() {
    let module = shader(SQUARE, TWO_CALLS);
    let before = ran(&module, &[3, 5]);
    assert_eq!(before[0], 34);
    let inlined = after("inline", module);
    assert_eq!(count(&inlined, "call"), 0);
    assert_eq!(count(&inlined, "imul"), 2, "one copy for each call");
    assert!(inlined.functions.iter().all(|f| f.name != "square" || !f.has_body()));
    assert_eq!(ran(&inlined, &[3, 5]), before);
}

/// F16: the signature of a function without a body outlives the whole pipeline, and two inlined copies of one function
/// share no variable.
#[test]
fn signatures_survive_and_copies_share_nothing() {
    let module = shader(
        "decl_function ext(u32 x) -> u32",
        "    32 %r = call ext(%a) @store_deref %o, %r (write_mask=x)",
    );
    let text = after(deburr_passes::DEFAULT, module).to_string();
    assert!(text.contains("decl_function ext(u32 x) -> u32"), "{text}");
    assert!(text.contains("call ext("), "{text}");

    let inlined = after("inline", shader(SQUARE, TWO_CALLS));
    let f = main_of(&inlined);
    let stored: Vec<_> = f
        .all_instrs()
        .filter_map(|i| f.deref(i))
        .filter(|d| d.modes == Modes::FUNCTION)
        .filter_map(|d| match d.kind {
            DerefKind::Var(var) => Some(var),
            _ => None,
        })
        .collect();
    let mut distinct = stored.clone();
    distinct.sort_unstable_by_key(|v| v.index());
    distinct.dedup();
    assert_eq!(distinct.len(), 2, "{inlined}");
}

/// F17: a function with an early return is inlined after its returns were lowered, and means the same.
#[test]
fn early_returns_are_lowered_before_inlining() {
    let early = "decl_function pick(u32 x) -> u32
impl pick {
  block p0:
    32 %x = @load_param (param_idx=0)
    32 %five = load_const (5)
    1 %c = ult %x, %five
  if %c {
    block p1:
      return %five
  } else {
    block p2:
  }
  block p3:
    32 %d = imul %x, %x
    return %d
}";
    let call = "    32 %r = call pick(%a) @store_deref %o, %r (write_mask=x)";
    for (word, expected) in [(3u32, 5u8), (6, 36)] {
        let module = shader(early, call);
        assert_eq!(ran(&module, &[word, 0])[0], expected);
        let inlined = after("lower_returns,inline", module);
        assert_eq!((count(&inlined, "call"), count(&inlined, "return")), (0, 0), "{inlined}");
        assert_eq!(ran(&inlined, &[word, 0])[0], expected);
    }
}

/// F18: an ALU instruction is a function of its operands: every opcode folds, derivatives apart, which see a quad.
#[test]
fn alu_is_referentially_transparent() {
    let unfolded: Vec<&str> =
        ALU_INFO.iter().filter(|i| i.fold.is_none()).map(|i| i.name).collect();
    assert_eq!(unfolded.len(), 6, "{unfolded:?}");
    assert!(unfolded.iter().all(|n| n.starts_with("fdd")), "{unfolded:?}");
}

/// F20: flags of the table decide what DCE and CSE may do with an intrinsic.
#[test]
fn flags_drive_dce_and_cse() {
    let spec = "decl_spec u32 $k (0) = 3";
    let loads = "    32 %x = @load_spec_constant 32 %y = @load_spec_constant 32 %s = iadd %x, %y @store_deref %o, %s (write_mask=x)";
    let module = shader(spec, loads);
    assert_eq!(count(&after("cse,dce", module), "@load_spec_constant"), 1);
    // Nobody looks at the second load, the atomic's result, or what the barrier orders.
    let effects = "    32 %x = @load_spec_constant
    32 %l = @load_deref %pa
    32 %r = @deref_atomic %o, %b (atomic_op=iadd)
    32 %q = @deref_atomic %o, %b (atomic_op=iadd)
    @barrier (execution_scope=workgroup)
    @barrier (execution_scope=workgroup)
    @store_deref %o, %a (write_mask=x)
    @store_deref %o, %a (write_mask=x)";
    let module = after("cse,dce", shader(spec, effects));
    assert_eq!(count(&module, "@load_spec_constant"), 0);
    assert_eq!(count(&module, "@deref_atomic"), 2);
    assert_eq!(count(&module, "@barrier"), 2);
    assert_eq!(count(&module, "@store_deref"), 2);
}

/// F30: a pattern's inner instruction may be in another block than its root.
#[test]
fn patterns_match_over_use_def_chains() {
    let code = "    32 %n = ineg %a
    1 %c = ult %a, %b
  if %c {
    block t:
      32 %m = ineg %n
      @store_deref %o, %m (write_mask=x)
  } else {
    block e:
  }
  block z:";
    let module = after("algebraic,dce", shader("", code));
    assert_eq!(count(&module, "ineg"), 0, "{module}");
}

/// F44: each kind of deref defines a pointer; all but `var` step from a parent.
#[test]
fn derefs_of_every_kind() {
    let module = parsed(
        "decl_type S = struct { [f32x4; 4] rows, }
decl_var ssbo S &s (0, 0)
decl_function f()
impl f {
  32 %k = load_const (1)
  32 %var = deref_var &s
  32 %struct = deref_struct &(%var).0
  32 %array = deref_array &(%struct)[%k]
  32 %all = deref_wildcard &(%struct)[*]
  32 %cast = deref_cast &(%array) (ssbo f32x4, stride=16)
  32 %next = deref_ptr_as_array &(%cast)[%k]
}",
    );
    let f = &module.functions[0];
    let mut kinds = Vec::new();
    for instr in f.all_instrs() {
        let InstrView::Deref(info) = f.view(instr) else { continue };
        assert!(f.def(instr).is_some());
        let is_var = matches!(info.kind, DerefKind::Var(_));
        assert_eq!(f.srcs(instr).is_empty(), is_var);
        assert!(is_var || f.kind(f.src(instr, 0).instr()) == InstrKind::Deref);
        kinds.push(std::mem::discriminant(&info.kind));
    }
    kinds.dedup();
    assert_eq!(kinds.len(), 6);
}

/// F46 to F49: modes are a field of the deref, a mask where the variable is not known; a cast's survive what follows it,
/// and carrying them takes no instruction.
#[test]
fn modes_are_carried_by_derefs() {
    let module = parsed(
        "decl_function f(ptr(ssbo|shared, u32) p)
impl f {
  32 %p = @load_param
  32 %k = load_const (1)
  32 %c = deref_cast &(%p) (ssbo|shared [u32; 4])
  32 %e = deref_array &(%c)[%k]
  @store_deref %e, %k (write_mask=x)
}",
    );
    let before = module.functions[0].all_instrs().count();
    let module = after("copy_prop,cse,dce", module);
    let f = &module.functions[0];
    assert_eq!(f.all_instrs().count(), before, "nothing is there for the modes' sake");
    let element = f
        .all_instrs()
        .filter_map(|i| f.deref(i))
        .find(|d| d.kind == DerefKind::Array)
        .expect("it is stored to");
    assert_eq!(element.modes, Modes::SSBO | Modes::SHARED);
    assert!(element.modes.may_be(Modes::SHARED) && element.modes.may_be(Modes::SSBO));
    assert!(!element.modes.must_be(Modes::SHARED) && !element.modes.may_be(Modes::PRIVATE));
    assert!(element.modes.must_be(Modes::SSBO | Modes::SHARED));
}

/// F31, on the modules that are here in binary and on random ones; the line A 8 measures it on the package corpora.
#[test]
fn bytes_an_instruction_are_bounded() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples");
    let files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let binaries = files.filter(|path| path.extension().is_some_and(|e| e == "spv"));
    let words = |path| -> Vec<u32> {
        let bytes = std::fs::read(path).unwrap();
        bytes.chunks_exact(4).map(|c| u32::from_le_bytes(c.try_into().unwrap())).collect()
    };
    let read = |words: Vec<u32>| deburr_spirv::read(&words, &Default::default()).unwrap();
    let random =
        (0..20).map(|seed| parse(&program(seed, &Programs::default()).to_string()).unwrap());
    let (mut bytes, mut instrs, mut modules) = (0, 0, 0);
    for module in binaries.map(words).map(read).chain(random) {
        for f in module.functions.iter().filter(|f| f.has_body()) {
            bytes += f.arena_bytes();
            instrs += f.instr_count();
        }
        modules += 1;
    }
    assert!(modules >= 25, "{modules} modules");
    assert!(bytes <= 96 * instrs, "{} bytes an instruction", bytes as f64 / instrs as f64);
}
