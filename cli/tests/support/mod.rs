//! What the tests of the command share: a folder with inputs, and runs of the binary in it.

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// The root of the repository.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// A folder of its own, with the repository's inputs in it.
pub struct Folder(tempfile::TempDir);

impl Folder {
    /// A folder with links to what documentation speaks of.
    pub fn new() -> Folder {
        let dir = tempfile::tempdir().expect("a folder can be made");
        for name in ["examples", "rules", "opcodes.toml"] {
            let from = root().canonicalize().expect("the root is there").join(name);
            std::os::unix::fs::symlink(from, dir.path().join(name)).expect("a link can be made");
        }
        std::fs::create_dir(dir.path().join("target")).expect("a folder can be made");
        Folder(dir)
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub fn write(&self, name: &str, bytes: impl AsRef<[u8]>) {
        std::fs::write(self.path(name), bytes).expect("a file can be written");
    }

    #[allow(dead_code, reason = "only the tests of the command read files")]
    pub fn read(&self, name: &str) -> Vec<u8> {
        std::fs::read(self.path(name)).unwrap_or_else(|e| panic!("{name}: {e}"))
    }

    /// The command in this folder.
    pub fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_deburr"));
        command.args(args).current_dir(self.0.path()).stdin(Stdio::null());
        command
    }

    pub fn run(&self, args: &[&str]) -> Run {
        Run::of(self.command(args).output().expect("the command starts"))
    }

    /// With something on standard input.
    #[allow(dead_code, reason = "only the tests of the command use it")]
    pub fn run_with(&self, args: &[&str], input: &[u8]) -> Run {
        self.write("stdin", input);
        let file = std::fs::File::open(self.path("stdin")).expect("it was just written");
        Run::of(self.command(args).stdin(file).output().expect("the command starts"))
    }

    /// A line of shell with the command on the path; stdout and stderr together.
    #[allow(dead_code, reason = "only the documentation's tests run shell")]
    pub fn shell(&self, line: &str) -> Run {
        let bin =
            Path::new(env!("CARGO_BIN_EXE_deburr")).parent().expect("a binary is in a folder");
        let path = format!("{}:{}", bin.display(), std::env::var("PATH").unwrap_or_default());
        let mut command = Command::new("sh");
        command.args(["-c", &format!("{{ {line}\n}} 2>&1")]).env("PATH", path);
        Run::of(
            command
                .current_dir(self.0.path())
                .stdin(Stdio::null())
                .output()
                .expect("there is a shell"),
        )
    }
}

/// A run that ended.
pub struct Run {
    pub code: Option<i32>,
    pub stdout: Vec<u8>,
    pub stderr: String,
}

impl Run {
    pub fn of(output: Output) -> Run {
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        Run { code: output.status.code(), stdout: output.stdout, stderr }
    }

    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.stdout).into_owned()
    }

    /// Asserts the exit code.
    #[track_caller]
    pub fn ends(self, code: i32) -> Run {
        assert_eq!(self.code, Some(code), "stdout: {}\nstderr: {}", self.text(), self.stderr);
        self
    }

    /// Asserts a part of stderr.
    #[track_caller]
    #[allow(dead_code, reason = "the documentation's tests look at stdout only")]
    pub fn says(self, part: &str) -> Run {
        assert!(self.stderr.contains(part), "`{part}` is not in: {}", self.stderr);
        self
    }
}
