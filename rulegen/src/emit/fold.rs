//! `fold.rs`: one folder an opcode, and one a promise's condition.

use proc_macro2::{Literal, TokenStream, TokenTree};
use quote::quote;

use super::expr::{Emitter, Place};
use super::{CratePath, Output, ident};
use crate::expr::{Base, Expr, ExprKind};
use crate::tables::op::Eval;
use crate::tables::sig::{OPERANDS, SigTy};
use crate::tables::{OpDef, Tables};

/// The text of `fold.rs`. It is the body of a module, and takes `Cx` and the primitives from `fold` of the IR's crate.
pub fn fold(tables: &Tables, path: CratePath) -> String {
    let krate = path.tokens();
    let mut out = Output::new("Constant folders of the opcodes.");
    out.item(None, &quote!(use #krate::fold::{Cx, prim};));
    for op in &tables.ops {
        for item in folders(op) {
            out.item(Some(&op.place), &item);
        }
    }
    out.finish()
}

/// An opcode's folder and the conditions of its promises and SPIR-V forms.
pub(super) fn folders(op: &OpDef) -> Vec<TokenStream> {
    let mut items = Vec::new();
    if let Eval::Expr(expr) = &op.eval {
        let doc = format!("`{}{}`", op.name, op.sig);
        items.push(folder(op, &op.name, expr, Some(op.sig.output), &doc));
    }
    for (promise, what) in [
        ("dom", "the operands are in the domain"),
        ("nsw", "the signed result doesn't overflow"),
        ("nuw", "the unsigned result doesn't overflow"),
    ] {
        if let Some(expr) = condition(op, promise) {
            let doc = format!("Whether {what}, of `{}`: 1 or 0.", op.name);
            items.push(folder(op, &format!("{}_{promise}", op.name), expr, None, &doc));
        }
    }
    for (i, form) in op.spirv.iter().enumerate() {
        if let Some(expr) = &form.exact {
            let doc = format!("Whether `{}` can be written as {}: 1 or 0.", op.name, form.name);
            items.push(folder(op, &exact_name(op, i), expr, None, &doc));
        }
    }
    items
}

/// The function for the domain of an opcode's i-th SPIR-V form.
pub(super) fn exact_name(op: &OpDef, form: usize) -> String {
    format!("{}_exact{form}", op.name)
}

/// The condition of a promise that an opcode may carry.
pub(super) fn condition<'t>(op: &'t OpDef, promise: &str) -> Option<&'t Expr> {
    match promise {
        "dom" => op.dom.as_ref(),
        "nsw" => op.nsw.as_ref(),
        _ => op.nuw.as_ref(),
    }
}

/// A function of type `FoldFn`. Without an output type the value is a condition.
fn folder(op: &OpDef, name: &str, expr: &Expr, output: Option<SigTy>, doc: &str) -> TokenStream {
    let used = used_operands(expr);
    let mut lets = TokenStream::new();
    let mut places = Vec::new();
    for (k, ty) in op.sig.inputs.iter().enumerate() {
        let name = ident(OPERANDS[k]);
        let k_literal = Literal::usize_unsuffixed(k);
        let is_bool = ty.base == Base::Bool;
        let place = match ty.comps {
            None | Some(1) => {
                let at = if ty.comps.is_none() { quote!(comp) } else { quote!(0) };
                let nonzero = is_bool.then(|| quote!(!= 0));
                if used[k] {
                    lets.extend(quote!(let #name = srcs[#k_literal][#at] #nonzero;));
                }
                Place::Scalar(quote!(#name))
            }
            Some(_) => {
                if used[k] {
                    lets.extend(quote!(let #name = srcs[#k_literal];));
                }
                Place::Words(quote!(#name))
            }
        };
        places.push(place);
    }
    let mut emitter = Emitter::new(quote!(prim), quote!(bits), places);
    let per_component = op.sig.per_component();
    let body = match output {
        None => {
            let (before, value) = emitter.scalar(expr);
            let at = if per_component { quote!(comp) } else { quote!(0) };
            quote!(#before out[#at] = u64::from(#value);)
        }
        Some(ty) => emitter.store(expr, &|index, value| {
            let at = if per_component { quote!(comp) } else { index };
            if ty.base != Base::Bool {
                return quote!(out[#at] = #value;);
            }
            match ty.bits {
                Some(1) => quote!(out[#at] = u64::from(#value);),
                Some(n) => {
                    let n = Literal::u8_unsuffixed(n);
                    quote!(out[#at] = prim::from_bool(#n, #value);)
                }
                None => quote!(out[#at] = prim::from_bool(bits, #value);),
            }
        }),
    };
    let body = quote!(#lets #body);
    let param =
        |name: &str| if mentions(&body, name) { ident(name) } else { ident(&format!("_{name}")) };
    let (cx, bits, comp, srcs) = (param("cx"), param("bits"), param("comp"), param("srcs"));
    let name = ident(name);
    quote! {
        #[doc = #doc]
        pub fn #name(#cx: &mut Cx, #bits: u32, #comp: usize, #srcs: &[&[u64]], out: &mut [u64]) {
            #body
        }
    }
}

/// Which operands an expression reads.
fn used_operands(expr: &Expr) -> [bool; OPERANDS.len()] {
    let mut used = [false; OPERANDS.len()];
    expr.walk(&mut |e| {
        if let ExprKind::Var { id, .. } = e.kind
            && let Some(slot) = used.get_mut(id as usize)
        {
            *slot = true;
        }
    });
    used
}

/// Whether a variable occurs; a function behind `::` is none.
fn mentions(tokens: &TokenStream, name: &str) -> bool {
    let mut stack = vec![(tokens.clone().into_iter(), false)];
    while let Some((top, in_path)) = stack.last_mut() {
        let Some(token) = top.next() else {
            stack.pop();
            continue;
        };
        let after_path =
            std::mem::replace(in_path, matches!(&token, TokenTree::Punct(p) if p.as_char() == ':'));
        match token {
            TokenTree::Ident(word) if word == name && !after_path => return true,
            TokenTree::Group(group) => stack.push((group.stream().into_iter(), false)),
            _ => {}
        }
    }
    false
}
