// Bitonic sort of (key, value) pairs, 256 to a block, in workgroup memory. Keys are f32 and are ordered through
// their bits, so that -0 comes before +0 and NaNs at the ends. Equal keys are ordered by value: the result is unique.
//
// Bindings: 0 uniform (count, descending, 0, 0); 1 keys, in and out; 2 values, in and out; 3 rank of each input pair.
// Dispatch: ceil(count / 256) groups of 128; each invocation compares one pair a step.
// deburr-run: groups=2,1,1 0.0=1*u32(400)+1*u32(0)+2*zero 0.1=400*f32(-8..8):out 0.2=400*iota(0,1):out 0.3=400*zero:out

@group(0) @binding(0) var<uniform> params: vec4<u32>;
@group(0) @binding(1) var<storage, read_write> keys: array<u32>;
@group(0) @binding(2) var<storage, read_write> values: array<u32>;
@group(0) @binding(3) var<storage, read_write> ranks: array<u32>;

const SIZE: u32 = 256u;
var<workgroup> pairs: array<vec3<u32>, SIZE>;

// Float order as unsigned order: flip all bits of a negative number, the sign of the others.
fn encode(bits: u32) -> u32 {
    let mask = select(0x80000000u, 0xffffffffu, (bits >> 31u) == 1u);
    return bits ^ mask;
}

fn decode(code: u32) -> u32 {
    let mask = select(0xffffffffu, 0x80000000u, (code >> 31u) == 1u);
    return code ^ mask;
}

fn after(a: vec3<u32>, b: vec3<u32>) -> bool {
    if (a.x != b.x) {
        return a.x > b.x;
    }
    if (a.y != b.y) {
        return a.y > b.y;
    }
    return a.z > b.z;
}

fn fetch(base: u32, position: u32) {
    let at = base + position;
    var pair = vec3<u32>(0xffffffffu, 0xffffffffu, position);
    if (at < params.x) {
        var code = encode(keys[at]);
        if (params.y != 0u) {
            code = ~code;
        }
        pair = vec3<u32>(code, values[at], position);
    }
    pairs[position] = pair;
}

fn deliver(base: u32, position: u32) {
    let at = base + position;
    if (at < params.x) {
        let pair = pairs[position];
        var code = pair.x;
        if (params.y != 0u) {
            code = ~code;
        }
        keys[at] = decode(code);
        values[at] = pair.y;
        // What stands beyond the end sorts last, so pair.z is in range here.
        ranks[base + pair.z] = position;
    }
}

@compute @workgroup_size(128)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
    let base = group.x * SIZE;
    fetch(base, lane);
    fetch(base, lane + 128u);
    workgroupBarrier();

    for (var run = 2u; run <= SIZE; run <<= 1u) {
        for (var distance = run >> 1u; distance > 0u; distance >>= 1u) {
            // The lower index of this invocation's pair: `lane` with a zero bit put in at `distance`.
            let low = ((lane & ~(distance - 1u)) << 1u) | (lane & (distance - 1u));
            let high = low | distance;
            let upward = (low & run) == 0u;
            let a = pairs[low];
            let b = pairs[high];
            if (after(a, b) == upward) {
                pairs[low] = b;
                pairs[high] = a;
            }
            workgroupBarrier();
        }
    }

    deliver(base, lane);
    deliver(base, lane + 128u);
}
