// Conway's Game of Life on a torus, 32 cells a word: neighbours are counted by bit-sliced adders, four generations a
// dispatch on a board that fits into one group, with births, deaths and population of each generation.
//
// Bindings: 0 uniform (words a row, rows, generations, rule), words x rows <= 128; rule = birth bits | survival bits << 16;
// 1 board, in and out; 2 per generation (population, births, deaths, 0).
// Dispatch: one group of 128.
// deburr-run: groups=1,1,1 0.0=1*u32(4)+1*u32(31)+1*u32(4)+1*u32(0xc0008) 0.1=124*bits:out 0.2=16*zero:out

@group(0) @binding(0) var<uniform> params: vec4<u32>;
@group(0) @binding(1) var<storage, read_write> board: array<u32>;
@group(0) @binding(2) var<storage, read_write> census: array<vec4<u32>>;

var<workgroup> cells: array<u32, 128>;
var<workgroup> tally: array<atomic<u32>, 4>;

struct Sum {
    low: u32,
    high: u32,
}

fn half_add(a: u32, b: u32) -> Sum {
    return Sum(a ^ b, a & b);
}

fn full_add(a: u32, b: u32, c: u32) -> Sum {
    let ab = a ^ b;
    return Sum(ab ^ c, (a & b) | (ab & c));
}

struct Row {
    left: u32,
    middle: u32,
    right: u32,
}

// A word and the same word as seen from one cell to either side, bits borrowed from its neighbours.
fn row_at(row: u32, word: u32) -> Row {
    let words = params.x;
    let base = row * words;
    let here = cells[base + word];
    let before = cells[base + (word + words - 1u) % words];
    let after = cells[base + (word + 1u) % words];
    return Row((here << 1u) | (before >> 31u), here, (here >> 1u) | (after << 31u));
}

// The cells whose count of neighbours, in four bit planes, is in the mask.
fn matching(count: array<u32, 4>, mask: u32) -> u32 {
    var planes = count;
    var found = 0u;
    for (var n = 0u; n <= 8u; n++) {
        if (((mask >> n) & 1u) == 0u) {
            continue;
        }
        var equal = 0xffffffffu;
        for (var bit = 0u; bit < 4u; bit++) {
            let want = select(0u, 0xffffffffu, ((n >> bit) & 1u) == 1u);
            equal &= ~(planes[bit] ^ want);
        }
        found |= equal;
    }
    return found;
}

@compute @workgroup_size(128)
fn main(@builtin(local_invocation_index) lane: u32) {
    let total = params.x * params.y;
    let busy = lane < total;
    if (busy) {
        cells[lane] = board[lane];
    }
    let row = lane / params.x;
    let word = lane % params.x;
    let above = (row + params.y - 1u) % params.y;
    let below = (row + 1u) % params.y;

    for (var generation = 0u; generation < params.z; generation++) {
        if (lane < 4u) {
            atomicStore(&tally[lane], 0u);
        }
        workgroupBarrier();
        var next = 0u;
        if (busy) {
            let a = row_at(above, word);
            let h = row_at(row, word);
            let b = row_at(below, word);
            // Eight one-bit summands to a four-bit count.
            let top = full_add(a.left, a.middle, a.right);
            let bottom = full_add(b.left, b.middle, b.right);
            let sides = half_add(h.left, h.right);
            let ones = full_add(top.low, bottom.low, sides.low);
            let twos1 = full_add(top.high, bottom.high, sides.high);
            let twos = half_add(twos1.low, ones.high);
            let fours = half_add(twos1.high, twos.high);
            let count = array<u32, 4>(ones.low, twos.low, fours.low, fours.high);
            let alive = h.middle;
            next = (matching(count, params.w & 0xffffu) & ~alive) | (matching(count, params.w >> 16u) & alive);
            atomicAdd(&tally[0], countOneBits(next));
            atomicAdd(&tally[1], countOneBits(next & ~alive));
            atomicAdd(&tally[2], countOneBits(alive & ~next));
        }
        workgroupBarrier();
        if (busy) {
            cells[lane] = next;
        }
        if (lane == 0u) {
            census[generation] = vec4<u32>(atomicLoad(&tally[0]), atomicLoad(&tally[1]), atomicLoad(&tally[2]), 0u);
        }
        workgroupBarrier();
    }

    if (busy) {
        board[lane] = cells[lane];
    }
}
