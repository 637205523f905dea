//! The job file: what to run on what.
//!
//! One item a line, `#` begins a comment line:
//!
//! ```text
//! module shader.spv
//! entry main
//! groups 4 1 1
//! push push.bin
//! spec 0 0x14
//! buffer 0 1 in.bin
//! buffer 0 2 in.bin out.bin
//! ```
//!
//! `spec` gives the bits of a 32-bit specialisation constant, `buffer SET BINDING IN [OUT]` the contents before and the
//! file for those afterwards.

use crate::Error;
use std::path::PathBuf;

/// A buffer of a job.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Binding {
    /// Descriptor set.
    pub set: u32,
    /// Binding.
    pub binding: u32,
    /// File with the contents before the dispatch.
    pub input: PathBuf,
    /// File for the contents after it.
    pub output: Option<PathBuf>,
}

/// A dispatch of a compute module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Job {
    /// The module.
    pub module: PathBuf,
    /// Its entry point.
    pub entry: String,
    /// Workgroups in each dimension.
    pub groups: [u32; 3],
    /// File with the push constants.
    pub push: Option<PathBuf>,
    /// Specialisation constants: id and bits.
    pub specs: Vec<(u32, u32)>,
    /// Buffers.
    pub buffers: Vec<Binding>,
}

impl Job {
    /// Reads a job file's text.
    ///
    /// # Errors
    /// The first line that can't be read.
    pub fn parse(text: &str) -> Result<Job, Error> {
        let mut job = Job {
            module: PathBuf::new(),
            entry: "main".into(),
            groups: [1; 3],
            push: None,
            specs: Vec::new(),
            buffers: Vec::new(),
        };
        for (line, n) in text.lines().zip(1..) {
            let words: Vec<&str> = line.split_whitespace().collect();
            if !words.first().is_none_or(|w| w.starts_with('#')) {
                job.item(&words)
                    .ok_or_else(|| Error::Invalid(format!("job file, line {n}: `{line}`")))?;
            }
        }
        if job.module.as_os_str().is_empty() {
            return Err(Error::Invalid("job file: no module".into()));
        }
        Ok(job)
    }

    fn item(&mut self, words: &[&str]) -> Option<()> {
        match *words {
            ["module", path] => self.module = path.into(),
            ["entry", name] => self.entry = name.into(),
            ["groups", x, y, z] => self.groups = [number(x)?, number(y)?, number(z)?],
            ["push", path] => self.push = Some(path.into()),
            ["spec", id, bits] => self.specs.push((number(id)?, number(bits)?)),
            ["buffer", set, binding, input, ref output @ ..] if output.len() <= 1 => {
                self.buffers.push(Binding {
                    set: number(set)?,
                    binding: number(binding)?,
                    input: input.into(),
                    output: output.first().map(PathBuf::from),
                })
            }
            _ => return None,
        }
        Some(())
    }

    /// The text that [`Job::parse`] reads.
    pub fn text(&self) -> String {
        let [x, y, z] = self.groups;
        let mut lines = vec![
            format!("module {}", self.module.display()),
            format!("entry {}", self.entry),
            format!("groups {x} {y} {z}"),
        ];
        lines.extend(self.push.iter().map(|path| format!("push {}", path.display())));
        lines.extend(self.specs.iter().map(|(id, bits)| format!("spec {id} {bits:#x}")));
        lines.extend(self.buffers.iter().map(|b| {
            let output =
                b.output.as_ref().map_or(String::new(), |path| format!(" {}", path.display()));
            format!("buffer {} {} {}{output}", b.set, b.binding, b.input.display())
        }));
        lines.join("\n") + "\n"
    }
}

fn number(text: &str) -> Option<u32> {
    match text.strip_prefix("0x") {
        Some(digits) => u32::from_str_radix(digits, 16).ok(),
        None => text.parse().ok(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_read_back() {
        let text = "# as a tool writes it\nmodule a.spv\nentry main\ngroups 4 2 1\npush p\nspec 3 0x14\nbuffer 0 1 in\n\
                    buffer 0 2 in out\n";
        let job = Job::parse(text).unwrap();
        assert_eq!(job.groups, [4, 2, 1]);
        assert_eq!(job.specs, [(3, 20)]);
        assert_eq!(job.buffers[1].output, Some("out".into()));
        assert_eq!(Job::parse(&job.text()).unwrap(), job);
    }

    #[test]
    fn wrong_lines_are_named() {
        for (text, line) in [
            ("module a.spv\ngroups 1 1", "line 2"),
            ("module a.spv\nbuffer 0 x in", "line 2"),
            ("module a.spv\nbuffer 0 0 in out more", "line 2"),
            ("nonsense", "line 1"),
        ] {
            let message = Job::parse(text).unwrap_err().to_string();
            assert!(message.contains(line), "{message}");
        }
        assert!(Job::parse("groups 1 1 1").is_err(), "a job without a module");
    }
}
