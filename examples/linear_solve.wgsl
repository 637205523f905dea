// A small dense linear system an invocation: LU factorisation with partial pivoting of a 6 x 6 matrix, solution, one
// step of iterative refinement, determinant and residual. Matrices live in private arrays indexed at run time.
//
// Bindings: 0 uniform (systems, 0, 0, 0); 1 matrices, row-major; 2 right sides; 3 solutions; 4 per system (determinant,
// largest residual, smallest pivot, row exchanges).
// Dispatch: ceil(systems / 32) groups of 32.
// deburr-run: groups=1,1,1 0.0=1*u32(24)+3*zero 0.1=864*f32(-1..1) 0.2=144*f32(-1..1) 0.3=144*zero:out 0.4=96*zero:out

@group(0) @binding(0) var<uniform> params: vec4<u32>;
@group(0) @binding(1) var<storage, read> matrices: array<f32>;
@group(0) @binding(2) var<storage, read> right_sides: array<f32>;
@group(0) @binding(3) var<storage, read_write> solutions: array<f32>;
@group(0) @binding(4) var<storage, read_write> reports: array<vec4<f32>>;

const N: u32 = 6u;

var<private> lu: array<array<f32, N>, N>;
var<private> order: array<u32, N>;

// Factors in place: L below the diagonal, U on and above it. Returns (determinant, smallest pivot, exchanges).
fn factor() -> vec3<f32> {
    var determinant = 1.0;
    var smallest = 1.0e30;
    var exchanges = 0.0;
    for (var k = 0u; k < N; k++) {
        var pivot = k;
        for (var i = k + 1u; i < N; i++) {
            if (abs(lu[i][k]) > abs(lu[pivot][k])) {
                pivot = i;
            }
        }
        if (pivot != k) {
            let row = lu[pivot];
            lu[pivot] = lu[k];
            lu[k] = row;
            let label = order[pivot];
            order[pivot] = order[k];
            order[k] = label;
            determinant = -determinant;
            exchanges += 1.0;
        }
        let diagonal = lu[k][k];
        determinant *= diagonal;
        smallest = min(smallest, abs(diagonal));
        if (abs(diagonal) < 1.0e-20) {
            continue;
        }
        let inverse = 1.0 / diagonal;
        for (var i = k + 1u; i < N; i++) {
            let scale = lu[i][k] * inverse;
            lu[i][k] = scale;
            for (var j = k + 1u; j < N; j++) {
                lu[i][j] -= scale * lu[k][j];
            }
        }
    }
    return vec3<f32>(determinant, smallest, exchanges);
}

fn solve(b: array<f32, N>) -> array<f32, N> {
    var right = b;
    var x: array<f32, N>;
    for (var i = 0u; i < N; i++) {
        var sum = right[order[i]];
        for (var j = 0u; j < i; j++) {
            sum -= lu[i][j] * x[j];
        }
        x[i] = sum;
    }
    for (var back = 0u; back < N; back++) {
        let i = N - 1u - back;
        var sum = x[i];
        for (var j = i + 1u; j < N; j++) {
            sum -= lu[i][j] * x[j];
        }
        let diagonal = lu[i][i];
        x[i] = select(0.0, sum / diagonal, abs(diagonal) >= 1.0e-20);
    }
    return x;
}

@compute @workgroup_size(32)
fn main(@builtin(global_invocation_id) global: vec3<u32>) {
    let system = global.x;
    if (system >= params.x) {
        return;
    }
    let base = system * N * N;
    var b: array<f32, N>;
    for (var i = 0u; i < N; i++) {
        b[i] = right_sides[system * N + i];
        order[i] = i;
        for (var j = 0u; j < N; j++) {
            lu[i][j] = matrices[base + i * N + j];
        }
    }
    let summary = factor();
    var x = solve(b);

    var worst = 0.0;
    for (var round = 0u; round < 2u; round++) {
        var residual: array<f32, N>;
        worst = 0.0;
        for (var i = 0u; i < N; i++) {
            var sum = b[i];
            for (var j = 0u; j < N; j++) {
                sum -= matrices[base + i * N + j] * x[j];
            }
            residual[i] = sum;
            worst = max(worst, abs(sum));
        }
        if (round == 0u) {
            let correction = solve(residual);
            for (var i = 0u; i < N; i++) {
                x[i] += correction[i];
            }
        }
    }

    for (var i = 0u; i < N; i++) {
        solutions[system * N + i] = x[i];
    }
    reports[system] = vec4<f32>(summary.x, worst, summary.y, summary.z);
}
