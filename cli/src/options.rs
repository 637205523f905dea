//! Options that several subcommands share.

use deburr_spirv::{FloatMode, ReadOptions};

/// Float modes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Float {
    /// As Vulkan allows
    Vulkan,
    /// The same, but NaN and infinity are kept
    KeepNan,
    /// Nothing is rearranged
    Strict,
}

impl Float {
    /// The reader's mode.
    pub fn mode(self) -> FloatMode {
        match self {
            Float::Vulkan => FloatMode::Vulkan,
            Float::KeepNan => FloatMode::KeepNan,
            Float::Strict => FloatMode::Strict,
        }
    }
}

/// How modules are read.
#[derive(clap::Args, Clone, Debug)]
pub struct Reading {
    /// Float licences: vulkan, keep-nan, strict
    #[arg(long, value_enum, value_name = "MODE", default_value_t = Float::Vulkan, hide_possible_values = true)]
    pub float: Float,
    /// Freeze a specialisation constant
    #[arg(long = "spec", value_name = "ID=V", value_parser = parse_spec)]
    pub specs: Vec<(u32, u64)>,
}

impl Reading {
    /// The reader's options.
    pub fn options(&self) -> ReadOptions {
        let mut options = ReadOptions::default();
        options.float = self.float.mode();
        options.spec = self.specs.clone();
        options
    }
}

/// `ID=V` with V decimal, hexadecimal, a float with a point, or `true`/`false`.
pub fn parse_spec(text: &str) -> Result<(u32, u64), String> {
    let (id, value) = text.split_once('=').ok_or("ID=VALUE is expected")?;
    let id = id.trim().parse().map_err(|_| format!("`{id}` is no number"))?;
    let value = value.trim();
    let bad = || format!("`{value}` is no value");
    let value = match value {
        "true" => 1,
        "false" => 0,
        v => match v.strip_prefix("0x") {
            Some(hex) => u64::from_str_radix(hex, 16).map_err(|_| bad())?,
            None if v.contains('.') => u64::from(v.parse::<f32>().map_err(|_| bad())?.to_bits()),
            None => v.parse::<i64>().map(|v| v as u64).or_else(|_| v.parse()).map_err(|_| bad())?,
        },
    };
    Ok((id, value))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn specs_have_every_form() {
        assert_eq!(parse_spec("3=0x10"), Ok((3, 16)));
        assert_eq!(parse_spec("3=true"), Ok((3, 1)));
        assert_eq!(parse_spec("3=-1"), Ok((3, u64::MAX)));
        assert_eq!(parse_spec("3=1.5"), Ok((3, 0x3fc0_0000)));
        for bad in ["3", "x=1", "3=", "3=0xg", "3=1.5.2"] {
            assert!(parse_spec(bad).is_err(), "{bad}");
        }
    }
}
