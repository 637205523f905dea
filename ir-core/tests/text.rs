//! The text of the IR (F38): what is printed parses back, and the parser survives anything.

use deburr_ir_core::{Module, parse};

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
