// 3 x 3 convolution of an image of 4-channel pixels to 8 output channels, stride 1, zero padding, with batch-norm
// folded into scale and shift, leaky ReLU, and a 2 x 2 maximum pool beside it. The input tile and its apron are staged
// in workgroup memory.
//
// Bindings: 0 uniform (width, height, 0, 0), both even; 1 input (height x width vec4); 2 weights (8 x 9 vec4);
// 3 scale and shift a channel; 4 output (2 vec4 a pixel); 5 pooled output (2 vec4 a cell).
// Dispatch: ceil(width / 8) x ceil(height / 8) groups.
// deburr-run: groups=2,2,1 0.0=1*u32(14)+1*u32(10)+2*zero 0.1=560*f32(-1..1) 0.2=288*f32(-0.5..0.5) 0.3=16*f32(-1..1) 0.4=1120*zero:out 0.5=280*zero:out

@group(0) @binding(0) var<uniform> size: vec4<u32>;
@group(0) @binding(1) var<storage, read> input: array<vec4<f32>>;
@group(0) @binding(2) var<storage, read> weights: array<vec4<f32>, 72>;
@group(0) @binding(3) var<storage, read> affine: array<vec2<f32>, 8>;
@group(0) @binding(4) var<storage, read_write> output: array<vec4<f32>>;
@group(0) @binding(5) var<storage, read_write> pooled: array<vec4<f32>>;

const WIDE: u32 = 10u;
var<workgroup> tile: array<vec4<f32>, 100>;
var<workgroup> results: array<array<vec4<f32>, 2>, 64>;

fn pixel(x: i32, y: i32) -> vec4<f32> {
    if (x < 0 || y < 0 || x >= i32(size.x) || y >= i32(size.y)) {
        return vec4<f32>(0.0);
    }
    return input[u32(y) * size.x + u32(x)];
}

fn convolve(corner: u32, channel: u32) -> f32 {
    var sum = 0.0;
    for (var dy = 0u; dy < 3u; dy++) {
        for (var dx = 0u; dx < 3u; dx++) {
            sum += dot(weights[channel * 9u + dy * 3u + dx], tile[corner + dy * WIDE + dx]);
        }
    }
    let folded = sum * affine[channel].x + affine[channel].y;
    return max(folded, 0.125 * folded);
}

@compute @workgroup_size(8, 8)
fn main(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(local_invocation_id) local: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let origin = vec2<i32>(group.xy * 8u) - 1;
    for (var i = lane; i < 100u; i += 64u) {
        tile[i] = pixel(origin.x + i32(i % WIDE), origin.y + i32(i / WIDE));
    }
    workgroupBarrier();

    let at = group.xy * 8u + local.xy;
    let inside = at.x < size.x && at.y < size.y;
    let corner = local.y * WIDE + local.x;
    for (var half = 0u; half < 2u; half++) {
        let channel = 4u * half;
        let value = vec4<f32>(
            convolve(corner, channel),
            convolve(corner, channel + 1u),
            convolve(corner, channel + 2u),
            convolve(corner, channel + 3u),
        );
        results[lane][half] = value;
        if (inside) {
            output[2u * (at.y * size.x + at.x) + half] = value;
        }
    }
    workgroupBarrier();

    if (inside && ((local.x | local.y) & 1u) == 0u) {
        let cell = (at.y >> 1u) * (size.x >> 1u) + (at.x >> 1u);
        for (var half = 0u; half < 2u; half++) {
            let top = max(results[lane][half], results[lane + 1u][half]);
            let bottom = max(results[lane + 8u][half], results[lane + 9u][half]);
            pooled[2u * cell + half] = max(top, bottom);
        }
    }
}
