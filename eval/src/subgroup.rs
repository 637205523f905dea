//! Subgroup operations: invocations of a subgroup that wait at the same instruction do it together.
//!
//! Those of a subgroup that come to the instruction in the same round of every loop around it are its active
//! invocations ([`crate::place`]).

use crate::Trap;
use crate::machine::{Invocation, Machine, Status};
use deburr_ir_core::{
    AluOp, Func, Function, Index, IndexKind, Instr, Intrinsic, fold,
    fold::Shadow,
    index::{execution_scope, reduction_op},
};

/// The bits of a value with what is free in it.
type Value = ([u64; 16], Shadow);

/// Nothing is known of the value.
const FREE: Value = ([0; 16], Shadow { free: u16::MAX, nan: 0 });

/// An active invocation of a subgroup, with the operands it brings.
struct Lane {
    number: u32,
    srcs: Vec<Value>,
}

impl Lane {
    /// First component of an operand.
    fn scalar(&self, n: usize) -> u64 {
        self.srcs.get(n).map_or(0, |(value, _)| value[0])
    }

    fn is_free(&self, n: usize) -> bool {
        self.srcs.get(n).is_some_and(|(_, shadow)| !shadow.is_clean())
    }
}

/// An operation that the active invocations of a subgroup do together.
struct Together<'a> {
    f: &'a Function,
    instr: Instr,
    /// Invocations of a full subgroup.
    size: u32,
    lanes: Vec<Lane>,
}

impl Machine<'_> {
    /// Lets every subgroup in which somebody waits do one operation. Gives whether any did.
    pub(crate) fn subgroup_operations(
        &mut self,
        invocations: &mut [Invocation],
    ) -> Result<bool, Trap> {
        let size = self.dispatch.subgroup_size.max(1) as usize;
        let mut any = false;
        for subgroup in invocations.chunks_mut(size) {
            let places: Vec<Option<Vec<u32>>> = subgroup.iter().map(|i| self.place_of(i)).collect();
            // Whoever is behind may still come to where the others wait.
            let Some(lead) = places.iter().flatten().min() else { continue };
            let active: Vec<usize> =
                (0..subgroup.len()).filter(|&n| places[n].as_ref() == Some(lead)).collect();
            if let Some(Status::Subgroup(func, instr)) = active.first().map(|&n| subgroup[n].status)
            {
                self.together(subgroup, &active, func, instr)?;
                any = true;
            }
        }
        Ok(any)
    }

    fn together(
        &mut self,
        subgroup: &mut [Invocation],
        active: &[usize],
        func: Func,
        instr: Instr,
    ) -> Result<(), Trap> {
        let f: &Function = &self.module[func];
        let op = f.intrinsic(instr).unwrap_or(Intrinsic::BARRIER);
        let results = if op == Intrinsic::BARRIER {
            Vec::new()
        } else {
            let lanes = active.iter().map(|&n| self.lane(f, instr, n, &subgroup[n])).collect();
            let size = self.dispatch.subgroup_size.max(1);
            Together { f, instr, size, lanes }.results(op)?
        };
        for (k, &n) in active.iter().enumerate() {
            subgroup[n].status = Status::Running;
            if let (Some((value, shadow)), Some(frame)) =
                (results.get(k), subgroup[n].frames.last_mut())
            {
                frame.set(self, f, instr.def(), value, *shadow);
            }
        }
        Ok(())
    }

    fn lane(&self, f: &Function, instr: Instr, n: usize, invocation: &Invocation) -> Lane {
        let mut srcs = Vec::new();
        if let Some(frame) = invocation.frames.last() {
            for src in f.srcs(instr) {
                let mut value = [0; 16];
                let bits = frame.value(self, f, src.def());
                value[..bits.len()].copy_from_slice(bits);
                srcs.push((value, frame.shadow(src.def())));
            }
        }
        Lane { number: n as u32, srcs }
    }
}

impl Together<'_> {
    /// The result in each active lane.
    fn results(&self, op: Intrinsic) -> Result<Vec<Value>, Trap> {
        let lanes = &self.lanes;
        let cluster = self.f.index(self.instr, Index::CLUSTER_SIZE).unwrap_or(0);
        Ok(match op {
            Intrinsic::ELECT => {
                let first = self.first();
                self.each(|l| scalar(u64::from(l.number == first)))
            }
            Intrinsic::FIRST_INVOCATION => self.everyone(scalar(self.first().into())),
            Intrinsic::LAST_INVOCATION => {
                self.everyone(scalar(lanes.last().map_or(0, |l| l.number.into())))
            }
            Intrinsic::VOTE_ANY
            | Intrinsic::VOTE_ALL
            | Intrinsic::VOTE_IEQ
            | Intrinsic::VOTE_FEQ
            | Intrinsic::BALLOT => self.everyone(self.vote(op)),
            Intrinsic::INVERSE_BALLOT
            | Intrinsic::BALLOT_BITFIELD_EXTRACT
            | Intrinsic::BALLOT_BIT_COUNT_REDUCE
            | Intrinsic::BALLOT_BIT_COUNT_INCLUSIVE
            | Intrinsic::BALLOT_BIT_COUNT_EXCLUSIVE
            | Intrinsic::BALLOT_FIND_LSB
            | Intrinsic::BALLOT_FIND_MSB => self.each(|l| self.of_ballot(op, l)),
            Intrinsic::READ_FIRST_INVOCATION => self.from(|_| Some(self.first())),
            Intrinsic::READ_INVOCATION | Intrinsic::SHUFFLE => {
                self.from(|l| u32::try_from(l.scalar(1)).ok())
            }
            Intrinsic::SHUFFLE_XOR => self.from(|l| Some(l.number ^ l.scalar(1) as u32)),
            Intrinsic::SHUFFLE_UP => self.from(|l| l.number.checked_sub(l.scalar(1) as u32)),
            Intrinsic::SHUFFLE_DOWN => self.from(|l| l.number.checked_add(l.scalar(1) as u32)),
            Intrinsic::ROTATE => {
                let scope = self.f.index(self.instr, Index::EXECUTION_SCOPE);
                if scope.is_some_and(|s| s != execution_scope::SUBGROUP) {
                    return Err(Trap::Unsupported("a rotation beyond the subgroup".into()));
                }
                let size = if cluster == 0 { self.size } else { cluster };
                self.from(|l| {
                    let base = l.number - l.number % size;
                    let moved = u64::from(l.number % size) + l.scalar(1) % u64::from(size);
                    Some(base + (moved % u64::from(size)) as u32)
                })
            }
            Intrinsic::QUAD_BROADCAST => {
                self.from(|l| (l.scalar(1) < 4).then(|| (l.number & !3) + l.scalar(1) as u32))
            }
            Intrinsic::QUAD_SWAP_HORIZONTAL => self.from(|l| Some(l.number ^ 1)),
            Intrinsic::QUAD_SWAP_VERTICAL => self.from(|l| Some(l.number ^ 2)),
            Intrinsic::QUAD_SWAP_DIAGONAL => self.from(|l| Some(l.number ^ 3)),
            Intrinsic::REDUCE if cluster == 0 => self.reduced(|_, _| true)?,
            Intrinsic::REDUCE => {
                self.reduced(|own, other| own.number / cluster == other.number / cluster)?
            }
            Intrinsic::INCLUSIVE_SCAN => self.reduced(|own, other| other.number <= own.number)?,
            Intrinsic::EXCLUSIVE_SCAN => self.reduced(|own, other| other.number < own.number)?,
            _ => {
                let name = self.f.intrinsic_info(self.instr).map_or("?", |i| i.name);
                return Err(Trap::Unsupported(format!("`@{name}`")));
            }
        })
    }

    /// Number of the lowest active lane.
    fn first(&self) -> u32 {
        self.lanes.first().map_or(0, |l| l.number)
    }

    fn each(&self, result: impl Fn(&Lane) -> Value) -> Vec<Value> {
        self.lanes.iter().map(result).collect()
    }

    fn everyone(&self, value: Value) -> Vec<Value> {
        vec![value; self.lanes.len()]
    }

    /// Operand 0 as another lane brings it. One that isn't there or isn't active gives anything.
    fn from(&self, wanted: impl Fn(&Lane) -> Option<u32>) -> Vec<Value> {
        self.each(|l| {
            let wanted = wanted(l).filter(|_| !l.is_free(1));
            let other = self.lanes.iter().find(|o| Some(o.number) == wanted);
            other.and_then(|o| o.srcs.first()).copied().unwrap_or(FREE)
        })
    }

    /// Votes and the ballot, which are the same in all lanes.
    fn vote(&self, op: Intrinsic) -> Value {
        let lanes = &self.lanes;
        let (mut value, shadow) = match op {
            Intrinsic::VOTE_ANY => scalar(lanes.iter().any(|l| l.scalar(0) != 0).into()),
            Intrinsic::VOTE_ALL => scalar(lanes.iter().all(|l| l.scalar(0) != 0).into()),
            Intrinsic::BALLOT => {
                let bits = usize::from(self.f.bits(self.instr.def()));
                let mut words = [0; 16];
                for lane in lanes.iter().filter(|l| l.scalar(0) != 0) {
                    if let Some(word) = words.get_mut(lane.number as usize / bits) {
                        *word |= 1 << (lane.number as usize % bits);
                    }
                }
                (words, Shadow::CLEAN)
            }
            _ => {
                let as_float = op == Intrinsic::VOTE_FEQ;
                let same = lanes.windows(2).all(|w| self.same(&w[0], &w[1], as_float));
                // One lane alone is equal to itself, unless it is a float that isn't a number.
                let own = lanes.iter().all(|l| !as_float || self.same(l, l, true));
                scalar((same && own).into())
            }
        };
        // A payload that is free means nothing to a comparison of floats.
        let matters = |l: &Lane| match l.srcs.first() {
            Some((_, shadow)) if op == Intrinsic::VOTE_FEQ => shadow.free != 0,
            _ => l.is_free(0),
        };
        if lanes.iter().any(matters) {
            return FREE;
        }
        value[usize::from(self.f.comps(self.instr.def()))..].fill(0);
        (value, shadow)
    }

    /// Whether two lanes bring equal operands 0.
    fn same(&self, a: &Lane, b: &Lane, as_float: bool) -> bool {
        let (Some((x, _)), Some((y, _))) = (a.srcs.first(), b.srcs.first()) else { return true };
        if !as_float {
            return x == y;
        }
        let src = self.f.src(self.instr, 0);
        let comps = usize::from(self.f.comps(src));
        let env = &self.f.float_env;
        let mut out = [0; 16];
        let srcs = [&x[..comps], &y[..comps]];
        let (bits, comps) = (self.f.bits(src), self.f.comps(src));
        fold::fold(AluOp::FEQ, bits, comps, &srcs, env, &mut out).is_some()
            && out[..srcs[0].len()].iter().all(|&equal| equal != 0)
    }

    /// What a lane reads from the ballot in operand 0.
    fn of_ballot(&self, op: Intrinsic, lane: &Lane) -> Value {
        if lane.is_free(0) || lane.is_free(1) {
            return FREE;
        }
        let src = self.f.src(self.instr, 0);
        let (bits, comps) = (u32::from(self.f.bits(src)), u32::from(self.f.comps(src)));
        let words = lane.srcs.first().map_or([0; 16], |(value, _)| *value);
        let size = self.size.min(bits * comps);
        let bit = |n: u32| words[(n / bits) as usize & 15] >> (n % bits) & 1;
        let count = |end: u32| scalar((0..end.min(size)).map(bit).sum());
        match op {
            Intrinsic::INVERSE_BALLOT if lane.number < size => scalar(bit(lane.number)),
            Intrinsic::BALLOT_BITFIELD_EXTRACT if lane.scalar(1) < u64::from(size) => {
                scalar(bit(lane.scalar(1) as u32))
            }
            Intrinsic::BALLOT_BIT_COUNT_REDUCE => count(size),
            Intrinsic::BALLOT_BIT_COUNT_INCLUSIVE => count(lane.number + 1),
            Intrinsic::BALLOT_BIT_COUNT_EXCLUSIVE => count(lane.number),
            Intrinsic::BALLOT_FIND_LSB => {
                (0..size).find(|&n| bit(n) != 0).map_or(FREE, |n| scalar(n.into()))
            }
            Intrinsic::BALLOT_FIND_MSB => {
                (0..size).rev().find(|&n| bit(n) != 0).map_or(FREE, |n| scalar(n.into()))
            }
            _ => FREE,
        }
    }

    /// Operand 0 of those lanes that `counts` takes for the own one, combined in the order of their numbers.
    fn reduced(&self, counts: impl Fn(&Lane, &Lane) -> bool) -> Result<Vec<Value>, Trap> {
        let kind = self.f.index(self.instr, Index::REDUCTION_OP).unwrap_or(0);
        let unknown = || Trap::Unsupported(format!("the reduction {kind}"));
        let op = named_op(Index::REDUCTION_OP, kind).ok_or_else(unknown)?;
        let def = self.instr.def();
        let comps = usize::from(self.f.comps(def));
        let mut results = Vec::new();
        for own in &self.lanes {
            let mut total: Option<Value> = None;
            for (value, shadow) in
                self.lanes.iter().filter(|l| counts(own, l)).filter_map(|l| l.srcs.first())
            {
                total = Some(match total {
                    None => (*value, *shadow),
                    Some(so_far) => self.combined(op, &so_far, &(*value, *shadow), comps)?,
                });
            }
            results.push(match total {
                Some(total) => total,
                None => {
                    let least = identity(kind, u32::from(self.f.bits(def))).ok_or_else(unknown)?;
                    ([least; 16], Shadow::CLEAN)
                }
            });
        }
        Ok(results)
    }

    fn combined(&self, op: AluOp, a: &Value, b: &Value, comps: usize) -> Result<Value, Trap> {
        let unknown = || Trap::Unsupported("an opcode of no table".into());
        let info = op.builtin().ok_or_else(unknown)?;
        let shape = (self.f.bits(self.instr.def()), comps as u8);
        let srcs = [(&a.0[..comps], a.1), (&b.0[..comps], b.1)];
        let mut out = [0; 16];
        let env = &self.f.float_env;
        let shadow =
            fold::fold_shadowed(op, info, shape, &srcs, env, &mut out).ok_or_else(unknown)?;
        Ok((out, shadow))
    }
}

fn scalar(value: u64) -> Value {
    let mut out = [0; 16];
    out[0] = value;
    (out, Shadow::CLEAN)
}

/// The ALU opcode that a value of a const index is named after.
pub(crate) fn named_op(index: Index, value: u32) -> Option<AluOp> {
    match index.builtin()?.kind {
        IndexKind::Enum(names) => AluOp::from_name(names.get(value as usize)?),
        IndexKind::U32 | IndexKind::I32 | IndexKind::Bool | IndexKind::Op | IndexKind::Flags(_) => {
            None
        }
    }
}

/// What a reduction of no values gives.
fn identity(kind: u32, bits: u32) -> Option<u64> {
    let ones = u64::MAX >> (64 - bits);
    let (one, infinity) = match bits {
        16 => (0x3c00, 0x7c00),
        32 => (0x3f80_0000, 0x7f80_0000),
        _ => (0x3ff0_0000_0000_0000, 0x7ff0_0000_0000_0000),
    };
    let sign = 1u64 << (bits - 1);
    Some(match kind {
        reduction_op::IADD | reduction_op::IOR | reduction_op::IXOR | reduction_op::UMAX => 0,
        reduction_op::IMUL => 1,
        reduction_op::IAND | reduction_op::UMIN => ones,
        reduction_op::IMIN => ones >> 1,
        reduction_op::IMAX => sign,
        reduction_op::FADD => 0,
        reduction_op::FMUL => one,
        reduction_op::FMIN => infinity,
        reduction_op::FMAX => infinity | sign,
        _ => return None,
    })
}
