//! Modules that people wrote, where `tests/fetch` has put them: each that is read is valid, is written again, and the
//! binary reads back; in total the code does not grow.

use deburr_spirv::{ErrorKind, ReadOptions, WriteOptions, count, read, write};
use std::path::{Path, PathBuf};

fn modules(dir: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(dir).into_iter().flatten().flatten();
    let mut files: Vec<PathBuf> =
        entries.map(|e| e.path()).filter(|p| p.extension().is_some_and(|e| e == "spv")).collect();
    files.sort();
    files
}

fn words(path: &Path) -> Vec<u32> {
    let bytes = std::fs::read(path).expect("the file was listed");
    bytes.chunks_exact(4).map(|c| u32::from_le_bytes([c[0], c[1], c[2], c[3]])).collect()
}

/// Reads, writes and reads again every module of a source; fails below `share` percent or above 103 % of the size.
fn round_trip(source: &str, share: usize) {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("../target/corpus").join(source);
    let files = modules(&dir);
    let (mut done, mut before, mut after) = (0, 0, 0);
    for file in &files {
        let name = file.display();
        let input = words(file);
        let module = match read(&input, &ReadOptions::default()) {
            Ok(module) => module,
            Err(e) => {
                println!("{name}: {:?}: {e}", e.kind);
                continue;
            }
        };
        deburr_ir_core::validate(&module).unwrap_or_else(|e| panic!("{name}: {:?}", e[0]));
        let output = match write(&module, &WriteOptions::default()) {
            Ok(output) => output,
            Err(e) => {
                assert_eq!(e.kind, ErrorKind::Unsupported, "{name}: {e}");
                println!("{name}: not written: {e}");
                continue;
            }
        };
        let again = read(&output, &ReadOptions::default());
        let again = again.unwrap_or_else(|e| panic!("{name}: the output can't be read: {e:?}"));
        deburr_ir_core::validate(&again).unwrap_or_else(|e| panic!("{name}: {:?}", e[0]));
        let body = |words: &[u32]| count(words).expect("the words are instructions").body;
        before += body(&input);
        after += body(&output);
        done += 1;
    }
    println!("{source}: {done} of {}, body {before} -> {after}", files.len());
    assert!(done * 100 >= files.len() * share, "{done} of {} round trips", files.len());
    assert!(after * 100 <= before * 103, "the code grew from {before} to {after}");
}

#[test]
fn grilly() {
    round_trip("grilly", 100);
}

#[test]
fn taichi() {
    round_trip("taichi", 100);
}

#[test]
fn rend3() {
    round_trip("rend3-routine", 100);
}

#[test]
fn vello() {
    round_trip("vello_shaders/spv", 100);
}

#[test]
fn spirv_cross() {
    round_trip("spirv-cross-sys", 85);
}
