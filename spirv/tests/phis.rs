//! Values that phis see under another type than they are computed in.

use deburr_spirv::{ReadOptions, WriteOptions, read, write};

/// A float that two integer phis take before it stands in the text: both name one cast, which is written beside it.
#[test]
fn phis_before_a_value_name_one_cast_of_it() {
    let text = "deburr_ir 1
decl_env spirv 1 3 Logical GLSL450
decl_capability Shader
shader compute \"main\" entry(main) LocalSize(1, 1, 1)
decl_function helper(u32 a) -> u32
decl_function main()

impl helper {
  block b0:
    1 %0 = load_const (false)
    32 %1 = load_const (0x0)
    32 %2 = @load_param (param_idx=0)
  loop {
    block b1:
      32 %3 = phi b0: %2, b11: %5
    if %0 {
      block b2:
        break
    } else {
      block b3:
    }
    block b4:
    loop {
      block b5:
        32 %4 = phi b4: %3, b9: %5
        32 %5 = fdiv %1, %4
      if %0 {
        block b6:
          break
      } else {
        block b7:
      }
      block b8:
    } continue {
      block b9:
    }
    block b10:
  } continue {
    block b11:
  }
  block b12:
  if %0 {
    block b13:
      return %3
  } else {
    block b14:
  }
  block b15:
    return %3
}

impl main {
  block b0:
}
";
    let module = deburr_ir_core::parse(text).expect("it is IR");
    let words = write(&module, &WriteOptions::default()).expect("it can be written");
    read(&words, &ReadOptions::default()).expect("what is written can be read");
}
