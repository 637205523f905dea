//! Writing modules as SPIR-V.
//!
//! Functions are written first, into a buffer of their own; types, constants and variables are collected on the way, so
//! that only what is used is written. [`infer`] decides what each value is in SPIR-V's eyes, within what is [`fixed`],
//! [`flow`] writes the control-flow tree ([`switch`] finds what of it is a switch), [`code`] the instructions one by
//! one: [`alu`] arithmetic, [`memory`] and [`pointers`] pointers and what goes through them, [`copy`] whole objects,
//! [`tex`] textures, each with operands by [`operand`]. [`raise`] finds what is one instruction in SPIR-V and many in
//! the IR.

mod alu;
mod code;
mod copy;
mod decorate;
mod fixed;
mod flow;
mod image;
mod infer;
mod labels;
mod memory;
mod narrow;
mod operand;
mod out;
mod pointers;
mod raise;
mod signs;
mod stages;
mod switch;
mod tex;
mod types;
mod wholes;

use crate::error::Error;
use crate::fast_math::{default_flags, flags_of};
use deburr_ir_core::{
    Decoration, EntryPoint, Flags, Func, Function, ModeArg, Modes, Module, SpecConst, Stage, Type,
    TypeData, Var, Variable,
};
use out::{Names, Words};
use rustc_hash::{FxHashMap, FxHashSet};
use spirv::Op;
use stages::{Stages, stages_of_functions};
use std::str::FromStr;
use types::{Class, ConstKey, TypeKey, ValueType};

/// How to write a module: there is nothing to choose yet. Names are written whenever the module has them.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct WriteOptions {}

/// Writes a module in the logical form as a SPIR-V binary.
///
/// # Errors
/// [`ErrorKind::Unsupported`](crate::ErrorKind::Unsupported) where the module holds what SPIR-V, or the
/// capabilities that it declares, can't say.
pub fn write(module: &Module, _options: &WriteOptions) -> Result<Vec<u32>, Error> {
    Writer::new(module).run()
}

/// The state of one binary under way.
struct Writer<'m> {
    module: &'m Module,
    instructions: Names,
    next_id: u32,
    names: Words,
    decorations: Words,
    globals: Words,
    functions: Words,
    types: FxHashMap<TypeKey, u32>,
    ir_types: FxHashMap<Type, u32>,
    open_types: FxHashSet<Type>,
    forward: FxHashMap<Type, u32>,
    constants: FxHashMap<ConstKey, u32>,
    spec_ids: FxHashMap<SpecConst, u32>,
    vars: FxHashMap<Var, u32>,
    /// Module variables whose id was given out and that are still to be written.
    wanted_vars: Vec<Var>,
    funcs: Vec<u32>,
    glsl: Option<u32>,
    /// The stages that each function is reached from.
    stages: Vec<Stages>,
    /// With FloatControls2: the flags of arithmetic without a decoration, by size 16, 32, 64; `None` where entry
    /// points differ.
    fast_math: Option<[Option<Flags>; 3]>,
}

impl<'m> Writer<'m> {
    fn new(module: &'m Module) -> Self {
        let mut writer = Writer {
            module,
            instructions: Names::new(),
            next_id: 1,
            names: Words::default(),
            decorations: Words::default(),
            globals: Words::default(),
            functions: Words::default(),
            types: FxHashMap::default(),
            ir_types: FxHashMap::default(),
            open_types: FxHashSet::default(),
            forward: FxHashMap::default(),
            constants: FxHashMap::default(),
            spec_ids: FxHashMap::default(),
            vars: FxHashMap::default(),
            wanted_vars: Vec::new(),
            funcs: Vec::new(),
            glsl: None,
            stages: stages_of_functions(module),
            fast_math: fast_math_defaults(module),
        };
        writer.funcs = module.functions.iter().map(|_| writer.id()).collect();
        writer
    }

    fn id(&mut self) -> u32 {
        self.next_id += 1;
        self.next_id - 1
    }

    fn name(&mut self, id: u32, name: &str) {
        if !name.is_empty() {
            self.names.op_str(Op::Name, &[id], name, &[]);
        }
    }

    fn has_capability(&self, name: &str) -> bool {
        self.module.spirv.has_capability(name)
    }

    /// The id of the GLSL.std.450 import.
    fn glsl_set(&mut self) -> u32 {
        match self.glsl {
            Some(id) => id,
            None => {
                let id = self.id();
                *self.glsl.insert(id)
            }
        }
    }

    fn run(mut self) -> Result<Vec<u32>, Error> {
        let module = self.module;
        let mut entries = Words::default();
        let mut modes = Words::default();
        let mut seen_modes = FxHashSet::default();
        // What the API can set, and what the interface names, is written even if no code uses it.
        for n in 0..module.spec_consts.len() {
            self.spec_const(SpecConst::from_index(n))?;
        }
        for (n, var) in module.vars.iter().enumerate() {
            if var.mode != Modes::PRIVATE && var.mode != Modes::SHARED {
                self.var_id(Var::global(n))?;
            }
        }
        for func in module.funcs() {
            self.function(func)?;
        }
        let used: FxHashSet<Var> = self.vars.keys().copied().collect();
        for entry in &module.entry_points {
            self.entry_point(entry, &used, &mut entries)?;
            self.modes(entry, &mut seen_modes, &mut modes)?;
        }
        self.module_variables()?;
        let header = self.preamble()?;
        let version =
            u32::from(module.spirv.version.0) << 16 | u32::from(module.spirv.version.1) << 8;
        let mut words = vec![spirv::MAGIC_NUMBER, version, 0, self.next_id, 0];
        for section in [
            &header,
            &entries,
            &modes,
            &self.names,
            &self.decorations,
            &self.globals,
            &self.functions,
        ] {
            words.extend_from_slice(&section.0);
        }
        Ok(words)
    }

    /// Capabilities, extensions, imports and the memory model.
    fn preamble(&mut self) -> Result<Words, Error> {
        let info = &self.module.spirv;
        let mut words = Words::default();
        for name in &info.capabilities {
            let capability = spirv::Capability::from_str(name)
                .map_err(|()| Error::unsupported(format!("capability `{name}`")))?;
            words.op(Op::Capability, &[capability as u32]);
        }
        for name in &info.extensions {
            words.op_str(Op::Extension, &[], name, &[]);
        }
        if let Some(id) = self.glsl {
            words.op_str(Op::ExtInstImport, &[id], "GLSL.std.450", &[]);
        }
        let addressing = spirv::AddressingModel::from_str(&info.addressing)
            .map_err(|()| Error::unsupported(format!("addressing model `{}`", info.addressing)))?;
        let memory = spirv::MemoryModel::from_str(&info.memory)
            .map_err(|()| Error::unsupported(format!("memory model `{}`", info.memory)))?;
        words.op(Op::MemoryModel, &[addressing as u32, memory as u32]);
        Ok(words)
    }

    fn entry_point(
        &mut self,
        entry: &EntryPoint,
        used: &FxHashSet<Var>,
        entries: &mut Words,
    ) -> Result<(), Error> {
        let id = self.funcs[entry.function.index()];
        let mut interface = Vec::new();
        for &var in &entry.interface {
            // Since 1.4 the interface lists every variable; a private or shared one may have gone.
            let mode = self.module.vars[var.slot()].mode;
            if used.contains(&var) || mode != Modes::PRIVATE && mode != Modes::SHARED {
                interface.push(self.var_id(var)?);
            }
        }
        let operands = [stage(entry.stage) as u32, id];
        entries.op_str(Op::EntryPoint, &operands, &entry.name, &interface);
        Ok(())
    }

    /// The execution modes of an entry point. Those of several that are one function are the function's.
    fn modes(
        &mut self,
        entry: &EntryPoint,
        seen: &mut FxHashSet<Vec<u32>>,
        modes: &mut Words,
    ) -> Result<(), Error> {
        let id = self.funcs[entry.function.index()];
        for mode in &entry.modes {
            let kind = spirv::ExecutionMode::from_str(&mode.name)
                .map_err(|()| Error::unsupported(format!("execution mode `{}`", mode.name)))?;
            let fast_math = kind == spirv::ExecutionMode::FPFastMathDefault;
            let by_id = fast_math
                || mode.name.ends_with("Id")
                || mode.args.iter().any(|a| matches!(a, ModeArg::Spec(_)));
            let mut operands = vec![id, kind as u32];
            for (n, arg) in mode.args.iter().enumerate() {
                operands.push(match arg {
                    ModeArg::Literal(bits) if fast_math && n == 0 => {
                        let bits = u8::try_from(*bits).unwrap_or(0);
                        self.value_type(ValueType { class: Class::Float, bits, comps: 1 })
                    }
                    ModeArg::Literal(literal) if by_id => self.u32_const(*literal),
                    ModeArg::Literal(literal) => *literal,
                    ModeArg::Spec(spec) => self.spec_const(*spec)?,
                });
            }
            if seen.insert(operands.clone()) {
                modes.op(if by_id { Op::ExecutionModeId } else { Op::ExecutionMode }, &operands);
            }
        }
        Ok(())
    }

    /// The module's variables that were asked for, and those that their initialisers ask for.
    fn module_variables(&mut self) -> Result<(), Error> {
        let mut done = 0;
        while done < self.wanted_vars.len() {
            let mut batch: Vec<Var> = self.wanted_vars[done..].to_vec();
            done = self.wanted_vars.len();
            batch.sort();
            for var in batch {
                let data = &self.module.vars[var.slot()];
                let id = self.vars[&var];
                let init = self.variable(data, id)?;
                let class = self.class_of(data.mode, data.ty);
                let pointee = self.ir_type(data.ty)?;
                let pointer = self.pointer_type(class, pointee);
                let mut operands = vec![pointer, id, class as u32];
                operands.extend(init);
                self.globals.op(Op::Variable, &operands);
            }
        }
        Ok(())
    }

    /// Name and decorations of a variable; gives the id of its initialiser.
    fn variable(&mut self, var: &Variable, id: u32) -> Result<Option<u32>, Error> {
        self.name(id, &var.name);
        if let Some((set, binding)) = var.binding {
            self.decorate(id, spirv::Decoration::DescriptorSet, &[set]);
            self.decorate(id, spirv::Decoration::Binding, &[binding]);
        }
        if let Some(location) = var.location {
            self.decorate(id, spirv::Decoration::Location, &[location]);
        }
        if let Some(builtin) = &var.builtin {
            let number = spirv::BuiltIn::from_str(builtin)
                .map_err(|()| Error::unsupported(format!("built-in `{builtin}`")))?;
            self.decorate(id, spirv::Decoration::BuiltIn, &[number as u32]);
        }
        let kept: Vec<Decoration> = var.decorations.clone();
        for decoration in &kept {
            self.decorate_kept(id, None, decoration)?;
        }
        match &var.init {
            Some(init) => self.initialiser(var.ty, init).map(Some),
            None => Ok(None),
        }
    }

    fn function(&mut self, func: Func) -> Result<(), Error> {
        let module = self.module;
        let f: &Function = &module[func];
        self.name(self.funcs[func.index()], &f.name);
        let ret = match &f.ret {
            Some(ret) => self.ir_type(ret.ty)?,
            None => self.void_type(),
        };
        let mut parts = vec![ret];
        for param in &f.params {
            parts.push(self.ir_type(param.ty)?);
        }
        let fn_type = self.function_type(parts.clone());
        let id = self.funcs[func.index()];
        self.functions.op(Op::Function, &[ret, id, f.control, fn_type]);
        let params: Vec<u32> = f.params.iter().map(|_| self.id()).collect();
        for (n, param) in f.params.iter().enumerate() {
            self.functions.op(Op::FunctionParameter, &[parts[n + 1], params[n]]);
            self.name(params[n], &param.name);
        }
        self.vars.retain(|var, _| !var.is_local());
        if f.has_body() {
            let code = flow::write_body(self, func, params)?;
            self.functions.0.extend(code.0);
        }
        self.functions.op(Op::FunctionEnd, &[]);
        Ok(())
    }

    /// Whether a type is a handle, which is loaded at each use.
    fn is_handle(&self, ty: Type) -> bool {
        matches!(
            self.module.types[ty],
            TypeData::Image(_)
                | TypeData::Sampler
                | TypeData::SampledImage { .. }
                | TypeData::AccelerationStructure
        )
    }
}

/// What arithmetic without a decoration allows, if decorations can say it.
fn fast_math_defaults(module: &Module) -> Option<[Option<Flags>; 3]> {
    module.spirv.capabilities.iter().find(|c| *c == "FloatControls2")?;
    Some([16, 32, 64].map(|bits| {
        let mut defaults = module.entry_points.iter().map(|entry| {
            let of = |name: &str| {
                let mode = entry.modes.iter().find(|mode| {
                    mode.name == name && mode.args.first() == Some(&ModeArg::Literal(bits))
                });
                mode.map(|mode| mode.args.get(1).copied())
            };
            match of("FPFastMathDefault") {
                Some(Some(ModeArg::Literal(mask))) => flags_of(mask),
                _ => default_flags(of("SignedZeroInfNanPreserve").is_some()),
            }
        });
        let first = defaults.next()?;
        defaults.all(|other| other == first).then_some(first)
    }))
}

fn stage(stage: Stage) -> spirv::ExecutionModel {
    match stage {
        Stage::Vertex => spirv::ExecutionModel::Vertex,
        Stage::TessControl => spirv::ExecutionModel::TessellationControl,
        Stage::TessEval => spirv::ExecutionModel::TessellationEvaluation,
        Stage::Geometry => spirv::ExecutionModel::Geometry,
        Stage::Fragment => spirv::ExecutionModel::Fragment,
        Stage::Compute => spirv::ExecutionModel::GLCompute,
        Stage::Task => spirv::ExecutionModel::TaskEXT,
        Stage::Mesh => spirv::ExecutionModel::MeshEXT,
        Stage::RayGen => spirv::ExecutionModel::RayGenerationKHR,
        Stage::Intersection => spirv::ExecutionModel::IntersectionKHR,
        Stage::AnyHit => spirv::ExecutionModel::AnyHitKHR,
        Stage::ClosestHit => spirv::ExecutionModel::ClosestHitKHR,
        Stage::Miss => spirv::ExecutionModel::MissKHR,
        Stage::Callable => spirv::ExecutionModel::CallableKHR,
    }
}
