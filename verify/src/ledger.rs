//! The ledger: verdicts on file, so that only what changed is worked out again.
//!
//! A file holds the verdicts of one rule file, one line an instance and claim, sorted. A line has seven fields with tabs
//! between them: key, instance, context, verdict, by, evidence, check value. The check value tells a line that was edited
//! by hand from one that was written here. Nothing in it depends on when or where a verdict was found.

use crate::key::{Key, SEMANTICS};
use crate::report::{Kind, Verdict};
use std::collections::BTreeMap;
use std::fmt;

/// What the ledger says of an instance under a claim.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The instance, as it is called at present.
    pub instance: String,
    /// Environment and licences.
    pub context: String,
    /// What was found. Never refuted or missing: such is found again.
    pub kind: Kind,
    /// By what.
    pub by: String,
    /// Inputs that were tried.
    pub points: u64,
    /// Those of them at which the pattern isn't NaN.
    pub numbers: u64,
    /// Seed of the random ones.
    pub seed: u64,
    /// Licences without which something is found against this instance.
    pub needs: Vec<String>,
}

impl Entry {
    /// The entry of a verdict; `None` for those that are not kept.
    pub fn of(verdict: &Verdict) -> Option<Entry> {
        verdict.is_good().then(|| Entry {
            instance: verdict.instance.clone(),
            context: verdict.context.clone(),
            kind: verdict.kind,
            by: verdict.by.clone(),
            points: verdict.points,
            numbers: verdict.numbers,
            seed: verdict.seed,
            needs: verdict.needs.iter().map(|l| (*l).to_owned()).collect(),
        })
    }

    /// The line without its check value.
    fn fields(&self, key: Key) -> String {
        let Entry { instance, context, kind, by, points, numbers, seed, needs } = self;
        let mut evidence = match kind {
            Kind::Waived => String::new(),
            // All inputs are no sample.
            _ if by == BY_EXHAUSTION => format!("points={points}"),
            _ => format!("points={points};numbers={numbers};seed={seed}"),
        };
        if !needs.is_empty() {
            let joint = if evidence.is_empty() { "" } else { ";" };
            evidence += &format!("{joint}needs={}", needs.join(","));
        }
        format!("{key}\t{instance}\t{context}\t{kind}\t{by}\t{evidence}")
    }
}

/// How an instance is proved of which every input was tried.
pub const BY_EXHAUSTION: &str = "exhaustion";

/// A line that is no entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Malformed {
    /// Number of the line, from 1.
    pub line: usize,
    /// What is wrong with it.
    pub why: &'static str,
}

/// The verdicts of one rule file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ledger {
    /// By key and instance: rules that only differ in when they pay have the same keys.
    entries: BTreeMap<(Key, String), Entry>,
}

impl Ledger {
    /// From its text. A ledger of other semantics is void: it has no entries.
    pub fn parse(text: &str) -> Result<Ledger, Vec<Malformed>> {
        let mut out = Ledger::default();
        let mut wrong = Vec::new();
        let mut lines = text.lines().enumerate();
        match lines.next().map(|(_, first)| first.strip_prefix("deburr_ledger 1 semantics=")) {
            None => return Ok(out),
            Some(None) => {
                let why = "the first line is not that of a ledger";
                return Err(vec![Malformed { line: 1, why }]);
            }
            Some(Some(version)) if version == SEMANTICS.to_string() => {}
            Some(Some(version)) if version.parse::<u32>().is_ok() => return Ok(out),
            Some(Some(_)) => {
                return Err(vec![Malformed { line: 1, why: "the version is no number" }]);
            }
        }
        for (n, line) in lines {
            match entry(line) {
                Ok((key, entry)) => out.add(key, entry),
                Err(why) => wrong.push(Malformed { line: n + 1, why }),
            }
        }
        if wrong.is_empty() { Ok(out) } else { Err(wrong) }
    }

    /// Adds an entry, or puts it in the place of the one that it is a new form of.
    pub fn add(&mut self, key: Key, entry: Entry) {
        self.entries.insert((key, entry.instance.clone()), entry);
    }

    /// What is said under a key: of the instance of that name, or else of another that claims the same.
    pub fn get(&self, key: Key, instance: &str) -> Option<&Entry> {
        let exact = self.entries.get(&(key, instance.to_owned()));
        exact.or_else(|| {
            let same = self.entries.range((key, String::new())..);
            same.take_while(|((k, _), _)| *k == key).map(|(_, entry)| entry).next()
        })
    }

    /// All entries, sorted.
    pub fn iter(&self) -> impl Iterator<Item = (Key, &Entry)> {
        self.entries.iter().map(|((key, _), entry)| (*key, entry))
    }

    /// Keeps only these entries.
    pub fn retain(&mut self, mut keep: impl FnMut(Key, &Entry) -> bool) {
        self.entries.retain(|(key, _), entry| keep(*key, entry));
    }

    /// Number of entries.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }
}

impl fmt::Display for Ledger {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "deburr_ledger 1 semantics={SEMANTICS}")?;
        self.entries.iter().try_for_each(|((key, _), entry)| {
            let fields = entry.fields(*key);
            writeln!(f, "{fields}\t{}", check_value(&fields))
        })
    }
}

/// Eight hexadecimal digits over the rest of a line.
fn check_value(fields: &str) -> String {
    blake3::hash(fields.as_bytes()).to_hex()[..8].to_owned()
}

fn entry(line: &str) -> Result<(Key, Entry), &'static str> {
    let (fields, check) = line.rsplit_once('\t').ok_or("there are no fields")?;
    if check_value(fields) != check {
        return Err("the check value is not that of the line: it was edited");
    }
    let fields: Vec<&str> = fields.split('\t').collect();
    let [key, instance, context, verdict, by, evidence] = fields[..] else {
        return Err("there are not seven fields");
    };
    let kinds = [Kind::Proved, Kind::Tested, Kind::Bounded, Kind::Waived];
    let kind = kinds.into_iter().find(|k| k.to_string() == verdict);
    let mut entry = Entry {
        instance: instance.into(),
        context: context.into(),
        kind: kind.ok_or("such a verdict is not kept")?,
        by: by.into(),
        points: 0,
        numbers: 0,
        seed: 0,
        needs: Vec::new(),
    };
    for part in evidence.split(';').filter(|part| !part.is_empty()) {
        let (name, value) = part.split_once('=').ok_or("evidence is not `name=value`")?;
        let number = || value.parse().map_err(|_| "evidence is no number");
        match name {
            "points" => entry.points = number()?,
            "numbers" => entry.numbers = number()?,
            "seed" => entry.seed = number()?,
            "needs" => entry.needs = value.split(',').map(str::to_owned).collect(),
            _ => return Err("there is no such evidence"),
        }
    }
    if entry.by == BY_EXHAUSTION {
        entry.numbers = entry.points;
    }
    Ok((Key::parse(key).ok_or("the key is not 32 hexadecimal digits")?, entry))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn some() -> Ledger {
        let mut ledger = Ledger::default();
        for (n, kind) in [Kind::Proved, Kind::Tested, Kind::Bounded].into_iter().enumerate() {
            let entry = Entry {
                instance: format!("rule_{n}@32x1"),
                context: "keep,rte".into(),
                kind,
                by: "trial".into(),
                points: 100,
                numbers: 60,
                seed: 1,
                needs: vec!["nsz".into(), "contract".into()],
            };
            ledger.add(Key::parse(&format!("{:032x}", 9 - n)).unwrap(), entry);
        }
        ledger
    }

    #[test]
    fn what_is_written_is_read() {
        let ledger = some();
        let text = ledger.to_string();
        assert_eq!(Ledger::parse(&text), Ok(ledger));
        let mut sorted: Vec<&str> = text.lines().skip(1).collect();
        sorted.sort_unstable();
        assert!(text.lines().skip(1).eq(sorted), "{text}");
    }

    #[test]
    fn a_line_that_is_edited_is_known() {
        let text = some().to_string().replace("tested", "proved");
        let wrong = Ledger::parse(&text).unwrap_err();
        assert_eq!(wrong.len(), 1, "{text}");
        assert!(wrong[0].why.contains("edited"));
        // Whatever byte it is.
        let text = some().to_string();
        for at in text.find('\n').unwrap() + 1..text.len() {
            let mut bytes = text.clone().into_bytes();
            bytes[at] ^= 1;
            assert!(Ledger::parse(&String::from_utf8(bytes).unwrap()).is_err(), "byte {at}");
        }
    }

    #[test]
    fn other_semantics_void_it() {
        let text = some().to_string();
        let other = text.replace(&format!("semantics={SEMANTICS}"), "semantics=0");
        assert!(Ledger::parse(&other).unwrap().is_empty());
        assert!(Ledger::parse("").unwrap().is_empty());
        assert!(Ledger::parse("deburr_ledger 2\n").is_err());
        assert!(Ledger::parse("deburr_ledger 1 semantics=x\n").is_err());
    }

    #[test]
    fn a_key_is_found_whatever_the_instance_is_called() {
        let ledger = some();
        let key = Key::parse(&format!("{:032x}", 8)).unwrap();
        assert_eq!(ledger.get(key, "renamed@32x1").unwrap().instance, "rule_1@32x1");
        assert!(ledger.get(Key::parse(&"0".repeat(32)).unwrap(), "rule_1@32x1").is_none());
    }
}
