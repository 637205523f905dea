// Edit distance with adjacent transpositions (Damerau 1964, restricted) of two texts by anti-diagonals: one group a
// pair, five diagonals in workgroup memory, a barrier a diagonal. Letters are 8-bit, four a word.
//
// Bindings: 0 uniform (words a text, cost of a substitution, cost of a transposition, mask of a letter); 1 lengths in
// letters of each pair; 2 texts, two a pair, padded; 3 per pair (distance, common prefix, largest cell, 0).
// Dispatch: one group of 64 a pair; texts of up to 63 letters.
// deburr-run: groups=4,1,1 0.0=1*u32(10)+1*u32(2)+1*u32(1)+1*u32(3) 0.1=8*u32(17..41) 0.2=80*bits 0.3=16*zero:out

@group(0) @binding(0) var<uniform> params: vec4<u32>;
@group(0) @binding(1) var<storage, read> lengths: array<vec2<u32>>;
@group(0) @binding(2) var<storage, read> texts: array<u32>;
@group(0) @binding(3) var<storage, read_write> results: array<vec4<u32>>;

const WIDE: u32 = 64u;
const KEPT: u32 = 5u;
var<workgroup> diagonals: array<array<u32, WIDE>, KEPT>;
var<workgroup> first: array<u32, WIDE>;
var<workgroup> second: array<u32, WIDE>;
var<workgroup> differs_at: atomic<u32>;
var<workgroup> largest: atomic<u32>;

fn letter(text: u32, index: u32) -> u32 {
    let word = texts[text * params.x + (index >> 2u)];
    return (word >> ((index & 3u) * 8u)) & 0xffu & params.w;
}

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
    let size = min(lengths[group.x], vec2<u32>(min(4u * params.x, WIDE - 1u)));
    if (lane < size.x) {
        first[lane] = letter(2u * group.x, lane);
    }
    if (lane < size.y) {
        second[lane] = letter(2u * group.x + 1u, lane);
    }
    let shorter = min(size.x, size.y);
    if (lane == 0u) {
        atomicStore(&differs_at, shorter);
        atomicStore(&largest, 0u);
    }
    workgroupBarrier();
    if (lane < shorter && first[lane] != second[lane]) {
        atomicMin(&differs_at, lane);
    }

    // Cell (i, j) is on diagonal i + j; invocation i computes row i.
    let i = lane;
    for (var diagonal = 0u; diagonal <= size.x + size.y; diagonal++) {
        if (i <= size.x && i <= diagonal && diagonal - i <= size.y) {
            let j = diagonal - i;
            var cost = max(i, j);
            if (i > 0u && j > 0u) {
                let one_back = (diagonal - 1u) % KEPT;
                let two_back = (diagonal - 2u) % KEPT;
                let a = first[i - 1u];
                let b = second[j - 1u];
                let up = diagonals[one_back][i - 1u] + 1u;
                let left = diagonals[one_back][i] + 1u;
                let corner = diagonals[two_back][i - 1u] + select(params.y, 0u, a == b);
                cost = min(min(up, left), corner);
                if (i > 1u && j > 1u && a != b) {
                    if (a == second[j - 2u] && b == first[i - 2u]) {
                        let four_back = (diagonal - 4u) % KEPT;
                        cost = min(cost, diagonals[four_back][i - 2u] + params.z);
                    }
                }
            }
            diagonals[diagonal % KEPT][i] = cost;
            atomicMax(&largest, cost);
        }
        workgroupBarrier();
    }

    if (lane == 0u) {
        let distance = diagonals[(size.x + size.y) % KEPT][size.x];
        results[group.x] = vec4<u32>(distance, atomicLoad(&differs_at), atomicLoad(&largest), 0u);
    }
}
