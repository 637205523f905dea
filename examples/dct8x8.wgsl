// Forward 8 x 8 discrete cosine transform of a grey image by the factorisation of Arai, Agui and Nakajima (1988), rows
// then columns in workgroup memory; quantisation with a quality-scaled table, zigzag order and the count of non-zeros.
//
// Bindings: 0 uniform (blocks across, blocks down, quality 1..100, 0); 1 grey pixels, four a word; 2 coefficients as
// i32, 64 a block in zigzag order; 3 per block (non-zeros, last non-zero).
// Dispatch: ceil(blocks / 8) groups of 64; eight invocations a block, one row or column each.
// deburr-run: groups=2,1,1 0.0=1*u32(4)+1*u32(3)+1*u32(75)+1*zero 0.1=192*bits 0.2=768*zero:out 0.3=24*zero:out

@group(0) @binding(0) var<uniform> params: vec4<u32>;
@group(0) @binding(1) var<storage, read> pixels: array<u32>;
@group(0) @binding(2) var<storage, read_write> coefficients: array<i32>;
@group(0) @binding(3) var<storage, read_write> summary: array<vec2<u32>>;

var<workgroup> blocks: array<f32, 512>;
var<workgroup> counts: array<atomic<u32>, 8>;
var<workgroup> lasts: array<atomic<u32>, 8>;

// The 1-D transform leaves coefficient k scaled by sqrt(8) times this: sqrt(2) cos(k pi / 16), 1 for k = 0.
const SCALE: array<f32, 8> = array<f32, 8>(
    1.0, 1.3870399, 1.306563, 1.1758756, 1.0, 0.78569496, 0.5411961, 0.27589938,
);

fn transform(v: array<f32, 8>) -> array<f32, 8> {
    let s07 = v[0] + v[7];
    let d07 = v[0] - v[7];
    let s16 = v[1] + v[6];
    let d16 = v[1] - v[6];
    let s25 = v[2] + v[5];
    let d25 = v[2] - v[5];
    let s34 = v[3] + v[4];
    let d34 = v[3] - v[4];

    let even0 = s07 + s34;
    let even3 = s07 - s34;
    let even1 = s16 + s25;
    let even2 = s16 - s25;
    let turned = (even2 + even3) * 0.70710677;

    let odd0 = d34 + d25;
    let odd1 = d25 + d16;
    let odd2 = d16 + d07;
    let shared_term = (odd0 - odd2) * 0.38268343;
    let lower = 0.5411961 * odd0 + shared_term;
    let upper = 1.306563 * odd2 + shared_term;
    let middle = odd1 * 0.70710677;
    let plus = d07 + middle;
    let minus = d07 - middle;

    return array<f32, 8>(
        even0 + even1,
        plus + upper,
        even3 + turned,
        minus - lower,
        even0 - even1,
        minus + lower,
        even3 - turned,
        plus - upper,
    );
}

// Where coefficient (row, column) stands on the zigzag path.
fn zigzag(row: u32, column: u32) -> u32 {
    let diagonal = row + column;
    let upward = (diagonal & 1u) == 0u;
    if (diagonal < 8u) {
        return diagonal * (diagonal + 1u) / 2u + select(row, column, upward);
    }
    let rest = 14u - diagonal;
    let from_end = rest * (rest + 1u) / 2u + select(7u - row, 7u - column, upward);
    return 63u - from_end;
}

// A smooth stand-in for the usual luminance table, 10 to 100.
fn quantum(row: u32, column: u32) -> f32 {
    let base = 10.0 + 6.0 * f32(row + column) + 0.6 * f32(row * column);
    let quality = clamp(params.z, 1u, 100u);
    let percent = select(200.0 - 2.0 * f32(quality), 5000.0 / f32(quality), quality < 50u);
    return clamp(floor((base * percent + 50.0) / 100.0), 1.0, 255.0);
}

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
    let slot = lane >> 3u;
    let line = lane & 7u;
    let block = group.x * 8u + slot;
    let present = block < params.x * params.y;
    if (lane < 8u) {
        atomicStore(&counts[lane], 0u);
        atomicStore(&lasts[lane], 0u);
    }

    var v: array<f32, 8>;
    if (present) {
        let block_x = block % params.x;
        let block_y = block / params.x;
        let words = 2u * params.x;
        let start = (block_y * 8u + line) * words + block_x * 2u;
        for (var w = 0u; w < 2u; w++) {
            let word = pixels[start + w];
            for (var byte = 0u; byte < 4u; byte++) {
                v[4u * w + byte] = f32((word >> (8u * byte)) & 0xffu) - 128.0;
            }
        }
    }
    v = transform(v);
    for (var i = 0u; i < 8u; i++) {
        blocks[slot * 64u + line * 8u + i] = v[i];
    }
    workgroupBarrier();

    for (var i = 0u; i < 8u; i++) {
        v[i] = blocks[slot * 64u + i * 8u + line];
    }
    v = transform(v);
    if (present) {
        var scales = SCALE;
        var nonzero = 0u;
        var last = 0u;
        for (var row = 0u; row < 8u; row++) {
            let value = v[row] / (8.0 * scales[row] * scales[line]);
            let level = i32(round(value / quantum(row, line)));
            let place = zigzag(row, line);
            coefficients[block * 64u + place] = level;
            if (level != 0) {
                nonzero++;
                last = max(last, place);
            }
        }
        atomicAdd(&counts[slot], nonzero);
        atomicMax(&lasts[slot], last);
    }
    workgroupBarrier();
    if (present && line == 0u) {
        summary[block] = vec2<u32>(atomicLoad(&counts[slot]), atomicLoad(&lasts[slot]));
    }
}
