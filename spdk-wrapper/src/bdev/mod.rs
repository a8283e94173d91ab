//! SPDK's bdev layer: started from a JSON configuration in memory, its devices opened, and I/O on them from workers.

mod app;
mod channel;
mod device;

pub(crate) use app::AppThread;
pub use app::{BdevLayer, LayerError};
pub use channel::{Worker, WorkerError};
pub use device::{Bdev, BdevIdentity, Mode, OpenError};
