//! What a rewrite looks like: both sides as terms in the syntax of the rules.

use deburr_ir_core::{BaseType, Def, Flags, Function};
use std::fmt::Write;

/// How many operations a term nests.
const DEPTH: u32 = 3;

/// Both sides of a rewrite as terms: values that are not shown are letters, the same on both sides.
pub(crate) fn sides(f: &Function, old: Def, new: Def) -> (String, String) {
    let mut terms = Terms::new(f);
    let before = terms.of(old, BaseType::Int);
    (before, terms.of(new, BaseType::Int))
}

/// Terms that share their letters.
pub(crate) struct Terms<'f> {
    f: &'f Function,
    /// Values that letters stand for.
    leaves: Vec<Def>,
}

impl<'f> Terms<'f> {
    pub(crate) fn new(f: &'f Function) -> Terms<'f> {
        Terms { f, leaves: Vec::new() }
    }

    /// A value whose bits are read like that.
    pub(crate) fn of(&mut self, def: Def, base: BaseType) -> String {
        let mut out = String::new();
        self.term(def, base, DEPTH, &mut out);
        out
    }

    /// Recurses [`DEPTH`] times.
    fn term(&mut self, def: Def, base: BaseType, depth: u32, out: &mut String) {
        if let Some(values) = self.f.constant(def) {
            return constant(values, base, self.f.shape(def).bits(), out);
        }
        let instr = def.instr();
        let shown = depth > 0 && !self.leaves.contains(&def);
        let Some(info) = self.f.alu_info(instr).filter(|_| shown) else {
            return self.letter(def, out);
        };
        out.push_str(info.name);
        let promises = self.f.flags(instr) & Flags::PROMISES;
        for (name, flag) in Flags::NAMES {
            if promises.contains(*flag) {
                let _ = write!(out, ".{name}");
            }
        }
        for n in 0..self.f.srcs(instr).len() {
            out.push_str(if n == 0 { "(" } else { ", " });
            let (def, swizzle) = (self.f.src(instr, n), self.f.swizzle(instr, n));
            self.term(def, info.inputs[n].base, depth - 1, out);
            let comps = match info.inputs[n].comps {
                0 => self.f.comps(instr.def()),
                n => n,
            };
            let whole = comps == self.f.comps(def) && swizzle.is_identity(comps);
            if !whole && self.f.constant(def).is_none() {
                out.push('.');
                out.extend(
                    swizzle.iter(comps).map(|c| char::from(letters(comps)[usize::from(c & 15)])),
                );
            }
        }
        out.push(')');
    }

    fn letter(&mut self, def: Def, out: &mut String) {
        let n = self.leaves.iter().position(|&d| d == def).unwrap_or_else(|| {
            self.leaves.push(def);
            self.leaves.len() - 1
        });
        // `a` to `z`, then `v26` and on.
        match u8::try_from(n) {
            Ok(n @ 0..26) => out.push(char::from(b'a' + n)),
            _ => _ = write!(out, "v{n}"),
        }
    }
}

/// Names of components.
fn letters(comps: u8) -> &'static [u8; 16] {
    match comps {
        0..=4 => b"xyzwefghijklmnop",
        _ => b"abcdefghijklmnop",
    }
}

/// A constant by itself.
#[cfg(feature = "interp")]
pub(crate) fn constant_text(values: &[u64], base: BaseType, bits: u8) -> String {
    let mut out = String::new();
    constant(values, base, bits, &mut out);
    out
}

/// A constant: one number where all components are equal.
fn constant(values: &[u64], base: BaseType, bits: u8, out: &mut String) {
    let one = |value: u64, out: &mut String| {
        let _ = match (base, bits) {
            (BaseType::Float, 32) => write!(out, "{:?}", f32::from_bits(value as u32)),
            (BaseType::Float, 64) => write!(out, "{:?}", f64::from_bits(value)),
            (BaseType::Bool, 1) => write!(out, "{}", value != 0),
            _ if value < 4096 => write!(out, "{value}"),
            _ => write!(out, "{value:#x}"),
        };
    };
    match values {
        [first, rest @ ..] if rest.iter().all(|v| v == first) => one(*first, out),
        _ => {
            let _ = write!(out, "vec{}", values.len());
            for (n, value) in values.iter().enumerate() {
                out.push_str(if n == 0 { "(" } else { ", " });
                one(*value, out);
            }
            out.push(')');
        }
    }
}
