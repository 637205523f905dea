//! The text of the IR: `Display` for modules and functions. What is printed parses back to an equal module.
//!
//! Values and blocks are numbered in the order of the text. Nothing here recurses on the depth of types, constants
//! or control flow.

mod body;
pub(crate) mod labels;
mod module;

use crate::entity::Instr;
use crate::func::Function;
use crate::module::Module;
use labels::ModuleLabels;
use std::fmt::{Display, Formatter, Result};

pub(crate) use body::DEST_TYPES;

/// Writes text, with the labels of the module where there is one.
struct Printer<'m> {
    module: Option<&'m Module>,
    labels: ModuleLabels,
}

impl Display for Module {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        let printer = Printer { module: Some(self), labels: ModuleLabels::new(self) };
        printer.module(f, self)
    }
}

/// The body alone, with types, variables and functions as numbers: for debugging. [`Module::show`] has the labels.
impl Display for Function {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        let printer = Printer { module: None, labels: ModuleLabels::default() };
        printer.body(f, self)
    }
}

/// A function's body with the labels of its module; made by [`Module::show`].
#[derive(Clone, Copy, Debug)]
pub struct ShowFunction<'m> {
    module: &'m Module,
    function: &'m Function,
}

impl Module {
    /// The body of a function as text, labelled as in the whole module's text.
    pub fn show<'m>(&'m self, function: &'m Function) -> ShowFunction<'m> {
        ShowFunction { module: self, function }
    }
}

impl ShowFunction<'_> {
    /// The text of one instruction.
    pub fn instr(&self, instr: Instr) -> String {
        /// The instruction alone, as `Display` wants it.
        struct One<'a>(Printer<'a>, &'a Function, Instr);

        impl Display for One<'_> {
            fn fmt(&self, f: &mut Formatter<'_>) -> Result {
                self.0.one_instr(f, self.1, self.2)
            }
        }

        let labels = ModuleLabels::new(self.module);
        One(Printer { module: Some(self.module), labels }, self.function, instr).to_string()
    }
}

impl Display for ShowFunction<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        let labels = ModuleLabels::new(self.module);
        Printer { module: Some(self.module), labels }.body(f, self.function)
    }
}
