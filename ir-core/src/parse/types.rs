//! Types, constants, decorations.

use super::lex::Tok;
use super::{Parsed, Parser};
use crate::entity::Type;
use crate::module::{Constant, Module};
use crate::print::labels::scalar;
use crate::types::{ArrayLen, Decoration, Dim, ImageType, Member, Modes, StructType, TypeData};

/// How deep types written in place and constants nest at most; declared types nest further.
const MAX_TYPE_DEPTH: u32 = 16;
const MAX_CONSTANT_DEPTH: usize = 256;

impl Parser<'_> {
    /// `a|b` or `none`.
    pub(super) fn modes(&mut self) -> Parsed<Modes> {
        if self.eat_word("none") {
            return Ok(Modes::empty());
        }
        let mut modes = Modes::empty();
        loop {
            modes |= self.named("a memory mode", Modes::NAMES)?;
            if !self.eat('|') {
                return Ok(modes);
            }
        }
    }

    pub(super) fn ty(&mut self, module: &mut Module) -> Parsed<Type> {
        self.ty_at(module, 0)
    }

    /// Recursion is bounded by [`MAX_TYPE_DEPTH`].
    fn ty_at(&mut self, module: &mut Module, depth: u32) -> Parsed<Type> {
        if depth > MAX_TYPE_DEPTH {
            let mut error = self.error("a type nests too deeply");
            error.help = Some("declare an inner part by `decl_type`".into());
            return Err(error);
        }
        let start = self.at;
        if self.eat('[') {
            return self.array(module, depth);
        }
        let word = self.word("a type")?;
        if let Some(&ty) = self.labels.types.get(word) {
            return Ok(ty);
        }
        if let Some((base, bits, comps)) = scalar(word) {
            let elem = module.types.intern(match base {
                'b' => TypeData::Bool,
                'f' => TypeData::Float { bits },
                base => TypeData::Int { bits, signed: base == 'i' },
            });
            return Ok(module.types.vector(elem, comps));
        }
        let data = match word {
            "void" => TypeData::Void,
            "sampler" => TypeData::Sampler,
            "accel" => TypeData::AccelerationStructure,
            "ray_query" => TypeData::RayQuery,
            "vec" | "mat" => {
                self.expect('(')?;
                let inner = self.ty_at(module, depth + 1)?;
                self.expect(',')?;
                let n = self.small("a component or column count")?;
                self.expect(')')?;
                match word {
                    "vec" => TypeData::Vector { elem: inner, len: n },
                    _ => TypeData::Matrix { column: inner, cols: n },
                }
            }
            "sampled_image" => {
                self.expect('(')?;
                let image = self.ty_at(module, depth + 1)?;
                self.expect(')')?;
                TypeData::SampledImage { image }
            }
            "image" => TypeData::Image(self.image(module, depth)?),
            "ptr" => {
                self.expect('(')?;
                let modes = self.modes()?;
                self.expect(',')?;
                let pointee = match self.eat_word("none") {
                    true => None,
                    false => Some(self.ty_at(module, depth + 1)?),
                };
                let stride = self.stride()?;
                self.expect(')')?;
                TypeData::Pointer { modes, pointee, stride }
            }
            "forward_ptr" => {
                self.expect('(')?;
                let modes = self.modes()?;
                self.expect(',')?;
                let pointee = self.at;
                let name = self.word("the label of a type")?;
                let stride = self.stride()?;
                self.expect(')')?;
                let ty = module.types.forward_pointer(modes, stride);
                if name != "none" {
                    self.labels.forward.push((ty, pointee));
                }
                return Ok(ty);
            }
            _ => return Err(self.error_at(start, format!("no type is called `{word}`"))),
        };
        Ok(module.types.intern(data))
    }

    /// Closes the forward pointers of the module.
    pub(super) fn resolve_forward(&mut self, module: &mut Module) {
        let after = self.at;
        for (pointer, pointee) in std::mem::take(&mut self.labels.forward) {
            self.at = pointee;
            match self.ty(module) {
                Ok(ty) => module.types.resolve_pointer(pointer, ty),
                Err(error) => {
                    self.report(error);
                }
            }
        }
        self.at = after;
    }

    fn stride(&mut self) -> Parsed<u32> {
        if !self.eat(',') {
            return Ok(0);
        }
        if !self.eat_word("stride") {
            return self.expected("`stride`");
        }
        self.expect('=')?;
        self.small("a stride")
    }

    fn array(&mut self, module: &mut Module, depth: u32) -> Parsed<Type> {
        let elem = self.ty_at(module, depth + 1)?;
        self.expect(';')?;
        let len = match *self.peek() {
            Tok::Punct('*') => {
                self.bump();
                ArrayLen::Runtime
            }
            Tok::Sigil('$', _) => ArrayLen::Spec(self.spec_label()?),
            _ => ArrayLen::Const(self.small("an array length")?),
        };
        let stride = self.stride()?;
        self.expect(']')?;
        Ok(module.types.intern(TypeData::Array { elem, len, stride }))
    }

    fn image(&mut self, module: &mut Module, depth: u32) -> Parsed<ImageType> {
        self.expect('(')?;
        let sampled_type = self.ty_at(module, depth + 1)?;
        self.expect(',')?;
        let dim = self.named("a dimensionality", Dim::NAMES)?;
        let mut image = ImageType {
            sampled_type,
            dim,
            depth: 0,
            arrayed: false,
            multisampled: false,
            sampled: 1,
            format: "Unknown".into(),
        };
        while self.eat(',') {
            match self.word("a property of an image")? {
                "array" => image.arrayed = true,
                "ms" => image.multisampled = true,
                "depth" => {
                    self.expect('=')?;
                    image.depth = self.small("a depth operand")?;
                }
                "sampled" => {
                    self.expect('=')?;
                    image.sampled = self.small("a sampled operand")?;
                }
                "format" => {
                    self.expect('=')?;
                    image.format = self.name("an image format")?;
                }
                word => {
                    let message = format!("images have no property `{word}`");
                    return Err(self.error_at(self.at - 1, message));
                }
            }
        }
        self.expect(')')?;
        Ok(image)
    }

    /// What follows the word `struct`. The label names it unless a string does.
    pub(super) fn struct_type(&mut self, module: &mut Module, label: &str) -> Parsed<StructType> {
        let mut decorations = Vec::new();
        if self.eat('(') {
            self.list(')', |p| {
                decorations.push(p.decoration()?);
                Ok(())
            })?;
        }
        let name = match self.peek() {
            Tok::Str(_) => self.string("a name")?,
            _ => label.to_owned(),
        };
        self.expect('{')?;
        let mut members = Vec::new();
        while !self.eat('}') {
            members.push(self.member(module)?);
            // A comma behind the last one is allowed.
            if !self.eat(',') {
                self.expect('}')?;
                break;
            }
        }
        Ok(StructType { name, members, decorations })
    }

    fn member(&mut self, module: &mut Module) -> Parsed<Member> {
        let ty = self.ty(module)?;
        let name = match self.peek() {
            Tok::Word(_) | Tok::Str(_) => self.name("a name")?,
            _ => String::new(),
        };
        let mut member = Member {
            name,
            ty,
            offset: None,
            matrix_stride: None,
            row_major: false,
            decorations: Vec::new(),
        };
        if self.eat('(') {
            self.list(')', |p| {
                if p.eat_word("row_major") {
                    member.row_major = true;
                } else if p.eat_word("offset") {
                    p.expect('=')?;
                    member.offset = Some(p.small("an offset")?);
                } else if p.eat_word("matrix_stride") {
                    p.expect('=')?;
                    member.matrix_stride = Some(p.small("a stride")?);
                } else {
                    member.decorations.push(p.decoration()?);
                }
                Ok(())
            })?;
        }
        Ok(member)
    }

    pub(super) fn decoration(&mut self) -> Parsed<Decoration> {
        let name = self.name("a decoration")?;
        let mut args = Vec::new();
        if self.eat('(') {
            self.list(')', |p| {
                args.push(p.small("an operand of a decoration")?);
                Ok(())
            })?;
        }
        Ok(Decoration { name, args })
    }

    /// Whether a qualifier stands here rather than the type: something follows it that is not the label.
    pub(super) fn at_qualifier(&self, label: char) -> bool {
        if !matches!(self.peek(), Tok::Word(_) | Tok::Str(_)) {
            return false;
        }
        let mut ahead = 1;
        if *self.peek_at(1) == Tok::Punct('(') {
            let mut depth = 0;
            loop {
                match self.peek_at(ahead) {
                    Tok::Punct('(') => depth += 1,
                    Tok::Punct(')') => depth -= 1,
                    Tok::Eof => return false,
                    _ => {}
                }
                ahead += 1;
                if depth == 0 {
                    break;
                }
            }
        }
        !matches!(self.peek_at(ahead), Tok::Sigil(c, _) if *c == label)
    }

    /// A constant: bits, `(…)`, `{…}`, `null`, `undef`, `$spec`, `&var`.
    pub(super) fn constant(&mut self) -> Parsed<Constant> {
        let mut open: Vec<Vec<Constant>> = Vec::new();
        loop {
            let mut value = match *self.peek() {
                Tok::Punct('{') if open.len() == MAX_CONSTANT_DEPTH => {
                    return Err(self.error("a constant nests too deeply"));
                }
                Tok::Punct('{') => {
                    self.bump();
                    if !self.eat('}') {
                        open.push(Vec::new());
                        continue;
                    }
                    Constant::Composite(Vec::new())
                }
                Tok::Punct('(') => {
                    self.bump();
                    let mut bits = Vec::new();
                    self.list(')', |p| {
                        bits.push(p.number("the bits of a component")?);
                        Ok(())
                    })?;
                    Constant::Bits(bits)
                }
                Tok::Sigil('$', _) => Constant::Spec(self.spec_label()?),
                Tok::Sigil('&', _) => Constant::Address(self.var_label()?),
                Tok::Word("null") => {
                    self.bump();
                    Constant::Null
                }
                Tok::Word("undef") => {
                    self.bump();
                    Constant::Undef
                }
                _ => Constant::Bits(vec![self.number("a constant")?]),
            };
            loop {
                let Some(parts) = open.last_mut() else { return Ok(value) };
                parts.push(value);
                if self.eat(',') {
                    break;
                }
                self.expect('}')?;
                value = Constant::Composite(open.pop().unwrap_or_default());
            }
        }
    }
}
