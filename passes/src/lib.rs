//! The passes of deburr, one file each, the table of them, and pipelines.
//!
//! A pass is a function on a [`Function`](deburr_ir_core::Function) or a [`Module`](deburr_ir_core::Module) that says
//! whether it changed anything. [`PASSES`] lists them; [`Pipeline`] runs them in order and to fixed points.

#![forbid(unsafe_code)]

mod algebraic;
mod constant_fold;
mod copy_prop;
mod cse;
mod dce;
mod dead_cf;
mod global_to_local;
mod inline;
mod inline_cost;
mod lower_copies;
mod lower_returns;
mod mem;
mod once_to_if;
mod peephole_select;
mod pipeline;
mod reaching;
mod remove_dead_vars;
mod remove_phis;
mod spill;
mod table;
mod vars_to_ssa;

pub use constant_fold::constant_fold;
pub use copy_prop::copy_prop;
pub use cse::cse;
pub use dce::dce;
pub use dead_cf::dead_cf;
pub use global_to_local::global_to_local;
pub use inline::{Growth, inline};
pub use lower_copies::lower_copies;
pub use lower_returns::lower_returns;
pub use once_to_if::once_to_if;
pub use peephole_select::peephole_select;
pub use pipeline::{
    DEFAULT, Error, Observer, Options, ParseError, PassReport, Pipeline, Report, RuleReport,
    RunError,
};
pub use remove_dead_vars::remove_dead_vars;
pub use remove_phis::remove_phis;
pub use table::{PASSES, Pass, Run, pass};
pub use vars_to_ssa::vars_to_ssa;
