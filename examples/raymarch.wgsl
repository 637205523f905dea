// Sphere tracing of a scene of signed distance functions (rounded box, torus, blended spheres, floor), with normals
// from central differences, soft shadow, ambient occlusion, one mirror bounce, fog and a filmic curve.
//
// Bindings: 0 uniform Camera; 1 packed RGBA8 image; 2 depth of the first hit (0 where none).
// Dispatch: ceil(width / 8) x ceil(height / 8) groups.
// deburr-run: groups=2,2,1 0.0=1*f32(2.2..2.8)+1*f32(1..1.6)+1*f32(1.8..2.4)+1*f32(1.4..1.8)+1*f32(-0.1..0.1)+1*f32(0..0.3)+1*f32(-0.1..0.1)+1*f32(0..3)+1*u32(15)+1*u32(11)+2*zero 0.1=165*zero:out 0.2=165*zero:out

struct Camera {
    eye: vec3<f32>,
    zoom: f32,
    look_at: vec3<f32>,
    time: f32,
    size: vec2<u32>,
}

@group(0) @binding(0) var<uniform> camera: Camera;
@group(0) @binding(1) var<storage, read_write> image: array<u32>;
@group(0) @binding(2) var<storage, read_write> depth: array<f32>;

const FAR: f32 = 20.0;
const SUN: vec3<f32> = vec3<f32>(0.57735, 0.57735, 0.57735);

fn box(p: vec3<f32>, half_size: vec3<f32>, radius: f32) -> f32 {
    let q = abs(p) - half_size;
    return length(max(q, vec3<f32>(0.0))) + min(max(q.x, max(q.y, q.z)), 0.0) - radius;
}

fn torus(p: vec3<f32>, radii: vec2<f32>) -> f32 {
    return length(vec2<f32>(length(p.xz) - radii.x, p.y)) - radii.y;
}

// Polynomial smooth minimum.
fn blend(a: f32, b: f32, k: f32) -> f32 {
    let h = clamp(0.5 + 0.5 * (b - a) / k, 0.0, 1.0);
    return mix(b, a, h) - k * h * (1.0 - h);
}

// Distance, and the material of the nearest surface.
fn scene(p: vec3<f32>) -> vec2<f32> {
    var nearest = vec2<f32>(p.y + 0.6, 0.0);
    let c = cos(camera.time);
    let s = sin(camera.time);
    let turned = vec3<f32>(c * p.x - s * p.z, p.y, s * p.x + c * p.z);
    let cube = box(turned - vec3<f32>(0.9, 0.0, 0.0), vec3<f32>(0.35), 0.08);
    if (cube < nearest.x) {
        nearest = vec2<f32>(cube, 1.0);
    }
    let ring = torus(p - vec3<f32>(0.0, -0.25, 0.9), vec2<f32>(0.5, 0.16));
    if (ring < nearest.x) {
        nearest = vec2<f32>(ring, 2.0);
    }
    let first = length(p - vec3<f32>(-0.7, 0.0, 0.0)) - 0.5;
    let second = length(p - vec3<f32>(-0.9, 0.55, 0.25 * s)) - 0.3;
    let drops = blend(first, second, 0.3);
    if (drops < nearest.x) {
        nearest = vec2<f32>(drops, 3.0);
    }
    return nearest;
}

struct Hit {
    distance: f32,
    material: f32,
}

fn march(origin: vec3<f32>, direction: vec3<f32>) -> Hit {
    var t = 0.01;
    for (var i = 0; i < 64; i++) {
        let here = scene(origin + t * direction);
        if (here.x < 0.0005 * t) {
            return Hit(t, here.y);
        }
        t += here.x;
        if (t > FAR) {
            break;
        }
    }
    return Hit(FAR, -1.0);
}

fn normal_at(p: vec3<f32>) -> vec3<f32> {
    let e = vec2<f32>(0.001, 0.0);
    return normalize(vec3<f32>(
        scene(p + e.xyy).x - scene(p - e.xyy).x,
        scene(p + e.yxy).x - scene(p - e.yxy).x,
        scene(p + e.yyx).x - scene(p - e.yyx).x,
    ));
}

fn shadow(origin: vec3<f32>) -> f32 {
    var light = 1.0;
    var t = 0.03;
    for (var i = 0; i < 20; i++) {
        let d = scene(origin + t * SUN).x;
        light = min(light, 8.0 * d / t);
        t += clamp(d, 0.03, 0.3);
        if (light < 0.001 || t > 4.0) {
            break;
        }
    }
    return clamp(light, 0.0, 1.0);
}

fn occlusion(p: vec3<f32>, n: vec3<f32>) -> f32 {
    var sum = 0.0;
    var weight = 1.0;
    for (var i = 1; i <= 4; i++) {
        let h = 0.08 * f32(i);
        sum += weight * (h - scene(p + h * n).x);
        weight *= 0.6;
    }
    return clamp(1.0 - 1.8 * sum, 0.0, 1.0);
}

fn sky(direction: vec3<f32>) -> vec3<f32> {
    let height = clamp(direction.y, 0.0, 1.0);
    let glow = pow(max(dot(direction, SUN), 0.0), 32.0);
    return mix(vec3<f32>(0.7, 0.8, 0.9), vec3<f32>(0.2, 0.4, 0.8), height) + glow * vec3<f32>(1.0, 0.8, 0.5);
}

fn albedo(material: f32, p: vec3<f32>) -> vec3<f32> {
    switch i32(material) {
        case 0: {
            let cell = floor(2.0 * p.xz);
            let odd = fract(0.5 * (cell.x + cell.y)) > 0.25;
            return select(vec3<f32>(0.75), vec3<f32>(0.2), odd);
        }
        case 1: {
            return vec3<f32>(0.8, 0.3, 0.2);
        }
        case 2: {
            return vec3<f32>(0.9, 0.7, 0.2);
        }
        default: {
            return vec3<f32>(0.3, 0.6, 0.8);
        }
    }
}

struct Surface {
    colour: vec3<f32>,
    point: vec3<f32>,
    normal: vec3<f32>,
}

fn shade(origin: vec3<f32>, direction: vec3<f32>, hit: Hit) -> Surface {
    let p = origin + hit.distance * direction;
    let n = normal_at(p);
    let diffuse = max(dot(n, SUN), 0.0) * shadow(p + 0.002 * n);
    let ambient = (0.5 + 0.5 * n.y) * occlusion(p, n);
    let halfway = normalize(SUN - direction);
    let gloss = pow(max(dot(n, halfway), 0.0), 48.0) * diffuse;
    let light = diffuse * vec3<f32>(1.3, 1.15, 0.9) + ambient * vec3<f32>(0.25, 0.35, 0.5);
    let lit = albedo(hit.material, p) * light + gloss;
    let fog = 1.0 - exp(-0.004 * hit.distance * hit.distance);
    return Surface(mix(lit, sky(direction), fog), p, n);
}

@compute @workgroup_size(8, 8)
fn main(@builtin(global_invocation_id) pixel: vec3<u32>) {
    if (pixel.x >= camera.size.x || pixel.y >= camera.size.y) {
        return;
    }
    let forward = normalize(camera.look_at - camera.eye);
    let right = normalize(cross(forward, vec3<f32>(0.0, 1.0, 0.0)));
    let up = cross(right, forward);
    let size = vec2<f32>(camera.size);
    let uv = (2.0 * vec2<f32>(pixel.xy) + 1.0 - size) / size.y;
    let direction = normalize(camera.zoom * forward + uv.x * right - uv.y * up);

    var colour = sky(direction);
    var first = 0.0;
    let hit = march(camera.eye, direction);
    if (hit.material >= 0.0) {
        let surface = shade(camera.eye, direction, hit);
        colour = surface.colour;
        first = hit.distance;
        let mirrored = reflect(direction, surface.normal);
        let fresnel = 0.04 + 0.5 * pow(1.0 - max(-dot(direction, surface.normal), 0.0), 5.0);
        let start = surface.point + 0.003 * surface.normal;
        let second = march(start, mirrored);
        var reflected = sky(mirrored);
        if (second.material >= 0.0) {
            reflected = shade(start, mirrored, second).colour;
        }
        colour = mix(colour, reflected, fresnel);
    }

    // Filmic curve (Narkowicz 2015), then gamma.
    let mapped = clamp(colour * (2.51 * colour + 0.03) / (colour * (2.43 * colour + 0.59) + 0.14), vec3<f32>(0.0), vec3<f32>(1.0));
    let index = pixel.y * camera.size.x + pixel.x;
    image[index] = pack4x8unorm(vec4<f32>(pow(mapped, vec3<f32>(1.0 / 2.2)), 1.0));
    depth[index] = first;
}
