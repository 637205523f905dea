// Tiled matrix product with an epilogue: C = act(alpha * A * B + beta * C0 + bias), row-major, sizes of any value.
// A group computes a 16 x 16 tile of C; each of its 8 x 8 invocations keeps a 2 x 2 block in registers.
//
// Bindings: 0 uniform Params; 1 A (m x k); 2 B (k x n); 3 bias (n); 4 C (m x n), read and written.
// Dispatch: ceil(n / 16) x ceil(m / 16) groups.
// deburr-run: groups=3,3,1 0.0=1*u32(37)+1*u32(41)+1*u32(23)+1*u32(1)+1*f32(0.75)+1*f32(0.5)+2*zero 0.1=851*f32(-1..1) 0.2=943*f32(-1..1) 0.3=41*f32(-1..1) 0.4=1517*f32(-1..1):out

struct Params {
    m: u32,
    n: u32,
    k: u32,
    activation: u32, // 0 none, 1 ReLU, 2 leaky ReLU, 3 hard tanh
    alpha: f32,
    beta: f32,
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> a: array<f32>;
@group(0) @binding(2) var<storage, read> b: array<f32>;
@group(0) @binding(3) var<storage, read> bias: array<f32>;
@group(0) @binding(4) var<storage, read_write> c: array<f32>;

const TILE: u32 = 16u;
const DEPTH: u32 = 8u;
var<workgroup> a_tile: array<array<f32, DEPTH>, TILE>;
var<workgroup> b_tile: array<array<f32, TILE>, DEPTH>;

fn load_a(row: u32, column: u32) -> f32 {
    if (row < params.m && column < params.k) {
        return a[row * params.k + column];
    }
    return 0.0;
}

fn load_b(row: u32, column: u32) -> f32 {
    if (row < params.k && column < params.n) {
        return b[row * params.n + column];
    }
    return 0.0;
}

fn activate(x: f32) -> f32 {
    switch params.activation {
        case 1u: {
            return max(x, 0.0);
        }
        case 2u: {
            return select(0.01 * x, x, x > 0.0);
        }
        case 3u: {
            return clamp(x, -1.0, 1.0);
        }
        default: {
            return x;
        }
    }
}

fn store(row: u32, column: u32, sum: f32) {
    if (row < params.m && column < params.n) {
        let at = row * params.n + column;
        c[at] = activate(params.alpha * sum + params.beta * c[at] + bias[column]);
    }
}

@compute @workgroup_size(8, 8)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_id) local: vec3<u32>) {
    let row0 = group.y * TILE;
    let column0 = group.x * TILE;
    var sum: array<vec2<f32>, 2>;
    sum[0] = vec2<f32>(0.0);
    sum[1] = vec2<f32>(0.0);

    for (var k0 = 0u; k0 < params.k; k0 += DEPTH) {
        // 64 invocations bring in two elements of each 128-element tile.
        a_tile[local.y][local.x] = load_a(row0 + local.y, k0 + local.x);
        a_tile[local.y + 8u][local.x] = load_a(row0 + local.y + 8u, k0 + local.x);
        b_tile[local.y][local.x] = load_b(k0 + local.y, column0 + local.x);
        b_tile[local.y][local.x + 8u] = load_b(k0 + local.y, column0 + local.x + 8u);
        workgroupBarrier();
        for (var k = 0u; k < DEPTH; k++) {
            let left = vec2<f32>(a_tile[2u * local.y][k], a_tile[2u * local.y + 1u][k]);
            let right = vec2<f32>(b_tile[k][2u * local.x], b_tile[k][2u * local.x + 1u]);
            sum[0] += left.x * right;
            sum[1] += left.y * right;
        }
        workgroupBarrier();
    }

    let row = row0 + 2u * local.y;
    let column = column0 + 2u * local.x;
    store(row, column, sum[0].x);
    store(row, column + 1u, sum[0].y);
    store(row + 1u, column, sum[1].x);
    store(row + 1u, column + 1u, sum[1].y);
}
