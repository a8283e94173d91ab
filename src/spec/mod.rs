//! The job: what the user wants, from text and flags to typed data.
//!
//! Owns the job file's grammar, the meaning of the flags that override it, and every refusal that needs neither device
//! nor machine. Pure: reads no file, no environment, and knows no device facts; those come in with the plan.

mod accept;
mod access;
mod access_form;
mod arrivals;
mod cores;
mod error;
mod event;
mod figure;
mod job;
mod load;
mod mix;
mod nearest;
mod open;
mod overrides;
mod payload;
mod precondition;
mod query;
mod read;
mod region;
mod scalar;
mod schema;
mod secret;
mod sim_model;
mod sizes;
mod target_ref;
mod think;
mod uri;
mod uri_parse;
mod validate;
mod volume;

pub use accept::{Accept, At, Condition, Relation};
pub use access::{Access, Band};
pub use access_form::{BANDS_MAX, THETA_MAX};
pub use arrivals::Arrivals;
pub use cores::CoreList;
pub use error::{Place, SpecError, redact};
pub use event::EventSpec;
pub use figure::{Figure, LatencyKind, Measure};
pub use job::{DEFAULT_QUEUE_DEPTH, Job, Run, Sweep, Target, Workload};
pub use load::{Load, OUTSTANDING_MAX, Op, QUEUE_DEPTH_MAX, SWEEP_POINTS_MAX};
pub use mix::OpMix;
pub(crate) use nearest::hint;
pub use open::{DEFAULT_MAX_OUTSTANDING, OpenLoad, Overload, RATE_MAX};
pub use overrides::Overrides;
pub use payload::{PayloadSpec, Reduction, Scope};
pub use precondition::{FillOrder, PASSES_MAX, Precondition, Until};
pub use read::parse;
pub use region::RegionSpec;
pub use secret::Secret;
pub use sim_model::{Dist, PRESETS, SimModel};
pub use sizes::{SIZES_MAX, SizeMix, SizeShare};
pub use target_ref::TargetRef;
pub use think::{ThinkSpread, ThinkTime};
pub use uri::{Delay, Fabric, Iscsi, Malloc, SCHEMES, Uri};
pub use volume::Volume;
