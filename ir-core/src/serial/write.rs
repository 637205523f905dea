//! Writing.

use super::{MAGIC, SerializeOptions, VERSION, node};
use crate::cf::NodeKind;
use crate::entity::{Block, CfList, Def, Instr, Node};
use crate::func::{Function, Param};
use crate::instr::{DerefInfo, DerefKind, InstrView, Shape, TexInfo};
use crate::intern::Interner;
use crate::module::{
    Constant, ExecutionMode, ModeArg, Module, SpecArg, SpecConstant, SpecValue, Variable,
};
use crate::op::AluInfo;
use crate::types::{ArrayLen, Decoration, ImageType, Member, TypeData};

/// Bytes so far and the strings that they name.
struct Writer<'m> {
    out: Vec<u8>,
    strings: Interner<&'m str>,
    strip: bool,
}

pub(super) fn module(module: &Module, options: &SerializeOptions) -> Vec<u8> {
    let mut w =
        Writer { out: Vec::new(), strings: Interner::default(), strip: options.strip_names };
    w.declarations(module);
    for f in &module.functions {
        w.function(f);
    }
    let mut file = Writer { out: MAGIC.to_vec(), strings: Interner::default(), strip: false };
    file.number(VERSION);
    file.count(w.strings.values().len());
    for string in w.strings.values() {
        file.count(string.len());
        file.out.extend_from_slice(string.as_bytes());
    }
    file.out.append(&mut w.out);
    file.out
}

impl<'m> Writer<'m> {
    // ---- primitives ---------------------------------------------------------------------------------

    fn byte(&mut self, byte: u8) {
        self.out.push(byte);
    }

    fn number(&mut self, mut n: u64) {
        while n >= 0x80 {
            self.byte(n as u8 | 0x80);
            n >>= 7;
        }
        self.byte(n as u8);
    }

    fn count(&mut self, n: usize) {
        self.number(n as u64);
    }

    /// A difference, small in either direction.
    fn signed(&mut self, n: i64) {
        self.number((n << 1 ^ n >> 63) as u64);
    }

    fn string(&mut self, s: &'m str) {
        let n = self.strings.insert(s);
        self.number(n.into());
    }

    fn name(&mut self, s: &'m str) {
        self.string(if self.strip { "" } else { s });
    }

    fn option(&mut self, n: Option<u32>) {
        match n {
            Some(n) => self.number(u64::from(n) + 1),
            None => self.number(0),
        }
    }

    fn index(&mut self, n: usize) {
        self.count(n);
    }

    // ---- declarations -------------------------------------------------------------------------------

    fn declarations(&mut self, module: &'m Module) {
        self.byte(module.form as u8);
        let spirv = &module.spirv;
        self.byte(spirv.version.0);
        self.byte(spirv.version.1);
        self.string(&spirv.addressing);
        self.string(&spirv.memory);
        for names in [&spirv.capabilities, &spirv.extensions] {
            self.count(names.len());
            names.iter().for_each(|n| self.string(n));
        }
        self.count(module.types.len());
        for (ty, data) in module.types.iter() {
            self.ty(data, module.types.is_forward(ty));
        }
        self.count(module.spec_consts.len());
        module.spec_consts.iter().for_each(|s| self.spec(s));
        self.count(module.vars.len());
        module.vars.iter().for_each(|v| self.variable(v));
        self.count(module.entry_points.len());
        for entry in &module.entry_points {
            self.byte(entry.stage as u8);
            self.string(&entry.name);
            self.index(entry.function.index());
            self.count(entry.modes.len());
            entry.modes.iter().for_each(|m| self.mode(m));
            self.count(entry.interface.len());
            entry.interface.iter().for_each(|v| self.index(v.slot()));
        }
        self.count(module.functions.len());
    }

    fn mode(&mut self, mode: &'m ExecutionMode) {
        self.string(&mode.name);
        self.count(mode.args.len());
        for arg in &mode.args {
            match arg {
                ModeArg::Literal(n) => {
                    self.byte(0);
                    self.number((*n).into());
                }
                ModeArg::Spec(spec) => {
                    self.byte(1);
                    self.index(spec.index());
                }
            }
        }
    }

    fn decorations(&mut self, decorations: &'m [Decoration]) {
        self.count(decorations.len());
        for decoration in decorations {
            self.string(&decoration.name);
            self.count(decoration.args.len());
            decoration.args.iter().for_each(|&n| self.number(n.into()));
        }
    }

    fn ty(&mut self, data: &'m TypeData, forward: bool) {
        match data {
            TypeData::Void => self.byte(0),
            TypeData::Bool => self.byte(1),
            TypeData::Int { bits, signed } => {
                self.byte(2);
                self.byte(*bits);
                self.byte((*signed).into());
            }
            TypeData::Float { bits } => {
                self.byte(3);
                self.byte(*bits);
            }
            TypeData::Vector { elem, len } => {
                self.byte(4);
                self.index(elem.index());
                self.byte(*len);
            }
            TypeData::Matrix { column, cols } => {
                self.byte(5);
                self.index(column.index());
                self.byte(*cols);
            }
            TypeData::Array { elem, len, stride } => {
                self.byte(6);
                self.index(elem.index());
                match len {
                    ArrayLen::Const(n) => {
                        self.byte(0);
                        self.number((*n).into());
                    }
                    ArrayLen::Spec(spec) => {
                        self.byte(1);
                        self.index(spec.index());
                    }
                    ArrayLen::Runtime => self.byte(2),
                }
                self.number((*stride).into());
            }
            TypeData::Struct(s) => {
                self.byte(7);
                self.name(&s.name);
                self.decorations(&s.decorations);
                self.count(s.members.len());
                s.members.iter().for_each(|m| self.member(m));
            }
            TypeData::Image(image) => self.image(image),
            TypeData::Sampler => self.byte(9),
            TypeData::SampledImage { image } => {
                self.byte(10);
                self.index(image.index());
            }
            TypeData::AccelerationStructure => self.byte(11),
            TypeData::RayQuery => self.byte(12),
            TypeData::Pointer { modes, pointee, stride } => {
                self.byte(if forward { 14 } else { 13 });
                self.number(modes.bits().into());
                self.option(pointee.map(|t| t.index() as u32));
                self.number((*stride).into());
            }
        }
    }

    fn member(&mut self, member: &'m Member) {
        self.index(member.ty.index());
        self.name(&member.name);
        self.option(member.offset);
        self.option(member.matrix_stride);
        self.byte(member.row_major.into());
        self.decorations(&member.decorations);
    }

    fn image(&mut self, image: &'m ImageType) {
        self.byte(8);
        self.index(image.sampled_type.index());
        self.byte(image.dim as u8);
        self.byte(image.depth);
        self.byte(image.arrayed.into());
        self.byte(image.multisampled.into());
        self.byte(image.sampled);
        self.string(&image.format);
    }

    fn spec(&mut self, spec: &'m SpecConstant) {
        self.name(&spec.name);
        self.index(spec.ty.index());
        self.decorations(&spec.decorations);
        match &spec.value {
            SpecValue::Scalar { id, default } => {
                self.byte(0);
                self.option(*id);
                self.number(*default);
            }
            SpecValue::Composite(parts) => {
                self.byte(1);
                self.count(parts.len());
                parts.iter().for_each(|p| self.constant(p));
            }
            SpecValue::Op { opcode, args } => {
                self.byte(2);
                self.string(opcode);
                self.count(args.len());
                for arg in args {
                    match arg {
                        SpecArg::Constant(ty, constant) => {
                            self.byte(0);
                            self.index(ty.index());
                            self.constant(constant);
                        }
                        SpecArg::Literal(n) => {
                            self.byte(1);
                            self.number((*n).into());
                        }
                    }
                }
            }
        }
    }

    /// A constant before its parts.
    fn constant(&mut self, constant: &Constant) {
        let mut stack = vec![constant];
        while let Some(constant) = stack.pop() {
            match constant {
                Constant::Bits(bits) => {
                    self.byte(0);
                    self.count(bits.len());
                    bits.iter().for_each(|&b| self.number(b));
                }
                Constant::Composite(parts) => {
                    self.byte(1);
                    self.count(parts.len());
                    stack.extend(parts.iter().rev());
                }
                Constant::Null => self.byte(2),
                Constant::Undef => self.byte(3),
                Constant::Spec(spec) => {
                    self.byte(4);
                    self.index(spec.index());
                }
                Constant::Address(var) => {
                    self.byte(5);
                    self.index(var.slot());
                }
            }
        }
    }

    fn variable(&mut self, var: &'m Variable) {
        self.name(&var.name);
        self.number(var.mode.bits().into());
        self.index(var.ty.index());
        let flags = u8::from(var.binding.is_some())
            | u8::from(var.builtin.is_some()) << 1
            | u8::from(var.init.is_some()) << 2;
        self.byte(flags);
        if let Some((set, binding)) = var.binding {
            self.number(set.into());
            self.number(binding.into());
        }
        self.option(var.location);
        if let Some(builtin) = &var.builtin {
            self.string(builtin);
        }
        if let Some(init) = &var.init {
            self.constant(init);
        }
        self.decorations(&var.decorations);
    }

    // ---- functions ----------------------------------------------------------------------------------

    fn param(&mut self, param: &'m Param) {
        self.name(&param.name);
        self.index(param.ty.index());
        self.byte(param.comps);
        self.byte(param.bits);
    }

    fn function(&mut self, f: &'m Function) {
        self.name(&f.name);
        self.byte(u8::from(f.has_body) | u8::from(f.ret.is_some()) << 1);
        self.count(f.params.len());
        f.params.iter().chain(&f.ret).for_each(|p| self.param(p));
        self.number(f.control.into());
        for slot in 0..3 {
            self.byte(f.float_env.denorm[slot] as u8);
            self.byte(f.float_env.rounding[slot] as u8);
        }
        self.count(f.locals.len());
        f.locals.iter().for_each(|v| self.variable(v));
        if f.has_body {
            Body::new(self, f).write();
        }
    }
}

/// A function's code being written.
struct Body<'w, 'm> {
    w: &'w mut Writer<'m>,
    f: &'m Function,
    /// Numbers of instructions and blocks in the order of the text.
    instrs: Vec<u32>,
    blocks: Vec<u32>,
    next: u32,
}

enum Step {
    From(Node),
    List(CfList),
    End,
}

impl<'w, 'm> Body<'w, 'm> {
    fn new(w: &'w mut Writer<'m>, f: &'m Function) -> Self {
        let mut instrs = vec![0; f.instr_capacity()];
        let mut blocks = vec![0; f.block_capacity()];
        let mut next = 0;
        for (n, block) in f.blocks().enumerate() {
            blocks[block.index()] = n as u32;
            for instr in f.instrs(block) {
                instrs[instr.index()] = next;
                next += 1;
            }
        }
        Body { w, f, instrs, blocks, next: 0 }
    }

    fn write(mut self) {
        let mut steps = vec![Step::End, Step::List(self.f.body())];
        while let Some(step) = steps.pop() {
            match step {
                Step::End => self.w.byte(node::END),
                Step::List(list) => {
                    steps.extend(self.f.list_nodes(list).next().map(Step::From));
                }
                Step::From(node) => {
                    steps.extend(self.f.next_node(node).map(Step::From));
                    match self.f.node_kind(node) {
                        NodeKind::Block(block) => self.block(block),
                        NodeKind::If { .. } => {
                            self.w.byte(node::IF);
                            if let Some(condition) = self.f.condition(node) {
                                self.def(condition);
                            }
                            self.w.number(self.f.node_control(node).into());
                        }
                        NodeKind::Loop { .. } => {
                            self.w.byte(node::LOOP);
                            self.w.number(self.f.node_control(node).into());
                        }
                        NodeKind::Once { .. } => self.w.byte(node::ONCE),
                    }
                    for list in self.f.child_lists(node).into_iter().rev() {
                        steps.extend([Step::End, Step::List(list)]);
                    }
                }
            }
        }
    }

    /// An operand: how far behind its user it is defined.
    fn def(&mut self, def: Def) {
        let at = self.instrs[def.index()];
        self.w.signed(i64::from(self.next) - i64::from(at));
    }

    fn block(&mut self, block: Block) {
        self.w.byte(node::BLOCK);
        self.w.count(self.f.instrs(block).count());
        for instr in self.f.instrs(block) {
            self.instr(instr);
            self.next += 1;
        }
    }

    /// Kind and what else has few values in the first byte; then shape, flags, payload, sources.
    fn instr(&mut self, instr: Instr) {
        let f = self.f;
        let shape = f.def(instr).map_or(Shape::NONE, |d| f.shape(d));
        let name = f.names.get(&instr.def()).filter(|_| !self.w.strip);
        let flags = f.flags(instr);
        let kind = f.kind(instr) as u8;
        self.w.byte(kind | u8::from(name.is_some()) << 6 | u8::from(!flags.is_empty()) << 7);
        self.w.byte(shape.to_byte());
        if !flags.is_empty() {
            self.w.number(flags.bits().into());
        }
        if let Some(name) = name {
            self.w.string(name);
        }
        match f.view(instr) {
            InstrView::Alu(op) => {
                let info = f.dialects.alu(op);
                self.w.string(info.map_or("?", |i| i.name));
                self.alu_srcs(instr, info);
                return;
            }
            InstrView::Intrinsic(op, indices) => {
                self.w.string(f.dialects.intrinsic(op).map_or("?", |i| i.name));
                indices.iter().for_each(|&n| self.w.number(n.into()));
            }
            InstrView::Tex(tex) => self.tex(tex),
            InstrView::Deref(deref) => self.deref(deref),
            InstrView::LoadConst(bits) => bits.iter().for_each(|&b| self.w.number(b)),
            InstrView::Undef => {}
            InstrView::Phi(preds) => {
                let mut order: Vec<usize> = (0..preds.len()).collect();
                order.sort_by_key(|&n| self.blocks[preds[n].index()]);
                self.w.count(order.len());
                for n in order {
                    self.w.number(self.blocks[preds[n].index()].into());
                    self.def(f.src(instr, n));
                }
                return;
            }
            InstrView::Jump(jump) => self.w.byte(jump as u8),
            InstrView::Call(func) => self.w.index(func.index()),
            InstrView::ParallelCopy => {}
        }
        let srcs = f.srcs(instr);
        self.w.count(srcs.len());
        srcs.iter().for_each(|s| self.def(s.def));
    }

    fn alu_srcs(&mut self, instr: Instr, info: Option<&AluInfo>) {
        let f = self.f;
        let comps = f.shape(instr.def()).comps();
        for (n, src) in f.srcs(instr).iter().enumerate() {
            self.def(src.def);
            // Scalars take one of at most sixteen; most swizzles are the identity.
            let reads = match info {
                Some(info) if n < info.inputs.len() => info.src_comps(n, comps),
                _ => comps,
            };
            let identity = src.swizzle.is_identity(reads);
            self.w.byte(u8::from(!identity));
            if !identity {
                let picked: Vec<u8> = src.swizzle.iter(reads).collect();
                picked.chunks(2).for_each(|pair| {
                    self.w.byte(pair[0] | pair.get(1).copied().unwrap_or(0) << 4);
                });
            }
        }
    }

    fn tex(&mut self, tex: &TexInfo) {
        let w = &mut *self.w;
        w.byte(tex.op as u8);
        w.byte(tex.dim as u8);
        let flags =
            u8::from(tex.is_array) | u8::from(tex.is_shadow) << 1 | u8::from(tex.is_sparse) << 2;
        w.byte(flags);
        w.byte(tex.dest_type);
        w.byte(tex.component);
        for n in [tex.texture_index, tex.sampler_index, tex.access] {
            w.number(n.into());
        }
        w.count(tex.srcs.len());
        tex.srcs.iter().for_each(|&s| w.byte(s as u8));
    }

    fn deref(&mut self, deref: &DerefInfo) {
        let w = &mut *self.w;
        match deref.kind {
            DerefKind::Var(var) => {
                w.byte(if var.is_local() { 1 } else { 0 });
                w.index(var.slot());
            }
            DerefKind::Array => w.byte(2),
            DerefKind::Wildcard => w.byte(3),
            DerefKind::Struct(member) => {
                w.byte(4);
                w.number(member.into());
            }
            DerefKind::Cast => w.byte(5),
            DerefKind::PtrAsArray => w.byte(6),
        }
        w.number(deref.modes.bits().into());
        w.index(deref.ty.index());
        w.number(deref.stride.into());
        w.number(deref.access.into());
    }
}
