//! From checked tables to Rust.
//!
//! Each generated item stands under a comment that names the table's file and line. The output is laid out by
//! [`layout`], so that it can be read without a formatter; with the feature `print` it is as `prettyplease` would
//! write it.
//!
//! - [`expr`]: expressions over bit patterns.
//! - [`fold`]: one folder an opcode.
//! - [`opcodes`], [`intrinsics`]: constants, tables, builders.

pub mod dialect;
pub mod expr;
pub mod fold;
pub mod intrinsics;
pub mod layout;
pub mod opcodes;
#[cfg(test)]
mod tests;

use proc_macro2::{Ident, Span, TokenStream};
use quote::quote;

use crate::tables::Place;

/// How generated code names the IR's crate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CratePath {
    /// From inside of it: `crate`.
    Inside,
    /// From another crate: `deburr_ir_core`.
    Outside,
}

impl CratePath {
    /// The path.
    pub fn tokens(self) -> TokenStream {
        match self {
            CratePath::Inside => quote!(crate),
            CratePath::Outside => quote!(deburr_ir_core),
        }
    }
}

/// A generated file under construction.
#[derive(Debug, Default)]
pub struct Output {
    text: String,
}

impl Output {
    /// A file that begins by saying what it is.
    pub fn new(what: &str) -> Output {
        Output { text: format!("// {what} Generated; edit the table instead.\n") }
    }

    /// An item, under a comment with its place in a table.
    pub fn item(&mut self, place: Option<&Place>, item: &TokenStream) {
        if let Some(place) = place {
            self.comment(&format!("{}:{}", place.file, place.line));
        } else {
            self.text.push('\n');
        }
        self.text.push_str(&layout::item(item));
    }

    /// A comment on a line of its own.
    pub fn comment(&mut self, text: &str) {
        self.text.push_str("\n// ");
        self.text.push_str(text);
        self.text.push('\n');
    }

    /// A list of statics, `header [` items `];`, each item under a comment with its place.
    pub fn list<'a>(
        &mut self,
        header: &TokenStream,
        items: impl IntoIterator<Item = (&'a Place, TokenStream)>,
    ) {
        self.text.push('\n');
        self.text.push_str(layout::item(header).trim_end());
        self.text.push_str(" [\n");
        for (place, item) in items {
            self.text.push_str(&format!("    // {}:{}\n", place.file, place.line));
            for line in layout::item(&item).trim_end().lines() {
                self.text.push_str("    ");
                self.text.push_str(line);
                self.text.push('\n');
            }
            self.text.truncate(self.text.trim_end().len());
            self.text.push_str(",\n");
        }
        self.text.push_str("];\n");
    }

    /// The file's text.
    pub fn finish(self) -> String {
        self.text
    }
}

/// An identifier of generated code. The tables' reader has seen to it that names are identifiers and no keywords.
pub(crate) fn ident(name: &str) -> Ident {
    Ident::new(name, Span::call_site())
}

/// The constant of a name: `iadd` is `IADD`.
pub(crate) fn constant(name: &str) -> Ident {
    ident(&name.to_ascii_uppercase())
}

/// The code generated for one opcode or intrinsic: its row of the table, its folders, its builder method. `None` if no
/// table has the name.
#[cfg(feature = "print")]
pub fn expand(tables: &crate::tables::Tables, name: &str) -> Option<String> {
    let mut items = Vec::new();
    let place = if let Some((_, op)) = tables.op(name) {
        let info = opcodes::info(op, &quote!(fold));
        items.push(quote!(static INFO: AluInfo = #info;));
        items.extend(fold::folders(op));
        let method = opcodes::method(op, &quote!(pub), &quote!(AluOp));
        items.push(quote!(impl Builder<'_> { #method }));
        &op.place
    } else {
        let (_, intrinsic) = tables.intrinsic(name)?;
        let info = intrinsics::info(intrinsic, &intrinsics::index_const);
        items.push(quote!(static INFO: IntrinsicInfo = #info;));
        let method = intrinsics::method(intrinsic, &quote!(pub), &quote!(Intrinsic));
        items.push(quote!(impl Builder<'_> { #method }));
        &intrinsic.place
    };
    let mut text = format!("// {}:{}\n", place.file, place.line);
    for (i, item) in items.iter().enumerate() {
        if i > 0 {
            text.push('\n');
        }
        // What isn't a Rust item is shown as it is: better than nothing, and the tests know none.
        text.push_str(&match syn::parse2(item.clone()) {
            Ok(file) => prettyplease::unparse(&file),
            Err(_) => layout::item(item),
        });
    }
    Some(text)
}
