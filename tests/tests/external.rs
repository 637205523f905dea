//! The example of a workspace outside of this one. That it builds and runs is a step of CI.

/// What a user has to write to have tables and rules of their own generated.
#[test]
fn the_build_script_is_short() {
    let script = include_str!("../../examples/external/build.rs");
    assert!(script.lines().count() <= 15, "{} lines", script.lines().count());
    assert!(script.contains("Dialect::new") && script.contains(".rules("));
}
