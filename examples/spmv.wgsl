// Sparse matrix times vector in the ELLPACK format, as one step of weighted Jacobi: four lanes share a row and reduce
// in workgroup memory; y = A x, the residual r = b - y, and x' = x + omega r / d are written, and |r|^2 of each group.
//
// Bindings: 0 uniform Params; 1 entries of each row; 2 columns; 3 values (both rows x width); 4 x; 5 b; 6 diagonal;
// 7 x'; 8 residual; 9 squared norm a group.
// Dispatch: ceil(rows / 16) groups of 64.
// deburr-run: groups=3,1,1 0.0=1*u32(40)+1*u32(40)+1*u32(9)+1*f32(0.66) 0.1=40*u32(1..10) 0.2=360*u32(0..40) 0.3=360*f32(-1..1) 0.4=40*f32(-1..1) 0.5=40*f32(-1..1) 0.6=40*f32(2..4) 0.7=40*zero:out 0.8=40*zero:out 0.9=3*zero:out

struct Params {
    rows: u32,
    columns: u32,
    width: u32,
    omega: f32,
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> lengths: array<u32>;
@group(0) @binding(2) var<storage, read> columns: array<u32>;
@group(0) @binding(3) var<storage, read> values: array<f32>;
@group(0) @binding(4) var<storage, read> x: array<f32>;
@group(0) @binding(5) var<storage, read> b: array<f32>;
@group(0) @binding(6) var<storage, read> diagonal: array<f32>;
@group(0) @binding(7) var<storage, read_write> next_x: array<f32>;
@group(0) @binding(8) var<storage, read_write> residual: array<f32>;
@group(0) @binding(9) var<storage, read_write> norms: array<f32>;

const ROWS: u32 = 16u;
const LANES: u32 = 4u;
var<workgroup> partial: array<f32, 64>;
var<workgroup> squares: array<f32, ROWS>;

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
    let local_row = lane / LANES;
    let part = lane % LANES;
    let row = group.x * ROWS + local_row;

    var sum = 0.0;
    var lost = 0.0;
    if (row < params.rows) {
        let length = min(lengths[row], params.width);
        for (var k = part; k < length; k += LANES) {
            let column = columns[row * params.width + k];
            if (column >= params.columns) {
                continue; // padding
            }
            // Kahan's compensated sum.
            let term = values[row * params.width + k] * x[column] - lost;
            let next = sum + term;
            lost = (next - sum) - term;
            sum = next;
        }
    }
    partial[lane] = sum;
    workgroupBarrier();
    if (part < 2u) {
        partial[lane] += partial[lane + 2u];
    }
    workgroupBarrier();

    if (part == 0u) {
        var square = 0.0;
        if (row < params.rows) {
            let y = partial[lane] + partial[lane + 1u];
            let r = b[row] - y;
            let d = diagonal[row];
            residual[row] = r;
            next_x[row] = x[row] + select(0.0, params.omega * r / d, abs(d) > 1.0e-6);
            square = r * r;
        }
        squares[local_row] = square;
    }
    workgroupBarrier();

    for (var width = ROWS / 2u; width > 0u; width >>= 1u) {
        if (lane < width) {
            squares[lane] += squares[lane + width];
        }
        workgroupBarrier();
    }
    if (lane == 0u) {
        norms[group.x] = squares[0];
    }
}
