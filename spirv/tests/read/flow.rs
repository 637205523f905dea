//! Control flow: selections, loops, switches.

use super::*;

#[test]
fn selection_with_phi() {
    check_flow(
        r"
        %c = OpULessThan %bool %a %n2
        OpSelectionMerge %join None
        OpBranchConditional %c %yes_ %no_
        %yes_ = OpLabel
        %b = OpIAdd %u32 %a %n1
        OpBranch %join
        %no_ = OpLabel
        OpBranch %join
        %join = OpLabel
        %d = OpPhi %u32 %b %yes_ %n3 %no_
        OpStore %out %d
        OpReturn",
        expect![[r#"
            impl f0 {
              block b0:
                32 %0 = deref_var &v0 (ssbo t1)
                32 %1 = load_const (0x0)
                32 %2 = load_const (0x1)
                32 %3 = load_const (0x2)
                32 %4 = load_const (0x3)
                32 %5 = deref_struct &(%0).0 (ssbo [u32; *, stride=4])  // &v0.0
                32 %6 = deref_array &(%5)[%1] (ssbo u32)  // &v0.0[0]
                32 %7 = deref_struct &(%0).0 (ssbo [u32; *, stride=4])  // &v0.0
                32 %8 = deref_array &(%7)[%2] (ssbo u32)  // &v0.0[1]
                32 %9 = @load_deref %6
                1 %10 = ult %9, %3
              if %10 {
                block b1:
                  32 %11 = iadd %9, %2
              } else {
                block b2:
              }
              block b3:
                32 %12 = phi b1: %11, b2: %4
                @store_deref %8, %12 (write_mask=x)
            }
        "#]],
    );
}

#[test]
fn selection_without_else() {
    check_flow(
        r"
        %c = OpULessThan %bool %a %n2
        OpSelectionMerge %join None
        OpBranchConditional %c %then %join
        %then = OpLabel
        OpStore %out %a
        OpBranch %join
        %join = OpLabel
        %d = OpPhi %u32 %n1 %start %n2 %then
        OpStore %out %d
        OpReturn",
        expect![[r#"
            impl f0 {
              block b0:
                32 %0 = deref_var &v0 (ssbo t1)
                32 %1 = load_const (0x0)
                32 %2 = load_const (0x1)
                32 %3 = load_const (0x2)
                32 %4 = deref_struct &(%0).0 (ssbo [u32; *, stride=4])  // &v0.0
                32 %5 = deref_array &(%4)[%1] (ssbo u32)  // &v0.0[0]
                32 %6 = deref_struct &(%0).0 (ssbo [u32; *, stride=4])  // &v0.0
                32 %7 = deref_array &(%6)[%2] (ssbo u32)  // &v0.0[1]
                32 %8 = @load_deref %5
                1 %9 = ult %8, %3
              if %9 {
                block b1:
                  @store_deref %7, %8 (write_mask=x)
              } else {
                block b2:
              }
              block b3:
                32 %10 = phi b1: %3, b2: %2
                @store_deref %7, %10 (write_mask=x)
            }
        "#]],
    );
}

#[test]
fn loop_with_continue() {
    check_flow(
        r"
        OpBranch %head
        %head = OpLabel
        %i = OpPhi %u32 %n0 %start %next %cont
        OpLoopMerge %done %cont None
        OpBranch %test
        %test = OpLabel
        %c = OpULessThan %bool %i %a
        OpBranchConditional %c %body %done
        %body = OpLabel
        %odd = OpIEqual %bool %i %n3
        OpSelectionMerge %rest None
        OpBranchConditional %odd %skip %rest
        %skip = OpLabel
        OpBranch %cont
        %rest = OpLabel
        OpStore %out %i
        OpBranch %cont
        %cont = OpLabel
        %next = OpIAdd %u32 %i %n1
        OpBranch %head
        %done = OpLabel
        OpReturn",
        expect![[r#"
            impl f0 {
              block b0:
                32 %0 = deref_var &v0 (ssbo t1)
                32 %1 = load_const (0x0)
                32 %2 = load_const (0x1)
                32 %3 = load_const (0x3)
                32 %4 = deref_struct &(%0).0 (ssbo [u32; *, stride=4])  // &v0.0
                32 %5 = deref_array &(%4)[%1] (ssbo u32)  // &v0.0[0]
                32 %6 = deref_struct &(%0).0 (ssbo [u32; *, stride=4])  // &v0.0
                32 %7 = deref_array &(%6)[%2] (ssbo u32)  // &v0.0[1]
                32 %8 = @load_deref %5
              loop {
                block b1:
                  32 %9 = phi b0: %1, b8: %12
                  1 %10 = ult %9, %8
                if %10 {
                  block b2:
                } else {
                  block b3:
                    break
                }
                block b4:
                  1 %11 = ieq %9, %3
                if %11 {
                  block b5:
                    continue
                } else {
                  block b6:
                }
                block b7:
                  @store_deref %7, %9 (write_mask=x)
              } continue {
                block b8:
                  32 %12 = iadd %9, %2
              }
              block b9:
            }
        "#]],
    );
}

#[test]
fn loop_that_tests_at_its_end() {
    check_flow(
        r"
        OpBranch %head
        %head = OpLabel
        %i = OpPhi %u32 %n0 %start %next %cont
        OpLoopMerge %done %cont None
        OpBranch %cont
        %cont = OpLabel
        %next = OpIAdd %u32 %i %n1
        %c = OpULessThan %bool %next %a
        OpBranchConditional %c %head %done
        %done = OpLabel
        OpStore %out %next
        OpReturn",
        expect![[r#"
            impl f0 {
              block b0:
                32 %0 = deref_var &v0 (ssbo t1)
                32 %1 = load_const (0x0)
                32 %2 = load_const (0x1)
                32 %3 = deref_struct &(%0).0 (ssbo [u32; *, stride=4])  // &v0.0
                32 %4 = deref_array &(%3)[%1] (ssbo u32)  // &v0.0[0]
                32 %5 = deref_struct &(%0).0 (ssbo [u32; *, stride=4])  // &v0.0
                32 %6 = deref_array &(%5)[%2] (ssbo u32)  // &v0.0[1]
                32 %7 = @load_deref %4
              loop {
                block b1:
                  32 %8 = phi b0: %1, b5: %9
                  32 %9 = iadd %8, %2
                  1 %10 = ult %9, %7
                if %10 {
                  block b2:
                } else {
                  block b3:
                    break
                }
                block b4:
              } continue {
                block b5:
              }
              block b6:
                @store_deref %6, %9 (write_mask=x)
            }
        "#]],
    );
}

#[test]
fn loop_that_tests_at_its_end_with_an_early_continue() {
    check_flow(
        r"
        OpBranch %head
        %head = OpLabel
        %i = OpPhi %u32 %n0 %start %next %cont
        OpLoopMerge %done %cont None
        OpBranch %body
        %body = OpLabel
        %odd = OpIEqual %bool %i %n3
        OpSelectionMerge %rest None
        OpBranchConditional %odd %cont %rest
        %rest = OpLabel
        %five = OpIEqual %bool %i %n2
        OpBranchConditional %five %done %more
        %more = OpLabel
        OpStore %out %i
        OpBranch %cont
        %cont = OpLabel
        %next = OpIAdd %u32 %i %n1
        %c = OpULessThan %bool %next %a
        OpBranchConditional %c %head %done
        %done = OpLabel
        %last = OpPhi %u32 %i %rest %next %cont
        OpStore %out %last
        OpReturn",
        expect![[r#"
            impl f0 {
              block b0:
                32 %0 = undef
                32 %1 = deref_var &v0 (ssbo t1)
                32 %2 = load_const (0x0)
                32 %3 = load_const (0x1)
                32 %4 = load_const (0x3)
                32 %5 = load_const (0x2)
                1 %6 = load_const (true)
                1 %7 = load_const (false)
                32 %8 = deref_struct &(%1).0 (ssbo [u32; *, stride=4])  // &v0.0
                32 %9 = deref_array &(%8)[%2] (ssbo u32)  // &v0.0[0]
                32 %10 = deref_struct &(%1).0 (ssbo [u32; *, stride=4])  // &v0.0
                32 %11 = deref_array &(%10)[%3] (ssbo u32)  // &v0.0[1]
                32 %12 = @load_deref %9
              loop {
                block b1:
                  32 %13 = phi b0: %2, b16: %19
                  32 %14 = phi b0: %0, b16: %18
                once {
                  block b2:
                    1 %15 = ieq %13, %4
                  if %15 {
                    block b3:
                      break
                  } else {
                    block b4:
                  }
                  block b5:
                    1 %16 = ieq %13, %5
                  if %16 {
                    block b6:
                      break
                  } else {
                    block b7:
                  }
                  block b8:
                    @store_deref %11, %13 (write_mask=x)
                }
                block b9:
                  1 %17 = phi b3: %7, b6: %6, b8: %7
                  32 %18 = phi b3: %14, b6: %13, b8: %14
                if %17 {
                  block b10:
                    break
                } else {
                  block b11:
                }
                block b12:
                  32 %19 = iadd %13, %3
                  1 %20 = ult %19, %12
                if %20 {
                  block b13:
                } else {
                  block b14:
                    break
                }
                block b15:
              } continue {
                block b16:
              }
              block b17:
                32 %21 = phi b10: %18, b14: %19
                @store_deref %11, %21 (write_mask=x)
            }
        "#]],
    );
}

#[test]
fn switch_as_a_ladder() {
    check_flow(
        r"
        OpSelectionMerge %join None
        OpSwitch %a %other 1 %one 2 %two 7 %one
        %one = OpLabel
        OpBranch %join
        %two = OpLabel
        OpBranch %join
        %other = OpLabel
        OpBranch %join
        %join = OpLabel
        %d = OpPhi %u32 %n1 %one %n2 %two %n3 %other
        OpStore %out %d
        OpReturn",
        expect![[r#"
            impl f0 {
              block b0:
                32 %0 = deref_var &v0 (ssbo t1)
                32 %1 = load_const (0x0)
                32 %2 = load_const (0x1)
                32 %3 = load_const (0x7)
                32 %4 = load_const (0x2)
                32 %5 = load_const (0x3)
                32 %6 = deref_struct &(%0).0 (ssbo [u32; *, stride=4])  // &v0.0
                32 %7 = deref_array &(%6)[%1] (ssbo u32)  // &v0.0[0]
                32 %8 = deref_struct &(%0).0 (ssbo [u32; *, stride=4])  // &v0.0
                32 %9 = deref_array &(%8)[%2] (ssbo u32)  // &v0.0[1]
                32 %10 = @load_deref %7
                1 %11 = ieq %10, %2
                1 %12 = ieq %10, %3
                1 %13 = ior %11, %12
              if %13 {
                block b1:
              } else {
                block b2:
                  1 %14 = ieq %10, %4
                if %14 {
                  block b3:
                } else {
                  block b4:
                }
                block b5:
                  32 %15 = phi b3: %4, b4: %5
              }
              block b6:
                32 %16 = phi b1: %2, b5: %15
                @store_deref %9, %16 (write_mask=x)
            }
        "#]],
    );
}

#[test]
fn switch_that_falls_through() {
    check_flow(
        r"
        OpSelectionMerge %join None
        OpSwitch %a %join 1 %one 2 %two
        %one = OpLabel
        %b = OpIAdd %u32 %a %n3
        OpBranch %two
        %two = OpLabel
        %e = OpPhi %u32 %a %start %b %one
        OpBranch %join
        %join = OpLabel
        %d = OpPhi %u32 %n1 %start %e %two
        OpStore %out %d
        OpReturn",
        expect![[r#"
            impl f0 {
              block b0:
                32 %0 = deref_var &v0 (ssbo t1)
                32 %1 = load_const (0x0)
                32 %2 = load_const (0x1)
                32 %3 = load_const (0x2)
                32 %4 = load_const (0x3)
                32 %5 = deref_struct &(%0).0 (ssbo [u32; *, stride=4])  // &v0.0
                32 %6 = deref_array &(%5)[%1] (ssbo u32)  // &v0.0[0]
                32 %7 = deref_struct &(%0).0 (ssbo [u32; *, stride=4])  // &v0.0
                32 %8 = deref_array &(%7)[%2] (ssbo u32)  // &v0.0[1]
                32 %9 = @load_deref %6
                1 %10 = ieq %9, %2
                1 %11 = ieq %9, %3
                1 %12 = ior %10, %11
              if %12 {
                block b1:
                  1 %13 = ieq %9, %2
                if %13 {
                  block b2:
                    32 %14 = iadd %9, %4
                } else {
                  block b3:
                }
                block b4:
                  32 %15 = phi b2: %14, b3: %9
              } else {
                block b5:
              }
              block b6:
                32 %16 = phi b4: %15, b5: %2
                @store_deref %8, %16 (write_mask=x)
            }
        "#]],
    );
}

#[test]
fn switch_that_breaks_early_and_leaves_a_loop() {
    check_flow(
        r"
        OpBranch %head
        %head = OpLabel
        OpLoopMerge %done %cont None
        OpBranch %body
        %body = OpLabel
        %v = OpLoad %u32 %in
        OpSelectionMerge %join None
        OpSwitch %v %join 1 %one
        %one = OpLabel
        %w = OpLoad %u32 %in
        %c = OpIEqual %bool %w %n2
        OpSelectionMerge %rest None
        OpBranchConditional %c %leave %rest
        %leave = OpLabel
        OpBranch %done
        %rest = OpLabel
        %d = OpIEqual %bool %w %n3
        OpSelectionMerge %more None
        OpBranchConditional %d %join %more
        %more = OpLabel
        OpStore %out %w
        OpBranch %join
        %join = OpLabel
        OpStore %out %v
        OpBranch %cont
        %cont = OpLabel
        OpBranch %head
        %done = OpLabel
        OpStore %out %w
        OpReturn",
        expect![[r#"
            impl f0 {
              block b0:
                32 %0 = undef
                32 %1 = deref_var &v0 (ssbo t1)
                32 %2 = load_const (0x0)
                32 %3 = load_const (0x1)
                32 %4 = load_const (0x2)
                1 %5 = load_const (true)
                32 %6 = load_const (0x3)
                1 %7 = load_const (false)
                32 %8 = deref_struct &(%1).0 (ssbo [u32; *, stride=4])  // &v0.0
                32 %9 = deref_array &(%8)[%2] (ssbo u32)  // &v0.0[0]
                32 %10 = deref_struct &(%1).0 (ssbo [u32; *, stride=4])  // &v0.0
                32 %11 = deref_array &(%10)[%3] (ssbo u32)  // &v0.0[1]
                32 %12 = @load_deref %9
              loop {
                block b1:
                  32 %13 = phi b0: %0, b16: %21
                  32 %14 = @load_deref %9
                once {
                  block b2:
                    1 %15 = ieq %14, %3
                  if %15 {
                    block b3:
                      32 %16 = @load_deref %9
                      1 %17 = ieq %16, %4
                    if %17 {
                      block b4:
                        break
                    } else {
                      block b5:
                    }
                    block b6:
                      1 %18 = ieq %16, %6
                    if %18 {
                      block b7:
                        break
                    } else {
                      block b8:
                    }
                    block b9:
                      @store_deref %11, %16 (write_mask=x)
                  } else {
                    block b10:
                  }
                  block b11:
                    32 %19 = phi b9: %16, b10: %13
                }
                block b12:
                  1 %20 = phi b4: %5, b7: %7, b11: %7
                  32 %21 = phi b4: %16, b7: %16, b11: %19
                if %20 {
                  block b13:
                    break
                } else {
                  block b14:
                }
                block b15:
                  @store_deref %11, %14 (write_mask=x)
              } continue {
                block b16:
              }
              block b17:
                @store_deref %11, %21 (write_mask=x)
            }
        "#]],
    );
}

#[test]
fn phi_behind_a_switch_that_nothing_leaves_early() {
    check_flow(
        r"
        OpSelectionMerge %join None
        OpSwitch %a %default
        %default = OpLabel
        %b = OpIAdd %u32 %a %n1
        OpBranch %join
        %join = OpLabel
        %d = OpPhi %u32 %b %default
        OpStore %out %d
        OpReturn",
        expect![[r#"
            impl f0 {
              block b0:
                32 %0 = deref_var &v0 (ssbo t1)
                32 %1 = load_const (0x0)
                32 %2 = load_const (0x1)
                32 %3 = deref_struct &(%0).0 (ssbo [u32; *, stride=4])  // &v0.0
                32 %4 = deref_array &(%3)[%1] (ssbo u32)  // &v0.0[0]
                32 %5 = deref_struct &(%0).0 (ssbo [u32; *, stride=4])  // &v0.0
                32 %6 = deref_array &(%5)[%2] (ssbo u32)  // &v0.0[1]
                32 %7 = @load_deref %4
                32 %8 = iadd %7, %2
                @store_deref %6, %8 (write_mask=x)
            }
        "#]],
    );
}

#[test]
fn phi_in_a_continue_construct_that_tests() {
    check_flow(
        r"
        OpBranch %head
        %head = OpLabel
        %i = OpPhi %u32 %n0 %start %next %cont
        OpLoopMerge %done %cont None
        OpBranch %body
        %body = OpLabel
        %b = OpIAdd %u32 %i %n1
        OpBranch %cont
        %cont = OpLabel
        %next = OpPhi %u32 %b %body
        %c = OpULessThan %bool %next %a
        OpBranchConditional %c %head %done
        %done = OpLabel
        OpStore %out %next
        OpReturn",
        expect![[r#"
            impl f0 {
              block b0:
                32 %0 = deref_var &v0 (ssbo t1)
                32 %1 = load_const (0x0)
                32 %2 = load_const (0x1)
                32 %3 = deref_struct &(%0).0 (ssbo [u32; *, stride=4])  // &v0.0
                32 %4 = deref_array &(%3)[%1] (ssbo u32)  // &v0.0[0]
                32 %5 = deref_struct &(%0).0 (ssbo [u32; *, stride=4])  // &v0.0
                32 %6 = deref_array &(%5)[%2] (ssbo u32)  // &v0.0[1]
                32 %7 = @load_deref %4
              loop {
                block b1:
                  32 %8 = phi b0: %1, b5: %9
                  32 %9 = iadd %8, %2
                  1 %10 = ult %9, %7
                if %10 {
                  block b2:
                } else {
                  block b3:
                    break
                }
                block b4:
              } continue {
                block b5:
              }
              block b6:
                @store_deref %6, %9 (write_mask=x)
            }
        "#]],
    );
}
