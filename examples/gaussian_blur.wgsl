// Separable Gaussian blur of a packed RGBA8 image, both passes in one kernel: a 16 x 16 tile with an apron of up to 4
// pixels is unpacked into workgroup memory (edges clamped), blurred along rows, then along columns, in linear light
// and with premultiplied alpha.
//
// Bindings: 0 uniform Params; 1 source pixels; 2 blurred pixels.
// Dispatch: ceil(width / 16) x ceil(height / 16) groups.
// deburr-run: groups=2,2,1 0.0=1*u32(29)+1*u32(21)+1*u32(4)+1*f32(1.7) 0.1=609*bits 0.2=609*zero:out

struct Params {
    width: u32,
    height: u32,
    radius: u32, // at most 4
    sigma: f32,
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> source: array<u32>;
@group(0) @binding(2) var<storage, read_write> blurred: array<u32>;

const TILE: u32 = 16u;
const APRON: u32 = 4u;
const WIDE: u32 = 24u;
var<workgroup> tile: array<vec4<f32>, 576>;
var<workgroup> rows: array<vec4<f32>, 384>;

fn to_linear(c: vec3<f32>) -> vec3<f32> {
    let low = c / 12.92;
    let high = pow((c + 0.055) / 1.055, vec3<f32>(2.4));
    return select(high, low, c <= vec3<f32>(0.04045));
}

fn to_srgb(c: vec3<f32>) -> vec3<f32> {
    let low = c * 12.92;
    let high = 1.055 * pow(c, vec3<f32>(1.0 / 2.4)) - 0.055;
    return select(high, low, c <= vec3<f32>(0.0031308));
}

fn fetch(x: i32, y: i32) -> vec4<f32> {
    let cx = u32(clamp(x, 0, i32(params.width) - 1));
    let cy = u32(clamp(y, 0, i32(params.height) - 1));
    let c = unpack4x8unorm(source[cy * params.width + cx]);
    return vec4<f32>(to_linear(c.rgb) * c.a, c.a);
}

@compute @workgroup_size(16, 16)
fn main(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(local_invocation_id) local: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let origin = vec2<i32>(group.xy * TILE) - i32(APRON);
    for (var i = lane; i < WIDE * WIDE; i += TILE * TILE) {
        tile[i] = fetch(origin.x + i32(i % WIDE), origin.y + i32(i / WIDE));
    }

    let radius = min(params.radius, APRON);
    var weights: array<f32, 5>;
    var total = 0.0;
    for (var i = 0u; i <= radius; i++) {
        let t = f32(i) / params.sigma;
        weights[i] = exp(-0.5 * t * t);
        total += select(2.0, 1.0, i == 0u) * weights[i];
    }
    let scale = 1.0 / total;
    workgroupBarrier();

    for (var i = lane; i < WIDE * TILE; i += TILE * TILE) {
        let at = (i / TILE) * WIDE + i % TILE + APRON;
        var sum = weights[0] * tile[at];
        for (var d = 1u; d <= radius; d++) {
            sum += weights[d] * (tile[at - d] + tile[at + d]);
        }
        rows[i] = sum * scale;
    }
    workgroupBarrier();

    let x = group.x * TILE + local.x;
    let y = group.y * TILE + local.y;
    if (x >= params.width || y >= params.height) {
        return;
    }
    let at = (local.y + APRON) * TILE + local.x;
    var sum = weights[0] * rows[at];
    for (var d = 1u; d <= radius; d++) {
        sum += weights[d] * (rows[at - d * TILE] + rows[at + d * TILE]);
    }
    let result = sum * scale;
    var rgb = vec3<f32>(0.0);
    if (result.a > 0.0) {
        rgb = to_srgb(clamp(result.rgb / result.a, vec3<f32>(0.0), vec3<f32>(1.0)));
    }
    blurred[y * params.width + x] = pack4x8unorm(vec4<f32>(rgb, result.a));
}
