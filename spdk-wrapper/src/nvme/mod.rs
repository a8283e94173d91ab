//! NVMe through SPDK's user-space driver: transports, controllers with their namespaces, and queue pairs.

mod controller;
mod queue;
mod transport;

pub use controller::{ConnectError, Controller, Identity};
pub use queue::{PollGroup, QueueError, QueuePlan};
pub use transport::Transport;
