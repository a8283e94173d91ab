//! The test that a command line and its volumes ask for, with every default in force.
//!
//! Owns what the options amount to. Knows neither queues nor files; it is handed to whoever drives it.

use std::time::Duration;

use super::error::OrionError;
use super::lun::lun_file;
use super::options::{LargeType, Options, Simulate};
use super::points::{Cell, Points, points};
use crate::spec::{CoreList, OUTSTANDING_MAX, Uri};
use crate::units::Bytes;

/// Most streams of a point: each has its own figures, and these take room.
const STREAMS_MAX: u32 = 256;

/// Order of the large I/Os.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LargeLoad {
    /// Random; a large load of n is n outstanding I/Os.
    Random,
    /// Sequential; a large load of n is n streams.
    Streams {
        /// Outstanding I/Os of each.
        ios: u32,
    },
}

/// How the volumes make up one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Volume {
    /// One behind the other.
    Concat,
    /// Striped over all.
    Raid0 {
        /// Length of a stripe on one volume.
        stripe: Bytes,
    },
}

/// What is done to the array's cache before each point of large sequential I/O; none of it is measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WarmUp {
    /// Nothing.
    None,
    /// Random I/O for a time.
    For(Duration),
    /// Random I/O of an amount.
    Amount(Bytes),
}

/// A test.
#[derive(Debug, Clone, PartialEq)]
pub struct OrionRun {
    /// The options as written.
    pub options: Options,
    /// Prefix of the output files.
    pub testname: String,
    /// Number of disks, which sets the range of loads.
    pub disks: u32,
    /// The volumes, in order; each is used from its first block to its last.
    pub targets: Vec<Uri>,
    /// The points, in the order they run.
    pub points: Points,
    /// Bytes of each small I/O; small I/O is always random.
    pub small_size: Bytes,
    /// Bytes of each large I/O.
    pub large_size: Bytes,
    /// Order of the large I/Os.
    pub large: LargeLoad,
    /// Share of writes of both, per cent.
    pub write_percent: u32,
    /// How the volumes make up one.
    pub volume: Volume,
    /// What comes before each point of large sequential I/O.
    pub warm_up: WarmUp,
    /// Length of each point.
    pub duration: Duration,
    /// Identities of the volumes that may be written to, none at first.
    pub destroy: Vec<String>,
    /// The cores to run on; chosen by the plan if none.
    pub cores: Option<CoreList>,
    /// What the user should know: where an option means less here, or where a name was put right.
    pub notes: Vec<String>,
}

impl OrionRun {
    /// The test of `options` on `targets`, which come from the `.lun` file.
    ///
    /// # Errors
    /// Loads that are more than a job can hold.
    pub fn new(options: Options, targets: Vec<Uri>) -> Result<Self, OrionError> {
        let lun = lun_file(options.testname());
        let disks = options.num_disks.unwrap_or_else(|| u32::try_from(targets.len()).unwrap_or(u32::MAX).max(1));
        if disks > OUTSTANDING_MAX / 20 {
            return Err(OrionError::new(
                "-num_disks",
                format!("{disks} volumes are too many loads; write -num_disks N"),
            ));
        }
        let points = points(&options, disks);
        let most = points.large_loads().last().map_or(0, |load| options.ios_of_large(*load));
        if most > u64::from(OUTSTANDING_MAX) {
            let message = format!(
                "asks for {most} outstanding I/Os; at most {OUTSTANDING_MAX} are possible: lower it or -num_disks"
            );
            return Err(OrionError::new("-num_streamIO", message));
        }
        let kilobytes = |size: Option<u32>, default: u32| Bytes(u64::from(size.unwrap_or(default)) * 1024);
        let sequential = options.large_type() == LargeType::Seq;
        let streams = points.large_loads().last().copied().filter(|_| sequential).unwrap_or(0);
        if streams > STREAMS_MAX {
            let option = if options.num_large.is_some() { "-num_large" } else { "-num_disks" };
            let message = format!("asks for {streams} streams at once; at most {STREAMS_MAX} are possible: lower it");
            return Err(OrionError::new(option, message));
        }
        check_stripe(&options, targets.len())?;
        Ok(Self {
            disks,
            small_size: kilobytes(options.size_small, 8),
            large_size: kilobytes(options.size_large, 1024),
            large: match sequential {
                true => LargeLoad::Streams { ios: options.num_stream_io.unwrap_or(4) },
                false => LargeLoad::Random,
            },
            write_percent: options.write.unwrap_or(0),
            volume: match options.simulate {
                Some(Simulate::Raid0) => Volume::Raid0 { stripe: kilobytes(options.stripe, 1024) },
                Some(Simulate::Concat) | None => Volume::Concat,
            },
            warm_up: match (sequential, options.cache_size) {
                (false, _) | (true, Some(0)) => WarmUp::None,
                (true, None) => WarmUp::For(Duration::from_secs(120)),
                (true, Some(megabytes)) => WarmUp::Amount(Bytes(u64::from(megabytes) << 20)),
            },
            duration: Duration::from_secs(options.duration.unwrap_or(60).into()),
            notes: lun.note.clone().into_iter().chain(notes(&options)).collect(),
            testname: lun.testname,
            destroy: Vec::new(),
            cores: None,
            points,
            targets,
            options,
        })
    }

    /// How long the points take, with what comes before each; a warm-up by amount is not in it.
    #[must_use]
    pub fn time(&self) -> Duration {
        let of_cell = |cell: &Cell| {
            let warm_up = self.warm_up_job(*cell).filter(|(_, amount)| amount.is_none());
            let warm_up = warm_up.map_or(Duration::ZERO, |(job, _)| job.run.time());
            warm_up + self.cell_job(*cell).run.ramp() + self.duration
        };
        self.points.cells.iter().map(of_cell).sum()
    }
}

/// Refuses stripes that an I/O would reach beyond.
fn check_stripe(options: &Options, volumes: usize) -> Result<(), OrionError> {
    if options.simulate != Some(Simulate::Raid0) || volumes < 2 {
        return Ok(());
    }
    let (stripe, small, large) =
        (options.stripe.unwrap_or(1024), options.size_small.unwrap_or(8), options.size_large.unwrap_or(1024));
    match [small, large].into_iter().find(|size| stripe % size != 0) {
        None => Ok(()),
        Some(size) => Err(OrionError::new(
            "-stripe",
            format!(
                "I/Os of {size} KB would lie across two stripes of {stripe} KB; write a stripe that both sizes \
                 ({small} and {large} KB) divide"
            ),
        )),
    }
}

/// Options that are read and mean less than in ORION.
fn notes(options: &Options) -> Vec<String> {
    let mut notes = Vec::new();
    if options.huge_not_needed {
        notes.push(
            "`-hugenotneeded` changes nothing: the target's driver decides whether it needs hugepages".to_owned(),
        );
    }
    if let Some(storax) = options.storax {
        notes.push(format!("`-storax {}` changes nothing: each target is reached as its URI says", storax.word()));
    }
    if options.cache_size.is_some_and(|megabytes| megabytes > 0) && options.large_type() != LargeType::Seq {
        notes.push("`-cache_size` changes nothing: the cache is warmed before sequential points only".to_owned());
    }
    notes
}
