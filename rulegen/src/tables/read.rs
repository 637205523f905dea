//! Reading TOML with spans: entries, families, complaints.

use std::sync::Arc;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::{
    E_BAD_NAME, E_FAMILY, E_KEY, E_KIND, E_MISSING, E_TOML, E_VERSION, E_WORD, Place, TableFile,
    Tables,
};
use super::{intrinsic, op};
use crate::diagnostics::{Code, Diagnostic, Span};
use crate::expr::SourceText;

/// Largest number of members of one family.
const MAX_FAMILY: usize = 4096;

/// A value of a family's row.
type Binding = (String, SourceText);

/// Reads one file into `tables`.
pub(super) fn read_file(
    file: &TableFile,
    tables: &mut Tables,
    builtin: Option<&Tables>,
    log: &mut Vec<Diagnostic>,
) {
    let (root, errors) = DeTable::parse_recoverable(&file.text);
    if !errors.is_empty() {
        log.extend(errors.iter().map(|error| {
            let message = error.message().trim_end_matches('.').replace('\n', ", ");
            Diagnostic::error(E_TOML, &file.name, error.span().unwrap_or(0..0).into(), message)
        }));
        return;
    }
    let known =
        ["deburr_opcodes", "deburr_intrinsics", "semantics_version", "op", "index", "intrinsic"];
    let mut entry = Entry::new(file, root.get_ref(), Span::new(0, 0), &[], log);
    let opcodes = entry.version("deburr_opcodes");
    let intrinsics = entry.version("deburr_intrinsics");
    if !opcodes && !intrinsics {
        let message = "the table doesn't say which format it has";
        let diagnostic = Diagnostic::error(E_VERSION, &file.name, Span::new(0, 0), message);
        entry
            .log
            .push(diagnostic.help("start it with `deburr_opcodes = 1` or `deburr_intrinsics = 1`"));
    }
    if let Some(version) = entry.integer("semantics_version", 1..=u32::MAX.into()) {
        tables.semantics_version = version as u32;
    }
    // Indices come first: intrinsics refer to them wherever they stand.
    for (key, version) in [("op", opcodes), ("index", intrinsics), ("intrinsic", intrinsics)] {
        let Some((place, value)) = entry.take(key) else { continue };
        if !version {
            let which = if key == "op" { "deburr_opcodes" } else { "deburr_intrinsics" };
            entry.error(E_VERSION, place, format!("`[[{key}]]` in a table without `{which} = 1`"));
        }
        let Some(list) = value.as_array() else {
            entry.kind(place, key, "a list of entries, `[[…]]`");
            continue;
        };
        for item in list.iter() {
            let span = item.span().into();
            let Some(table) = item.get_ref().as_table() else {
                entry.kind(span, key, "a list of tables");
                continue;
            };
            let members = family(file, table, span, entry.log);
            // What is wrong with every member of a family is said once.
            let first = entry.log.len();
            for bindings in &members {
                let start = entry.log.len();
                let mut member = Entry::new(file, table, span, bindings, entry.log);
                member.used.push("for");
                match key {
                    "op" => op::read(&mut member, tables, builtin),
                    "index" => intrinsic::read_index(&mut member, tables, builtin),
                    _ => intrinsic::read(&mut member, tables, builtin),
                }
                member.finish();
                drop_repeated(entry.log, first, start);
            }
        }
    }
    entry.used.extend(known);
    entry.finish();
}

/// Drops the diagnostics from `start` on that an earlier member of the family, from `first` on, gave for the same place.
fn drop_repeated(log: &mut Vec<Diagnostic>, first: usize, start: usize) {
    let new = log.split_off(start);
    let repeated = |d: &Diagnostic, log: &[Diagnostic]| {
        log.iter().any(|k| k.code == d.code && k.span == d.span)
    };
    let fresh: Vec<Diagnostic> = new.into_iter().filter(|d| !repeated(d, &log[first..])).collect();
    log.extend(fresh);
}

/// The rows of `for`: one empty row if there is none, no row after an error.
fn family(
    file: &TableFile,
    table: &DeTable<'_>,
    entry: Span,
    log: &mut Vec<Diagnostic>,
) -> Vec<Vec<Binding>> {
    let Some((_, value)) = table.iter().find(|(key, _)| key.get_ref() == "for") else {
        return vec![Vec::new()];
    };
    let mut error = |span: Span, message: &str| {
        log.push(Diagnostic::error(E_FAMILY, &file.name, span, message))
    };
    let span: Span = value.span().into();
    let Some(list) = value.get_ref().as_array().filter(|list| !list.is_empty()) else {
        error(
            if span == Span::default() { entry } else { span },
            "`for` is a list of tables, or a list of such lists",
        );
        return Vec::new();
    };
    let loops: Vec<&[Spanned<DeValue<'_>>]> = match list
        .iter()
        .all(|item| item.get_ref().is_array())
    {
        true => {
            list.iter().filter_map(|item| item.get_ref().as_array()).map(|a| a.as_ref()).collect()
        }
        false => vec![list.as_ref()],
    };
    let mut rows: Vec<Vec<Binding>> = vec![Vec::new()];
    for items in loops {
        let mut next = Vec::new();
        let mut keys: Option<Vec<String>> = None;
        for item in items {
            let span: Span = item.span().into();
            let Some(row) = item.get_ref().as_table() else {
                error(span, "a row of `for` is a table");
                return Vec::new();
            };
            let names: Vec<String> = row.iter().map(|(key, _)| key.get_ref().to_string()).collect();
            if keys.get_or_insert_with(|| names.clone()) != &names {
                error(span, "the rows of `for` have different keys");
                return Vec::new();
            }
            let mut bindings = Vec::new();
            for (key, value) in row.iter() {
                match scalar(file, value) {
                    Some(text) => bindings.push((key.get_ref().to_string(), text)),
                    None => {
                        error(value.span().into(), "a value in `for` is a string or an integer");
                        return Vec::new();
                    }
                }
            }
            for outer in &rows {
                if outer.iter().any(|(name, _)| names.contains(name)) {
                    error(span, "two loops of `for` have the same key");
                    return Vec::new();
                }
                next.push(outer.iter().cloned().chain(bindings.iter().cloned()).collect());
            }
        }
        if next.is_empty() || next.len() > MAX_FAMILY {
            error(span, "a family has between 1 and 4096 members");
            return Vec::new();
        }
        rows = next;
    }
    rows
}

/// A string or integer as text.
fn scalar(file: &TableFile, value: &Spanned<DeValue<'_>>) -> Option<SourceText> {
    match value.get_ref() {
        DeValue::String(_) => Some(raw_string(file, value)),
        DeValue::Integer(_) => {
            let number = integer_of(value.get_ref())?;
            let mut text = SourceText::empty(&file.name);
            text.push_replaced(&number.to_string(), value.span().into());
            Some(text)
        }
        _ => None,
    }
}

fn integer_of(value: &DeValue<'_>) -> Option<i64> {
    let integer = value.as_integer()?;
    i64::from_str_radix(integer.as_str(), integer.radix()).ok()
}

/// The text of a TOML string, byte for byte at its place in the file.
fn raw_string(file: &TableFile, value: &Spanned<DeValue<'_>>) -> SourceText {
    let decoded = value.get_ref().as_str().unwrap_or_default();
    let span = value.span();
    let raw = file.text.get(span.clone()).unwrap_or_default();
    let mut source = SourceText::empty(&file.name);
    let quotes = if raw.starts_with("\"\"\"") || raw.starts_with("'''") { 3 } else { 1 };
    let Some(mut inner) = raw.get(quotes..raw.len().saturating_sub(quotes)) else {
        source.push_replaced(decoded, span.into());
        return source;
    };
    let mut offset = span.start + quotes;
    if quotes == 3 {
        let newline =
            if inner.starts_with("\r\n") { 2 } else { usize::from(inner.starts_with('\n')) };
        inner = &inner[newline..];
        offset += newline;
    }
    if inner == decoded {
        source.push_verbatim(inner, offset);
        return source;
    }
    // With escapes: runs between them are verbatim. What an escape stands for is read off the decoded text.
    let mut left = decoded;
    while !inner.is_empty() {
        let run = inner.find('\\').unwrap_or(inner.len());
        let run = left.bytes().zip(inner[..run].bytes()).take_while(|(a, b)| a == b).count();
        if run > 0 && inner.is_char_boundary(run) {
            source.push_verbatim(&inner[..run], offset);
            (inner, left, offset) = (&inner[run..], &left[run..], offset + run);
            continue;
        }
        let (length, stands_for) = escape(inner);
        let stands_for = if left.is_char_boundary(stands_for) { stands_for } else { 0 };
        let from = Span::new(offset, offset + length);
        source.push_replaced(&left[..stands_for.min(left.len())], from);
        (inner, left, offset) =
            (&inner[length..], &left[stands_for.min(left.len())..], offset + length);
    }
    if source.text != decoded {
        // An escape that we read otherwise than TOML does: no places within the string, but the right text.
        source = SourceText::empty(&file.name);
        source.push_replaced(decoded, span.into());
    }
    source
}

/// Bytes of the escape that a text starts with, and of what it stands for. Anything else is one character.
fn escape(text: &str) -> (usize, usize) {
    let mut chars = text.chars();
    let first = chars.next().map_or(1, char::len_utf8);
    if !text.starts_with('\\') {
        // A carriage return that TOML normalises.
        return (first, usize::from(!text.starts_with('\r')));
    }
    match chars.next() {
        Some('u') => (6.min(text.len()), code_point(text, 4)),
        Some('U') => (10.min(text.len()), code_point(text, 8)),
        Some('x') => (4.min(text.len()), code_point(text, 2)),
        Some(c) if c.is_whitespace() => {
            let blank = text[1..].len() - text[1..].trim_start().len();
            (1 + blank, 0)
        }
        Some(c) => (1 + c.len_utf8(), 1),
        None => (1, 0),
    }
}

fn code_point(text: &str, digits: usize) -> usize {
    let value = text.get(2..2 + digits).and_then(|hex| u32::from_str_radix(hex, 16).ok());
    value.and_then(char::from_u32).map_or(0, char::len_utf8)
}

/// One entry of a table, or one member of a family.
pub(super) struct Entry<'a, 'f> {
    pub file: &'a TableFile,
    table: &'a DeTable<'f>,
    pub span: Span,
    bindings: &'a [Binding],
    used: Vec<&'static str>,
    pub log: &'a mut Vec<Diagnostic>,
}

impl<'a, 'f> Entry<'a, 'f> {
    pub fn new(
        file: &'a TableFile,
        table: &'a DeTable<'f>,
        span: Span,
        bindings: &'a [Binding],
        log: &'a mut Vec<Diagnostic>,
    ) -> Self {
        Entry { file, table, span, bindings, used: Vec::new(), log }
    }

    pub fn error(&mut self, code: Code, span: Span, message: impl Into<String>) {
        self.log.push(Diagnostic::error(code, &self.file.name, span, message));
    }

    fn kind(&mut self, span: Span, key: &str, want: &str) {
        self.error(E_KIND, span, format!("`{key}` is {want}"));
    }

    /// The value of a key, which counts as read.
    pub fn take(&mut self, key: &'static str) -> Option<(Span, &'a DeValue<'f>)> {
        self.used.push(key);
        self.spanned(key).map(|value| (value.span().into(), value.get_ref()))
    }

    fn spanned(&self, key: &str) -> Option<&'a Spanned<DeValue<'f>>> {
        self.table.iter().find(|(k, _)| k.get_ref() == key).map(|(_, value)| value)
    }

    /// The value of a key without reading it.
    pub fn peek(&self, key: &str) -> Option<&'a DeValue<'f>> {
        self.spanned(key).map(|value| value.get_ref())
    }

    /// Where the value of a key stands.
    pub fn peek_span(&self, key: &str) -> Option<Span> {
        self.spanned(key).map(|value| value.span().into())
    }

    /// Counts keys as read, after an error that makes reading them pointless.
    pub fn ignore_rest(&mut self, keys: &[&'static str]) {
        self.used.extend(keys);
    }

    fn version(&mut self, key: &'static str) -> bool {
        let Some((span, value)) = self.take(key) else { return false };
        if integer_of(value) != Some(1) {
            self.error(E_VERSION, span, format!("`{key}` is 1, the only version there is"));
        }
        true
    }

    /// Complains of keys that nothing read.
    pub fn finish(self) {
        for (key, _) in self.table.iter() {
            if !self.used.contains(&key.get_ref().as_ref()) {
                let message = format!("nothing reads the key `{}`", key.get_ref());
                let diagnostic =
                    Diagnostic::error(E_KEY, &self.file.name, key.span().into(), message);
                self.log.push(diagnostic.suggest(key.get_ref(), self.used.iter().copied()));
            }
        }
    }

    /// Replaces the placeholders of the family.
    fn expand(&mut self, source: SourceText) -> SourceText {
        if !source.text.contains("${") {
            return source;
        }
        let mut out = SourceText::empty(&self.file.name);
        let mut from = 0;
        while let Some(start) = source.text[from..].find("${").map(|i| from + i) {
            out.push_slice(&source, from..start, None);
            let Some(end) = source.text[start..].find('}').map(|i| start + i + 1) else {
                self.log.push(source.error(E_FAMILY, start..start + 2, "`${` without `}`"));
                return out;
            };
            let name = &source.text[start + 2..end - 1];
            match self.bindings.iter().find(|(key, _)| key == name) {
                Some((_, value)) => {
                    out.push_slice(value, 0..value.text.len(), Some(source.span(start..end)))
                }
                None => {
                    let diagnostic =
                        source.error(E_FAMILY, start..end, format!("the family has no `{name}`"));
                    self.log.push(
                        diagnostic.suggest(name, self.bindings.iter().map(|(key, _)| key.as_str())),
                    );
                }
            }
            from = end;
        }
        out.push_slice(&source, from..source.text.len(), None);
        out
    }

    fn text_of(&mut self, value: &Spanned<DeValue<'_>>, key: &str) -> Option<SourceText> {
        if !value.get_ref().is_str() {
            self.kind(value.span().into(), key, "a string");
            return None;
        }
        let raw = raw_string(self.file, value);
        Some(self.expand(raw))
    }

    /// A string.
    pub fn string(&mut self, key: &'static str) -> Option<SourceText> {
        self.used.push(key);
        let value = self.spanned(key)?;
        self.text_of(value, key)
    }

    /// A string that has to be there.
    pub fn required(&mut self, key: &'static str) -> Option<SourceText> {
        if self.spanned(key).is_none() {
            self.used.push(key);
            self.error(E_MISSING, self.span, format!("the entry has no `{key}`"));
            return None;
        }
        self.string(key)
    }

    /// One of the listed words.
    pub fn word<T: Copy>(&mut self, key: &'static str, words: &[(&str, T)]) -> Option<T> {
        let text = self.string(key)?;
        self.choose(&text, key, words)
    }

    /// The word that `text` is.
    pub fn choose<T: Copy>(
        &mut self,
        text: &SourceText,
        key: &str,
        words: &[(&str, T)],
    ) -> Option<T> {
        if let Some((_, value)) = words.iter().find(|(word, _)| *word == text.text) {
            return Some(*value);
        }
        let list: Vec<String> = words.iter().map(|(word, _)| format!("`{word}`")).collect();
        let message = format!("`{key}` can't be `{}`, only {}", text.text, list.join(", "));
        let diagnostic = Diagnostic::error(E_WORD, &self.file.name, text.whole(), message);
        self.log.push(diagnostic.suggest(&text.text, words.iter().map(|(word, _)| *word)));
        None
    }

    /// A bool.
    pub fn boolean(&mut self, key: &'static str) -> Option<bool> {
        let (span, value) = self.take(key)?;
        if value.as_bool().is_none() {
            self.kind(span, key, "true or false");
        }
        value.as_bool()
    }

    /// An integer, which may be the placeholder of a family.
    pub fn integer(
        &mut self,
        key: &'static str,
        range: std::ops::RangeInclusive<u64>,
    ) -> Option<u64> {
        self.used.push(key);
        let value = self.spanned(key)?;
        self.integer_in(value, key, range)
    }

    fn integer_in(
        &mut self,
        value: &Spanned<DeValue<'_>>,
        key: &str,
        range: std::ops::RangeInclusive<u64>,
    ) -> Option<u64> {
        let number = match value.get_ref() {
            DeValue::String(_) => self.text_of(value, key)?.text.parse::<u64>().ok(),
            other => integer_of(other).and_then(|n| u64::try_from(n).ok()),
        };
        let number = number.filter(|n| range.contains(n));
        if number.is_none() {
            self.kind(
                value.span().into(),
                key,
                &format!("an integer from {} to {}", range.start(), range.end()),
            );
        }
        number
    }

    /// A list of integers.
    pub fn integers(
        &mut self,
        key: &'static str,
        range: std::ops::RangeInclusive<u64>,
    ) -> Option<Vec<u8>> {
        let (span, value) = self.take(key)?;
        let Some(list) = value.as_array() else {
            self.kind(span, key, "a list of integers");
            return None;
        };
        list.iter().map(|item| self.integer_in(item, key, range.clone()).map(|n| n as u8)).collect()
    }

    /// A list of strings.
    pub fn strings(&mut self, key: &'static str) -> Option<Vec<SourceText>> {
        let (span, value) = self.take(key)?;
        let Some(list) = value.as_array() else {
            self.kind(span, key, "a list of strings");
            return None;
        };
        list.iter().map(|item| self.text_of(item, key)).collect()
    }

    /// The entries of a list of tables.
    pub fn each(&mut self, key: &'static str, mut visit: impl FnMut(&mut Entry<'_, 'f>)) {
        let Some((span, value)) = self.take(key) else { return };
        let Some(list) = value.as_array() else {
            self.kind(span, key, "a list of tables");
            return;
        };
        for item in list.iter() {
            let Some(table) = item.get_ref().as_table() else {
                self.kind(item.span().into(), key, "a list of tables");
                continue;
            };
            let mut entry =
                Entry::new(self.file, table, item.span().into(), self.bindings, self.log);
            visit(&mut entry);
            entry.finish();
        }
    }

    /// A table under a key.
    pub fn table(&mut self, key: &'static str) -> Option<Entry<'_, 'f>> {
        let (span, value) = self.take(key)?;
        match value.as_table() {
            Some(table) => Some(Entry::new(self.file, table, span, self.bindings, self.log)),
            None => {
                self.kind(span, key, "a table");
                None
            }
        }
    }

    /// Keys and values of a table under a key, values as text.
    pub fn pairs(&mut self, key: &'static str) -> Vec<(String, Span, SourceText)> {
        let Some((span, value)) = self.take(key) else { return Vec::new() };
        let Some(table) = value.as_table() else {
            self.kind(span, key, "a table");
            return Vec::new();
        };
        let mut pairs = Vec::new();
        for (name, value) in table.iter() {
            let text = match value.get_ref() {
                DeValue::Boolean(b) => {
                    let mut text = SourceText::empty(&self.file.name);
                    text.push_replaced(if *b { "true" } else { "false" }, value.span().into());
                    Some(text)
                }
                _ => scalar(self.file, value).map(|text| self.expand(text)),
            };
            match text {
                Some(text) => pairs.push((name.get_ref().to_string(), name.span().into(), text)),
                None => {
                    self.kind(value.span().into(), key, "a table of strings, integers and bools")
                }
            }
        }
        pairs
    }

    /// The entry's name, checked to be an identifier, and its place.
    pub fn name(&mut self) -> Option<(String, Place)> {
        let text = self.required("name")?;
        let name = text.text.clone();
        let good = name.starts_with(|c: char| c.is_ascii_lowercase())
            && name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_');
        if !good {
            let message = format!(
                "`{name}` is no name: lower-case letters, digits and underscores, a letter first"
            );
            self.error(E_BAD_NAME, text.whole(), message);
            return None;
        }
        if is_keyword(&name) {
            self.error(E_BAD_NAME, text.whole(), format!("`{name}` is a keyword of Rust"));
            return None;
        }
        let span = text.whole();
        let line = self.file.line(span.start as usize);
        Some((name, Place { file: self.file.name.clone(), span, line }))
    }

    /// The documentation: one paragraph.
    pub fn doc(&mut self) -> String {
        let text = self.required("doc").map(|text| text.text).unwrap_or_default();
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    }
}

/// Whether a name can't be an identifier of generated code.
fn is_keyword(name: &str) -> bool {
    const KEYWORDS: [&str; 44] = [
        "abstract", "as", "async", "await", "become", "box", "break", "const", "continue", "crate",
        "do", "dyn", "else", "enum", "extern", "false", "final", "fn", "for", "gen", "if", "impl",
        "in", "let", "loop", "macro", "match", "mod", "move", "mut", "override", "priv", "pub",
        "ref", "return", "self", "static", "struct", "super", "trait", "true", "try", "type",
        "use",
    ];
    KEYWORDS.contains(&name)
        || ["unsafe", "unsized", "virtual", "where", "while", "yield", "typeof"].contains(&name)
}

/// Names given so far, by place, to find those given twice.
pub(super) fn check_unique(
    entry: &mut Entry<'_, '_>,
    name: &str,
    place: &Place,
    earlier: Option<(&Arc<str>, Span)>,
) -> bool {
    let Some((file, span)) = earlier else { return true };
    let diagnostic = Diagnostic::error(
        super::E_DUPLICATE,
        &place.file,
        place.span,
        format!("`{name}` is given twice"),
    )
    .label_in(file, span, "first given here");
    entry.log.push(diagnostic);
    false
}
