// Quantised matrix times vector: int8 weights with a scale and zero point a row, int8 activations, int32 accumulation,
// requantisation with a fixed-point multiplier and round-half-away shift (as in gemmlowp), clamped to int8 and packed.
//
// Bindings: 0 uniform Params; 1 weights, four a word, rows x words; 2 activations, four a word; 3 per row (bias,
// multiplier, shift, zero point); 4 accumulators; 5 outputs, four a word.
// Dispatch: ceil(rows / 16) groups of 64; four lanes a row.
// deburr-run: groups=3,1,1 0.0=1*u32(48)+1*u32(13)+1*i32(-5)+1*i32(3) 0.1=624*bits 0.2=13*bits 0.3=192*u32(0..1073741824) 0.4=48*zero:out 0.5=12*zero:out

struct Params {
    rows: u32,  // a multiple of 4
    words: u32, // words a row
    input_zero: i32,
    output_zero: i32,
}

struct Row {
    bias: i32,
    multiplier: i32,
    shift: u32,
    zero: i32,
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> weights: array<u32>;
@group(0) @binding(2) var<storage, read> activations: array<u32>;
@group(0) @binding(3) var<storage, read> table: array<Row>;
@group(0) @binding(4) var<storage, read_write> accumulators: array<i32>;
@group(0) @binding(5) var<storage, read_write> outputs: array<u32>;

var<workgroup> dots: array<i32, 64>;
var<workgroup> weight_sums: array<i32, 64>;
var<workgroup> activation_sums: array<i32, 64>;
var<workgroup> results: array<i32, 16>;

fn unpack(word: u32) -> vec4<i32> {
    let w = i32(word);
    return vec4<i32>(w << 24u, w << 16u, w << 8u, w) >> vec4<u32>(24u);
}

// The high word of 2 a b, rounded.
fn doubling_high(a: i32, b: i32) -> i32 {
    // 16-bit halves: the language has no 64-bit integers.
    let a_low = a & 0xffff;
    let a_high = a >> 16u;
    let b_low = b & 0xffff;
    let b_high = b >> 16u;
    let low = u32(a_low) * u32(b_low);
    let middle1 = a_high * b_low;
    let middle2 = a_low * b_high;
    let carry = (low >> 16u) + (u32(middle1) & 0xffffu) + (u32(middle2) & 0xffffu);
    let high = a_high * b_high + (middle1 >> 16u) + (middle2 >> 16u) + i32(carry >> 16u);
    let low_word = (carry << 16u) | (low & 0xffffu);
    // (high:low_word * 2 + 2^31) >> 32
    let doubled_high = (high << 1u) | i32(low_word >> 31u);
    let doubled_low = low_word << 1u;
    return doubled_high + i32(doubled_low >> 31u);
}

fn rounding_shift(x: i32, by: u32) -> i32 {
    let mask = (1i << by) - 1;
    let remainder = x & mask;
    let threshold = (mask >> 1u) + select(0, 1, x < 0);
    return (x >> by) + select(0, 1, remainder > threshold);
}

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
    let local_row = lane >> 2u;
    let part = lane & 3u;
    let row = group.x * 16u + local_row;

    var product = vec4<i32>(0);
    var weight_sum = vec4<i32>(0);
    var activation_sum = vec4<i32>(0);
    if (row < params.rows) {
        for (var i = part; i < params.words; i += 4u) {
            let w = unpack(weights[row * params.words + i]);
            let x = unpack(activations[i]);
            product += w * x;
            weight_sum += w;
            activation_sum += x;
        }
    }
    dots[lane] = product.x + product.y + product.z + product.w;
    weight_sums[lane] = weight_sum.x + weight_sum.y + weight_sum.z + weight_sum.w;
    activation_sums[lane] = activation_sum.x + activation_sum.y + activation_sum.z + activation_sum.w;
    workgroupBarrier();

    if (part == 0u && row < params.rows) {
        let settings = table[row];
        let zero = (settings.zero & 0xff) - 128;
        var dot_sum = 0;
        var w_sum = 0;
        var x_sum = 0;
        for (var i = 0u; i < 4u; i++) {
            dot_sum += dots[lane + i];
            w_sum += weight_sums[lane + i];
            x_sum += activation_sums[lane + i];
        }
        // sum (w - zw)(x - zx) = sum wx - zw sum x - zx sum w + n zw zx.
        let count = i32(4u * params.words);
        let sum = dot_sum - zero * x_sum - params.input_zero * w_sum + count * zero * params.input_zero;
        let accumulator = sum + ((settings.bias & 0xffff) - 32768);
        accumulators[row] = accumulator;
        let scaled = rounding_shift(doubling_high(accumulator, settings.multiplier), settings.shift & 15u);
        results[local_row] = clamp(scaled + params.output_zero, -128, 127);
    }
    workgroupBarrier();

    if (lane < 4u && group.x * 16u + 4u * lane < params.rows) {
        var word = 0u;
        for (var i = 0u; i < 4u; i++) {
            word |= (u32(results[4u * lane + i]) & 0xffu) << (8u * i);
        }
        outputs[group.x * 4u + lane] = word;
    }
}
