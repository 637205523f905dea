// Gradient noise (Perlin 2002) in three dimensions with its analytic derivative, summed over octaves with the slope
// damping of eroded terrain, and warped by a second field. Gradients come from an integer hash, not from a table.
//
// Bindings: 0 uniform Params; 1 per sample (value, derivative).
// Dispatch: ceil(width / 8) x ceil(height / 8) groups.
// deburr-run: groups=2,2,1 0.0=3*f32(-9..9)+1*f32(0.15..0.3)+1*u32(16)+1*u32(11)+1*u32(4)+1*bits 0.1=704*zero:out

struct Params {
    origin: vec3<f32>,
    step: f32,
    size: vec2<u32>,
    octaves: u32,
    seed: u32,
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read_write> field: array<vec4<f32>>;

// Low-bias 32-bit mixer.
fn mix_bits(value: u32) -> u32 {
    var x = value;
    x = (x ^ (x >> 16u)) * 0x7feb352du;
    x = (x ^ (x >> 15u)) * 0x846ca68bu;
    return x ^ (x >> 16u);
}

fn corner_hash(cell: vec3<i32>) -> u32 {
    let c = vec3<u32>(cell);
    return mix_bits(c.x + mix_bits(c.y + mix_bits(c.z + params.seed)));
}

// One of the twelve directions from the centre of a cube to its edges; four of them are listed twice.
fn gradient(hash: u32) -> vec3<f32> {
    let h = hash & 15u;
    let a = select(1.0, -1.0, (h & 1u) != 0u);
    let b = select(1.0, -1.0, (h & 2u) != 0u);
    if (h < 4u) {
        return vec3<f32>(a, b, 0.0);
    }
    if (h < 8u) {
        return vec3<f32>(a, 0.0, b);
    }
    if (h < 12u) {
        return vec3<f32>(0.0, a, b);
    }
    if (h < 14u) {
        return vec3<f32>(a, 1.0, 0.0);
    }
    return vec3<f32>(0.0, -1.0, a);
}

// Value in w, derivative in xyz.
fn noise(p: vec3<f32>) -> vec4<f32> {
    let base = floor(p);
    let cell = vec3<i32>(base);
    let f = p - base;
    // 6t^5 - 15t^4 + 10t^3 and its derivative.
    let u = f * f * f * (f * (f * 6.0 - 15.0) + 10.0);
    let du = 30.0 * f * f * (f * (f - 2.0) + 1.0);

    let g000 = gradient(corner_hash(cell));
    let g100 = gradient(corner_hash(cell + vec3<i32>(1, 0, 0)));
    let g010 = gradient(corner_hash(cell + vec3<i32>(0, 1, 0)));
    let g110 = gradient(corner_hash(cell + vec3<i32>(1, 1, 0)));
    let g001 = gradient(corner_hash(cell + vec3<i32>(0, 0, 1)));
    let g101 = gradient(corner_hash(cell + vec3<i32>(1, 0, 1)));
    let g011 = gradient(corner_hash(cell + vec3<i32>(0, 1, 1)));
    let g111 = gradient(corner_hash(cell + vec3<i32>(1, 1, 1)));

    let v000 = dot(g000, f);
    let v100 = dot(g100, f - vec3<f32>(1.0, 0.0, 0.0));
    let v010 = dot(g010, f - vec3<f32>(0.0, 1.0, 0.0));
    let v110 = dot(g110, f - vec3<f32>(1.0, 1.0, 0.0));
    let v001 = dot(g001, f - vec3<f32>(0.0, 0.0, 1.0));
    let v101 = dot(g101, f - vec3<f32>(1.0, 0.0, 1.0));
    let v011 = dot(g011, f - vec3<f32>(0.0, 1.0, 1.0));
    let v111 = dot(g111, f - vec3<f32>(1.0, 1.0, 1.0));

    // Trilinear in u: k0 + k1 x + k2 y + k3 z + k4 xy + k5 yz + k6 zx + k7 xyz.
    let k1 = v100 - v000;
    let k2 = v010 - v000;
    let k3 = v001 - v000;
    let k4 = v000 - v100 - v010 + v110;
    let k5 = v000 - v010 - v001 + v011;
    let k6 = v000 - v100 - v001 + v101;
    let k7 = v100 - v000 + v010 - v110 + v001 - v101 - v011 + v111;
    let value = v000 + u.x * k1 + u.y * k2 + u.z * k3 + u.x * u.y * k4 + u.y * u.z * k5 + u.z * u.x * k6 + u.x * u.y * u.z * k7;

    let g0 = mix(mix(g000, g100, u.x), mix(g010, g110, u.x), u.y);
    let g1 = mix(mix(g001, g101, u.x), mix(g011, g111, u.x), u.y);
    let slope = du * vec3<f32>(
        k1 + u.y * k4 + u.z * k6 + u.y * u.z * k7,
        k2 + u.z * k5 + u.x * k4 + u.z * u.x * k7,
        k3 + u.x * k6 + u.y * k5 + u.x * u.y * k7,
    );
    return vec4<f32>(mix(g0, g1, u.z) + slope, value);
}

@compute @workgroup_size(8, 8)
fn main(@builtin(global_invocation_id) at: vec3<u32>) {
    if (any(at.xy >= params.size)) {
        return;
    }
    let start = params.origin + vec3<f32>(vec2<f32>(at.xy) * params.step, 0.0);
    let warp = noise(start * 0.5 + vec3<f32>(17.0, -4.0, 9.0));
    var p = start + 0.6 * warp.xyz;

    var sum = 0.0;
    var slope = vec3<f32>(0.0);
    var amplitude = 1.0;
    var frequency = 1.0;
    for (var octave = 0u; octave < params.octaves; octave++) {
        let n = noise(p * frequency);
        slope += amplitude * n.xyz;
        // Steep places get less detail.
        sum += amplitude * n.w / (1.0 + dot(slope, slope));
        amplitude *= 0.5;
        frequency *= 2.0;
        p = vec3<f32>(0.8 * p.x - 0.6 * p.y, 0.6 * p.x + 0.8 * p.y, p.z + 1.7);
    }
    field[at.y * params.size.x + at.x] = vec4<f32>(slope, sum);
}
