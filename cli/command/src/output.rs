//! Writing results: to a temporary file that takes the name only when it is whole.

use crate::codes;
use crate::report::{Diagnostic, Kind, Reporter};
use std::io::Write;
use std::path::{Path, PathBuf};

/// Symbolic links that are followed to the file that is meant.
const LINKS: usize = 40;

/// Puts bytes into a file, or on stdout for `-`. On failure the file is untouched.
pub fn write(path: &Path, bytes: &[u8], reporter: &mut Reporter) -> Result<(), Diagnostic> {
    if path == Path::new("-") {
        reporter.bytes(bytes);
        return Ok(());
    }
    write_file(path, bytes)
}

/// Puts bytes into a file.
pub fn write_file(path: &Path, bytes: &[u8]) -> Result<(), Diagnostic> {
    put(path, bytes).map_err(|e| {
        let name = path.to_string_lossy();
        Diagnostic::new(&name, Kind::Invalid, codes::FILE, format!("can't write: {e}"))
    })
}

fn put(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    let target = &destination(path)?;
    // A device or a pipe can't be replaced by renaming.
    if target.exists() && !target.is_file() {
        return std::fs::write(target, bytes);
    }
    let folder = target.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut file = temporary(folder)?;
    file.write_all(bytes)?;
    if let Ok(old) = std::fs::metadata(target) {
        file.as_file().set_permissions(old.permissions())?;
    }
    file.persist(target).map_err(|e| e.error)?;
    Ok(())
}

/// The file that a path means: symbolic links stay, what they lead to is written.
fn destination(path: &Path) -> std::io::Result<PathBuf> {
    let mut path = path.to_owned();
    for _ in 0..LINKS {
        let Ok(to) = std::fs::read_link(&path) else { return Ok(path) };
        path = path.parent().unwrap_or(Path::new("")).join(to);
    }
    // The system has a name for links that lead to themselves.
    std::fs::metadata(&path).map(|_| path)
}

/// A temporary file with the permissions of a new file: those of the library are private to the user.
fn temporary(folder: &Path) -> std::io::Result<tempfile::NamedTempFile> {
    let mut builder = tempfile::Builder::new();
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        builder.permissions(std::fs::Permissions::from_mode(0o666));
    }
    builder.prefix(".deburr").tempfile_in(folder).map_err(|e| {
        // The library adds the temporary file's name, which is no one's.
        let text = e.to_string();
        std::io::Error::new(e.kind(), text.split(" at path ").next().unwrap_or(&text).to_owned())
    })
}

/// The bytes of a binary, little-endian.
pub fn bytes(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|w| w.to_le_bytes()).collect()
}
