//! The IR of deburr: entities, instructions, use lists, the control-flow tree, modules, and their text.
//!
//! A [`Module`] holds types, variables and functions; a [`Function`] is one arena. Code is read through
//! [`Function::blocks`], [`Function::instrs`] and [`Function::view`], built through [`Builder`], and its control
//! flow is edited by the methods in [`cf`].

#![forbid(unsafe_code)]

pub mod builder;
pub mod cf;
pub mod cf_edit;
mod cf_query;
mod copy;
mod dialect;
mod dom;
mod entity;
mod env;
mod equal;
pub mod fold;
mod func;
mod instr;
mod intern;
mod intrinsic;
mod metadata;
mod module;
mod op;
mod origin;
mod parse;
mod print;
mod serial;
mod table;
mod types;
mod validate;

pub use builder::{AluSrc, Builder};
pub use cf::{Extracted, IfParts, LoopParts, NodeKind, OnceParts};
pub use copy::{CopyMap, InlinedBody};
pub use dialect::{Dialect, Dialects};
pub use dom::{Dominance, Frontiers};
pub use entity::{
    Block, CfList, Def, Entity, Func, Instr, Node, PackedOption, SpecConst, Type, UseId, Var,
};
pub use env::{Denorm, FloatEnv, Rounding};
pub use func::{Cursor, Function, Param};
pub use instr::{
    DerefInfo, DerefKind, Flags, InstrInit, InstrKind, InstrView, JumpKind, Shape, Swizzle,
    TexInfo, TexOp, TexSrc, Use, User,
};
pub use intrinsic::{
    Divergence, Index, IndexInfo, IndexKind, Intrinsic, IntrinsicFlags, IntrinsicForm,
    IntrinsicInfo, MemoryEffect, UpperEnd, ValueRange,
};
pub use metadata::{InstrOrder, Kept, Liveness, Loops, Metadata};
pub use module::{
    Constant, EntryPoint, ExecutionMode, Form, ModeArg, Module, SpecArg, SpecConstant, SpecValue,
    SpirvInfo, Stage, Variable,
};
pub use op::{
    AluInfo, AluOp, AluProps, AluType, BaseType, Convergent, FormDir, Outside, SpirvForm,
};
pub use origin::Origins;
pub use parse::{ParseError, parse, parse_with};
pub use print::ShowFunction;
pub use serial::{DecodeError, SerializeOptions};
pub use table::index;
pub use table::intrinsics::{INDEX_INFO, INTRINSIC_INFO};
pub use table::opcodes::{ALU_INFO, SEMANTICS_VERSION};
pub use types::{
    ArrayLen, Decoration, Dim, ImageType, Member, Modes, StructType, TypeData, TypeTable,
};
pub use validate::{Place, Rule, ValidationError, validate, validate_function};
