// Lattice Boltzmann flow, D2Q9 with two relaxation times (Ginzburg 2005): pull streaming on a periodic channel with
// bounce-back obstacles and a body force, then collision; density, velocity and vorticity-like shear are written.
//
// Bindings: 0 uniform Params; 1 obstacles (0 fluid); 2 populations before (9 planes); 3 after; 4 per cell (density,
// velocity x, velocity y, shear).
// Dispatch: ceil(width / 8) x ceil(height / 8) groups.
// deburr-run: groups=2,2,1 0.0=1*u32(15)+1*u32(12)+1*f32(0.8)+1*f32(1.3)+1*f32(0.001)+1*f32(-0.0004)+2*zero 0.1=180*u32(0..2) 0.2=1620*f32(0.08..0.13) 0.3=1620*zero:out 0.4=720*zero:out

struct Params {
    size: vec2<u32>,
    even_rate: f32,
    odd_rate: f32,
    force: vec2<f32>,
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> obstacles: array<u32>;
@group(0) @binding(2) var<storage, read> before: array<f32>;
@group(0) @binding(3) var<storage, read_write> after: array<f32>;
@group(0) @binding(4) var<storage, read_write> fields: array<vec4<f32>>;

const REST: f32 = 4.0 / 9.0;
const STRAIGHT: f32 = 1.0 / 9.0;
const DIAGONAL: f32 = 1.0 / 36.0;

fn cell(x: i32, y: i32) -> u32 {
    let w = i32(params.size.x);
    let h = i32(params.size.y);
    let cx = select(select(x, x - w, x >= w), x + w, x < 0);
    let cy = select(select(y, y - h, y >= h), y + h, y < 0);
    return u32(cy) * params.size.x + u32(cx);
}

// The population that arrives along `direction`; from a wall, the opposite one of this cell comes back.
fn pull(at: vec2<i32>, step: vec2<i32>, direction: u32, opposite: u32) -> f32 {
    let planes = params.size.x * params.size.y;
    let from_cell = cell(at.x - step.x, at.y - step.y);
    if (obstacles[from_cell] != 0u) {
        return before[opposite * planes + cell(at.x, at.y)];
    }
    return before[direction * planes + from_cell];
}

fn equilibrium(weight: f32, density: f32, along: f32, speed2: f32) -> f32 {
    return weight * density * (1.0 + 3.0 * along + 4.5 * along * along - 1.5 * speed2);
}

// Both directions of one link: even and odd parts relax at their own rates.
fn relax(forward: f32, backward: f32, weight: f32, density: f32, along: f32, speed2: f32, push: f32) -> vec2<f32> {
    let to_forward = equilibrium(weight, density, along, speed2);
    let to_backward = equilibrium(weight, density, -along, speed2);
    let even = 0.5 * params.even_rate * ((forward + backward) - (to_forward + to_backward));
    let odd = 0.5 * params.odd_rate * ((forward - backward) - (to_forward - to_backward));
    let drive = 3.0 * weight * density * push;
    return vec2<f32>(forward - even - odd + drive, backward - even + odd - drive);
}

@compute @workgroup_size(8, 8)
fn main(@builtin(global_invocation_id) global: vec3<u32>) {
    if (global.x >= params.size.x || global.y >= params.size.y) {
        return;
    }
    let at = vec2<i32>(global.xy);
    let here = cell(at.x, at.y);
    let planes = params.size.x * params.size.y;
    if (obstacles[here] != 0u) {
        for (var d = 0u; d < 9u; d++) {
            after[d * planes + here] = before[d * planes + here];
        }
        fields[here] = vec4<f32>(0.0);
        return;
    }

    // 0 rest; 1 east, 2 west; 3 north, 4 south; 5 north-east, 6 south-west; 7 north-west, 8 south-east.
    let f0 = before[here];
    let f1 = pull(at, vec2<i32>(1, 0), 1u, 2u);
    let f2 = pull(at, vec2<i32>(-1, 0), 2u, 1u);
    let f3 = pull(at, vec2<i32>(0, 1), 3u, 4u);
    let f4 = pull(at, vec2<i32>(0, -1), 4u, 3u);
    let f5 = pull(at, vec2<i32>(1, 1), 5u, 6u);
    let f6 = pull(at, vec2<i32>(-1, -1), 6u, 5u);
    let f7 = pull(at, vec2<i32>(-1, 1), 7u, 8u);
    let f8 = pull(at, vec2<i32>(1, -1), 8u, 7u);

    let density = f0 + ((f1 + f2) + (f3 + f4)) + ((f5 + f6) + (f7 + f8));
    let momentum = vec2<f32>((f1 - f2) + (f5 - f6) - (f7 - f8), (f3 - f4) + (f5 - f6) + (f7 - f8));
    let u = momentum / density + 0.5 * params.force;
    let speed2 = dot(u, u);

    let rest = f0 - params.even_rate * (f0 - equilibrium(REST, density, 0.0, speed2));
    let x = relax(f1, f2, STRAIGHT, density, u.x, speed2, params.force.x);
    let y = relax(f3, f4, STRAIGHT, density, u.y, speed2, params.force.y);
    let rising = relax(f5, f6, DIAGONAL, density, u.x + u.y, speed2, params.force.x + params.force.y);
    let falling = relax(f7, f8, DIAGONAL, density, u.y - u.x, speed2, params.force.y - params.force.x);

    after[here] = rest;
    after[planes + here] = x.x;
    after[2u * planes + here] = x.y;
    after[3u * planes + here] = y.x;
    after[4u * planes + here] = y.y;
    after[5u * planes + here] = rising.x;
    after[6u * planes + here] = rising.y;
    after[7u * planes + here] = falling.x;
    after[8u * planes + here] = falling.y;
    // Off-diagonal momentum flux beyond equilibrium.
    let flux = (f5 + f6) - (f7 + f8) - density * u.x * u.y;
    fields[here] = vec4<f32>(density, u, flux);
}
