//! `opcodes.rs`: constants, the info table, the name index, builder methods.

use proc_macro2::{Literal, TokenStream};
use quote::quote;

use super::fold::{condition, exact_name};
use super::{CratePath, Output, constant, ident};
use crate::expr::Base;
use crate::tables::op::{Convergent, Dir, Eval, OpForm, Outside};
use crate::tables::sig::{OPERANDS, SigTy};
use crate::tables::{OpDef, Tables};

/// Most operands that a builder method takes one by one.
const MAX_PARAMS: usize = 6;

/// The text of the built-in table's `opcodes.rs`. Its folders are in `crate::fold::table`.
pub fn opcodes(tables: &Tables) -> String {
    let path = CratePath::Inside;
    let krate = path.tokens();
    let mut out = Output::new("ALU opcodes.");
    out.item(None, &imports(&krate));
    let constants = tables.ops.iter().enumerate().map(|(id, op)| {
        let (name, id, doc) = (constant(&op.name), Literal::usize_unsuffixed(id), op_doc(op));
        quote!(#[doc = #doc] pub const #name: AluOp = AluOp(#id);)
    });
    out.item(None, &quote!(impl AluOp { #(#constants)* }));
    let count = Literal::usize_unsuffixed(tables.ops.len());
    out.list(
        &quote!(
            #[doc = "What the table says of every opcode, by id."]
            pub static ALU_INFO: [AluInfo; #count] =
        ),
        tables.ops.iter().map(|op| (&op.place, info(op, &quote!(crate::fold::table)))),
    );
    let names = name_index(tables.ops.iter().map(|op| op.name.as_str()));
    out.item(
        None,
        &quote!(
            #[doc = "Every opcode's name with its id, sorted by name."]
            static ALU_BY_NAME: [(&str, u16); #count] = [#names];
        ),
    );
    out.item(
        None,
        &quote! {
            impl AluOp {
                #[doc = "What the built-in table says of the opcode; `None` for a dialect's."]
                pub fn builtin(self) -> Option<&'static AluInfo> {
                    ALU_INFO.get(usize::from(self.0))
                }
                #[doc = "The built-in opcode of that name."]
                pub fn from_name(name: &str) -> Option<AluOp> {
                    let slot = ALU_BY_NAME.binary_search_by_key(&name, |entry| entry.0).ok()?;
                    Some(AluOp(ALU_BY_NAME[slot].1))
                }
                #[doc = "Every built-in opcode, in the table's order."]
                pub fn all() -> impl ExactSizeIterator<Item = AluOp> {
                    (0..#count).map(AluOp)
                }
            }
        },
    );
    let version = Literal::u32_unsuffixed(tables.semantics_version);
    out.item(
        None,
        &quote!(
            #[doc = "Version of the opcodes' semantics."]
            pub const SEMANTICS_VERSION: u32 = #version;
        ),
    );
    let methods = tables.ops.iter().map(|op| method(op, &quote!(pub), &quote!(AluOp)));
    out.item(None, &quote!(impl crate::Builder<'_> { #(#methods)* }));
    out.finish()
}

/// What the generated tables name.
pub(super) fn imports(krate: &TokenStream) -> TokenStream {
    quote! {
        use #krate::{AluInfo, AluOp, AluProps, AluType, BaseType, Convergent, Def, FormDir, Outside, SpirvForm};
    }
}

/// `(name, id)` pairs sorted by name.
pub(super) fn name_index<'a>(names: impl Iterator<Item = &'a str>) -> TokenStream {
    let mut sorted: Vec<(&str, usize)> = names.enumerate().map(|(id, name)| (name, id)).collect();
    sorted.sort_unstable();
    let pairs = sorted.into_iter().map(|(name, id)| {
        let id = Literal::usize_unsuffixed(id);
        quote!((#name, #id))
    });
    quote!(#(#pairs),*)
}

/// Documentation of an opcode: what it says, its signature, its definition.
pub(super) fn op_doc(op: &OpDef) -> String {
    format!("`{}{}`: {}", op.name, op.sig, op.doc)
}

/// The `AluInfo` of an opcode, whose folders are in module `folders`.
pub(super) fn info(op: &OpDef, folders: &TokenStream) -> TokenStream {
    let (name, doc) = (&op.name, &op.doc);
    let output = ty(op.sig.output);
    let inputs = op.sig.inputs.iter().map(|input| ty(*input));
    let props = props(op);
    let sizes = op.sizes.iter().map(|size| Literal::u8_unsuffixed(*size));
    let convergent = convergent(op.convergent);
    let cost = Literal::u8_unsuffixed(op.costs.default);
    let folder = |name: Option<String>| match name {
        Some(name) => {
            let name = ident(&name);
            quote!(Some(#folders::#name))
        }
        None => quote!(None),
    };
    let fold = folder(matches!(op.eval, Eval::Expr(_)).then(|| op.name.clone()));
    let [dom, nsw, nuw] =
        ["dom", "nsw", "nuw"].map(|p| folder(condition(op, p).map(|_| format!("{}_{p}", op.name))));
    let spirv = op.spirv.iter().enumerate().map(|(i, f)| {
        let exact = folder(f.exact.as_ref().map(|_| exact_name(op, i)));
        form(f, &exact)
    });
    quote! {
        AluInfo {
            name: #name,
            output: #output,
            inputs: &[#(#inputs),*],
            props: #props,
            sizes: &[#(#sizes),*],
            convergent: #convergent,
            cost: #cost,
            fold: #fold,
            dom: #dom,
            nsw: #nsw,
            nuw: #nuw,
            spirv: &[#(#spirv),*],
            doc: #doc,
        }
    }
}

fn ty(ty: SigTy) -> TokenStream {
    let base = match ty.base {
        Base::Bool => quote!(Bool),
        Base::Int => quote!(Int),
        Base::Uint => quote!(Uint),
        Base::Float => quote!(Float),
    };
    let (bits, comps) = (
        Literal::u8_unsuffixed(ty.bits.unwrap_or(0)),
        Literal::u8_unsuffixed(ty.comps.unwrap_or(0)),
    );
    quote!(AluType { base: BaseType::#base, bits: #bits, comps: #comps })
}

fn props(op: &OpDef) -> TokenStream {
    let all = [
        (op.commutative, "COMMUTATIVE"),
        (op.associative, "ASSOCIATIVE"),
        (op.selection, "SELECTION"),
        (op.conversion, "CONVERSION"),
        (matches!(op.eval, Eval::Quad(_)), "DERIVATIVE"),
        (op.float, "FLOAT"),
        (op.dom.is_some(), "DOMAIN"),
    ];
    // `union` rather than `|`: only the former is const.
    all.into_iter().filter(|(set, _)| *set).fold(quote!(AluProps::empty()), |sum, (_, name)| {
        let name = ident(name);
        if sum.to_string() == quote!(AluProps::empty()).to_string() {
            return quote!(AluProps::#name);
        }
        quote!(#sum.union(AluProps::#name))
    })
}

/// A `Convergent`.
pub(super) fn convergent(convergent: Convergent) -> TokenStream {
    match convergent {
        Convergent::None => quote!(Convergent::None),
        Convergent::Quad => quote!(Convergent::Quad),
        Convergent::Subgroup => quote!(Convergent::Subgroup),
    }
}

/// A `FormDir`.
pub(super) fn dir(dir: Dir) -> TokenStream {
    match dir {
        Dir::Both => quote!(FormDir::Both),
        Dir::Read => quote!(FormDir::Read),
        Dir::Write => quote!(FormDir::Write),
    }
}

/// A list of small numbers.
pub(super) fn bytes(list: &[u8]) -> TokenStream {
    let list = list.iter().map(|n| Literal::u8_unsuffixed(*n));
    quote!(&[#(#list),*])
}

fn form(form: &OpForm, exact: &TokenStream) -> TokenStream {
    let (name, ext, reads_dom, column) = (&form.name, form.ext, form.reads_dom, form.column);
    let (dir, args, sizes, comps) =
        (dir(form.dir), bytes(&form.args), bytes(&form.sizes), bytes(&form.comps));
    let outside = match form.outside {
        Outside::Nothing => quote!(Nothing),
        Outside::Mask(operand) => {
            let operand = Literal::u8_unsuffixed(operand);
            quote!(Mask(#operand))
        }
        Outside::Guard => quote!(Guard),
        Outside::Expand => quote!(Expand),
        Outside::Refuse => quote!(Refuse),
    };
    let option = |value: Option<u8>| match value {
        Some(n) => {
            let n = Literal::u8_unsuffixed(n);
            quote!(Some(#n))
        }
        None => quote!(None),
    };
    let (member, matrix) = (option(form.member), option(form.matrix));
    let rounding = match form.rounding {
        Some(mode) => quote!(Some(#mode)),
        None => quote!(None),
    };
    quote! {
        SpirvForm {
            name: #name,
            ext: #ext,
            dir: #dir,
            args: #args,
            sizes: #sizes,
            comps: #comps,
            reads_dom: #reads_dom,
            exact: #exact,
            outside: Outside::#outside,
            member: #member,
            matrix: #matrix,
            column: #column,
            rounding: #rounding,
        }
    }
}

/// A builder method. Component count and bit size of the result follow from the operands; `owner` has the constant.
pub(super) fn method(op: &OpDef, visibility: &TokenStream, owner: &TokenStream) -> TokenStream {
    let (name, id, doc) = (ident(&op.name), constant(&op.name), op_doc(op));
    let count = op.sig.inputs.len();
    if count > MAX_PARAMS {
        let count = Literal::usize_unsuffixed(count);
        return quote! {
            #[doc = #doc]
            #visibility fn #name(&mut self, srcs: [Def; #count]) -> Def {
                self.alu(#owner::#id, &srcs)
            }
        };
    }
    let operands: Vec<_> = OPERANDS[..count].iter().map(|name| ident(name)).collect();
    quote! {
        #[doc = #doc]
        #visibility fn #name(&mut self, #(#operands: Def),*) -> Def {
            self.alu(#owner::#id, &[#(#operands),*])
        }
    }
}
