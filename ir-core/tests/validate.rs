//! Every rule of the validator (F3, F7, F39) has a module that breaks it, and nothing else complains.

use deburr_ir_core::{
    AluOp, Builder, Constant, Cursor, EntryPoint, Func, Function, InstrInit, JumpKind, Modes,
    Module, Rule, Shape, SpecConst, SpecConstant, SpecValue, Stage, Type, TypeData, User, Var,
    Variable, parse, validate,
};
use std::collections::BTreeSet;

/// The rules that a module breaks.
fn broken(module: &Module) -> BTreeSet<Rule> {
    match validate(module) {
        Ok(()) => BTreeSet::new(),
        Err(errors) => {
            // Errors must be printable, whatever is wrong.
            errors.iter().for_each(|e| assert!(!e.to_string().is_empty()));
            errors.into_iter().map(|e| e.rule).collect()
        }
    }
}

#[track_caller]
fn parsed(text: &str) -> Module {
    match parse(text) {
        Ok(module) => module,
        Err(errors) => {
            panic!("{text}\n{}", errors.iter().map(|e| format!("{e}\n")).collect::<String>())
        }
    }
}

/// A module around the body of a function.
fn body(code: &str) -> Module {
    parsed(&format!(
        "decl_type S = struct {{ f32 a, }}\n\
         decl_var ssbo S &s (0, 0)\n\
         decl_var private [f32x4; 4] &p\n\
         decl_var uniform sampled_image(image(f32, 2d)) &t (0, 1)\n\
         decl_spec u32 $k = 3\n\
         decl_function f()\n\
         decl_function g(f32 x) -> f32\n\
         impl f {{ {code} }}\n"
    ))
}

/// Modules that break one rule each, from text.
const TEXTS: &[(Rule, &str)] = &[
    (Rule::Unreachable, "if %c { halt } else { halt } block b: 32 %0 = undef"),
    (Rule::JumpLast, "halt 1 %c = undef"),
    (Rule::JumpTarget, "break"),
    (Rule::JumpTarget, "once { continue }"),
    (Rule::JumpInContinue, "loop { } continue { halt }"),
    (Rule::Arity, "32 %0 = undef return %0"),
    (Rule::PhiFirst, "32 %0 = undef once { block b: } 32 %1 = ineg %0 32 %2 = phi b: %0"),
    (Rule::PhiPreds, "block a: 32 %0 = undef once { block b: } block c: 32 %1 = phi a: %0"),
    (Rule::PhiShape, "32 %0 = undef once { block b: } block c: 32x2 %1 = phi b: %0"),
    (Rule::Value, "64 %0 = @load_spec_constant (spec_constant=0)"),
    (Rule::Exists, "32 %0 = @load_spec_constant (spec_constant=1)"),
    (Rule::Dominance, "32 %0 = ineg %1 32 %1 = undef"),
    (Rule::Dominance, "1 %c = undef if %c { 32 %0 = undef } 32 %1 = ineg %0"),
    (Rule::Dominance, "if %c { } 1 %c = undef"),
    (Rule::Condition, "32 %c = undef if %c { }"),
    (Rule::Value, "32 %0 = deref_var &s @load_deref %0"),
    (Rule::Value, "32 %0 = deref_var &s 32 %1 = @store_deref %0, %0"),
    (Rule::BitSize, "16 %0 = undef 32 %1 = iadd %0, %0"),
    (Rule::BitSize, "16 %0 = undef 32 %1 = undef 32 %2 = iadd %0, %1"),
    (Rule::BitSize, "8 %0 = undef 8 %1 = fadd %0, %0"),
    (Rule::BitSize, "64 %0 = undef 32x2 %1 = unpack_64_2x32 %0 32 %2 = pack_64_2x32 %1"),
    (Rule::Components, "32 %0 = undef 32x3 %1 = vec2 %0, %0"),
    (Rule::Components, "32x2 %i = undef 32 %0 = deref_var &p 32 %1 = deref_array &(%0)[%i]"),
    (Rule::Swizzle, "32x2 %0 = undef 32 %1 = ineg %0.z"),
    (Rule::Flags, "32 %0 = undef 32 %1 = iadd.nsz %0, %0"),
    (Rule::Flags, "32 %0 = undef 1 %1 = flt.nnan %0, %0"),
    (Rule::Flags, "32 %0 = undef 32 %1 = fadd.nuw %0, %0"),
    (Rule::Flags, "32 %0 = undef.nsz"),
    (Rule::Flags, "32 %0 = undef 32 %1 = iadd.dom %0, %0"),
    (Rule::Deref, "32 %0 = undef 32 %1 = deref_array &(%0)[%0] (private f32x4)"),
    (Rule::Deref, "32 %0 = deref_var &p (shared [f32x4; 4])"),
    (Rule::Deref, "32 %i = undef 32 %0 = deref_var &p 32 %1 = deref_array &(%0)[%i] (private f32)"),
    (Rule::Deref, "32 %i = undef 32 %0 = deref_var &p 32 %1 = deref_array &(%0)[%i] (ssbo f32x4)"),
    (Rule::Deref, "32 %0 = deref_var &s 32 %1 = deref_struct &(%0).1 (ssbo f32)"),
    (
        Rule::DerefAccess,
        "32 %0 = deref_var &s 32 %1 = deref_struct &(%0).a 32x2 %2 = @load_deref %1",
    ),
    (Rule::DerefAccess, "32 %0 = load_const (0x0) 32 %1 = @load_deref %0"),
    (Rule::DerefAccess, "32 %0 = undef @store_deref %0, %0 (write_mask=x)"),
    (Rule::DerefAccess, "32 %0 = deref_var &s 32 %1 = undef @copy_deref %0, %1"),
    (Rule::DerefAccess, "32 %0 = undef 32 %1 = @deref_buffer_array_length %0"),
    (Rule::DerefAccess, "32 %0 = undef 32x4 %2 = tex.txs texture_deref=%0 (dim=2d)"),
    (Rule::DerefAccess, "32 %0 = deref_var &p 32 %1 = @load_deref %0"),
    (Rule::DerefAccess, "32 %0 = deref_var &p 32 %1 = undef @store_deref %0, %1 (write_mask=x)"),
    (
        Rule::Texture,
        "32 %0 = deref_var &t 32 %1 = undef 32x4 %2 = tex.txl texture_deref=%0, coord=%1, lod=%1 (dim=2d)",
    ),
    (
        Rule::Texture,
        "32 %0 = deref_var &t 32x4 %2 = tex.txs texture_deref=%0, texture_deref=%0 (dim=2d)",
    ),
    (Rule::Call, "16 %0 = undef 32 %1 = call g(%0)"),
    (Rule::Call, "32 %0 = undef 32x2 %1 = call g(%0)"),
    (Rule::Call, "32 %0 = undef call g(%0)"),
    (Rule::Arity, "32 %1 = call g()"),
    (Rule::Recursion, "call f()"),
    (Rule::Form, "32 %0 = undef parallel_copy %0 = %0"),
    (
        Rule::Index,
        "32 %0 = deref_var &s 32 %1 = deref_struct &(%0).a 32 %2 = @load_deref %1 (access=0x80000000)",
    ),
];

/// Whole modules.
const MODULES: &[(Rule, &str)] = &[
    (Rule::TypeParts, "decl_type T = vec([f32; 2], 2)"),
    (Rule::TypeParts, "decl_type T = mat(f32, 2)"),
    (Rule::TypeParts, "decl_type T = i24"),
    (Rule::VariableMode, "decl_var function f32 &x"),
    (Rule::VariableMode, "decl_var private|shared f32 &x"),
    (Rule::VariableMode, "decl_function f() impl f { decl_var private f32 &x }"),
    (Rule::SpecOrder, "decl_spec u32x2 $a = {$b, 0} decl_spec u32 $b = 0"),
    (Rule::EntryPoint, "shader compute \"m\" entry(f)\ndecl_function f()"),
    (Rule::EntryPoint, "shader compute \"m\" entry(f)\ndecl_function f(f32) impl f { }"),
    (
        Rule::EntryPoint,
        "shader compute \"m\" entry(f)\nshader compute \"m\" entry(f)\ndecl_function f() impl f { }",
    ),
    (
        Rule::Recursion,
        "decl_function f()\ndecl_function g()\nimpl f { call g() } impl g { call f() }",
    ),
    (Rule::Return, "decl_function f() -> f32\nimpl f { 16 %0 = undef return %0 }"),
    (Rule::Arity, "decl_function f() -> f32\nimpl f { return }"),
];

/// Modules that text can't say.
fn built() -> Vec<(Rule, Module)> {
    let with = |f: Function| {
        let mut m = Module::new();
        m.types.float(32);
        m.add_function(f);
        m
    };
    let mut cases = Vec::new();
    // Names of what does not exist.
    let mut m = Module::new();
    m.add_var(Variable::new("x", Modes::SHARED, Type::from_index(7)));
    cases.push((Rule::Exists, m));
    let mut m = Module::new();
    let ty = m.types.float(32);
    let mut var = Variable::new("x", Modes::PRIVATE, ty);
    var.init = Some(Constant::Spec(SpecConst::from_index(3)));
    m.add_var(var);
    cases.push((Rule::Exists, m));
    let mut m = Module::new();
    m.entry_points.push(EntryPoint {
        stage: Stage::Compute,
        name: "m".into(),
        function: Func::from_index(9),
        modes: vec![],
        interface: vec![],
    });
    cases.push((Rule::Exists, m));
    let mut m = Module::new();
    let ty = m.types.intern(TypeData::Int { bits: 32, signed: false });
    let value = SpecValue::Composite(vec![Constant::Address(Var::global(4))]);
    m.spec_consts.push(SpecConstant { name: String::new(), ty, value, decorations: vec![] });
    cases.push((Rule::Exists, m));
    let mut f = Function::new("f");
    Builder::at_end(&mut f).deref_var(Var::global(5), Modes::SHARED, Type::from_index(0));
    cases.push((Rule::Exists, with(f)));
    let mut f = Function::new("f");
    Builder::at_end(&mut f).call(Func::from_index(5), Shape::NONE, &[]);
    cases.push((Rule::Exists, with(f)));
    // Tables.
    let mut f = Function::new("f");
    let instr = f.create(InstrInit::Alu(AluOp(0x3fff)), Shape::new(1, 32).unwrap(), &[]);
    f.insert(instr, Cursor::BlockEnd(f.start_block()));
    cases.push((Rule::KnownOp, with(f)));
    // Shapes and values.
    let mut f = Function::new("f");
    let instr = f.create(InstrInit::Undef, Shape::NONE, &[]);
    f.insert(instr, Cursor::BlockEnd(f.start_block()));
    cases.push((Rule::Value, with(f)));
    let mut f = Function::new("f");
    Builder::at_end(&mut f).load_const(8, &[0x100]);
    cases.push((Rule::ConstantBits, with(f)));
    let mut f = Function::new("f");
    let mut b = Builder::at_end(&mut f);
    let one = b.imm_u32(1);
    let instr = f.create(InstrInit::Alu(AluOp::IADD), Shape::new(1, 32).unwrap(), &[one]);
    f.insert(instr, Cursor::After(one.instr()));
    cases.push((Rule::Arity, with(f)));
    // A source that was never placed, and one whose instruction was taken out.
    let mut f = Function::new("f");
    let loose = f.create(InstrInit::Undef, Shape::new(1, 32).unwrap(), &[]);
    Builder::at_end(&mut f).alu(AluOp::INEG, &[loose.def()]);
    cases.push((Rule::Source, with(f)));
    // A use that is no operand of anything in the tree.
    let mut f = Function::new("f");
    let one = Builder::at_end(&mut f).imm_u32(1);
    f.create(InstrInit::Alu(AluOp::INEG), Shape::new(1, 32).unwrap(), &[one]);
    cases.push((Rule::Uses, with(f)));
    // A jump put in as if it were an ordinary instruction: the edges don't know it.
    let mut f = Function::new("f");
    let condition = Builder::at_end(&mut f).imm_bool(true);
    let parts = f.insert_if(Cursor::BlockEnd(f.start_block()), condition);
    let jump = f.create(InstrInit::Jump(JumpKind::Halt), Shape::NONE, &[]);
    f.insert(jump, Cursor::BlockEnd(parts.then_block));
    cases.push((Rule::Edges, with(f)));
    cases
}

#[test]
fn each_rule_has_a_module_that_breaks_it_alone() {
    let mut cases: Vec<(Rule, String, Module)> = Vec::new();
    for (rule, code) in TEXTS {
        let code = match code.contains("%c") && !code.contains("%c = ") {
            true => format!("1 %c = load_const (true) {code}"),
            false => (*code).to_owned(),
        };
        let module = body(&code);
        cases.push((*rule, code, module));
    }
    cases.extend(MODULES.iter().map(|&(rule, text)| (rule, text.to_owned(), parsed(text))));
    cases.extend(built().into_iter().map(|(rule, module)| (rule, module.to_string(), module)));
    let mut wrong = String::new();
    for (rule, text, module) in &cases {
        if broken(module) != BTreeSet::from([*rule]) {
            wrong += &format!("{rule:?}: {text}\n");
            let errors = validate(module).err().unwrap_or_default();
            errors.iter().for_each(|e| wrong += &format!("    {e}\n"));
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
    let mut covered: BTreeSet<Rule> = cases.iter().map(|(rule, ..)| *rule).collect();
    // Only the library's own code can break these; its unit tests do.
    covered.extend([Rule::Tree, Rule::Placement]);
    let missing: Vec<&Rule> = Rule::ALL.iter().filter(|r| !covered.contains(r)).collect();
    assert!(missing.is_empty(), "no module breaks {missing:?}");
}

#[test]
fn shapes_that_values_have() {
    for bits in 0..=u8::MAX {
        for comps in 0..=u8::MAX {
            let want = matches!(bits, 1 | 8 | 16 | 32 | 64) && matches!(comps, 1..=5 | 8 | 16);
            assert_eq!(Shape::new(comps, bits).is_some(), want, "{bits}x{comps}");
            if let Some(shape) = Shape::new(comps, bits) {
                assert_eq!((shape.comps(), shape.bits()), (comps, bits));
            }
            let text = format!("decl_function f()\nimpl f {{ {bits}x{comps} %0 = undef }}");
            assert_eq!(parse(&text).is_ok(), want, "{text}");
        }
    }
}

#[test]
fn a_sound_module_is_silent() {
    let module = body(
        "32 %0 = deref_var &p 32 %1 = load_const (1) 32 %2 = deref_array &(%0)[%1]
         32x4 %3 = @load_deref %2 32x4 %4 = fadd.nnan.nsz.contract %3.wzyx, %3
         1 %5 = flt.nsz %4.x, %3.y
         once { block start0: } block start: loop { block head: 32 %6 = phi start: %1, cont: %7
           if %5 { break } else { }
         } continue { block cont: 32 %7 = iadd.nuw %6, %1 }
         block out: @store_deref %2, %4 (write_mask=x|w)",
    );
    assert_eq!(validate(&module), Ok(()));
}

/// F2: no type stands between a float op and an integer op.
#[test]
fn one_value_feeds_floats_and_integers() {
    let module = body("32 %0 = undef 32 %1 = fadd %0, %0 32 %2 = iadd %1, %0 1 %3 = flt %2, %1");
    assert_eq!(validate(&module), Ok(()));
}

/// F7: conditions of ifs are uses, and replacing all uses leaves none.
#[test]
fn replacing_all_uses_leaves_none() {
    let mut module =
        body("1 %0 = undef 1 %1 = load_const (true) 1 %2 = inot %0 if %0 { } 1 %3 = ior %0, %0");
    let f = &mut module.functions[0];
    let values: Vec<_> = f.all_instrs().map(|i| i.def()).collect();
    assert_eq!(f.uses(values[0]).count(), 4);
    assert_eq!(f.uses_at(values[0]).filter(|(user, _)| matches!(user, User::If(_))).count(), 1);
    f.replace_all_uses(values[0], values[1]);
    assert!(!f.is_used(values[0]));
    assert_eq!(f.uses(values[1]).count(), 4);
    assert_eq!(validate(&module), Ok(()));
}
