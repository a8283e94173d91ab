//! Filling: every block of a region written so many times, in slices of a few seconds, so that a fill that ends early goes
//! on where it stopped.
//!
//! Owns the plan of a fill, what of it is done, and the order of its passes. Knows no file and prints nothing.

mod drive;
mod error;
mod order;
mod state;
mod steady;

pub use drive::{Drive, Outcome, Told};
pub use error::FillError;
pub use order::Filling;
pub use state::{State, TargetId, What};
pub use steady::SteadyRounds;
