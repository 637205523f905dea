//! `intrinsics.rs`: constants of intrinsics and const indices, both info tables, name indices, typed index accessors,
//! builder methods.

use proc_macro2::{Literal, TokenStream};
use quote::quote;

use super::opcodes::{bytes, convergent, dir, name_index};
use super::{Output, constant, ident};
use crate::tables::intrinsic::{MODES, MemoryMode};
use crate::tables::{
    Divergence, IndexDef, IndexKind, IntrinsicDef, IntrinsicForm, Tables, UpperEnd, ValueRange,
};

/// The text of the built-in table's `intrinsics.rs`.
pub fn intrinsics(tables: &Tables) -> String {
    let mut out = Output::new("Intrinsics and their const indices.");
    out.item(None, &imports(&quote!(crate)));
    let constants = tables.indices.iter().enumerate().map(|(id, index)| {
        let (name, id, doc) = (constant(&index.name), Literal::usize_unsuffixed(id), &index.doc);
        quote!(#[doc = #doc] pub const #name: Index = Index(#id);)
    });
    out.item(None, &quote!(impl Index { #(#constants)* }));
    let count = Literal::usize_unsuffixed(tables.indices.len());
    out.list(
        &quote!(
            #[doc = "What the table says of every const index, by id."]
            pub static INDEX_INFO: [IndexInfo; #count] =
        ),
        tables.indices.iter().map(|index| (&index.place, index_info(index))),
    );
    let names = name_index(tables.indices.iter().map(|index| index.name.as_str()));
    out.item(
        None,
        &quote!(
            #[doc = "Every const index's name with its id, sorted by name."]
            static INDEX_BY_NAME: [(&str, u8); #count] = [#names];
        ),
    );
    out.item(
        None,
        &quote! {
            impl Index {
                #[doc = "What the built-in table says of the index; `None` for a dialect's."]
                pub fn builtin(self) -> Option<&'static IndexInfo> {
                    INDEX_INFO.get(usize::from(self.0))
                }
                #[doc = "The built-in index of that name."]
                pub fn from_name(name: &str) -> Option<Index> {
                    let slot = INDEX_BY_NAME.binary_search_by_key(&name, |entry| entry.0).ok()?;
                    Some(Index(INDEX_BY_NAME[slot].1))
                }
                #[doc = "Number of built-in indices: the first id of a dialect's own."]
                pub const BUILTIN_COUNT: u8 = #count;
            }
        },
    );
    let modules = tables.indices.iter().filter_map(values);
    out.item(
        None,
        &quote!(
            #[doc = "Named values of const indices, a module an index."]
            pub mod values { #(#modules)* }
        ),
    );
    let constants = tables.intrinsics.iter().enumerate().map(|(id, intrinsic)| {
        let (name, id, doc) =
            (constant(&intrinsic.name), Literal::usize_unsuffixed(id), &intrinsic.doc);
        quote!(#[doc = #doc] pub const #name: Intrinsic = Intrinsic(#id);)
    });
    out.item(None, &quote!(impl Intrinsic { #(#constants)* }));
    let count = Literal::usize_unsuffixed(tables.intrinsics.len());
    out.list(
        &quote!(
            #[doc = "What the table says of every intrinsic, by id."]
            pub static INTRINSIC_INFO: [IntrinsicInfo; #count] =
        ),
        tables.intrinsics.iter().map(|intrinsic| (&intrinsic.place, info(intrinsic, &index_const))),
    );
    let names = name_index(tables.intrinsics.iter().map(|i| i.name.as_str()));
    out.item(
        None,
        &quote!(
            #[doc = "Every intrinsic's name with its id, sorted by name."]
            static INTRINSIC_BY_NAME: [(&str, u16); #count] = [#names];
        ),
    );
    out.item(
        None,
        &quote! {
            impl Intrinsic {
                #[doc = "What the built-in table says of the intrinsic; `None` for a dialect's."]
                pub fn builtin(self) -> Option<&'static IntrinsicInfo> {
                    INTRINSIC_INFO.get(usize::from(self.0))
                }
                #[doc = "The built-in intrinsic of that name."]
                pub fn from_name(name: &str) -> Option<Intrinsic> {
                    let slot = INTRINSIC_BY_NAME.binary_search_by_key(&name, |entry| entry.0).ok()?;
                    Some(Intrinsic(INTRINSIC_BY_NAME[slot].1))
                }
                #[doc = "Every built-in intrinsic, in the table's order."]
                pub fn all() -> impl ExactSizeIterator<Item = Intrinsic> {
                    (0..#count).map(Intrinsic)
                }
            }
        },
    );
    out.item(None, &shape());
    let accessors = tables.indices.iter().map(accessor);
    out.item(None, &quote!(impl crate::Function { #(#accessors)* }));
    let methods = tables.intrinsics.iter().map(|i| method(i, &quote!(pub), &quote!(Intrinsic)));
    out.item(None, &quote!(impl crate::Builder<'_> { #(#methods)* }));
    out.finish()
}

/// What the generated tables name.
pub(super) fn imports(krate: &TokenStream) -> TokenStream {
    quote! {
        use #krate::{
            AluOp, Convergent, Def, Divergence, FormDir, Index, IndexInfo, IndexKind, Instr, Intrinsic,
            IntrinsicFlags, IntrinsicForm, IntrinsicInfo, MemoryEffect, Modes, Shape, UpperEnd, ValueRange
        };
    }
}

/// The function that builder methods call for the result's shape.
pub(super) fn shape() -> TokenStream {
    quote! {
        #[doc = "The shape of a result, which the caller of a builder method chose."]
        fn shape(comps: u8, bits: u8) -> Shape {
            Shape::new(comps, bits).expect("the caller names a component count and bit size that the IR has")
        }
    }
}

/// A built-in index by its constant.
pub(super) fn index_const(name: &str) -> TokenStream {
    let name = constant(name);
    quote!(Index::#name)
}

/// The `IndexInfo` of an index.
pub(super) fn index_info(index: &IndexDef) -> TokenStream {
    let (name, doc) = (&index.name, &index.doc);
    let kind = match &index.kind {
        IndexKind::U32 => quote!(U32),
        IndexKind::I32 => quote!(I32),
        IndexKind::Bool => quote!(Bool),
        IndexKind::Op => quote!(Op),
        IndexKind::Enum(names) => quote!(Enum(&[#(#names),*])),
        IndexKind::Flags(names) => quote!(Flags(&[#(#names),*])),
    };
    let default = number(index.default);
    quote!(IndexInfo { name: #name, kind: IndexKind::#kind, default: #default, doc: #doc })
}

fn number(value: u32) -> Literal {
    Literal::u32_unsuffixed(value)
}

/// A module with the named values of an index.
pub(super) fn values(index: &IndexDef) -> Option<TokenStream> {
    let (names, flags) = match &index.kind {
        IndexKind::Enum(names) => (names, false),
        IndexKind::Flags(names) => (names, true),
        _ => return None,
    };
    let items = names.iter().enumerate().map(|(i, name)| {
        let doc = format!("`{name}`");
        let (name, i) = (constant(name), number(i as u32));
        let value = if flags { quote!(1 << #i) } else { quote!(#i) };
        quote!(#[doc = #doc] pub const #name: u32 = #value;)
    });
    let doc = format!("Values of the const index `{}`: {}", index.name, index.doc);
    let name = ident(&index.name);
    Some(quote!(#[doc = #doc] pub mod #name { #(#items)* }))
}

/// The `IntrinsicInfo` of an intrinsic; `index` names its indices.
pub(super) fn info(intrinsic: &IntrinsicDef, index: &dyn Fn(&str) -> TokenStream) -> TokenStream {
    let (name, doc) = (&intrinsic.name, &intrinsic.doc);
    let srcs = intrinsic.srcs.iter().map(|n| Literal::i8_unsuffixed(*n));
    let (src_bits, dest_bits) = (bytes(&intrinsic.src_bits), bytes(&intrinsic.dest_bits));
    let dest = match intrinsic.dest {
        Some(n) => {
            let n = Literal::i8_unsuffixed(n);
            quote!(Some(#n))
        }
        None => quote!(None),
    };
    let bits_from = match intrinsic.bits_from {
        Some(n) => {
            let n = Literal::u8_unsuffixed(n);
            quote!(Some(#n))
        }
        None => quote!(None),
    };
    let range = match &intrinsic.range {
        Some(range) => {
            let range = value_range(*range);
            quote!(Some(#range))
        }
        None => quote!(None),
    };
    let indices = intrinsic.indices.iter().map(|name| index(name));
    let flags = [
        (intrinsic.eliminate, "ELIMINATE"),
        (intrinsic.reorder, "REORDER"),
        (intrinsic.speculatable, "SPECULATABLE"),
        (intrinsic.system_value, "SYSTEM_VALUE"),
        (intrinsic.memory.barrier, "BARRIER"),
    ];
    let flags = union(
        "IntrinsicFlags",
        flags.iter().filter(|(set, _)| *set).map(|(_, name)| name.to_string()),
    );
    let memory = memory(intrinsic);
    let convergent = convergent(intrinsic.convergent);
    let divergence_tokens = divergence(intrinsic.divergence);
    let by_stage = intrinsic.divergence_by_stage.iter().map(|(stage, value)| {
        let value = divergence(*value);
        quote!((#stage, #value))
    });
    let builtin = match &intrinsic.builtin {
        Some(name) => quote!(Some(#name)),
        None => quote!(None),
    };
    let spirv = intrinsic.spirv.iter().map(|f| form(f, index));
    quote! {
        IntrinsicInfo {
            name: #name,
            srcs: &[#(#srcs),*],
            src_bits: #src_bits,
            dest: #dest,
            dest_bits: #dest_bits,
            bits_from: #bits_from,
            range: #range,
            indices: &[#(#indices),*],
            flags: #flags,
            memory: #memory,
            convergent: #convergent,
            divergence: #divergence_tokens,
            divergence_by_stage: &[#(#by_stage),*],
            builtin: #builtin,
            spirv: &[#(#spirv),*],
            doc: #doc,
        }
    }
}

fn value_range(range: ValueRange) -> TokenStream {
    match range {
        ValueRange::Int(low, high) => {
            let low = Literal::u64_unsuffixed(low);
            let (kind, value) = match high {
                UpperEnd::Value(value) => ("Value", value),
                UpperEnd::WorkgroupSize(less) => ("WorkgroupSize", less),
                UpperEnd::WorkgroupInvocations(less) => ("WorkgroupInvocations", less),
            };
            let (kind, value) = (ident(kind), Literal::u64_unsuffixed(value));
            quote!(ValueRange::Int(#low, UpperEnd::#kind(#value)))
        }
        ValueRange::Float(low, high) => {
            let (low, high) = (float(low), float(high));
            quote!(ValueRange::Float(#low, #high))
        }
    }
}

fn float(value: f64) -> TokenStream {
    match value.is_infinite() {
        true if value < 0.0 => quote!(f64::NEG_INFINITY),
        true => quote!(f64::INFINITY),
        false => {
            let (sign, value) = (value < 0.0, Literal::f64_unsuffixed(value.abs()));
            if sign { quote!(-#value) } else { quote!(#value) }
        }
    }
}

/// A const union of flags of type `ty`.
fn union(ty: &str, names: impl Iterator<Item = String>) -> TokenStream {
    let ty = ident(ty);
    let mut sum: Option<TokenStream> = None;
    for name in names {
        let name = ident(&name);
        sum = Some(match sum {
            None => quote!(#ty::#name),
            Some(sum) => quote!(#sum.union(#ty::#name)),
        });
    }
    sum.unwrap_or_else(|| quote!(#ty::empty()))
}

fn memory(intrinsic: &IntrinsicDef) -> TokenStream {
    let modes = |list: &[MemoryMode]| {
        if list.contains(&MemoryMode::Any) {
            return quote!(Modes::all());
        }
        let named = MODES
            .iter()
            .filter(|mode| list.iter().any(|m| *m == MemoryMode::Named((**mode).to_owned())));
        union("Modes", named.map(|mode| mode.to_ascii_uppercase()))
    };
    let memory = &intrinsic.memory;
    let (reads, writes) = (modes(&memory.reads), modes(&memory.writes));
    let reads_deref = memory.reads.contains(&MemoryMode::Deref(0));
    let writes_deref = memory.writes.contains(&MemoryMode::Deref(0));
    let reads_deref1 = memory.reads.contains(&MemoryMode::Deref(1));
    quote! {
        MemoryEffect {
            reads: #reads,
            writes: #writes,
            reads_deref: #reads_deref,
            writes_deref: #writes_deref,
            reads_deref1: #reads_deref1,
        }
    }
}

fn divergence(value: Divergence) -> TokenStream {
    match value {
        Divergence::Uniform => quote!(Divergence::Uniform),
        Divergence::Divergent => quote!(Divergence::Divergent),
        Divergence::Sources => quote!(Divergence::Sources),
    }
}

fn form(form: &IntrinsicForm, index: &dyn Fn(&str) -> TokenStream) -> TokenStream {
    let (name, ext, args, sizes, dir) =
        (&form.name, form.ext, &form.args, bytes(&form.sizes), dir(form.dir));
    let when = form.when.iter().map(|(name, value)| {
        let (name, value) = (index(name), number(*value));
        quote!((#name, #value))
    });
    let capability = match &form.capability {
        Some(name) => quote!(Some(#name)),
        None => quote!(None),
    };
    quote! {
        IntrinsicForm {
            name: #name,
            ext: #ext,
            when: &[#(#when),*],
            args: #args,
            sizes: #sizes,
            capability: #capability,
            dir: #dir,
        }
    }
}

/// A typed accessor of an index on a function's instructions.
fn accessor(index: &IndexDef) -> TokenStream {
    let (name, id) = (ident(&format!("index_{}", index.name)), constant(&index.name));
    let doc =
        format!("The const index `{}` of an intrinsic, if it has one. {}", index.name, index.doc);
    let (ty, value) = match index.kind {
        IndexKind::U32 | IndexKind::Enum(_) | IndexKind::Flags(_) => (quote!(u32), quote!()),
        IndexKind::I32 => (quote!(i32), quote!(.map(|value| value as i32))),
        IndexKind::Bool => (quote!(bool), quote!(.map(|value| value != 0))),
        IndexKind::Op => (quote!(AluOp), quote!(.map(|value| AluOp(value as u16)))),
    };
    quote! {
        #[doc = #doc]
        pub fn #name(&self, instr: Instr) -> Option<#ty> {
            self.index(instr, Index::#id) #value
        }
    }
}

/// Names of sources in builder methods.
fn source(k: usize) -> proc_macro2::Ident {
    ident(&format!("src{k}"))
}

/// A builder method: components and bit size where the sources don't give them, sources, const indices that differ from
/// their defaults. `owner` has the constant.
pub(super) fn method(
    intrinsic: &IntrinsicDef,
    visibility: &TokenStream,
    owner: &TokenStream,
) -> TokenStream {
    let (name, id) = (ident(&intrinsic.name), constant(&intrinsic.name));
    let mut doc = intrinsic.doc.clone();
    let mut params = vec![quote!(&mut self)];
    let shape = match intrinsic.dest {
        None => quote!(Shape::NONE),
        Some(dest) => {
            let same =
                intrinsic.srcs.iter().position(|n| *n == 0).filter(|_| dest == 0).map(source);
            let comps = match (dest, same) {
                (1.., _) => {
                    let dest = Literal::i8_unsuffixed(dest);
                    quote!(#dest)
                }
                (_, Some(src)) => quote!(self.f.comps(#src)),
                _ => {
                    params.push(quote!(comps: u8));
                    quote!(comps)
                }
            };
            let bits = match (intrinsic.bits_from, intrinsic.dest_bits.as_slice()) {
                (Some(k), _) => {
                    let src = source(usize::from(k));
                    quote!(self.f.bits(#src))
                }
                (None, [only]) => {
                    let only = Literal::u8_unsuffixed(*only);
                    quote!(#only)
                }
                _ => {
                    params.push(quote!(bits: u8));
                    quote!(bits)
                }
            };
            quote!(shape(#comps, #bits))
        }
    };
    let srcs: Vec<_> = (0..intrinsic.srcs.len()).map(source).collect();
    let sources = if srcs.len() + params.len() > 7 {
        let count = Literal::usize_unsuffixed(srcs.len());
        params.push(quote!([#(#srcs),*]: [Def; #count]));
        quote!(&[#(#srcs),*])
    } else {
        params.extend(srcs.iter().map(|src| quote!(#src: Def)));
        quote!(&[#(#srcs),*])
    };
    let indices = if intrinsic.indices.is_empty() {
        quote!(&[])
    } else {
        params.push(quote!(indices: &[(Index, u32)]));
        doc.push_str(&format!(
            "\nConst indices not given have their defaults: {}.",
            list(&intrinsic.indices)
        ));
        quote!(indices)
    };
    let build = quote!(self.intrinsic_with(#owner::#id, #shape, #sources, #indices));
    let (result, build) = match intrinsic.dest {
        Some(_) => (quote!(Def), quote!(#build.def())),
        None => (quote!(Instr), build),
    };
    quote! {
        #[doc = #doc]
        #visibility fn #name(#(#params),*) -> #result {
            #build
        }
    }
}

fn list(names: &[String]) -> String {
    names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}
