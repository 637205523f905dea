//! The body of a function: control flow and instructions.

use super::Printer;
use super::labels::{LOCAL, Label, VAR};
use super::module::{ModesText, Name, name_of};
use crate::cf::NodeKind;
use crate::entity::{Block, CfList, Def, Instr, Node, Var};
use crate::func::Function;
use crate::instr::{
    DerefInfo, DerefKind, Flags, InstrView, JumpKind, Shape, Swizzle, TexInfo, TexOp, TexSrc,
};
use crate::intrinsic::{Index, IndexInfo, IndexKind, Intrinsic};
use crate::op::AluOp;
use crate::types::{Dim, TypeData};
use std::fmt::{Formatter, Result, Write};

/// Names of the base type of a texture's result.
pub(crate) const DEST_TYPES: &[(&str, u8)] = &[("float", 0), ("int", 1), ("uint", 2)];

/// Longest path of a deref that is spelt out in a comment.
const MAX_PATH: usize = 12;

/// Columns that a depth is indented by. Bounded, so that the text of nested code is not quadratic.
fn indent(depth: usize) -> usize {
    2 * depth.min(40)
}

/// Letter of a component of a value with `comps` components.
pub(crate) fn component_letter(comp: u8, comps: u8) -> char {
    match comps {
        0..=4 => b"xyzw".get(usize::from(comp)).map_or('?', |&c| c.into()),
        _ => (b'a' + comp).into(),
    }
}

/// The numbers that values and blocks print as, by entity; `NONE` for those not in the text.
struct Numbers {
    defs: Vec<u32>,
    blocks: Vec<u32>,
    locals: Vec<Label>,
}

const NONE: u32 = u32::MAX;

impl Numbers {
    fn new(f: &Function, locals: Vec<Label>) -> Self {
        let mut defs = vec![NONE; f.instr_capacity()];
        let mut blocks = vec![NONE; f.block_capacity()];
        let mut next = 0;
        for (number, block) in (0..).zip(f.blocks().filter(|&b| !is_omitted(f, b))) {
            blocks[block.index()] = number;
            for instr in f.instrs(block) {
                if f.def(instr).is_some() {
                    defs[instr.index()] = next;
                    next += 1;
                }
            }
        }
        Numbers { defs, blocks, locals }
    }

    fn def(&self, f: &mut Formatter<'_>, def: Def) -> Result {
        match self.defs.get(def.index()) {
            Some(&n) if n != NONE => write!(f, "%{n}"),
            _ => write!(f, "%dead{}", def.index()),
        }
    }

    fn block(&self, block: Block) -> String {
        match self.blocks.get(block.index()) {
            Some(&n) if n != NONE => format!("b{n}"),
            _ => format!("dead{}", block.index()),
        }
    }
}

/// What is still to be written of the tree.
enum Step {
    /// A node and those after it.
    From(Node),
    /// A list between braces.
    List(CfList),
    /// A closing brace, and on the same line what follows.
    Close(&'static str),
}

impl Printer<'_> {
    /// Writes `{ … }` with a newline behind.
    pub(super) fn body(&self, f: &mut Formatter<'_>, function: &Function) -> Result {
        let numbers = Numbers::new(function, self.labels.locals(function));
        writeln!(f, "{{")?;
        for (i, var) in function.locals.iter().enumerate() {
            f.write_str("  ")?;
            self.decl_var(f, &numbers.locals[i], var)?;
        }
        let mut depth = 1;
        let mut steps = vec![Step::Close(""), Step::List(function.body())];
        while let Some(step) = steps.pop() {
            match step {
                Step::List(list) => steps.extend(function.list_nodes(list).next().map(Step::From)),
                Step::Close(next) => {
                    depth -= 1;
                    writeln!(f, "{:1$}}}{next}", "", indent(depth))?;
                    depth += usize::from(!next.is_empty());
                }
                Step::From(node) => {
                    steps.extend(function.next_node(node).map(Step::From));
                    if let NodeKind::Block(block) = function.node_kind(node) {
                        self.block(f, function, &numbers, block, indent(depth))?;
                        continue;
                    }
                    write!(f, "{:1$}", "", indent(depth))?;
                    depth += 1;
                    self.open(f, function, &numbers, node, &mut steps)?;
                }
            }
        }
        Ok(())
    }

    /// Writes the head of a node and pushes its lists.
    fn open(
        &self,
        f: &mut Formatter<'_>,
        function: &Function,
        numbers: &Numbers,
        node: Node,
        steps: &mut Vec<Step>,
    ) -> Result {
        match function.node_kind(node) {
            NodeKind::Block(_) => {}
            NodeKind::If { then_list, else_list } => {
                f.write_str("if ")?;
                match function.condition(node) {
                    Some(condition) => numbers.def(f, condition)?,
                    None => f.write_str("%none")?,
                }
                control(f, function.node_control(node))?;
                writeln!(f, " {{")?;
                steps.extend([
                    Step::Close(""),
                    Step::List(else_list),
                    Step::Close(" else {"),
                    Step::List(then_list),
                ]);
            }
            NodeKind::Loop { body, continue_list } => {
                f.write_str("loop")?;
                control(f, function.node_control(node))?;
                writeln!(f, " {{")?;
                steps.push(Step::Close(""));
                if !is_default_continue(function, body, continue_list) {
                    steps.extend([Step::List(continue_list), Step::Close(" continue {")]);
                }
                steps.push(Step::List(body));
            }
            NodeKind::Once { body } => {
                writeln!(f, "once {{")?;
                steps.extend([Step::Close(""), Step::List(body)]);
            }
        }
        Ok(())
    }

    fn block(
        &self,
        f: &mut Formatter<'_>,
        function: &Function,
        numbers: &Numbers,
        block: Block,
        indent: usize,
    ) -> Result {
        writeln!(f, "{:indent$}block {}:", "", numbers.block(block))?;
        for instr in function.instrs(block) {
            write!(f, "{:1$}", "", indent + 2)?;
            self.instr(f, function, numbers, instr)?;
            origin(f, function, instr)?;
            writeln!(f)?;
        }
        Ok(())
    }

    /// Writes one instruction of a function.
    pub(super) fn one_instr(
        &self,
        f: &mut Formatter<'_>,
        function: &Function,
        instr: Instr,
    ) -> Result {
        let known = |def: Def| def.index() < function.instr_capacity();
        if !function.srcs(instr).iter().all(|src| known(src.def)) {
            return write!(f, "{:?} on what does not exist", function.kind(instr));
        }
        let numbers = Numbers::new(function, self.labels.locals(function));
        self.instr(f, function, &numbers, instr)
    }

    fn instr(
        &self,
        f: &mut Formatter<'_>,
        function: &Function,
        numbers: &Numbers,
        instr: Instr,
    ) -> Result {
        if let Some(def) = function.def(instr) {
            shape(f, function.shape(def))?;
            f.write_str(" ")?;
            numbers.def(f, def)?;
            if let Some(name) = function.names.get(&def) {
                write!(f, ":{}", Name(name, &[]))?;
            }
            f.write_str(" = ")?;
        }
        let cx = Cx { printer: self, function, numbers, instr };
        match function.view(instr) {
            InstrView::Alu(op) => cx.alu(f, op),
            InstrView::Intrinsic(op, indices) => cx.intrinsic(f, op, indices),
            InstrView::Tex(tex) => cx.tex(f, tex),
            InstrView::Deref(deref) => cx.deref(f, deref),
            InstrView::LoadConst(bits) => cx.load_const(f, bits),
            InstrView::Undef => {
                f.write_str("undef")?;
                cx.flags(f)
            }
            InstrView::Phi(preds) => cx.phi(f, preds),
            InstrView::Jump(jump) => {
                f.write_str(name_of(JumpKind::NAMES, &jump))?;
                cx.flags(f)?;
                cx.srcs(f, " ", ", ")
            }
            InstrView::Call(func) => {
                f.write_str("call")?;
                cx.flags(f)?;
                write!(f, " {}(", self.labels.func(func).text)?;
                cx.srcs(f, "", ", ")?;
                f.write_str(")")
            }
            InstrView::ParallelCopy => {
                f.write_str("parallel_copy")?;
                cx.flags(f)?;
                for (i, src) in function.srcs(instr).iter().enumerate() {
                    f.write_str(match (i, i % 2) {
                        (0, _) => " ",
                        (_, 0) => ", ",
                        _ => " = ",
                    })?;
                    numbers.def(f, src.def)?;
                }
                Ok(())
            }
        }
    }
}

/// Whether a block is the whole of a continue list that is not printed.
fn is_omitted(f: &Function, block: Block) -> bool {
    if f.first_instr(block).is_some() {
        return false;
    }
    match f.block_node(block).and_then(|node| f.parent(node)).map(|node| f.node_kind(node)) {
        Some(NodeKind::Loop { body, continue_list }) => {
            f.first_block(continue_list) == block && is_default_continue(f, body, continue_list)
        }
        _ => false,
    }
}

/// A loop whose continue list need not be printed: one empty block that no phi of the header names.
fn is_default_continue(f: &Function, body: CfList, continue_list: CfList) -> bool {
    let block = f.first_block(continue_list);
    f.last_block(continue_list) == block
        && f.first_instr(block).is_none()
        && f.phis(f.first_block(body)).next().is_none()
}

/// The rules that made an instruction, as a comment, where that is kept.
fn origin(f: &mut Formatter<'_>, function: &Function, instr: Instr) -> Result {
    match function.origins.as_ref().map(|origins| origins.of(instr.def())) {
        None | Some([]) => Ok(()),
        Some(chain) => write!(f, "  // by {}", chain.join(", ")),
    }
}

/// Hints on a node.
fn control(f: &mut Formatter<'_>, control: u32) -> Result {
    match control {
        0 => Ok(()),
        control => write!(f, " control({control:#x})"),
    }
}

fn shape(f: &mut Formatter<'_>, shape: Shape) -> Result {
    match shape.comps() {
        1 => write!(f, "{}", shape.bits()),
        comps => write!(f, "{}x{comps}", shape.bits()),
    }
}

/// An instruction being written.
struct Cx<'a> {
    printer: &'a Printer<'a>,
    function: &'a Function,
    numbers: &'a Numbers,
    instr: Instr,
}

impl Cx<'_> {
    fn flags(&self, f: &mut Formatter<'_>) -> Result {
        let flags = self.function.flags(self.instr);
        if flags.is_empty() {
            return Ok(());
        }
        for (name, flag) in Flags::NAMES {
            if flags.contains(*flag) {
                write!(f, ".{name}")?;
            }
        }
        Ok(())
    }

    fn srcs(&self, f: &mut Formatter<'_>, first: &str, separator: &str) -> Result {
        for (i, src) in self.function.srcs(self.instr).iter().enumerate() {
            f.write_str(if i > 0 { separator } else { first })?;
            self.numbers.def(f, src.def)?;
        }
        Ok(())
    }

    fn alu(&self, f: &mut Formatter<'_>, op: AluOp) -> Result {
        let info = self.function.dialects.alu(op);
        match info {
            Some(info) => f.write_str(info.name)?,
            None => write!(f, "{op:?}")?,
        }
        self.flags(f)?;
        let comps = self.function.shape(self.instr.def()).comps();
        for (i, src) in self.function.srcs(self.instr).iter().enumerate() {
            f.write_str(if i > 0 { ", " } else { " " })?;
            self.numbers.def(f, src.def)?;
            let reads = match info {
                Some(info) if i < info.inputs.len() => info.src_comps(i, comps),
                _ => comps,
            };
            self.swizzle(f, src.def, src.swizzle, reads)?;
        }
        Ok(())
    }

    fn swizzle(&self, f: &mut Formatter<'_>, def: Def, swizzle: Swizzle, reads: u8) -> Result {
        let has = self.function.comps(def);
        if has == reads && swizzle.is_identity(reads) {
            return Ok(());
        }
        f.write_str(".")?;
        // Components that the value lacks print in the letters that can say them.
        let letters = if swizzle.iter(reads).any(|c| c > 3) { 16 } else { has };
        swizzle.iter(reads).try_for_each(|c| f.write_char(component_letter(c, letters)))
    }

    fn intrinsic(&self, f: &mut Formatter<'_>, op: Intrinsic, indices: &[u32]) -> Result {
        let Some(info) = self.function.dialects.intrinsic(op) else {
            write!(f, "@{op:?}")?;
            self.flags(f)?;
            return self.srcs(f, " ", ", ");
        };
        write!(f, "@{}", info.name)?;
        self.flags(f)?;
        self.srcs(f, " ", ", ")?;
        let mut separator = " (";
        for (&index, &value) in info.indices.iter().zip(indices) {
            let Some(info) = self.function.dialects.index_of(op, index) else { continue };
            // A write mask that is left out is that of all components.
            if value != info.default || index == Index::WRITE_MASK {
                write!(f, "{separator}{}=", info.name)?;
                self.index_value(f, info, value)?;
                separator = ", ";
            }
        }
        if separator == ", " { f.write_str(")") } else { Ok(()) }
    }

    fn index_value(&self, f: &mut Formatter<'_>, info: &IndexInfo, value: u32) -> Result {
        match info.kind {
            IndexKind::U32 => write!(f, "{value}"),
            IndexKind::I32 => write!(f, "{}", value as i32),
            IndexKind::Bool if value < 2 => write!(f, "{}", value == 1),
            IndexKind::Bool => write!(f, "{value}"),
            IndexKind::Op => {
                let op = u16::try_from(value).ok().map(AluOp);
                match op.and_then(|op| self.function.dialects.alu(op)) {
                    Some(info) => f.write_str(info.name),
                    None => write!(f, "{value}"),
                }
            }
            IndexKind::Enum(names) => match names.get(value as usize) {
                Some(name) => f.write_str(name),
                None => write!(f, "{value}"),
            },
            IndexKind::Flags(names) => {
                let known = names.iter().take(32).enumerate();
                let mut rest = value;
                let mut separator = "";
                for (i, name) in known.filter(|(i, _)| value >> i & 1 == 1) {
                    write!(f, "{separator}{name}")?;
                    separator = "|";
                    rest &= !(1 << i);
                }
                match rest {
                    0 if separator.is_empty() => f.write_str("0"),
                    0 => Ok(()),
                    _ => write!(f, "{separator}{rest:#x}"),
                }
            }
        }
    }

    fn tex(&self, f: &mut Formatter<'_>, tex: &TexInfo) -> Result {
        write!(f, "tex.{}", name_of(TexOp::NAMES, &tex.op))?;
        self.flags(f)?;
        for (i, src) in self.function.srcs(self.instr).iter().enumerate() {
            let kind = tex.srcs.get(i).map_or("?", |kind| name_of(TexSrc::NAMES, kind));
            write!(f, "{} {kind}=", if i > 0 { "," } else { "" })?;
            self.numbers.def(f, src.def)?;
        }
        write!(f, " (dim={}", name_of(Dim::NAMES, &tex.dim))?;
        for (word, set) in
            [("array", tex.is_array), ("shadow", tex.is_shadow), ("sparse", tex.is_sparse)]
        {
            if set {
                write!(f, ", {word}")?;
            }
        }
        match DEST_TYPES.iter().find(|(_, n)| *n == tex.dest_type) {
            Some(("float", _)) => {}
            Some((name, _)) => write!(f, ", dest={name}")?,
            None => write!(f, ", dest={}", tex.dest_type)?,
        }
        for (word, value) in [
            ("component", tex.component.into()),
            ("texture_index", tex.texture_index),
            ("sampler_index", tex.sampler_index),
            ("access", tex.access),
        ] {
            if value != 0 {
                write!(f, ", {word}={value}")?;
            }
        }
        f.write_str(")")
    }

    fn deref(&self, f: &mut Formatter<'_>, deref: &DerefInfo) -> Result {
        let src = |f: &mut Formatter<'_>, n: usize| match self.function.srcs(self.instr).get(n) {
            Some(src) => self.numbers.def(f, src.def),
            None => f.write_str("%none"),
        };
        let (word, parent) = match deref.kind {
            DerefKind::Var(_) => ("deref_var", false),
            DerefKind::Array => ("deref_array", true),
            DerefKind::Wildcard => ("deref_wildcard", true),
            DerefKind::Struct(_) => ("deref_struct", true),
            DerefKind::Cast => ("deref_cast", true),
            DerefKind::PtrAsArray => ("deref_ptr_as_array", true),
        };
        f.write_str(word)?;
        self.flags(f)?;
        f.write_str(" &")?;
        if parent {
            f.write_str("(")?;
            src(f, 0)?;
            f.write_str(")")?;
        }
        match deref.kind {
            DerefKind::Var(var) => f.write_str(&self.var_label(var))?,
            DerefKind::Array | DerefKind::PtrAsArray => {
                f.write_str("[")?;
                src(f, 1)?;
                f.write_str("]")?;
            }
            DerefKind::Wildcard => f.write_str("[*]")?,
            DerefKind::Struct(member) => write!(f, ".{member}")?,
            DerefKind::Cast => {}
        }
        write!(f, " ({} ", ModesText(deref.modes))?;
        self.printer.ty(f, deref.ty)?;
        if deref.stride != 0 {
            write!(f, ", stride={}", deref.stride)?;
        }
        let mut rest = deref.access;
        for (word, bit) in
            [("non_uniform", DerefInfo::NON_UNIFORM), ("in_bounds", DerefInfo::IN_BOUNDS)]
        {
            if rest & bit != 0 {
                write!(f, ", {word}")?;
                rest &= !bit;
            }
        }
        if rest != 0 {
            write!(f, ", access={rest:#x}")?;
        }
        f.write_str(")")?;
        match deref.kind {
            DerefKind::Var(_) | DerefKind::Cast => Ok(()),
            DerefKind::Array
            | DerefKind::PtrAsArray
            | DerefKind::Wildcard
            | DerefKind::Struct(_) => {
                f.write_str("  // ")?;
                self.path(f)
            }
        }
    }

    fn var_label(&self, var: Var) -> String {
        if !var.is_local() {
            return match self.printer.module {
                Some(_) => self.printer.labels.var(var).text,
                None => format!("{VAR}{}", var.slot()),
            };
        }
        match self.numbers.locals.get(var.slot()) {
            Some(label) => label.text.clone(),
            None => format!("{LOCAL}{}", var.slot()),
        }
    }

    /// The pointer expression that a deref ends: `&buf.arr[%5].x`.
    fn path(&self, f: &mut Formatter<'_>) -> Result {
        let function = self.function;
        let mut steps = vec![self.instr];
        let mut at = self.instr;
        while let Some(parent) = function.srcs(at).first() {
            let parent = parent.def.instr();
            if function.deref(at).is_some_and(|d| d.kind == DerefKind::Cast)
                || function.deref(parent).is_none()
            {
                break;
            }
            if steps.len() == MAX_PATH {
                f.write_str("…")?;
                break;
            }
            steps.push(parent);
            at = parent;
        }
        for &step in steps.iter().rev() {
            let Some(deref) = function.deref(step) else { continue };
            match deref.kind {
                DerefKind::Var(var) => write!(f, "&{}", self.var_label(var))?,
                DerefKind::Wildcard => f.write_str("[*]")?,
                DerefKind::Struct(n) => match self.member_name(step, n) {
                    Some(name) => write!(f, ".{name}")?,
                    None => write!(f, ".{n}")?,
                },
                DerefKind::Cast => {
                    f.write_str("(")?;
                    self.printer.ty(f, deref.ty)?;
                    f.write_str("*)")?;
                    if let Some(pointer) = function.srcs(step).first() {
                        self.numbers.def(f, pointer.def)?;
                    }
                }
                DerefKind::Array | DerefKind::PtrAsArray => {
                    let Some(index) = function.srcs(step).get(1) else { continue };
                    match function.constant(index.def) {
                        Some([n]) => write!(f, "[{n}]")?,
                        _ => {
                            f.write_str("[")?;
                            self.numbers.def(f, index.def)?;
                            f.write_str("]")?;
                        }
                    }
                }
            }
        }
        Ok(())
    }

    fn member_name(&self, step: Instr, n: u32) -> Option<&str> {
        let module = self.printer.module?;
        let parent = self.function.srcs(step).first()?.def;
        let ty = self.function.deref(parent.instr())?.ty;
        if ty.index() >= module.types.len() {
            return None;
        }
        match &module.types[ty] {
            TypeData::Struct(s) => {
                let name = &s.members.get(n as usize)?.name;
                super::labels::is_word(name).then_some(name)
            }
            _ => None,
        }
    }

    fn load_const(&self, f: &mut Formatter<'_>, bits: &[u64]) -> Result {
        f.write_str("load_const")?;
        self.flags(f)?;
        let size = self.function.shape(self.instr.def()).bits();
        for (i, &value) in bits.iter().enumerate() {
            f.write_str(if i > 0 { ", " } else { " (" })?;
            match (size, value) {
                (1, 0) => f.write_str("false")?,
                (1, 1) => f.write_str("true")?,
                _ => {
                    write!(f, "{value:#x}")?;
                    reading(f, size, value)?;
                }
            }
        }
        f.write_str(")")
    }

    fn phi(&self, f: &mut Formatter<'_>, preds: &[Block]) -> Result {
        f.write_str("phi")?;
        self.flags(f)?;
        let mut order: Vec<usize> = (0..preds.len()).collect();
        order.sort_by_key(|&n| self.numbers.blocks.get(preds[n].index()).copied());
        for (i, n) in order.into_iter().enumerate() {
            let separator = if i > 0 { ", " } else { " " };
            write!(f, "{separator}{}: ", self.numbers.block(preds[n]))?;
            self.numbers.def(f, self.function.src(self.instr, n))?;
        }
        Ok(())
    }
}

/// What a constant's bits most likely mean, as a comment: a float of plausible size, else a number.
fn reading(f: &mut Formatter<'_>, size: u8, bits: u64) -> Result {
    if bits < 10 {
        return Ok(());
    }
    let float = match size {
        32 => f64::from(f32::from_bits(bits as u32)),
        64 => f64::from_bits(bits),
        16 => half(bits as u16),
        _ => f64::NAN,
    };
    let magnitude = float.abs();
    if float == 0.0 || (1e-6..1e9).contains(&magnitude) {
        match size {
            32 => return write!(f, " = {:?}", f32::from_bits(bits as u32)),
            _ => return write!(f, " = {float:?}"),
        }
    }
    let signed = (bits << (64 - u32::from(size)).min(63)) as i64 >> (64 - u32::from(size)).min(63);
    if magnitude.is_infinite() && size >= 16 {
        write!(f, " = {float:?}")
    } else if signed.unsigned_abs() < 1 << 32 {
        write!(f, " = {signed}")
    } else {
        Ok(())
    }
}

/// The value of a binary16.
fn half(bits: u16) -> f64 {
    let sign = if bits >> 15 == 1 { -1.0 } else { 1.0 };
    let (exponent, mantissa) = (i32::from(bits >> 10 & 31), f64::from(bits & 0x3ff));
    match exponent {
        31 if mantissa == 0.0 => sign * f64::INFINITY,
        31 => f64::NAN,
        0 => sign * mantissa * 2f64.powi(-24),
        _ => sign * (1024.0 + mantissa) * 2f64.powi(exponent - 25),
    }
}
