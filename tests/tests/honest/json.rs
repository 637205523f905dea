//! As much of JSON as it takes to read what cargo prints.

/// A JSON value; of a number or literal only the text.
#[derive(Clone, Debug, PartialEq)]
pub enum Json {
    Text(String),
    Other(String),
    List(Vec<Json>),
    Object(Vec<(String, Json)>),
}

impl Json {
    /// Reads a value. Values nest on an explicit stack.
    pub fn parse(text: &str) -> Option<Json> {
        enum Open {
            List(Vec<Json>),
            Object(Vec<(String, Json)>, Option<String>),
        }
        let mut rest = text.trim_start();
        let mut stack: Vec<Open> = Vec::new();
        loop {
            let first = rest.chars().next()?;
            let mut value = match first {
                '[' | '{' => {
                    stack.push(if first == '[' {
                        Open::List(Vec::new())
                    } else {
                        Open::Object(Vec::new(), None)
                    });
                    rest = rest[1..].trim_start();
                    if !rest.starts_with([']', '}']) {
                        if first == '{' {
                            rest = key(
                                rest,
                                stack.last_mut().map(|open| match open {
                                    Open::Object(_, key) => key,
                                    Open::List(_) => unreachable!("an object was opened above"),
                                })?,
                            )?;
                        }
                        continue;
                    }
                    None
                }
                '"' => {
                    let (text, after) = string(rest)?;
                    rest = after;
                    Some(Json::Text(text))
                }
                _ => {
                    let end = rest.find([',', ']', '}']).unwrap_or(rest.len());
                    let (text, after) = rest.split_at(end);
                    rest = after;
                    Some(Json::Other(text.trim().to_owned()))
                }
            };
            // Close what ends here, then go on to the next value.
            loop {
                if let Some(value) = value.take() {
                    match stack.last_mut() {
                        None => return Some(value),
                        Some(Open::List(items)) => items.push(value),
                        Some(Open::Object(fields, name)) => fields.push((name.take()?, value)),
                    }
                }
                rest = rest.trim_start();
                match rest.chars().next()? {
                    ',' => {
                        rest = rest[1..].trim_start();
                        if let Some(Open::Object(_, name)) = stack.last_mut() {
                            rest = key(rest, name)?;
                        }
                        break;
                    }
                    ']' | '}' => {
                        rest = &rest[1..];
                        value = Some(match stack.pop()? {
                            Open::List(items) => Json::List(items),
                            Open::Object(fields, _) => Json::Object(fields),
                        });
                    }
                    _ => return None,
                }
            }
        }
    }

    /// A field of an object.
    pub fn get(&self, name: &str) -> Option<&Json> {
        match self {
            Json::Object(fields) => {
                fields.iter().find(|(field, _)| field == name).map(|(_, value)| value)
            }
            _ => None,
        }
    }

    /// The items of a list.
    pub fn items(&self) -> &[Json] {
        match self {
            Json::List(items) => items,
            _ => &[],
        }
    }

    /// The content of a string.
    pub fn text(&self) -> Option<&str> {
        match self {
            Json::Text(text) => Some(text),
            _ => None,
        }
    }
}

/// Reads `"name":` and puts the name down.
fn key<'a>(text: &'a str, name: &mut Option<String>) -> Option<&'a str> {
    let (key, rest) = string(text)?;
    *name = Some(key);
    Some(rest.trim_start().strip_prefix(':')?.trim_start())
}

/// Reads a string: its content and what follows.
fn string(text: &str) -> Option<(String, &str)> {
    let mut content = String::new();
    let mut chars = text.strip_prefix('"')?.char_indices();
    while let Some((at, c)) = chars.next() {
        match c {
            '"' => return Some((content, &text[at + 2..])),
            '\\' => match chars.next()?.1 {
                'n' => content.push('\n'),
                't' => content.push('\t'),
                'u' => {
                    let digits: String = chars.by_ref().take(4).map(|(_, c)| c).collect();
                    content.push(
                        char::from_u32(u32::from_str_radix(&digits, 16).ok()?).unwrap_or('?'),
                    );
                }
                c => content.push(c),
            },
            c => content.push(c),
        }
    }
    None
}

#[test]
fn values_are_read() {
    let json = Json::parse(r#"{"a": [1, "x\"y", {}, []], "b": {"c": null}, "d": "é"}"#).unwrap();
    assert_eq!(json.get("a").unwrap().items().len(), 4);
    assert_eq!(json.get("a").unwrap().items()[1].text(), Some("x\"y"));
    assert_eq!(json.get("b").unwrap().get("c"), Some(&Json::Other("null".into())));
    assert_eq!(json.get("d").unwrap().text(), Some("é"));
    assert_eq!(Json::parse("{\"a\" 1}"), None);
}
