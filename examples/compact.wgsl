// Stream compaction and partition: elements that pass a filter keep their order at the front of the block, the others go
// to its end in reverse; both by one workgroup scan of packed counts, with a run-length summary of the pass flags.
//
// Bindings: 0 uniform (count, low, high, 0): passes if low <= key < high after a byte swap; 1 input; 2 partitioned
// elements; 3 their source indices; 4 per block (passed, runs, longest run, checksum).
// Dispatch: ceil(count / 256) groups of 64; each invocation takes four neighbours.
// deburr-run: groups=3,1,1 0.0=1*u32(600)+1*u32(0x40000000)+1*u32(0xc0000000)+1*zero 0.1=600*bits 0.2=600*zero:out 0.3=600*zero:out 0.4=12*zero:out

@group(0) @binding(0) var<uniform> params: vec4<u32>;
@group(0) @binding(1) var<storage, read> input: array<u32>;
@group(0) @binding(2) var<storage, read_write> output: array<u32>;
@group(0) @binding(3) var<storage, read_write> sources: array<u32>;
@group(0) @binding(4) var<storage, read_write> blocks: array<vec4<u32>>;

const SIZE: u32 = 256u;
var<workgroup> counts: array<u32, 64>;
var<workgroup> flags: array<atomic<u32>, 8>;
var<workgroup> checksum: atomic<u32>;

fn swap_bytes(x: u32) -> u32 {
    let pairs = ((x & 0x00ff00ffu) << 8u) | ((x >> 8u) & 0x00ff00ffu);
    return (pairs << 16u) | (pairs >> 16u);
}

fn passes(x: u32) -> bool {
    let key = swap_bytes(x);
    return key >= params.y && key < params.z;
}

// (runs of ones, longest of them) in the 256 flags.
fn runs() -> vec2<u32> {
    var count = 0u;
    var longest = 0u;
    var current = 0u;
    for (var w = 0u; w < 8u; w++) {
        var word = atomicLoad(&flags[w]);
        var left = 32u;
        while (left > 0u) {
            if ((word & 1u) == 0u) {
                let skip = min(select(countTrailingZeros(word), 32u, word == 0u), left);
                current = 0u;
                left -= skip;
                word = select(word >> skip, 0u, skip == 32u);
            } else {
                let length = min(countTrailingZeros(~word), left);
                count += u32(current == 0u);
                current += length;
                longest = max(longest, current);
                left -= length;
                word = select(word >> length, 0u, length == 32u);
            }
        }
    }
    return vec2<u32>(count, longest);
}

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
    let base = group.x * SIZE;
    let present = min(SIZE, params.x - min(params.x, base));
    if (lane < 8u) {
        atomicStore(&flags[lane], 0u);
    }
    if (lane == 0u) {
        atomicStore(&checksum, 0u);
    }

    var items: array<u32, 4>;
    var mask = 0u;
    for (var k = 0u; k < 4u; k++) {
        let position = 4u * lane + k;
        if (position < present) {
            items[k] = input[base + position];
            mask |= u32(passes(items[k])) << k;
        }
    }
    let own = countOneBits(mask);
    counts[lane] = own;
    workgroupBarrier();
    atomicOr(&flags[lane >> 3u], mask << ((lane & 7u) * 4u));
    atomicXor(&checksum, items[0] ^ reverseBits(items[1]) ^ swap_bytes(items[2]) ^ ~items[3]);

    for (var distance = 1u; distance < 64u; distance <<= 1u) {
        var sum = counts[lane];
        if (lane >= distance) {
            sum += counts[lane - distance];
        }
        workgroupBarrier();
        counts[lane] = sum;
        workgroupBarrier();
    }

    var before = counts[lane] - own;
    for (var k = 0u; k < 4u; k++) {
        let position = 4u * lane + k;
        if (position < present) {
            let passed = (mask >> k) & 1u;
            // What fails is counted from the end of the block.
            let rejected = position - before;
            let place = select(present - 1u - rejected, before, passed == 1u);
            output[base + place] = items[k];
            sources[base + place] = base + position;
            before += passed;
        }
    }
    if (lane == 0u && present > 0u) {
        let summary = runs();
        blocks[group.x] = vec4<u32>(counts[63], summary, atomicLoad(&checksum));
    }
}
