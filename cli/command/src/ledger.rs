//! The files of the ledger: found, read, and written as verdicts come.

use crate::codes;
use crate::output;
use crate::report::{Diagnostic, Kind, Place, Trouble};
use deburr_verify::Key;
use deburr_verify::ledger::{Entry, Ledger};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// Where a source tree has its ledger.
const FOLDER: &str = "verify/ledger";

/// A ledger on disk.
pub struct Store {
    folder: PathBuf,
    /// By the stem of the rule file.
    files: BTreeMap<String, Ledger>,
    /// The first failure to write.
    failure: Option<Diagnostic>,
}

impl Store {
    /// The ledger of that folder, or of the source tree that the current folder is in; `None` if it is in none.
    pub fn open(folder: Option<&Path>) -> Result<Option<Store>, Trouble> {
        let folder = match folder {
            Some(folder) => folder.to_owned(),
            None => {
                let Ok(here) = std::env::current_dir() else { return Ok(None) };
                let found = here.ancestors().map(|a| a.join(FOLDER)).find(|f| f.is_dir());
                match found {
                    Some(folder) => folder,
                    None => return Ok(None),
                }
            }
        };
        let mut store = Store { folder, files: BTreeMap::new(), failure: None };
        store.read()?;
        Ok(Some(store))
    }

    fn read(&mut self) -> Result<(), Trouble> {
        let unreadable = |path: &Path, e: std::io::Error| {
            let message = format!("can't read: {e}");
            Diagnostic::new(&path.to_string_lossy(), Kind::Invalid, codes::FILE, message)
        };
        let list = std::fs::read_dir(&self.folder).map_err(|e| unreadable(&self.folder, e))?;
        let mut paths: Vec<PathBuf> = list.filter_map(|e| Some(e.ok()?.path())).collect();
        paths.retain(|path| path.extension().is_some_and(|e| e == "txt"));
        paths.sort();
        let mut wrong = Vec::new();
        for path in paths {
            let text = std::fs::read_to_string(&path).map_err(|e| unreadable(&path, e))?;
            let stem = path.file_stem().map_or(String::new(), |s| s.to_string_lossy().into());
            match Ledger::parse(&text) {
                Ok(ledger) => {
                    self.files.insert(stem, ledger);
                }
                Err(list) => wrong.extend(list.into_iter().map(|m| {
                    let file = path.to_string_lossy();
                    let mut d = Diagnostic::new(&file, Kind::Invalid, codes::LEDGER, m.why);
                    let line = text.lines().nth(m.line - 1).unwrap_or("").to_owned();
                    let len = line.chars().count().max(1);
                    d.place = Place::Text { line: m.line, col: 1, len, text: line };
                    d.help("remove the line: `deburr verify` works out what is missing")
                })),
            }
        }
        match wrong.is_empty() {
            true => Ok(()),
            false => Err(wrong),
        }
    }

    /// What is on file under a key, preferably in that file and of that instance.
    pub fn get(&self, file: &str, key: Key, instance: &str) -> Option<&Entry> {
        let own = self.files.get(file).and_then(|l| l.get(key, instance));
        own.or_else(|| self.files.values().find_map(|l| l.get(key, instance)))
    }

    /// Puts a rule's entries on file. A failure to write is kept for the end.
    pub fn record(&mut self, file: &str, entries: Vec<(Key, Entry)>) {
        let ledger = self.files.entry(file.to_owned()).or_default();
        let mut changed = false;
        for (key, entry) in entries {
            if ledger.get(key, &entry.instance) != Some(&entry) {
                ledger.add(key, entry);
                changed = true;
            }
        }
        if changed {
            self.write(file);
        }
    }

    /// Removes what isn't current any more; gives how many lines that were.
    pub fn prune(&mut self, current: &BTreeMap<String, BTreeSet<(Key, String)>>) -> usize {
        let none = BTreeSet::new();
        let mut gone = 0;
        for file in self.files.keys().cloned().collect::<Vec<_>>() {
            let keep = current.get(&file).unwrap_or(&none);
            let Some(ledger) = self.files.get_mut(&file) else { continue };
            let before = ledger.len();
            ledger.retain(|key, entry| keep.contains(&(key, entry.instance.clone())));
            let removed = before - ledger.len();
            gone += removed;
            if removed > 0 {
                self.write(&file);
            }
        }
        gone
    }

    /// What went wrong with writing, if something did.
    pub fn failure(&mut self) -> Option<Diagnostic> {
        self.failure.take()
    }

    fn write(&mut self, file: &str) {
        let Some(ledger) = self.files.get(file) else { return };
        let path = self.folder.join(format!("{file}.txt"));
        let done = match ledger.is_empty() && path.exists() {
            true => std::fs::remove_file(&path).map_err(|e| {
                let message = format!("can't remove: {e}");
                Diagnostic::new(&path.to_string_lossy(), Kind::Invalid, codes::FILE, message)
            }),
            false => output::write_file(&path, ledger.to_string().as_bytes()),
        };
        if let Err(d) = done {
            self.failure.get_or_insert(d);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use deburr_verify::Kind as Found;

    fn entry(instance: &str) -> Entry {
        Entry {
            instance: instance.into(),
            context: "keep,rte".into(),
            kind: Found::Proved,
            by: "z3".into(),
            points: 7,
            numbers: 7,
            seed: 1,
            needs: Vec::new(),
        }
    }

    #[test]
    fn entries_outlive_the_process_and_go_with_their_rules() {
        let folder = tempfile::tempdir().unwrap();
        let open =
            || Store::open(Some(folder.path())).unwrap_or_else(|_| panic!("unread")).unwrap();
        let key = Key::parse(&"1".repeat(32)).unwrap();
        let mut store = open();
        store.record("a", vec![(key, entry("x@8x1"))]);
        assert_eq!(open().get("a", key, "x@8x1"), Some(&entry("x@8x1")));
        // A rule that moves to another file, or gets another name, keeps its verdict.
        assert_eq!(open().get("b", key, "y@8x1"), Some(&entry("x@8x1")));
        store.record("b", vec![(key, entry("y@8x1"))]);
        let current =
            BTreeMap::from([("b".to_owned(), BTreeSet::from([(key, "y@8x1".to_owned())]))]);
        assert_eq!(store.prune(&current), 1);
        assert!(!folder.path().join("a.txt").exists());
        assert_eq!(open().files.len(), 1);
        assert!(store.failure().is_none());
    }

    #[test]
    fn a_line_edited_by_hand_is_told_with_its_place() {
        let folder = tempfile::tempdir().unwrap();
        let mut ledger = Ledger::default();
        ledger.add(Key::parse(&"1".repeat(32)).unwrap(), entry("x@8x1"));
        let text = ledger.to_string().replace("points=7", "points=9");
        std::fs::write(folder.path().join("a.txt"), text).unwrap();
        let Err(trouble) = Store::open(Some(folder.path())) else { panic!("it is taken") };
        let list: Vec<_> = trouble.into_iter().collect();
        assert!(matches!(list[0].place, Place::Text { line: 2, .. }), "{:?}", list[0].place);
        assert!(list[0].message.contains("edited"));
    }
}
