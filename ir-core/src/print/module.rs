//! The module-level declarations of the text.

use super::Printer;
use super::labels::{Label, is_word};
use crate::entity::{SpecConst, Type, Var};
use crate::env::{Denorm, Rounding};
use crate::func::{Function, Param};
use crate::module::{
    Constant, EntryPoint, Form, ModeArg, Module, SpecArg, SpecConstant, SpecValue, Variable,
};
use crate::types::{
    ArrayLen, Decoration, Dim, ImageType, Member, Modes, StructType, TypeData, TypeTable,
};
use std::fmt::{Display, Formatter, Result, Write};

/// A name as a word, or quoted where it is none or a word with a meaning.
pub(super) struct Name<'a>(pub &'a str, pub &'static [&'static str]);

impl Display for Name<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        match is_word(self.0) && !self.1.contains(&self.0) {
            true => f.write_str(self.0),
            false => Quoted(self.0).fmt(f),
        }
    }
}

/// A string literal.
pub(super) struct Quoted<'a>(pub &'a str);

impl Display for Quoted<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        f.write_char('"')?;
        for c in self.0.chars() {
            match c {
                '"' | '\\' => write!(f, "\\{c}")?,
                '\n' => f.write_str("\\n")?,
                c if c.is_control() => write!(f, "\\u{{{:x}}}", c as u32)?,
                c => f.write_char(c)?,
            }
        }
        f.write_char('"')
    }
}

/// Modes as `a|b`; `none` for the empty set.
pub(super) struct ModesText(pub Modes);

impl Display for ModesText {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        let mut sep = "";
        for (name, mode) in Modes::NAMES {
            if self.0.contains(*mode) {
                write!(f, "{sep}{name}")?;
                sep = "|";
            }
        }
        if sep.is_empty() { f.write_str("none") } else { Ok(()) }
    }
}

/// The name of a value in a table of names.
pub(super) fn name_of<T: PartialEq>(names: &[(&'static str, T)], value: &T) -> &'static str {
    names.iter().find(|(_, v)| v == value).map_or("?", |(name, _)| name)
}

/// A step of writing nested things without recursion.
enum Piece<'a> {
    Type(Type),
    Constant(&'a Constant),
    Text(&'static str),
    Owned(String),
}

impl Printer<'_> {
    pub(super) fn module(&self, f: &mut Formatter<'_>, module: &Module) -> Result {
        writeln!(f, "deburr_ir 1")?;
        match module.form {
            Form::Logical => {}
            Form::Explicit => writeln!(f, "decl_form explicit")?,
            Form::Backend => writeln!(f, "decl_form backend")?,
        }
        for dialect in module.dialects.0 {
            writeln!(f, "decl_dialect {}", Quoted(dialect.name))?;
        }
        let spirv = &module.spirv;
        let (major, minor) = spirv.version;
        let (addressing, memory) = (Name(&spirv.addressing, &[]), Name(&spirv.memory, &[]));
        writeln!(f, "decl_env spirv {major} {minor} {addressing} {memory}")?;
        for capability in &spirv.capabilities {
            writeln!(f, "decl_capability {}", Name(capability, &[]))?;
        }
        for extension in &spirv.extensions {
            writeln!(f, "decl_extension {}", Name(extension, &[]))?;
        }
        for entry in &module.entry_points {
            self.entry_point(f, entry)?;
        }
        for (ty, data) in module.types.iter() {
            self.decl_type(f, &module.types, ty, data)?;
        }
        for (i, spec) in module.spec_consts.iter().enumerate() {
            self.decl_spec(f, SpecConst::from_index(i), spec)?;
        }
        for (i, var) in module.vars.iter().enumerate() {
            self.decl_var(f, &self.labels.var(Var::global(i)), var)?;
        }
        for func in module.funcs() {
            self.decl_function(f, &self.labels.func(func), &module[func])?;
        }
        for func in module.funcs().filter(|&func| module[func].has_body()) {
            write!(f, "\nimpl {} ", self.labels.func(func).text)?;
            self.body(f, &module[func])?;
        }
        Ok(())
    }

    fn entry_point(&self, f: &mut Formatter<'_>, entry: &EntryPoint) -> Result {
        let stage = name_of(crate::module::Stage::NAMES, &entry.stage);
        let function = self.labels.func(entry.function).text;
        write!(f, "shader {stage} {} entry({function})", Quoted(&entry.name))?;
        for mode in &entry.modes {
            write!(f, " {}", Name(&mode.name, &["entry", "interface"]))?;
            let mut sep = "(";
            for arg in &mode.args {
                f.write_str(sep)?;
                sep = ", ";
                match arg {
                    ModeArg::Literal(n) => write!(f, "{n}")?,
                    ModeArg::Spec(spec) => write!(f, "${}", self.labels.spec(*spec).text)?,
                }
            }
            if !mode.args.is_empty() {
                f.write_char(')')?;
            }
        }
        if !entry.interface.is_empty() {
            let vars = entry.interface.iter().map(|v| format!("&{}", self.labels.var(*v).text));
            write!(f, " interface({})", vars.collect::<Vec<_>>().join(", "))?;
        }
        writeln!(f)
    }

    fn decl_type(
        &self,
        f: &mut Formatter<'_>,
        types: &TypeTable,
        ty: Type,
        data: &TypeData,
    ) -> Result {
        let Some(label) = self.labels.ty(ty) else { return Ok(()) };
        write!(f, "decl_type {} = ", label.text)?;
        if let TypeData::Struct(s) = data {
            return self.struct_type(f, label, s);
        }
        let mut stack = Vec::new();
        type_pieces(types, ty, &mut stack, |spec| self.labels.spec(spec).text);
        self.pieces(f, stack)?;
        writeln!(f)
    }

    fn struct_type(&self, f: &mut Formatter<'_>, label: &Label, s: &StructType) -> Result {
        f.write_str("struct")?;
        if !s.decorations.is_empty() {
            f.write_str("(")?;
            decorations(f, &s.decorations, ", ", &[])?;
            f.write_str(")")?;
        }
        if let Some(name) = &label.name {
            write!(f, " {}", Quoted(name))?;
        }
        if s.members.is_empty() {
            return writeln!(f, " {{ }}");
        }
        writeln!(f, " {{")?;
        for member in &s.members {
            self.member(f, member)?;
        }
        writeln!(f, "}}")
    }

    fn member(&self, f: &mut Formatter<'_>, member: &Member) -> Result {
        const KEYS: &[&str] = &["offset", "matrix_stride", "row_major"];
        f.write_str("  ")?;
        self.ty(f, member.ty)?;
        if !member.name.is_empty() {
            write!(f, " {}", Name(&member.name, &[]))?;
        }
        let mut items = Vec::new();
        items.extend(member.offset.map(|n| format!("offset={n}")));
        items.extend(member.matrix_stride.map(|n| format!("matrix_stride={n}")));
        items.extend(member.row_major.then(|| "row_major".to_owned()));
        if !items.is_empty() || !member.decorations.is_empty() {
            write!(f, " ({}", items.join(", "))?;
            if !items.is_empty() && !member.decorations.is_empty() {
                f.write_str(", ")?;
            }
            decorations(f, &member.decorations, ", ", KEYS)?;
            f.write_str(")")?;
        }
        writeln!(f, ",")
    }

    fn decl_spec(&self, f: &mut Formatter<'_>, id: SpecConst, spec: &SpecConstant) -> Result {
        f.write_str("decl_spec ")?;
        decorations(f, &spec.decorations, " ", &["builtin"])?;
        if !spec.decorations.is_empty() {
            f.write_str(" ")?;
        }
        self.ty(f, spec.ty)?;
        let label = self.labels.spec(id);
        write!(f, " ${}", label.text)?;
        if let Some(name) = &label.name {
            write!(f, " {}", Quoted(name))?;
        }
        match &spec.value {
            SpecValue::Scalar { id, default } => {
                if let Some(id) = id {
                    write!(f, " ({id})")?;
                }
                write!(f, " = {default:#x}")?;
            }
            SpecValue::Composite(parts) => {
                f.write_str(" = ")?;
                let mut stack = vec![Piece::Text("}")];
                list_pieces(parts, &mut stack);
                f.write_str("{")?;
                self.pieces(f, stack)?;
            }
            SpecValue::Op { opcode, args } => {
                write!(f, " = op {}(", Name(opcode, &[]))?;
                for (i, arg) in args.iter().enumerate() {
                    f.write_str(if i > 0 { ", " } else { "" })?;
                    match arg {
                        SpecArg::Constant(ty, value) => {
                            self.ty(f, *ty)?;
                            f.write_str(" ")?;
                            self.constant(f, value)?;
                        }
                        SpecArg::Literal(n) => write!(f, "#{n}")?,
                    }
                }
                f.write_str(")")?;
            }
        }
        writeln!(f)
    }

    pub(super) fn decl_var(&self, f: &mut Formatter<'_>, label: &Label, var: &Variable) -> Result {
        write!(f, "decl_var {} ", ModesText(var.mode))?;
        if let Some(builtin) = &var.builtin {
            write!(f, "builtin({}) ", Name(builtin, &[]))?;
        }
        decorations(f, &var.decorations, " ", &["builtin"])?;
        if !var.decorations.is_empty() {
            f.write_str(" ")?;
        }
        self.ty(f, var.ty)?;
        write!(f, " &{}", label.text)?;
        if let Some(name) = &label.name {
            write!(f, " {}", Quoted(name))?;
        }
        if let Some((set, binding)) = var.binding {
            write!(f, " ({set}, {binding})")?;
        }
        if let Some(location) = var.location {
            write!(f, " ({location})")?;
        }
        if let Some(init) = &var.init {
            f.write_str(" = ")?;
            self.constant(f, init)?;
        }
        writeln!(f)
    }

    fn decl_function(&self, f: &mut Formatter<'_>, label: &Label, function: &Function) -> Result {
        write!(f, "decl_function {}", label.text)?;
        if let Some(name) = &label.name {
            write!(f, " {}", Quoted(name))?;
        }
        f.write_str("(")?;
        for (i, param) in function.params.iter().enumerate() {
            f.write_str(if i > 0 { ", " } else { "" })?;
            self.param(f, param)?;
        }
        f.write_str(")")?;
        if let Some(ret) = &function.ret {
            f.write_str(" -> ")?;
            self.param(f, ret)?;
        }
        if function.control != 0 {
            write!(f, " control({:#x})", function.control)?;
        }
        let mut sep = " float(";
        for (i, bits) in [16, 32, 64].into_iter().enumerate() {
            let env = &function.float_env;
            let denorm = name_of(Denorm::NAMES, &env.denorm[i]);
            if env.denorm[i] != Denorm::Any {
                write!(f, "{sep}denorm{bits}={denorm}")?;
                sep = ", ";
            }
            let rounding = name_of(Rounding::NAMES, &env.rounding[i]);
            if env.rounding[i] != Rounding::Any {
                write!(f, "{sep}rounding{bits}={rounding}")?;
                sep = ", ";
            }
        }
        writeln!(f, "{}", if sep == ", " { ")" } else { "" })
    }

    fn param(&self, f: &mut Formatter<'_>, param: &Param) -> Result {
        self.ty(f, param.ty)?;
        if !param.name.is_empty() {
            write!(f, " {}", Name(&param.name, &[]))?;
        }
        let derived = self.module.and_then(|m| m.types.value_shape(param.ty));
        if derived != Some((param.comps, param.bits)) {
            write!(f, " : {}x{}", param.bits, param.comps)?;
        }
        Ok(())
    }

    pub(super) fn ty(&self, f: &mut Formatter<'_>, ty: Type) -> Result {
        self.pieces(f, vec![Piece::Type(ty)])
    }

    pub(super) fn constant(&self, f: &mut Formatter<'_>, constant: &Constant) -> Result {
        self.pieces(f, vec![Piece::Constant(constant)])
    }

    fn pieces(&self, f: &mut Formatter<'_>, mut stack: Vec<Piece<'_>>) -> Result {
        while let Some(piece) = stack.pop() {
            match piece {
                Piece::Text(text) => f.write_str(text)?,
                Piece::Owned(text) => f.write_str(&text)?,
                Piece::Type(ty) => match (self.labels.ty(ty), self.module) {
                    (Some(label), _) => f.write_str(&label.text)?,
                    (None, Some(module)) if ty.index() < module.types.len() => {
                        let spec = |spec| self.labels.spec(spec).text;
                        type_pieces(&module.types, ty, &mut stack, spec);
                    }
                    (None, _) => write!(f, "t{}", ty.index())?,
                },
                Piece::Constant(constant) => match constant {
                    Constant::Bits(bits) if bits.len() == 1 => write!(f, "{:#x}", bits[0])?,
                    Constant::Bits(bits) => {
                        let bits: Vec<String> = bits.iter().map(|b| format!("{b:#x}")).collect();
                        write!(f, "({})", bits.join(", "))?;
                    }
                    Constant::Composite(parts) => {
                        f.write_str("{")?;
                        stack.push(Piece::Text("}"));
                        list_pieces(parts, &mut stack);
                    }
                    Constant::Null => f.write_str("null")?,
                    Constant::Undef => f.write_str("undef")?,
                    Constant::Spec(spec) => write!(f, "${}", self.labels.spec(*spec).text)?,
                    Constant::Address(var) => write!(f, "&{}", self.labels.var(*var).text)?,
                },
            }
        }
        Ok(())
    }
}

fn list_pieces<'a>(parts: &'a [Constant], stack: &mut Vec<Piece<'a>>) {
    for (i, part) in parts.iter().enumerate().rev() {
        stack.push(Piece::Constant(part));
        if i > 0 {
            stack.push(Piece::Text(", "));
        }
    }
}

/// Pushes what a type is written as, last piece first.
fn type_pieces(
    types: &TypeTable,
    ty: Type,
    stack: &mut Vec<Piece<'_>>,
    spec: impl Fn(SpecConst) -> String,
) {
    let owned = Piece::Owned;
    match &types[ty] {
        TypeData::Void => stack.push(Piece::Text("void")),
        TypeData::Bool => stack.push(Piece::Text("bool")),
        TypeData::Int { bits, signed } => {
            stack.push(owned(format!("{}{bits}", if *signed { 'i' } else { 'u' })));
        }
        TypeData::Float { bits } => stack.push(owned(format!("f{bits}"))),
        TypeData::Vector { elem, len } => match types.value_shape(*elem) {
            Some((1, _)) if !matches!(types[*elem], TypeData::Pointer { .. }) => {
                stack.extend([owned(format!("x{len}")), Piece::Type(*elem)]);
            }
            _ => {
                stack.extend([owned(format!(", {len})")), Piece::Type(*elem), Piece::Text("vec(")])
            }
        },
        TypeData::Matrix { column, cols } => {
            stack.extend([owned(format!(", {cols})")), Piece::Type(*column), Piece::Text("mat(")]);
        }
        TypeData::Array { elem, len, stride } => {
            let len = match len {
                ArrayLen::Const(n) => n.to_string(),
                ArrayLen::Spec(s) => format!("${}", spec(*s)),
                ArrayLen::Runtime => "*".to_owned(),
            };
            let stride = if *stride == 0 { String::new() } else { format!(", stride={stride}") };
            stack.extend([
                owned(format!("; {len}{stride}]")),
                Piece::Type(*elem),
                Piece::Text("["),
            ]);
        }
        TypeData::Struct(_) => stack.push(Piece::Text("struct { }")),
        TypeData::Image(image) => {
            stack.extend([
                owned(image_tail(image)),
                Piece::Type(image.sampled_type),
                Piece::Text("image("),
            ]);
        }
        TypeData::Sampler => stack.push(Piece::Text("sampler")),
        TypeData::SampledImage { image } => {
            stack.extend([Piece::Text(")"), Piece::Type(*image), Piece::Text("sampled_image(")]);
        }
        TypeData::AccelerationStructure => stack.push(Piece::Text("accel")),
        TypeData::RayQuery => stack.push(Piece::Text("ray_query")),
        TypeData::Pointer { modes, pointee, stride } => {
            let tail = if *stride == 0 { ")".to_owned() } else { format!(", stride={stride})") };
            let pointee = pointee.map_or(Piece::Text("none"), Piece::Type);
            let head = if types.is_forward(ty) { "forward_ptr" } else { "ptr" };
            stack.extend([owned(tail), pointee, owned(format!("{head}({}, ", ModesText(*modes)))]);
        }
    }
}

fn image_tail(image: &ImageType) -> String {
    let mut tail = format!(", {}", name_of(Dim::NAMES, &image.dim));
    if image.depth != 0 {
        tail += &format!(", depth={}", image.depth);
    }
    tail += if image.arrayed { ", array" } else { "" };
    tail += if image.multisampled { ", ms" } else { "" };
    tail += &format!(", sampled={}, format={})", image.sampled, Name(&image.format, &[]));
    tail
}

fn decorations(
    f: &mut Formatter<'_>,
    decorations: &[Decoration],
    separator: &str,
    reserved: &'static [&'static str],
) -> Result {
    for (i, decoration) in decorations.iter().enumerate() {
        f.write_str(if i > 0 { separator } else { "" })?;
        write!(f, "{}", Name(&decoration.name, reserved))?;
        if !decoration.args.is_empty() {
            let args: Vec<String> = decoration.args.iter().map(u32::to_string).collect();
            write!(f, "({})", args.join(", "))?;
        }
    }
    Ok(())
}
