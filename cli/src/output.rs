//! Writing results: to a temporary file that takes the name only when it is whole.

use crate::codes;
use crate::report::{Diagnostic, Kind, Reporter};
use std::io::Write;
use std::path::Path;

/// Puts bytes into a file, or on stdout for `-`. On failure the file is untouched.
pub fn write(path: &str, bytes: &[u8], reporter: &mut Reporter) -> Result<(), Diagnostic> {
    if path == "-" {
        reporter.bytes(bytes);
        return Ok(());
    }
    write_file(path, bytes)
}

/// Puts bytes into a file.
pub fn write_file(path: &str, bytes: &[u8]) -> Result<(), Diagnostic> {
    let trouble = |e: std::io::Error| {
        Diagnostic::new(path, Kind::Invalid, codes::FILE, format!("can't write: {e}"))
    };
    let target = Path::new(path);
    // A device or a pipe can't be replaced by renaming.
    if target.exists() && !target.is_file() {
        return std::fs::write(target, bytes).map_err(trouble);
    }
    let folder = target.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut file = tempfile::NamedTempFile::new_in(folder).map_err(trouble)?;
    file.write_all(bytes).map_err(trouble)?;
    set_usual_permissions(&file).map_err(trouble)?;
    file.persist(path).map_err(|e| trouble(e.error))?;
    Ok(())
}

/// Temporary files are private to the user; results are not.
#[cfg(unix)]
fn set_usual_permissions(file: &tempfile::NamedTempFile) -> std::io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    file.as_file().set_permissions(std::fs::Permissions::from_mode(0o644))
}

#[cfg(not(unix))]
fn set_usual_permissions(_: &tempfile::NamedTempFile) -> std::io::Result<()> {
    Ok(())
}

/// The bytes of a binary, little-endian.
pub fn bytes(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|w| w.to_le_bytes()).collect()
}
