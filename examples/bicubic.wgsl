// Bicubic resampling (Keys 1981, B and C of Mitchell and Netravali selectable) of a packed RGBA8 image to another size,
// with the edge rules clamp, wrap and mirror, and clamping against ringing to the four nearest texels.
//
// Bindings: 0 uniform Params; 1 source pixels; 2 target pixels.
// Dispatch: ceil(target width / 8) x ceil(target height / 8) groups.
// deburr-run: groups=3,2,1 0.0=1*u32(11)+1*u32(9)+1*u32(21)+1*u32(15)+1*f32(0.33333334)+1*f32(0.33333334)+1*u32(2)+1*u32(1) 0.1=99*bits 0.2=315*zero:out

struct Params {
    source: vec2<u32>,
    size: vec2<u32>,
    b: f32,
    c: f32,
    edge: u32, // 0 clamp, 1 wrap, 2 mirror
    limit: u32, // not 0: no values outside those of the nearest 2 x 2
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> source: array<u32>;
@group(0) @binding(2) var<storage, read_write> target_pixels: array<u32>;

fn wrap(value: i32, size: i32) -> i32 {
    switch params.edge {
        case 1u: {
            return ((value % size) + size) % size;
        }
        case 2u: {
            let period = 2 * size;
            let m = ((value % period) + period) % period;
            return min(m, period - 1 - m);
        }
        default: {
            return clamp(value, 0, size - 1);
        }
    }
}

fn texel(x: i32, y: i32) -> vec4<f32> {
    let cx = wrap(x, i32(params.source.x));
    let cy = wrap(y, i32(params.source.y));
    return unpack4x8unorm(source[u32(cy) * params.source.x + u32(cx)]);
}

// The piecewise cubic at distance |x| < 2.
fn kernel(x: f32) -> f32 {
    let t = abs(x);
    let b = params.b;
    let c = params.c;
    if (t < 1.0) {
        return (((12.0 - 9.0 * b - 6.0 * c) * t + (-18.0 + 12.0 * b + 6.0 * c)) * t * t + (6.0 - 2.0 * b)) / 6.0;
    }
    if (t < 2.0) {
        return ((((-b - 6.0 * c) * t + (6.0 * b + 30.0 * c)) * t + (-12.0 * b - 48.0 * c)) * t + (8.0 * b + 24.0 * c)) / 6.0;
    }
    return 0.0;
}

fn weights(f: f32) -> vec4<f32> {
    let raw = vec4<f32>(kernel(1.0 + f), kernel(f), kernel(1.0 - f), kernel(2.0 - f));
    return raw / (raw.x + raw.y + raw.z + raw.w);
}

@compute @workgroup_size(8, 8)
fn main(@builtin(global_invocation_id) at: vec3<u32>) {
    if (at.x >= params.size.x || at.y >= params.size.y) {
        return;
    }
    let position = (vec2<f32>(at.xy) + 0.5) * vec2<f32>(params.source) / vec2<f32>(params.size) - 0.5;
    let base = floor(position);
    let f = position - base;
    let corner = vec2<i32>(base);
    let wx = weights(f.x);
    let wy = weights(f.y);

    var sum = vec4<f32>(0.0);
    var low = vec4<f32>(1.0);
    var high = vec4<f32>(0.0);
    for (var j = 0; j < 4; j++) {
        var row = vec4<f32>(0.0);
        for (var i = 0; i < 4; i++) {
            let colour = texel(corner.x + i - 1, corner.y + j - 1);
            row += wx[i] * colour;
            if ((i == 1 || i == 2) && (j == 1 || j == 2)) {
                low = min(low, colour);
                high = max(high, colour);
            }
        }
        sum += wy[j] * row;
    }
    if (params.limit != 0u) {
        sum = clamp(sum, low, high);
    }
    target_pixels[at.y * params.size.x + at.x] = pack4x8unorm(sum);
}
