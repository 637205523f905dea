// CRC-32 (the reflected polynomial 0xedb88320) and Adler-32 of fixed-size messages: the group builds the byte table in
// workgroup memory, each invocation runs over its message, and the group's CRCs are joined into the CRC of the
// concatenation by multiplication in GF(2)[x].
//
// Bindings: 0 uniform (messages, words a message, 0, 0); 1 messages; 2 per message (CRC-32, Adler-32); 3 CRC-32 of all
// messages of a group together.
// Dispatch: ceil(messages / 64) groups of 64.
// deburr-run: groups=2,1,1 0.0=1*u32(90)+1*u32(9)+2*zero 0.1=810*bits 0.2=180*zero:out 0.3=2*zero:out

@group(0) @binding(0) var<uniform> params: vec4<u32>;
@group(0) @binding(1) var<storage, read> messages: array<u32>;
@group(0) @binding(2) var<storage, read_write> sums: array<vec2<u32>>;
@group(0) @binding(3) var<storage, read_write> joined: array<u32>;

const POLYNOMIAL: u32 = 0xedb88320u;
var<workgroup> table: array<u32, 256>;
var<workgroup> crcs: array<u32, 64>;

fn table_entry(byte: u32) -> u32 {
    var entry = byte;
    for (var bit = 0u; bit < 8u; bit++) {
        entry = select(entry >> 1u, (entry >> 1u) ^ POLYNOMIAL, (entry & 1u) == 1u);
    }
    return entry;
}

// a * b modulo the polynomial; bit 31 is the coefficient of 1.
fn multiply(a: u32, b: u32) -> u32 {
    var product = 0u;
    var factor = b;
    for (var mask = 0x80000000u; mask != 0u; mask >>= 1u) {
        if ((a & mask) != 0u) {
            product ^= factor;
        }
        factor = select(factor >> 1u, (factor >> 1u) ^ POLYNOMIAL, (factor & 1u) == 1u);
    }
    return product;
}

// x^bits modulo the polynomial, by squaring.
fn power_of_x(bits: u32) -> u32 {
    var result = 0x80000000u;
    var square = 0x40000000u;
    for (var left = bits; left != 0u; left >>= 1u) {
        if ((left & 1u) == 1u) {
            result = multiply(result, square);
        }
        square = multiply(square, square);
    }
    return result;
}

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
    for (var i = lane; i < 256u; i += 64u) {
        table[i] = table_entry(i);
    }
    workgroupBarrier();

    let message = group.x * 64u + lane;
    if (message < params.x) {
        var crc = 0xffffffffu;
        var low = 1u;
        var high = 0u;
        for (var w = 0u; w < params.y; w++) {
            var word = messages[message * params.y + w];
            for (var byte = 0u; byte < 4u; byte++) {
                crc = (crc >> 8u) ^ table[(crc ^ word) & 0xffu];
                low = (low + (word & 0xffu)) % 65521u;
                high = (high + low) % 65521u;
                word >>= 8u;
            }
        }
        sums[message] = vec2<u32>(~crc, (high << 16u) | low);
        crcs[lane] = ~crc;
    }
    workgroupBarrier();

    if (lane == 0u && group.x * 64u < params.x) {
        let present = min(64u, params.x - group.x * 64u);
        let shift = power_of_x(32u * params.y);
        var all = crcs[0];
        for (var i = 1u; i < present; i++) {
            all = multiply(all, shift) ^ crcs[i];
        }
        joined[group.x] = all;
    }
}
