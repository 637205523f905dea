// Layer normalisation with residual input, affine part and GELU: mean and variance by Welford's method, merged over
// the lanes by Chan's formula (Chan, Golub, LeVeque 1979). One group a row.
//
// Bindings: 0 uniform Params; 1 input; 2 residual; 3 gamma; 4 beta; 5 output; 6 per row (mean, 1 / deviation).
// Dispatch: one group of 64 a row.
// deburr-run: groups=5,1,1 0.0=1*u32(5)+1*u32(200)+1*f32(0.00001)+1*u32(1) 0.1=1000*f32(-2..2) 0.2=1000*f32(-2..2) 0.3=200*f32(0.5..1.5) 0.4=200*f32(-0.5..0.5) 0.5=1000*zero:out 0.6=10*zero:out

struct Params {
    rows: u32,
    columns: u32,
    epsilon: f32,
    gelu: u32,
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> input: array<f32>;
@group(0) @binding(2) var<storage, read> residual: array<f32>;
@group(0) @binding(3) var<storage, read> gamma: array<f32>;
@group(0) @binding(4) var<storage, read> beta: array<f32>;
@group(0) @binding(5) var<storage, read_write> output: array<f32>;
@group(0) @binding(6) var<storage, read_write> moments: array<vec2<f32>>;

const LANES: u32 = 64u;

struct Moments {
    count: f32,
    mean: f32,
    m2: f32, // sum of squared distances from the mean
}

var<workgroup> partial: array<Moments, LANES>;

fn combine(a: Moments, b: Moments) -> Moments {
    let count = a.count + b.count;
    if (count == 0.0) {
        return a;
    }
    let delta = b.mean - a.mean;
    let share = b.count / count;
    return Moments(count, a.mean + delta * share, a.m2 + b.m2 + delta * delta * a.count * share);
}

// The tanh form.
fn gelu(x: f32) -> f32 {
    let inner = 0.7978846 * (x + 0.044715 * x * x * x);
    return 0.5 * x * (1.0 + tanh(clamp(inner, -10.0, 10.0)));
}

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
    let base = group.x * params.columns;
    var own = Moments(0.0, 0.0, 0.0);
    for (var column = lane; column < params.columns; column += LANES) {
        let x = input[base + column] + residual[base + column];
        own.count += 1.0;
        let delta = x - own.mean;
        own.mean += delta / own.count;
        own.m2 += delta * (x - own.mean);
    }
    partial[lane] = own;
    workgroupBarrier();

    for (var width = LANES / 2u; width > 0u; width >>= 1u) {
        if (lane < width) {
            partial[lane] = combine(partial[lane], partial[lane + width]);
        }
        workgroupBarrier();
    }

    let all = partial[0];
    let inverse = inverseSqrt(all.m2 / all.count + params.epsilon);
    for (var column = lane; column < params.columns; column += LANES) {
        let x = input[base + column] + residual[base + column];
        var y = (x - all.mean) * inverse * gamma[column] + beta[column];
        if (params.gelu != 0u) {
            y = gelu(y);
        }
        output[base + column] = y;
    }
    if (lane == 0u) {
        moments[group.x] = vec2<f32>(all.mean, inverse);
    }
}
