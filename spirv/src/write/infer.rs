//! Type recovery: whether each value is written as a bool, float, unsigned or signed integer.
//!
//! Values that arithmetic makes have the class that their instruction gives. Phis, selects, moves and vectors take
//! what their sources and users ask for most: those that are connected form one set (union-find), each typed
//! neighbour votes, and where one still disagrees an OpBitcast stands between. The signedness of integer results
//! is free in SPIR-V, so they only follow votes. Constants and undefs are written in any class at each use.

use super::fixed;
use super::types::Class;
use deburr_ir_core::{
    AluOp, BaseType, Def, Function, Index, Instr, InstrKind, InstrView, Intrinsic, Module, TexInfo,
    TexOp, TexSrc, TypeData, User,
};

/// What a source of an instruction must be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Want {
    /// Exactly this class.
    Class(Class),
    /// An integer of either signedness.
    Int,
    /// The class of the instruction's own value.
    Result,
    /// Anything: the instruction doesn't care.
    Any,
}

/// What an instruction makes of itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Gives {
    Class(Class),
    /// An integer; the signedness is free.
    Int,
    /// What its set decides.
    Free,
}

/// Opcodes that move bits, and which of their sources share the class of the result.
const MOVES: &[(AluOp, std::ops::Range<usize>)] = &[
    (AluOp::MOV, 0..1),
    (AluOp::VEC2, 0..2),
    (AluOp::VEC3, 0..3),
    (AluOp::VEC4, 0..4),
    (AluOp::VEC5, 0..5),
    (AluOp::VEC8, 0..8),
    (AluOp::VEC16, 0..16),
    (AluOp::BCSEL, 1..3),
    (AluOp::VEC_EXTRACT2, 0..1),
    (AluOp::VEC_EXTRACT3, 0..1),
    (AluOp::VEC_EXTRACT4, 0..1),
    (AluOp::VEC_INSERT2, 0..2),
    (AluOp::VEC_INSERT3, 0..2),
    (AluOp::VEC_INSERT4, 0..2),
];

/// The sources that share the class of the result.
pub(super) fn moved_srcs(op: AluOp) -> std::ops::Range<usize> {
    MOVES.iter().find(|(moves, _)| *moves == op).map_or(0..0, |(_, srcs)| srcs.clone())
}

fn form_name(f: &Function, instr: Instr) -> &'static str {
    f.alu_info(instr).and_then(|i| i.spirv.first()).map_or("", |form| form.name)
}

fn intrinsic_form(f: &Function, module: &Module, instr: Instr) -> &'static str {
    super::memory::form_of(f, module, instr).map_or("", |form| form.name)
}

/// What an ALU source must be.
pub(super) fn alu_want(f: &Function, instr: Instr, op: AluOp, n: usize) -> Want {
    if moved_srcs(op).contains(&n) {
        return Want::Result;
    }
    let name = form_name(f, instr);
    if let Some(want) = fixed::alu_source(name, n) {
        return want;
    }
    match f.alu_info(instr).map(|i| i.inputs[n].base) {
        // A cast takes and gives any type.
        _ if name == "Bitcast" => Want::Any,
        Some(BaseType::Float) => Want::Class(Class::Float),
        _ if f.bits(f.src(instr, n)) == 1 => Want::Class(Class::Bool),
        _ => Want::Int,
    }
}

fn gives(f: &Function, module: &Module, instr: Instr) -> Gives {
    if f.def(instr).is_none() {
        return Gives::Int;
    }
    if f.bits(instr.def()) == 1 {
        return Gives::Class(Class::Bool);
    }
    match f.view(instr) {
        InstrView::Alu(op) => {
            if !moved_srcs(op).is_empty() || form_name(f, instr) == "Bitcast" {
                return Gives::Free;
            }
            match f.alu_info(instr).map(|i| i.output.base) {
                Some(BaseType::Float) => Gives::Class(Class::Float),
                _ => fixed::alu_result(form_name(f, instr)).map_or(Gives::Int, Gives::Class),
            }
        }
        InstrView::Intrinsic(op, _) => match intrinsic_class(f, module, instr, op) {
            Some(class) => Gives::Class(class),
            None => group_gives(f, module, instr),
        },
        InstrView::Tex(info) => Gives::Class(tex_class(info.dest_type)),
        InstrView::Phi(_) => Gives::Free,
        InstrView::Call(func) => {
            match module[func].ret.as_ref().and_then(|r| scalar_class(module, r.ty)) {
                Some(class) => Gives::Class(class),
                None => Gives::Int,
            }
        }
        InstrView::Deref(_)
        | InstrView::LoadConst(_)
        | InstrView::Undef
        | InstrView::Jump(_)
        | InstrView::ParallelCopy => Gives::Int,
    }
}

/// What a subgroup operation gives: sums and the like say in their name what of, the rest pass bits on.
fn group_gives(f: &Function, module: &Module, instr: Instr) -> Gives {
    let name = super::memory::form_of(f, module, instr)
        .and_then(|form| form.name.strip_prefix("GroupNonUniform"));
    let moves = f.intrinsic_info(instr).is_some_and(|i| i.bits_from.is_some());
    let mut letters = name.unwrap_or("").chars();
    match (letters.next(), letters.next()) {
        (Some('F'), Some('A'..='Z')) => Gives::Class(Class::Float),
        (Some('I' | 'S' | 'U'), Some('A'..='Z')) => Gives::Int,
        (Some(_), Some(_)) if moves && !name.is_some_and(|n| n.starts_with("Bitwise")) => {
            Gives::Free
        }
        _ => Gives::Int,
    }
}

/// Class of a result by its base type: 0 float, 1 signed, 2 unsigned.
fn tex_class(dest_type: u8) -> Class {
    match dest_type {
        0 => Class::Float,
        1 => Class::Sint,
        _ => Class::Uint,
    }
}

fn scalar_class(module: &Module, ty: deburr_ir_core::Type) -> Option<Class> {
    match &module.types[ty] {
        TypeData::Bool => Some(Class::Bool),
        TypeData::Float { .. } => Some(Class::Float),
        TypeData::Int { signed, .. } => Some(if *signed { Class::Sint } else { Class::Uint }),
        TypeData::Vector { elem, .. } => scalar_class(module, *elem),
        _ => None,
    }
}

/// Class of the memory behind source `n` of an instruction, if it is a deref to a scalar or vector.
fn pointee_class(f: &Function, module: &Module, instr: Instr, n: usize) -> Option<Class> {
    let deref = f.srcs(instr).get(n)?.def().instr();
    match &module.types[f.deref(deref)?.ty] {
        TypeData::Image(image) => scalar_class(module, image.sampled_type),
        _ => scalar_class(module, f.deref(deref)?.ty),
    }
}

/// What `rq_load` gives.
fn ray_query_class(value: u32) -> Class {
    use deburr_ir_core::index::ray_query_value as rq;
    let floats = [
        rq::T_MIN,
        rq::WORLD_RAY_DIRECTION,
        rq::WORLD_RAY_ORIGIN,
        rq::INTERSECTION_T,
        rq::INTERSECTION_BARYCENTRICS,
        rq::INTERSECTION_OBJECT_RAY_DIRECTION,
        rq::INTERSECTION_OBJECT_RAY_ORIGIN,
        rq::INTERSECTION_OBJECT_TO_WORLD,
        rq::INTERSECTION_WORLD_TO_OBJECT,
        rq::INTERSECTION_TRIANGLE_VERTEX_POSITIONS,
    ];
    if floats.contains(&value) { Class::Float } else { Class::Uint }
}

/// Class of an intrinsic's value, where it is fixed.
fn intrinsic_class(f: &Function, module: &Module, instr: Instr, op: Intrinsic) -> Option<Class> {
    match op {
        Intrinsic::LOAD_PARAM => {
            let n = f.index(instr, Index::PARAM_IDX)? as usize;
            scalar_class(module, f.params.get(n)?.ty)
        }
        Intrinsic::LOAD_SPEC_CONSTANT => {
            let n = f.index(instr, Index::SPEC_CONSTANT)? as usize;
            scalar_class(module, module.spec_consts.get(n)?.ty)
        }
        Intrinsic::DEREF_BUFFER_ARRAY_LENGTH
        | Intrinsic::IMAGE_DEREF_SIZE
        | Intrinsic::IMAGE_DEREF_SAMPLES
        | Intrinsic::IMAGE_DEREF_FORMAT
        | Intrinsic::IMAGE_DEREF_ORDER => Some(Class::Uint),
        Intrinsic::RQ_LOAD => f.index(instr, Index::RAY_QUERY_VALUE).map(ray_query_class),
        _ if f.index(instr, Index::REDUCTION_OP).is_some_and(reduces_floats) => Some(Class::Float),
        _ => fixed::intrinsic_result(intrinsic_form(f, module, instr))
            .or_else(|| pointee_class(f, module, instr, 0)),
    }
}

/// Whether a value of the index `reduction_op` combines floats.
fn reduces_floats(op: u32) -> bool {
    use deburr_ir_core::index::reduction_op as op_of;
    [op_of::FADD, op_of::FMUL, op_of::FMIN, op_of::FMAX].contains(&op)
}

/// What source `n` of an intrinsic must be.
pub(super) fn intrinsic_want(f: &Function, module: &Module, instr: Instr, n: usize) -> Want {
    let def = f.src(instr, n);
    if f.bits(def) == 1 {
        return Want::Class(Class::Bool);
    }
    match f.intrinsic(instr) {
        Some(Intrinsic::VOTE_FEQ) => return Want::Class(Class::Float),
        Some(Intrinsic::VOTE_IEQ) => return Want::Int,
        _ => {}
    }
    if let Some(want) = fixed::intrinsic_source(intrinsic_form(f, module, instr), n) {
        return want;
    }
    match pointee_class(f, module, instr, 0) {
        // Data sources have the type of the memory; coordinates and the like are integers.
        Some(class) if n > 0 => {
            let op = f.intrinsic_info(instr).map_or("", |i| i.name);
            let data = !op.starts_with("image_")
                || matches!((op, n), ("image_deref_store", 3))
                || n >= 3 && op.contains("atomic");
            if data { Want::Class(class) } else { Want::Int }
        }
        _ if f.intrinsic_info(instr).is_some_and(|i| i.bits_from == Some(n as u8)) => Want::Result,
        _ => Want::Any,
    }
}

/// The class of every value of a function, by instruction number.
pub(super) fn infer(f: &Function, module: &Module) -> Vec<Class> {
    let n = f.instr_capacity();
    let mut sets = Sets { parent: (0..n as u32).collect(), votes: vec![[0; 4]; n] };
    let gives: Vec<Gives> = (0..n).map(|i| gives(f, module, Instr::from_index(i))).collect();
    let floating =
        |def: Def| matches!(f.kind(def.instr()), InstrKind::LoadConst | InstrKind::Undef);
    for block in f.blocks() {
        for instr in f.instrs(block) {
            for (n, src) in f.srcs(instr).iter().enumerate() {
                let def = src.def();
                if floating(def) || f.kind(def.instr()) == InstrKind::Deref {
                    continue;
                }
                let want = want(f, module, instr, n);
                match want {
                    Want::Class(class) => sets.vote(def, class),
                    Want::Int => sets.vote_int(def),
                    Want::Any => {}
                    Want::Result => match (gives[def.index()], gives[instr.index()]) {
                        (_, Gives::Class(class)) => sets.vote(def, class),
                        (Gives::Class(class), _) => sets.vote(instr.def(), class),
                        (Gives::Int | Gives::Free, _) => sets.join(def, instr.def()),
                    },
                }
            }
            // Where the value's own instruction is typed, its set hears of it.
            if let (Some(def), Gives::Int) = (f.def(instr), gives[instr.index()]) {
                sets.vote_int(def);
            }
        }
    }
    (0..n)
        .map(|i| match gives[i] {
            Gives::Class(class) => class,
            Gives::Free => sets.winner(i),
            Gives::Int => match sets.winner(i) {
                Class::Sint => Class::Sint,
                Class::Bool | Class::Float | Class::Uint => Class::Uint,
            },
        })
        .collect()
}

/// What source `n` of any instruction must be.
pub(super) fn want(f: &Function, module: &Module, instr: Instr, n: usize) -> Want {
    match f.view(instr) {
        InstrView::Alu(op) => alu_want(f, instr, op, n),
        InstrView::Intrinsic(..) => intrinsic_want(f, module, instr, n),
        InstrView::Phi(_) => Want::Result,
        InstrView::Call(func) => {
            match module[func].params.get(n).and_then(|p| scalar_class(module, p.ty)) {
                Some(class) => Want::Class(class),
                None => Want::Any,
            }
        }
        InstrView::Jump(_) => match f.ret.as_ref().and_then(|r| scalar_class(module, r.ty)) {
            Some(class) => Want::Class(class),
            None => Want::Any,
        },
        InstrView::Tex(info) => tex_want(info, n),
        InstrView::Deref(_)
        | InstrView::LoadConst(_)
        | InstrView::Undef
        | InstrView::ParallelCopy => Want::Any,
    }
}

/// What source `n` of a texture operation must be.
pub(super) fn tex_want(info: &TexInfo, n: usize) -> Want {
    let by_number = matches!(
        info.op,
        TexOp::Txf | TexOp::TxfMs | TexOp::Txs | TexOp::QueryLevels | TexOp::TextureSamples
    );
    match info.srcs[n] {
        TexSrc::TextureDeref | TexSrc::SamplerDeref => Want::Any,
        TexSrc::Coord | TexSrc::Lod if by_number => Want::Int,
        TexSrc::Offset
        | TexSrc::MsIndex
        | TexSrc::TextureOffset
        | TexSrc::SamplerOffset
        | TexSrc::Offsets => Want::Int,
        TexSrc::Coord
        | TexSrc::Lod
        | TexSrc::Projector
        | TexSrc::Comparator
        | TexSrc::Bias
        | TexSrc::MinLod
        | TexSrc::Ddx
        | TexSrc::Ddy => Want::Class(Class::Float),
    }
}

struct Sets {
    parent: Vec<u32>,
    /// Float, unsigned, signed, integer of either kind.
    votes: Vec<[u32; 4]>,
}

impl Sets {
    fn find(&mut self, mut i: usize) -> usize {
        while self.parent[i] as usize != i {
            self.parent[i] = self.parent[self.parent[i] as usize];
            i = self.parent[i] as usize;
        }
        i
    }

    fn join(&mut self, a: Def, b: Def) {
        let (a, b) = (self.find(a.index()), self.find(b.index()));
        if a != b {
            let votes = self.votes[b];
            self.votes[a].iter_mut().zip(votes).for_each(|(x, y)| *x += y);
            self.parent[b] = a as u32;
        }
    }

    fn vote(&mut self, def: Def, class: Class) {
        let root = self.find(def.index());
        match class {
            Class::Float => self.votes[root][0] += 1,
            Class::Uint => self.votes[root][1] += 1,
            Class::Sint => self.votes[root][2] += 1,
            Class::Bool => {}
        }
    }

    fn vote_int(&mut self, def: Def) {
        let root = self.find(def.index());
        self.votes[root][3] += 1;
    }

    fn winner(&mut self, i: usize) -> Class {
        let root = self.find(i);
        let [float, unsigned, signed, int] = self.votes[root];
        if float > unsigned + signed + int {
            Class::Float
        } else if signed > unsigned {
            Class::Sint
        } else {
            Class::Uint
        }
    }
}

/// Whether anything but further derefs, and accesses that are `raised` into larger ones, uses a deref's pointer.
pub(super) fn pointer_is_used(f: &Function, deref: Instr, raised: impl Fn(Instr) -> bool) -> bool {
    f.uses_at(deref.def()).any(|(user, n)| match user {
        User::Instr(i) => match f.deref(i) {
            Some(d) => n != 0 || d.kind == deburr_ir_core::DerefKind::Cast,
            None => n != 0 || !raised(i),
        },
        User::If(_) => true,
    })
}
