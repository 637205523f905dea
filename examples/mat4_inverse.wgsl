// Instance transforms: a matrix from translation, rotation quaternion and scale, chained with a parent, its inverse by
// cofactors (2 x 2 minors shared), the normal matrix, and the bounding box of a transformed unit cube. Straight-line code.
//
// Bindings: 0 uniform (count, 0, 0, 0); 1 instances; 2 parent matrices; 3 results.
// Dispatch: ceil(count / 32) groups of 32.
// deburr-run: groups=2,1,1 0.0=1*u32(40)+3*zero 0.1=480*f32(0.2..1.5) 0.2=640*f32(-1..1) 0.3=2080*zero:out

struct Instance {
    translation: vec3<f32>,
    unused: f32,
    rotation: vec4<f32>,
    scale: vec3<f32>,
    also_unused: f32,
}

struct Result {
    world: mat4x4<f32>,
    inverse: mat4x4<f32>,
    normal: mat3x3<f32>,
    box_low: vec3<f32>,
    determinant: f32,
    box_high: vec3<f32>,
    valid: u32,
}

@group(0) @binding(0) var<uniform> params: vec4<u32>;
@group(0) @binding(1) var<storage, read> instances: array<Instance>;
@group(0) @binding(2) var<storage, read> parents: array<mat4x4<f32>>;
@group(0) @binding(3) var<storage, read_write> results: array<Result>;

fn compose(instance: Instance) -> mat4x4<f32> {
    let q = normalize(instance.rotation);
    let d = q.xyz + q.xyz;
    let xx = q.x * d.x;
    let yy = q.y * d.y;
    let zz = q.z * d.z;
    let xy = q.x * d.y;
    let xz = q.x * d.z;
    let yz = q.y * d.z;
    let wx = q.w * d.x;
    let wy = q.w * d.y;
    let wz = q.w * d.z;
    let s = instance.scale;
    return mat4x4<f32>(
        vec4<f32>(s.x * (1.0 - yy - zz), s.x * (xy + wz), s.x * (xz - wy), 0.0),
        vec4<f32>(s.y * (xy - wz), s.y * (1.0 - xx - zz), s.y * (yz + wx), 0.0),
        vec4<f32>(s.z * (xz + wy), s.z * (yz - wx), s.z * (1.0 - xx - yy), 0.0),
        vec4<f32>(instance.translation, 1.0),
    );
}

struct Inverse {
    matrix: mat4x4<f32>,
    determinant: f32,
}

fn invert(m: mat4x4<f32>) -> Inverse {
    let a0 = m[0][0] * m[1][1] - m[0][1] * m[1][0];
    let a1 = m[0][0] * m[1][2] - m[0][2] * m[1][0];
    let a2 = m[0][0] * m[1][3] - m[0][3] * m[1][0];
    let a3 = m[0][1] * m[1][2] - m[0][2] * m[1][1];
    let a4 = m[0][1] * m[1][3] - m[0][3] * m[1][1];
    let a5 = m[0][2] * m[1][3] - m[0][3] * m[1][2];
    let b0 = m[2][0] * m[3][1] - m[2][1] * m[3][0];
    let b1 = m[2][0] * m[3][2] - m[2][2] * m[3][0];
    let b2 = m[2][0] * m[3][3] - m[2][3] * m[3][0];
    let b3 = m[2][1] * m[3][2] - m[2][2] * m[3][1];
    let b4 = m[2][1] * m[3][3] - m[2][3] * m[3][1];
    let b5 = m[2][2] * m[3][3] - m[2][3] * m[3][2];
    let determinant = a0 * b5 - a1 * b4 + a2 * b3 + a3 * b2 - a4 * b1 + a5 * b0;
    let adjugate = mat4x4<f32>(
        vec4<f32>(
            m[1][1] * b5 - m[1][2] * b4 + m[1][3] * b3,
            -m[0][1] * b5 + m[0][2] * b4 - m[0][3] * b3,
            m[3][1] * a5 - m[3][2] * a4 + m[3][3] * a3,
            -m[2][1] * a5 + m[2][2] * a4 - m[2][3] * a3,
        ),
        vec4<f32>(
            -m[1][0] * b5 + m[1][2] * b2 - m[1][3] * b1,
            m[0][0] * b5 - m[0][2] * b2 + m[0][3] * b1,
            -m[3][0] * a5 + m[3][2] * a2 - m[3][3] * a1,
            m[2][0] * a5 - m[2][2] * a2 + m[2][3] * a1,
        ),
        vec4<f32>(
            m[1][0] * b4 - m[1][1] * b2 + m[1][3] * b0,
            -m[0][0] * b4 + m[0][1] * b2 - m[0][3] * b0,
            m[3][0] * a4 - m[3][1] * a2 + m[3][3] * a0,
            -m[2][0] * a4 + m[2][1] * a2 - m[2][3] * a0,
        ),
        vec4<f32>(
            -m[1][0] * b3 + m[1][1] * b1 - m[1][2] * b0,
            m[0][0] * b3 - m[0][1] * b1 + m[0][2] * b0,
            -m[3][0] * a3 + m[3][1] * a1 - m[3][2] * a0,
            m[2][0] * a3 - m[2][1] * a1 + m[2][2] * a0,
        ),
    );
    return Inverse(adjugate * (1.0 / determinant), determinant);
}

@compute @workgroup_size(32)
fn main(@builtin(global_invocation_id) global: vec3<u32>) {
    let index = global.x;
    if (index >= params.x) {
        return;
    }
    // A parent with an affine bottom row; the diagonal is kept away from zero.
    var parent = parents[index];
    parent[0] = vec4<f32>(parent[0].xyz + vec3<f32>(2.5, 0.0, 0.0), 0.0);
    parent[1] = vec4<f32>(parent[1].xyz + vec3<f32>(0.0, 2.5, 0.0), 0.0);
    parent[2] = vec4<f32>(parent[2].xyz + vec3<f32>(0.0, 0.0, 2.5), 0.0);
    parent[3] = vec4<f32>(parent[3].xyz, 1.0);

    let world = parent * compose(instances[index]);
    let inverted = invert(world);
    let back = inverted.matrix;
    let normal = transpose(mat3x3<f32>(back[0].xyz, back[1].xyz, back[2].xyz));

    // Half extents of the box around a turned cube: the absolute values of the axes, summed.
    let reach = 0.5 * (abs(world[0].xyz) + abs(world[1].xyz) + abs(world[2].xyz));
    let center = world[3].xyz;

    var result: Result;
    result.world = world;
    result.inverse = back;
    result.normal = normal;
    result.box_low = center - reach;
    result.box_high = center + reach;
    result.determinant = inverted.determinant;
    result.valid = u32(abs(inverted.determinant) > 1.0e-6);
    results[index] = result;
}
