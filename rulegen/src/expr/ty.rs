//! Types of expressions.

use std::fmt;

/// What the bits of a value mean.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Base {
    /// True or false; has no width of its own.
    Bool,
    /// Two's complement.
    Int,
    /// Unsigned.
    Uint,
    /// IEEE 754 binary16, binary32 or binary64.
    Float,
}

impl Base {
    /// The name in signatures.
    pub fn name(self) -> &'static str {
        match self {
            Base::Bool => "bool",
            Base::Int => "int",
            Base::Uint => "uint",
            Base::Float => "float",
        }
    }

    /// Whether it is one of the two integer bases.
    pub fn is_integer(self) -> bool {
        matches!(self, Base::Int | Base::Uint)
    }
}

/// The width of a scalar in bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Width {
    /// So many bits.
    Fixed(u8),
    /// The width `BITS`, which the definition leaves open.
    Bits,
}

/// A scalar or vector type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Ty {
    /// What the bits mean.
    pub base: Base,
    /// Bits of a component; `Fixed(1)` for [`Base::Bool`].
    pub width: Width,
    /// Components; 1 is a scalar.
    pub comps: u8,
}

impl Ty {
    /// The scalar `bool`.
    pub const BOOL: Ty = Ty { base: Base::Bool, width: Width::Fixed(1), comps: 1 };
    /// The scalar `u32`.
    pub const U32: Ty = Ty { base: Base::Uint, width: Width::Fixed(32), comps: 1 };

    /// A scalar; the width of a bool is ignored.
    pub fn scalar(base: Base, width: Width) -> Ty {
        let width = if base == Base::Bool { Width::Fixed(1) } else { width };
        Ty { base, width, comps: 1 }
    }

    /// The same element type with `comps` components.
    pub fn with_comps(self, comps: u8) -> Ty {
        Ty { comps, ..self }
    }

    /// The names of types.
    pub const NAMES: [&str; 17] = [
        "int", "uint", "float", "bool", "i1", "i8", "i16", "i32", "i64", "u1", "u8", "u16", "u32",
        "u64", "f16", "f32", "f64",
    ];

    /// The type that a name such as `i32`, `float` or `bool` stands for.
    pub fn by_name(name: &str) -> Option<Ty> {
        let (base, width) = match name {
            "bool" => (Base::Bool, Width::Fixed(1)),
            "int" => (Base::Int, Width::Bits),
            "uint" => (Base::Uint, Width::Bits),
            "float" => (Base::Float, Width::Bits),
            _ => {
                let base = match name.as_bytes().first()? {
                    b'i' => Base::Int,
                    b'u' => Base::Uint,
                    b'f' => Base::Float,
                    _ => return None,
                };
                let bits = match (&name[1..], base) {
                    ("16", _) => 16,
                    ("32", _) => 32,
                    ("64", _) => 64,
                    ("8", Base::Int | Base::Uint) => 8,
                    ("1", Base::Int | Base::Uint) => 1,
                    _ => return None,
                };
                (base, Width::Fixed(bits))
            }
        };
        Some(Ty::scalar(base, width))
    }

    /// Replaces `BITS` by a width.
    pub fn at(self, bits: u8) -> Ty {
        match self.width {
            Width::Bits => Ty { width: Width::Fixed(bits), ..self },
            Width::Fixed(_) => self,
        }
    }
}

impl fmt::Display for Ty {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.base, self.width) {
            (Base::Bool, _) | (_, Width::Bits) => f.write_str(self.base.name())?,
            (base, Width::Fixed(n)) => write!(f, "{}{n}", &base.name()[..1])?,
        }
        if self.comps != 1 {
            write!(f, "x{}", self.comps)?;
        }
        Ok(())
    }
}
