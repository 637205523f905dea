//! Reading. Every count is checked against the bytes that are left, so that what is allocated is bounded by the input.

use super::{DecodeError, MAGIC, VERSION, node};
use crate::cf::NodeKind;
use crate::dialect::Dialects;
use crate::entity::{Block, CfList, Def, Func, SpecConst, Type, UseId, Var};
use crate::env::{Denorm, FloatEnv, Rounding};
use crate::func::{Function, Param};
use crate::instr::{
    DerefInfo, DerefKind, Flags, InstrInit, InstrKind, JumpKind, Shape, Swizzle, TexInfo, TexOp,
    TexSrc,
};
use crate::module::{
    Constant, EntryPoint, ExecutionMode, Form, ModeArg, Module, SpecArg, SpecConstant, SpecValue,
    SpirvInfo, Stage, Variable,
};
use crate::types::{ArrayLen, Decoration, Dim, ImageType, Member, Modes, StructType, TypeData};
use smallvec::SmallVec;

type Read<T> = Result<T, DecodeError>;

/// How deep constants nest at most.
const MAX_CONSTANT_DEPTH: usize = 256;

/// The kinds of instructions by number.
const KINDS: [InstrKind; 10] = [
    InstrKind::Alu,
    InstrKind::Intrinsic,
    InstrKind::Tex,
    InstrKind::Deref,
    InstrKind::LoadConst,
    InstrKind::Undef,
    InstrKind::Phi,
    InstrKind::Jump,
    InstrKind::Call,
    InstrKind::ParallelCopy,
];

/// A place in the bytes, and the strings.
struct Reader<'b> {
    bytes: &'b [u8],
    at: usize,
    strings: Vec<&'b str>,
    dialects: Dialects,
    types: usize,
}

pub(super) fn module(bytes: &[u8], dialects: Dialects) -> Read<Module> {
    let mut r = Reader { bytes, at: 0, strings: Vec::new(), dialects, types: 0 };
    if r.take(4)? != MAGIC {
        r.at = 0;
        return r.error("this is no module: the magic is missing");
    }
    match r.number()? {
        VERSION => {}
        n => return r.error(format!("this reads version {VERSION} of the format, not {n}")),
    }
    for _ in 0..r.count()? {
        let len = r.count()?;
        let string = std::str::from_utf8(r.take(len)?);
        match string {
            Ok(string) => r.strings.push(string),
            Err(_) => return r.error("a string is not UTF-8"),
        }
    }
    let mut module = Module::new();
    module.dialects = dialects;
    let functions = r.declarations(&mut module)?;
    for _ in 0..functions {
        let function = r.function()?;
        module.functions.push(function);
    }
    match r.at == bytes.len() {
        true => Ok(module),
        false => r.error("bytes follow the module"),
    }
}

impl<'b> Reader<'b> {
    // ---- primitives ---------------------------------------------------------------------------------

    fn error<T>(&self, message: impl Into<String>) -> Read<T> {
        Err(DecodeError { offset: self.at, message: message.into() })
    }

    fn take(&mut self, len: usize) -> Read<&'b [u8]> {
        match self.bytes.get(self.at..).and_then(|rest| rest.get(..len)) {
            Some(taken) => {
                self.at += len;
                Ok(taken)
            }
            None => self.error("the bytes end too soon"),
        }
    }

    fn byte(&mut self) -> Read<u8> {
        Ok(self.take(1)?[0])
    }

    fn number(&mut self) -> Read<u64> {
        let mut n = 0u64;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            let bits = u64::from(byte & 0x7f);
            if shift == 63 && bits > 1 {
                break;
            }
            n |= bits << shift;
            if byte < 0x80 {
                return Ok(n);
            }
        }
        self.error("a number is too large")
    }

    fn u32(&mut self) -> Read<u32> {
        let n = self.number()?;
        u32::try_from(n).or_else(|_| self.error("a number is too large"))
    }

    /// A count of things that take at least a byte each.
    fn count(&mut self) -> Read<usize> {
        let n = self.number()?;
        match usize::try_from(n) {
            Ok(n) if n <= self.bytes.len() - self.at => Ok(n),
            _ => self.error("a count is larger than what is left"),
        }
    }

    fn flag(&mut self) -> Read<bool> {
        match self.byte()? {
            0 => Ok(false),
            1 => Ok(true),
            _ => self.error("neither true nor false"),
        }
    }

    fn string(&mut self) -> Read<&'b str> {
        let n = self.number()?;
        match usize::try_from(n).ok().and_then(|n| self.strings.get(n)) {
            Some(string) => Ok(string),
            None => self.error("there is no such string"),
        }
    }

    fn owned(&mut self) -> Read<String> {
        Ok(self.string()?.to_owned())
    }

    fn option(&mut self) -> Read<Option<u32>> {
        match self.number()? {
            0 => Ok(None),
            n => match u32::try_from(n - 1) {
                Ok(n) => Ok(Some(n)),
                Err(_) => self.error("a number is too large"),
            },
        }
    }

    fn of<T: Copy>(&mut self, names: &[(&str, T)]) -> Read<T> {
        let n = self.byte()?;
        match names.get(usize::from(n)) {
            Some((_, value)) => Ok(*value),
            None => self.error("a value is outside of its enumeration"),
        }
    }

    fn ty(&mut self) -> Read<Type> {
        let n = self.u32()?;
        match (n as usize) < self.types {
            true => Ok(Type(n)),
            false => self.error("there is no such type"),
        }
    }

    fn spec_const(&mut self) -> Read<SpecConst> {
        Ok(SpecConst(self.u32()?))
    }

    fn slot(&mut self) -> Read<usize> {
        match self.u32()? {
            n if n < 1 << 31 => Ok(n as usize),
            _ => self.error("a number is too large"),
        }
    }

    fn modes(&mut self) -> Read<Modes> {
        match Modes::from_bits(self.u32()?) {
            Some(modes) => Ok(modes),
            None => self.error("there is no such memory mode"),
        }
    }

    // ---- declarations -------------------------------------------------------------------------------

    /// Reads all but the functions, and how many there are.
    fn declarations(&mut self, module: &mut Module) -> Read<usize> {
        module.form = match self.byte()? {
            0 => Form::Logical,
            1 => Form::Explicit,
            2 => Form::Backend,
            _ => return self.error("there is no such form"),
        };
        let version = (self.byte()?, self.byte()?);
        let (addressing, memory) = (self.owned()?, self.owned()?);
        let capabilities = self.strings()?;
        let extensions = self.strings()?;
        module.spirv = SpirvInfo { version, capabilities, extensions, addressing, memory };
        let types = self.count()?;
        let mut pointees = Vec::new();
        for n in 0..types {
            self.types = n;
            let data = self.type_data(types)?;
            let ty = match data {
                (TypeData::Pointer { modes, pointee, stride }, true) => {
                    pointees.extend(pointee.map(|to| (Type(n as u32), to)));
                    module.types.forward_pointer(modes, stride)
                }
                (data, _) => module.types.append(data),
            };
            debug_assert_eq!(ty.index(), n);
        }
        self.types = types;
        for (pointer, to) in pointees {
            module.types.resolve_pointer(pointer, to);
        }
        for _ in 0..self.count()? {
            let spec = self.spec()?;
            module.spec_consts.push(spec);
        }
        for _ in 0..self.count()? {
            let var = self.variable()?;
            module.vars.push(var);
        }
        for _ in 0..self.count()? {
            let entry = self.entry_point()?;
            module.entry_points.push(entry);
        }
        self.count()
    }

    fn strings(&mut self) -> Read<Vec<String>> {
        (0..self.count()?).map(|_| self.owned()).collect()
    }

    fn entry_point(&mut self) -> Read<EntryPoint> {
        let stage = self.of(Stage::NAMES)?;
        let name = self.owned()?;
        let function = Func(self.u32()?);
        let mut modes = Vec::new();
        for _ in 0..self.count()? {
            let name = self.owned()?;
            let mut args = Vec::new();
            for _ in 0..self.count()? {
                args.push(match self.flag()? {
                    false => ModeArg::Literal(self.u32()?),
                    true => ModeArg::Spec(self.spec_const()?),
                });
            }
            modes.push(ExecutionMode { name, args });
        }
        let count = self.count()?;
        let interface =
            (0..count).map(|_| self.slot().map(Var::global)).collect::<Read<Vec<Var>>>()?;
        Ok(EntryPoint { stage, name, function, modes, interface })
    }

    fn decorations(&mut self) -> Read<Vec<Decoration>> {
        let mut decorations = Vec::new();
        for _ in 0..self.count()? {
            let name = self.owned()?;
            let args = (0..self.count()?).map(|_| self.u32()).collect::<Read<Vec<u32>>>()?;
            decorations.push(Decoration { name, args });
        }
        Ok(decorations)
    }

    /// A type's data, and whether it is a forward pointer; those may name any of the `all` types.
    fn type_data(&mut self, all: usize) -> Read<(TypeData, bool)> {
        let tag = self.byte()?;
        let data = match tag {
            0 => TypeData::Void,
            1 => TypeData::Bool,
            2 => TypeData::Int { bits: self.byte()?, signed: self.flag()? },
            3 => TypeData::Float { bits: self.byte()? },
            4 => TypeData::Vector { elem: self.ty()?, len: self.byte()? },
            5 => TypeData::Matrix { column: self.ty()?, cols: self.byte()? },
            6 => {
                let elem = self.ty()?;
                let len = match self.byte()? {
                    0 => ArrayLen::Const(self.u32()?),
                    1 => ArrayLen::Spec(self.spec_const()?),
                    2 => ArrayLen::Runtime,
                    _ => return self.error("there is no such array length"),
                };
                TypeData::Array { elem, len, stride: self.u32()? }
            }
            7 => {
                let name = self.owned()?;
                let decorations = self.decorations()?;
                let mut members = Vec::new();
                for _ in 0..self.count()? {
                    members.push(Member {
                        ty: self.ty()?,
                        name: self.owned()?,
                        offset: self.option()?,
                        matrix_stride: self.option()?,
                        row_major: self.flag()?,
                        decorations: self.decorations()?,
                    });
                }
                TypeData::Struct(StructType { name, members, decorations })
            }
            8 => TypeData::Image(ImageType {
                sampled_type: self.ty()?,
                dim: self.of(Dim::NAMES)?,
                depth: self.byte()?,
                arrayed: self.flag()?,
                multisampled: self.flag()?,
                sampled: self.byte()?,
                format: self.owned()?,
            }),
            9 => TypeData::Sampler,
            10 => TypeData::SampledImage { image: self.ty()? },
            11 => TypeData::AccelerationStructure,
            12 => TypeData::RayQuery,
            13 | 14 => {
                let modes = self.modes()?;
                let pointee = self.option()?.map(Type);
                let known = if tag == 14 { all } else { self.types };
                if pointee.is_some_and(|t| t.index() >= known) {
                    return self.error("there is no such type");
                }
                TypeData::Pointer { modes, pointee, stride: self.u32()? }
            }
            _ => return self.error("there is no such type"),
        };
        Ok((data, tag == 14))
    }

    fn spec(&mut self) -> Read<SpecConstant> {
        let name = self.owned()?;
        let ty = self.ty()?;
        let decorations = self.decorations()?;
        let value = match self.byte()? {
            0 => SpecValue::Scalar { id: self.option()?, default: self.number()? },
            1 => {
                let count = self.count()?;
                let parts = (0..count).map(|_| self.constant()).collect::<Read<Vec<Constant>>>()?;
                SpecValue::Composite(parts)
            }
            2 => {
                let opcode = self.owned()?;
                let mut args = Vec::new();
                for _ in 0..self.count()? {
                    args.push(match self.flag()? {
                        false => SpecArg::Constant(self.ty()?, self.constant()?),
                        true => SpecArg::Literal(self.u32()?),
                    });
                }
                SpecValue::Op { opcode, args }
            }
            _ => return self.error("there is no such specialisation constant"),
        };
        Ok(SpecConstant { name, ty, value, decorations })
    }

    fn constant(&mut self) -> Read<Constant> {
        // Composites being read, and how many parts each still lacks.
        let mut open: Vec<(Vec<Constant>, usize)> = Vec::new();
        loop {
            let mut value = match self.byte()? {
                0 => {
                    let count = self.count()?;
                    Constant::Bits((0..count).map(|_| self.number()).collect::<Read<Vec<u64>>>()?)
                }
                1 => {
                    let count = self.count()?;
                    if open.len() == MAX_CONSTANT_DEPTH {
                        return self.error("a constant nests too deeply");
                    }
                    if count > 0 {
                        open.push((Vec::new(), count));
                        continue;
                    }
                    Constant::Composite(Vec::new())
                }
                2 => Constant::Null,
                3 => Constant::Undef,
                4 => Constant::Spec(self.spec_const()?),
                5 => Constant::Address(Var::global(self.slot()?)),
                _ => return self.error("there is no such constant"),
            };
            loop {
                let Some((parts, left)) = open.last_mut() else { return Ok(value) };
                parts.push(value);
                *left -= 1;
                if *left > 0 {
                    break;
                }
                value = Constant::Composite(open.pop().map(|(parts, _)| parts).unwrap_or_default());
            }
        }
    }

    fn variable(&mut self) -> Read<Variable> {
        let name = self.owned()?;
        let mode = self.modes()?;
        let mut var = Variable::new(name, mode, self.ty()?);
        let flags = self.byte()?;
        if flags & 1 != 0 {
            var.binding = Some((self.u32()?, self.u32()?));
        }
        var.location = self.option()?;
        if flags & 2 != 0 {
            var.builtin = Some(self.owned()?);
        }
        if flags & 4 != 0 {
            var.init = Some(self.constant()?);
        }
        var.decorations = self.decorations()?;
        Ok(var)
    }

    // ---- functions ----------------------------------------------------------------------------------

    fn param(&mut self) -> Read<Param> {
        Ok(Param { name: self.owned()?, ty: self.ty()?, comps: self.byte()?, bits: self.byte()? })
    }

    fn function(&mut self) -> Read<Function> {
        let name = self.owned()?;
        let has = self.byte()?;
        let mut f = match has & 1 {
            1 => Function::new(name),
            _ => Function::declaration(name),
        };
        f.dialects = self.dialects;
        for _ in 0..self.count()? {
            let param = self.param()?;
            f.params.push(param);
        }
        if has & 2 != 0 {
            f.ret = Some(self.param()?);
        }
        f.control = self.u32()?;
        let mut env = FloatEnv::default();
        for slot in 0..3 {
            env.denorm[slot] = self.of(Denorm::NAMES)?;
            env.rounding[slot] = self.of(Rounding::NAMES)?;
        }
        f.float_env = env;
        for _ in 0..self.count()? {
            let local = self.variable()?;
            f.locals.push(local);
        }
        if f.has_body {
            self.body(&mut f)?;
        }
        f.shrink_to_fit();
        Ok(f)
    }

    fn body(&mut self, f: &mut Function) -> Read<()> {
        let mut lists: Vec<CfList> = vec![f.body()];
        let mut started = false;
        let mut conditions = Vec::new();
        while let Some(&list) = lists.last() {
            match self.byte()? {
                node::END => {
                    let ends_well = if list == f.body() { started } else { true };
                    if !ends_well || f.last_list_block(list).is_none() {
                        return self.error("a list does not end with a block");
                    }
                    lists.pop();
                }
                node::BLOCK => {
                    let block = if list == f.body() && !started {
                        started = true;
                        f.start_block()
                    } else if f.last_list_block(list).is_none() {
                        f.append_block(list)
                    } else {
                        return self.error("a block follows a block");
                    };
                    for _ in 0..self.count()? {
                        self.instr(f, block)?;
                    }
                }
                tag => {
                    if f.last_list_block(list).is_none() || (list == f.body() && !started) {
                        return self.error("no block stands before a node");
                    }
                    self.open_node(f, list, tag, &mut lists, &mut conditions)?;
                }
            }
        }
        self.finish(f, &conditions)
    }

    fn open_node(
        &mut self,
        f: &mut Function,
        list: CfList,
        tag: u8,
        lists: &mut Vec<CfList>,
        conditions: &mut Vec<UseId>,
    ) -> Read<()> {
        let first = f.raw_list();
        match tag {
            node::IF => {
                let else_list = f.raw_list();
                let kind = NodeKind::If { then_list: first, else_list };
                let condition = self.def(f)?;
                let node = f.append_node(list, kind);
                f.raw_condition(node, condition);
                let control = self.u32()?;
                f.set_node_control(node, control);
                conditions.push(UseId(f.uses.len() as u32 - 1));
                lists.extend([else_list, first]);
            }
            node::LOOP => {
                let continue_list = f.raw_list();
                let node = f.append_node(list, NodeKind::Loop { body: first, continue_list });
                let control = self.u32()?;
                f.set_node_control(node, control);
                lists.extend([continue_list, first]);
            }
            node::ONCE => {
                f.append_node(list, NodeKind::Once { body: first });
                lists.push(first);
            }
            _ => return self.error("there is no such node"),
        }
        Ok(())
    }

    /// Checks what could only be checked with all instructions and blocks there, then links uses and edges.
    fn finish(&self, f: &mut Function, conditions: &[UseId]) -> Read<()> {
        let blocks = f.blocks.len() as u32 - 1;
        for pred in &mut f.phi_preds {
            // The end block has number 1 and no place in the text.
            *pred = match pred.0 {
                0 => Block(0),
                n if n < blocks => Block(n + 1),
                _ => return self.error("there is no such block"),
            };
        }
        for record in &f.uses {
            let known = record.def.index() < f.instrs.len();
            if !known || f.def(record.def.instr()).is_none() {
                return self.error("an operand is no value");
            }
        }
        debug_assert!(conditions.iter().all(|id| id.index() < f.uses.len()));
        for id in 0..f.uses.len() {
            f.link_use(UseId(id as u32));
        }
        f.compute_edges();
        Ok(())
    }

    /// An operand of the instruction that comes next.
    fn def(&mut self, f: &Function) -> Read<Def> {
        let n = self.number()?;
        let distance = (n >> 1) as i64 ^ -((n & 1) as i64);
        let at = (f.instrs.len() as i64).checked_sub(distance);
        match at.and_then(|at| u32::try_from(at).ok()).filter(|&at| at < u32::MAX) {
            Some(at) => Ok(Def(at)),
            None => self.error("an operand is no value"),
        }
    }

    fn instr(&mut self, f: &mut Function, block: Block) -> Read<()> {
        let head = self.byte()?;
        let Some(&kind) = KINDS.get(usize::from(head & 0x3f)) else {
            return self.error("there is no such kind of instruction");
        };
        let Some(shape) = Shape::from_byte(self.byte()?) else {
            return self.error("no value has such a shape");
        };
        let valued = !matches!(
            kind,
            InstrKind::Intrinsic | InstrKind::Jump | InstrKind::Call | InstrKind::ParallelCopy
        );
        if valued && shape == Shape::NONE {
            return self.error("an instruction lacks its value");
        }
        let mut flags = Flags::empty();
        if head & 0x80 != 0 {
            let bits = u16::try_from(self.number()?).ok();
            flags = match bits.and_then(Flags::from_bits) {
                Some(flags) => flags,
                None => return self.error("there is no such flag"),
            };
        }
        let name = match head & 0x40 {
            0 => None,
            _ => Some(self.owned()?),
        };
        let instr = match kind {
            InstrKind::Alu => self.alu(f, shape)?,
            InstrKind::Intrinsic => self.intrinsic(f, shape)?,
            InstrKind::Tex => {
                let tex = self.tex()?;
                let srcs = self.srcs(f)?;
                f.create_unlinked(InstrInit::Tex(tex), shape, &srcs)
            }
            InstrKind::Deref => {
                let deref = self.deref()?;
                let srcs = self.srcs(f)?;
                f.create_unlinked(InstrInit::Deref(deref), shape, &srcs)
            }
            InstrKind::LoadConst => {
                let count = shape.comps();
                let bits =
                    (0..count).map(|_| self.number()).collect::<Read<SmallVec<[u64; 16]>>>()?;
                let srcs = self.srcs(f)?;
                f.create_unlinked(InstrInit::LoadConst(&bits), shape, &srcs)
            }
            InstrKind::Undef => {
                let srcs = self.srcs(f)?;
                f.create_unlinked(InstrInit::Undef, shape, &srcs)
            }
            InstrKind::Phi => {
                let mut preds = Vec::new();
                let mut srcs = Vec::new();
                for _ in 0..self.src_count()? {
                    preds.push(Block(self.u32()?));
                    srcs.push((self.def(f)?, Swizzle::IDENTITY));
                }
                f.create_unlinked(InstrInit::Phi(&preds), shape, &srcs)
            }
            InstrKind::Jump => {
                let jump = self.of(JumpKind::NAMES)?;
                let srcs = self.srcs(f)?;
                f.create_unlinked(InstrInit::Jump(jump), shape, &srcs)
            }
            InstrKind::Call => {
                let func = Func(self.u32()?);
                let srcs = self.srcs(f)?;
                f.create_unlinked(InstrInit::Call(func), shape, &srcs)
            }
            InstrKind::ParallelCopy => {
                let srcs = self.srcs(f)?;
                f.create_unlinked(InstrInit::ParallelCopy, shape, &srcs)
            }
        };
        f.set_flags(instr, flags);
        if let Some(name) = name {
            f.names.insert(instr.def(), name);
        }
        f.place_last(instr, block);
        Ok(())
    }

    fn src_count(&mut self) -> Read<usize> {
        match self.count()? {
            n if n <= usize::from(u16::MAX) => Ok(n),
            _ => self.error("an instruction has too many sources"),
        }
    }

    fn srcs(&mut self, f: &Function) -> Read<SmallVec<[(Def, Swizzle); 4]>> {
        (0..self.src_count()?).map(|_| Ok((self.def(f)?, Swizzle::IDENTITY))).collect()
    }

    fn alu(&mut self, f: &mut Function, shape: Shape) -> Read<crate::entity::Instr> {
        let name = self.string()?;
        let op = self.dialects.alu_by_name(name);
        let Some((op, info)) = op.and_then(|op| Some((op, self.dialects.alu(op)?))) else {
            return self.error(format!("no opcode is called `{name}`"));
        };
        let mut srcs: SmallVec<[(Def, Swizzle); 4]> = SmallVec::new();
        for n in 0..info.inputs.len() {
            let def = self.def(f)?;
            let mut swizzle = Swizzle::IDENTITY;
            if self.flag()? {
                let reads = info.src_comps(n, shape.comps());
                for pair in 0..reads.div_ceil(2) {
                    let byte = self.byte()?;
                    swizzle = swizzle.with(usize::from(2 * pair), byte & 15);
                    if 2 * pair + 1 < reads {
                        swizzle = swizzle.with(usize::from(2 * pair) + 1, byte >> 4);
                    }
                }
            }
            srcs.push((def, swizzle));
        }
        Ok(f.create_unlinked(InstrInit::Alu(op), shape, &srcs))
    }

    fn intrinsic(&mut self, f: &mut Function, shape: Shape) -> Read<crate::entity::Instr> {
        let name = self.string()?;
        let op = self.dialects.intrinsic_by_name(name);
        let Some((op, info)) = op.and_then(|op| Some((op, self.dialects.intrinsic(op)?))) else {
            return self.error(format!("no intrinsic is called `{name}`"));
        };
        let indices =
            info.indices.iter().map(|_| self.u32()).collect::<Read<SmallVec<[u32; 8]>>>()?;
        let srcs = self.srcs(f)?;
        Ok(f.create_unlinked(InstrInit::Intrinsic(op, &indices), shape, &srcs))
    }

    fn tex(&mut self) -> Read<TexInfo> {
        let op = self.of(TexOp::NAMES)?;
        let dim = self.of(Dim::NAMES)?;
        let flags = self.byte()?;
        let (dest_type, component) = (self.byte()?, self.byte()?);
        let (texture_index, sampler_index, access) = (self.u32()?, self.u32()?, self.u32()?);
        let srcs = (0..self.count()?).map(|_| self.of(TexSrc::NAMES)).collect::<Read<_>>()?;
        Ok(TexInfo {
            op,
            srcs,
            dim,
            is_array: flags & 1 != 0,
            is_shadow: flags & 2 != 0,
            is_sparse: flags & 4 != 0,
            dest_type,
            component,
            texture_index,
            sampler_index,
            access,
        })
    }

    fn deref(&mut self) -> Read<DerefInfo> {
        let kind = match self.byte()? {
            0 => DerefKind::Var(Var::global(self.slot()?)),
            1 => DerefKind::Var(Var::local(self.slot()?)),
            2 => DerefKind::Array,
            3 => DerefKind::Wildcard,
            4 => DerefKind::Struct(self.u32()?),
            5 => DerefKind::Cast,
            6 => DerefKind::PtrAsArray,
            _ => return self.error("there is no such deref"),
        };
        Ok(DerefInfo {
            kind,
            modes: self.modes()?,
            ty: self.ty()?,
            stride: self.u32()?,
            access: self.u32()?,
        })
    }
}
