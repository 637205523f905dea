//! Module-level declarations.

use super::lex::Tok;
use super::{Parsed, Parser};
use crate::entity::{Func, SpecConst, Type, Var};
use crate::env::{Denorm, Rounding};
use crate::func::{Function, Param};
use crate::instr::Shape;
use crate::module::{
    EntryPoint, ExecutionMode, Form, ModeArg, Module, SpecArg, SpecConstant, SpecValue, Stage,
    Variable,
};
use crate::print::labels::{FUNC, LOCAL, SPEC, TYPE, VAR, is_numbered, is_type_keyword};
use crate::types::TypeData;
use rustc_hash::{FxHashMap, FxHashSet};

/// What the labels of a module stand for. All but those of types are found before anything is read, so that they
/// may be used ahead of their declarations.
#[derive(Default)]
pub(super) struct Labels<'s> {
    pub types: FxHashMap<&'s str, Type>,
    /// Forward pointers, and the token of the pointee's label.
    pub forward: Vec<(Type, usize)>,
    pub vars: FxHashMap<&'s str, Var>,
    pub locals: FxHashMap<&'s str, Var>,
    pub specs: FxHashMap<&'s str, SpecConst>,
    pub funcs: FxHashMap<&'s str, Func>,
    bodies: FxHashSet<Func>,
}

/// The name that a label gives: none where it is of the form that unnamed things have.
fn label_name(label: &str, prefix: char) -> String {
    if is_numbered(label, prefix) { String::new() } else { label.to_owned() }
}

impl<'s> Parser<'s> {
    pub(super) fn module(&mut self) -> Module {
        let mut module = Module::new();
        module.dialects = self.dialects;
        module.spirv.capabilities.clear();
        let declared_env = self.find_labels();
        module.functions =
            (0..self.labels.funcs.len()).map(|_| Function::declaration("")).collect();
        while *self.peek() != Tok::Eof {
            let start = self.at;
            if let Err(error) = self.item(&mut module) {
                if !self.report(error) {
                    break;
                }
                self.at = start;
                self.skip_item();
            }
        }
        self.resolve_forward(&mut module);
        if !declared_env {
            module.spirv = crate::module::SpirvInfo::default();
        }
        module
    }

    /// Finds the labels of variables, spec constants and functions. Whether the text declares its environment.
    fn find_labels(&mut self) -> bool {
        let mut depth = 0u32;
        // The declaration whose label is looked for, and the bracket depth within it.
        let mut seek: Option<(&str, u32)> = None;
        let mut declared_env = false;
        for i in 0..self.tokens.len() {
            let tok = &self.tokens[i].tok;
            match *tok {
                Tok::Punct('(' | '[' | '{') => {
                    depth += 1;
                    continue;
                }
                Tok::Punct(')' | ']' | '}') => {
                    depth = depth.saturating_sub(1);
                    continue;
                }
                Tok::Word(word @ ("decl_spec" | "decl_var" | "decl_function")) if depth == 0 => {
                    seek = Some((word, depth));
                    continue;
                }
                Tok::Word("decl_env" | "decl_capability") if depth == 0 => declared_env = true,
                _ => {}
            }
            let Some((kind, _)) = seek.filter(|(_, at)| *at == depth) else { continue };
            let first = match (kind, tok) {
                ("decl_spec", Tok::Sigil('$', label)) => {
                    let id = SpecConst::from_index(self.labels.specs.len());
                    Some(*self.labels.specs.entry(label).or_insert(id) == id)
                }
                ("decl_var", Tok::Sigil('&', label)) => {
                    let id = Var::global(self.labels.vars.len());
                    Some(*self.labels.vars.entry(label).or_insert(id) == id)
                }
                ("decl_function", Tok::Word(label)) => {
                    let id = Func::from_index(self.labels.funcs.len());
                    Some(*self.labels.funcs.entry(label).or_insert(id) == id)
                }
                _ => None,
            };
            if let Some(first) = first {
                seek = None;
                if !first {
                    let error = self.error_at(i, "this label was declared before");
                    self.report(error);
                }
            }
        }
        declared_env
    }

    /// Skips to the next line that begins a declaration.
    fn skip_item(&mut self) {
        let mut line = self.token().line;
        while *self.peek() != Tok::Eof {
            self.bump();
            let token = self.token();
            if token.line != line {
                line = token.line;
                if matches!(&token.tok, Tok::Word(w) if w.starts_with("decl_") || *w == "impl" || *w == "shader")
                {
                    return;
                }
            }
        }
    }

    fn item(&mut self, module: &mut Module) -> Parsed<()> {
        let start = self.at;
        match self.word("a declaration")? {
            "deburr_ir" => {
                let at = self.at;
                match self.number("the version of the format")? {
                    1 => Ok(()),
                    n => {
                        Err(self.error_at(at, format!("this reads version 1 of the text, not {n}")))
                    }
                }
            }
            "decl_form" => {
                let forms = [
                    ("logical", Form::Logical),
                    ("explicit", Form::Explicit),
                    ("backend", Form::Backend),
                ];
                module.form = self.named("logical, explicit or backend", &forms)?;
                Ok(())
            }
            "decl_dialect" => {
                let at = self.at;
                let name = self.name("the name of a dialect")?;
                match self.dialects.0.iter().any(|d| d.name == name) {
                    true => Ok(()),
                    false => Err(self.error_at(at, format!("there is no dialect `{name}` here"))),
                }
            }
            "decl_env" => {
                if !self.eat_word("spirv") {
                    return self.expected("`spirv`");
                }
                module.spirv.version = (self.small("a version")?, self.small("a version")?);
                module.spirv.addressing = self.name("an addressing model")?;
                module.spirv.memory = self.name("a memory model")?;
                Ok(())
            }
            "decl_capability" => {
                module.spirv.capabilities.push(self.name("a capability")?);
                Ok(())
            }
            "decl_extension" => {
                module.spirv.extensions.push(self.name("an extension")?);
                Ok(())
            }
            "shader" => self.entry_point(module),
            "decl_type" => self.decl_type(module),
            "decl_spec" => self.decl_spec(module),
            "decl_var" => {
                let var = self.decl_var(module, VAR)?;
                module.vars.push(var);
                Ok(())
            }
            "decl_function" => self.decl_function(module),
            "impl" => self.implementation(module),
            word => {
                let message = format!("no declaration begins with `{word}`");
                Err(self.error_at(start, message))
            }
        }
    }

    pub(super) fn spec_label(&mut self) -> Parsed<SpecConst> {
        let at = self.at;
        let label = self.sigil('$', "a specialisation constant")?;
        match self.labels.specs.get(label) {
            Some(&spec) => Ok(spec),
            None => {
                Err(self.error_at(at, format!("no specialisation constant is called `${label}`")))
            }
        }
    }

    pub(super) fn var_label(&mut self) -> Parsed<Var> {
        let at = self.at;
        let label = self.sigil('&', "a variable")?;
        match self.labels.locals.get(label).or_else(|| self.labels.vars.get(label)) {
            Some(&var) => Ok(var),
            None => Err(self.error_at(at, format!("no variable is called `&{label}`"))),
        }
    }

    pub(super) fn func_label(&mut self) -> Parsed<Func> {
        let at = self.at;
        let label = self.word("a function")?;
        match self.labels.funcs.get(label) {
            Some(&func) => Ok(func),
            None => Err(self.error_at(at, format!("no function is called `{label}`"))),
        }
    }

    fn entry_point(&mut self, module: &mut Module) -> Parsed<()> {
        let stage = self.named("a stage", Stage::NAMES)?;
        let name = self.string("the entry point's name, quoted")?;
        if !self.eat_word("entry") {
            return self.expected("`entry`");
        }
        self.expect('(')?;
        let function = self.func_label()?;
        self.expect(')')?;
        let mut entry =
            EntryPoint { stage, name, function, modes: Vec::new(), interface: Vec::new() };
        while self.same_line() && matches!(self.peek(), Tok::Word(_) | Tok::Str(_)) {
            if self.eat_word("interface") {
                self.expect('(')?;
                self.list(')', |p| {
                    entry.interface.push(p.var_label()?);
                    Ok(())
                })?;
                continue;
            }
            let mut mode =
                ExecutionMode { name: self.name("an execution mode")?, args: Vec::new() };
            if self.eat('(') {
                self.list(')', |p| {
                    mode.args.push(match p.peek() {
                        Tok::Sigil('$', _) => ModeArg::Spec(p.spec_label()?),
                        _ => ModeArg::Literal(p.small("an operand of a mode")?),
                    });
                    Ok(())
                })?;
            }
            entry.modes.push(mode);
        }
        module.entry_points.push(entry);
        Ok(())
    }

    fn decl_type(&mut self, module: &mut Module) -> Parsed<()> {
        let at = self.at;
        let label = self.word("the label of a type")?;
        if is_type_keyword(label) {
            return Err(self.error_at(at, format!("`{label}` is a type already")));
        }
        self.expect('=')?;
        let ty = match self.eat_word("struct") {
            true => {
                let data = self.struct_type(module, &label_name(label, TYPE))?;
                module.types.intern(TypeData::Struct(data))
            }
            false => self.ty(module)?,
        };
        match self.labels.types.insert(label, ty) {
            None => Ok(()),
            Some(_) => Err(self.error_at(at, "this label was declared before")),
        }
    }

    fn decl_spec(&mut self, module: &mut Module) -> Parsed<()> {
        let mut decorations = Vec::new();
        while self.at_qualifier('$') {
            decorations.push(self.decoration()?);
        }
        let ty = self.ty(module)?;
        let label = self.sigil('$', "the label of a specialisation constant")?;
        let name = self.optional_name(label, SPEC)?;
        let id = match self.eat('(') {
            true => {
                let id = self.small("a specialisation id")?;
                self.expect(')')?;
                Some(id)
            }
            false => None,
        };
        self.expect('=')?;
        let value = if self.eat_word("op") {
            let opcode = self.name("a SPIR-V instruction")?;
            let mut args = Vec::new();
            self.expect('(')?;
            self.list_or_nothing(')', |p| {
                args.push(match *p.peek() {
                    Tok::Sigil('#', word) => {
                        let n = super::number(word).and_then(|n| u32::try_from(n).ok());
                        let Some(n) = n else { return p.expected("a literal") };
                        p.bump();
                        SpecArg::Literal(n)
                    }
                    _ => SpecArg::Constant(p.ty(module)?, p.constant()?),
                });
                Ok(())
            })?;
            SpecValue::Op { opcode, args }
        } else if *self.peek() == Tok::Punct('{') {
            match self.constant()? {
                crate::module::Constant::Composite(parts) => SpecValue::Composite(parts),
                other => SpecValue::Composite(vec![other]),
            }
        } else {
            SpecValue::Scalar { id, default: self.number("the default value")? }
        };
        module.spec_consts.push(SpecConstant { name, ty, value, decorations });
        Ok(())
    }

    /// The name beside a label, or the one that the label gives.
    fn optional_name(&mut self, label: &str, prefix: char) -> Parsed<String> {
        match self.peek() {
            Tok::Str(_) => self.string("a name"),
            _ => Ok(label_name(label, prefix)),
        }
    }

    pub(super) fn decl_var(&mut self, module: &mut Module, prefix: char) -> Parsed<Variable> {
        let mode = self.modes()?;
        let mut builtin = None;
        let mut decorations = Vec::new();
        while self.at_qualifier('&') {
            if self.eat_word("builtin") {
                self.expect('(')?;
                builtin = Some(self.name("a built-in")?);
                self.expect(')')?;
            } else {
                decorations.push(self.decoration()?);
            }
        }
        let ty = self.ty(module)?;
        let at = self.at;
        let label = self.sigil('&', "the label of a variable")?;
        if prefix == LOCAL {
            let id = Var::local(self.labels.locals.len());
            if self.labels.locals.insert(label, id).is_some() {
                return Err(self.error_at(at, "this label was declared before"));
            }
        }
        let name = self.optional_name(label, prefix)?;
        let mut var = Variable { builtin, decorations, ..Variable::new(name, mode, ty) };
        while self.eat('(') {
            let n = self.small("a location or descriptor set")?;
            if self.eat(',') {
                var.binding = Some((n, self.small("a binding")?));
            } else {
                var.location = Some(n);
            }
            self.expect(')')?;
        }
        if self.eat('=') {
            var.init = Some(self.constant()?);
        }
        Ok(var)
    }

    fn decl_function(&mut self, module: &mut Module) -> Parsed<()> {
        let Tok::Word(label) = *self.peek() else {
            return self.expected("the label of a function");
        };
        let slot = self.func_label()?.index();
        let name = self.optional_name(label, FUNC)?;
        let mut params = Vec::new();
        self.expect('(')?;
        self.list_or_nothing(')', |p| {
            params.push(p.param(module)?);
            Ok(())
        })?;
        let mut ret = None;
        if *self.peek() == Tok::Arrow {
            self.bump();
            ret = Some(self.param(module)?);
        }
        let mut function = Function::declaration("");
        std::mem::swap(&mut function, &mut module.functions[slot]);
        function.name = name;
        function.params = params;
        function.ret = ret;
        function.dialects = self.dialects;
        let result = self.function_attributes(&mut function);
        module.functions[slot] = function;
        result
    }

    fn function_attributes(&mut self, function: &mut Function) -> Parsed<()> {
        while self.same_line() {
            if self.eat_word("control") {
                self.expect('(')?;
                function.control = self.small("control bits")?;
                self.expect(')')?;
            } else if self.eat_word("float") {
                self.expect('(')?;
                self.list(')', |p| {
                    let at = p.at;
                    let key = p.word("a float mode")?;
                    let (key, slot) = match key.strip_suffix("16").map(|k| (k, 0)).or_else(|| {
                        let wide = |bits, slot| key.strip_suffix(bits).map(|k| (k, slot));
                        wide("32", 1).or_else(|| wide("64", 2))
                    }) {
                        Some((key @ ("denorm" | "rounding"), slot)) => (key, slot),
                        _ => return Err(p.error_at(at, format!("no float mode is called `{key}`"))),
                    };
                    p.expect('=')?;
                    match key {
                        "denorm" => {
                            let denorm = p.named("keep, flush or any", Denorm::NAMES)?;
                            function.float_env.denorm[slot] = denorm;
                        }
                        _ => {
                            let rounding = p.named("rte, rtz or any", Rounding::NAMES)?;
                            function.float_env.rounding[slot] = rounding;
                        }
                    }
                    Ok(())
                })?;
            } else {
                break;
            }
        }
        Ok(())
    }

    fn param(&mut self, module: &mut Module) -> Parsed<Param> {
        let ty = self.ty(module)?;
        let name = match self.peek() {
            Tok::Word("control" | "float") if *self.peek_at(1) == Tok::Punct('(') => String::new(),
            Tok::Word(_) | Tok::Str(_) if self.same_line() => self.name("a name")?,
            _ => String::new(),
        };
        let (comps, bits) = match self.eat(':') {
            true => {
                let shape = self.shape()?;
                (shape.comps(), shape.bits())
            }
            false => match module.types.value_shape(ty) {
                Some(shape) => shape,
                None => {
                    let mut error = self.error("values of this type have no shape of their own");
                    error.help = Some("write `: BITSxCOMPONENTS` behind it".into());
                    return Err(error);
                }
            },
        };
        Ok(Param { name, ty, comps, bits })
    }

    /// `32`, `32x4`.
    pub(super) fn shape(&mut self) -> Parsed<Shape> {
        let at = self.at;
        let word = self.word("a shape")?;
        let (bits, comps) = word.split_once('x').unwrap_or((word, "1"));
        let shape = bits.parse().ok().zip(comps.parse().ok());
        shape.and_then(|(bits, comps)| Shape::new(comps, bits)).ok_or_else(|| {
            let mut error = self.error_at(at, format!("no value has the shape `{word}`"));
            error.help =
                Some("bit sizes are 1, 8, 16, 32, 64, component counts 1 to 5, 8, 16".into());
            error
        })
    }

    fn implementation(&mut self, module: &mut Module) -> Parsed<()> {
        let at = self.at;
        let func = self.func_label()?;
        if !self.labels.bodies.insert(func) {
            return Err(self.error_at(at, "this function has a body already"));
        }
        let signature = std::mem::replace(&mut module[func], Function::declaration(""));
        let mut function = Function::new("");
        function.name = signature.name;
        function.params = signature.params;
        function.ret = signature.ret;
        function.control = signature.control;
        function.float_env = signature.float_env;
        function.dialects = self.dialects;
        self.labels.locals.clear();
        self.body(module, &mut function)?;
        self.labels.locals.clear();
        function.shrink_to_fit();
        module[func] = function;
        Ok(())
    }

    /// A local variable of the function being read.
    pub(super) fn local(&mut self, module: &mut Module, function: &mut Function) -> Parsed<()> {
        let var = self.decl_var(module, LOCAL)?;
        function.locals.push(var);
        Ok(())
    }
}
