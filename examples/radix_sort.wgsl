// Least-significant-digit radix sort of 256 keys with values in workgroup memory: per pass a 2-bit digit, its ranks by
// a scan of packed counters (four 16-bit counts in two words), and a stable scatter. Signed keys by flipping the top bit.
//
// Bindings: 0 uniform (count, bits to sort by, signed, 0); 1 keys, in and out; 2 values, in and out; 3 digit counts of
// the last pass a group.
// Dispatch: ceil(count / 256) groups of 256.
// deburr-run: groups=2,1,1 0.0=1*u32(411)+1*u32(16)+1*u32(0)+1*zero 0.1=411*u32(0..65536):out 0.2=411*iota(0,1):out 0.3=8*zero:out

@group(0) @binding(0) var<uniform> params: vec4<u32>;
@group(0) @binding(1) var<storage, read_write> keys: array<u32>;
@group(0) @binding(2) var<storage, read_write> values: array<u32>;
@group(0) @binding(3) var<storage, read_write> digits: array<vec4<u32>>;

const SIZE: u32 = 256u;
var<workgroup> shared_keys: array<u32, SIZE>;
var<workgroup> shared_values: array<u32, SIZE>;
var<workgroup> counts: array<vec2<u32>, SIZE>;

// One in the 16-bit field of a digit.
fn one_hot(digit: u32) -> vec2<u32> {
    let bit = 1u << ((digit & 1u) * 16u);
    return select(vec2<u32>(bit, 0u), vec2<u32>(0u, bit), digit >= 2u);
}

fn field(counters: vec2<u32>, digit: u32) -> u32 {
    let word = select(counters.x, counters.y, digit >= 2u);
    return (word >> ((digit & 1u) * 16u)) & 0xffffu;
}

@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
    let at = group.x * SIZE + lane;
    let present = at < params.x;
    let flip = select(0u, 0x80000000u, params.z != 0u);
    // Absent keys take the largest code; the sort is stable, so they stay behind equal keys.
    var key = 0xffffffffu;
    var value = 0u;
    if (present) {
        key = keys[at] ^ flip;
        value = values[at];
    }

    var total = vec4<u32>(0u);
    for (var shift = 0u; shift < params.y; shift += 2u) {
        let digit = (key >> shift) & 3u;
        let own = one_hot(digit);
        counts[lane] = own;
        workgroupBarrier();

        // Inclusive scan (Hillis and Steele 1986).
        for (var distance = 1u; distance < SIZE; distance <<= 1u) {
            var sum = counts[lane];
            if (lane >= distance) {
                sum += counts[lane - distance];
            }
            workgroupBarrier();
            counts[lane] = sum;
            workgroupBarrier();
        }

        let last = counts[SIZE - 1u];
        total = vec4<u32>(field(last, 0u), field(last, 1u), field(last, 2u), field(last, 3u));
        var start = 0u;
        for (var smaller = 0u; smaller < digit; smaller++) {
            start += total[smaller];
        }
        let position = start + field(counts[lane] - own, digit);
        shared_keys[position] = key;
        shared_values[position] = value;
        workgroupBarrier();
        key = shared_keys[lane];
        value = shared_values[lane];
        workgroupBarrier();
    }

    if (present) {
        keys[at] = key ^ flip;
        values[at] = value;
    }
    if (lane == 0u) {
        digits[group.x] = total;
    }
}
