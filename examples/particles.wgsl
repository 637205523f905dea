// Particle update: emission from a ring by a PCG stream, drag, wind, a vortex, collision with the floor and a sphere
// by substeps, ageing, respawn, colour by age; the living are counted.
//
// Bindings: 0 uniform World; 1 particles, in and out; 2 random states, in and out; 3 (living, born, bounces, 0).
// Dispatch: ceil(count / 64) groups of 64.
// deburr-run: groups=2,1,1 0.0=1*f32(0)+1*f32(-9.8)+1*f32(0)+1*f32(0.016)+1*f32(0.5)+1*f32(0.1)+1*f32(-0.2)+1*f32(0.3)+1*f32(0)+1*f32(0.5)+1*f32(0)+1*f32(0.6)+1*u32(120)+1*u32(4)+2*zero 0.1=1440*f32(0.05..1.2):out 0.2=120*bits:out 0.3=4*zero:out

struct World {
    gravity: vec3<f32>,
    dt: f32,
    wind: vec3<f32>,
    drag: f32,
    sphere: vec3<f32>,
    radius: f32,
    count: u32,
    substeps: u32,
}

struct Particle {
    position: vec3<f32>,
    age: f32,
    velocity: vec3<f32>,
    lifetime: f32,
    colour: vec3<f32>,
    bounce: f32,
}

struct Counters {
    living: atomic<u32>,
    born: atomic<u32>,
    bounces: atomic<u32>,
    unused: u32,
}

@group(0) @binding(0) var<uniform> world: World;
@group(0) @binding(1) var<storage, read_write> particles: array<Particle>;
@group(0) @binding(2) var<storage, read_write> random: array<u32>;
@group(0) @binding(3) var<storage, read_write> counters: Counters;

// PCG-RXS-M-XS (O'Neill 2014); uniform in [0, 1).
fn draw(state: ptr<function, u32>) -> f32 {
    let old = *state;
    *state = old * 747796405u + 2891336453u;
    let word = ((old >> ((old >> 28u) + 4u)) ^ old) * 277803737u;
    return f32(((word >> 22u) ^ word) >> 8u) / 16777216.0;
}

fn emit(state: ptr<function, u32>) -> Particle {
    let angle = 6.2831855 * draw(state);
    let speed = 1.0 + 2.0 * draw(state);
    let direction = vec3<f32>(cos(angle), 0.0, sin(angle));
    var p: Particle;
    p.position = 0.8 * direction + vec3<f32>(0.0, 0.1 + 0.1 * draw(state), 0.0);
    p.velocity = speed * normalize(vec3<f32>(-0.3 * direction.x, 1.0, -0.3 * direction.z));
    p.lifetime = 1.0 + 2.0 * draw(state);
    p.bounce = 0.4 + 0.5 * draw(state);
    return p;
}

// Pushes the particle out of a surface with the normal `n` that it is `depth` inside of.
fn collide(p: ptr<function, Particle>, n: vec3<f32>, depth: f32) -> u32 {
    (*p).position += n * depth;
    let approach = dot((*p).velocity, n);
    if (approach >= 0.0) {
        return 0u;
    }
    let normal_part = approach * n;
    let along = (*p).velocity - normal_part;
    (*p).velocity = 0.95 * along - (*p).bounce * normal_part;
    return 1u;
}

fn heat(t: f32) -> vec3<f32> {
    if (t < 0.33) {
        return mix(vec3<f32>(1.0, 1.0, 0.8), vec3<f32>(1.0, 0.6, 0.1), t / 0.33);
    }
    if (t < 0.66) {
        return mix(vec3<f32>(1.0, 0.6, 0.1), vec3<f32>(0.6, 0.1, 0.05), (t - 0.33) / 0.33);
    }
    return mix(vec3<f32>(0.6, 0.1, 0.05), vec3<f32>(0.1), (t - 0.66) / 0.34);
}

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) global: vec3<u32>) {
    let index = global.x;
    if (index >= world.count) {
        return;
    }
    var state = random[index];
    var p = particles[index];
    p.age += world.dt;
    if (p.age >= p.lifetime) {
        p = emit(&state);
        atomicAdd(&counters.born, 1u);
    }

    var bounces = 0u;
    let h = world.dt / f32(world.substeps);
    for (var i = 0u; i < world.substeps; i++) {
        let around = vec3<f32>(-p.position.z, 0.0, p.position.x);
        let relative = world.wind + 0.8 * around - p.velocity;
        let force = world.drag * length(relative) * relative;
        p.velocity += h * (world.gravity + force);
        p.position += h * p.velocity;
        if (p.position.y < 0.0) {
            bounces += collide(&p, vec3<f32>(0.0, 1.0, 0.0), -p.position.y);
        }
        let away = p.position - world.sphere;
        let distance = length(away);
        if (distance < world.radius && distance > 1.0e-4) {
            bounces += collide(&p, away / distance, world.radius - distance);
        }
    }
    if (bounces > 0u) {
        atomicAdd(&counters.bounces, bounces);
    }
    p.colour = heat(clamp(p.age / p.lifetime, 0.0, 1.0));
    atomicAdd(&counters.living, 1u);

    random[index] = state;
    particles[index] = p;
}
