//! Subgroup operations: invocations of a subgroup that wait at the same instruction do it together.
//!
//! Those of a subgroup that come to the instruction while the others wait elsewhere or have ended are its active
//! invocations.

use crate::Trap;
use crate::machine::{Invocation, Machine, Status};
use crate::step::atomic_value;
use deburr_ir_core::{Func, Function, Index, Instr, Intrinsic, fold::Shadow, index::reduction_op};

impl Machine<'_> {
    /// Lets every subgroup whose invocations all wait do one operation. Gives whether any did.
    pub(crate) fn subgroup_operations(
        &mut self,
        invocations: &mut [Invocation],
    ) -> Result<bool, Trap> {
        let size = self.dispatch.subgroup_size.max(1) as usize;
        let mut any = false;
        for subgroup in invocations.chunks_mut(size) {
            // The first that waits at an operation leads; those at the same one join.
            let lead = subgroup.iter().find_map(|i| match i.status {
                Status::Subgroup(func, instr) => Some((func, instr)),
                Status::Running | Status::Barrier(..) | Status::Done => None,
            });
            let Some((func, instr)) = lead else { continue };
            self.together(subgroup, func, instr)?;
            any = true;
        }
        Ok(any)
    }

    fn together(
        &mut self,
        subgroup: &mut [Invocation],
        func: Func,
        instr: Instr,
    ) -> Result<(), Trap> {
        let f: &Function = &self.module[func];
        let active: Vec<usize> = (0..subgroup.len())
            .filter(|&n| subgroup[n].status == Status::Subgroup(func, instr))
            .collect();
        let op = f.intrinsic(instr).unwrap_or(Intrinsic::BARRIER);
        let results = if op == Intrinsic::BARRIER {
            Vec::new()
        } else {
            let lanes: Vec<Lane> =
                active.iter().map(|&n| self.lane(f, instr, n, &subgroup[n])).collect();
            self.results(f, instr, op, &lanes)?
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
        let mut shadow = Shadow::CLEAN;
        if let Some(frame) = invocation.frames.last() {
            for src in f.srcs(instr) {
                let mut value = [0; 16];
                let bits = frame.value(self, f, src.def());
                value[..bits.len()].copy_from_slice(bits);
                srcs.push(value);
                let s = frame.shadow(src.def());
                shadow.free |= s.free;
                shadow.nan |= s.nan;
            }
        }
        Lane { number: n as u32, srcs, shadow }
    }

    /// The result in each active lane.
    fn results(
        &self,
        f: &Function,
        instr: Instr,
        op: Intrinsic,
        lanes: &[Lane],
    ) -> Result<Vec<([u64; 16], Shadow)>, Trap> {
        let any_free = lanes.iter().any(|l| !l.shadow.is_clean());
        let shared = Shadow { free: if any_free { u16::MAX } else { 0 }, nan: 0 };
        let ballot = |test: &dyn Fn(&Lane) -> bool| {
            let mut words = [0u64; 16];
            for lane in lanes.iter().filter(|l| test(l)) {
                words[(lane.number / 32) as usize & 15] |= 1 << (lane.number % 32);
            }
            words
        };
        let scalar = |v: u64| {
            let mut out = [0; 16];
            out[0] = v;
            out
        };
        let everyone = |value: [u64; 16]| lanes.iter().map(|_| (value, shared)).collect::<Vec<_>>();
        let from = |lane: &dyn Fn(&Lane) -> u32| {
            lanes
                .iter()
                .map(|l| {
                    let wanted = lane(l);
                    // A lane that is not active gives anything.
                    match lanes.iter().find(|o| o.number == wanted) {
                        Some(other) => (other.srcs[0], other.shadow),
                        None => ([0; 16], Shadow { free: u16::MAX, nan: 0 }),
                    }
                })
                .collect::<Vec<_>>()
        };
        Ok(match op {
            Intrinsic::ELECT => lanes
                .iter()
                .enumerate()
                .map(|(k, _)| (scalar(u64::from(k == 0)), Shadow::CLEAN))
                .collect(),
            Intrinsic::BALLOT => everyone(ballot(&|l| l.srcs[0][0] != 0)),
            Intrinsic::VOTE_ANY => {
                everyone(scalar(u64::from(lanes.iter().any(|l| l.srcs[0][0] != 0))))
            }
            Intrinsic::VOTE_ALL => {
                everyone(scalar(u64::from(lanes.iter().all(|l| l.srcs[0][0] != 0))))
            }
            Intrinsic::VOTE_IEQ => {
                everyone(scalar(u64::from(lanes.windows(2).all(|w| w[0].srcs[0] == w[1].srcs[0]))))
            }
            Intrinsic::READ_FIRST_INVOCATION => from(&|_| lanes[0].number),
            Intrinsic::READ_INVOCATION | Intrinsic::SHUFFLE => from(&|l| l.srcs[1][0] as u32),
            Intrinsic::SHUFFLE_XOR => from(&|l| l.number ^ l.srcs[1][0] as u32),
            Intrinsic::SHUFFLE_UP => from(&|l| l.number.wrapping_sub(l.srcs[1][0] as u32)),
            Intrinsic::SHUFFLE_DOWN => from(&|l| l.number.wrapping_add(l.srcs[1][0] as u32)),
            Intrinsic::REDUCE | Intrinsic::INCLUSIVE_SCAN | Intrinsic::EXCLUSIVE_SCAN => {
                self.reduction(f, instr, op, lanes, shared)?
            }
            _ => {
                let name = f.intrinsic_info(instr).map_or("?", |i| i.name);
                return Err(Trap::Unsupported(format!("`@{name}`")));
            }
        })
    }

    fn reduction(
        &self,
        f: &Function,
        instr: Instr,
        op: Intrinsic,
        lanes: &[Lane],
        shared: Shadow,
    ) -> Result<Vec<([u64; 16], Shadow)>, Trap> {
        let bits = u32::from(f.bits(instr.def()));
        let comps = usize::from(f.comps(instr.def()));
        let kind = f.index(instr, Index::REDUCTION_OP).unwrap_or(0);
        let cluster = f.index(instr, Index::CLUSTER_SIZE).unwrap_or(0);
        let unknown = || Trap::Unsupported(format!("the reduction {kind}"));
        let mut out = Vec::new();
        for lane in lanes {
            let mut value = [0; 16];
            for (c, slot) in value.iter_mut().enumerate().take(comps) {
                let mut sum = identity(kind, bits).ok_or_else(unknown)?;
                for other in lanes {
                    let in_cluster =
                        cluster == 0 || other.number / cluster == lane.number / cluster;
                    let counted = match op {
                        Intrinsic::INCLUSIVE_SCAN => other.number <= lane.number,
                        Intrinsic::EXCLUSIVE_SCAN => other.number < lane.number,
                        _ => in_cluster,
                    };
                    if counted {
                        sum = combine(kind, bits, sum, other.srcs[0][c]).ok_or_else(unknown)?;
                    }
                }
                *slot = sum;
            }
            out.push((value, shared));
        }
        Ok(out)
    }
}

/// An active invocation of a subgroup, with the operands it brings.
struct Lane {
    number: u32,
    srcs: Vec<[u64; 16]>,
    shadow: Shadow,
}

fn combine(kind: u32, bits: u32, a: u64, b: u64) -> Option<u64> {
    use deburr_ir_core::index::atomic_op;
    let op = match kind {
        reduction_op::IADD => atomic_op::IADD,
        reduction_op::IMIN => atomic_op::IMIN,
        reduction_op::IMAX => atomic_op::IMAX,
        reduction_op::UMIN => atomic_op::UMIN,
        reduction_op::UMAX => atomic_op::UMAX,
        reduction_op::IAND => atomic_op::IAND,
        reduction_op::IOR => atomic_op::IOR,
        reduction_op::IXOR => atomic_op::IXOR,
        reduction_op::FADD => atomic_op::FADD,
        reduction_op::FMIN => atomic_op::FMIN,
        reduction_op::FMAX => atomic_op::FMAX,
        reduction_op::IMUL => {
            let mask = if bits == 64 { u64::MAX } else { (1 << bits) - 1 };
            return Some(a.wrapping_mul(b) & mask);
        }
        reduction_op::FMUL => {
            return Some(match bits {
                32 => u64::from((f32::from_bits(a as u32) * f32::from_bits(b as u32)).to_bits()),
                64 => (f64::from_bits(a) * f64::from_bits(b)).to_bits(),
                _ => return None,
            });
        }
        _ => return None,
    };
    atomic_value(op, bits, a, b)
}

fn identity(kind: u32, bits: u32) -> Option<u64> {
    let ones = if bits == 64 { u64::MAX } else { (1 << bits) - 1 };
    let least = 1u64 << (bits - 1);
    let float = |v: f64| match bits {
        32 => Some(u64::from((v as f32).to_bits())),
        64 => Some(v.to_bits()),
        _ => None,
    };
    Some(match kind {
        reduction_op::IADD | reduction_op::IOR | reduction_op::IXOR | reduction_op::UMAX => 0,
        reduction_op::IMUL => 1,
        reduction_op::IAND | reduction_op::UMIN => ones,
        reduction_op::IMIN => ones >> 1,
        reduction_op::IMAX => least,
        reduction_op::FADD => float(-0.0)?,
        reduction_op::FMUL => float(1.0)?,
        reduction_op::FMIN => float(f64::INFINITY)?,
        reduction_op::FMAX => float(f64::NEG_INFINITY)?,
        _ => return None,
    })
}
