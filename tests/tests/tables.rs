//! Both tables against the list of what NIR has (Mesa 23.3): names, signatures, properties, flags and const indices.
//! What differs is listed in the constants below with its reason; an unlisted difference fails, and so does a
//! listed one that is no longer there.

use deburr_algebraic::Target;
use deburr_ir_core::{AluOp, AluProps, Index, Intrinsic, IntrinsicFlags, Module};
use deburr_rulegen::reference;
use deburr_rulegen::rules::classes::{SIZES, size_set};
use deburr_rulegen::rules::model::{NodeId, NodeKind, Outside};
use deburr_rulegen::rules::{Ops, Rule};
use deburr_rulegen::tables::op::Dir;
use deburr_rulegen::tables::{IndexKind, TableFile, Tables};
use deburr_tests::terms::rule_set;
use rspirv::grammar::{INSTRUCTION_TABLE, OperandKind, OperandQuantifier, ext_inst_table};
use rspirv::spirv;
use std::collections::{BTreeMap, BTreeSet};
use std::str::FromStr;

const OPCODES: &str = include_str!("../../opcodes.toml");
const INTRINSICS: &str = include_str!("../../intrinsics.toml");
const OPCODE_FACTS: &str = include_str!("../src/facts/opcodes.tsv");
const INTRINSIC_FACTS: &str = include_str!("../src/facts/intrinsics.tsv");

/// A column in which deburr's entry is meant to differ.
struct Changed {
    /// Names, separated by blanks.
    names: &'static str,
    column: &'static str,
    /// What deburr's table has there.
    ours: &'static str,
    why: &'static str,
}

/// Entries that NIR doesn't have.
struct Own {
    /// Names, separated by blanks; one that ends in `*` stands for every entry that begins so.
    names: &'static str,
    why: &'static str,
}

const IMAGE_COORDS: &str = "coordinates have as many components as the image's dimensions, so that SPIR-V's operand needs no padding";
const MEMORY_MODEL: &str =
    "operands of SPIR-V's memory instructions, which the round trip must keep";

const CHANGED_INTRINSICS: &[Changed] = &[
    Changed {
        names: "load_deref",
        column: "indices",
        ours: "access align_mul memory_scope",
        why: MEMORY_MODEL,
    },
    Changed {
        names: "store_deref",
        column: "indices",
        ours: "write_mask access align_mul memory_scope",
        why: MEMORY_MODEL,
    },
    Changed {
        names: "copy_deref",
        column: "indices",
        ours: "dst_access src_access dst_align_mul src_align_mul memory_scope",
        why: MEMORY_MODEL,
    },
    Changed {
        names: "deref_atomic",
        column: "indices",
        ours: "access atomic_op memory_scope memory_semantics memory_modes",
        why: MEMORY_MODEL,
    },
    Changed {
        names: "deref_atomic_swap",
        column: "indices",
        ours: "access atomic_op memory_scope memory_semantics failure_semantics memory_modes",
        why: MEMORY_MODEL,
    },
    Changed {
        names: "image_deref_load image_deref_sparse_load",
        column: "indices",
        ours: "image_dim image_array format access dest_type memory_scope",
        why: MEMORY_MODEL,
    },
    Changed {
        names: "image_deref_store",
        column: "indices",
        ours: "image_dim image_array format access src_type memory_scope",
        why: MEMORY_MODEL,
    },
    Changed {
        names: "image_deref_atomic",
        column: "indices",
        ours: "image_dim image_array format access atomic_op memory_scope memory_semantics memory_modes",
        why: MEMORY_MODEL,
    },
    Changed {
        names: "image_deref_atomic_swap",
        column: "indices",
        ours: "image_dim image_array format access atomic_op memory_scope memory_semantics failure_semantics memory_modes",
        why: MEMORY_MODEL,
    },
    Changed {
        names: "image_deref_load image_deref_sparse_load image_deref_atomic",
        column: "sources",
        ours: "-1 -1 1 1",
        why: IMAGE_COORDS,
    },
    Changed {
        names: "image_deref_store",
        column: "sources",
        ours: "-1 -1 1 0 1",
        why: IMAGE_COORDS,
    },
    Changed {
        names: "image_deref_atomic_swap",
        column: "sources",
        ours: "-1 -1 1 1 1",
        why: IMAGE_COORDS,
    },
    Changed {
        names: "image_deref_samples_identical",
        column: "sources",
        ours: "-1 -1",
        why: IMAGE_COORDS,
    },
    Changed {
        names: "image_deref_texel_address",
        column: "sources",
        ours: "-1 -1 1",
        why: IMAGE_COORDS,
    },
];

const OWN_INTRINSICS: &[Own] = &[
    Own {
        names: "load_spec_constant",
        why: "a spec constant stays symbolic until the pipeline is made",
    },
    Own {
        names: "deref_atomic_load deref_atomic_store image_deref_atomic_load image_deref_atomic_store",
        why: "OpAtomicLoad and OpAtomicStore have a scope and semantics that a plain load or store has not",
    },
    Own { names: "load_instance_index", why: "SPIR-V's InstanceIndex includes the base instance" },
    Own { names: "load_device_index", why: "SPIR-V has the built-in DeviceIndex" },
];

const CHANGED_OPCODES: &[Changed] = &[Changed {
    names: "imul24 umul24 imul24_relaxed umul24_relaxed",
    column: "properties",
    ours: "commutative",
    why: "a product is cut to 24 bits before it is multiplied again: \
          0x800000 * (2 * 3) keeps bits that (0x800000 * 2) * 3 has lost",
}];

const OWN_OPCODES: &[Own] = &[
    Own {
        names: "fneo fequ",
        why: "the complements of fequ and fneu, which SPIR-V has as single instructions",
    },
    Own {
        names: "fisnan fisinf",
        why: "OpIsNan and OpIsInf look at bits and survive nnan and ninf",
    },
    Own {
        names: "fcanonicalize",
        why: "flushing and quieting without arithmetic: what a move is not under denorm flush",
    },
    Own { names: "fmad", why: "GLSL.std.450 Fma may be fused or split" },
    Own {
        names: "fmin_any fmax_any",
        why: "GLSL.std.450 FMin and FMax may return either operand where one is NaN",
    },
    Own {
        names: "f2i8_sat f2i16_sat f2i32_sat f2i64_sat f2u8_sat f2u16_sat f2u32_sat f2u64_sat",
        why: "conversions that are defined out of range",
    },
    Own {
        names: "vec_extract* vec_insert*",
        why: "OpVectorExtractDynamic and OpVectorInsertDynamic",
    },
    Own { names: "ball2 ball3 ball4 bany2 bany3 bany4", why: "OpAll and OpAny" },
    Own {
        names: "sdot_4x8 udot_4x8 sudot_4x8 sdot2_* udot2_* sudot2_* sdot3_* udot3_* sudot3_* sdot4_* udot4_* sudot4_*",
        why: "OpSDot, OpUDot and OpSUDot do not accumulate, and take vectors too",
    },
    Own {
        names: "fmatvec* fvecmat* transpose* fouter*",
        why: "SPIR-V's matrix instructions, with columns as operands",
    },
    Own {
        names: "iclamp uclamp fclamp fclamp_any fround fstep fsmoothstep fradians fdegrees fmodf_fract fmodf_whole",
        why: "GLSL.std.450: common functions",
    },
    Own {
        names: "fexp flog ftan fasin facos fatan fatan2 fsinh fcosh ftanh fasinh facosh fatanh",
        why: "GLSL.std.450: exponential and angle functions",
    },
    Own {
        names: "flength* fdistance* fnormalize* fcross ffaceforward* freflect* frefract* fdeterminant* finverse*",
        why: "GLSL.std.450: geometric and matrix functions",
    },
];

/// A table reduced to what the facts know: column → text, by name.
type Rows = BTreeMap<String, BTreeMap<&'static str, String>>;

fn facts(text: &str, columns: &[&'static str]) -> Rows {
    text.lines()
        .filter(|line| !line.starts_with('#'))
        .map(|line| {
            let mut fields = line.split('\t');
            let name = fields.next().unwrap_or_default().to_owned();
            let fields = columns.iter().map(|&c| (c, fields.next().unwrap_or_default().to_owned()));
            (name, fields.collect())
        })
        .collect()
}

/// Lines that say where the lists and the tables disagree; empty if they don't.
fn disagreements(ours: &Rows, facts: &Rows, changed: &[Changed], own: &[Own]) -> Vec<String> {
    let mut out = Vec::new();
    let mut listed: BTreeMap<(&str, &str), (&str, &str)> = BTreeMap::new();
    for c in changed {
        assert!(!c.why.is_empty(), "{}: a difference has a reason", c.names);
        for name in c.names.split(' ') {
            if listed.insert((name, c.column), (c.ours, c.why)).is_some() {
                out.push(format!("{name}.{}: listed twice", c.column));
            }
        }
    }
    for (name, fact) in facts {
        let Some(row) = ours.get(name) else {
            out.push(format!("{name}: not in the table"));
            continue;
        };
        for (column, fact) in fact {
            let value = &row[column];
            match listed.remove(&(name.as_str(), *column)) {
                None if value == fact => {}
                None => out.push(format!("{name}.{column}: the table has `{value}`, NIR `{fact}`")),
                Some((expected, _)) if value == expected && value != fact => {}
                Some((expected, _)) => out.push(format!(
                    "{name}.{column}: listed as `{expected}`; the table has `{value}`, NIR `{fact}`"
                )),
            }
        }
    }
    out.extend(
        listed.keys().map(|(name, column)| format!("{name}.{column}: listed, but no entry")),
    );
    let mut extra: BTreeSet<&str> =
        ours.keys().filter(|n| !facts.contains_key(*n)).map(String::as_str).collect();
    for o in own {
        assert!(!o.why.is_empty(), "{}: an entry of one's own has a reason", o.names);
        for name in o.names.split(' ') {
            let before = extra.len();
            match name.strip_suffix('*') {
                Some(prefix) => extra.retain(|n| !n.starts_with(prefix)),
                None => {
                    extra.remove(name);
                }
            }
            if extra.len() == before {
                out.push(format!("{name}: listed as deburr's own, but it is not"));
            }
        }
    }
    out.extend(
        extra.iter().map(|name| format!("{name}: in the table, but in neither NIR nor the list")),
    );
    out
}

fn load() -> Tables {
    let files =
        [TableFile::new("opcodes.toml", OPCODES), TableFile::new("intrinsics.toml", INTRINSICS)];
    Tables::parse(&files).unwrap_or_else(|errors| {
        let text = |name: &str| files.iter().find(|f| &*f.name == name).map(|f| f.text.as_str());
        let errors: Vec<String> = errors.iter().map(|e| e.to_plain(text)).collect();
        panic!("{}", errors.join("\n"))
    })
}

/// The opcode table as the facts see it.
fn opcode_rows(tables: &Tables) -> Rows {
    let rows = tables.ops.iter().map(|op| {
        let derivative = op.expr().is_none();
        let properties = [
            (op.commutative, "commutative"),
            (op.associative, "associative"),
            (op.selection, "selection"),
            (op.conversion, "conversion"),
            (derivative, "derivative"),
        ];
        let names = properties.into_iter().filter(|(has, _)| *has).map(|(_, name)| name);
        let row = [("signature", op.sig.to_string()), ("properties", join(names))];
        (op.name.clone(), row.into())
    });
    rows.collect()
}

/// The intrinsic table as the facts see it.
fn intrinsic_rows(tables: &Tables) -> Rows {
    let rows = tables.intrinsics.iter().map(|i| {
        let flags =
            [(i.eliminate, "eliminate"), (i.reorder, "reorder"), (i.system_value, "system_value")];
        let names = flags.into_iter().filter(|(has, _)| *has).map(|(_, name)| name);
        let row = [
            ("sources", join(&i.srcs)),
            ("result", i.dest.map_or(String::new(), |n| n.to_string())),
            ("bits", join(&i.dest_bits)),
            ("indices", join(&i.indices)),
            ("flags", join(names)),
        ];
        (i.name.clone(), row.into())
    });
    rows.collect()
}

fn join<T: ToString>(list: impl IntoIterator<Item = T>) -> String {
    list.into_iter().map(|x| x.to_string()).collect::<Vec<_>>().join(" ")
}

fn assert_none(lines: &[String]) {
    assert!(lines.is_empty(), "{} disagreements:\n{}", lines.len(), lines.join("\n"));
}

#[test]
fn opcodes_are_those_of_the_list() {
    let facts = facts(OPCODE_FACTS, &["signature", "properties"]);
    assert_eq!(facts.len(), 405);
    let ours = opcode_rows(&load());
    assert_none(&disagreements(&ours, &facts, CHANGED_OPCODES, OWN_OPCODES));
}

#[test]
fn intrinsics_are_those_of_the_list() {
    let facts = facts(INTRINSIC_FACTS, &["sources", "result", "bits", "indices", "flags"]);
    assert_eq!(facts.len(), 336);
    let ours = intrinsic_rows(&load());
    assert_none(&disagreements(&ours, &facts, CHANGED_INTRINSICS, OWN_INTRINSICS));
}

/// The comparison itself: each kind of disagreement is told.
#[test]
fn disagreements_are_told() {
    let facts = facts("add\tint\nsub\tint\nmul\tint", &["type"]);
    let row = |ty: &str| BTreeMap::from([("type", ty.to_owned())]);
    let changed = |names, ours| Changed { names, column: "type", ours, why: "a test" };
    let own = |names| Own { names, why: "a test" };
    let ours: Rows = [("add", "int"), ("sub", "uint"), ("neg", "int")]
        .map(|(name, ty)| (name.to_owned(), row(ty)))
        .into();
    let told = |changed: &[Changed], own: &[Own]| disagreements(&ours, &facts, changed, own).len();
    // mul is missing in all of them.
    assert_eq!(told(&[changed("sub", "uint")], &[own("neg")]), 1);
    assert_eq!(told(&[changed("sub", "uint")], &[own("ne*")]), 1);
    assert_eq!(told(&[changed("sub", "uint")], &[]), 2, "an entry of one's own is not listed");
    assert_eq!(told(&[], &[own("neg")]), 2, "a difference is not listed");
    assert_eq!(told(&[changed("sub", "float")], &[own("neg")]), 2, "listed as another");
    assert_eq!(told(&[changed("sub add", "uint")], &[own("neg")]), 2, "listed without need");
    assert_eq!(told(&[changed("sub", "uint")], &[own("neg abs")]), 2, "no such entry");
}

#[test]
fn every_index_is_used_and_every_entry_documented() {
    let tables = load();
    let used: BTreeSet<&str> =
        tables.intrinsics.iter().flat_map(|i| i.indices.iter().map(String::as_str)).collect();
    for index in &tables.indices {
        assert!(used.contains(index.name.as_str()), "no intrinsic has the index {}", index.name);
    }
    let docs = tables.ops.iter().map(|op| (&op.name, &op.doc));
    let docs = docs.chain(tables.intrinsics.iter().map(|i| (&i.name, &i.doc)));
    for (name, doc) in docs.chain(tables.indices.iter().map(|i| (&i.name, &i.doc))) {
        assert!(doc.len() > 1 && doc.ends_with('.'), "{name} is documented by `{doc}`");
    }
}

/// Names of instructions, built-ins and capabilities are those of the SPIR-V grammar; so are the numbers of formats.
#[test]
fn spirv_names_exist() {
    let core: BTreeSet<&str> = INSTRUCTION_TABLE.iter().map(|i| i.opname).collect();
    let glsl = ext_inst_table("GLSL.std.450").expect("the grammar has GLSL.std.450");
    let glsl: BTreeSet<&str> = glsl.iter().map(|i| i.opname).collect();
    let tables = load();
    let ops = tables.ops.iter().flat_map(|op| op.spirv.iter().map(|f| (&op.name, f.ext, &f.name)));
    let intrinsics = tables.intrinsics.iter();
    let intrinsics = intrinsics.flat_map(|i| i.spirv.iter().map(|f| (&i.name, f.ext, &f.name)));
    let mut unknown = Vec::new();
    for (owner, ext, name) in ops.chain(intrinsics) {
        let table = if ext { &glsl } else { &core };
        if !table.contains(name.as_str()) {
            unknown.push(format!("{owner}: no instruction {name}"));
        }
    }
    for i in &tables.intrinsics {
        if let Some(name) = i.builtin.as_ref().filter(|n| spirv::BuiltIn::from_str(n).is_err()) {
            unknown.push(format!("{}: no built-in {name}", i.name));
        }
        for name in i.spirv.iter().filter_map(|f| f.capability.as_ref()) {
            if spirv::Capability::from_str(name).is_err() {
                unknown.push(format!("{}: no capability {name}", i.name));
            }
        }
    }
    let (_, format) = tables.index("format").expect("an index of the table");
    let IndexKind::Enum(formats) = &format.kind else { panic!("format is an enumeration") };
    for (number, name) in formats.iter().enumerate() {
        let theirs = spirv::ImageFormat::from_u32(number as u32).map(|f| format!("{f:?}"));
        let theirs = theirs.unwrap_or_default().to_lowercase();
        if theirs != name.replace('_', "") {
            unknown.push(format!("format {number} is {theirs}, not {name}"));
        }
    }
    assert_none(&unknown);
}

/// The operands of an intrinsic's forms are of the kinds that the grammar wants, and as many.
#[test]
fn spirv_operands_fit_the_grammar() {
    let mut wrong = Vec::new();
    for intrinsic in &load().intrinsics {
        for form in intrinsic.spirv.iter().filter(|f| !f.ext) {
            let sources: String =
                ('a'..).take(intrinsic.srcs.len()).flat_map(|c| [c, ' ']).collect();
            let args = if form.args.is_empty() { sources.trim() } else { &form.args };
            let mut args: Vec<&str> = args.split_whitespace().collect();
            if form.name == "ArrayLength" {
                // The deref of the array is two operands here: the pointer to its struct and the member's number.
                args.push("0");
            }
            if intrinsic.name.starts_with("image_deref_atomic") {
                // Image, coordinates and sample are the operands of the texel pointer, which is one here.
                args.drain(1..3);
            }
            let instr = INSTRUCTION_TABLE.iter().find(|i| i.opname == form.name);
            let operands = instr.map_or(&[][..], |i| i.operands).iter();
            let result = [OperandKind::IdResultType, OperandKind::IdResult];
            let operands: Vec<_> = operands.filter(|o| !result.contains(&o.kind)).collect();
            let required =
                operands.iter().filter(|o| o.quantifier == OperandQuantifier::One).count();
            let name = format!("{} as Op{} {}", intrinsic.name, form.name, args.join(" "));
            if args.len() < required || args.len() > operands.len() {
                wrong.push(format!("{name}: {} operands, {required} wanted", args.len()));
            }
            for (arg, operand) in args.iter().zip(operands) {
                let fits = match *arg {
                    "@memory_scope" | "@execution_scope" | "Subgroup" => OperandKind::IdScope,
                    "@memory_semantics" | "@failure_semantics" => OperandKind::IdMemorySemantics,
                    "Reduce" | "InclusiveScan" | "ExclusiveScan" | "ClusteredReduce" => {
                        OperandKind::GroupOperation
                    }
                    "0" if form.name == "ArrayLength" => OperandKind::LiteralInteger,
                    _ => OperandKind::IdRef,
                };
                if fits != operand.kind {
                    wrong.push(format!("{name}: {arg} stands for {:?}", operand.kind));
                }
            }
        }
    }
    assert_none(&wrong);
}

/// What ir-core was built with is what the tables say.
#[test]
fn generated_tables_are_the_parsed_ones() {
    let tables = load();
    assert_eq!(AluOp::all().len(), tables.ops.len());
    for (op, def) in AluOp::all().zip(&tables.ops) {
        let info = op.builtin().expect("an opcode of the table");
        assert_eq!(info.name, def.name);
        assert_eq!(AluOp::from_name(&def.name), Some(op));
        assert_eq!(info.inputs.len(), def.sig.inputs.len(), "{}", def.name);
        assert_eq!(info.sizes, def.sizes, "{}", def.name);
        assert_eq!(info.props.contains(AluProps::COMMUTATIVE), def.commutative, "{}", def.name);
        assert_eq!(info.spirv.len(), def.spirv.len(), "{}", def.name);
        assert_eq!(info.doc, def.doc);
    }
    assert_eq!(Intrinsic::all().len(), tables.intrinsics.len());
    for (intrinsic, def) in Intrinsic::all().zip(&tables.intrinsics) {
        let info = intrinsic.builtin().expect("an intrinsic of the table");
        assert_eq!(info.name, def.name);
        assert_eq!(Intrinsic::from_name(&def.name), Some(intrinsic));
        assert_eq!((info.srcs, info.dest), (&def.srcs[..], def.dest), "{}", def.name);
        assert_eq!(format!("{:?}", info.range), format!("{:?}", def.range), "{}", def.name);
        let indices: Vec<&str> =
            info.indices.iter().filter_map(|i| i.builtin()).map(|i| i.name).collect();
        assert_eq!(indices, def.indices, "{}", def.name);
        let flags = [
            (IntrinsicFlags::ELIMINATE, def.eliminate),
            (IntrinsicFlags::REORDER, def.reorder),
            (IntrinsicFlags::SPECULATABLE, def.speculatable),
            (IntrinsicFlags::SYSTEM_VALUE, def.system_value),
            (IntrinsicFlags::BARRIER, def.memory.barrier),
        ];
        for (flag, expected) in flags {
            assert_eq!(info.flags.contains(flag), expected, "{} {flag:?}", def.name);
        }
        assert_eq!(info.spirv.len(), def.spirv.len(), "{}", def.name);
        assert_eq!(info.doc, def.doc);
    }
}

/// The book's pages of opcodes and intrinsics say what the tables say; `BLESS=1` writes them.
#[test]
fn reference_pages_are_up_to_date() {
    let tables = load();
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/book/reference");
    let pages = [
        ("opcodes.md", reference::opcodes(&tables)),
        ("intrinsics.md", reference::intrinsics(&tables)),
    ];
    for (name, text) in pages {
        let path = format!("{folder}/{name}");
        if std::env::var_os("BLESS").is_some() {
            std::fs::create_dir_all(folder).expect("the book's folder can be made");
            std::fs::write(&path, &text).expect("the page can be written");
        }
        let page = std::fs::read_to_string(&path).unwrap_or_default();
        assert!(page == text, "{name} is not what the tables say; BLESS=1 writes it");
    }
}

/// SPIR-V that declares whatever an operation may ask for.
fn spirv_with_everything(tables: &Tables) -> Target {
    let mut module = Module::new();
    let sizes = ["Int8", "Int16", "Int64", "Float16", "Float64"].map(str::to_string);
    let asked =
        tables.intrinsics.iter().flat_map(|i| &i.spirv).filter_map(|f| f.capability.clone());
    module.spirv.capabilities = sizes.into_iter().chain(asked).collect();
    Target::spirv_of(&module)
}

/// What the build of the rules takes SPIR-V to have (E0378) is what the target says that declares everything.
#[test]
fn the_build_and_the_target_agree_on_what_is_legal() {
    let tables = load();
    let (ops, target) = (Ops::from_tables(&tables), spirv_with_everything(&tables));
    let mut counts = [0, 0];
    for sig in ops.iter() {
        for bits in SIZES {
            let legal = target.legal(AluOp(sig.id), bits);
            let known = sig.spirv & size_set(bits.into()) != 0;
            assert_eq!(known, legal, "{} of {bits} bits", sig.name);
            counts[usize::from(legal)] += 1;
        }
    }
    assert!(counts.iter().all(|n| *n > 500), "{counts:?}");
    let mut counts = [0, 0];
    for sig in ops.intrinsics() {
        let id = Intrinsic(sig.id);
        let info = id.builtin().expect("the table is the built-in one");
        let given = sig.spirv.iter().map(|form| form.when.clone());
        for given in given.chain([Vec::new()]) {
            let indices: Vec<(Index, u32)> =
                given.iter().map(|(at, value)| (Index(*at as u8), *value)).collect();
            for bits in SIZES {
                let legal = target.legal_intrinsic(id, info, bits, &indices);
                let known = sig.in_spirv(bits, &given, ops.indices());
                assert_eq!(known, legal, "{} of {bits} bits with {given:?}", sig.name);
                counts[usize::from(legal)] += 1;
            }
        }
    }
    assert!(counts.iter().all(|n| *n > 100), "{counts:?}");
}

/// Capabilities without which no shader is.
const OF_SHADERS: [spirv::Capability; 2] = [spirv::Capability::Shader, spirv::Capability::Matrix];

/// Names of instructions that only modules with some further capability have.
fn instructions_that_ask() -> BTreeSet<&'static str> {
    let core = INSTRUCTION_TABLE.iter().map(|i| (i.opname, i.capabilities));
    let glsl = ext_inst_table("GLSL.std.450").expect("the grammar has GLSL.std.450");
    let all = core.chain(glsl.iter().map(|i| (i.opname, i.capabilities)));
    let asks =
        all.filter(|(_, list)| !list.is_empty() && !list.iter().any(|c| OF_SHADERS.contains(c)));
    asks.map(|(name, _)| name).collect()
}

/// The writer declares what the reader found declared and nothing else, and the tables seldom say which capability an
/// instruction asks for: a module that has it declares it. So what asks for one may only be where it was read.
#[test]
fn no_rule_makes_what_asks_for_a_capability() {
    let (tables, set, asking) = (load(), rule_set(), instructions_that_ask());
    // A form that asks for nothing would do.
    let asks = |forms: &mut dyn Iterator<Item = (Dir, &str)>| {
        let names: Vec<&str> = forms.filter(|f| f.0 != Dir::Read).map(|f| f.1).collect();
        !names.is_empty() && names.iter().all(|name| asking.contains(name))
    };
    let op_asks = |op: usize| asks(&mut tables.ops[op].spirv.iter().map(|f| (f.dir, &*f.name)));
    assert!((0..tables.ops.len()).filter(|op| op_asks(*op)).count() > 20);
    let mut made = 0;
    for rule in &set.rules {
        let matched: Vec<usize> =
            rule.pattern_nodes().iter().filter_map(|n| op_of(rule, *n)).collect();
        for id in rule.alts.iter().flat_map(|alt| rule.reachable(alt.term)) {
            if let Some(op) = op_of(rule, id).filter(|op| !matched.contains(op)) {
                made += 1;
                assert!(!op_asks(op), "{} makes {}", rule.name, tables.ops[op].name);
            }
            if let Some(Outside::Intrinsic { id, .. }) = rule.made_anew(id) {
                let def = &tables.intrinsics[*id];
                let asks = asks(&mut def.spirv.iter().map(|f| (f.dir, &*f.name)));
                assert!(!asks, "{} makes {}", rule.name, def.name);
            }
        }
    }
    assert!(made > 200, "{made}");
}

fn op_of(rule: &Rule, node: NodeId) -> Option<usize> {
    match &rule.nodes[node].kind {
        NodeKind::Op { op, .. } => Some(*op),
        _ => None,
    }
}

/// Sizes follow from capabilities that others imply, too.
#[test]
fn sizes_follow_from_what_a_module_has() {
    let legal = |names: &[&str], op, bits| {
        let mut module = Module::new();
        module.spirv.capabilities = names.iter().map(ToString::to_string).collect();
        Target::spirv_of(&module).legal(op, bits)
    };
    for (name, op, bits) in [
        ("Int8", AluOp::IADD, 8),
        ("DotProductInput4x8Bit", AluOp::IADD, 8),
        ("Int16", AluOp::IADD, 16),
        ("Int64", AluOp::IADD, 64),
        ("Int64Atomics", AluOp::IADD, 64),
        ("Float16", AluOp::FADD, 16),
        ("Float64", AluOp::FADD, 64),
    ] {
        assert!(legal(&["Shader", name], op, bits), "{name}");
        assert!(!legal(&["Shader"], op, bits), "without {name}");
    }
}
