//! The text of the IR (F38): what is printed parses back, and the parser survives anything.

use deburr_ir_core::{Dialects, Module, SerializeOptions, parse, validate};

/// A text in the form that the printer gives it.
const CANONICAL: &str = r#"deburr_ir 1
decl_env spirv 1 5 Logical "Vulkan/3"
decl_capability Shader
decl_capability Int8
decl_extension SPV_KHR_storage_buffer_storage_class
shader compute "main\n\"x\"" entry(main) LocalSize(8, $size, 1) interface(&buf, &v1)
shader fragment "fs" entry(f2) OriginUpperLeft
decl_type Light = struct {
  f32x4 pos (offset=0),
  mat(f32x3, 3) (offset=16, matrix_stride=16, row_major, NonWritable),
}
decl_type Buf = struct(Block) {
  u32 n (offset=0, Foo(1, 2)),
  [Light; *, stride=64] "a b" (offset=16),
}
decl_type t2 = image(f32, 2d, depth=2, array, sampled=1, format=Unknown)
decl_type t3 = struct "x y" { }
decl_type t4 = forward_ptr(global, Node, stride=16)
decl_type Node = struct {
  t4 next (offset=0),
}
decl_spec u32 $size (3) = 0x8
decl_spec bool $s1 = 0x1
decl_spec Constant u32x3 $wg = {$size, 0x1, null}
decl_spec u32 $s3 = op IAdd(u32 $size, u32 0x4, #7)
decl_var ssbo NonWritable Coherent Buf &buf (0, 1)
decl_var out builtin(Position) f32x4 &v1
decl_var private [f32; $size] &table (3) = {0x1, undef, {}, &buf, (0x1, 0x2), {null}}
decl_var uniform "odd one"(4) sampled_image(t2) &v3 "v3" (1, 0)
decl_var private t3 &empty
decl_var private t4 &head
decl_function main(f32 x, ptr(function, f32) : 32x2, f32x4) -> f32 y control(0x1) float(rounding16=rtz, denorm32=flush)
decl_function ext()
decl_function f2 "main"()

impl main {
  decl_var function [[u32; 4]; 2] &l0 = null
  block b0:
    32 %0:a = load_const (0x3f800000 = 1.0)
    1 %1 = load_const (true)
    16x2 %2:"b c" = load_const (0x3c00 = 1.0, 0xffff = -1)
    64 %3 = undef
    32 %4 = deref_var &buf (ssbo Buf)
    32 %5 = deref_struct &(%4).1 (ssbo [Light; *, stride=64])  // &buf.1
    32 %6 = deref_array &(%5)[%0] (ssbo Light, in_bounds)  // &buf.1[1065353216]
    32 %7 = deref_struct &(%6).0 (ssbo f32x4)  // &buf.1[1065353216].pos
    32 %8 = deref_var &l0 (function [[u32; 4]; 2])
    32 %9 = deref_wildcard &(%8)[*] (function [u32; 4])  // &l0[*]
    32 %10 = deref_cast &(%3) (ssbo|shared u32, stride=4, non_uniform, access=0x10)
    32 %11 = deref_ptr_as_array &(%10)[%0] (ssbo|shared u32)  // (u32*)%3[1065353216]
    32x4 %12 = tex.txl.relaxed texture_deref=%4, coord=%2, lod=%0 (dim=2d, array, dest=uint, component=2)
    call f2()
    32 %13 = call main(%0, %4, %12)
    parallel_copy %0 = %1, %2 = %3
  if %1 {
    block b1:
  } else {
    block b2:
      32 %14 = undef
      return %14
  }
  block b3:
  loop {
    block b4:
      32 %15 = phi.nsz b3: %0, b10: %16
      32 %16 = phi b3: %15, b10: %16
    once {
      block b5:
        break
    }
    block b6:
    if %1 {
      block b7:
        break
    } else {
      block b8:
    }
    block b9:
      continue
  } continue {
    block b10:
  }
  block b11:
  loop {
    block b12:
  }
  block b13:
}

impl f2 {
  block b0:
    halt
}
"#;

#[track_caller]
fn parsed(text: &str) -> Module {
    match parse(text) {
        Ok(module) => module,
        Err(errors) => panic!("{}", errors.iter().map(|e| format!("{e}\n")).collect::<String>()),
    }
}

#[test]
fn canonical_text_stays() {
    let module = parsed(CANONICAL);
    let printed = module.to_string();
    for (printed, expected) in printed.lines().zip(CANONICAL.lines()) {
        assert_eq!(printed, expected);
    }
    assert_eq!(printed.lines().count(), CANONICAL.lines().count());
    let again = parsed(&module.to_string());
    assert_eq!(again.to_string(), module.to_string());
}

#[test]
fn what_parses_equals_itself_printed() {
    let module = parsed(CANONICAL);
    assert_eq!(parsed(&module.to_string()), module);
    assert_eq!(module.clone(), module);
}

/// Each of these differs from the canonical text in one field of the IR.
const CHANGES: &[(&str, &str)] = &[
    ("spirv 1 5", "spirv 1 4"),
    ("Logical", "PhysicalStorageBuffer64"),
    ("Int8", "Int16"),
    ("SPV_KHR_storage_buffer_storage_class", "SPV_KHR_ray_query"),
    ("shader compute", "shader vertex"),
    ("\"fs\"", "\"gs\""),
    ("entry(f2)", "entry(ext)"),
    ("LocalSize(8", "LocalSize(4"),
    ("LocalSize(8, $size", "LocalSize(8, 1"),
    ("interface(&buf, &v1)", "interface(&v1, &buf)"),
    ("f32x4 pos", "f32x3 pos"),
    ("f32x4 pos", "f32x4 position"),
    ("matrix_stride=16, row_major", "matrix_stride=16"),
    ("matrix_stride=16", "matrix_stride=32"),
    ("NonWritable)", "NonReadable)"),
    ("struct(Block)", "struct(BufferBlock)"),
    ("Foo(1, 2)", "Foo(1, 3)"),
    ("stride=64", "stride=32"),
    ("depth=2", "depth=1"),
    ("sampled=1", "sampled=2"),
    ("format=Unknown", "format=R32f"),
    ("\"x y\"", "\"x z\""),
    ("(3) = 0x8", "(4) = 0x8"),
    ("(3) = 0x8", "(3) = 0x9"),
    ("bool $s1 = 0x1", "bool $s1 = 0x0"),
    ("0x1, null}", "0x2, null}"),
    ("op IAdd", "op ISub"),
    ("#7", "#8"),
    ("NonWritable Coherent", "NonWritable"),
    ("&buf (0, 1)", "&buf (0, 2)"),
    ("&buf (0, 1)", "&buf (1, 1)"),
    ("builtin(Position)", "builtin(PointSize)"),
    ("&table (3)", "&table (4)"),
    ("undef, {}", "null, {}"),
    ("float(rounding16=rtz, denorm32=flush)", "float(rounding16=rtz)"),
    ("rounding16=rtz", "rounding16=rte"),
    ("control(0x1)", "control(0x2)"),
    ("main(f32 x", "main(f32 z"),
    (": 32x2", ": 32x3"),
    ("-> f32 y", "-> f32 z"),
    ("&l0 = null", "&l0 = undef"),
    ("%0:a", "%0:b"),
    ("0x3f800000", "0x3f800001"),
    ("load_const (true)", "load_const (false)"),
    ("16x2 %2", "32x2 %2"),
    (" 64 %3", " 32 %3"),
    ("&(%4).1", "&(%4).0"),
    ("ssbo Light, in_bounds", "ssbo Light"),
    ("(function [u32; 4])", "(private [u32; 4])"),
    ("stride=4, non_uniform", "stride=8, non_uniform"),
    ("access=0x10", "access=0x20"),
    ("deref_ptr_as_array", "deref_array"),
    ("tex.txl", "tex.txb"),
    ("txl.relaxed", "txl"),
    ("coord=%2", "coord=%1"),
    ("lod=%0", "bias=%0"),
    ("dest=uint", "dest=int"),
    ("component=2", "component=3"),
    ("(dim=2d, array", "(dim=2d"),
    ("dim=2d, array", "dim=3d, array"),
    ("call f2()", "call ext()"),
    ("main(%0, %4, %12)", "main(%0, %3, %12)"),
    ("%0 = %1, %2 = %3", "%0 = %1, %2 = %0"),
    ("if %1 {", "if %0 {"),
    ("return %14", "return %13"),
    ("phi.nsz", "phi"),
    ("b10: %16\n", "b10: %15\n"),
    ("once {", "loop {"),
    ("    halt", "    return"),
];

#[test]
fn each_field_shows_in_the_text_and_in_equality() {
    let module = parsed(CANONICAL);
    for (old, new) in CHANGES {
        assert!(CANONICAL.contains(old), "{old}");
        let changed = parsed(&CANONICAL.replacen(old, new, 1));
        assert_ne!(changed, module, "{old} -> {new}");
        assert_ne!(changed.to_string(), module.to_string(), "{old} -> {new}");
        // The bytes carry it too.
        let bytes = changed.to_bytes(&SerializeOptions::default());
        let read = Module::from_bytes(&bytes, Dialects::default());
        assert_eq!(read.as_ref(), Ok(&changed), "{old} -> {new}");
    }
}

#[test]
fn compaction_keeps_all() {
    let module = parsed(CANONICAL);
    let mut compact = module.clone();
    compact.functions.iter_mut().for_each(deburr_ir_core::Function::compact);
    assert_eq!(compact, module);
    assert_eq!(compact.to_string(), module.to_string());
}

#[test]
fn names_are_stripped_from_bytes() {
    let mut module = parsed(CANONICAL);
    let all = module.to_bytes(&SerializeOptions::default());
    let bytes = module.to_bytes(&SerializeOptions::stripped());
    assert!(bytes.len() < all.len());
    let read = Module::from_bytes(&bytes, Dialects::default());
    assert_ne!(read.as_ref(), Ok(&module));
    module.strip_names();
    assert_eq!(read, Ok(module));
}

/// Errors name the place.
#[test]
fn errors_have_line_and_column() {
    let cases = [
        (
            "decl_function f()\nimpl f {\n  32 %0 = nonsense %0\n}\n",
            "3:11: no instruction is called `nonsense`",
        ),
        ("decl_function f()\nimpl f { 32 %0 = ineg %1 }", "2:23: this value is defined nowhere"),
        ("decl_function f()\nimpl f { 32x7 %0 = undef }", "2:10: no value has the shape `32x7`"),
        ("decl_function f()\nimpl f { if %x { ", "2:18: expected `}`, found the end of the text"),
        ("decl_var ssbo Foo &x", "1:15: no type is called `Foo`"),
        ("shader compute \"a\" entry(g)", "1:26: no function is called `g`"),
        ("deburr_ir 2", "1:11: this reads version 1 of the text, not 2"),
        (
            "decl_function f()\nimpl f { 8 %0 = load_const (256) }",
            "2:29: this does not fit into 8 bits",
        ),
        (
            "decl_function f()\nimpl f { 32 %0 = undef 32 %1 = iadd %0 }",
            "2:32: `iadd` has 2 sources",
        ),
        ("ä \"", "1:1: expected a declaration, found `ä`"),
    ];
    for (text, expected) in cases {
        let errors = parse(text).expect_err(text);
        let first = errors[0].to_string();
        assert!(first.starts_with(expected), "{text}\n{first}\n{expected}");
    }
}

/// Texts and bytes changed at random end in errors or in modules, and the validator can say which (F38, F73).
#[test]
fn damage_is_survived() {
    let module = parsed(CANONICAL);
    let bytes = module.to_bytes(&SerializeOptions::default());
    let mut state = 1u64;
    let mut random = move |n: usize| {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((state >> 33) % n as u64) as usize
    };
    let words: Vec<&str> = CANONICAL.split_whitespace().collect();
    let (mut accepted, mut read) = (0, 0);
    for _ in 0..1500 {
        let mut text = CANONICAL.as_bytes().to_vec();
        for _ in 0..1 + random(3) {
            let at = random(text.len());
            match random(4) {
                0 => text[at] = b"(){}[]%&$,.=:0 9axb\"\n-"[random(22)],
                1 => {
                    text.remove(at);
                }
                2 => text.truncate(text.len() - random(40)),
                _ => {
                    text.splice(at..at, words[random(words.len())].bytes());
                }
            }
        }
        if let Ok(module) = parse(&String::from_utf8_lossy(&text)) {
            accepted += 1;
            let _ = validate(&module);
            assert_eq!(parsed(&module.to_string()), module);
        }
        let mut damaged = bytes.clone();
        for _ in 0..1 + random(3) {
            let at = random(damaged.len());
            damaged[at] = random(256) as u8;
        }
        if let Ok(module) = Module::from_bytes(&damaged, Dialects::default()) {
            read += 1;
            let _ = validate(&module);
        }
    }
    assert!(accepted > 50 && read > 50, "the damage is too large to tell: {accepted}, {read}");
}

/// Depth costs no stack: a hundred thousand ifs within each other, and loops, and types.
#[test]
fn depth_costs_no_stack() {
    let depth = 30_000;
    let text = format!(
        "decl_function f()\nimpl f {{ 1 %c = load_const (true) {} {} }}",
        "if %c { ".repeat(depth),
        "} ".repeat(depth)
    );
    let module = parsed(&text);
    let again = parsed(&module.to_string());
    assert!(again == module);
    assert_eq!(validate(&module), Ok(()));
    let bytes = module.to_bytes(&SerializeOptions::default());
    assert!(Module::from_bytes(&bytes, Dialects::default()) == Ok(module));
    assert!(parse(&format!("decl_type T = {}f32", "[".repeat(100_000))).is_err());
    assert!(parse(&format!("decl_spec f32 $s = {}", "{".repeat(100_000))).is_err());
}
