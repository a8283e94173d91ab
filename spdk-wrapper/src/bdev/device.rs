//! An open bdev. Owns opening, identity and closing, all on the control thread; does no I/O.

use std::ffi::{CStr, CString, c_void};
use std::ptr::NonNull;
use std::sync::Arc;

use spdk_sys as sys;

use super::BdevLayer;
use super::app::errno_words;
use crate::io::Supported;

/// What a bdev says of itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BdevIdentity {
    /// Its name in the configuration.
    pub name: String,
    /// What kind it is: `Malloc disk`, `Null disk`, `iSCSI LUN` …
    pub product: String,
    /// LBA size, in bytes.
    pub block_size: u32,
    /// Capacity, in blocks.
    pub blocks: u64,
    /// What it knows beside reading and writing.
    pub supports: Supported,
}

/// What a bdev is opened for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// Reading only.
    Read,
    /// Reading, and flushing what others have written.
    Flush,
    /// Everything.
    Write,
}

/// Why a bdev could not be opened.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("bdev `{name}` cannot be opened: {reason}")]
pub struct OpenError {
    /// The name asked for.
    pub name: String,
    /// Why not.
    pub reason: String,
}

/// An open bdev; closed on the control thread when the last handle and channel are gone.
#[derive(Debug)]
pub struct Bdev {
    pub(super) descriptor: NonNull<sys::spdk_bdev_desc>,
    pub(super) writable: bool,
    identity: BdevIdentity,
    layer: BdevLayer,
}

// SAFETY: a descriptor may be used to get channels from any thread; it is opened and closed on one (the control
// thread), which `open` and `drop` see to. What else is here is plain data.
unsafe impl Send for Bdev {}
// SAFETY: as above.
unsafe impl Sync for Bdev {}

/// The one pointer that crosses to and from the control thread.
struct Descriptor(NonNull<sys::spdk_bdev_desc>);
// SAFETY: see `Bdev`.
unsafe impl Send for Descriptor {}

impl Bdev {
    /// Opens the bdev `name`, for writing only where asked.
    pub fn open(layer: &BdevLayer, name: &str, mode: Mode) -> Result<Arc<Self>, OpenError> {
        let name = name.to_owned();
        let (descriptor, identity) = layer.control().run(move |_| open(name, mode))?;
        let writable = mode == Mode::Write;
        Ok(Arc::new(Self { descriptor: descriptor.0, writable, identity, layer: layer.clone() }))
    }

    /// Who it is.
    #[must_use]
    pub fn identity(&self) -> &BdevIdentity {
        &self.identity
    }
}

impl Drop for Bdev {
    fn drop(&mut self) {
        let descriptor = Descriptor(self.descriptor);
        self.layer.control().run(move |_| {
            // Taken whole: capturing only the pointer inside would lose the type that may cross threads.
            let whole: Descriptor = descriptor;
            // SAFETY: opened on this thread, closed once; channels hold an `Arc` of the bdev and are gone.
            unsafe { sys::spdk_bdev_close(whole.0.as_ptr()) };
        });
    }
}

fn open(name: String, mode: Mode) -> Result<(Descriptor, BdevIdentity), OpenError> {
    let Ok(c_name) = CString::new(name.as_str()) else {
        return Err(OpenError { name, reason: "the name has a NUL in it".to_owned() });
    };
    let mut descriptor = std::ptr::null_mut();
    // SPDK lets nobody flush who may not write.
    let writable = mode != Mode::Read;
    // SAFETY: on an SPDK thread of a running bdev layer; the string lives across the call, and SPDK fills `descriptor`.
    let rc = unsafe {
        sys::spdk_bdev_open_ext(c_name.as_ptr(), writable, Some(event), std::ptr::null_mut(), &raw mut descriptor)
    };
    let descriptor = match NonNull::new(descriptor) {
        Some(descriptor) if rc == 0 => descriptor,
        _ if rc == -libc::ENODEV => {
            return Err(OpenError { name, reason: "there is no bdev of that name in the configuration".to_owned() });
        }
        _ => return Err(OpenError { name, reason: errno_words(rc) }),
    };
    // SAFETY: an open descriptor's bdev lives as long as the descriptor; all calls read it.
    let (product, block_size, blocks, supports) = unsafe {
        let bdev = sys::spdk_bdev_desc_get_bdev(descriptor.as_ptr());
        let product = CStr::from_ptr(sys::spdk_bdev_get_product_name(bdev)).to_string_lossy().into_owned();
        let supports = Supported {
            trim: sys::spdk_bdev_io_type_supported(bdev, sys::SPDK_BDEV_IO_TYPE_UNMAP),
            write_zeroes: sys::spdk_bdev_io_type_supported(bdev, sys::SPDK_BDEV_IO_TYPE_WRITE_ZEROES),
            flush: sys::spdk_bdev_io_type_supported(bdev, sys::SPDK_BDEV_IO_TYPE_FLUSH),
        };
        (product, sys::spdk_bdev_get_block_size(bdev), sys::spdk_bdev_get_num_blocks(bdev), supports)
    };
    Ok((Descriptor(descriptor), BdevIdentity { name, product, block_size, blocks, supports }))
}

/// A bdev that is removed in mid-run fails its I/Os; nothing more is to be done here.
unsafe extern "C" fn event(kind: sys::spdk_bdev_event_type, _bdev: *mut sys::spdk_bdev, _context: *mut c_void) {
    let _ = std::panic::catch_unwind(|| tracing::warn!("a bdev reported event {kind}"));
}
