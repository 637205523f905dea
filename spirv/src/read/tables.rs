//! Look-ups from SPIR-V instructions to the entries of the opcode and intrinsic tables, made once from the
//! `spirv` columns.

use deburr_ir_core::{
    AluInfo, AluOp, FormDir, Index, IndexKind, Intrinsic, IntrinsicForm, IntrinsicInfo, Modes,
    SpirvForm,
};
use rspirv::grammar::{ExtInstOp, INSTRUCTION_TABLE, OperandKind, ext_inst_table};
use rspirv::spirv;
use rustc_hash::FxHashMap;
use spirv::Op;
use std::sync::LazyLock;

/// What the grammar says of an instruction.
#[derive(Debug)]
pub(super) struct OpInfo {
    pub name: &'static str,
    pub has_type: bool,
    pub has_result: bool,
}

/// An opcode that an instruction may be read as.
#[derive(Clone, Copy, Debug)]
pub(super) struct AluForm {
    pub op: AluOp,
    pub info: &'static AluInfo,
    pub form: &'static SpirvForm,
}

/// How an operand of an instruction becomes a part of an intrinsic.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Arg {
    /// Source `n`.
    Src(u8),
    /// Component `c` of source `n`.
    Comp(u8, u8),
    /// A const index; the operand is a constant, or a literal where `literal`.
    Index(Index),
    /// A constant of this value.
    Const(u32),
    /// A scope constant of this value.
    Scope(u32),
    /// A literal of this value.
    Literal(u32),
}

/// An intrinsic that an instruction may be read as.
#[derive(Debug)]
pub(super) struct IntrForm {
    pub op: Intrinsic,
    pub info: &'static IntrinsicInfo,
    pub form: &'static IntrinsicForm,
    /// What the instruction's operands are; `None` = the sources in order.
    pub args: Option<Vec<Arg>>,
}

/// The look-ups.
#[derive(Debug)]
pub(super) struct Tables {
    ops: Vec<Option<(Op, OpInfo)>>,
    alu: FxHashMap<u32, Vec<AluForm>>,
    ext: FxHashMap<u32, Vec<AluForm>>,
    ext_names: FxHashMap<u32, &'static str>,
    intrinsics: FxHashMap<u32, Vec<IntrForm>>,
    ext_intrinsics: FxHashMap<u32, Vec<IntrForm>>,
}

/// The look-ups of the built-in tables.
pub(super) fn tables() -> &'static Tables {
    static TABLES: LazyLock<Tables> = LazyLock::new(Tables::new);
    &TABLES
}

impl Tables {
    fn new() -> Self {
        let mut tables = Tables {
            ops: Vec::new(),
            alu: FxHashMap::default(),
            ext: FxHashMap::default(),
            ext_names: FxHashMap::default(),
            intrinsics: FxHashMap::default(),
            ext_intrinsics: FxHashMap::default(),
        };
        let mut numbers: FxHashMap<&'static str, u32> = FxHashMap::default();
        for inst in INSTRUCTION_TABLE.iter() {
            let number = inst.opcode as u32;
            let has = |kind| inst.operands.iter().take(2).any(|o| o.kind == kind);
            let info = OpInfo {
                name: inst.opname,
                has_type: has(OperandKind::IdResultType),
                has_result: has(OperandKind::IdResult),
            };
            numbers.insert(inst.opname, number);
            let slot = number as usize;
            if tables.ops.len() <= slot {
                tables.ops.resize_with(slot + 1, || None);
            }
            tables.ops[slot] = Some((inst.opcode, info));
        }
        let mut glsl: FxHashMap<&'static str, u32> = FxHashMap::default();
        for inst in ext_inst_table("GLSL.std.450").into_iter().flat_map(|t| t.iter()) {
            if let ExtInstOp::GlslStd450(op) = inst.opcode {
                glsl.insert(inst.opname, op as u32);
                tables.ext_names.insert(op as u32, inst.opname);
            }
        }
        tables.add_alu(&numbers, &glsl);
        tables.add_intrinsics(&numbers, &glsl);
        tables
    }

    fn add_alu(&mut self, core: &FxHashMap<&str, u32>, glsl: &FxHashMap<&str, u32>) {
        for op in (0..AluOp::FIRST_DIALECT).map(AluOp) {
            let Some(info) = AluOp::builtin(op) else { break };
            for form in info.spirv.iter().filter(|f| f.dir != FormDir::Write) {
                let (numbers, forms) =
                    if form.ext { (glsl, &mut self.ext) } else { (core, &mut self.alu) };
                if let Some(&number) = numbers.get(form.name) {
                    forms.entry(number).or_default().push(AluForm { op, info, form });
                }
            }
        }
    }

    fn add_intrinsics(&mut self, core: &FxHashMap<&str, u32>, glsl: &FxHashMap<&str, u32>) {
        for op in (0..Intrinsic::FIRST_DIALECT).map(Intrinsic) {
            let Some(info) = Intrinsic::builtin(op) else { break };
            for form in info.spirv.iter().filter(|f| f.dir != FormDir::Write) {
                let args = (!form.args.is_empty())
                    .then(|| form.args.split_whitespace().map(parse_arg).collect());
                let entry = IntrForm { op, info, form, args };
                if let Some(&number) = core.get(form.name) {
                    self.intrinsics.entry(number).or_default().push(entry);
                } else if let Some(&number) = glsl.get(form.name) {
                    self.ext_intrinsics.entry(number).or_default().push(entry);
                }
            }
        }
    }

    /// The instruction of this number.
    pub fn op(&self, number: u32) -> Option<(Op, &OpInfo)> {
        self.ops.get(number as usize)?.as_ref().map(|(op, info)| (*op, info))
    }

    /// Opcodes that a core instruction may be read as.
    pub fn alu(&self, op: Op) -> &[AluForm] {
        self.alu.get(&(op as u32)).map_or(&[], Vec::as_slice)
    }

    /// Opcodes that a GLSL.std.450 instruction may be read as.
    pub fn ext(&self, number: u32) -> &[AluForm] {
        self.ext.get(&number).map_or(&[], Vec::as_slice)
    }

    /// Name of a GLSL.std.450 instruction.
    pub fn ext_name(&self, number: u32) -> Option<&'static str> {
        self.ext_names.get(&number).copied()
    }

    /// Intrinsics that a core instruction may be read as.
    pub fn intrinsics(&self, op: Op) -> &[IntrForm] {
        self.intrinsics.get(&(op as u32)).map_or(&[], Vec::as_slice)
    }

    /// Intrinsics that a GLSL.std.450 instruction may be read as.
    pub fn ext_intrinsics(&self, number: u32) -> &[IntrForm] {
        self.ext_intrinsics.get(&number).map_or(&[], Vec::as_slice)
    }
}

fn parse_arg(word: &'static str) -> Arg {
    let letter = |c: u8| c.is_ascii_lowercase().then(|| c - b'a');
    if let Some(name) = word.strip_prefix('@') {
        return Index::from_name(name).map_or(Arg::Const(u32::MAX), Arg::Index);
    }
    match *word.as_bytes() {
        [c] if letter(c).is_some() => return Arg::Src(c - b'a'),
        [c, b'.', comp] if letter(c).is_some() => {
            let comp = b"xyzw".iter().position(|&x| x == comp).unwrap_or(0);
            return Arg::Comp(c - b'a', comp as u8);
        }
        _ => {}
    }
    if let Ok(number) = word.parse() {
        return Arg::Const(number);
    }
    if let Ok(scope) = word.parse::<spirv::Scope>() {
        return Arg::Scope(scope as u32);
    }
    word.parse::<spirv::GroupOperation>()
        .map_or(Arg::Literal(u32::MAX), |group| Arg::Literal(group as u32))
}

/// The number of a name of an index that enumerates, or the bit of one that is a set.
pub(super) fn index_value(index: Index, name: &str) -> u32 {
    let find = |names: &[&str]| names.iter().position(|n| *n == name).map(|i| i as u32);
    match index.builtin().map(|info| info.kind) {
        Some(IndexKind::Enum(names)) => find(names).unwrap_or(0),
        Some(IndexKind::Flags(names)) => find(names).map_or(0, |i| 1 << i),
        _ => 0,
    }
}

/// The value of an index that holds a SPIR-V scope.
pub(super) fn scope_value(index: Index, scope: u32) -> Option<u32> {
    let name = match spirv::Scope::from_u32(scope)? {
        spirv::Scope::CrossDevice => "cross_device",
        spirv::Scope::Device => "device",
        spirv::Scope::Workgroup => "workgroup",
        spirv::Scope::Subgroup => "subgroup",
        spirv::Scope::Invocation => "invocation",
        spirv::Scope::QueueFamily => "queue_family",
        spirv::Scope::ShaderCallKHR => "shader_call",
    };
    Some(index_value(index, name))
}

/// A memory semantics operand as the flags of `memory_semantics` and of `memory_modes`.
pub(super) fn semantics_value(index: Index, semantics: u32) -> (u32, u32) {
    type S = spirv::MemorySemantics;
    let bits = S::from_bits_truncate(semantics);
    let flags: [(S, &[&str]); 7] = [
        (S::ACQUIRE, &["acquire"]),
        (S::RELEASE, &["release"]),
        (S::ACQUIRE_RELEASE, &["acquire", "release"]),
        (S::SEQUENTIALLY_CONSISTENT, &["sequentially_consistent"]),
        (S::MAKE_AVAILABLE, &["make_available"]),
        (S::MAKE_VISIBLE, &["make_visible"]),
        (S::VOLATILE, &["volatile"]),
    ];
    let flags = flags.iter().filter(|(bit, _)| bits.contains(*bit));
    let flags = flags.flat_map(|(_, names)| *names).fold(0, |f, name| f | index_value(index, name));
    let modes = [
        (S::UNIFORM_MEMORY, Modes::UBO | Modes::SSBO | Modes::GLOBAL),
        (S::WORKGROUP_MEMORY, Modes::SHARED),
        (S::CROSS_WORKGROUP_MEMORY, Modes::GLOBAL),
        (S::ATOMIC_COUNTER_MEMORY, Modes::ATOMIC_COUNTER),
        (S::IMAGE_MEMORY, Modes::IMAGE),
        (S::OUTPUT_MEMORY, Modes::OUT),
    ];
    let modes = modes.iter().filter(|(bit, _)| bits.contains(*bit));
    (flags, modes.fold(Modes::empty(), |m, (_, mode)| m | *mode).bits())
}
