//! Why a job cannot run on the devices and cores that were found.
//!
//! Owns the wording: each text names the field, the flag and the remedy.

use super::Volume;
use crate::units::Bytes;

/// A refusal of the plan.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PlanError {
    /// The job names no target.
    #[error("no target: give --target URI, or a [[target]] with its `uri` in the job file")]
    NoTarget,
    /// Facts of other targets than the job's were handed over.
    #[error("the job has {targets} target(s), but {facts} were opened; open each `target` (--target) once, in order")]
    Facts {
        /// Targets of the job.
        targets: usize,
        /// Targets that facts were given for.
        facts: usize,
    },
    /// The targets are served by different drivers.
    #[error(
        "the targets of one job must be served by one driver, but {found}; \
         put them in separate jobs (`target`, --target)"
    )]
    MixedDrivers {
        /// Each target with its driver.
        found: String,
    },
    /// The process may use no core.
    #[error("no core may be used: this process is confined to an empty set of cores; check taskset or the cpuset")]
    NoCores,
    /// Cores were named that cannot be used.
    #[error(
        "`run.cores` (--cores) names {missing}, but {count} core(s) may be used here: {available}; name some of those"
    )]
    NoSuchCore {
        /// The named cores that are missing.
        missing: String,
        /// How many cores there are.
        count: usize,
        /// Which cores there are.
        available: String,
    },
    /// A workload refers to targets that the job lacks.
    #[error("workload `{workload}`: {fault}; see its `targets` and --target")]
    Targets {
        /// The workload.
        workload: String,
        /// What is wrong.
        fault: String,
    },
    /// The window has no length.
    #[error("`run.time` (--time) is 0, so nothing would be measured; give one such as --time 30s")]
    NoTime,
    /// An interval is zero or longer than the window.
    #[error(
        "`run.interval` (--interval) is {interval}, but must be above 0 and at most `run.time` (--time), \
         which is {time}; shorten the interval or lengthen the time"
    )]
    Interval {
        /// The interval.
        interval: String,
        /// The window.
        time: String,
    },
    /// A target has no blocks.
    #[error("{uri} reports no capacity ({blocks} blocks of {lba_bytes} bytes); choose another `target` (--target)")]
    NoCapacity {
        /// The target.
        uri: String,
        /// Its blocks.
        blocks: u64,
        /// Its LBA size.
        lba_bytes: u32,
    },
    /// A target does not support an operation.
    #[error(
        "workload `{workload}`: {uri} does not support `{op}`; leave `{op}` out of `mix`, or choose another target \
         (`targets`, --target)"
    )]
    Unsupported {
        /// The workload.
        workload: String,
        /// The operation.
        op: crate::spec::Op,
        /// The target.
        uri: String,
    },
    /// The block size is no multiple of the LBA size.
    #[error(
        "workload `{workload}`: `block_size` (--block-size) {block_size} is not a multiple of the LBA size of {uri}, \
         {lba_bytes} bytes; use a multiple, such as --block-size {suggested}"
    )]
    BlockSize {
        /// The workload.
        workload: String,
        /// Its block size.
        block_size: Bytes,
        /// The target.
        uri: String,
        /// The target's LBA size.
        lba_bytes: u32,
        /// The next multiple.
        suggested: Bytes,
    },
    /// The block size is beyond what the target takes at once.
    #[error(
        "workload `{workload}`: `block_size` (--block-size) {block_size} is more than {uri} takes in one I/O, {max}; \
         use --block-size {max} or less"
    )]
    BlockSizeLimit {
        /// The workload.
        workload: String,
        /// Its block size.
        block_size: Bytes,
        /// The target.
        uri: String,
        /// The target's limit.
        max: Bytes,
    },
    /// Something that addresses are multiples of is no multiple of the LBA size.
    #[error(
        "workload `{workload}`: `{field}` {value} is not a multiple of the LBA size of {uri}, {lba_bytes} bytes; \
         use a multiple, such as {field} = \"{suggested}\""
    )]
    Multiple {
        /// The workload.
        workload: String,
        /// The field.
        field: &'static str,
        /// Its value.
        value: Bytes,
        /// The target.
        uri: String,
        /// The target's LBA size.
        lba_bytes: u32,
        /// The next multiple.
        suggested: Bytes,
    },
    /// Targets that cannot be one address space.
    #[error("workload `{workload}`: volume `{volume}`: {fault}")]
    Volume {
        /// The workload.
        workload: String,
        /// The layout.
        volume: Volume,
        /// What is wrong, and the remedy.
        fault: String,
    },
    /// A stride that would lead to addresses that are not aligned.
    #[error(
        "workload `{workload}`: `stride` {stride} is not a multiple of {align}, which I/Os of {size} are aligned to; \
         use a multiple, or write `align`, such as align = \"{stride}\""
    )]
    Stride {
        /// The workload.
        workload: String,
        /// The stride.
        stride: Bytes,
        /// What it should be a multiple of.
        align: Bytes,
        /// The I/Os that are so aligned.
        size: Bytes,
    },
    /// A band is narrower than an I/O.
    #[error(
        "workload `{workload}`: band {band} of `access` holds no whole I/O of {size} in the region on {uri}; \
         widen the band or the region, or use a smaller --block-size"
    )]
    BandEmpty {
        /// The workload.
        workload: String,
        /// The band, from 0.
        band: usize,
        /// The I/Os.
        size: Bytes,
        /// The target.
        uri: String,
    },
    /// The region ends beyond the target.
    #[error(
        "workload `{workload}`: `region` (--region) {region} ends beyond {uri}, which has {size} ({size_bytes} bytes); \
         end it at {size} or earlier, or use --region whole"
    )]
    RegionEnd {
        /// The workload.
        workload: String,
        /// Its region as written.
        region: String,
        /// The target.
        uri: String,
        /// The target's capacity.
        size: Bytes,
        /// The same in bytes.
        size_bytes: u64,
    },
    /// The region holds no whole I/O.
    #[error(
        "workload `{workload}`: `region` (--region) {region} of {uri}, which has {size}, holds no whole I/O \
         of {block_size}; widen the region or use a smaller --block-size"
    )]
    RegionEmpty {
        /// The workload.
        workload: String,
        /// Its region as written.
        region: String,
        /// The target.
        uri: String,
        /// The target's capacity.
        size: Bytes,
        /// The workload's block size.
        block_size: Bytes,
    },
    /// The region is too small to be divided between the cores.
    #[error(
        "workload `{workload}`: `region` (--region) {region} of {uri} holds {ios} I/O(s), too few for {streams} \
         {access} streams, one a core; widen the region or use fewer --cores"
    )]
    RegionStreams {
        /// The workload.
        workload: String,
        /// Its region as written.
        region: String,
        /// The target.
        uri: String,
        /// Whole I/Os in the region.
        ios: u64,
        /// Cores that would share it.
        streams: u32,
        /// The access pattern.
        access: String,
    },
    /// A core would keep more outstanding than the target takes.
    #[error(
        "core {core} would keep {depth} I/Os outstanding on {uri}, which takes {max} from one core; lower \
         `queue_depth` or `outstanding` (--queue-depth, --outstanding), or spread them over more cores (--cores)"
    )]
    Depth {
        /// The core.
        core: usize,
        /// What it would keep outstanding.
        depth: u64,
        /// The target.
        uri: String,
        /// The target's limit.
        max: u32,
    },
    /// The job writes to targets that may hold data and that were not named for it.
    #[error("{0}")]
    WriteRefused(String),
}
