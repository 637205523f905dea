//! The harness of the edit sequences notices bugs. The sequences themselves are the acceptance line `a_5_edits`.

use deburr_tests::edits::{Bug, sequence, sequence_with};

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
