//! Instructions that some stages don't have.
//!
//! The IR has them everywhere; SPIR-V's specification names the execution models of each. What a function is called
//! from decides: the writer refuses an instruction that one of those stages doesn't have.

use super::Writer;
use crate::error::Error;
use deburr_ir_core::{Func, InstrView, Module, Stage};
use rustc_hash::FxHashSet;
use spirv::{GlslStd450Op, Op};

/// A set of stages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Stages(u16);

impl Stages {
    const fn of(stages: &[Stage]) -> Self {
        let (mut bits, mut n) = (0, 0);
        while n < stages.len() {
            bits |= 1 << stages[n] as u16;
            n += 1;
        }
        Stages(bits)
    }

    /// Whether a stage of the set is not in the other.
    fn first_beyond(self, other: Stages) -> Option<&'static str> {
        let beyond = |stage: Stage| (self.0 & !other.0) >> stage as u16 & 1 != 0;
        Stage::NAMES.iter().find(|(_, stage)| beyond(*stage)).map(|(name, _)| *name)
    }

    /// Whether there is a fragment shader among them.
    pub fn has_fragment(self) -> bool {
        self.0 & FRAGMENT.0 != 0
    }
}

const FRAGMENT: Stages = Stages::of(&[Stage::Fragment]);
const GEOMETRY: Stages = Stages::of(&[Stage::Geometry]);
const TASK: Stages = Stages::of(&[Stage::Task]);
const MESH: Stages = Stages::of(&[Stage::Mesh]);
const TRACING: Stages = Stages::of(&[Stage::RayGen, Stage::ClosestHit, Stage::Miss]);
const CALLING: Stages =
    Stages::of(&[Stage::RayGen, Stage::ClosestHit, Stage::Miss, Stage::Callable]);
const INTERSECTION: Stages = Stages::of(&[Stage::Intersection]);
const ANY_HIT: Stages = Stages::of(&[Stage::AnyHit]);
/// Those whose invocations come in workgroups, or in patches.
const GROUPED: Stages = Stages::of(&[Stage::TessControl, Stage::Compute, Stage::Task, Stage::Mesh]);
/// Those that may be told how their invocations form quads.
const DERIVED: Stages = Stages::of(&[Stage::Fragment, Stage::Compute, Stage::Task, Stage::Mesh]);

/// What decides whether a stage has an instruction.
struct Has {
    stages: Stages,
    /// With an execution mode of this beginning these stages have it too.
    with_mode: Option<(&'static str, Stages)>,
}

/// The stages that have an instruction; `None` where all do.
fn stages_of(module: &Module, op: Op, ext: Option<u32>) -> Option<Has> {
    const INTERPOLATE: [GlslStd450Op; 3] = [
        GlslStd450Op::InterpolateAtCentroid,
        GlslStd450Op::InterpolateAtSample,
        GlslStd450Op::InterpolateAtOffset,
    ];
    let quads = Some(("DerivativeGroup", DERIVED));
    let (stages, with_mode) = match op {
        Op::Kill
        | Op::TerminateInvocation
        | Op::DemoteToHelperInvocation
        | Op::IsHelperInvocationEXT
        | Op::BeginInvocationInterlockEXT
        | Op::EndInvocationInterlockEXT => (FRAGMENT, None),
        Op::DPdx
        | Op::DPdy
        | Op::Fwidth
        | Op::DPdxFine
        | Op::DPdyFine
        | Op::FwidthFine
        | Op::DPdxCoarse
        | Op::DPdyCoarse
        | Op::FwidthCoarse
        | Op::ImageQueryLod
        | Op::ImageSampleImplicitLod
        | Op::ImageSampleDrefImplicitLod
        | Op::ImageSampleProjImplicitLod
        | Op::ImageSampleProjDrefImplicitLod
        | Op::ImageSparseSampleImplicitLod
        | Op::ImageSparseSampleDrefImplicitLod => (FRAGMENT, quads),
        Op::EmitVertex | Op::EndPrimitive | Op::EmitStreamVertex | Op::EndStreamPrimitive => {
            (GEOMETRY, None)
        }
        Op::EmitMeshTasksEXT => (TASK, None),
        Op::SetMeshOutputsEXT => (MESH, None),
        Op::TraceRayKHR => (TRACING, None),
        Op::ExecuteCallableKHR => (CALLING, None),
        Op::ReportIntersectionKHR => (INTERSECTION, None),
        Op::IgnoreIntersectionKHR | Op::TerminateRayKHR => (ANY_HIT, None),
        Op::ControlBarrier if module.spirv.version < (1, 3) => (GROUPED, None),
        Op::ExtInst if INTERPOLATE.iter().any(|op| Some(*op as u32) == ext) => (FRAGMENT, None),
        _ => return None,
    };
    Some(Has { stages, with_mode })
}

/// The stages that each function is reached from.
pub(super) fn stages_of_functions(module: &Module) -> Vec<Stages> {
    let mut stages = vec![Stages::default(); module.functions.len()];
    let mut work: Vec<(Func, Stages)> =
        module.entry_points.iter().map(|e| (e.function, Stages::of(&[e.stage]))).collect();
    while let Some((func, more)) = work.pop() {
        let own = &mut stages[func.index()];
        let all = Stages(own.0 | more.0);
        if all == *own {
            continue;
        }
        *own = all;
        let f = &module[func];
        let callees: FxHashSet<Func> = f
            .all_instrs()
            .filter_map(|i| match f.view(i) {
                InstrView::Call(callee) => Some(callee),
                _ => None,
            })
            .collect();
        work.extend(callees.into_iter().map(|callee| (callee, all)));
    }
    stages
}

impl Writer<'_> {
    /// Refuses instructions that the stages don't have.
    pub(super) fn check_stages(&self, words: &[u32], stages: Stages) -> Result<(), Error> {
        let mut at = 0;
        while let Some(&first) = words.get(at) {
            let (op, count) = (first & 0xffff, (first >> 16) as usize);
            if let Some(op) = Op::from_u32(op)
                && let Some(has) = stages_of(self.module, op, words.get(at + 4).copied())
            {
                let allowed = match has.with_mode {
                    Some((mode, more)) if self.has_mode(mode) => Stages(has.stages.0 | more.0),
                    _ => has.stages,
                };
                if let Some(stage) = stages.first_beyond(allowed) {
                    let message = format!("SPIR-V has no Op{op:?} in a {stage} shader");
                    return Err(Error::unsupported(message));
                }
            }
            at += count.max(1);
        }
        Ok(())
    }

    fn has_mode(&self, beginning: &str) -> bool {
        let modes = self.module.entry_points.iter().flat_map(|e| &e.modes);
        modes.into_iter().any(|mode| mode.name.starts_with(beginning))
    }
}
