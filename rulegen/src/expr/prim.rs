//! The named primitives of the expression language: one table.
//!
//! A primitive has one Rust meaning, a function in the crate that runs the generated code, and, where it exists, one
//! SMT meaning, which the checker of rules gives it. Signatures are written with letters that stand for types of one
//! common width: `F` float, `I` either integer (the same one throughout), `N` any number (the same base throughout),
//! `U` uint, `S` int; everything else is a type's name.

use std::fmt;

/// How the Rust function of a primitive is called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Convention {
    /// `f(cx, width, operands…)`: it depends on the float environment, or its result may be an arithmetic NaN.
    Env,
    /// `f(width, operands…)`.
    Pure,
    /// The value itself: a reinterpretation of the same bits.
    Identity,
}

/// What is known of a primitive.
#[derive(Clone, Copy, Debug)]
pub struct PrimInfo {
    /// Its name in expressions.
    pub name: &'static str,
    /// Operands and result, as the module's documentation explains.
    pub sig: &'static str,
    /// The Rust function for operands that are not signed integers or, where there is one name only, for all.
    pub rust: &'static str,
    /// The Rust function for `uint` operands, if another.
    pub rust_uint: &'static str,
    /// The Rust function for float operands, if another.
    pub rust_float: &'static str,
    /// How these are called.
    pub convention: Convention,
    /// One sentence.
    pub doc: &'static str,
}

macro_rules! prims {
    ($($variant:ident $name:literal $sig:literal $convention:ident $rust:literal $(uint $uint:literal)? $(float $float:literal)? : $doc:literal;)*) => {
        /// A named primitive.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Prim {
            $(#[doc = $doc] $variant,)*
        }

        impl Prim {
            /// Every primitive.
            pub const ALL: &'static [Prim] = &[$(Prim::$variant),*];
        }

        static INFO: &[PrimInfo] = &[$(PrimInfo {
            name: $name,
            sig: $sig,
            rust: $rust,
            rust_uint: first(&[$($uint,)? $rust]),
            rust_float: first(&[$($float,)? $rust]),
            convention: Convention::$convention,
            doc: $doc,
        }),*];
    };
}

/// The first of a non-empty list.
const fn first(names: &[&'static str]) -> &'static str {
    names[0]
}

prims! {
    Fma "fma" "F F F -> F" Env "fma": "`a·b + c`, rounded once.";
    Sqrt "sqrt" "F -> F" Env "sqrt": "Square root, correctly rounded.";
    Rsqrt "rsqrt" "F -> F" Env "rsqrt": "Reciprocal square root.";
    RoundEven "round_even" "F -> F" Env "round_even": "Nearest integer, halves to the even one; keeps −0.";
    Trunc "trunc" "F -> F" Env "trunc_f": "Next integer toward zero; keeps −0.";
    Floor "floor" "F -> F" Env "floor": "Greatest integer not above; keeps −0.";
    Ceil "ceil" "F -> F" Env "ceil": "Least integer not below; keeps −0.";
    Canonicalize "canonicalize" "F -> F" Env "canonicalize": "The same number, flushed by the environment, a NaN made canonical.";
    Exp2 "exp2" "F -> F" Env "exp2": "2 to the power of the operand.";
    Log2 "log2" "F -> F" Env "log2": "Logarithm to base 2.";
    Exp "exp" "F -> F" Env "exp": "e to the power of the operand.";
    Log "log" "F -> F" Env "log": "Natural logarithm.";
    Pow "pow" "F F -> F" Env "pow": "The first operand to the power of the second.";
    Sin "sin" "F -> F" Env "sin": "Sine of radians.";
    Cos "cos" "F -> F" Env "cos": "Cosine of radians.";
    Tan "tan" "F -> F" Env "tan": "Tangent of radians.";
    Asin "asin" "F -> F" Env "asin": "Arc sine in radians.";
    Acos "acos" "F -> F" Env "acos": "Arc cosine in radians.";
    Atan "atan" "F -> F" Env "atan": "Arc tangent in radians.";
    Atan2 "atan2" "F F -> F" Env "atan2": "Angle of the point (x = second, y = first operand) in radians.";
    Sinh "sinh" "F -> F" Env "sinh": "Hyperbolic sine.";
    Cosh "cosh" "F -> F" Env "cosh": "Hyperbolic cosine.";
    Tanh "tanh" "F -> F" Env "tanh": "Hyperbolic tangent.";
    Asinh "asinh" "F -> F" Env "asinh": "Inverse hyperbolic sine.";
    Acosh "acosh" "F -> F" Env "acosh": "Inverse hyperbolic cosine.";
    Atanh "atanh" "F -> F" Env "atanh": "Inverse hyperbolic tangent.";
    ScalePow2 "scale_pow2" "F i32 -> F" Env "ldexp": "The first operand times 2 to the second, rounded once.";
    Significand "significand" "F -> F" Env "frexp_sig": "Significand in [0.5, 1); 0, Inf and NaN are their own.";
    Exponent "exponent" "F -> i32" Env "frexp_exp": "Exponent that goes with `significand`; 0 for 0, Inf and NaN.";
    QuantizeF16 "quantize_f16" "F -> F" Env "quantize_f16": "Rounded to what an f16 can hold, its subnormals flushed.";
    RoundToF16Rtne "round_to_f16_rtne" "F -> f16" Env "round_to_f16_rtne": "To f16, halves to even, whatever the environment.";
    RoundToF16Rtz "round_to_f16_rtz" "F -> f16" Env "round_to_f16_rtz": "To f16, toward zero, whatever the environment.";
    CopySign "copysign" "F F -> F" Pure "copysign": "The bits of the first with the sign bit of the second.";
    IsNan "is_nan" "F -> bool" Pure "is_nan": "Whether the bits are a NaN's.";
    IsInf "is_inf" "F -> bool" Pure "is_inf": "Whether the bits are an infinity's.";
    IsFinite "is_finite" "F -> bool" Pure "is_finite": "Whether the bits are neither an infinity's nor a NaN's.";
    IsNormal "is_normal" "F -> bool" Pure "is_normal": "Whether the bits are a normal number's.";
    Bits "bits" "F -> U" Env "bits": "The bits of a float.";
    FromBits "from_bits" "U -> F" Identity "": "The float with these bits.";
    Abs "abs" "N -> N" Pure "iabs" uint "trunc" float "fabs": "Absolute value; wraps at the least integer; clears the sign bit of a float.";
    Min "min" "I I -> I" Pure "imin" uint "umin": "The lesser integer.";
    Max "max" "I I -> I" Pure "imax" uint "umax": "The greater integer.";
    MulHigh "mul_high" "I I -> I" Pure "imul_high" uint "umul_high": "High half of the product of twice the width.";
    AddSat "add_sat" "I I -> I" Pure "iadd_sat" uint "uadd_sat": "Sum, clamped to the type's range.";
    SubSat "sub_sat" "I I -> I" Pure "isub_sat" uint "usub_sat": "Difference, clamped to the type's range.";
    CountOnes "count_ones" "I -> u32" Pure "count_ones": "Number of bits set.";
    LeadingZeros "leading_zeros" "I -> u32" Pure "leading_zeros": "Zero bits above the highest set bit; the width for 0.";
    TrailingZeros "trailing_zeros" "I -> u32" Pure "trailing_zeros": "Zero bits below the lowest set bit; the width for 0.";
    Ilog2 "ilog2" "I -> u32" Pure "ilog2": "Index of the highest set bit; 0 for 0.";
    ReverseBits "reverse_bits" "I -> I" Pure "reverse_bits": "The bits in opposite order.";
}

impl Prim {
    /// Name, signature and meaning.
    pub fn info(self) -> &'static PrimInfo {
        &INFO[self as usize]
    }

    /// The primitive of that name.
    pub fn by_name(name: &str) -> Option<Prim> {
        Prim::ALL.iter().copied().find(|p| p.info().name == name)
    }

    /// Operands of the signature.
    pub fn arity(self) -> usize {
        self.info().sig.split(' ').take_while(|word| *word != "->").count()
    }
}

impl fmt::Display for Prim {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.info().name)
    }
}
