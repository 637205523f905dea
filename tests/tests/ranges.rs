//! What the intrinsic table says of values against what the interpreter gives: of each intrinsic by itself, in workgroups
//! and subgroups of all sizes, and of those in real modules.

use deburr_eval::{Dispatch, Trap};
use deburr_fuzz::{Rng, random_dispatch};
use deburr_ir_core::{INTRINSIC_INFO, IntrinsicInfo, Module, UpperEnd, ValueRange};
use deburr_tests::ranges::{Column, Seen, column, observe, outside};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Intrinsics with a range that the interpreter doesn't run: it has compute shaders without images, and knows built-ins as
/// variables only.
const NOT_RUN: [&str; 15] = [
    "bindless_image_samples",
    "image_deref_samples",
    "image_samples",
    "load_frag_invocation_count",
    "load_frag_shading_rate",
    "load_frag_size",
    "load_patch_vertices_in",
    "load_ray_t_max",
    "load_ray_t_min",
    "load_sample_id",
    "load_sample_id_no_per_sample",
    "load_tess_coord",
    "load_tess_coord_xy",
    "load_view_index",
    "load_work_dim",
];

/// Ends that no run comes to: there is one device, and few workgroups.
const LOOSE: [(&str, bool); 2] = [("load_device_index", true), ("load_num_workgroups", true)];

/// A shader that has an intrinsic's value, and the dispatch of one workgroup size and subgroup size.
fn shader(info: &IntrinsicInfo, size: [u32; 3], from: u64) -> Option<Module> {
    let [x, y, z] = size;
    let mut vars = String::from("decl_var in builtin(SubgroupLocalInvocationId) u32 &lane\n");
    let base = match info.range? {
        ValueRange::Int(..) => "u32",
        ValueRange::Float(..) => "f32",
    };
    let count = match info.dest? {
        1 => String::new(),
        n => format!("x{n}"),
    };
    let value = match (info.builtin, info.srcs) {
        (Some(name), _) => {
            vars += &format!("decl_var in builtin({name}) {base}{count} &it\n");
            format!("    32 %p = deref_var &it\n    32{count} %it = @load_deref %p\n")
        }
        (None, []) => format!("    32{count} %it = @{}\n", info.name),
        (None, [4]) => {
            format!("    32x4 %ballot = @ballot %on\n    32 %it = @{} %ballot\n", info.name)
        }
        (None, _) => return None,
    };
    let text = format!(
        "shader compute \"main\" entry(main) LocalSize({x}, {y}, {z})
{vars}decl_function main()
impl main {{
  block b0:
    32 %l = deref_var &lane
    32 %lane = @load_deref %l
    32 %from = load_const ({from})
    1 %on = uge %lane, %from
{value}    if %on {{
      block b1:
{inner}    }} else {{
      block b2:
    }}
  block b3:
}}
",
        inner = value.replace("%it", "%again").replace("%p", "%q").replace("%ballot", "%votes"),
    );
    let module = deburr_ir_core::parse(&text).unwrap_or_else(|e| panic!("{}\n{text}", e[0]));
    deburr_ir_core::validate(&module).unwrap_or_else(|e| panic!("{e:?}\n{text}"));
    Some(module)
}

/// What is seen of an intrinsic in workgroups of many sizes; nothing if the interpreter doesn't run it.
fn alone(info: &IntrinsicInfo) -> Vec<Seen> {
    let mut rng = Rng::new(7);
    let mut seen = Vec::new();
    for round in 0..24 {
        let size = match round {
            0 | 1 => [128, 1, 1],
            2 => [256, 1, 1],
            3 => [1, 1, 1],
            _ => [0; 3].map(|_| *rng.pick(&[1, 1, 2, 3, 4, 5, 7, 8])).map(|n: u32| n),
        };
        for subgroup in [1, 1 << rng.below(8), 128] {
            let from = match round % 3 {
                0 => u64::from(subgroup - 1),
                1 => 0,
                _ => *rng.pick(&[1, 2, 5, 40]),
            };
            let Some(module) = shader(info, size, from) else { return Vec::new() };
            let mut dispatch = Dispatch::default();
            dispatch.subgroup_size = subgroup;
            dispatch.groups = [0; 3].map(|_| 1 + rng.below(2) as u32);
            match observe(&module, &dispatch) {
                Ok(new) => seen.extend(new.into_iter().filter(|s| s.name == info.name)),
                Err(Trap::Unsupported(_)) => return Vec::new(),
                Err(trap) => panic!("{}: {trap}", info.name),
            }
        }
    }
    seen.retain(|s| !s.free);
    seen
}

/// What is seen of each intrinsic that has a range.
fn all() -> Vec<(&'static str, Vec<Seen>)> {
    let ranged = INTRINSIC_INFO.iter().filter(|info| info.range.is_some());
    ranged.map(|info| (info.name, alone(info))).collect()
}

/// The column with one end of one intrinsic's range too near to the other by one.
fn narrowed(name: &str, high: bool) -> Column {
    let nearer = |end: UpperEnd| match end {
        UpperEnd::Value(n) => UpperEnd::Value(n - 1),
        UpperEnd::WorkgroupSize(less) => UpperEnd::WorkgroupSize(less + 1),
        UpperEnd::WorkgroupInvocations(less) => UpperEnd::WorkgroupInvocations(less + 1),
    };
    let mut column = column();
    for (n, range) in &mut column {
        if let ValueRange::Int(low, end) = range
            && *n == name
        {
            *range = match high {
                true => ValueRange::Int(*low, nearer(*end)),
                false => ValueRange::Int(*low + 1, *end),
            };
        }
    }
    column
}

#[test]
fn every_value_is_in_the_range_and_every_end_is_found_out() {
    let mut not_run = BTreeSet::new();
    let mut wrong = Vec::new();
    for (name, seen) in all() {
        if seen.is_empty() {
            not_run.insert(name);
            continue;
        }
        wrong.extend(outside(&seen, &column()));
        for high in [false, true] {
            let missed = outside(&seen, &narrowed(name, high)).is_empty();
            assert_eq!(
                missed,
                LOOSE.contains(&(name, high)),
                "{name}: a range whose {} end is off by one",
                if high { "upper" } else { "lower" }
            );
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert_eq!(not_run, BTreeSet::from(NOT_RUN));
}

/// The modules of a folder, evenly from its list.
fn modules(dir: &Path, most: usize) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(dir).into_iter().flatten().flatten().map(|e| e.path());
    let mut all: Vec<PathBuf> =
        entries.filter(|p| p.extension().is_some_and(|e| e == "spv")).collect();
    all.sort();
    let step = all.len().div_ceil(most).max(1);
    all.into_iter().step_by(step).collect()
}

#[test]
fn values_in_modules_are_in_their_ranges() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut paths = modules(&root.join("examples"), 100);
    assert!(!paths.is_empty());
    // Where the packages are not there, the examples have to do.
    for source in ["grilly", "taichi", "vello_shaders/spv"] {
        paths.extend(modules(&root.join("target/corpus").join(source), 5));
    }
    let mut rng = Rng::new(11);
    let (mut seen, mut wrong) = (BTreeSet::new(), Vec::new());
    let mut runs = 0;
    for path in paths {
        let bytes = std::fs::read(&path).unwrap();
        let words: Vec<u32> =
            bytes.chunks_exact(4).map(|w| u32::from_le_bytes([w[0], w[1], w[2], w[3]])).collect();
        let Ok(module) = deburr_spirv::read(&words, &Default::default()) else { continue };
        let mut dispatch = Dispatch::default();
        dispatch.subgroup_size = 1 << rng.below(8);
        dispatch.groups = [1; 3];
        dispatch.fuel = 300_000;
        let Ok(dispatch) = random_dispatch(&module, &dispatch, rng.bits()) else { continue };
        let Ok(found) = observe(&module, &dispatch) else { continue };
        runs += 1;
        wrong.extend(outside(&found, &column()).iter().map(|w| format!("{}: {w}", path.display())));
        seen.extend(found.iter().map(|s| s.name));
    }
    println!("{runs} modules ran, with values of {seen:?}");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(runs >= 3 && seen.contains("load_local_invocation_index"), "{runs} {seen:?}");
}
