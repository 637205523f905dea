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

/// How modules are read.
#[derive(clap::Args, Clone, Debug, Default)]
pub struct Reading {
    /// Float licences of SPIR-V: vulkan, keep-nan, strict [default: vulkan]
    #[arg(long, value_enum, value_name = "MODE", hide_possible_values = true)]
    pub float: Option<Float>,
    /// Freeze a specialisation constant
    #[arg(long = "spec", value_name = "ID=V", value_parser = parse_spec)]
    pub specs: Vec<(u32, u64)>,
}

impl Reading {
    /// The reader's options.
    pub fn options(&self) -> ReadOptions {
        let mut options = ReadOptions::default();
        options.float = match self.float {
            None | Some(Float::Vulkan) => FloatMode::Vulkan,
            Some(Float::KeepNan) => FloatMode::KeepNan,
            Some(Float::Strict) => FloatMode::Strict,
        };
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

/// Invocations of a subgroup: a power of two, as Vulkan has it.
pub fn parse_subgroup_size(text: &str) -> Result<u32, String> {
    match text.parse::<u32>() {
        Ok(size @ 1..=128) if size.is_power_of_two() => Ok(size),
        _ => Err("a power of two from 1 to 128 is expected".into()),
    }
}

/// The number of `-j`.
pub fn parse_jobs(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(jobs @ 1..=1024) => Ok(jobs),
        _ => Err("a number from 1 to 1024 is expected".into()),
    }
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

    #[test]
    fn subgroups_are_a_power_of_two() {
        assert_eq!(parse_subgroup_size("64"), Ok(64));
        let bad = ["0", "3", "256", "-1", "x"];
        assert!(bad.iter().all(|text| parse_subgroup_size(text).is_err()));
    }

    #[test]
    fn jobs_are_a_number_of_threads() {
        assert_eq!(parse_jobs("4"), Ok(4));
        assert!(["0", "-1", "x", "4097"].iter().all(|text| parse_jobs(text).is_err()));
    }
}
