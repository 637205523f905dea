//! A dialect: a user's own opcodes and intrinsics, as one module that their crate includes.

use proc_macro2::{Literal, TokenStream};
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
    let first = usize::from(options.first);
    let ops = tables.ops.iter().enumerate().map(|(slot, op)| {
        let (name, id, doc) =
            (constant(&op.name), Literal::usize_unsuffixed(first + slot), opcodes::op_doc(op));
        quote!(#[doc = #doc] pub const #name: AluOp = AluOp(#id);)
    });
    out.item(
        None,
        &module("op", "Ids of the dialect's opcodes.", &quote!(use #krate::AluOp; #(#ops)*)),
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
            &quote!(use #krate::Intrinsic; #(#ids)*),
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
            &quote!(use #krate::Index; #(#indices)* #(#values)*),
        ),
    );
    out.text.push_str(&format!(
        "\n/// Folders of the dialect's opcodes.\npub mod fold {{\n{}}}\n",
        fold::fold(tables, options.path)
    ));
    let own = |name: &str| match tables.index(name) {
        Some(_) => {
            let name = constant(name);
            quote!(index::#name)
        }
        None => index_const(name),
    };
    let op_imports = opcodes::imports(&krate);
    let intrinsic_imports = intrinsics::imports(&krate);
    let _ = (op_imports, intrinsic_imports);
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
    let _ = ident;
    out.finish()
}

fn module(name: &str, doc: &str, body: &TokenStream) -> TokenStream {
    let name = ident(name);
    quote!(#[doc = #doc] pub mod #name { #body })
}
