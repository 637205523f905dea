//! JSON Lines, written by hand: every line is one flat object with a few nested ones.

use std::fmt::{Display, Write};

/// A JSON object under construction.
#[derive(Clone, Debug)]
pub struct Object(String);

impl Object {
    /// A line of output: an object that begins with the schema's number.
    pub fn line() -> Self {
        Object("{\"schema\":1".into())
    }

    /// An object inside a line.
    pub fn nested() -> Self {
        Object("{".into())
    }

    fn key(&mut self, key: &str) {
        if self.0.len() > 1 {
            self.0.push(',');
        }
        self.0.push_str(&string(key));
        self.0.push(':');
    }

    /// Adds a string.
    pub fn str(mut self, key: &str, value: &str) -> Self {
        self.key(key);
        self.0.push_str(&string(value));
        self
    }

    /// Adds what displays as JSON: a number, a bool, or text that is JSON already.
    pub fn raw(mut self, key: &str, value: impl Display) -> Self {
        self.key(key);
        // Writing to a string can't fail.
        let _ = write!(self.0, "{value}");
        self
    }

    /// The text.
    pub fn end(mut self) -> String {
        self.0.push('}');
        self.0
    }
}

/// A list of what is JSON already.
pub fn list(items: impl IntoIterator<Item = String>) -> String {
    format!("[{}]", items.into_iter().collect::<Vec<_>>().join(","))
}

/// A string as JSON.
pub fn string(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out += "\\\"",
            '\\' => out += "\\\\",
            '\n' => out += "\\n",
            '\t' => out += "\\t",
            c if c < ' ' => {
                let _ = write!(out, "\\u{:04x}", u32::from(c));
            }
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_are_escaped() {
        assert_eq!(string("a\"b\\c\n\u{1}é"), "\"a\\\"b\\\\c\\n\\u0001é\"");
    }

    #[test]
    fn objects_nest() {
        let inner = Object::nested().raw("n", 1).str("s", "x").end();
        let line =
            Object::line().raw("inner", inner).raw("list", list(["1".into(), "2".into()])).end();
        assert_eq!(line, r#"{"schema":1,"inner":{"n":1,"s":"x"},"list":[1,2]}"#);
        assert_eq!(Object::nested().end(), "{}");
    }
}
