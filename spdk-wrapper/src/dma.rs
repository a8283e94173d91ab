//! Memory that devices may read and write. Owns its release; knows nothing of what is in it.

use std::ptr::NonNull;

use spdk_sys as sys;

use crate::env::Env;
use crate::outgoing::Memory;

/// Zeroed, pinned memory for DMA. Freed when dropped; whoever hands its address to a device keeps it until the device
/// is done.
#[derive(Debug)]
pub struct DmaBuffer {
    start: NonNull<u8>,
    len: usize,
}

/// The environment has no more memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("{0} bytes of DMA memory could not be had; use a smaller depth or block size, or more hugepages")]
pub struct OutOfDmaMemory(pub usize);

impl DmaBuffer {
    /// `len` bytes (at least 1), aligned to a page of 4 KiB.
    pub fn new(_env: Env, len: usize) -> Result<Self, OutOfDmaMemory> {
        // SAFETY: the environment is up (the token says so); size and alignment are plain numbers, and the unused
        // third parameter must be null.
        let start = unsafe { sys::spdk_dma_zmalloc(len, 4096, std::ptr::null_mut()) };
        NonNull::new(start.cast()).map(|start| Self { start, len }).ok_or(OutOfDmaMemory(len))
    }

    /// Its length in bytes.
    #[must_use]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Never: a buffer has at least one byte.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    pub(crate) fn as_ptr(&self) -> *mut u8 {
        self.start.as_ptr()
    }
}

impl Memory for DmaBuffer {
    /// Whoever has handed the address to a device calls this only when the device is done.
    #[inline(always)]
    fn bytes_mut(&mut self) -> &mut [u8] {
        // SAFETY: `len` bytes from `spdk_dma_zmalloc`, zeroed at first, borrowed exclusively with the buffer. No device
        // writes there, since buffers of this kind are handed out only within this crate: those of `Outgoing` are sent
        // from and never read into, and are prepared while their slot is idle; those of slots are marked before anyone else
        // knows them, and never borrowed again.
        unsafe { std::slice::from_raw_parts_mut(self.start.as_ptr(), self.len) }
    }
}

impl Drop for DmaBuffer {
    fn drop(&mut self) {
        // SAFETY: `start` came from `spdk_dma_zmalloc` and is freed once.
        unsafe { sys::spdk_dma_free(self.start.as_ptr().cast()) };
    }
}
