//! Random dispatches of a module that was not made here: buffers sized and filled so that it has something to do.
//!
//! Floats are mostly small, integers mostly smaller than the arrays are long, since they tend to be counts and indices.

use crate::rng::Rng;
use deburr_eval::{Buffer, Dispatch, Shape, Slot, Trap, interface, workgroup_size};
use deburr_ir_core::{Module, Stage};

/// Bytes up to which a buffer is made.
const MAX_BYTES: u64 = 64 << 20;
/// Elements of a run-time array, at least and at most.
const LENGTHS: (u64, u64) = (64, 1 << 14);

/// Fills what a dispatch doesn't have: buffers, push constants. What is there already stays.
///
/// # Errors
/// If the module has no such entry point, or needs buffers beyond 64 MiB.
pub fn random_dispatch(module: &Module, given: &Dispatch, seed: u64) -> Result<Dispatch, Trap> {
    let mut dispatch = given.clone();
    let named = |name: &String| given.entry.as_ref().is_none_or(|e| e == name);
    let entry = module
        .entry_points
        .iter()
        .find(|e| e.stage == Stage::Compute && named(&e.name))
        .ok_or_else(|| Trap::NoEntry(given.entry.clone().unwrap_or_default()))?;
    let size = workgroup_size(module, entry, &given.specs)?;
    let total = given.groups.iter().chain(&size).fold(1u64, |n, &g| n.saturating_mul(g.into()));
    let length = total.clamp(LENGTHS.0, LENGTHS.1);
    let interface = interface(module, &given.specs)?;
    for shape in &interface.buffers {
        for element in 0..shape.elements {
            let place = (shape.set, shape.binding, element);
            if given.buffers.iter().any(|b| (b.set, b.binding, b.element) == place) {
                continue;
            }
            let mut rng =
                Rng::new(seed ^ u64::from(shape.set) << 48 ^ u64::from(shape.binding) << 24);
            let bytes = fill(&shape.shape, length, &mut rng, seed)?;
            dispatch.buffers.push(Buffer {
                set: shape.set,
                binding: shape.binding,
                element,
                bytes,
            });
        }
    }
    if let Some(shape) = interface.push.filter(|_| given.push.is_empty()) {
        dispatch.push = fill(&shape, length, &mut Rng::new(seed ^ 1 << 60), seed)?;
    }
    Ok(dispatch)
}

fn fill(shape: &Shape, length: u64, rng: &mut Rng, seed: u64) -> Result<Vec<u8>, Trap> {
    let length = if shape.stride == 0 { 0 } else { length };
    let bytes = shape.stride.saturating_mul(length).saturating_add(shape.bytes);
    if bytes > MAX_BYTES {
        return Err(Trap::Limit(format!("a buffer of {bytes} bytes")));
    }
    // Whole words, so that a vector at the end may be read whole.
    let mut out = vec![0; bytes.next_multiple_of(16) as usize];
    // Every fourth input has edge values; the others keep the program on its way.
    let edges = seed % 4 == 3;
    for slot in &shape.slots {
        put(&mut out, slot, 0, value(slot, rng, length, edges));
    }
    for n in 0..length {
        for slot in &shape.element {
            put(&mut out, slot, shape.bytes + n * shape.stride, value(slot, rng, length, edges));
        }
    }
    Ok(out)
}

fn put(out: &mut [u8], slot: &Slot, base: u64, value: u64) {
    let at = (base + slot.offset) as usize;
    let size = usize::from(slot.bits / 8);
    if let Some(place) = out.get_mut(at..at + size) {
        place.copy_from_slice(&value.to_le_bytes()[..size]);
    }
}

fn value(slot: &Slot, rng: &mut Rng, length: u64, edges: bool) -> u64 {
    if edges && rng.one_in(2) {
        return rng.edge(slot.bits);
    }
    let fraction = rng.bits() >> 11;
    if slot.float {
        // Between -4 and 4, with whole numbers among them.
        let exact = (fraction as f64 / (1u64 << 53) as f64 - 0.5) * 8.0;
        let v = if rng.one_in(4) { exact.round() } else { exact };
        return match slot.bits {
            64 => v.to_bits(),
            32 => u64::from((v as f32).to_bits()),
            // Sign, an exponent from -3 to 2, any significand.
            _ => (fraction & 0x8000) | (12 + rng.below(6) as u64) << 10 | (fraction >> 20 & 0x3ff),
        };
    }
    let small = match rng.below(4) {
        0 => rng.below(8),
        1 => rng.below(64),
        _ => rng.below(length.clamp(64, 1024) as usize),
    } as u64;
    if slot.bits < 64 { small & ((1 << slot.bits) - 1) } else { small }
}
