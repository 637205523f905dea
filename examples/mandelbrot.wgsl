// Mandelbrot set: escape-time iteration with the cardioid and bulb tests, periodicity check, distance estimate and
// smooth colouring through a cosine palette; 2 x 2 samples a pixel.
//
// Bindings: 0 uniform View; 1 packed RGBA8 image; 2 per pixel (iterations summed over the samples, samples inside).
// Dispatch: ceil(width / 8) x ceil(height / 8) groups.
// deburr-run: groups=3,2,1 0.0=1*f32(-0.9..-0.6)+1*f32(-0.2..0.2)+1*f32(2..2.8)+1*u32(48)+1*u32(21)+1*u32(13)+2*zero 0.1=273*zero:out 0.2=546*zero:out

struct View {
    center: vec2<f32>,
    height: f32,
    limit: u32,
    size: vec2<u32>,
}

@group(0) @binding(0) var<uniform> view: View;
@group(0) @binding(1) var<storage, read_write> image: array<u32>;
@group(0) @binding(2) var<storage, read_write> counts: array<vec2<u32>>;

struct Orbit {
    iterations: u32,
    inside: bool,
    z: vec2<f32>,
    derivative: vec2<f32>,
}

fn in_main_body(c: vec2<f32>) -> bool {
    let y2 = c.y * c.y;
    let p = c.x - 0.25;
    let q = p * p + y2;
    let bulb = c.x + 1.0;
    return q * (q + p) <= 0.25 * y2 || bulb * bulb + y2 <= 0.0625;
}

fn iterate(c: vec2<f32>) -> Orbit {
    var orbit = Orbit(0u, false, vec2<f32>(0.0), vec2<f32>(0.0));
    if (in_main_body(c)) {
        orbit.iterations = view.limit;
        orbit.inside = true;
        return orbit;
    }
    var z = vec2<f32>(0.0);
    var dz = vec2<f32>(0.0);
    var saved = vec2<f32>(0.0);
    var wait = 8u;
    var left = wait;
    var n = 0u;
    loop {
        if (n >= view.limit) {
            orbit.inside = true;
            break;
        }
        if (dot(z, z) > 256.0) {
            break;
        }
        // z' = 2 z z' + 1, then z = z^2 + c.
        dz = 2.0 * vec2<f32>(z.x * dz.x - z.y * dz.y, z.x * dz.y + z.y * dz.x) + vec2<f32>(1.0, 0.0);
        z = vec2<f32>(z.x * z.x - z.y * z.y + c.x, 2.0 * z.x * z.y + c.y);
        if (all(abs(z - saved) < vec2<f32>(1.0e-6))) {
            n = view.limit;
            orbit.inside = true;
            break;
        }
        left--;
        if (left == 0u) {
            saved = z;
            wait *= 2u;
            left = wait;
        }
        continuing {
            n++;
        }
    }
    orbit.iterations = n;
    orbit.z = z;
    orbit.derivative = dz;
    return orbit;
}

fn shade(orbit: Orbit) -> vec3<f32> {
    if (orbit.inside) {
        return vec3<f32>(0.0);
    }
    let r2 = dot(orbit.z, orbit.z);
    let smooth_count = f32(orbit.iterations) + 4.0 - log2(log2(r2));
    let distance = 0.5 * sqrt(r2) * log(r2) / max(length(orbit.derivative), 1.0e-20);
    let edge = clamp(distance * f32(view.size.y) / view.height, 0.0, 1.0);
    let phase = 0.15 * smooth_count + vec3<f32>(0.0, 0.33, 0.67);
    return (0.5 + 0.5 * cos(6.2831855 * phase)) * sqrt(edge);
}

@compute @workgroup_size(8, 8)
fn main(@builtin(global_invocation_id) pixel: vec3<u32>) {
    if (any(pixel.xy >= view.size)) {
        return;
    }
    var colour = vec3<f32>(0.0);
    var iterations = 0u;
    var inside = 0u;
    for (var s = 0u; s < 4u; s++) {
        let jitter = vec2<f32>(f32(s & 1u), f32(s >> 1u)) * 0.5 + 0.25;
        let position = (vec2<f32>(pixel.xy) + jitter - 0.5 * vec2<f32>(view.size)) / f32(view.size.y);
        let orbit = iterate(view.center + position * view.height);
        colour += shade(orbit);
        iterations += orbit.iterations;
        inside += u32(orbit.inside);
    }
    let index = pixel.y * view.size.x + pixel.x;
    image[index] = pack4x8unorm(vec4<f32>(pow(colour * 0.25, vec3<f32>(1.0 / 2.2)), 1.0));
    counts[index] = vec2<u32>(iterations, inside);
}
