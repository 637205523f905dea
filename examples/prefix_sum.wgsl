// Exclusive prefix sum of u32 over blocks of 512 (Blelloch 1990, up-sweep and down-sweep in workgroup memory),
// with the sums of the blocks, the largest element and where it first stands.
//
// Bindings: 0 uniform count; 1 input; 2 exclusive sums; 3 per block (sum, maximum, its index, count of zeros).
// Dispatch: ceil(count / 512) groups of 256; each invocation owns two neighbours.
// deburr-run: groups=3,1,1 0.0=1*u32(1300)+3*zero 0.1=1300*u32(0..1000) 0.2=1300*zero:out 0.3=12*zero:out

struct Block {
    sum: u32,
    largest: u32,
    first: u32,
    zeros: u32,
}

@group(0) @binding(0) var<uniform> count: vec4<u32>;
@group(0) @binding(1) var<storage, read> input: array<u32>;
@group(0) @binding(2) var<storage, read_write> output: array<u32>;
@group(0) @binding(3) var<storage, read_write> blocks: array<Block>;

const SIZE: u32 = 512u;
const PADDED: u32 = 544u;
var<workgroup> sums: array<u32, PADDED>;
var<workgroup> best: array<vec2<u32>, 256>;
var<workgroup> zeros: atomic<u32>;

// One word of padding for every sixteen keeps the strided sweeps off the same bank.
fn slot(index: u32) -> u32 {
    return index + (index >> 4u);
}

fn better(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {
    let first = a.x > b.x || (a.x == b.x && a.y <= b.y);
    return select(b, a, first);
}

@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
    let base = group.x * SIZE;
    let left = base + 2u * lane;
    var x = 0u;
    var y = 0u;
    var absent = 0u;
    if (left < count.x) {
        x = input[left];
        absent += u32(x == 0u);
    }
    if (left + 1u < count.x) {
        y = input[left + 1u];
        absent += u32(y == 0u);
    }
    sums[slot(2u * lane)] = x;
    sums[slot(2u * lane + 1u)] = y;
    best[lane] = better(vec2<u32>(x, left), vec2<u32>(y, left + 1u));
    if (lane == 0u) {
        atomicStore(&zeros, 0u);
    }
    workgroupBarrier();
    if (absent != 0u) {
        atomicAdd(&zeros, absent);
    }

    // Up-sweep: a tree of partial sums, in place.
    var offset = 1u;
    for (var width = SIZE >> 1u; width > 0u; width >>= 1u) {
        if (lane < width) {
            let from_index = slot(offset * (2u * lane + 1u) - 1u);
            let into_index = slot(offset * (2u * lane + 2u) - 1u);
            sums[into_index] += sums[from_index];
        }
        if (lane < (width >> 1u)) {
            best[lane] = better(best[lane], best[lane + (width >> 1u)]);
        }
        offset <<= 1u;
        workgroupBarrier();
    }

    if (lane == 0u) {
        let last = slot(SIZE - 1u);
        blocks[group.x] = Block(sums[last], best[0].x, best[0].y, atomicLoad(&zeros));
        sums[last] = 0u;
    }
    workgroupBarrier();

    // Down-sweep: each node hands its sum to the left child and the sum plus the left child's to the right one.
    for (var width = 1u; width < SIZE; width <<= 1u) {
        offset >>= 1u;
        if (lane < width) {
            let a = slot(offset * (2u * lane + 1u) - 1u);
            let b = slot(offset * (2u * lane + 2u) - 1u);
            let carried = sums[a];
            sums[a] = sums[b];
            sums[b] += carried;
        }
        workgroupBarrier();
    }

    if (left < count.x) {
        output[left] = sums[slot(2u * lane)];
    }
    if (left + 1u < count.x) {
        output[left + 1u] = sums[slot(2u * lane + 1u)];
    }
}
