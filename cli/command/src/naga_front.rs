//! WGSL and GLSL by naga.

use crate::codes;
use crate::report::{Diagnostic, Kind, Place};
use naga::valid::{Capabilities, ValidationFlags, Validator};

/// WGSL as a binary.
pub fn wgsl(name: &str, text: &str) -> Result<Vec<u32>, Diagnostic> {
    if too_deep(text) {
        return Err(deep(name));
    }
    let module = naga::front::wgsl::parse_str(text).map_err(|e| {
        let place = e.location(text);
        match e.message() {
            // What naga calls so is its bound on recursion; braces have a bound of their own.
            "internal WGSL front end error" | "brace nesting limit reached" => {
                at(deep(name), text, place)
            }
            message => at(Diagnostic::new(name, Kind::Invalid, codes::WGSL, message), text, place),
        }
    })?;
    binary(&module).map_err(|trouble| match trouble {
        Refused::Invalid(message, place) => {
            at(Diagnostic::new(name, Kind::Invalid, codes::WGSL, message), text, place(text))
        }
        Refused::Unsupported(message) => {
            Diagnostic::new(name, Kind::Unsupported, codes::WGSL, message)
        }
    })
}

fn deep(name: &str) -> Diagnostic {
    let message = "the source text nests more deeply than the front end reads";
    Diagnostic::new(name, Kind::Limit, codes::FRONT_LIMIT, message)
}

/// GLSL as a binary, as far as naga reads it.
pub fn glsl(name: &str, text: &str, stage: &str) -> Result<Vec<u32>, Diagnostic> {
    let naga_stage = match stage {
        "vert" => naga::ShaderStage::Vertex,
        "frag" => naga::ShaderStage::Fragment,
        "comp" => naga::ShaderStage::Compute,
        _ => return Err(foreign(name, stage, "naga doesn't know the stage")),
    };
    if too_deep(text) {
        let help = foreign(name, stage, "").help.unwrap_or_default();
        return Err(deep(name).help(help));
    }
    let options = naga::front::glsl::Options::from(naga_stage);
    let module = naga::front::glsl::Frontend::default().parse(&options, text).map_err(|e| {
        let Some(first) = e.errors.first() else { return foreign(name, stage, "") };
        let d = foreign(name, stage, &first.kind.to_string());
        at(d, text, first.meta.is_defined().then(|| first.meta.location(text)))
    })?;
    // naga may take GLSL that is right for something else: what it says of it is no verdict.
    binary(&module).map_err(|trouble| match trouble {
        Refused::Invalid(message, place) => at(foreign(name, stage, &message), text, place(text)),
        Refused::Unsupported(message) => foreign(name, stage, &message),
    })
}

/// Which command makes a binary of GLSL that naga can't read.
fn foreign(name: &str, stage: &str, message: &str) -> Diagnostic {
    Diagnostic::new(
        name,
        Kind::Unsupported,
        codes::GLSL,
        format!("this GLSL can't be read: {message}"),
    )
    .help(format!("glslangValidator -V -S {stage} {name} -o {name}.spv"))
}

fn at(d: Diagnostic, text: &str, place: Option<naga::SourceLocation>) -> Diagnostic {
    match place {
        Some(place) => {
            let start = place.offset as usize;
            d.at(Place::of_bytes(text, start..start + place.length as usize))
        }
        None => d,
    }
}

/// Why there is no binary of a module that was parsed.
enum Refused {
    /// naga's validator finds it wrong, at a place that it tells from the text.
    Invalid(String, Box<dyn Fn(&str) -> Option<naga::SourceLocation>>),
    /// naga's SPIR-V writer can't say it.
    Unsupported(String),
}

fn binary(module: &naga::Module) -> Result<Vec<u32>, Refused> {
    let info =
        Validator::new(ValidationFlags::all(), Capabilities::all()).validate(module).map_err(
            |e| Refused::Invalid(chain(e.as_inner()), Box::new(move |text| e.location(text))),
        )?;
    let mut options = naga::back::spv::Options::default();
    options.lang_version = (1, 3);
    // Names, bindings and coordinates stay as the source has them, and no loop gets a counter that it doesn't have.
    options.flags =
        naga::back::spv::WriterFlags::LABEL_VARYINGS | naga::back::spv::WriterFlags::DEBUG;
    options.force_loop_bounding = false;
    naga::back::spv::write_vec(module, &info, &options, None)
        .map_err(|e| Refused::Unsupported(e.to_string()))
}

/// Depth of brackets and operators up to which source text is given to a front end, which recurses over it.
const DEPTH: usize = 2_000;

/// Whether an expression or statement may nest so deeply that a recursive front end runs out of stack: the brackets that
/// are open and the operators and keywords that wait for what follows them. Comments count as text: they nest little.
fn too_deep(text: &str) -> bool {
    // Operators since the last separator, by open bracket.
    let mut open: Vec<usize> = vec![0];
    let mut depth = 0usize;
    let mut word = String::new();
    for c in text.chars() {
        if c.is_alphanumeric() || c == '_' {
            word.push(c);
            continue;
        }
        let keyword = matches!(
            &*std::mem::take(&mut word),
            "if" | "else" | "for" | "while" | "do" | "switch"
        );
        let waits = keyword || "+-*/%&|^<>=!~?:.".contains(c);
        if waits && let Some(n) = open.last_mut() {
            *n += 1;
            depth += 1;
        }
        match c {
            '(' | '[' | '{' => {
                open.push(0);
                depth += 1;
            }
            ')' | ']' | '}' if open.len() > 1 => {
                depth -= 1 + open.pop().unwrap_or(0);
            }
            _ => {}
        }
        // An `else` continues the statement that the brace ends.
        if matches!(c, ',' | ';')
            && let Some(n) = open.last_mut()
        {
            depth -= std::mem::take(n);
        }
        if depth > DEPTH {
            return true;
        }
    }
    false
}

/// An error with its causes.
fn chain(error: &dyn std::error::Error) -> String {
    let mut out = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        out += &format!(": {cause}");
        source = cause.source();
    }
    out
}

/// A binary as WGSL.
pub fn wgsl_of(words: &[u32]) -> Result<String, String> {
    let options = naga::front::spv::Options::default();
    let module = naga::front::spv::Frontend::new(words.iter().copied(), &options)
        .parse()
        .map_err(|e| format!("naga can't read the result: {e}"))?;
    let info = Validator::new(ValidationFlags::all(), Capabilities::all())
        .validate(&module)
        .map_err(|e| format!("naga can't read the result: {}", chain(e.as_inner())))?;
    naga::back::wgsl::write_string(&module, &info, naga::back::wgsl::WriterFlags::empty())
        .map_err(|e| format!("naga can't write the result: {e}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn depth_is_what_is_open_at_once() {
        let deep = |text: &str| too_deep(text);
        assert!(!deep(&"x = a + b * (c - d);\n".repeat(10_000)), "statements end what is open");
        assert!(!deep(&"f(1, -2, 3), ".repeat(10_000)), "so do commas");
        assert!(!deep(&"if (a) { b(); } else { c(); }\nx;".repeat(10_000)));
        for long in ["(", "a + ", "-", "a[", "if (a) ", "if (a) { } else ", "{", "a.", "a ? b : "] {
            assert!(deep(&long.repeat(10_000)), "{long}");
        }
        assert!(!deep(&")".repeat(10_000)));
    }
}
