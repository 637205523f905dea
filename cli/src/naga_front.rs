//! WGSL and GLSL by naga.

use crate::codes;
use crate::report::{Diagnostic, Kind, Place};
use naga::valid::{Capabilities, ValidationFlags, Validator};

/// WGSL as a binary.
pub fn wgsl(name: &str, text: &str) -> Result<Vec<u32>, Diagnostic> {
    let module = naga::front::wgsl::parse_str(text).map_err(|e| {
        at(Diagnostic::new(name, Kind::Invalid, codes::WGSL, e.message()), text, e.location(text))
    })?;
    binary(name, text, &module)
}

/// GLSL as a binary, as far as naga reads it.
pub fn glsl(name: &str, text: &str, stage: &str) -> Result<Vec<u32>, Diagnostic> {
    let naga_stage = match stage {
        "vert" => naga::ShaderStage::Vertex,
        "frag" => naga::ShaderStage::Fragment,
        "comp" => naga::ShaderStage::Compute,
        _ => return Err(foreign(name, stage, "naga doesn't know the stage")),
    };
    let options = naga::front::glsl::Options::from(naga_stage);
    match naga::front::glsl::Frontend::default().parse(&options, text) {
        Ok(module) => binary(name, text, &module),
        Err(errors) => {
            let message = errors.errors.first().map_or_else(String::new, |e| e.kind.to_string());
            Err(foreign(name, stage, &message))
        }
    }
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

fn binary(name: &str, text: &str, module: &naga::Module) -> Result<Vec<u32>, Diagnostic> {
    let info = Validator::new(ValidationFlags::all(), Capabilities::all())
        .validate(module)
        .map_err(|e| {
            let d = Diagnostic::new(name, Kind::Invalid, codes::WGSL, chain(e.as_inner()));
            at(d, text, e.location(text))
        })?;
    let mut options = naga::back::spv::Options::default();
    options.lang_version = (1, 3);
    // Names, bindings and coordinates stay as the source has them, and no loop gets a counter that it doesn't have.
    options.flags =
        naga::back::spv::WriterFlags::LABEL_VARYINGS | naga::back::spv::WriterFlags::DEBUG;
    options.force_loop_bounding = false;
    naga::back::spv::write_vec(module, &info, &options, None)
        .map_err(|e| Diagnostic::new(name, Kind::Unsupported, codes::WGSL, e.to_string()))
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
