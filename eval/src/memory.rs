//! Memory: objects of bytes, each byte with a shadow that says whether its value is free.

use deburr_ir_core::fold::Shadow;

/// Where an object lives. Numbers of objects are local to their space.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Space {
    /// Buffers: seen by the whole dispatch.
    Dispatch,
    /// Shared memory of a workgroup.
    Workgroup,
    /// Private variables, inputs, and locals of the calls under way.
    Invocation,
}

/// A pointer, as it is kept in 64 bits of a register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Pointer {
    pub space: Space,
    pub object: u32,
    pub offset: u32,
}

impl Pointer {
    pub fn to_bits(self) -> u64 {
        u64::from(self.space as u8) << 62
            | u64::from(self.object & 0x3fff_ffff) << 32
            | u64::from(self.offset)
    }

    pub fn from_bits(bits: u64) -> Self {
        let space = match bits >> 62 {
            0 => Space::Dispatch,
            1 => Space::Workgroup,
            _ => Space::Invocation,
        };
        Pointer { space, object: (bits >> 32) as u32 & 0x3fff_ffff, offset: bits as u32 }
    }

    /// The pointer moved by bytes; what leaves 32 bits is out of every object's bounds.
    pub fn add(self, bytes: i128) -> Self {
        let offset = i128::from(self.offset) + bytes;
        Pointer { offset: u32::try_from(offset).unwrap_or(u32::MAX), ..self }
    }
}

/// The byte's value is free.
const FREE: u8 = 1;
/// The byte belongs to a NaN whose payload is free.
const NAN: u8 = 2;

/// An object.
#[derive(Clone, Debug, Default)]
pub(crate) struct Object {
    pub bytes: Vec<u8>,
    pub shadow: Vec<u8>,
}

impl Object {
    /// An object of given bytes.
    pub fn of(bytes: Vec<u8>) -> Self {
        let shadow = vec![0; bytes.len()];
        Object { bytes, shadow }
    }

    /// An object that nothing has been stored to.
    pub fn uninitialised(size: usize) -> Self {
        Object { bytes: vec![0; size], shadow: vec![FREE; size] }
    }

    /// Makes room for another object in the same memory, and takes the bytes that it is known to start with.
    pub fn overlay(&mut self, other: &Object) {
        let size = self.bytes.len().max(other.bytes.len());
        self.bytes.resize(size, 0);
        self.shadow.resize(size, FREE);
        for (n, _) in other.shadow.iter().enumerate().filter(|&(_, &shadow)| shadow & FREE == 0) {
            (self.bytes[n], self.shadow[n]) = (other.bytes[n], other.shadow[n]);
        }
    }

    /// A scalar of `size` bytes, or `None` out of bounds.
    pub fn load(&self, at: u32, size: usize) -> Option<(u64, bool, bool)> {
        let at = at as usize;
        let bytes = self.bytes.get(at..at.checked_add(size)?)?;
        let mut word = [0; 8];
        word[..size].copy_from_slice(bytes);
        let value = u64::from_le_bytes(word);
        let shadow = self.shadow[at..at + size].iter().fold(0, |acc, &s| acc | s);
        Some((value, shadow & FREE != 0, shadow & NAN != 0))
    }

    /// Stores a scalar; gives false out of bounds.
    pub fn store(&mut self, at: u32, size: usize, value: u64, free: bool, nan: bool) -> bool {
        let at = at as usize;
        let Some(end) = at.checked_add(size).filter(|&end| end <= self.bytes.len()) else {
            return false;
        };
        self.bytes[at..end].copy_from_slice(&value.to_le_bytes()[..size]);
        self.shadow[at..end].fill(if free { FREE } else { 0 } | if nan { NAN } else { 0 });
        true
    }

    /// For each byte whether its value is free (a NaN's payload counts as its value).
    pub fn free_bytes(&self) -> Vec<bool> {
        self.shadow.iter().map(|s| s & FREE != 0).collect()
    }

    /// For each byte whether it belongs to a NaN that arithmetic gave.
    pub fn nan_bytes(&self) -> Vec<bool> {
        self.shadow.iter().map(|s| s & NAN != 0).collect()
    }
}

/// Shadow of one component.
pub(crate) fn component_shadow(free: bool, nan: bool, comp: usize) -> Shadow {
    Shadow { free: u16::from(free) << comp, nan: u16::from(nan) << comp }
}
