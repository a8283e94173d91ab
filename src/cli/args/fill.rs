//! The arguments of `rigel fill`.

use std::path::PathBuf;

use crate::spec::Overrides;

/// `rigel fill`.
#[derive(Debug, clap::Args)]
#[command(after_help = super::EXIT_CODES)]
pub(in crate::cli) struct FillArgs {
    /// Job file (TOML) to take targets, region, payload, cores, seed and [precondition] from.
    pub job: Option<PathBuf>,
    /// Target URI; repeat it for several.
    #[arg(long, short = 't', value_name = "URI")]
    pub target: Vec<String>,
    /// How often each block is written [default: 1].
    #[arg(long, value_name = "N", allow_hyphen_values = true)]
    pub passes: Option<String>,
    /// Part of each target to fill: whole, 10g (the first), 1g-2g, 0%-80% [default: that of the job's workloads, or whole].
    #[arg(long, value_name = "REGION")]
    pub region: Option<String>,
    /// Order of a pass: sequential, or random, another one each pass [default: sequential].
    #[arg(long, value_name = "ORDER")]
    pub order: Option<String>,
    /// Bytes of each write [default: 256k, or what the targets take at once].
    #[arg(long, short = 'b', value_name = "SIZE")]
    pub block_size: Option<String>,
    /// Outstanding writes on each target [default: 32].
    #[arg(long, short = 'q', value_name = "N", allow_hyphen_values = true)]
    pub queue_depth: Option<String>,
    /// What is written: compression=2,dedupe=1.5,unit=8k (ratios N:1), or zeroes [default: that of the job's workloads,
    /// or incompressible, unique].
    #[arg(long, value_name = "KEY=N[,…]")]
    pub payload: Option<String>,
    /// Cores to poll on, such as 1-3 or 2,4 [default: one a target, from the last core down].
    #[arg(long, short = 'c', value_name = "LIST")]
    pub cores: Option<String>,
    /// Seed of order and payload [default: 1].
    #[arg(long, value_name = "N")]
    pub seed: Option<String>,
    /// Allow writing to the target of this identity (serial, NGUID, or IQN/LUN): its data will be destroyed.
    #[arg(long, value_name = "IDENTITY")]
    pub destroy: Vec<String>,
    /// File that says what is done, written every few seconds: the same command goes on where it ended.
    #[arg(long, value_name = "FILE")]
    pub state: Option<PathBuf>,
    /// Begin anew, whatever --state says.
    #[arg(long, requires = "state")]
    pub again: bool,
    /// Take time from a clock that would be refused as unstable.
    #[arg(long)]
    pub trust_clock: bool,
    /// Print what was done as JSON on stdout, and nothing else there.
    #[arg(long)]
    pub json: bool,
    /// No map and no progress; only the closing line.
    #[arg(long)]
    pub quiet: bool,
}

impl FillArgs {
    /// The flags that override fields of the job.
    pub(in crate::cli) fn overrides(&self) -> Overrides {
        let fields = [
            ("passes", &self.passes),
            ("order", &self.order),
            ("region", &self.region),
            ("block_size", &self.block_size),
            ("queue_depth", &self.queue_depth),
            ("payload", &self.payload),
        ];
        let typed = fields.into_iter().filter_map(|(field, typed)| Some((field, typed.clone()?)));
        Overrides {
            target: self.target.clone(),
            cores: self.cores.clone(),
            seed: self.seed.clone(),
            destroy: self.destroy.clone(),
            trust_clock: self.trust_clock,
            precondition: typed.collect(),
            ..Overrides::default()
        }
    }
}
