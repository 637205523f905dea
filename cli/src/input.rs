//! Reading inputs of any kind: SPIR-V, IR text, WGSL, GLSL.

use crate::report::{Diagnostic, Kind, Place};
use deburr_ir_core::Module;
use deburr_spirv::{ErrorKind, ReadOptions};
use std::io::Read;

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
    pub fn open(path: &str) -> Result<Self, Box<Diagnostic>> {
        let trouble = |e: std::io::Error| Box::new(Diagnostic::new(path, Kind::Invalid, format!("can't read: {e}")));
        let mut bytes = Vec::new();
        if path == "-" {
            std::io::stdin().lock().take(MAX_BYTES + 1).read_to_end(&mut bytes).map_err(trouble)?;
        } else {
            let file = std::fs::File::open(path).map_err(trouble)?;
            file.take(MAX_BYTES + 1).read_to_end(&mut bytes).map_err(trouble)?;
        }
        if bytes.len() as u64 > MAX_BYTES {
            let message = format!("larger than {} MiB", MAX_BYTES >> 20);
            return Err(Box::new(Diagnostic::new(path, Kind::Limit, message)));
        }
        Self::classify(path, bytes)
    }

    /// Tells what the bytes are: by content, else by the name's extension.
    fn classify(name: &str, bytes: Vec<u8>) -> Result<Self, Box<Diagnostic>> {
        let input = |source| Ok(Input { name: name.into(), source });
        if let Some(words) = spirv_words(&bytes) {
            return match words {
                Ok(words) => input(Source::Spirv(words)),
                Err(message) => Err(Box::new(Diagnostic::new(name, Kind::Invalid, message))),
            };
        }
        let extension = name.rsplit_once('.').map_or("", |(_, e)| e);
        let text = String::from_utf8(bytes).map_err(|_| {
            Box::new(Diagnostic::new(name, Kind::Invalid, "neither SPIR-V (no magic number) nor UTF-8 text"))
        })?;
        if matches!(first_token(&text), "deburr_ir" | "shader") {
            return input(Source::Ir(text));
        }
        if let Some((_, stage)) = GLSL.iter().find(|(e, _)| *e == extension) {
            return input(Source::Glsl(text, stage));
        }
        match extension {
            "wgsl" => input(Source::Wgsl(text)),
            "nir" | "ir" => input(Source::Ir(text)),
            "spv" => Err(Box::new(Diagnostic::new(name, Kind::Invalid, "no SPIR-V: the magic number is missing"))),
            _ => {
                let message = "can't tell what this is: no SPIR-V, no IR text, and no extension that says so";
                let help = "IR text begins with `deburr_ir 1`; WGSL files end in .wgsl";
                Err(Box::new(Diagnostic::new(name, Kind::Invalid, message).help(help)))
            }
        }
    }

    /// The input as a module.
    pub fn load(&self, options: &ReadOptions) -> Result<Loaded, Vec<Diagnostic>> {
        match &self.source {
            Source::Ir(text) => self.parse_ir(text).map(|module| Loaded { module, words: None }),
            Source::Spirv(words) => self.read_spirv(words.clone(), options),
            Source::Wgsl(text) => {
                let words = front_end::wgsl(&self.name, text).map_err(|d| vec![*d])?;
                self.read_spirv(words, options)
            }
            Source::Glsl(text, stage) => {
                let words = front_end::glsl(&self.name, text, stage).map_err(|d| vec![*d])?;
                self.read_spirv(words, options)
            }
        }
    }

    /// The input as a binary, for tools that look at nothing else.
    pub fn words(&self) -> Result<Option<Vec<u32>>, Box<Diagnostic>> {
        match &self.source {
            Source::Ir(_) => Ok(None),
            Source::Spirv(words) => Ok(Some(words.clone())),
            Source::Wgsl(text) => front_end::wgsl(&self.name, text).map(Some),
            Source::Glsl(text, stage) => front_end::glsl(&self.name, text, stage).map(Some),
        }
    }

    fn parse_ir(&self, text: &str) -> Result<Module, Vec<Diagnostic>> {
        let module = deburr_ir_core::parse(text).map_err(|errors| {
            let tell = |e: &deburr_ir_core::ParseError| {
                let mut d = Diagnostic::new(&self.name, Kind::Invalid, e.message.clone())
                    .at(Place::Text { line: e.line, col: e.col });
                d.source = Some(text.into());
                d
            };
            errors.iter().map(tell).collect::<Vec<_>>()
        })?;
        match deburr_ir_core::validate(&module) {
            Ok(()) => Ok(module),
            Err(errors) => {
                Err(errors.iter().map(|e| Diagnostic::new(&self.name, Kind::Invalid, e.to_string())).collect())
            }
        }
    }

    fn read_spirv(&self, words: Vec<u32>, options: &ReadOptions) -> Result<Loaded, Vec<Diagnostic>> {
        match deburr_spirv::read(&words, options) {
            Ok(module) => Ok(Loaded { module, words: Some(words) }),
            Err(error) => Err(vec![spirv_diagnostic(&self.name, &error)]),
        }
    }
}

/// A SPIR-V error with its place.
pub fn spirv_diagnostic(file: &str, error: &deburr_spirv::Error) -> Diagnostic {
    let kind = match error.kind {
        ErrorKind::Unsupported => Kind::Unsupported,
        ErrorKind::Limit => Kind::Limit,
        _ => Kind::Invalid,
    };
    let place = match error.word {
        Some(word) => {
            let op = error.op.clone().unwrap_or_else(|| "header".into());
            Place::Word { word, op: error.id.map_or(op.clone(), |id| format!("{op} %{id}")) }
        }
        None => Place::None,
    };
    Diagnostic::new(file, kind, error.message.clone()).at(place)
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
    if bytes.len() % 4 != 0 {
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
mod front_end {
    use crate::report::{Diagnostic, Kind, Place};

    /// WGSL as a binary.
    pub fn wgsl(name: &str, text: &str) -> Result<Vec<u32>, Box<Diagnostic>> {
        let module = naga::front::wgsl::parse_str(text).map_err(|e| {
            let place = e.location(text);
            let mut d = Diagnostic::new(name, Kind::Invalid, e.message().to_owned());
            if let Some(at) = place {
                d.place = Place::Text { line: at.line_number as usize, col: at.line_position as usize };
                d.source = Some(text.into());
            }
            Box::new(d)
        })?;
        binary(name, text, &module)
    }

    /// GLSL as a binary, as far as naga reads it.
    pub fn glsl(name: &str, text: &str, stage: &str) -> Result<Vec<u32>, Box<Diagnostic>> {
        let naga_stage = match stage {
            "vert" => Some(naga::ShaderStage::Vertex),
            "frag" => Some(naga::ShaderStage::Fragment),
            "comp" => Some(naga::ShaderStage::Compute),
            _ => None,
        };
        let parsed = naga_stage.map(|stage| {
            let options = naga::front::glsl::Options::from(stage);
            naga::front::glsl::Frontend::default().parse(&options, text)
        });
        match parsed {
            Some(Ok(module)) => binary(name, text, &module),
            Some(Err(errors)) => {
                let message = errors.errors.first().map_or_else(String::new, |e| e.kind.to_string());
                Err(Box::new(foreign(name, stage, &message)))
            }
            None => Err(Box::new(foreign(name, stage, "the stage is not supported"))),
        }
    }

    /// Which command makes a binary of GLSL that naga can't read.
    fn foreign(name: &str, stage: &str, message: &str) -> Diagnostic {
        Diagnostic::new(name, Kind::Unsupported, format!("this GLSL can't be read: {message}"))
            .help(format!("glslangValidator -V -S {stage} {name} -o {name}.spv"))
    }

    fn binary(name: &str, text: &str, module: &naga::Module) -> Result<Vec<u32>, Box<Diagnostic>> {
        let flags = naga::valid::ValidationFlags::all();
        let capabilities = naga::valid::Capabilities::all();
        let info = naga::valid::Validator::new(flags, capabilities).validate(module).map_err(|e| {
            let place = e.location(text);
            let mut d = Diagnostic::new(name, Kind::Invalid, e.as_inner().to_string());
            if let Some(at) = place {
                d.place = Place::Text { line: at.line_number as usize, col: at.line_position as usize };
                d.source = Some(text.into());
            }
            Box::new(d)
        })?;
        let mut options = naga::back::spv::Options::default();
        // Bindings, names and coordinates stay as the source has them.
        options.flags = naga::back::spv::WriterFlags::LABEL_VARYINGS | naga::back::spv::WriterFlags::DEBUG;
        naga::back::spv::write_vec(module, &info, &options, None)
            .map_err(|e| Box::new(Diagnostic::new(name, Kind::Unsupported, e.to_string())))
    }
}

#[cfg(not(feature = "naga"))]
mod front_end {
    use crate::report::{Diagnostic, Kind};

    /// Built without a front end.
    pub fn wgsl(name: &str, _text: &str) -> Result<Vec<u32>, Box<Diagnostic>> {
        Err(Box::new(Diagnostic::new(name, Kind::Unsupported, "WGSL: this deburr was built without the feature `naga`")))
    }

    /// Built without a front end.
    pub fn glsl(name: &str, _text: &str, stage: &str) -> Result<Vec<u32>, Box<Diagnostic>> {
        let d = Diagnostic::new(name, Kind::Unsupported, "GLSL: this deburr was built without the feature `naga`");
        Err(Box::new(d.help(format!("glslangValidator -V -S {stage} {name} -o {name}.spv"))))
    }
}
