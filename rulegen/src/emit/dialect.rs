//! A dialect: a user's own opcodes and intrinsics, as one module that their crate includes.

use proc_macro2::{Literal, Punct, Spacing, TokenStream, TokenTree};
use quote::quote;

use super::intrinsics::{index_const, index_info};
use super::{CratePath, Output, constant, fold, ident, intrinsics, opcodes};
use crate::tables::Tables;

/// Name, first id and path of a dialect's generated module.
#[derive(Clone, Debug)]
pub struct DialectOptions {
    /// Its name, for diagnostics.
    pub name: String,
    /// Id of its first opcode and of its first intrinsic, at least 0x4000.
    pub first: u16,
    /// How the module names the IR's crate.
    pub path: CratePath,
}

/// The text of a dialect's module: constants in `op`, `intrinsic` and `index`, folders in `fold`, the trait `Build`
/// with builder methods, and `DIALECT`.
pub fn dialect(tables: &Tables, options: &DialectOptions) -> String {
    let krate = options.path.tokens();
    let name = &options.name;
    let mut out = Output::new(&format!("The dialect {name}."));
    out.item(
        None,
        &quote! {
            #[allow(unused_imports, reason = "a dialect need not have an entry of every kind")]
            use #krate::{
                AluInfo, AluOp, AluProps, AluType, BaseType, Builder, Convergent, Def, Divergence, FormDir, Index,
                IndexInfo, IndexKind, Instr, Intrinsic, IntrinsicFlags, IntrinsicForm, IntrinsicInfo, MemoryEffect,
                Modes, Outside, Shape, SpirvForm, UpperEnd, ValueRange
            };
        },
    );
    let first = usize::from(options.first);
    let ops = tables.ops.iter().enumerate().map(|(slot, op)| {
        let (name, id, doc) =
            (constant(&op.name), Literal::usize_unsuffixed(first + slot), opcodes::op_doc(op));
        quote!(#[doc = #doc] pub const #name: AluOp = AluOp(#id);)
    });
    out.item(
        None,
        &module("op", "Ids of the dialect's opcodes.", &quote!(use super::AluOp; #(#ops)*)),
    );
    let ids = tables.intrinsics.iter().enumerate().map(|(slot, intrinsic)| {
        let (name, id, doc) =
            (constant(&intrinsic.name), Literal::usize_unsuffixed(first + slot), &intrinsic.doc);
        quote!(#[doc = #doc] pub const #name: Intrinsic = Intrinsic(#id);)
    });
    out.item(
        None,
        &module(
            "intrinsic",
            "Ids of the dialect's intrinsics.",
            &quote!(use super::Intrinsic; #(#ids)*),
        ),
    );
    let indices = tables.indices.iter().enumerate().map(|(slot, index)| {
        let (name, slot, doc) =
            (constant(&index.name), Literal::usize_unsuffixed(slot), &index.doc);
        quote!(#[doc = #doc] pub const #name: Index = Index(Index::BUILTIN_COUNT + #slot);)
    });
    let values = tables.indices.iter().filter_map(intrinsics::values);
    out.item(
        None,
        &module(
            "index",
            "Ids of the dialect's const indices.",
            &quote!(use super::Index; #(#indices)* #(#values)*),
        ),
    );
    out.text.push_str(&format!(
        "\n/// Folders of the dialect's opcodes.\n#[allow(clippy::all, unused_parens, unused_braces, \
         unused_imports, reason = \"generated\")]\npub mod fold {{\n{}}}\n",
        fold::fold(tables, options.path)
    ));
    let own = |name: &str| match tables.index(name) {
        Some(_) => {
            let name = constant(name);
            quote!(index::#name)
        }
        None => index_const(name),
    };
    let statics = [
        (
            quote!(ALU: &[AluInfo]),
            tables
                .ops
                .iter()
                .map(|op| (&op.place, opcodes::info(op, &quote!(fold))))
                .collect::<Vec<_>>(),
        ),
        (
            quote!(INTRINSICS: &[IntrinsicInfo]),
            tables.intrinsics.iter().map(|i| (&i.place, intrinsics::info(i, &own))).collect(),
        ),
        (
            quote!(INDICES: &[IndexInfo]),
            tables.indices.iter().map(|i| (&i.place, index_info(i))).collect(),
        ),
    ];
    for (header, items) in statics {
        out.list(&quote!(static #header = &), items);
    }
    let first = Literal::u16_unsuffixed(options.first);
    out.item(
        None,
        &quote! {
            #[doc = "The dialect: its opcodes, intrinsics and const indices."]
            pub static DIALECT: #krate::Dialect = #krate::Dialect {
                name: #name,
                first: #first,
                alu: ALU,
                intrinsics: INTRINSICS,
                indices: INDICES,
            };
        },
    );
    let methods = methods(tables);
    let declarations = methods.iter().cloned().map(declaration);
    if tables.intrinsics.iter().any(|i| i.dest.is_some()) {
        out.item(None, &intrinsics::shape());
    }
    out.item(
        None,
        &quote! {
            #[doc = "Builder methods of the dialect's opcodes and intrinsics."]
            #[allow(dead_code, reason = "generated for a crate that need not use all of it")]
            pub trait Build { #(#declarations)* }
        },
    );
    out.item(None, &quote!(impl Build for Builder<'_> { #(#methods)* }));
    out.finish()
}

fn methods(tables: &Tables) -> Vec<TokenStream> {
    let none = TokenStream::new();
    let ops = tables.ops.iter().map(|op| opcodes::method(op, &none, &quote!(op)));
    let own = quote!(intrinsic);
    ops.chain(tables.intrinsics.iter().map(|i| intrinsics::method(i, &none, &own))).collect()
}

/// A method without its body, as a trait declares it.
fn declaration(method: TokenStream) -> TokenStream {
    let mut tokens: Vec<TokenTree> = method.into_iter().collect();
    tokens.pop();
    tokens.push(Punct::new(';', Spacing::Alone).into());
    tokens.into_iter().collect()
}

fn module(name: &str, doc: &str, body: &TokenStream) -> TokenStream {
    let name = ident(name);
    quote! {
        #[doc = #doc]
        #[allow(dead_code, unused_imports, clippy::identity_op, reason = "generated for a crate that need not use all of it")]
        pub mod #name { #body }
    }
}
