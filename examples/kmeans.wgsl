// One k-means step over points in the plane and height (3-vectors): nearest and second nearest centroid, silhouette-like
// margin, and sums a cluster in 16.16 fixed point, so that the order of the atomic additions does not show.
//
// Bindings: 0 uniform (points, clusters, 0, 0); 1 points (xyz, weight); 2 centroids (xyz, 0); 3 labels, in and out;
// 4 margins; 5 sums a cluster (x, y, z, weight); 6 (points that changed cluster).
// Dispatch: ceil(points / 64) groups of 64.
// deburr-run: groups=3,1,1 0.0=1*u32(150)+1*u32(7)+2*zero 0.1=600*f32(0.1..4) 0.2=28*f32(0..4) 0.3=150*u32(0..7):out 0.4=150*zero:out 0.5=28*zero:out 0.6=1*zero:out

@group(0) @binding(0) var<uniform> params: vec4<u32>;
@group(0) @binding(1) var<storage, read> points: array<vec4<f32>>;
@group(0) @binding(2) var<storage, read> centroids: array<vec4<f32>>;
@group(0) @binding(3) var<storage, read_write> labels: array<u32>;
@group(0) @binding(4) var<storage, read_write> margins: array<f32>;
@group(0) @binding(5) var<storage, read_write> sums: array<atomic<i32>>;
@group(0) @binding(6) var<storage, read_write> changed: atomic<u32>;

const MOST: u32 = 16u;
var<workgroup> shared_centroids: array<vec3<f32>, MOST>;
var<workgroup> shared_sums: array<atomic<i32>, 64>;
var<workgroup> shared_changed: atomic<u32>;

fn fixed(x: f32) -> i32 {
    return i32(round(clamp(x, -16000.0, 16000.0) * 65536.0 / 64.0));
}

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) global: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
    let clusters = min(params.y, MOST);
    if (lane < clusters) {
        shared_centroids[lane] = centroids[lane].xyz;
    }
    atomicStore(&shared_sums[lane], 0);
    if (lane == 0u) {
        atomicStore(&shared_changed, 0u);
    }
    workgroupBarrier();

    if (global.x < params.x) {
        let point = points[global.x];
        var best = 1.0e30;
        var second = 1.0e30;
        var label = 0u;
        for (var c = 0u; c < clusters; c++) {
            let d = point.xyz - shared_centroids[c];
            let distance2 = dot(d, d);
            if (distance2 < best) {
                second = best;
                best = distance2;
                label = c;
            } else {
                second = min(second, distance2);
            }
        }
        let near = sqrt(best);
        let far = sqrt(second);
        margins[global.x] = select(0.0, (far - near) / far, far > 0.0);
        if (labels[global.x] != label) {
            labels[global.x] = label;
            atomicAdd(&shared_changed, 1u);
        }
        let weighted = point.xyz * point.w;
        atomicAdd(&shared_sums[4u * label], fixed(weighted.x));
        atomicAdd(&shared_sums[4u * label + 1u], fixed(weighted.y));
        atomicAdd(&shared_sums[4u * label + 2u], fixed(weighted.z));
        atomicAdd(&shared_sums[4u * label + 3u], fixed(point.w));
    }
    workgroupBarrier();

    if (lane < 4u * clusters) {
        let sum = atomicLoad(&shared_sums[lane]);
        if (sum != 0) {
            atomicAdd(&sums[lane], sum);
        }
    }
    if (lane == 0u) {
        atomicAdd(&changed, atomicLoad(&shared_changed));
    }
}
