//! Typed indices into the arenas.

/// Declares a 4-byte index type whose `Option` is packed through [`PackedOption`].
macro_rules! entity {
    ($(#[$doc:meta])* $name:ident, $prefix:literal) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub struct $name(pub(crate) u32);

        impl $name {
            /// The index as a number, dense from 0 within its arena.
            #[inline]
            pub fn index(self) -> usize {
                self.0 as usize
            }

            /// The entity of this number. It is up to the caller that the arena has it.
            pub fn from_index(index: usize) -> Self {
                Self(index as u32)
            }
        }

        impl std::fmt::Debug for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                write!(f, concat!($prefix, "{}"), self.0)
            }
        }

        impl Entity for $name {
            const NONE: Self = Self(u32::MAX);
        }
    };
}

/// An index type with a reserved value that stands for "none".
pub trait Entity: Copy + PartialEq {
    /// The reserved value.
    const NONE: Self;
}

/// An optional entity in four bytes.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct PackedOption<E>(E);

impl<E: Entity> PackedOption<E> {
    /// No entity.
    pub const NONE: Self = PackedOption(E::NONE);

    /// As an ordinary option.
    #[inline]
    pub fn get(self) -> Option<E> {
        (self.0 != E::NONE).then_some(self.0)
    }
}

impl<E: Entity> From<Option<E>> for PackedOption<E> {
    fn from(value: Option<E>) -> Self {
        PackedOption(value.unwrap_or(E::NONE))
    }
}

impl<E: Entity> From<E> for PackedOption<E> {
    fn from(value: E) -> Self {
        PackedOption(value)
    }
}

impl<E: Entity + std::fmt::Debug> std::fmt::Debug for PackedOption<E> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.get().fmt(f)
    }
}

entity! {
    /// An instruction of a function.
    Instr, "i"
}
entity! {
    /// A value: it has the number of the instruction that defines it.
    Def, "%"
}
entity! {
    /// A basic block of a function.
    Block, "b"
}
entity! {
    /// A node of a function's control-flow tree.
    Node, "n"
}
entity! {
    /// A list of nodes: the body of a function, a branch of an `if`, the body of a loop, …
    CfList, "l"
}
entity! {
    /// A function of a module.
    Func, "f"
}
entity! {
    /// A type of a module.
    Type, "t"
}
entity! {
    /// A specialisation constant of a module.
    SpecConst, "s"
}
entity! {
    /// A variable: of the module, or, where [`Var::is_local`] says so, of the function.
    Var, "v"
}
entity! {
    /// A record in the use pool: one operand of an instruction or the condition of an `if`.
    UseId, "u"
}

impl Def {
    /// The instruction that defines the value.
    pub fn instr(self) -> Instr {
        Instr(self.0)
    }
}

impl Instr {
    /// The instruction's value. Only meaningful where the instruction defines one.
    #[inline]
    pub fn def(self) -> Def {
        Def(self.0)
    }
}

impl Var {
    const LOCAL: u32 = 1 << 31;

    /// The `index`-th variable of the module.
    pub fn global(index: usize) -> Self {
        Var(index as u32)
    }

    /// The `index`-th variable of the function.
    pub fn local(index: usize) -> Self {
        Var(index as u32 | Self::LOCAL)
    }

    /// Whether the variable belongs to the function.
    pub fn is_local(self) -> bool {
        self.0 & Self::LOCAL != 0
    }

    /// Position in the module's or the function's list.
    pub fn slot(self) -> usize {
        (self.0 & !Self::LOCAL) as usize
    }
}
