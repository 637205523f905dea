//! The list of rule files: what is told where it and the folder don't agree.
#![cfg(feature = "rules")]

use std::path::{Path, PathBuf};

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/..");

/// A copy of the tree's rules.
fn copied(name: &str) -> PathBuf {
    let folder: PathBuf = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let rules = folder.join("rules");
    // What an earlier run left there is not of this tree.
    let _ = std::fs::remove_dir_all(&rules);
    std::fs::create_dir_all(&rules).expect("the folder can be made");
    for entry in std::fs::read_dir(format!("{ROOT}/rules")).expect("the rules are there") {
        let path = entry.expect("the folder can be read").path();
        std::fs::copy(&path, rules.join(path.file_name().expect("a file has a name")))
            .expect("a file can be copied");
    }
    folder
}

/// What generating the rules of a folder says.
fn told(folder: &Path) -> String {
    let table = |name: &str| PathBuf::from(format!("{ROOT}/{name}.toml"));
    let rules = folder.join("rules");
    let made =
        deburr_rulegen::generate_rules(&table("opcodes"), &table("intrinsics"), &rules, folder);
    made.map_or_else(|errors| errors.to_string(), |()| String::new())
}

/// The same of the tree's, with one more file and one more line in `groups.rules`.
fn generated(name: &str, line: &str) -> String {
    let folder = copied(name);
    let rules = folder.join("rules");
    let groups = std::fs::read_to_string(rules.join("groups.rules")).expect("it was copied");
    std::fs::write(rules.join("groups.rules"), format!("{groups}{line}\n")).expect("as above");
    let own = "rules 1\n\nrule newcomers_own: fatan2(a, a) => ffloor(fatan2(a, a)) canonical \"a test\";\n";
    std::fs::write(rules.join("newcomer.rules"), own).expect("a file can be written");
    told(&folder)
}

/// What else a build has of a rule follows from its file.
#[test]
fn a_rule_is_added_in_its_file_alone() {
    let folder = copied("added");
    let file = folder.join("rules/shifts.rules");
    let text = std::fs::read_to_string(&file).expect("it was copied");
    let made = || std::fs::read_to_string(folder.join("rules.rs")).expect("it was written");
    assert_eq!(told(&folder), "");
    let before = made();
    let line = text.lines().count() + 1;
    let rule = "rule newcomers_own: bitfield_reverse(ishl(a:32, 31)) => iand(a, 1);\n";
    std::fs::write(&file, text + rule).expect("a file can be written");
    assert_eq!(told(&folder), "");
    let after = made();
    assert!(!before.contains("newcomers_own"));
    let place = format!("// rule newcomers_own at rules/shifts.rules:{line}");
    assert!(after.contains(&place), "no arm is marked `{place}`");
    // It is tried at its root.
    let (_, matcher) =
        after.split_once("mod opt_bitfield_reverse {").expect("its root has a matcher");
    let (matcher, _) = matcher.split_once("\n}").expect("a module ends");
    assert!(matcher.contains(&place), "{matcher}");
}

#[test]
fn a_file_that_is_not_listed_and_a_line_without_a_file_are_told() {
    let told = generated("unlisted", "");
    assert!(told.contains("groups.rules has no line `file newcomer;`"), "{told}");
    let told = generated("misspelt", "file newcomre;");
    assert!(
        told.contains("error[E0301]") || told.contains("`newcomre.rules` can't be read"),
        "{told}"
    );
    assert!(told.contains("did you mean `newcomer`?"), "{told}");
}
