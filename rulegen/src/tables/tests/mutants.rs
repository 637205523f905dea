//! Mutated tables: each gives diagnostics within the file, or tables from which code is generated.

use crate::emit::{CratePath, fold, intrinsics, opcodes};
use crate::tables::{TableFile, Tables};

const OPCODES: &str = include_str!("../../../../opcodes.toml");
const INTRINSICS: &str = include_str!("../../../../intrinsics.toml");

/// Marsaglia's xorshift: the same sequence everywhere.
struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % n.max(1)
    }
}

const CASES: usize = 1000;

/// What mutations put in.
const PIECES: [&str; 24] = [
    "\"",
    "'",
    "\"\"\"",
    "[",
    "]",
    "{",
    "}",
    "(",
    ")",
    "${",
    "${n}",
    "\\",
    "\\u00e9",
    "é",
    "=",
    ",",
    "\n",
    "a",
    " as ",
    "x4",
    "64",
    "-1",
    "0xffffffffffffffff",
    "if",
];

/// A table of a few entries.
fn excerpt(random: &mut Random) -> String {
    let mut text = String::from("deburr_opcodes = 1\ndeburr_intrinsics = 1\n");
    for (table, entry, count) in [(OPCODES, "\n[[op]]", 3), (INTRINSICS, "\n[[intrinsic]]", 2)] {
        let starts: Vec<usize> = table.match_indices(entry).map(|(at, _)| at).collect();
        for _ in 0..count {
            let i = random.below(starts.len());
            text.push_str(&table[starts[i]..starts.get(i + 1).copied().unwrap_or(table.len())]);
        }
    }
    text
}

/// Changes a few places.
fn mutate(text: &mut String, random: &mut Random) {
    for _ in 0..1 + random.below(2) {
        let at = |text: &str, random: &mut Random| {
            let mut at = random.below(text.len());
            while !text.is_char_boundary(at) {
                at -= 1;
            }
            at
        };
        let (a, b) = (at(text, random), at(text, random));
        let (start, end) = (a.min(b), a.max(b).min(a.min(b) + 12));
        let end = (start..=end).rev().find(|&e| text.is_char_boundary(e)).unwrap_or(start);
        match random.below(4) {
            0 => text.replace_range(start..end, ""),
            1 => text.insert_str(start, PIECES[random.below(PIECES.len())]),
            2 => text.replace_range(start..end, PIECES[random.below(PIECES.len())]),
            _ => {
                let copy = text[start..end].to_owned();
                text.insert_str(a.max(b), &copy);
            }
        }
    }
}

#[test]
fn mutants_are_refused_or_generated_from() {
    // The excerpts' intrinsics name indices that stand elsewhere in the table.
    let (indices, _) = INTRINSICS.split_once("\n[[intrinsic]]").expect("indices come first");
    let indices =
        Tables::parse(&[TableFile::new("i.toml", indices)]).expect("the indices are right");
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    let (mut refused, mut accepted) = (0, 0);
    for _ in 0..CASES {
        let mut text = excerpt(&mut random);
        mutate(&mut text, &mut random);
        let file = TableFile::new("t.toml", text);
        match Tables::parse_over(std::slice::from_ref(&file), Some(&indices)) {
            Ok(tables) => {
                accepted += 1;
                let fold = fold::fold(&tables, CratePath::Outside);
                assert!(
                    fold.matches("pub fn ").count()
                        >= tables.ops.iter().filter(|op| op.expr().is_some()).count()
                );
                assert!(
                    !opcodes::opcodes(&tables).is_empty()
                        && !intrinsics::intrinsics(&tables).is_empty()
                );
            }
            Err(diagnostics) => {
                refused += 1;
                assert!(!diagnostics.is_empty());
                for diagnostic in diagnostics {
                    let (start, end) =
                        (diagnostic.span.start as usize, diagnostic.span.end as usize);
                    assert!(
                        start <= end && end <= file.text.len() + 1,
                        "{diagnostic:?}\n{}",
                        file.text
                    );
                    assert!(!diagnostic.to_plain(|_| Some(&file.text)).is_empty());
                }
            }
        }
    }
    assert!(refused > CASES / 3 && accepted > CASES / 20, "{refused} refused, {accepted} accepted");
}
