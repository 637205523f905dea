//! The pass table: every pass with what it is for, and which must come before which.

use crate::inline::Growth;
use deburr_ir_core::{Function, Module, TypeTable};

/// How a pass is run.
#[derive(Clone, Copy, Debug)]
pub enum Run {
    /// On the module as a whole.
    Module(fn(&mut Module) -> bool),
    /// On the module as a whole, which may grow by so much over a run of the pipeline.
    Growing(fn(&mut Module, &mut Growth) -> bool),
    /// On each function with a body.
    Function(fn(&mut Function) -> bool),
    /// On each function with a body, with the module's types.
    Typed(fn(&mut Function, &TypeTable) -> bool),
    /// The rules of this group, through the rewrite driver.
    Rules(&'static str),
}

/// A pass. It returns whether it changed anything.
#[derive(Debug)]
pub struct Pass {
    /// Name in pipelines.
    pub name: &'static str,
    /// One line on what it does.
    pub doc: &'static str,
    /// How it is run.
    pub run: Run,
    /// Passes that must stand before it in a pipeline that has them, each with the reason.
    pub after: &'static [(&'static str, &'static str)],
}

/// Every pass.
pub static PASSES: &[Pass] = &[
    Pass {
        name: "global_to_local",
        doc: "private variables that one entry function uses become its locals",
        run: Run::Module(crate::global_to_local::global_to_local),
        after: &[],
    },
    Pass {
        name: "lower_returns",
        doc: "early returns of called functions become structured flow",
        run: Run::Module(crate::lower_returns::lower_returns),
        after: &[],
    },
    Pass {
        name: "inline",
        doc: "calls become the code of the function called, where that pays",
        run: Run::Growing(crate::inline::inline),
        after: &[],
    },
    Pass {
        name: "lower_copies",
        doc: "aggregate copies become loads and stores of their leaves",
        run: Run::Typed(crate::lower_copies::lower_copies),
        after: &[("inline", "arguments passed through memory are copied at the call")],
    },
    Pass {
        name: "vars_to_ssa",
        doc: "local variables become values",
        run: Run::Typed(crate::vars_to_ssa::vars_to_ssa),
        after: &[
            ("global_to_local", "only locals become values"),
            ("inline", "a local whose address is passed to a call stays in memory"),
            ("lower_copies", "a variable that is copied whole stays in memory"),
        ],
    },
    Pass {
        name: "copy_prop",
        doc: "users of mov and vecN read the source directly",
        run: Run::Function(crate::copy_prop::copy_prop),
        after: &[],
    },
    Pass {
        name: "remove_phis",
        doc: "phis with one value go",
        run: Run::Function(crate::remove_phis::remove_phis),
        after: &[],
    },
    Pass {
        name: "dead_cf",
        doc: "control flow that decides nothing goes",
        run: Run::Function(crate::dead_cf::dead_cf),
        after: &[],
    },
    Pass {
        name: "once_to_if",
        doc: "early exits of once regions become branches",
        run: Run::Function(crate::once_to_if::once_to_if),
        after: &[],
    },
    Pass {
        name: "constant_fold",
        doc: "ALU instructions on constants become constants",
        run: Run::Function(crate::constant_fold::constant_fold),
        after: &[],
    },
    Pass {
        name: "algebraic",
        doc: "the rewrite rules of the group `opt`, to their fixed point",
        run: Run::Rules("opt"),
        after: &[],
    },
    Pass {
        name: "algebraic_late",
        doc: "the rewrite rules of the group `late`",
        run: Run::Rules("late"),
        after: &[("algebraic", "late rules undo forms that others match")],
    },
    Pass {
        name: "cse",
        doc: "equal computations are done once",
        run: Run::Function(crate::cse::cse),
        after: &[],
    },
    Pass {
        name: "dce",
        doc: "unused computations go",
        run: Run::Function(crate::dce::dce),
        after: &[],
    },
    Pass {
        name: "peephole_select",
        doc: "small ifs that only compute become selects",
        run: Run::Function(crate::peephole_select::peephole_select),
        after: &[],
    },
    Pass {
        name: "remove_dead_vars",
        doc: "variables that nothing reads go, and the stores to them",
        run: Run::Module(crate::remove_dead_vars::remove_dead_vars),
        after: &[],
    },
];

/// The pass of this name.
pub fn pass(name: &str) -> Option<&'static Pass> {
    PASSES.iter().find(|p| p.name == name)
}
