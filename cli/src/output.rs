//! Writing results: to a temporary file that takes the name only when it is whole.

use crate::report::{Diagnostic, Kind};
use std::io::Write;
use std::path::Path;

/// Puts bytes into a file, or on stdout for `-`. On failure the file is untouched.
pub fn write(path: &str, bytes: &[u8]) -> Result<(), Box<Diagnostic>> {
    let trouble = |e: std::io::Error| Box::new(Diagnostic::new(path, Kind::Invalid, format!("can't write: {e}")));
    if path == "-" {
        // A closed pipe ends quietly.
        let _ = std::io::stdout().lock().write_all(bytes);
        return Ok(());
    }
    let folder = Path::new(path).parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
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
