//! Instructions.

use super::body::Body;
use super::lex::Tok;
use super::{Parsed, Parser};
use crate::entity::{Block, Def, Instr, Var};
use crate::instr::{
    DerefInfo, DerefKind, Flags, InstrInit, JumpKind, Shape, Swizzle, TexInfo, TexOp, TexSrc,
};
use crate::intrinsic::{Index, IndexInfo, IndexKind};
use crate::module::Module;
use crate::print::DEST_TYPES;
use crate::types::Dim;
use smallvec::SmallVec;

/// Most sources that the text may give an instruction.
const MAX_SRCS: usize = u16::MAX as usize;

impl<'s> Parser<'s> {
    /// Reads one instruction into the end of the block.
    pub(super) fn instr(
        &mut self,
        module: &mut Module,
        body: &mut Body<'s, '_>,
        block: Block,
    ) -> Parsed<()> {
        let has_value =
            matches!(self.peek(), Tok::Word(w) if w.starts_with(|c: char| c.is_ascii_digit()));
        if !has_value {
            let instr = self.operation(module, body, Shape::NONE)?;
            body.f.place_last(instr, block);
            return Ok(());
        }
        let shape = self.shape()?;
        let at = self.at;
        let label = self.sigil('%', "the label of the value")?;
        let name = match self.eat(':') {
            true => Some(self.name("the value's name")?),
            false => None,
        };
        self.expect('=')?;
        let instr = self.operation(module, body, shape);
        // A value whose operation is wrong is there all the same, so that its uses aren't errors too.
        let placed = match &instr {
            Ok(instr) => *instr,
            Err(_) => body.f.create_unlinked(InstrInit::Undef, shape, &[]),
        };
        body.f.place_last(placed, block);
        if let Some(name) = name {
            body.f.names.insert(placed.def(), name);
        }
        if !body.defs.define(label, at, placed.def()) {
            return Err(self.error_at(at, format!("`%{label}` was defined before")));
        }
        instr.map(|_| ())
    }

    /// Reads what stands behind `=`, or a whole instruction without a value.
    fn operation(
        &mut self,
        module: &mut Module,
        body: &mut Body<'s, '_>,
        shape: Shape,
    ) -> Parsed<Instr> {
        let start = self.at;
        if let Tok::Sigil('@', name) = *self.peek() {
            self.bump();
            return self.intrinsic(body, shape, name, start);
        }
        let word = self.word("an instruction")?;
        let valued = |p: &Self| match shape == Shape::NONE {
            true => Err(p.error_at(start, format!("`{word}` has a value: write `SIZE %K = …`"))),
            false => Ok(()),
        };
        if let Some((_, jump)) = JumpKind::NAMES.iter().find(|(name, _)| *name == word) {
            if shape != Shape::NONE {
                return Err(self.error_at(start, "a jump has no value"));
            }
            let flags = self.flags()?;
            let srcs = self.srcs(body)?;
            return Ok(self.create(body, InstrInit::Jump(*jump), shape, flags, &srcs));
        }
        match word {
            "undef" => {
                valued(self)?;
                let flags = self.flags()?;
                Ok(self.create(body, InstrInit::Undef, shape, flags, &[]))
            }
            "load_const" => {
                valued(self)?;
                self.load_const(body, shape)
            }
            "phi" => {
                valued(self)?;
                self.phi(body, shape)
            }
            "call" => {
                let flags = self.flags()?;
                let func = self.func_label()?;
                let mut srcs = Vec::new();
                self.expect('(')?;
                self.list_or_nothing(')', |p| {
                    srcs.push((p.src(body)?, Swizzle::IDENTITY));
                    Ok(())
                })?;
                self.check_count(start, srcs.len())?;
                Ok(self.create(body, InstrInit::Call(func), shape, flags, &srcs))
            }
            "parallel_copy" => {
                let flags = self.flags()?;
                let mut srcs = Vec::new();
                let mut more = matches!(self.peek(), Tok::Sigil('%', _));
                while more {
                    srcs.push((self.src(body)?, Swizzle::IDENTITY));
                    self.expect('=')?;
                    srcs.push((self.src(body)?, Swizzle::IDENTITY));
                    more = self.eat(',');
                }
                self.check_count(start, srcs.len())?;
                Ok(self.create(body, InstrInit::ParallelCopy, shape, flags, &srcs))
            }
            "tex" => {
                valued(self)?;
                self.tex(body, shape)
            }
            _ if word.starts_with("deref_") => {
                valued(self)?;
                self.deref(module, body, shape, word, start)
            }
            _ => self.alu(body, shape, word, start),
        }
    }

    fn create(
        &self,
        body: &mut Body<'s, '_>,
        init: InstrInit<'_>,
        shape: Shape,
        flags: Flags,
        srcs: &[(Def, Swizzle)],
    ) -> Instr {
        let instr = body.f.create_unlinked(init, shape, srcs);
        body.f.set_flags(instr, flags);
        instr
    }

    fn check_count(&self, at: usize, count: usize) -> Parsed<()> {
        match count <= MAX_SRCS {
            true => Ok(()),
            false => Err(self.error_at(at, "an instruction has at most 65535 sources")),
        }
    }

    fn flags(&mut self) -> Parsed<Flags> {
        let mut flags = Flags::empty();
        while self.eat('.') {
            flags |= self.named("a licence or promise", Flags::NAMES)?;
        }
        Ok(flags)
    }

    /// Values separated by commas, perhaps none.
    fn srcs(&mut self, body: &mut Body<'s, '_>) -> Parsed<SmallVec<[(Def, Swizzle); 4]>> {
        let start = self.at;
        let mut srcs = SmallVec::new();
        if matches!(self.peek(), Tok::Sigil('%', _)) {
            loop {
                srcs.push((self.src(body)?, Swizzle::IDENTITY));
                if !self.eat(',') {
                    break;
                }
            }
        }
        self.check_count(start, srcs.len())?;
        Ok(srcs)
    }

    fn alu(
        &mut self,
        body: &mut Body<'s, '_>,
        shape: Shape,
        word: &str,
        start: usize,
    ) -> Parsed<Instr> {
        let Some(op) = self.dialects.alu_by_name(word) else {
            return Err(self.error_at(start, format!("no instruction is called `{word}`")));
        };
        let Some(info) = self.dialects.alu(op) else {
            return Err(self.error_at(start, format!("`{word}` is in no table")));
        };
        if shape == Shape::NONE {
            let message = format!("`{word}` has a value: write `SIZE %K = …`");
            return Err(self.error_at(start, message));
        }
        let flags = self.flags()?;
        let mut srcs: SmallVec<[(Def, Swizzle); 4]> = SmallVec::new();
        let mut implicit: SmallVec<[(usize, u8); 4]> = SmallVec::new();
        loop {
            let def = self.src(body)?;
            let n = srcs.len();
            if n == info.inputs.len() {
                break;
            }
            let reads = info.src_comps(n, shape.comps());
            let swizzle = match self.eat('.') {
                true => self.swizzle(reads)?,
                false => {
                    implicit.push((n, reads));
                    Swizzle::IDENTITY
                }
            };
            srcs.push((def, swizzle));
            if !self.eat(',') {
                break;
            }
        }
        let more = matches!(self.peek(), Tok::Sigil('%', _)) || srcs.len() < info.inputs.len();
        if more || *self.tokens_before() == Tok::Punct(',') {
            let message = format!("`{word}` has {} sources", info.inputs.len());
            return Err(self.error_at(start, message));
        }
        let instr = self.create(body, InstrInit::Alu(op), shape, flags, &srcs);
        body.implicit.extend(implicit.into_iter().map(|(n, reads)| (instr, n, reads)));
        Ok(instr)
    }

    fn tokens_before(&self) -> &Tok<'s> {
        &self.tokens[self.at.saturating_sub(1)].tok
    }

    fn swizzle(&mut self, reads: u8) -> Parsed<Swizzle> {
        let at = self.at;
        let word = self.word("a swizzle")?;
        let mut comps: SmallVec<[u8; 16]> = SmallVec::new();
        for c in word.bytes() {
            comps.push(match c {
                b'x' | b'y' | b'z' => c - b'x',
                b'w' => 3,
                b'a'..=b'p' => c - b'a',
                _ => return Err(self.error_at(at, "swizzle letters are xyzw, or a to p")),
            });
        }
        match comps.len() == usize::from(reads) {
            true => Ok(Swizzle::new(&comps)),
            false => Err(self.error_at(at, format!("{reads} components are read here"))),
        }
    }

    fn intrinsic(
        &mut self,
        body: &mut Body<'s, '_>,
        shape: Shape,
        name: &str,
        start: usize,
    ) -> Parsed<Instr> {
        let Some(op) = self.dialects.intrinsic_by_name(name) else {
            return Err(self.error_at(start, format!("no intrinsic is called `@{name}`")));
        };
        let Some(info) = self.dialects.intrinsic(op) else {
            return Err(self.error_at(start, format!("`@{name}` is in no table")));
        };
        let flags = self.flags()?;
        let srcs = self.srcs(body)?;
        if srcs.len() != info.srcs.len() {
            let message = format!("`@{name}` has {} sources", info.srcs.len());
            return Err(self.error_at(start, message));
        }
        let tables = self.dialects;
        let infos: SmallVec<[&'static IndexInfo; 8]> =
            info.indices.iter().filter_map(|&index| tables.index_of(op, index)).collect();
        let mut values: SmallVec<[u32; 8]> = infos.iter().map(|i| i.default).collect();
        if values.len() != info.indices.len() {
            return Err(self.error_at(start, format!("an index of `@{name}` is in no table")));
        }
        let mask = info.index_slot(Index::WRITE_MASK);
        let mut has_mask = false;
        if self.eat('(') {
            self.list(')', |p| {
                let at = p.at;
                let key = p.word("a const index")?;
                let Some(slot) = infos.iter().position(|i| i.name == key) else {
                    return Err(p.error_at(at, format!("`@{name}` has no index `{key}`")));
                };
                has_mask |= Some(slot) == mask;
                p.expect('=')?;
                values[slot] = p.index_value(infos[slot])?;
                Ok(())
            })?;
        }
        let instr = self.create(body, InstrInit::Intrinsic(op, &values), shape, flags, &srcs);
        let stored = info.srcs.iter().position(|&comps| comps == 0);
        if let (Some(_), Some(stored), false) = (mask, stored, has_mask) {
            body.masks.push((instr, stored));
        }
        Ok(instr)
    }

    fn index_value(&mut self, info: &IndexInfo) -> Parsed<u32> {
        let word = match *self.peek() {
            Tok::Word(word) => word,
            _ => "",
        };
        match info.kind {
            IndexKind::U32 => self.small("a number"),
            IndexKind::I32 => self.signed("a number"),
            IndexKind::Bool if matches!(word, "true" | "false") => {
                self.bump();
                Ok(u32::from(word == "true"))
            }
            IndexKind::Bool => self.small("true or false"),
            IndexKind::Op => match self.dialects.alu_by_name(word) {
                Some(op) => {
                    self.bump();
                    Ok(op.0.into())
                }
                None => self.small("an opcode"),
            },
            IndexKind::Enum(names) => match names.iter().position(|n| *n == word) {
                Some(n) => {
                    self.bump();
                    Ok(n as u32)
                }
                None => self.small(&format!("one of {}", names.join(", "))),
            },
            IndexKind::Flags(names) => {
                let mut value = 0;
                loop {
                    let word = match *self.peek() {
                        Tok::Word(word) => word,
                        _ => "",
                    };
                    match names.iter().take(32).position(|n| *n == word) {
                        Some(n) => {
                            self.bump();
                            value |= 1 << n;
                        }
                        None => {
                            value |= self.small::<u32>(&format!("one of {}", names.join(", ")))?
                        }
                    }
                    if !self.eat('|') {
                        return Ok(value);
                    }
                }
            }
        }
    }

    fn load_const(&mut self, body: &mut Body<'s, '_>, shape: Shape) -> Parsed<Instr> {
        let flags = self.flags()?;
        let start = self.at;
        let bits = u32::from(shape.bits());
        let mut values: SmallVec<[u64; 16]> = SmallVec::new();
        self.expect('(')?;
        self.list(')', |p| {
            let at = p.at;
            let value = if p.eat_word("true") {
                1
            } else if p.eat_word("false") {
                0
            } else if p.eat('-') {
                let value = p.number("the bits of a component")?.wrapping_neg();
                // Negative numbers are for convenience, and cut to the size.
                value & (u64::MAX >> (64 - bits))
            } else {
                p.number("the bits of a component")?
            };
            if bits < 64 && value >> bits != 0 {
                return Err(p.error_at(at, format!("this does not fit into {bits} bits")));
            }
            if values.len() < 17 {
                values.push(value);
            }
            // What the bits mean is a comment.
            if p.eat('=') {
                while !matches!(p.peek(), Tok::Punct(',' | ')') | Tok::Eof) {
                    p.bump();
                }
            }
            Ok(())
        })?;
        match values.len() == usize::from(shape.comps()) {
            true => Ok(self.create(body, InstrInit::LoadConst(&values), shape, flags, &[])),
            false => {
                Err(self.error_at(start, format!("the value has {} components", shape.comps())))
            }
        }
    }

    fn phi(&mut self, body: &mut Body<'s, '_>, shape: Shape) -> Parsed<Instr> {
        let start = self.at;
        let flags = self.flags()?;
        let mut preds = Vec::new();
        let mut srcs = Vec::new();
        // The next line may begin with a word too, but none that a colon follows.
        let mut more = *self.peek_at(1) == Tok::Punct(':');
        while more {
            preds.push(self.pred(body)?);
            self.expect(':')?;
            srcs.push((self.src(body)?, Swizzle::IDENTITY));
            more = self.eat(',');
        }
        self.check_count(start, srcs.len())?;
        Ok(self.create(body, InstrInit::Phi(&preds), shape, flags, &srcs))
    }

    fn tex(&mut self, body: &mut Body<'s, '_>, shape: Shape) -> Parsed<Instr> {
        let start = self.at;
        self.expect('.')?;
        let op = self.named("a texture operation", TexOp::NAMES)?;
        let flags = self.flags()?;
        let mut info = TexInfo {
            op,
            srcs: SmallVec::new(),
            dim: Dim::D2,
            is_array: false,
            is_shadow: false,
            is_sparse: false,
            dest_type: 0,
            component: 0,
            texture_index: 0,
            sampler_index: 0,
            access: 0,
        };
        let mut srcs = Vec::new();
        let mut more = *self.peek_at(1) == Tok::Punct('=');
        while more {
            info.srcs.push(self.named("the kind of a source", TexSrc::NAMES)?);
            self.expect('=')?;
            srcs.push((self.src(body)?, Swizzle::IDENTITY));
            more = self.eat(',');
        }
        self.check_count(start, srcs.len())?;
        self.expect('(')?;
        self.list(')', |p| {
            let at = p.at;
            let key = p.word("a property of a texture operation")?;
            match key {
                "array" => info.is_array = true,
                "shadow" => info.is_shadow = true,
                "sparse" => info.is_sparse = true,
                _ => {
                    p.expect('=')?;
                    match key {
                        "dim" => info.dim = p.named("a dimensionality", Dim::NAMES)?,
                        "dest" => {
                            info.dest_type = match p.named("float, int or uint", DEST_TYPES) {
                                Ok(dest) => dest,
                                Err(_) => p.small("float, int or uint")?,
                            }
                        }
                        "component" => info.component = p.small("a component")?,
                        "texture_index" => info.texture_index = p.small("an index")?,
                        "sampler_index" => info.sampler_index = p.small("an index")?,
                        "access" => info.access = p.small("access bits")?,
                        _ => {
                            let message = format!("texture operations have no property `{key}`");
                            return Err(p.error_at(at, message));
                        }
                    }
                }
            }
            Ok(())
        })?;
        Ok(self.create(body, InstrInit::Tex(info), shape, flags, &srcs))
    }

    fn deref(
        &mut self,
        module: &mut Module,
        body: &mut Body<'s, '_>,
        shape: Shape,
        word: &str,
        start: usize,
    ) -> Parsed<Instr> {
        let flags = self.flags()?;
        let mut srcs: SmallVec<[(Def, Swizzle); 4]> = SmallVec::new();
        let mut var = None;
        if word == "deref_var" {
            var = Some(self.var_label()?);
        } else {
            self.expect('&')?;
            self.expect('(')?;
            srcs.push((self.src(body)?, Swizzle::IDENTITY));
            self.expect(')')?;
        }
        let parent = srcs.first().and_then(|(label, _)| body.defs.get(label.0));
        let parent = parent.and_then(|def| body.f.deref(def.instr())).copied();
        let kind = match word {
            "deref_array" | "deref_ptr_as_array" => {
                self.expect('[')?;
                srcs.push((self.src(body)?, Swizzle::IDENTITY));
                self.expect(']')?;
                if word == "deref_array" { DerefKind::Array } else { DerefKind::PtrAsArray }
            }
            "deref_wildcard" => {
                self.expect('[')?;
                self.expect('*')?;
                self.expect(']')?;
                DerefKind::Wildcard
            }
            "deref_struct" => {
                self.expect('.')?;
                DerefKind::Struct(self.member_number(module, parent.as_ref())?)
            }
            "deref_cast" => DerefKind::Cast,
            _ => match var {
                Some(var) => DerefKind::Var(var),
                None => {
                    return Err(self.error_at(start, format!("no instruction is called `{word}`")));
                }
            },
        };
        let mut info = match self.eat('(') {
            true => self.deref_attributes(module, kind)?,
            false => match derived(module, body, kind, parent.as_ref()) {
                Some(info) => info,
                None => {
                    let mut error = self.error_at(start, "what this points to is not clear");
                    error.help = Some("write `(MODE TYPE)` behind it".into());
                    return Err(error);
                }
            },
        };
        info.kind = kind;
        Ok(self.create(body, InstrInit::Deref(info), shape, flags, &srcs))
    }

    /// A member by number, or by name where the parent is known.
    fn member_number(&mut self, module: &Module, parent: Option<&DerefInfo>) -> Parsed<u32> {
        let at = self.at;
        let word = self.word("a member")?;
        if let Some(n) = super::number(word) {
            return u32::try_from(n).map_err(|_| self.error_at(at, "there is no such member"));
        }
        let members = parent.and_then(|p| match &module.types[p.ty] {
            crate::types::TypeData::Struct(s) => Some(&s.members),
            _ => None,
        });
        let found = members.and_then(|members| members.iter().position(|m| m.name == word));
        match found {
            Some(n) => Ok(n as u32),
            None => Err(self.error_at(at, format!("no member is called `{word}` here"))),
        }
    }

    fn deref_attributes(&mut self, module: &mut Module, kind: DerefKind) -> Parsed<DerefInfo> {
        let modes = self.modes()?;
        let ty = self.ty(module)?;
        let mut info = DerefInfo { kind, modes, ty, stride: 0, access: 0 };
        while self.eat(',') {
            let at = self.at;
            match self.word("a property of a deref")? {
                "non_uniform" => info.access |= DerefInfo::NON_UNIFORM,
                "in_bounds" => info.access |= DerefInfo::IN_BOUNDS,
                "stride" => {
                    self.expect('=')?;
                    info.stride = self.small("a stride")?;
                }
                "access" => {
                    self.expect('=')?;
                    info.access |= self.small::<u32>("access bits")?;
                }
                word => {
                    return Err(self.error_at(at, format!("derefs have no property `{word}`")));
                }
            }
        }
        self.expect(')')?;
        Ok(info)
    }
}

/// What a deref points to where the text does not say: by its variable or parent.
fn derived(
    module: &Module,
    body: &Body<'_, '_>,
    kind: DerefKind,
    parent: Option<&DerefInfo>,
) -> Option<DerefInfo> {
    let (modes, ty) = match kind {
        DerefKind::Var(var) => var_type(module, body, var)?,
        DerefKind::Array | DerefKind::Wildcard => {
            (parent?.modes, module.types.element(parent?.ty)?)
        }
        DerefKind::Struct(n) => (parent?.modes, module.types.member(parent?.ty, n)?),
        DerefKind::PtrAsArray => (parent?.modes, parent?.ty),
        DerefKind::Cast => return None,
    };
    Some(DerefInfo { kind, modes, ty, stride: 0, access: 0 })
}

fn var_type(
    module: &Module,
    body: &Body<'_, '_>,
    var: Var,
) -> Option<(crate::types::Modes, crate::entity::Type)> {
    let vars = if var.is_local() { &body.f.locals } else { &module.vars };
    vars.get(var.slot()).map(|v| (v.mode, v.ty))
}
