// FFT of 256 complex points, forward or inverse: four radix-4 Stockham passes through workgroup memory, autosort,
// no bit reversal. One group a transform; a window and the power spectrum go with it.
//
// Bindings: 0 uniform (inverse, windowed, 0, 0); 1 input, 256 complex a transform; 2 output; 3 power spectrum.
// Dispatch: one group of 64 a transform; an invocation does one butterfly of four a pass.
// deburr-run: groups=2,1,1 0.0=1*u32(0)+1*u32(1)+2*zero 0.1=1024*f32(-1..1) 0.2=1024*zero:out 0.3=512*zero:out

@group(0) @binding(0) var<uniform> params: vec4<u32>;
@group(0) @binding(1) var<storage, read> input: array<vec2<f32>>;
@group(0) @binding(2) var<storage, read_write> output: array<vec2<f32>>;
@group(0) @binding(3) var<storage, read_write> power: array<f32>;

const POINTS: u32 = 256u;
const TAU: f32 = 6.2831855;
var<workgroup> real_part: array<f32, POINTS>;
var<workgroup> imaginary_part: array<f32, POINTS>;

fn multiply(a: vec2<f32>, b: vec2<f32>) -> vec2<f32> {
    return vec2<f32>(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x);
}

fn turn(angle: f32) -> vec2<f32> {
    return vec2<f32>(cos(angle), sin(angle));
}

// A quarter turn, backward for the forward transform.
fn quarter(v: vec2<f32>, direction: f32) -> vec2<f32> {
    return vec2<f32>(-direction * v.y, direction * v.x);
}

// Blackman-Harris, four terms.
fn window(index: u32) -> f32 {
    let phase = TAU * f32(index) / f32(POINTS);
    return 0.35875 - 0.48829 * cos(phase) + 0.14128 * cos(2.0 * phase) - 0.01168 * cos(3.0 * phase);
}

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
    let base = group.x * POINTS;
    let direction = select(-1.0, 1.0, params.x != 0u);
    var v: array<vec2<f32>, 4>;
    for (var i = 0u; i < 4u; i++) {
        let index = lane + 64u * i;
        v[i] = input[base + index];
        if (params.y != 0u) {
            v[i] *= window(index);
        }
    }

    for (var span = 1u; span < POINTS; span <<= 2u) {
        let k = lane & (span - 1u);
        let angle = direction * TAU * f32(k) / f32(span * 4u);
        let w1 = turn(angle);
        let w2 = multiply(w1, w1);
        let w3 = multiply(w2, w1);
        let t1 = multiply(v[1], w1);
        let t2 = multiply(v[2], w2);
        let t3 = multiply(v[3], w3);
        let even_sum = v[0] + t2;
        let even_difference = v[0] - t2;
        let odd_sum = t1 + t3;
        let odd_difference = quarter(t1 - t3, direction);
        v[0] = even_sum + odd_sum;
        v[1] = even_difference + odd_difference;
        v[2] = even_sum - odd_sum;
        v[3] = even_difference - odd_difference;

        if (span < 64u) {
            let target_index = ((lane - k) << 2u) + k;
            workgroupBarrier();
            for (var i = 0u; i < 4u; i++) {
                real_part[target_index + i * span] = v[i].x;
                imaginary_part[target_index + i * span] = v[i].y;
            }
            workgroupBarrier();
            for (var i = 0u; i < 4u; i++) {
                v[i] = vec2<f32>(real_part[lane + 64u * i], imaginary_part[lane + 64u * i]);
            }
        }
    }

    let scale = select(1.0, 1.0 / f32(POINTS), params.x != 0u);
    for (var i = 0u; i < 4u; i++) {
        let result = v[i] * scale;
        output[base + lane + 64u * i] = result;
        power[base + lane + 64u * i] = dot(result, result);
    }
}
