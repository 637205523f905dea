// Histogram of an image: 64 bins of luminance and 16 of hue from packed RGBA8, counted in workgroup memory and merged
// with global atomics, with smallest, largest and sum. All arithmetic is in integers (BT.709 weights times 2^16).
//
// Bindings: 0 uniform (width, height, stride, 0); 1 pixels; 2 luminance bins; 3 hue bins (the last for greys: 17); 4 (min, max, sum, count).
// Dispatch: ceil(height / 4) groups of 64; a group takes four rows.
// deburr-run: groups=5,1,1 0.0=1*u32(50)+1*u32(18)+1*u32(52)+1*zero 0.1=936*bits 0.2=64*zero:out 0.3=17*zero:out 0.4=1*u32(0xffffffff)+3*zero:out

struct Summary {
    smallest: atomic<u32>,
    largest: atomic<u32>,
    sum: atomic<u32>,
    count: atomic<u32>,
}

@group(0) @binding(0) var<uniform> image: vec4<u32>;
@group(0) @binding(1) var<storage, read> pixels: array<u32>;
@group(0) @binding(2) var<storage, read_write> luminance_bins: array<atomic<u32>, 64>;
@group(0) @binding(3) var<storage, read_write> hue_bins: array<atomic<u32>, 17>;
@group(0) @binding(4) var<storage, read_write> summary: Summary;

var<workgroup> local_luminance: array<atomic<u32>, 64>;
var<workgroup> local_hue: array<atomic<u32>, 17>;

fn luminance(rgb: vec3<u32>) -> u32 {
    // 13933 + 46871 + 4732 = 65536.
    return (rgb.x * 13933u + rgb.y * 46871u + rgb.z * 4732u + 32768u) >> 16u;
}

// A sixteenth of the colour circle, or 16 where the colour has no hue.
fn hue_sector(rgb: vec3<u32>) -> u32 {
    let c = vec3<i32>(rgb);
    let high = max(max(c.x, c.y), c.z);
    let low = min(min(c.x, c.y), c.z);
    let chroma = high - low;
    if (chroma < 8) {
        return 16u;
    }
    // Six sectors of 256 units each, starting at red.
    var angle: i32;
    if (high == c.x) {
        angle = (c.y - c.z) * 256 / chroma;
        if (angle < 0) {
            angle += 1536;
        }
    } else if (high == c.y) {
        angle = (c.z - c.x) * 256 / chroma + 512;
    } else {
        angle = (c.x - c.y) * 256 / chroma + 1024;
    }
    return min(u32(angle) * 16u / 1536u, 15u);
}

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
    atomicStore(&local_luminance[lane], 0u);
    if (lane < 17u) {
        atomicStore(&local_hue[lane], 0u);
    }
    workgroupBarrier();

    var smallest = 0xffffffffu;
    var largest = 0u;
    var sum = 0u;
    var seen = 0u;
    for (var row = group.x * 4u; row < min(group.x * 4u + 4u, image.y); row++) {
        for (var column = lane; column < image.x; column += 64u) {
            let packed = pixels[row * image.z + column];
            let rgb = vec3<u32>(packed & 0xffu, (packed >> 8u) & 0xffu, (packed >> 16u) & 0xffu);
            if ((packed >> 24u) < 16u) {
                continue; // nearly transparent
            }
            let value = luminance(rgb);
            atomicAdd(&local_luminance[value >> 2u], 1u);
            atomicAdd(&local_hue[hue_sector(rgb)], 1u);
            smallest = min(smallest, value);
            largest = max(largest, value);
            sum += value;
            seen++;
        }
    }
    if (seen > 0u) {
        atomicMin(&summary.smallest, smallest);
        atomicMax(&summary.largest, largest);
        atomicAdd(&summary.sum, sum);
        atomicAdd(&summary.count, seen);
    }
    workgroupBarrier();

    let counted = atomicLoad(&local_luminance[lane]);
    if (counted != 0u) {
        atomicAdd(&luminance_bins[lane], counted);
    }
    if (lane < 17u) {
        atomicAdd(&hue_bins[lane], atomicLoad(&local_hue[lane]));
    }
}
