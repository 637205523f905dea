//! Reading inputs of any kind: SPIR-V, IR text, WGSL, GLSL.

use crate::codes;
use crate::options::Reading;
use crate::report::{Diagnostic, Kind, Place, Trouble};
use deburr_ir_core::Module;
use deburr_ir_core::SpecValue;
use deburr_spirv::ErrorKind;
use std::io::Read;
use std::path::Path;

/// Bytes up to which a file is read: far beyond any shader, far below what would hurt.
const MAX_BYTES: u64 = 256 << 20;

/// What an input is.
#[derive(Clone, Debug)]
pub enum Source {
    /// A SPIR-V binary.
    Spirv(Vec<u32>),
    /// IR text.
    Ir(String),
    /// WGSL.
    Wgsl(String),
    /// GLSL of a stage by the file's extension.
    Glsl(String, &'static str),
}

/// An input that was read but not yet understood.
#[derive(Clone, Debug)]
pub struct Input {
    /// Name for diagnostics: the path, `-` for standard input.
    pub name: String,
    /// The content.
    pub source: Source,
}

/// An input as a module, with the binary it was made from where there is one.
pub struct Loaded {
    /// The module.
    pub module: Module,
    /// Options that do nothing here.
    pub warnings: Trouble,
    /// The binary as read, or as the front end made it.
    pub words: Option<Vec<u32>>,
}

/// Extensions of GLSL files with their stages.
const GLSL: &[(&str, &str)] = &[
    ("vert", "vert"),
    ("frag", "frag"),
    ("comp", "comp"),
    ("tesc", "tesc"),
    ("tese", "tese"),
    ("geom", "geom"),
    ("mesh", "mesh"),
    ("task", "task"),
    ("glsl", "comp"),
];

impl Input {
    /// Reads a file, or standard input for `-`.
    pub fn open(path: &Path) -> Result<Self, Diagnostic> {
        let bytes = read_bytes(path)?;
        Self::classify(&path.to_string_lossy(), bytes)
    }

    /// Tells what the bytes are: by content, else by the name's extension.
    fn classify(name: &str, bytes: Vec<u8>) -> Result<Self, Diagnostic> {
        let input = |source| Ok(Input { name: name.into(), source });
        let unknown =
            |message: &str| Diagnostic::new(name, Kind::Invalid, codes::KIND_OF_INPUT, message);
        if let Some(words) = spirv_words(&bytes) {
            return match words {
                Ok(words) => input(Source::Spirv(words)),
                Err(message) => {
                    Err(Diagnostic::new(name, Kind::Invalid, codes::SPIRV_INVALID, message))
                }
            };
        }
        let extension = name.rsplit_once('.').map_or("", |(_, e)| e);
        let text = String::from_utf8(bytes)
            .map_err(|_| unknown("neither SPIR-V (no magic number) nor UTF-8 text"))?;
        if matches!(first_token(&text), "deburr_ir" | "shader") {
            return input(Source::Ir(text));
        }
        if let Some((_, stage)) = GLSL.iter().find(|(e, _)| *e == extension) {
            return input(Source::Glsl(text, stage));
        }
        match extension {
            "wgsl" => input(Source::Wgsl(text)),
            "nir" | "ir" => input(Source::Ir(text)),
            "spv" => Err(unknown("no SPIR-V: the magic number is missing")),
            _ => Err(unknown("no SPIR-V, no IR text, and no extension that says what it is")
                .help("IR text begins with `deburr_ir 1`; WGSL files end in .wgsl")),
        }
    }

    /// The input as a module.
    pub fn load(&self, reading: &Reading) -> Result<Loaded, Trouble> {
        let mut loaded = match &self.source {
            Source::Ir(text) => {
                let module = self.parse_ir(text)?;
                Loaded { module, warnings: Trouble::new(), words: None }
            }
            _ => {
                let words = self.binary()?.unwrap_or_default();
                match deburr_spirv::read(&words, &reading.options()) {
                    Ok(module) => Loaded { module, warnings: Trouble::new(), words: Some(words) },
                    Err(error) => return Err(spirv_diagnostic(&self.name, &error).into()),
                }
            }
        };
        loaded.warnings = self.idle(reading, &loaded);
        Ok(loaded)
    }

    /// Warnings of options that do nothing.
    fn idle(&self, reading: &Reading, loaded: &Loaded) -> Trouble {
        let mut warnings = Trouble::new();
        let known = match &loaded.words {
            Some(words) => deburr_spirv::spec_ids(words),
            None => {
                if reading.float.is_some() {
                    let message =
                        "`--float` has no effect on IR text: its instructions say what they allow";
                    warnings.push(Diagnostic::warning(&self.name, codes::READING, message));
                }
                spec_ids(&loaded.module)
            }
        };
        for (id, _) in reading.specs.iter().filter(|(id, _)| !known.contains(id)) {
            let message = format!("the module has no specialisation constant {id}");
            let d = Diagnostic::warning(&self.name, codes::SPEC, message);
            let ids: Vec<String> = known.iter().map(u32::to_string).collect();
            warnings.push(match ids.is_empty() {
                true => d,
                false => d.help(format!("it has {}", ids.join(", "))),
            });
        }
        warnings
    }

    /// Refuses to freeze constants of IR text, whose constants are frozen when SPIR-V is read.
    pub fn refuse_frozen_ir(&self, reading: &Reading) -> Result<(), Diagnostic> {
        if reading.specs.is_empty() || !matches!(self.source, Source::Ir(_)) {
            return Ok(());
        }
        let message = "`--spec` can't freeze the constants of IR text";
        let d = Diagnostic::new(&self.name, Kind::Unsupported, codes::SPEC, message);
        Err(d.help("give it where the text is made: `deburr print --spec ID=V`"))
    }

    /// The input as a binary, for tools that look at nothing else; `None` for IR text.
    pub fn binary(&self) -> Result<Option<Vec<u32>>, Diagnostic> {
        match &self.source {
            Source::Ir(_) => Ok(None),
            Source::Spirv(words) => Ok(Some(words.clone())),
            Source::Wgsl(text) => front_end::wgsl(&self.name, text).map(Some),
            Source::Glsl(text, stage) => front_end::glsl(&self.name, text, stage).map(Some),
        }
    }

    fn parse_ir(&self, text: &str) -> Result<Module, Trouble> {
        let module = deburr_ir_core::parse(text).map_err(|errors| {
            let tell = |e: &deburr_ir_core::ParseError| {
                let d = Diagnostic::new(&self.name, Kind::Invalid, codes::IR_TEXT, &*e.message);
                let mut d = d.at(Place::of_bytes(text, e.span.clone()));
                d.help = e.help.clone();
                d
            };
            errors.iter().map(tell).collect::<Vec<_>>()
        })?;
        match deburr_ir_core::validate(&module) {
            Ok(()) => Ok(module),
            Err(errors) => Err(errors
                .iter()
                .map(|e| {
                    Diagnostic::new(&self.name, Kind::Invalid, codes::IR_INVALID, e.to_string())
                })
                .collect()),
        }
    }
}

/// Opens an input and makes a module of it.
pub fn load(path: &Path, reading: &Reading) -> Result<Loaded, Trouble> {
    Input::open(path)?.load(reading)
}

/// The ids of the specialisation constants that the API knows.
fn spec_ids(m: &Module) -> Vec<u32> {
    let id = |value: &SpecValue| match value {
        SpecValue::Scalar { id, .. } => *id,
        SpecValue::Composite(_) | SpecValue::Op { .. } => None,
    };
    m.spec_consts.iter().filter_map(|c| id(&c.value)).collect()
}

/// The bytes of a file, or of standard input for `-`.
pub fn read_bytes(path: &Path) -> Result<Vec<u8>, Diagnostic> {
    let name = &*path.to_string_lossy();
    let trouble = |e: std::io::Error| {
        Diagnostic::new(name, Kind::Invalid, codes::FILE, format!("can't read: {e}"))
    };
    let mut bytes = Vec::new();
    if path == Path::new("-") {
        std::io::stdin().lock().take(MAX_BYTES + 1).read_to_end(&mut bytes).map_err(trouble)?;
    } else {
        let file = std::fs::File::open(path).map_err(trouble)?;
        file.take(MAX_BYTES + 1).read_to_end(&mut bytes).map_err(trouble)?;
    }
    if bytes.len() as u64 > MAX_BYTES {
        let message = format!("larger than {} MiB", MAX_BYTES >> 20);
        return Err(Diagnostic::new(name, Kind::Limit, codes::INPUT_SIZE, message));
    }
    Ok(bytes)
}

/// A SPIR-V error with its place.
pub fn spirv_diagnostic(file: &str, error: &deburr_spirv::Error) -> Diagnostic {
    let (kind, code) = match error.kind {
        ErrorKind::Unsupported if error.word.is_none() => {
            (Kind::Unsupported, codes::WRITE_UNSUPPORTED)
        }
        ErrorKind::Unsupported => (Kind::Unsupported, codes::SPIRV_UNSUPPORTED),
        ErrorKind::Limit => (Kind::Limit, codes::SPIRV_LIMIT),
        _ => (Kind::Invalid, codes::SPIRV_INVALID),
    };
    let place = match error.word {
        Some(word) => {
            let op = error.op.clone().unwrap_or_else(|| "header".into());
            Place::Word { word, op: error.id.map_or(op.clone(), |id| format!("{op} %{id}")) }
        }
        None => Place::None,
    };
    let message = match &error.ir {
        Some((function, instr)) => {
            format!("{}: `{instr}` in function `{function}`", error.message)
        }
        None => error.message.clone(),
    };
    Diagnostic::new(file, kind, code, message).at(place)
}

/// The words of a binary in either byte order; `None` if the magic number is missing.
fn spirv_words(bytes: &[u8]) -> Option<Result<Vec<u32>, String>> {
    let magic: [u8; 4] = bytes.get(..4)?.try_into().ok()?;
    const MAGIC: u32 = 0x0723_0203;
    let from: fn([u8; 4]) -> u32 = match magic {
        m if u32::from_le_bytes(m) == MAGIC => u32::from_le_bytes,
        m if u32::from_be_bytes(m) == MAGIC => u32::from_be_bytes,
        _ => return None,
    };
    if !bytes.len().is_multiple_of(4) {
        return Some(Err(format!("SPIR-V of {} bytes: no whole number of words", bytes.len())));
    }
    Some(Ok(bytes.chunks_exact(4).map(|w| from([w[0], w[1], w[2], w[3]])).collect()))
}

/// The first word after comments and blanks.
fn first_token(text: &str) -> &str {
    let mut rest = text.trim_start();
    while let Some(comment) = rest.strip_prefix("//") {
        rest = comment.split_once('\n').map_or("", |(_, after)| after).trim_start();
    }
    rest.split_whitespace().next().unwrap_or("")
}

#[cfg(feature = "naga")]
use crate::naga_front as front_end;

#[cfg(not(feature = "naga"))]
mod front_end {
    use crate::codes;
    use crate::report::{Diagnostic, Kind};

    /// Built without a front end.
    pub fn wgsl(name: &str, _text: &str) -> Result<Vec<u32>, Diagnostic> {
        let message = "WGSL: this deburr was built without the feature `naga`";
        Err(Diagnostic::new(name, Kind::Unsupported, codes::FRONT_END, message))
    }

    /// Built without a front end.
    pub fn glsl(name: &str, _text: &str, stage: &str) -> Result<Vec<u32>, Diagnostic> {
        let message = "GLSL: this deburr was built without the feature `naga`";
        let d = Diagnostic::new(name, Kind::Unsupported, codes::FRONT_END, message);
        Err(d.help(format!("glslangValidator -V -S {stage} {name} -o {name}.spv")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inputs_are_known_by_content_first() {
        let kind =
            |name: &str, bytes: &[u8]| Input::classify(name, bytes.to_vec()).map(|i| i.source);
        let spirv = [0x03, 0x02, 0x23, 0x07, 1, 0, 0, 0];
        assert!(matches!(kind("x.wgsl", &spirv), Ok(Source::Spirv(w)) if w == [0x0723_0203, 1]));
        let swapped = [0x07, 0x23, 0x02, 0x03, 0, 0, 0, 1];
        assert!(matches!(kind("-", &swapped), Ok(Source::Spirv(w)) if w == [0x0723_0203, 1]));
        assert!(matches!(kind("-", b"// c\n\n// d\nderp"), Err(d) if d.code == "E0002"));
        assert!(matches!(kind("-", b"// c\n\ndeburr_ir 1"), Ok(Source::Ir(_))));
        assert!(matches!(kind("a.comp", b"#version 450"), Ok(Source::Glsl(_, "comp"))));
        assert!(matches!(kind("a.spv", b"text"), Err(d) if d.message.contains("magic")));
        assert!(matches!(kind("a.spv", &spirv[..7]), Err(d) if d.code == "E0020"));
    }
}
