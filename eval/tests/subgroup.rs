//! Subgroup operations against what a loop over the active invocations gives.

use deburr_eval::{Buffer, Dispatch, Outcome, Trap, run};
use deburr_ir_core::parse;

/// Invocations of the workgroup: a full subgroup and one of four.
const COUNT: u32 = 12;
/// Invocations of a subgroup.
const SIZE: u32 = 8;
/// What each invocation reads as `%v`.
const INPUT: [u32; COUNT as usize] = [5, 3, 9, 3, 0, 0xffff_fff0, 7, 1, 40, 41, 2, 41];

/// Runs `code`, which has `%i`, the number of the invocation in its workgroup, `%lane`, that in its subgroup, and `%v`,
/// its input, and leaves `%r`, 32 bits, or several words by `@store_deref` to `%out`.
fn outcome(code: &str, store: &str) -> Result<Outcome, Trap> {
    let text = format!(
        "shader compute \"main\" entry(main) LocalSize({COUNT}, 1, 1)
decl_type Words = struct(Block) {{ [u32; *, stride=4] data (offset=0), }}
decl_var ssbo Words &in (0, 0)
decl_var ssbo Words &out (0, 1)
decl_var in builtin(LocalInvocationIndex) u32 &index
decl_var in builtin(SubgroupLocalInvocationId) u32 &lane
decl_function main()
decl_function count(u32 value) -> u32
impl count {{
  block b0:
    32 %value = @load_param
    32 %n = @reduce %value (reduction_op=iadd)
    return %n
}}
impl main {{
  block b0:
    32 %bi = deref_var &in
    32 %in = deref_struct &(%bi).0
    32 %bo = deref_var &out
    32 %out = deref_struct &(%bo).0
    32 %pi = deref_var &index
    32 %i = @load_deref %pi
    32 %pl = deref_var &lane
    32 %lane = @load_deref %pl
    32 %a = deref_array &(%in)[%i]
    32 %v = @load_deref %a
    32 %zero = load_const (0)
    32 %one = load_const (1)
    32 %two = load_const (2)
    32 %four = load_const (4)
    32 %o = deref_array &(%out)[%i]
{code}
{store}
}}
"
    );
    let module = parse(&text).unwrap_or_else(|errors| panic!("{text}\n{errors:?}"));
    let mut dispatch = Dispatch::default();
    let bytes = INPUT.iter().flat_map(|w| w.to_le_bytes()).collect();
    let buffer = |binding, bytes| Buffer { set: 0, binding, element: 0, bytes };
    dispatch.buffers = vec![buffer(0, bytes), buffer(1, vec![0; 4 * COUNT as usize])];
    dispatch.subgroup_size = SIZE;
    dispatch.fuel = 100_000;
    run(&module, &dispatch)
}

/// The word that each invocation leaves in `%r`; `None` where it is free.
fn words(code: &str) -> Vec<Option<u32>> {
    let outcome = outcome(code, "    @store_deref %o, %r (write_mask=x)")
        .unwrap_or_else(|trap| panic!("{code}\n{trap}"));
    let out = &outcome.buffers[1];
    let word = |w: &[u8]| u32::from_le_bytes([w[0], w[1], w[2], w[3]]);
    out.buffer
        .bytes
        .chunks_exact(4)
        .zip(out.free.chunks_exact(4))
        .map(|(w, free)| (!free[0]).then(|| word(w)))
        .collect()
}

/// Checks `code` for every invocation: `expected` is given the invocation's number in its subgroup and the inputs of
/// its subgroup.
fn check(code: &str, expected: impl Fn(usize, &[u32]) -> Option<u32>) {
    let found = words(code);
    for (n, found) in found.into_iter().enumerate() {
        let subgroup =
            INPUT.chunks(SIZE as usize).nth(n / SIZE as usize).expect("as many as words");
        assert_eq!(found, expected(n % SIZE as usize, subgroup), "invocation {n}\n{code}");
    }
}

/// The ballot of the odd inputs, as the two tests below and the code make it.
fn odd(inputs: &[u32]) -> u32 {
    inputs.iter().enumerate().fold(0, |bits, (n, v)| bits | (v & 1) << n)
}

const ODD: &str = "    32 %low = iand %v, %one
    1 %odd = ine %low, %zero
    32x4 %ballot = @ballot %odd";

#[test]
fn votes() {
    let vote = |op: &str| format!("{ODD}\n    1 %t = @{op}\n    32 %r = b2i32 %t");
    check(&vote("vote_any %odd"), |_, inputs| Some(inputs.iter().any(|v| v & 1 == 1).into()));
    check(&vote("vote_all %odd"), |_, inputs| Some(inputs.iter().all(|v| v & 1 == 1).into()));
    check(&vote("vote_ieq %v"), |_, _| Some(0));
    check(&vote("vote_ieq %four"), |_, _| Some(1));
    check(&vote("elect"), |n, _| Some((n == 0).into()));
    let float = |value: &str| {
        format!("    32 %k = load_const ({value})\n    1 %t = @vote_feq %k\n    32 %r = b2i32 %t")
    };
    check(&float("0x3f800000"), |_, _| Some(1));
    check(&float("0x7fc00000"), |_, _| Some(0));
    // Zeros of both signs are equal as floats, and differ in their bits.
    let zeros = |op: &str| {
        format!(
            "{ODD}
    32 %minus = load_const (0x80000000)
    32 %z = bcsel %odd, %zero, %minus
    1 %t = @{op} %z
    32 %r = b2i32 %t"
        )
    };
    check(&zeros("vote_feq"), |_, _| Some(1));
    check(&zeros("vote_ieq"), |_, _| Some(0));
    check("    32 %r = @first_invocation", |_, _| Some(0));
    check("    32 %r = @last_invocation", |_, inputs| Some(inputs.len() as u32 - 1));
}

#[test]
fn ballots() {
    let of = |op: &str| format!("{ODD}\n    32 %r = @{op} %ballot");
    check(&format!("{ODD}\n    32 %r = mov %ballot.x"), |_, inputs| Some(odd(inputs)));
    check(&format!("{ODD}\n    32 %r = mov %ballot.y"), |_, _| Some(0));
    check(&of("ballot_bit_count_reduce"), |_, inputs| Some(odd(inputs).count_ones()));
    check(&of("ballot_bit_count_inclusive"), |n, inputs| {
        Some((odd(inputs) & ((2 << n) - 1)).count_ones())
    });
    check(&of("ballot_bit_count_exclusive"), |n, inputs| {
        Some((odd(inputs) & ((1 << n) - 1)).count_ones())
    });
    check(&of("ballot_find_lsb"), |_, inputs| Some(odd(inputs).trailing_zeros()));
    check(&of("ballot_find_msb"), |_, inputs| Some(31 - odd(inputs).leading_zeros()));
    // Bits from the subgroup's size on do not count; of none there is no lowest.
    let ones = "    32 %m = load_const (0xffffff00)\n    32x4 %b = vec4 %m, %m, %m, %m\n";
    check(&format!("{ones}    32 %r = @ballot_bit_count_reduce %b"), |_, _| Some(0));
    check(&format!("{ones}    32 %r = @ballot_find_lsb %b"), |_, _| None);
    check(&format!("{ones}    32 %r = @ballot_find_msb %b"), |_, _| None);
    let bit = |op: &str| format!("{ODD}\n    1 %t = @{op}\n    32 %r = b2i32 %t");
    check(&bit("inverse_ballot %ballot"), |n, inputs| Some(odd(inputs) >> n & 1));
    check(&bit("ballot_bitfield_extract %ballot, %four"), |_, inputs| Some(odd(inputs) >> 4 & 1));
    check(&bit("ballot_bitfield_extract %ballot, %v"), |n, inputs| {
        (inputs[n] < SIZE).then(|| odd(inputs) >> inputs[n] & 1)
    });
}

/// The input of another invocation of the subgroup, if it is there.
fn at(inputs: &[u32], n: Option<usize>) -> Option<u32> {
    inputs.get(n?).copied()
}

#[test]
fn shuffles() {
    check("    32 %r = @read_first_invocation %v", |_, inputs| Some(inputs[0]));
    check("    32 %r = @read_invocation %v, %two", |_, inputs| Some(inputs[2]));
    check("    32 %r = @shuffle %v, %v", |n, inputs| at(inputs, Some(inputs[n] as usize)));
    check("    32 %r = @shuffle_xor %v, %two", |n, inputs| at(inputs, Some(n ^ 2)));
    check("    32 %r = @shuffle_up %v, %two", |n, inputs| at(inputs, n.checked_sub(2)));
    check("    32 %r = @shuffle_up %v, %v", |n, inputs| {
        at(inputs, n.checked_sub(inputs[n] as usize))
    });
    check("    32 %r = @shuffle_down %v, %two", |n, inputs| at(inputs, Some(n + 2)));
    // A count that wraps around is no way to a lane that is there.
    check("    32 %r = @shuffle_down %v, %v", |n, inputs| at(inputs, Some(n + inputs[n] as usize)));
    let rotate = |cluster: u32| {
        format!("    32 %r = @rotate %v, %v (execution_scope=subgroup, cluster_size={cluster})")
    };
    check(&rotate(0), |n, inputs| at(inputs, Some((n + inputs[n] as usize) % 8)));
    check(&rotate(4), |n, inputs| at(inputs, Some((n & !3) + (n + inputs[n] as usize) % 4)));
    // Several components at once.
    check(
        "    32x2 %p = vec2 %v, %lane
    32x2 %q = @shuffle_xor %p, %one
    32 %r = mov %q.y",
        |n, _| Some(n as u32 ^ 1),
    );
}

#[test]
fn quads() {
    check("    32 %r = @quad_broadcast %v, %two", |n, inputs| at(inputs, Some((n & !3) + 2)));
    check("    32 %r = @quad_broadcast %v, %v", |n, inputs| {
        at(inputs, Some((n & !3) + inputs[n] as usize).filter(|_| inputs[n] < 4))
    });
    check("    32 %r = @quad_swap_horizontal %v", |n, inputs| at(inputs, Some(n ^ 1)));
    check("    32 %r = @quad_swap_vertical %v", |n, inputs| at(inputs, Some(n ^ 2)));
    check("    32 %r = @quad_swap_diagonal %v", |n, inputs| at(inputs, Some(n ^ 3)));
}

/// Name, identity and meaning of the reductions of integers.
type Reduction = (&'static str, u32, fn(u32, u32) -> u32);

const INTEGERS: [Reduction; 9] = [
    ("iadd", 0, u32::wrapping_add),
    ("imul", 1, u32::wrapping_mul),
    ("imin", i32::MAX as u32, |a, b| (a as i32).min(b as i32) as u32),
    ("umin", u32::MAX, |a, b| a.min(b)),
    ("imax", i32::MIN as u32, |a, b| (a as i32).max(b as i32) as u32),
    ("umax", 0, |a, b| a.max(b)),
    ("iand", u32::MAX, |a, b| a & b),
    ("ior", 0, |a, b| a | b),
    ("ixor", 0, |a, b| a ^ b),
];

#[test]
fn integer_reductions() {
    for (name, identity, op) in INTEGERS {
        let of = |inputs: &[u32]| Some(inputs.iter().copied().fold(identity, op));
        let code =
            |op: &str, more: &str| format!("    32 %r = @{op} %v (reduction_op={name}{more})");
        check(&code("reduce", ""), |_, inputs| of(inputs));
        for cluster in [1, 2, 4, 8] {
            check(&code("reduce", &format!(", cluster_size={cluster}")), |n, inputs| {
                of(inputs.chunks(cluster).nth(n / cluster)?)
            });
        }
        check(&code("inclusive_scan", ""), |n, inputs| of(&inputs[..=n]));
        check(&code("exclusive_scan", ""), |n, inputs| of(&inputs[..n]));
    }
}

#[test]
fn small_and_large_reductions() {
    // At 8 bits, sign-extended, and at 64, high word.
    for (name, op) in
        [("imin", i8::min as fn(i8, i8) -> i8), ("imax", i8::max), ("iadd", i8::wrapping_add)]
    {
        let code = format!(
            "    8 %n = u2u8 %v\n    8 %s = @reduce %n (reduction_op={name})\n    32 %r = i2i32 %s"
        );
        check(&code, |_, inputs| {
            inputs.iter().map(|&v| v as i8).reduce(op).map(|v| i32::from(v) as u32)
        });
    }
    let code = "    64 %n = pack_64_2x32_split %zero, %v
    64 %s = @exclusive_scan %n (reduction_op=umax)
    32 %r = unpack_64_2x32_split_y %s";
    check(code, |n, inputs| Some(inputs[..n].iter().copied().max().unwrap_or(0)));
    for (name, op) in
        [("iand", bool::min as fn(bool, bool) -> bool), ("ior", bool::max), ("ixor", |a, b| a != b)]
    {
        let code = format!(
            "{ODD}\n    1 %t = @reduce %odd (reduction_op={name}, cluster_size=2)\n    32 %r = b2i32 %t"
        );
        check(&code, |n, inputs| {
            inputs.chunks(2).nth(n / 2)?.iter().map(|v| v & 1 == 1).reduce(op).map(u32::from)
        });
    }
}

#[test]
fn float_reductions() {
    type Op = fn(f32, f32) -> f32;
    let ops: [(&str, f32, Op); 4] = [
        ("fadd", 0.0, |a, b| a + b),
        ("fmul", 1.0, |a, b| a * b),
        ("fmin", f32::INFINITY, f32::min),
        ("fmax", f32::NEG_INFINITY, f32::max),
    ];
    for (name, identity, op) in ops {
        let code = |scan: &str| {
            format!("    32 %f = u2f32 %v\n    32 %r = @{scan} %f (reduction_op={name})")
        };
        let of = |inputs: &[u32]| {
            let floats = inputs.iter().map(|&v| v as f32);
            Some(floats.reduce(op).unwrap_or(identity).to_bits())
        };
        check(&code("reduce"), |_, inputs| of(inputs));
        check(&code("inclusive_scan"), |n, inputs| of(&inputs[..=n]));
        check(&code("exclusive_scan"), |n, inputs| of(&inputs[..n]));
    }
    // The half 1.5 eight or four times.
    check(
        "    16 %h = load_const (0x3e00)
    16 %s = @reduce %h (reduction_op=fadd)
    32 %r = u2u32 %s",
        |_, inputs| Some(if inputs.len() == 8 { 0x4a00 } else { 0x4600 }),
    );
}

#[test]
fn inactive_invocations_take_no_part() {
    // Those with an odd input add theirs up, the others theirs; both then meet again.
    let code = format!(
        "{ODD}
    if %odd {{
      block b1:
        32 %x = @reduce %v (reduction_op=iadd)
        32 %other = @shuffle_xor %v, %one
    }} else {{
      block b2:
        32 %y = @reduce %v (reduction_op=iadd)
    }}
  block b3:
    32 %s = phi b1: %x, b2: %y
    32 %t = phi b1: %other, b2: %zero
    32 %all = @reduce %one (reduction_op=iadd)"
    );
    let sum = |inputs: &[u32], parity| {
        inputs.iter().filter(|&&v| v & 1 == parity).fold(0, |s: u32, &v| s.wrapping_add(v))
    };
    check(&format!("{code}\n    32 %r = mov %s"), |n, inputs| Some(sum(inputs, inputs[n] & 1)));
    check(&format!("{code}\n    32 %r = mov %all"), |_, inputs| Some(inputs.len() as u32));
    check(&format!("{code}\n    32 %r = mov %t"), |n, inputs| match inputs[n] & 1 {
        0 => Some(0),
        _ => at(inputs, Some(n ^ 1)).filter(|v| v & 1 == 1),
    });
}

#[test]
fn whoever_is_ahead_waits_for_the_others() {
    // Only the higher half does the first operation, so that the lower half comes to the second one first.
    let code = "    1 %high = uge %lane, %two
    if %high {
      block b1:
        32 %x = @reduce %one (reduction_op=iadd)
    } else {
      block b2:
    }
  block b3:
    32 %r = @reduce %one (reduction_op=iadd)";
    check(code, |_, inputs| Some(inputs.len() as u32));
}

#[test]
fn rounds_of_a_loop_are_apart() {
    // Round k counts those whose number is below k, up to four rounds: in round k that are k, or as many as there are.
    let code = "    loop {
      block b1:
        32 %k = phi b0: %zero, b6: %next
        32 %sum = phi b0: %zero, b6: %more
        1 %done = uge %k, %four
        if %done {
          block b2:
            break
        } else {
          block b3:
        }
      block b7:
        1 %in_time = ult %lane, %k
        if %in_time {
          block b4:
            32 %n = @reduce %one (reduction_op=iadd)
        } else {
          block b5:
        }
      block b8:
        32 %m = phi b4: %n, b5: %zero
        32 %more = iadd %sum, %m
    } continue {
      block b6:
        32 %next = iadd %k, %one
    }
  block b9:
    32 %r = mov %sum";
    check(code, |n, _| Some((n as u32 + 1..4).sum()));
}

#[test]
fn calls_are_apart() {
    // The first two invocations call twice, the others once, and all meet in the second call.
    let code = |result: &str| {
        format!(
            "    1 %low = ult %lane, %two
    if %low {{
      block b1:
        32 %x = call count(%one)
    }} else {{
      block b2:
    }}
  block b3:
    32 %first = phi b1: %x, b2: %zero
    32 %second = call count(%one)
    32 %r = mov {result}"
        )
    };
    check(&code("%first"), |n, _| Some(if n < 2 { 2 } else { 0 }));
    check(&code("%second"), |_, inputs| Some(inputs.len() as u32));
}

#[test]
fn what_goes_beyond_the_subgroup_is_told() {
    let code = "    32 %r = @rotate %v, %one (execution_scope=workgroup)";
    let trap = outcome(code, "").expect_err("no rotation of a workgroup");
    assert!(matches!(trap, Trap::Unsupported(_)), "{trap}");
}
