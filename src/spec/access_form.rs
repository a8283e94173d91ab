//! How a job spells an access pattern: as a text (`"random"`, `"zipf:0.99"`) or as a table
//! (`{ pattern = "zipf", theta = 0.99 }`).
//!
//! Owns the fields of each pattern and their limits, and refuses those that belong to another.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use serde::de::value::MapAccessDeserializer;
use serde::de::{Error, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::access::{Access, Band};
use super::nearest::{hint, list};
use super::region::RegionSpec;
use super::scalar;
use crate::units::{Bytes, parse_size};

/// Most bands of one pattern.
pub const BANDS_MAX: usize = 256;
/// Greatest exponent of a Zipf distribution: beyond it hardly anything but the first block is touched.
pub const THETA_MAX: f64 = 100.0;
/// How far the shares of a whole may miss 100 %, so that thirds can be written.
pub(super) const SHARES_OFF_PERCENT: f64 = 0.01;

const PATTERNS: [&str; 9] =
    ["random", "sequential", "permutation", "strided", "zipf", "pareto", "normal", "hot", "bands"];

const EXPECTING: &str = "an access pattern: \"random\", \"sequential\", \"permutation\", \"strided:64k\", \"zipf:0.99\", \
     \"pareto:0.2\", \"normal:10%\", \"hot:80/20\", or a table such as { pattern = \"zipf\", theta = 0.99 }";

impl FromStr for Access {
    type Err = String;

    /// Reads the text forms.
    fn from_str(text: &str) -> Result<Self, String> {
        let (pattern, value) =
            text.split_once(':').map_or((text, None), |(pattern, value)| (pattern, Some(value.trim())));
        let mut fields = Fields { pattern: pattern.trim().to_owned(), ..Fields::default() };
        if let Some(value) = value {
            let number = |text: &str| {
                let number = text.trim().trim_end_matches('%').trim_end().parse::<f64>().ok();
                number.ok_or_else(|| format!("`{text}` in `{pattern}:{value}` is not a number; write {EXPECTING}"))
            };
            match fields.pattern.as_str() {
                "strided" => fields.stride = Some(parse_size(value).map_err(|error| error.to_string())?),
                "zipf" => fields.theta = Some(number(value)?),
                "pareto" => fields.share = Some(number(value)? / if value.ends_with('%') { 100.0 } else { 1.0 }),
                "normal" => fields.deviation = Some(number(value)?),
                "hot" => {
                    let (accesses, space) = value.split_once('/').ok_or_else(|| {
                        format!("`{text}` lacks its space; write share of accesses / share of space, as in hot:80/20")
                    })?;
                    (fields.accesses, fields.space) = (Some(number(accesses)?), Some(number(space)?));
                }
                known if PATTERNS.contains(&known) => {
                    return Err(format!("the pattern `{known}` takes no `:{value}`; write {EXPECTING}"));
                }
                _ => {}
            }
        }
        fields.access()
    }
}

/// A pattern as a table: every field of any pattern.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Fields {
    #[serde(default)]
    pattern: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[serde(deserialize_with = "scalar::size", serialize_with = "scalar::write_size")]
    stride: Option<Bytes>,
    #[serde(default, skip_serializing_if = "Option::is_none", serialize_with = "scalar::write_percent")]
    theta: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "scalar::fraction")]
    share: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "scalar::yes_or_no")]
    scatter: Option<bool>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[serde(deserialize_with = "scalar::share", serialize_with = "scalar::write_percent")]
    deviation: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[serde(deserialize_with = "scalar::share", serialize_with = "scalar::write_percent")]
    accesses: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[serde(deserialize_with = "scalar::share", serialize_with = "scalar::write_percent")]
    space: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[serde(deserialize_with = "scalar::duration", serialize_with = "scalar::write_duration")]
    moves: Option<Duration>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    bands: Option<Vec<BandFields>>,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct BandFields {
    #[serde(default, deserialize_with = "scalar::share", serialize_with = "scalar::write_percent")]
    accesses: Option<f64>,
    region: Option<RegionSpec>,
}

impl Fields {
    fn of(access: &Access) -> Self {
        let fields = |pattern: &str| Self { pattern: pattern.to_owned(), ..Self::default() };
        // Left out where it is the default, so that a job prints as it was written.
        let scatter = |scatter: bool| (!scatter).then_some(false);
        match access {
            Access::Random => fields("random"),
            Access::Sequential => fields("sequential"),
            Access::Permutation => fields("permutation"),
            Access::Strided { stride } => Self { stride: Some(*stride), ..fields("strided") },
            Access::Zipf { theta, scatter: s } => Self { theta: Some(*theta), scatter: scatter(*s), ..fields("zipf") },
            Access::Pareto { share, scatter: s } => {
                Self { share: Some(*share), scatter: scatter(*s), ..fields("pareto") }
            }
            Access::Normal { deviation_percent } => Self { deviation: Some(*deviation_percent), ..fields("normal") },
            Access::Hot { accesses_percent, space_percent, moves } => {
                Self { accesses: Some(*accesses_percent), space: Some(*space_percent), moves: *moves, ..fields("hot") }
            }
            Access::Bands(bands) => {
                let band = |band: &Band| BandFields {
                    accesses: Some(band.accesses_percent),
                    region: Some(RegionSpec::Percent { first: band.first_percent, end: band.end_percent }),
                };
                Self { bands: Some(bands.iter().map(band).collect()), ..fields("bands") }
            }
        }
    }

    /// The pattern, when it has the fields it needs and no other.
    fn access(self) -> Result<Access, String> {
        let (needs, may): (&[&str], &[&str]) = match self.pattern.as_str() {
            "random" | "sequential" | "permutation" => (&[], &[]),
            "strided" => (&["stride"], &[]),
            "zipf" => (&["theta"], &["scatter"]),
            "pareto" => (&["share"], &["scatter"]),
            "normal" => (&["deviation"], &[]),
            "hot" => (&["accesses", "space"], &["moves"]),
            "bands" => (&["bands"], &[]),
            "" => return Err(format!("the table lacks `pattern`; write one of {}", list(PATTERNS))),
            other => return Err(format!("unknown access `{other}`{}; write {EXPECTING}", hint(other, PATTERNS))),
        };
        let given = [
            ("stride", self.stride.is_some(), "strided"),
            ("theta", self.theta.is_some(), "zipf"),
            ("share", self.share.is_some(), "pareto"),
            ("scatter", self.scatter.is_some(), "zipf and pareto"),
            ("deviation", self.deviation.is_some(), "normal"),
            ("accesses", self.accesses.is_some(), "hot"),
            ("space", self.space.is_some(), "hot"),
            ("moves", self.moves.is_some(), "hot"),
            ("bands", self.bands.is_some(), "bands"),
        ];
        let pattern = &self.pattern;
        for (field, given, of) in given {
            if given && !needs.contains(&field) && !may.contains(&field) {
                return Err(format!("`{field}` belongs to the pattern {of}, not to {pattern}; leave `{field}` out"));
            }
            if !given && needs.contains(&field) {
                let example = example(pattern);
                return Err(format!("the pattern {pattern} needs `{field}`; write it, as in {example}"));
            }
        }
        let scatter = self.scatter.unwrap_or(true);
        let access = match self.pattern.as_str() {
            "random" => Access::Random,
            "sequential" => Access::Sequential,
            "permutation" => Access::Permutation,
            "strided" => Access::Strided { stride: self.stride.unwrap_or_default() },
            "zipf" => Access::Zipf { theta: self.theta.unwrap_or_default(), scatter },
            "pareto" => Access::Pareto { share: self.share.unwrap_or_default(), scatter },
            "normal" => Access::Normal { deviation_percent: self.deviation.unwrap_or_default() },
            "hot" => Access::Hot {
                accesses_percent: self.accesses.unwrap_or_default(),
                space_percent: self.space.unwrap_or_default(),
                moves: self.moves,
            },
            _ => Access::Bands(bands(self.bands.unwrap_or_default())?),
        };
        check(&access).map(|()| access)
    }
}

fn example(pattern: &str) -> &'static str {
    match pattern {
        "strided" => "{ pattern = \"strided\", stride = \"64k\" }",
        "zipf" => "{ pattern = \"zipf\", theta = 0.99 }",
        "pareto" => "{ pattern = \"pareto\", share = 0.2 }",
        "normal" => "{ pattern = \"normal\", deviation = \"10%\" }",
        "hot" => "{ pattern = \"hot\", accesses = \"80%\", space = \"20%\" }",
        _ => "{ pattern = \"bands\", bands = [{ accesses = \"90%\", region = \"0%-10%\" }, …] }",
    }
}

/// Limits of the fields by themselves.
fn check(access: &Access) -> Result<(), String> {
    match access {
        Access::Strided { stride: Bytes(0) } => Err("`stride` is 0; write one such as \"64k\"".to_owned()),
        Access::Zipf { theta, .. } if !(*theta > 0.0 && *theta <= THETA_MAX) => {
            Err(format!("`theta` is {theta}, but must be above 0 and at most {THETA_MAX}; write one such as 0.99"))
        }
        Access::Pareto { share, .. } if !(*share > 0.0 && *share < 0.5) => Err(format!(
            "`share` is {share}, but must be above 0 and below 0.5; write 0.2 (or \"20%\") for 80 % of the accesses on \
             20 % of the blocks"
        )),
        Access::Normal { deviation_percent } if *deviation_percent <= 0.0 => {
            Err("`deviation` is 0; write one such as \"10%\" of the region".to_owned())
        }
        Access::Hot { space_percent, .. } if !(*space_percent > 0.0 && *space_percent < 100.0) => Err(format!(
            "`space` is {space_percent} %, but must be above 0 and below 100 %; write one such as \"20%\", or use \"random\""
        )),
        Access::Hot { moves: Some(Duration::ZERO), .. } => {
            Err("`moves` is 0; write how often the band moves on, such as \"30s\", or leave it out".to_owned())
        }
        _ => Ok(()),
    }
}

/// Bands that do not overlap and whose shares add up.
fn bands(fields: Vec<BandFields>) -> Result<Vec<Band>, String> {
    if fields.is_empty() || fields.len() > BANDS_MAX {
        return Err(format!("`bands` has {} entries; write 1 to {BANDS_MAX}", fields.len()));
    }
    let band = |(number, band): (usize, BandFields)| {
        let Some(accesses_percent) = band.accesses else {
            return Err(format!("band {number} lacks `accesses`; write its share, such as accesses = \"50%\""));
        };
        match band.region {
            Some(RegionSpec::Percent { first, end }) => {
                Ok(Band { accesses_percent, first_percent: first, end_percent: end })
            }
            Some(RegionSpec::Whole) => Ok(Band { accesses_percent, first_percent: 0.0, end_percent: 100.0 }),
            Some(RegionSpec::Bytes { .. }) => Err(format!(
                "band {number} has its `region` in bytes; bands are shares of the workload's region, such as \"0%-5%\""
            )),
            None => Err(format!("band {number} lacks `region`; write one such as region = \"0%-5%\"")),
        }
    };
    let bands = fields.into_iter().enumerate().map(band).collect::<Result<Vec<_>, _>>()?;
    let sum: f64 = bands.iter().map(|band| band.accesses_percent).sum();
    if (sum - 100.0).abs() > SHARES_OFF_PERCENT {
        return Err(format!("the `accesses` of the bands add up to {sum} %, not 100 %; change one of them"));
    }
    let mut order: Vec<usize> = (0..bands.len()).collect();
    order.sort_by(|a, b| bands[*a].first_percent.total_cmp(&bands[*b].first_percent));
    match order.windows(2).find(|pair| bands[pair[0]].end_percent > bands[pair[1]].first_percent) {
        Some(pair) => Err(format!("bands {} and {} overlap; let each end where the next begins", pair[0], pair[1])),
        None => Ok(bands),
    }
}

impl Serialize for Access {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Random | Self::Sequential | Self::Permutation => s.serialize_str(&Fields::of(self).pattern),
            _ => Fields::of(self).serialize(s),
        }
    }
}

impl<'de> Deserialize<'de> for Access {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        struct Pattern;
        impl<'de> Visitor<'de> for Pattern {
            type Value = Access;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(EXPECTING)
            }

            fn visit_str<E: Error>(self, text: &str) -> Result<Access, E> {
                text.parse().map_err(E::custom)
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Access, A::Error> {
                Fields::deserialize(MapAccessDeserializer::new(map))?.access().map_err(A::Error::custom)
            }
        }
        d.deserialize_any(Pattern)
    }
}
