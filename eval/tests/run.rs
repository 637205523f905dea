//! The interpreter on small shaders: values that a person can check by hand.

use deburr_eval::{Buffer, Dispatch, Trap, run};
use deburr_ir_core::{Module, parse};

/// A shader of one workgroup that reads `in` and writes `out`; `code` has `%in` and `%out`, pointers to their words.
fn shader(size: u32, declarations: &str, code: &str) -> Module {
    let text = format!(
        "shader compute \"main\" entry(main) LocalSize({size}, 1, 1)
decl_type Words = struct(Block) {{ [u32; *, stride=4] data (offset=0), }}
decl_var ssbo Words &in (0, 0)
decl_var ssbo Words &out (0, 1)
decl_var in builtin(LocalInvocationIndex) u32 &index
{declarations}
decl_function main()
impl main {{
  decl_var function ptr(ssbo, u32) &kept
  block b0:
    32 %bi = deref_var &in
    32 %in = deref_struct &(%bi).0
    32 %bo = deref_var &out
    32 %out = deref_struct &(%bo).0
    32 %pi = deref_var &index
    32 %i = @load_deref %pi
{code}
}}
"
    );
    parse(&text).unwrap_or_else(|errors| panic!("{text}\n{errors:?}"))
}

fn words(module: &Module, input: &[u32], output: usize) -> Result<Vec<u32>, Trap> {
    let mut dispatch = Dispatch::default();
    let bytes = |words: &[u32]| words.iter().flat_map(|w| w.to_le_bytes()).collect::<Vec<u8>>();
    let buffer = |binding, bytes| Buffer { set: 0, binding, element: 0, bytes };
    dispatch.buffers = vec![buffer(0, bytes(input)), buffer(1, bytes(&vec![0; output]))];
    dispatch.fuel = 100_000;
    let outcome = run(module, &dispatch)?;
    assert!(!outcome.free_control);
    let bytes = &outcome.buffers[1].buffer.bytes;
    Ok(bytes.chunks_exact(4).map(|w| u32::from_le_bytes([w[0], w[1], w[2], w[3]])).collect())
}

#[test]
fn each_invocation_stores_its_own_word() {
    let m = shader(
        4,
        "",
        "    32 %a = deref_array &(%in)[%i]
    32 %v = @load_deref %a
    32 %s = imul %v, %v
    32 %o = deref_array &(%out)[%i]
    @store_deref %o, %s (write_mask=x)",
    );
    assert_eq!(words(&m, &[1, 2, 3, 65_536], 4), Ok(vec![1, 4, 9, 0]));
}

#[test]
fn a_loop_runs_until_its_break() {
    // The sum of the numbers below the one that is read.
    let m = shader(
        1,
        "",
        "    32 %a = deref_array &(%in)[%i]
    32 %n = @load_deref %a
    32 %zero = load_const (0)
    32 %one = load_const (1)
    loop {
      block b1:
        32 %k = phi b0: %zero, b5: %next
        32 %sum = phi b0: %zero, b5: %more
        1 %done = uge %k, %n
        if %done {
          block b2:
            break
        } else {
          block b3:
        }
      block b4:
        32 %more = iadd %sum, %k
    } continue {
      block b5:
        32 %next = iadd %k, %one
    }
  block b6:
    32 %o = deref_array &(%out)[%i]
    @store_deref %o, %sum (write_mask=x)",
    );
    assert_eq!(words(&m, &[10], 1), Ok(vec![45]));
    assert_eq!(words(&m, &[0], 1), Ok(vec![0]));
    assert_eq!(words(&m, &[1_000_000], 1), Err(Trap::Fuel));
}

#[test]
fn a_barrier_orders_shared_memory() {
    // Every invocation hands its word to the one before it.
    let m = shader(
        4,
        "decl_var shared [u32; 4] &tile",
        "    32 %a = deref_array &(%in)[%i]
    32 %v = @load_deref %a
    32 %t = deref_var &tile
    32 %own = deref_array &(%t)[%i]
    @store_deref %own, %v (write_mask=x)
    @barrier (execution_scope=workgroup, memory_scope=workgroup, memory_semantics=acquire|release, memory_modes=shared)
    32 %one = load_const (1)
    32 %three = load_const (3)
    32 %n = iadd %i, %one
    32 %next = iand %n, %three
    32 %other = deref_array &(%t)[%next]
    32 %w = @load_deref %other
    32 %o = deref_array &(%out)[%i]
    @store_deref %o, %w (write_mask=x)",
    );
    assert_eq!(words(&m, &[10, 20, 30, 40], 4), Ok(vec![20, 30, 40, 10]));
}

#[test]
fn shared_blocks_are_one_memory() {
    let m = shader(
        1,
        "decl_type A = struct(Block) { u32 x (offset=0), }
decl_type B = struct(Block) { u32 y (offset=0), u32 z (offset=4), }
decl_var shared u32 &apart
decl_var shared A &a
decl_var shared B &b",
        "    32 %p = deref_array &(%in)[%i]
    32 %v = @load_deref %p
    32 %one = load_const (1)
    32 %w = iadd %v, %one
    32 %va = deref_var &a
    32 %x = deref_struct &(%va).0
    32 %vb = deref_var &b
    32 %y = deref_struct &(%vb).0
    32 %z = deref_struct &(%vb).1
    32 %other = deref_var &apart
    @store_deref %x, %v (write_mask=x)
    @store_deref %z, %w (write_mask=x)
    @store_deref %other, %one (write_mask=x)
    32 %read = @load_deref %y
    32 %behind = @load_deref %z
    32 %sum = iadd %read, %behind
    32 %o = deref_array &(%out)[%i]
    @store_deref %o, %sum (write_mask=x)",
    );
    assert_eq!(words(&m, &[20], 1), Ok(vec![41]));
}

#[test]
fn a_barrier_that_some_never_reach_is_told() {
    let m = shader(
        2,
        "",
        "    32 %zero = load_const (0)
    1 %first = ieq %i, %zero
    if %first {
      block b1:
        @barrier (execution_scope=workgroup, memory_scope=workgroup, memory_semantics=acquire|release, memory_modes=shared)
    } else {
      block b2:
    }
  block b3:",
    );
    assert_eq!(words(&m, &[0], 1), Err(Trap::Barrier));
}

#[test]
fn what_is_out_of_bounds_reads_zero_and_stores_nothing() {
    let m = shader(
        1,
        "",
        "    32 %far = load_const (1000)
    32 %a = deref_array &(%in)[%far]
    32 %v = @load_deref %a
    32 %b = deref_array &(%out)[%far]
    @store_deref %b, %far (write_mask=x)
    32 %o = deref_array &(%out)[%i]
    @store_deref %o, %v (write_mask=x)",
    );
    assert_eq!(words(&m, &[7], 1), Ok(vec![0]));
}

#[test]
fn atomics_pass_on_what_is_free() {
    // A NaN that arithmetic gave: exchanged it stays one, added to a word its payload is any.
    let cases = [
        ("32 %r = @deref_atomic %a, %n (atomic_op=xchg)", 0, 15),
        ("32 %r = @deref_atomic %a, %n (atomic_op=fadd)", 0, 15),
        ("32 %r = @deref_atomic %a, %n (atomic_op=iadd)", 15, 0),
        ("32 %r = @deref_atomic %a, %i (atomic_op=iadd)", 0, 0),
        ("32 %r = @deref_atomic_swap %a, %n, %i (atomic_op=cmpxchg)", 15, 0),
        ("32 %r = @deref_atomic_swap %a, %i, %n (atomic_op=cmpxchg)", 0, 15),
    ];
    for (code, free, nan) in cases {
        let m = shader(
            1,
            "",
            &format!(
                "    32 %x = deref_array &(%in)[%i]
    32 %v = @load_deref %x
    32 %n = fadd %v, %v
    32 %a = deref_array &(%out)[%i]
    {code}"
            ),
        );
        let buffer = |binding, word: u32| Buffer {
            set: 0,
            binding,
            element: 0,
            bytes: word.to_le_bytes().to_vec(),
        };
        let mut dispatch = Dispatch::default();
        dispatch.buffers = vec![buffer(0, 0x7fc0_0000), buffer(1, 0)];
        dispatch.fuel = 1000;
        let outcome = run(&m, &dispatch).unwrap_or_else(|e| panic!("{code}: {e:?}"));
        let bits = |bytes: &[bool]| bytes.iter().rev().fold(0, |acc, &b| acc << 1 | u32::from(b));
        let out = &outcome.buffers[1];
        assert_eq!((bits(&out.free), bits(&out.nan)), (free, nan), "{code}");
    }
}

#[test]
fn the_other_order_tells_a_race() {
    // All store to the first word, or each to its own.
    let code = |to: &str| {
        shader(
            4,
            "",
            &format!(
                "    32 %zero = load_const (0)
    32 %o = deref_array &(%out)[{to}]
    @store_deref %o, %i (write_mask=x)"
            ),
        )
    };
    let in_order = |module: &Module, reverse| {
        let mut dispatch = Dispatch::default();
        let buffer = |binding| Buffer { set: 0, binding, element: 0, bytes: vec![0; 16] };
        dispatch.buffers = vec![buffer(0), buffer(1)];
        dispatch.reverse = reverse;
        run(module, &dispatch).expect("nothing in it traps").buffers[1].buffer.bytes.clone()
    };
    let (race, own) = (code("%zero"), code("%i"));
    assert_eq!((in_order(&race, false)[0], in_order(&race, true)[0]), (3, 0));
    assert_eq!(in_order(&own, false), in_order(&own, true));
}

#[test]
fn a_pointer_in_memory_keeps_its_object() {
    // The pointer to a word of the second buffer goes through a local; a store through it must not meet the first.
    let m = shader(
        1,
        "",
        "    32 %o = deref_array &(%out)[%i]
    32 %l = deref_var &kept
    @store_deref %l, %o (write_mask=x)
    32 %p = @load_deref %l
    32 %c = deref_cast &(%p) (ssbo u32)
    32 %seven = load_const (7)
    @store_deref %c, %seven (write_mask=x)",
    );
    assert_eq!(words(&m, &[1], 1), Ok(vec![7]));
}
