//! Ranges of values in the intrinsic table: `0..=127`, `0..workgroup_size`, `0.0..=1.0`.

use super::E_RANGE;
use super::read::Entry;
use crate::diagnostics::{Diagnostic, Span};
use crate::expr::SourceText;

/// Values that each component of a result may have.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ValueRange {
    /// Unsigned integers from one to another.
    Int(u64, UpperEnd),
    /// Floats from one to another, zeros of both signs among them if one is; no NaN.
    Float(f64, f64),
}

impl Eq for ValueRange {}

/// The greatest value of a range of integers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UpperEnd {
    /// A number.
    Value(u64),
    /// The workgroup's size in the component's dimension, or so much less.
    WorkgroupSize(u64),
    /// The invocations of the workgroup, or so much less.
    WorkgroupInvocations(u64),
}

/// Words that the upper end may be.
const WORDS: [(&str, fn(u64) -> UpperEnd); 2] = [
    ("workgroup_size", UpperEnd::WorkgroupSize),
    ("workgroup_invocations", UpperEnd::WorkgroupInvocations),
];

/// An end as it is written.
#[derive(Clone, Copy)]
enum End {
    Int(u64),
    Float(f64),
    Word(fn(u64) -> UpperEnd),
}

/// Reads the column `range` of an entry; empty text is no range.
pub(super) fn read(
    entry: &mut Entry<'_, '_>,
    has_result: bool,
    dest_bits: &[u8],
) -> Option<ValueRange> {
    let text = entry.string("range").filter(|text| !text.text.is_empty())?;
    let whole = text.whole();
    let mut refuse = |span: Span, message: String| {
        entry.error(E_RANGE, span, message);
        None
    };
    if !has_result {
        return refuse(whole, "the entry has no result whose values these could be".into());
    }
    let Some((low, high)) = text.text.split_once("..") else {
        let message = format!("`{}` is no range: `LO..HI` or `LO..=HI`", text.text);
        return refuse(whole, message);
    };
    let (high, included) = match high.strip_prefix('=') {
        Some(high) => (high, true),
        None => (high, false),
    };
    let low_span = text.span(0..low.len());
    let high_span = text.span(text.text.len() - high.len()..text.text.len());
    let (low, high) = (end(entry, low, low_span)?, end(entry, high, high_span)?);
    check(entry, &text, (low, low_span), (high, high_span), included, dest_bits)
}

/// A number, or a word with a value of its own in each pipeline.
fn end(entry: &mut Entry<'_, '_>, text: &str, span: Span) -> Option<End> {
    let int = match text.strip_prefix("0x") {
        Some(hex) => u64::from_str_radix(hex, 16).ok(),
        None => text.parse().ok(),
    };
    let is_float = text.contains('.') || text.trim_start_matches('-') == "inf";
    let float = text.parse().ok().filter(|_| is_float);
    let word = WORDS.iter().find(|(word, _)| *word == text).map(|(_, bound)| End::Word(*bound));
    let found = int.map(End::Int).or(float.map(End::Float)).or(word);
    if found.is_none() {
        let message = format!(
            "`{text}` is no end of a range: an unsigned integer, a float, or as the upper end `workgroup_size` or \
             `workgroup_invocations`"
        );
        let diagnostic = Diagnostic::error(E_RANGE, &entry.file.name, span, message);
        entry.log.push(diagnostic.suggest(text, WORDS.iter().map(|(word, _)| *word)));
    }
    found
}

/// The range between two ends, if there is one.
fn check(
    entry: &mut Entry<'_, '_>,
    text: &SourceText,
    (low, low_span): (End, Span),
    (high, high_span): (End, Span),
    included: bool,
    dest_bits: &[u8],
) -> Option<ValueRange> {
    let less = u64::from(!included);
    let (range, fault) = match (low, high) {
        (End::Word(_), _) => (None, Some((low_span, "the lower end is a number".to_owned()))),
        (End::Int(low), End::Int(high)) => {
            let range = match high.checked_sub(less).filter(|high| low <= *high) {
                Some(high) => Ok(ValueRange::Int(low, UpperEnd::Value(high))),
                None => Err((text.whole(), "no value is in the range".to_owned())),
            };
            (
                range.as_ref().ok().copied(),
                range.err().or_else(|| too_wide(high - less.min(high), high_span, dest_bits)),
            )
        }
        (End::Int(low), End::Word(bound)) => (Some(ValueRange::Int(low, bound(less))), None),
        (End::Float(low), End::Float(high)) => {
            let fault = match (included, low <= high) {
                (false, _) => Some("a range of floats has both ends: `LO..=HI`"),
                (true, false) => Some("no value is in the range"),
                (true, true) => None,
            };
            let sized = dest_bits.iter().find(|bits| !matches!(bits, 16 | 32 | 64));
            let sized = sized.map(|bits| format!("a result of {bits} bits is no float"));
            let fault = fault.map(str::to_owned).or(sized);
            (Some(ValueRange::Float(low, high)), fault.map(|fault| (text.whole(), fault)))
        }
        (End::Int(_), End::Float(_)) | (End::Float(_), End::Int(_) | End::Word(_)) => {
            (None, Some((text.whole(), "both ends are integers, or both are floats".to_owned())))
        }
    };
    match fault {
        Some((span, message)) => {
            entry.error(E_RANGE, span, message);
            None
        }
        None => range,
    }
}

/// What is wrong where a result has a size that the greatest value doesn't fit into.
fn too_wide(high: u64, span: Span, dest_bits: &[u8]) -> Option<(Span, String)> {
    let bits = dest_bits.iter().find(|bits| **bits < 64 && high >> **bits != 0)?;
    Some((span, format!("{high} doesn't fit into a result of {bits} bits")))
}
