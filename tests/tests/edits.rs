//! The harness of the edit sequences notices bugs. The sequences themselves are the acceptance line `a_5_edits`.

use deburr_tests::edits::{Bug, sequence, sequence_with};
use std::path::Path;

#[test]
fn edits_keep_the_meaning() {
    for seed in 0..10 {
        if let Err(message) = sequence(seed, 20) {
            panic!("seed {seed}: {message}");
        }
    }
}

#[test]
fn every_bug_is_noticed() {
    for &bug in Bug::ALL {
        let noticed = (0..12).filter(|&seed| sequence_with(seed, 20, Some(bug)).is_err()).count();
        // A source that is lost may be of an edge that no input takes.
        assert!(noticed >= 3, "{bug:?} was noticed in {noticed} of 12 sequences");
    }
}

/// Nothing but `cf` changes edges: they are fields of no public type, and no other file of the crate names them.
#[test]
fn edges_are_out_of_reach_of_passes() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../ir-core/src");
    let read = |path: &Path| std::fs::read_to_string(path).expect("a source can be read");
    let cf = read(&folder.join("cf.rs"));
    let (_, block) = cf.split_once("struct BlockData {").expect("blocks have data");
    let (fields, _) = block.split_once('}').expect("it ends");
    assert!(fields.contains("succs:") && fields.contains("preds:"), "{fields}");
    assert!(cf.contains("pub(crate) struct BlockData"), "the data of blocks is the crate's own");
    let mut named_in = Vec::new();
    let mut folders = vec![folder];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).expect("the folder can be read") {
            let path = entry.expect("as above").path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let text = read(&path);
            // A method of that name has its bracket behind it.
            let is_field = |name: &str| {
                text.match_indices(name).any(|(at, _)| {
                    let next = text[at + name.len()..].chars().next();
                    !next.is_some_and(|c| c == '(' || c == '_' || c.is_alphanumeric())
                })
            };
            if is_field("].succs") || is_field("].preds") {
                named_in.push(path.file_name().unwrap_or_default().to_string_lossy().into_owned());
            }
        }
    }
    named_in.sort();
    // The validator looks at them.
    assert_eq!(named_in, ["cf.rs", "cf_edit.rs", "tree.rs"]);
}
