//! Everything of a module outside functions: preamble, names, decorations, and where functions lie.

use super::ReadOptions;
use super::types::TypeMeta;
use super::words::{self, Inst};
use crate::error::Error;
use deburr_ir_core::{
    Constant, Decoration, EntryPoint, ExecutionMode, ModeArg, Module, SpecConst, Stage, Type,
    TypeData, Var,
};
use rspirv::spirv;
use rustc_hash::{FxHashMap, FxHashSet};
use spirv::Op;

/// Decorations that groups may multiply to, and scalars that shared constants may.
const MAX_DECORATIONS: usize = 1 << 20;

/// What an id stands for outside functions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Global {
    #[default]
    None,
    Type(Type),
    /// Index into [`Reader::fn_types`].
    FnType(u32),
    /// Index into [`Reader::consts`].
    Const(u32),
    Spec(SpecConst),
    Var(Var),
    /// Index into [`Reader::functions`].
    Func(u32),
    Ext(ExtSet),
    /// A string, a decoration group, a debug instruction: of no further use.
    Other,
}

/// An imported set of extended instructions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ExtSet {
    Glsl,
    /// Without effect on what the module computes.
    NonSemantic,
    Other,
}

/// A decoration as read.
#[derive(Clone, Debug)]
pub(super) struct Deco {
    pub kind: spirv::Decoration,
    pub args: Vec<u32>,
}

impl Deco {
    /// As the IR keeps it.
    pub fn keep(&self) -> Decoration {
        Decoration { name: format!("{:?}", self.kind), args: self.args.clone() }
    }
}

/// A function type.
#[derive(Clone, Debug)]
pub(super) struct FnType {
    pub ret: Type,
    pub params: Vec<Type>,
}

/// Where a function lies in the binary.
#[derive(Clone, Debug)]
pub(super) struct RawFunction {
    pub id: u32,
    /// Word behind its `OpFunctionEnd`.
    pub end: usize,
    pub control: u32,
    /// Index into [`Reader::fn_types`].
    pub ty: u32,
    pub params: Vec<u32>,
    /// Word of its first label; `end` in a declaration.
    pub body: usize,
    /// Positions in [`Reader::functions`] of the functions it calls, set when all are known.
    pub callees: Vec<u32>,
}

#[derive(Debug)]
struct RawEntry {
    stage: Stage,
    function: u32,
    name: String,
    interface: Vec<u32>,
    at: usize,
}

/// An execution mode of an entry point, by the id of its function.
#[derive(Clone, Debug)]
pub(super) struct RawMode {
    pub function: u32,
    pub mode: spirv::ExecutionMode,
    pub args: Vec<u32>,
    /// Whether the operands are ids.
    pub by_id: bool,
}

/// The size of all workgroups: it takes precedence over the execution modes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum WorkgroupSize {
    Plain([u32; 3]),
    /// The IR keeps the decoration of the specialisation constant.
    Spec(SpecConst),
}

/// A constant with its type.
#[derive(Clone, Debug)]
pub(super) struct Const {
    pub ty: Type,
    pub value: Constant,
}

/// The state of reading a module.
#[derive(Debug)]
pub(super) struct Reader<'w> {
    pub words: &'w [u32],
    pub bound: u32,
    pub options: &'w ReadOptions,
    pub m: Module,
    pub ids: Vec<Global>,
    pub names: FxHashMap<u32, String>,
    pub member_names: FxHashMap<(u32, u32), String>,
    pub decorations: FxHashMap<u32, Vec<Deco>>,
    pub member_decorations: FxHashMap<u32, Vec<(u32, Deco)>>,
    decoration_count: usize,
    pub consts: Vec<Const>,
    /// Scalars in all constants.
    pub const_scalars: u64,
    /// Pointer types of the module's variables, in order.
    pub var_types: Vec<Type>,
    pub fn_types: Vec<FnType>,
    pub type_meta: Vec<TypeMeta>,
    pub functions: Vec<RawFunction>,
    pub modes: Vec<RawMode>,
    /// What a constant says that is decorated as the built-in `WorkgroupSize`.
    pub workgroup_size: Option<WorkgroupSize>,
    entries: Vec<RawEntry>,
    /// Those of one stage have different names.
    entry_names: FxHashSet<(Stage, String)>,
}

impl<'w> Reader<'w> {
    pub fn new(words: &'w [u32], header: words::Header, options: &'w ReadOptions) -> Self {
        let mut m = Module::new();
        m.spirv.version = header.version;
        m.spirv.capabilities.clear();
        Reader {
            words,
            bound: header.bound,
            options,
            m,
            ids: Vec::new(),
            names: FxHashMap::default(),
            member_names: FxHashMap::default(),
            decorations: FxHashMap::default(),
            member_decorations: FxHashMap::default(),
            decoration_count: 0,
            consts: Vec::new(),
            const_scalars: 0,
            var_types: Vec::new(),
            fn_types: Vec::new(),
            type_meta: Vec::new(),
            functions: Vec::new(),
            modes: Vec::new(),
            workgroup_size: None,
            entries: Vec::new(),
            entry_names: FxHashSet::default(),
        }
    }

    /// Reads everything outside function bodies.
    pub fn read_globals(&mut self) -> Result<(), Error> {
        let mut at = words::HEADER;
        while let Some((inst, after)) = words::next(self.words, at)? {
            at = match inst.op {
                Op::Function => self.find_function(&inst, after).map_err(|e| inst.error(e))?,
                _ => {
                    self.global(&inst).map_err(|e| inst.error(e))?;
                    after
                }
            };
        }
        Ok(())
    }

    /// What an id stands for.
    pub fn get(&self, id: u32) -> Global {
        self.ids.get(id as usize).copied().unwrap_or_default()
    }

    /// Gives an id its meaning.
    pub fn define(&mut self, id: u32, global: Global) -> Result<(), Error> {
        if id == 0 || id >= self.bound {
            return Err(Error::invalid(format!("%{id} is not below the id bound")));
        }
        let slot = id as usize;
        if self.ids.len() <= slot {
            self.ids.resize(slot + 1, Global::None);
        }
        if self.ids[slot] != Global::None {
            return Err(Error::invalid(format!("%{id} is defined twice")));
        }
        self.ids[slot] = global;
        Ok(())
    }

    /// The type of this id.
    pub fn type_of(&self, id: u32) -> Result<Type, Error> {
        match self.get(id) {
            Global::Type(ty) => Ok(ty),
            _ => Err(Error::invalid(format!("%{id} is not a type"))),
        }
    }

    /// The name of an imported set of instructions.
    pub fn set_name(&self, id: u32) -> Option<String> {
        let mut at = words::HEADER;
        while let Ok(Some((inst, next))) = words::next(self.words, at) {
            if inst.op == Op::ExtInstImport && inst.id == id {
                return Some(inst.string(0).ok()?.0);
            }
            at = next;
        }
        None
    }

    /// The decorations of an id.
    pub fn decos(&self, id: u32) -> &[Deco] {
        self.decorations.get(&id).map_or(&[], Vec::as_slice)
    }

    /// The first operand of a decoration, if the id carries it.
    pub fn deco_arg(&self, id: u32, kind: spirv::Decoration) -> Option<u32> {
        self.decos(id).iter().find(|d| d.kind == kind).and_then(|d| d.args.first().copied())
    }

    /// Whether the id carries a decoration.
    pub fn has_deco(&self, id: u32, kind: spirv::Decoration) -> bool {
        self.decos(id).iter().any(|d| d.kind == kind)
    }

    /// The debug name of an id; may be empty.
    pub fn name(&self, id: u32) -> String {
        self.names.get(&id).cloned().unwrap_or_default()
    }

    fn global(&mut self, inst: &Inst<'_>) -> Result<(), Error> {
        match inst.op {
            Op::Line | Op::NoLine | Op::Nop => Ok(()),
            Op::ExtInst => match self.get(inst.arg(0)?) {
                Global::Ext(ExtSet::NonSemantic) => self.define(inst.id, Global::Other),
                _ => Err(Error::invalid("an instruction of this set stands in a function")),
            },
            _ if inst.info.name.starts_with("Type") => self.read_type(inst),
            _ if inst.info.name.contains("Constant") => self.read_constant(inst),
            _ if inst.info.name.contains("Decora") => self.decoration(inst),
            Op::Undef => self.read_constant(inst),
            Op::Variable => self.read_global_variable(inst),
            _ => self.preamble(inst),
        }
    }

    fn preamble(&mut self, inst: &Inst<'_>) -> Result<(), Error> {
        match inst.op {
            Op::Capability => {
                let Some(cap) = spirv::Capability::from_u32(inst.arg(0)?) else {
                    return Err(Error::unsupported(format!("capability {}", inst.arg(0)?)));
                };
                self.m.spirv.capabilities.push(format!("{cap:?}"));
            }
            Op::Extension => self.m.spirv.extensions.push(inst.string(0)?.0),
            Op::ExtInstImport => {
                let set = match inst.string(0)?.0.as_str() {
                    "GLSL.std.450" => ExtSet::Glsl,
                    name if name.starts_with("NonSemantic.") => ExtSet::NonSemantic,
                    "OpenCL.DebugInfo.100" | "DebugInfo" => ExtSet::NonSemantic,
                    _ => ExtSet::Other,
                };
                self.define(inst.id, Global::Ext(set))?;
            }
            Op::MemoryModel => {
                let unknown = |what: &str, n| Error::unsupported(format!("{what} model {n}"));
                let (addressing, memory) = (inst.arg(0)?, inst.arg(1)?);
                let model = spirv::AddressingModel::from_u32(addressing)
                    .ok_or_else(|| unknown("addressing", addressing))?;
                self.m.spirv.addressing = format!("{model:?}");
                let model = spirv::MemoryModel::from_u32(memory)
                    .ok_or_else(|| unknown("memory", memory))?;
                self.m.spirv.memory = format!("{model:?}");
            }
            Op::EntryPoint => self.entry_point(inst)?,
            Op::ExecutionMode | Op::ExecutionModeId => {
                let Some(mode) = spirv::ExecutionMode::from_u32(inst.arg(1)?) else {
                    return Err(Error::unsupported(format!("execution mode {}", inst.arg(1)?)));
                };
                let by_id = inst.op == Op::ExecutionModeId;
                let args = inst.rest(2).to_vec();
                self.modes.push(RawMode { function: inst.arg(0)?, mode, args, by_id });
            }
            Op::Name => {
                self.names.insert(inst.arg(0)?, inst.string(1)?.0);
            }
            Op::MemberName => {
                self.member_names.insert((inst.arg(0)?, inst.arg(1)?), inst.string(2)?.0);
            }
            Op::String => self.define(inst.id, Global::Other)?,
            Op::Source | Op::SourceContinued | Op::SourceExtension | Op::ModuleProcessed => {}
            _ => {
                let name = inst.info.name;
                return Err(Error::unsupported(format!("Op{name} outside functions")));
            }
        }
        Ok(())
    }

    fn entry_point(&mut self, inst: &Inst<'_>) -> Result<(), Error> {
        use spirv::ExecutionModel as M;
        let model = M::from_u32(inst.arg(0)?);
        let stage = match model {
            Some(M::Vertex) => Stage::Vertex,
            Some(M::TessellationControl) => Stage::TessControl,
            Some(M::TessellationEvaluation) => Stage::TessEval,
            Some(M::Geometry) => Stage::Geometry,
            Some(M::Fragment) => Stage::Fragment,
            Some(M::GLCompute) => Stage::Compute,
            Some(M::TaskEXT) => Stage::Task,
            Some(M::MeshEXT) => Stage::Mesh,
            _ => {
                let name = model.map_or("unknown".into(), |m| format!("{m:?}"));
                return Err(Error::unsupported(format!("execution model {name}")));
            }
        };
        let (name, next) = inst.string(2)?;
        if !self.entry_names.insert((stage, name.clone())) {
            return Err(Error::invalid(format!("there are two entry points `{name}`")));
        }
        let interface = inst.rest(next).to_vec();
        self.entries.push(RawEntry { stage, function: inst.arg(1)?, name, interface, at: inst.at });
        Ok(())
    }

    fn decoration(&mut self, inst: &Inst<'_>) -> Result<(), Error> {
        let member = matches!(inst.op, Op::MemberDecorate | Op::MemberDecorateString);
        match inst.op {
            Op::DecorationGroup => return self.define(inst.id, Global::Other),
            Op::GroupDecorate => {
                let group = self.decos(inst.arg(0)?).to_vec();
                for &target in inst.rest(1) {
                    self.count_decorations(group.len())?;
                    self.decorations.entry(target).or_default().extend_from_slice(&group);
                }
                return Ok(());
            }
            Op::GroupMemberDecorate => {
                let group = self.decos(inst.arg(0)?).to_vec();
                for pair in inst.rest(1).chunks_exact(2) {
                    self.count_decorations(group.len())?;
                    let list = self.member_decorations.entry(pair[0]).or_default();
                    list.extend(group.iter().map(|d| (pair[1], d.clone())));
                }
                return Ok(());
            }
            _ => {}
        }
        let first = if member { 2 } else { 1 };
        let number = inst.arg(first)?;
        let Some(kind) = spirv::Decoration::from_u32(number) else {
            return Err(Error::unsupported(format!("decoration {number}")));
        };
        self.count_decorations(1)?;
        let deco = Deco { kind, args: inst.rest(first + 1).to_vec() };
        match (inst.op, member) {
            _ if kind == spirv::Decoration::LinkageAttributes => {
                return Err(Error::unsupported("what other modules export or import"));
            }
            // Hints whose operands are ids, of no meaning for what is computed.
            (Op::DecorateId, _) => {}
            (_, true) => {
                let list = self.member_decorations.entry(inst.arg(0)?).or_default();
                list.push((inst.arg(1)?, deco));
            }
            (_, false) => self.decorations.entry(inst.arg(0)?).or_default().push(deco),
        }
        Ok(())
    }

    fn count_decorations(&mut self, n: usize) -> Result<(), Error> {
        self.decoration_count += n.max(1);
        match self.decoration_count > MAX_DECORATIONS {
            true => Err(Error::limit("too many decorations")),
            false => Ok(()),
        }
    }

    /// Notes where a function lies; returns the word behind it.
    fn find_function(&mut self, inst: &Inst<'_>, after: usize) -> Result<usize, Error> {
        let Global::FnType(ty) = self.get(inst.arg(1)?) else {
            return Err(Error::invalid(format!("%{} is not a function type", inst.arg(1)?)));
        };
        let index = self.functions.len() as u32;
        self.define(inst.id, Global::Func(index))?;
        let mut raw = RawFunction {
            id: inst.id,
            end: 0,
            control: inst.arg(0)?,
            ty,
            params: Vec::new(),
            body: 0,
            callees: Vec::new(),
        };
        let mut at = after;
        while let Some((inner, after)) = words::next(self.words, at)? {
            match inner.op {
                Op::FunctionEnd => {
                    raw.end = after;
                    if raw.body == 0 {
                        raw.body = after;
                    }
                    let expected = self.fn_types[ty as usize].params.len();
                    if raw.params.len() != expected {
                        return Err(Error::invalid(format!(
                            "{} parameters where the type has {expected}",
                            raw.params.len()
                        )));
                    }
                    self.functions.push(raw);
                    return Ok(after);
                }
                Op::FunctionParameter if raw.body == 0 => raw.params.push(inner.id),
                Op::Label if raw.body == 0 => raw.body = at,
                Op::FunctionCall => raw.callees.push(inner.arg(0)?),
                Op::Function => return Err(inner.error(Error::invalid("a function in a function"))),
                _ => {}
            }
            at = after;
        }
        Err(Error::invalid("the function does not end"))
    }

    /// Makes the callees positions, now that every function is known.
    pub fn resolve_callees(&mut self) -> Result<(), Error> {
        for i in 0..self.functions.len() {
            let mut callees = std::mem::take(&mut self.functions[i].callees);
            callees.sort_unstable();
            callees.dedup();
            for callee in &mut callees {
                match self.get(*callee) {
                    Global::Func(index) => *callee = index,
                    _ => return Err(Error::invalid(format!("%{callee} is not a function"))),
                }
            }
            self.functions[i].callees = callees;
        }
        Ok(())
    }

    /// Refuses functions that call themselves, by way of others or not.
    pub fn check_recursion(&self, entries: &[u32]) -> Result<(), Error> {
        let roots = entries.iter().copied().chain(0..self.functions.len() as u32);
        // Open while what the function calls is looked at.
        let mut state = vec![None; self.functions.len()];
        for (n, root) in roots.enumerate() {
            let mut path: Vec<(u32, usize)> = vec![(root, 0)];
            while let Some((function, next)) = path.last_mut() {
                let (function, call) = (*function, *next);
                *next += 1;
                if call == 0 && state[function as usize].replace(true) == Some(false) {
                    state[function as usize] = Some(false);
                    path.pop();
                    continue;
                }
                let Some(&callee) = self.functions[function as usize].callees.get(call) else {
                    state[function as usize] = Some(false);
                    path.pop();
                    continue;
                };
                match state[callee as usize] {
                    Some(false) => {}
                    Some(true) => return Err(self.recursion(function, callee, n < entries.len())),
                    None => path.push((callee, 0)),
                }
            }
        }
        Ok(())
    }

    /// The error of a call that closes a cycle. What no entry point reaches may recurse in SPIR-V.
    fn recursion(&self, caller: u32, callee: u32, reached: bool) -> Error {
        let (caller, callee) = (&self.functions[caller as usize], &self.functions[callee as usize]);
        let message = format!("function %{} calls itself", callee.id);
        let error = match reached {
            true => Error::invalid(message),
            false => Error::unsupported(message),
        };
        let mut at = caller.body;
        while let Ok(Some((inst, after))) = words::next(self.words, at) {
            if at >= caller.end {
                break;
            }
            if inst.op == Op::FunctionCall && inst.arg(0) == Ok(callee.id) {
                return inst.error(error);
            }
            at = after;
        }
        error
    }

    /// Adds the entry points; `function_of` names the function of an entry point by its position in the list.
    pub fn add_entry_points(&mut self, functions: &[deburr_ir_core::Func]) -> Result<(), Error> {
        for (raw, &function) in std::mem::take(&mut self.entries).into_iter().zip(functions) {
            let mut interface = Vec::new();
            for id in raw.interface {
                match self.get(id) {
                    Global::Var(var) => interface.push(var),
                    _ => {
                        let mut error =
                            Error::invalid(format!("interface %{id} is not a variable"));
                        error.word = Some(raw.at);
                        error.op = Some("OpEntryPoint".into());
                        return Err(error);
                    }
                }
            }
            let mut modes = Vec::new();
            for mode in self.modes.iter().filter(|m| m.function == raw.function) {
                let operand = |mode, arg| {
                    Error::unsupported(format!(
                        "execution mode {mode:?} with %{arg}, which is no plain constant"
                    ))
                };
                let args = mode.args.iter().map(|&arg| match (mode.by_id, self.get(arg)) {
                    (false, _) => Ok(ModeArg::Literal(arg)),
                    (true, Global::Spec(spec)) => Ok(ModeArg::Spec(spec)),
                    (true, Global::Const(c)) => match &self.consts[c as usize].value {
                        Constant::Bits(bits) => Ok(ModeArg::Literal(bits[0] as u32)),
                        Constant::Null => Ok(ModeArg::Literal(0)),
                        _ => Err(operand(mode.mode, arg)),
                    },
                    // A float type stands as its size.
                    (true, Global::Type(ty)) => match self.m.types[ty] {
                        TypeData::Float { bits } => Ok(ModeArg::Literal(bits.into())),
                        _ => Err(Error::invalid("an execution mode of a type that is no float")),
                    },
                    (true, _) => Err(operand(mode.mode, arg)),
                });
                let args = args.collect::<Result<_, _>>()?;
                modes.push(ExecutionMode { name: format!("{:?}", mode.mode), args });
            }
            let RawEntry { stage, name, .. } = raw;
            self.size_workgroups(stage, &mut modes);
            self.m.entry_points.push(EntryPoint { stage, name, function, modes, interface });
        }
        Ok(())
    }

    /// A plain constant that is the workgroup size becomes the execution mode in its place.
    fn size_workgroups(&self, stage: Stage, modes: &mut Vec<ExecutionMode>) {
        let Some(WorkgroupSize::Plain(size)) = self.workgroup_size else { return };
        if !matches!(stage, Stage::Compute | Stage::Task | Stage::Mesh) {
            return;
        }
        let is_size = |mode: &ExecutionMode| matches!(&mode.name[..], "LocalSize" | "LocalSizeId");
        let at = modes.iter().position(is_size).unwrap_or(0);
        modes.retain(|mode| !is_size(mode));
        let args = size.map(ModeArg::Literal).to_vec();
        modes.insert(at, ExecutionMode { name: "LocalSize".into(), args });
    }

    /// Positions in [`Reader::functions`] of the functions that entry points enter, in order.
    pub fn entry_functions(&self) -> Result<Vec<u32>, Error> {
        let functions = self.entries.iter().map(|entry| match self.get(entry.function) {
            Global::Func(index) => Ok(index),
            _ => {
                let mut error = Error::invalid(format!("%{} is not a function", entry.function));
                error.word = Some(entry.at);
                error.op = Some("OpEntryPoint".into());
                Err(error)
            }
        });
        functions.collect()
    }
}
