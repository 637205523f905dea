// Closest hit of rays with triangles (Moller and Trumbore 1997): triangles stream through workgroup memory, tiles whose
// bounding box the ray misses are skipped; the hit is shaded by interpolated normals and a point light.
//
// Bindings: 0 uniform Params; 1 rays (origin, shortest; direction, longest); 2 corners, three vec4 a triangle (w unused);
// 3 per ray (distance, u, v, brightness); 4 per ray (triangle or ~0, intersections found).
// Dispatch: ceil(rays / 32) groups of 32.
// deburr-run: groups=2,1,1 0.0=1*u32(50)+1*u32(70)+1*u32(1)+1*f32(0.0000001)+1*f32(3)+1*f32(4)+1*f32(-2)+1*zero 0.1=400*f32(-1..1) 0.2=840*f32(-2..2) 0.3=200*zero:out 0.4=100*zero:out

struct Params {
    rays: u32,
    triangles: u32,
    two_sided: u32,
    epsilon: f32,
    light: vec3<f32>,
}

struct Ray {
    origin: vec3<f32>,
    shortest: f32,
    direction: vec3<f32>,
    longest: f32,
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> rays: array<Ray>;
@group(0) @binding(2) var<storage, read> corners: array<vec4<f32>>;
@group(0) @binding(3) var<storage, read_write> hits: array<vec4<f32>>;
@group(0) @binding(4) var<storage, read_write> found: array<vec2<u32>>;

const TILE: u32 = 32u;
const NONE: u32 = 0xffffffffu;
var<workgroup> a: array<vec3<f32>, TILE>;
var<workgroup> ab: array<vec3<f32>, TILE>;
var<workgroup> ac: array<vec3<f32>, TILE>;
var<workgroup> lows: array<vec3<f32>, TILE>;
var<workgroup> highs: array<vec3<f32>, TILE>;

// Does the ray meet the box before `longest`? (The slab test, with infinities where a direction is zero.)
fn meets(origin: vec3<f32>, inverse: vec3<f32>, low: vec3<f32>, high: vec3<f32>, longest: f32) -> bool {
    let t0 = (low - origin) * inverse;
    let t1 = (high - origin) * inverse;
    let entering = min(t0, t1);
    let leaving = max(t0, t1);
    let first = max(max(entering.x, entering.y), max(entering.z, 0.0));
    let last = min(min(leaving.x, leaving.y), min(leaving.z, longest));
    return first <= last;
}

@compute @workgroup_size(32)
fn main(@builtin(global_invocation_id) global: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
    let alive = global.x < params.rays;
    let ray = rays[min(global.x, params.rays - 1u)];
    let shortest = 0.001 + abs(ray.shortest) * 0.01;
    let direction = normalize(ray.direction + vec3<f32>(0.0, 0.0, 0.001));
    let inverse = 1.0 / (direction + select(vec3<f32>(0.0), vec3<f32>(1.0e-8), abs(direction) < vec3<f32>(1.0e-8)));
    var hit = vec4<f32>(10.0 + ray.longest, 0.0, 0.0, 0.0);
    var which = NONE;
    var count = 0u;

    for (var start = 0u; start < params.triangles; start += TILE) {
        let index = start + lane;
        var low = vec3<f32>(1.0e30);
        var high = vec3<f32>(-1.0e30);
        if (index < params.triangles) {
            let p = corners[3u * index].xyz;
            let q = corners[3u * index + 1u].xyz;
            let r = corners[3u * index + 2u].xyz;
            a[lane] = p;
            ab[lane] = q - p;
            ac[lane] = r - p;
            low = min(p, min(q, r));
            high = max(p, max(q, r));
        }
        lows[lane] = low;
        highs[lane] = high;
        workgroupBarrier();
        for (var width = TILE / 2u; width > 0u; width >>= 1u) {
            if (lane < width) {
                lows[lane] = min(lows[lane], lows[lane + width]);
                highs[lane] = max(highs[lane], highs[lane + width]);
            }
            workgroupBarrier();
        }

        if (alive && meets(ray.origin, inverse, lows[0], highs[0], hit.x)) {
            for (var k = 0u; k < min(TILE, params.triangles - start); k++) {
                let p = cross(direction, ac[k]);
                let determinant = dot(ab[k], p);
                if (determinant < params.epsilon && (params.two_sided == 0u || determinant > -params.epsilon)) {
                    continue;
                }
                let scale = 1.0 / determinant;
                let from_corner = ray.origin - a[k];
                let u = dot(from_corner, p) * scale;
                if (u < 0.0 || u > 1.0) {
                    continue;
                }
                let q = cross(from_corner, ab[k]);
                let v = dot(direction, q) * scale;
                if (v < 0.0 || u + v > 1.0) {
                    continue;
                }
                let t = dot(ac[k], q) * scale;
                if (t > shortest) {
                    count++;
                    if (t < hit.x) {
                        hit = vec4<f32>(t, u, v, 0.0);
                        which = start + k;
                    }
                }
            }
        }
        workgroupBarrier();
    }

    if (!alive) {
        return;
    }
    if (which != NONE) {
        let p = corners[3u * which].xyz;
        let q = corners[3u * which + 1u].xyz;
        let r = corners[3u * which + 2u].xyz;
        var normal = normalize(cross(q - p, r - p));
        normal = faceForward(normal, direction, normal);
        // Corner normals lean away from the middle of the triangle, as on a bulged surface.
        let middle = (p + q + r) / 3.0;
        let leaning = (1.0 - hit.y - hit.z) * (p - middle) + hit.y * (q - middle) + hit.z * (r - middle);
        let bent = normalize(normal + 0.3 * leaning);
        let to_light = params.light - (ray.origin + hit.x * direction);
        let falloff = 1.0 / (1.0 + 0.1 * dot(to_light, to_light));
        hit.w = 0.1 + 0.9 * max(dot(bent, normalize(to_light)), 0.0) * falloff;
    }
    hits[global.x] = hit;
    found[global.x] = vec2<u32>(which, count);
}
