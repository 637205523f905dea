//! Declarations of the module and signatures of functions.

use super::{Checks, FunctionCheck, Place, Rule};
use crate::entity::{Func, SpecConst, Type, Var};
use crate::instr::InstrView;
use crate::module::{Constant, ModeArg, SpecArg, SpecValue, Variable};
use crate::types::{ArrayLen, Modes, TypeData};
use rustc_hash::FxHashSet;

impl Checks<'_> {
    pub(super) fn declarations(&mut self) {
        self.types();
        let module = self.module;
        for (i, spec) in module.spec_consts.iter().enumerate() {
            self.exists(spec.ty, "a specialisation constant");
            let mut parts: Vec<&Constant> = Vec::new();
            match &spec.value {
                SpecValue::Scalar { .. } => {}
                SpecValue::Composite(constants) => parts.extend(constants),
                SpecValue::Op { args, .. } => {
                    for arg in args {
                        if let SpecArg::Constant(ty, constant) = arg {
                            self.exists(*ty, "a specialisation constant");
                            parts.push(constant);
                        }
                    }
                }
            }
            for part in parts {
                self.constant(part, Some(SpecConst::from_index(i)));
            }
        }
        for var in &module.vars {
            if var.mode.bits().count_ones() != 1 || var.mode == Modes::FUNCTION {
                let message = format!("the variable `{}` has the mode {:?}", var.name, var.mode);
                self.declaration_error(Rule::VariableMode, message);
            }
            self.variable(var);
        }
        self.entry_points();
        self.recursion();
    }

    fn exists(&mut self, ty: Type, what: &str) -> bool {
        let exists = ty.index() < self.module.types.len();
        if !exists {
            self.declaration_error(Rule::Exists, format!("the type of {what} is in no table"));
        }
        exists
    }

    fn variable(&mut self, var: &Variable) {
        self.exists(var.ty, "a variable");
        if let Some(init) = &var.init {
            self.constant(init, None);
        }
    }

    /// Checks what a constant names. In a specialisation constant it names earlier ones.
    fn constant(&mut self, constant: &Constant, within: Option<SpecConst>) {
        let mut work = vec![constant];
        while let Some(constant) = work.pop() {
            match constant {
                Constant::Bits(_) | Constant::Null | Constant::Undef => {}
                Constant::Composite(parts) => work.extend(parts),
                Constant::Spec(spec) => match within {
                    Some(within) if *spec >= within => {
                        let message = format!("{within:?} is made of {spec:?}");
                        self.declaration_error(Rule::SpecOrder, message);
                    }
                    _ => self.spec(*spec),
                },
                Constant::Address(var) => {
                    if var.is_local() || var.slot() >= self.module.vars.len() {
                        let message = "a constant takes the address of no variable";
                        self.declaration_error(Rule::Exists, message);
                    }
                }
            }
        }
    }

    fn spec(&mut self, spec: SpecConst) {
        if spec.index() >= self.module.spec_consts.len() {
            self.declaration_error(Rule::Exists, format!("there is no {spec:?}"));
        }
    }

    fn types(&mut self) {
        let module = self.module;
        for (ty, data) in module.types.iter() {
            let mut parts = Vec::new();
            match data {
                TypeData::Void
                | TypeData::Bool
                | TypeData::Int { .. }
                | TypeData::Float { .. }
                | TypeData::Sampler
                | TypeData::AccelerationStructure
                | TypeData::RayQuery => {}
                TypeData::Vector { elem, .. } => parts.push(*elem),
                TypeData::Matrix { column, .. } => parts.push(*column),
                TypeData::Array { elem, len, .. } => {
                    parts.push(*elem);
                    if let ArrayLen::Spec(spec) = len {
                        self.spec(*spec);
                    }
                }
                TypeData::Struct(s) => parts.extend(s.members.iter().map(|m| m.ty)),
                TypeData::Image(image) => parts.push(image.sampled_type),
                TypeData::SampledImage { image } => parts.push(*image),
                TypeData::Pointer { pointee, .. } => parts.extend(pointee),
            }
            if !parts.into_iter().all(|part| self.exists(part, &format!("a part of {ty:?}"))) {
                continue;
            }
            let is = |part: Type, test: fn(&TypeData) -> bool| test(&module.types[part]);
            let scalar = |d: &TypeData| {
                matches!(d, TypeData::Bool | TypeData::Int { .. } | TypeData::Float { .. })
            };
            let ok = match data {
                TypeData::Vector { elem, len } => is(*elem, scalar) && *len > 1,
                TypeData::Matrix { column, cols } => {
                    is(*column, |d| matches!(d, TypeData::Vector { .. })) && *cols > 1
                }
                TypeData::Array { elem, .. } => !is(*elem, |d| matches!(d, TypeData::Void)),
                TypeData::Image(image) => is(image.sampled_type, |d| {
                    matches!(d, TypeData::Int { .. } | TypeData::Float { .. } | TypeData::Void)
                }),
                TypeData::SampledImage { image } => is(*image, |d| matches!(d, TypeData::Image(_))),
                TypeData::Int { bits, .. } => matches!(bits, 8 | 16 | 32 | 64),
                TypeData::Float { bits } => matches!(bits, 16 | 32 | 64),
                TypeData::Struct(s) => {
                    s.members.iter().all(|m| !is(m.ty, |d| matches!(d, TypeData::Void)))
                }
                TypeData::Void
                | TypeData::Bool
                | TypeData::Sampler
                | TypeData::AccelerationStructure
                | TypeData::RayQuery
                | TypeData::Pointer { .. } => true,
            };
            if !ok {
                let message = format!("{ty:?} is made of what can't make it: {data:?}");
                self.declaration_error(Rule::TypeParts, message);
            }
        }
    }

    fn entry_points(&mut self) {
        let module = self.module;
        let mut names = FxHashSet::default();
        for entry in &module.entry_points {
            let name = &entry.name;
            if !names.insert((entry.stage, name)) {
                let message = format!("there are two entry points `{name}`");
                self.declaration_error(Rule::EntryPoint, message);
            }
            match module.functions.get(entry.function.index()) {
                None => self.declaration_error(Rule::Exists, format!("`{name}` enters nothing")),
                Some(f) if !f.has_body() || !f.params.is_empty() || f.ret.is_some() => {
                    let message =
                        format!("`{name}` enters a function with a signature or without a body");
                    self.declaration_error(Rule::EntryPoint, message);
                }
                Some(_) => {}
            }
            let exists = |v: &Var| !v.is_local() && v.slot() < module.vars.len();
            if !entry.interface.iter().all(exists) {
                let message = format!("the interface of `{name}` names no variable");
                self.declaration_error(Rule::Exists, message);
            }
            for arg in entry.modes.iter().flat_map(|m| &m.args) {
                if let ModeArg::Spec(spec) = arg {
                    self.spec(*spec);
                }
            }
        }
    }

    /// Looks for a cycle of calls, depth first.
    fn recursion(&mut self) {
        let module = self.module;
        let callees: Vec<Vec<Func>> = module.functions.iter().map(callees).collect();
        // 0 = not seen, 1 = on the path, 2 = done.
        let mut state = vec![0u8; callees.len()];
        for root in 0..callees.len() {
            let mut path = vec![(root, 0)];
            while let Some((at, next)) = path.last_mut() {
                let at = *at;
                if *next == 0 {
                    if state[at] == 2 {
                        path.pop();
                        continue;
                    }
                    state[at] = 1;
                }
                let Some(callee) = callees[at].get(*next) else {
                    state[at] = 2;
                    path.pop();
                    continue;
                };
                *next += 1;
                match state.get(callee.index()) {
                    Some(0) => path.push((callee.index(), 0)),
                    Some(1) => {
                        let message = format!("`{}` calls itself", module[*callee].name);
                        self.declaration_error(Rule::Recursion, message);
                    }
                    _ => {}
                }
            }
        }
    }
}

fn callees(f: &crate::func::Function) -> Vec<Func> {
    let call = |i| match f.view(i) {
        InstrView::Call(func) => Some(func),
        _ => None,
    };
    (0..f.instr_capacity())
        .map(crate::entity::Instr::from_index)
        .filter(|&i| f.block_of(i).is_some())
        .filter_map(call)
        .collect()
}

impl FunctionCheck<'_> {
    /// Parameters, result and local variables.
    pub(super) fn signature(&mut self) {
        let f = self.f;
        for param in f.params.iter().chain(&f.ret) {
            if param.ty.index() >= self.module.types.len() {
                let message = "the type of a parameter or result is in no table";
                self.error(Rule::Exists, Place::Function, message);
            }
            if crate::instr::Shape::new(param.comps, param.bits).is_none() {
                let message = format!("no value is {}x{}", param.bits, param.comps);
                self.error(Rule::Components, Place::Function, message);
            }
        }
        for local in &f.locals {
            if local.ty.index() >= self.module.types.len() {
                self.error(Rule::Exists, Place::Function, "the type of a local is in no table");
            }
            if local.mode != Modes::FUNCTION {
                let message = format!("the local `{}` has the mode {:?}", local.name, local.mode);
                self.error(Rule::VariableMode, Place::Function, message);
            }
        }
    }
}
