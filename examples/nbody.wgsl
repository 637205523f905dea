// N-body: one leapfrog step of softened gravity, all pairs, with the bodies staged through workgroup memory.
//
// Bindings: 0 uniform Params; 1 bodies before; 2 bodies after; 3 per body (kinetic, potential, |momentum|, nearest distance).
// Dispatch: ceil(count / 64) groups of 64.
// deburr-run: groups=2,1,1 0.0=1*u32(100)+1*f32(0.01)+1*f32(0.05)+1*f32(0.7) 0.1=800*f32(0.1..1.5) 0.2=800*zero:out 0.3=400*zero:out

struct Params {
    count: u32,
    dt: f32,
    softening: f32,
    gravity: f32,
}

struct Body {
    position: vec3<f32>,
    mass: f32,
    velocity: vec3<f32>,
    charge: f32,
}

struct Energy {
    kinetic: f32,
    potential: f32,
    momentum: f32,
    nearest: f32,
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> before: array<Body>;
@group(0) @binding(2) var<storage, read_write> after: array<Body>;
@group(0) @binding(3) var<storage, read_write> energy: array<Energy>;

const TILE: u32 = 64u;
var<workgroup> tile: array<vec4<f32>, TILE>;

struct Pull {
    acceleration: vec3<f32>,
    potential: f32,
    nearest2: f32,
}

fn attract(pull: Pull, here: vec3<f32>, other: vec4<f32>, epsilon2: f32) -> Pull {
    let d = other.xyz - here;
    let r2 = dot(d, d);
    let inverse = inverseSqrt(r2 + epsilon2);
    let strength = other.w * inverse * inverse * inverse;
    var result = pull;
    result.acceleration += d * strength;
    result.potential -= other.w * inverse;
    // The body itself is in the tile too: it pulls with d = 0 and must not be its own neighbour.
    if (r2 > 0.0) {
        result.nearest2 = min(result.nearest2, r2);
    }
    return result;
}

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) global: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
    let index = global.x;
    let active_body = index < params.count;
    let me = before[min(index, params.count - 1u)];
    let epsilon2 = params.softening * params.softening;
    var pull = Pull(vec3<f32>(0.0), 0.0, 1.0e30);

    let tiles = (params.count + TILE - 1u) / TILE;
    for (var t = 0u; t < tiles; t++) {
        let source = t * TILE + lane;
        if (source < params.count) {
            tile[lane] = vec4<f32>(before[source].position, before[source].mass);
        } else {
            tile[lane] = vec4<f32>(0.0, 0.0, 0.0, 0.0);
        }
        workgroupBarrier();
        let filled = min(TILE, params.count - t * TILE);
        for (var k = 0u; k < filled; k++) {
            pull = attract(pull, me.position, tile[k], epsilon2);
        }
        workgroupBarrier();
    }

    if (!active_body) {
        return;
    }
    let acceleration = pull.acceleration * params.gravity;
    let half_kick = me.velocity + acceleration * (0.5 * params.dt);
    let position = me.position + half_kick * params.dt;
    // A box of side 4 around the origin reflects what leaves it.
    let outside = abs(position) > vec3<f32>(2.0);
    let reflected = select(half_kick, -half_kick, outside);
    let clamped = clamp(position, vec3<f32>(-2.0), vec3<f32>(2.0));
    let velocity = reflected + acceleration * (0.5 * params.dt);

    after[index] = Body(clamped, me.mass, velocity, me.charge);
    // The potential sums over all bodies, itself included at distance 0: take that term out again.
    let self_term = me.mass * inverseSqrt(epsilon2);
    energy[index] = Energy(
        0.5 * me.mass * dot(velocity, velocity),
        0.5 * params.gravity * me.mass * (pull.potential + self_term),
        me.mass * length(velocity),
        sqrt(pull.nearest2),
    );
}
