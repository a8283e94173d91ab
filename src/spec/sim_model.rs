//! The array model behind `sim://` as plain data: how long I/Os take, how many are served at once, when it stalls.
//!
//! Owns the model's fields and their spelling in a URI. Draws no number and knows no clock.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use super::query::Query;
use super::sim_presets::PRESETS;
use crate::units::{Bytes, format_duration, parse_duration};

/// A distribution of service times; every value it can give is above zero.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Dist {
    /// Always the same.
    Constant(Duration),
    /// Exponential with this mean.
    Exponential(Duration),
    /// Log-normal with this mean; `sigma` is the deviation of the logarithm, above 0, at most 4.
    LogNormal {
        /// Mean of the times themselves, not of their logarithm.
        mean: Duration,
        /// Deviation of the natural logarithm of the times.
        sigma: f64,
    },
    /// Uniform from `low` to `high`.
    Uniform {
        /// Shortest time.
        low: Duration,
        /// Longest time.
        high: Duration,
    },
}

impl Dist {
    /// Mean of the distribution.
    #[must_use]
    pub fn mean(&self) -> Duration {
        match *self {
            Self::Constant(mean) | Self::Exponential(mean) | Self::LogNormal { mean, .. } => mean,
            Self::Uniform { low, high } => (low + high) / 2,
        }
    }
}

impl FromStr for Dist {
    type Err = String;

    /// Reads `100us`, `const:100us`, `exp:100us`, `lognormal:MEAN:SIGMA` or `uniform:LOW:HIGH`.
    fn from_str(text: &str) -> Result<Self, String> {
        let error = || {
            format!(
                "`{text}` is not a service time; write a duration above zero (100us) or a distribution: exp:100us, \
                 lognormal:100us:0.5 (mean, sigma of 0 to 4), uniform:50us:150us"
            )
        };
        let time = |text: &str| parse_duration(text).ok().filter(|time| !time.is_zero()).ok_or_else(error);
        match text.split(':').collect::<Vec<_>>()[..] {
            [value] | ["const", value] => Ok(Self::Constant(time(value)?)),
            ["exp", mean] => Ok(Self::Exponential(time(mean)?)),
            ["lognormal", mean, sigma] => {
                let sigma = sigma.parse().ok().filter(|sigma| *sigma > 0.0 && *sigma <= 4.0).ok_or_else(error)?;
                Ok(Self::LogNormal { mean: time(mean)?, sigma })
            }
            ["uniform", low, high] => {
                let (low, high) = (time(low)?, time(high)?);
                if low <= high { Ok(Self::Uniform { low, high }) } else { Err(error()) }
            }
            _ => Err(error()),
        }
    }
}

impl fmt::Display for Dist {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Constant(value) => f.write_str(&format_duration(*value)),
            Self::Exponential(mean) => write!(f, "exp:{}", format_duration(*mean)),
            Self::LogNormal { mean, sigma } => write!(f, "lognormal:{}:{sigma}", format_duration(*mean)),
            Self::Uniform { low, high } => write!(f, "uniform:{}:{}", format_duration(*low), format_duration(*high)),
        }
    }
}

/// Points at which the array is slow as a whole.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Slow {
    /// Share of the points, 0 to 1, drawn from the run's seed.
    pub share: f64,
    /// What all service times are multiplied by there; 1 to 1,000.
    pub factor: f64,
}

impl FromStr for Slow {
    type Err = String;

    /// Reads `SHARE:FACTOR`, the share in per cent.
    fn from_str(text: &str) -> Result<Self, String> {
        let parsed = text.split_once(':').and_then(|(share, factor)| {
            let factor = factor.parse().ok().filter(|factor| (1.0..=1e3).contains(factor))?;
            Some(Self { share: parse_share(share).ok()?, factor })
        });
        parsed.ok_or_else(|| {
            format!("`{text}` is not SHARE:FACTOR; write how many per cent of the points are slow, and how many times, such as 5:20")
        })
    }
}

impl fmt::Display for Slow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", per_cent(self.share), self.factor)
    }
}

/// A storage array as a queueing model: `servers` internal servers fed from one queue, in order of arrival.
#[derive(Debug, Clone, PartialEq)]
pub struct SimModel {
    /// The preset it started from, if any.
    pub preset: Option<String>,
    /// Service time of reads that miss the cache.
    pub service: Dist,
    /// Service time of writes.
    pub write_service: Dist,
    /// I/Os served at once; the others wait. At least 1.
    pub servers: u32,
    /// Share of reads served from the cache, 0 to 1.
    pub hit_share: f64,
    /// Service time of reads served from the cache.
    pub hit_service: Dist,
    /// When the array stands still: start, counted from the first I/O, and length; rising, not overlapping.
    pub stalls: Vec<(Duration, Duration)>,
    /// Capacity, in bytes; a multiple of `block_size`.
    pub size: Bytes,
    /// LBA size, in bytes: 512 or 4096.
    pub block_size: u32,
    /// How much points and runs differ: deviation of the logarithm of a factor on all its service times, drawn once for each
    /// point from the run's seed; 0 to 1.
    pub spread: f64,
    /// How many points are slow, and how slow.
    pub slow: Option<Slow>,
    /// Seed of its service times; the run's own seed if absent.
    pub seed: Option<u64>,
}

const KEYS: [&str; 11] = [
    "service",
    "write_service",
    "servers",
    "hit",
    "hit_service",
    "stall",
    "size",
    "block_size",
    "spread",
    "slow",
    "seed",
];

impl SimModel {
    /// A model in which each I/O takes exactly `service`, with 64 servers and 1 TiB of 512-byte blocks.
    #[must_use]
    pub fn constant(service: Duration) -> Self {
        Self {
            preset: None,
            service: Dist::Constant(service),
            write_service: Dist::Constant(service),
            servers: 64,
            hit_share: 0.0,
            hit_service: Dist::Constant(Duration::from_micros(80)),
            stalls: Vec::new(),
            size: Bytes(1 << 40),
            block_size: 512,
            spread: 0.0,
            slow: None,
            seed: None,
        }
    }

    /// Reads what follows `sim://`: a preset, a query, or both (the query changes the preset).
    pub(super) fn parse(preset: &str, query: &str) -> Result<Self, String> {
        let query = Query::parse(query, &KEYS, &["stall"])?;
        let service: Option<Dist> = query.value("service", str::parse)?;
        let mut model = match (preset, service) {
            ("", None) => {
                return Err(format!(
                    "name a preset ({}) or give service=, such as sim://?service=100us",
                    PRESETS.join(", ")
                ));
            }
            ("", Some(service)) => Self { service, write_service: service, ..Self::constant(Duration::ZERO) },
            (name, _) => Self::preset(name).ok_or_else(|| {
                let hint = super::nearest::hint(name, PRESETS);
                format!("unknown preset `{name}`{hint}; known presets: {}", PRESETS.join(", "))
            })?,
        };
        model.service = service.unwrap_or(model.service);
        model.write_service = query.value("write_service", str::parse)?.unwrap_or(model.write_service);
        model.servers = query.whole("servers", 1..=1_000_000)?.unwrap_or(model.servers);
        model.hit_share = query.value("hit", parse_share)?.unwrap_or(model.hit_share);
        model.hit_service = query.value("hit_service", str::parse)?.unwrap_or(model.hit_service);
        model.stalls = parse_stalls(&query)?;
        model.block_size = query.block_size()?.unwrap_or(model.block_size);
        model.size = query.value("size", super::query::parse_capacity)?.unwrap_or(model.size);
        model.spread = query.value("spread", parse_share)?.unwrap_or(model.spread);
        model.slow = query.value("slow", str::parse)?.or(model.slow);
        model.seed = query.value("seed", |text| text.parse().map_err(|_| format!("`{text}` is not a whole number")))?;
        super::query::check_capacity(model.size, model.block_size)?;
        Ok(model)
    }
}

impl fmt::Display for SimModel {
    /// What follows `sim://`: the preset and each field that differs from it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let preset = self.preset.as_deref().unwrap_or("");
        let base = Self::preset(preset).unwrap_or_else(|| {
            // No model serves in no time, so `service` always differs and is printed.
            Self { write_service: self.service, ..Self::constant(Duration::ZERO) }
        });
        let mut pairs: Vec<(&str, String)> = Vec::new();
        let mut put = |differs: bool, key: &'static str, value: &dyn fmt::Display| {
            if differs {
                pairs.push((key, value.to_string()));
            }
        };
        put(self.service != base.service, "service", &self.service);
        put(self.write_service != base.write_service, "write_service", &self.write_service);
        put(self.servers != base.servers, "servers", &self.servers);
        put(self.hit_share != base.hit_share, "hit", &per_cent(self.hit_share));
        put(self.hit_service != base.hit_service, "hit_service", &self.hit_service);
        for (at, length) in &self.stalls {
            put(true, "stall", &format!("{}:{}", format_duration(*at), format_duration(*length)));
        }
        put(self.size != base.size, "size", &self.size);
        put(self.block_size != base.block_size, "block_size", &self.block_size);
        put(self.spread != base.spread, "spread", &per_cent(self.spread));
        if let Some(slow) = self.slow.filter(|_| self.slow != base.slow) {
            put(true, "slow", &slow);
        }
        if let Some(seed) = self.seed {
            put(true, "seed", &seed);
        }
        f.write_str(preset)?;
        for (i, (key, value)) in pairs.iter().enumerate() {
            write!(f, "{}{key}={value}", if i == 0 { '?' } else { '&' })?;
        }
        Ok(())
    }
}

/// A share in per cent, without the last digits of its binary form.
fn per_cent(share: f64) -> f64 {
    (share * 1e11).round() / 1e9
}

fn parse_share(text: &str) -> Result<f64, String> {
    let share = text.trim_end_matches('%').parse::<f64>().ok().filter(|share| (0.0..=100.0).contains(share));
    share.map(|share| share / 100.0).ok_or_else(|| format!("`{text}` is not a share in per cent, 0 to 100, such as 35"))
}

fn parse_stalls(query: &Query<'_>) -> Result<Vec<(Duration, Duration)>, String> {
    let mut stalls = Vec::new();
    for text in query.all("stall") {
        let stall = text.split_once(':').and_then(|(at, length)| {
            let (at, length) = (parse_duration(at).ok()?, parse_duration(length).ok()?);
            (!length.is_zero()).then_some((at, length))
        });
        stalls.push(stall.ok_or_else(|| {
            format!(
                "stall: `{text}` is not AT:LENGTH; write when it starts and how long it lasts, such as stall=2s:100ms"
            )
        })?);
    }
    stalls.sort_unstable();
    if let Some(pair) = stalls.windows(2).find(|pair| pair[0].0 + pair[0].1 > pair[1].0) {
        return Err(format!(
            "stall: the one at {} lasts into the one at {}; make them one",
            format_duration(pair[0].0),
            format_duration(pair[1].0)
        ));
    }
    Ok(stalls)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_preset_exists_and_prints_as_its_name() {
        for name in PRESETS {
            assert_eq!(SimModel::parse(name, "").unwrap().to_string(), name);
        }
    }

    #[test]
    fn a_query_changes_a_preset_field_by_field() {
        let model =
            SimModel::parse("powermax-read-miss", "servers=8&hit=35&spread=2%&stall=2s:100ms&stall=1s:5ms").unwrap();
        assert_eq!(model.service.mean(), Duration::from_micros(340));
        assert_eq!((model.servers, model.hit_share), (8, 0.35));
        assert_eq!(model.stalls[0], (Duration::from_secs(1), Duration::from_millis(5)));
        assert_eq!(model.to_string(), "powermax-read-miss?servers=8&hit=35&stall=1s:5ms&stall=2s:100ms&spread=2");
        let model = SimModel::parse("eva-oltp", "slow=2.5%:4").unwrap();
        assert_eq!(model.slow, Some(Slow { share: 0.025, factor: 4.0 }));
        assert_eq!(model.to_string(), "eva-oltp?slow=2.5:4");
    }

    #[test]
    fn writes_take_as_long_as_reads_unless_told() {
        let model = SimModel::parse("", "service=exp:100us").unwrap();
        assert_eq!(model.write_service, Dist::Exponential(Duration::from_micros(100)));
        let model = SimModel::parse("", "service=exp:100us&write_service=uniform:50us:150us").unwrap();
        assert_eq!(model.write_service.mean(), Duration::from_micros(100));
        assert_eq!(model.to_string(), "?service=exp:100us&write_service=uniform:50us:150us");
    }

    #[test]
    fn a_service_time_of_nothing_or_nonsense_is_refused() {
        for text in
            ["0us", "exp:0us", "uniform:9us:1us", "uniform:1us", "lognormal:1us", "lognormal:1us:0", "gamma:1us"]
        {
            assert!(text.parse::<Dist>().is_err(), "{text}");
        }
        for query in [
            "",
            "servers=0&service=1us",
            "service=1us&hit=101",
            "service=1us&slow=5",
            "service=1us&slow=5:0.5",
            "service=1us&stall=1s:2s&stall=2s:1s",
        ] {
            assert!(SimModel::parse("", query).is_err(), "{query}");
        }
    }
}
