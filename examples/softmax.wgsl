// Softmax of each row with temperature, causal mask and cross entropy: one group a row; running maximum and sum in one
// pass (Milakov and Gimelshein 2018), merged through workgroup memory.
//
// Bindings: 0 uniform Params; 1 logits; 2 target column of each row; 3 probabilities; 4 per row (maximum, log-sum-exp,
// loss, entropy); 5 most probable column.
// Dispatch: one group of 64 a row.
// deburr-run: groups=6,1,1 0.0=1*u32(6)+1*u32(150)+1*u32(140)+1*f32(0.8) 0.1=900*f32(-6..6) 0.2=6*u32(0..140) 0.3=900*zero:out 0.4=24*zero:out 0.5=6*zero:out

struct Params {
    rows: u32,
    columns: u32,
    offset: u32, // row r sees columns up to r + offset
    temperature: f32,
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> logits: array<f32>;
@group(0) @binding(2) var<storage, read> targets: array<u32>;
@group(0) @binding(3) var<storage, read_write> probabilities: array<f32>;
@group(0) @binding(4) var<storage, read_write> statistics: array<vec4<f32>>;
@group(0) @binding(5) var<storage, read_write> best: array<u32>;

const LANES: u32 = 64u;
const LOWEST: f32 = -1.0e30;

// (maximum, sum of exp(x - maximum), sum of x exp(x - maximum))
var<workgroup> states: array<vec3<f32>, LANES>;
var<workgroup> indices: array<u32, LANES>;

fn merge(a: vec3<f32>, b: vec3<f32>) -> vec3<f32> {
    let top = max(a.x, b.x);
    let fa = exp(a.x - top);
    let fb = exp(b.x - top);
    return vec3<f32>(top, a.y * fa + b.y * fb, a.z * fa + b.z * fb);
}

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
    let row = group.x;
    let base = row * params.columns;
    let seen = min(params.columns, row + params.offset + 1u);
    let scale = 1.0 / params.temperature;

    var state = vec3<f32>(LOWEST, 0.0, 0.0);
    var index = 0u;
    for (var column = lane; column < seen; column += LANES) {
        let x = logits[base + column] * scale;
        if (x > state.x) {
            let shrink = exp(state.x - x);
            state = vec3<f32>(x, state.y * shrink + 1.0, state.z * shrink + x);
            index = column;
        } else {
            let e = exp(x - state.x);
            state += vec3<f32>(0.0, e, x * e);
        }
    }
    states[lane] = state;
    indices[lane] = index;
    workgroupBarrier();

    for (var width = LANES / 2u; width > 0u; width >>= 1u) {
        if (lane < width) {
            let a = states[lane];
            let b = states[lane + width];
            let i = indices[lane];
            let j = indices[lane + width];
            states[lane] = merge(a, b);
            indices[lane] = select(i, j, b.x > a.x || (b.x == a.x && j < i));
        }
        workgroupBarrier();
    }

    let total = states[0];
    let log_sum = total.x + log(total.y);
    for (var column = lane; column < params.columns; column += LANES) {
        var probability = 0.0;
        if (column < seen) {
            probability = exp(logits[base + column] * scale - log_sum);
        }
        probabilities[base + column] = probability;
    }
    if (lane == 0u) {
        let wanted = logits[base + min(targets[row], seen - 1u)] * scale;
        statistics[row] = vec4<f32>(total.x, log_sum, log_sum - wanted, log_sum - total.z / total.y);
        best[row] = indices[0];
    }
}
