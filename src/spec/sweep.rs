//! What the points of a job step through: `[sweep]`.
//!
//! Owns its grammar: fields with their lists, in the order written, and how the points are gone through. What a setting
//! does to a job is told by `steps`. Knows no device.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use serde::de::{DeserializeSeed, Error, MapAccess, Visitor};
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use toml::Value;

use super::accept::Condition;
use super::load::{self, SWEEP_POINTS_MAX};
use super::open;
use super::scalar::{self, Text, Whole};

/// Most repeats of a point.
pub const REPEATS_MAX: u32 = 1_000;
/// Most rounds until a point is steady, where none is stated.
const ROUNDS_DEFAULT: u32 = 25;
/// Fewest rounds that can be judged.
const ROUNDS_MIN: u32 = 5;

/// What the points step through, and how.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Sweep {
    /// The fields with their values, in the order written: the last one changes with every point, the first one least
    /// often. At least one.
    pub axes: Vec<Axis>,
    /// How often each point is held; once if absent.
    pub repeats: Option<Repeats>,
    /// Time without I/O between two points; none if absent.
    pub pause: Option<Duration>,
    /// Whether the points are gone through in an order drawn from the seed; as written if absent.
    pub shuffle: Option<bool>,
    /// What ends a curve: once a point fulfils one of these, those behind it on the last axis are left out.
    pub stop: Vec<Stop>,
}

/// A field and the values it takes.
#[derive(Debug, Clone, PartialEq)]
pub struct Axis {
    /// The field: of every workload, of `[run]`, or a path such as `workload.oltp.rate`.
    pub field: String,
    /// What it takes, in order.
    pub values: Values,
}

/// The values of a field.
#[derive(Debug, Clone, PartialEq)]
pub enum Values {
    /// These, at least one.
    Each(Vec<Value>),
    /// Of `rate` only: shares of the highest rate that the targets reach, in per cent, above 0 and up to 1,000.
    PercentOfMax(Vec<f64>),
}

/// How often a point is held.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Repeats {
    /// So many times: the whole sweep is gone through again each time.
    Times(u32),
    /// In rounds, one after the other, until five in a row are steady, or so many were run.
    Steady {
        /// Most rounds.
        most: u32,
    },
}

/// What ends a curve.
#[derive(Debug, Clone, PartialEq)]
pub enum Stop {
    /// The targets could not follow the rate.
    Overloaded,
    /// A condition that the point fulfils.
    When(Condition),
}

impl Sweep {
    /// One list of numbers of I/Os outstanding over all targets.
    #[must_use]
    pub fn outstanding(totals: Vec<u32>) -> Self {
        let values = totals.into_iter().map(|total| Value::Integer(total.into())).collect();
        let axis = Axis { field: "outstanding".to_owned(), values: Values::Each(values) };
        Self { axes: vec![axis], ..Self::default() }
    }

    /// The list of the only axis, where it is a load that every workload gets and nothing else is asked for: the points of
    /// one plan.
    #[must_use]
    pub fn plain(&self) -> Option<(&str, &[Value])> {
        let Self { axes, repeats: None, pause: None, shuffle: None, stop } = self else { return None };
        match &axes[..] {
            [Axis { field, values: Values::Each(values) }] if LOADS.contains(&field.as_str()) && stop.is_empty() => {
                Some((field, values))
            }
            _ => None,
        }
    }

    /// The load that it gives to every workload, by the name of its field.
    #[must_use]
    pub fn load(&self) -> Option<&str> {
        self.axes.iter().map(|axis| axis.field.as_str()).find(|field| LOADS.contains(field))
    }

    /// How often each point is held at most.
    #[must_use]
    pub fn times(&self) -> u32 {
        match self.repeats {
            None => 1,
            Some(Repeats::Times(times)) => times,
            Some(Repeats::Steady { most }) => most,
        }
    }
}

/// The fields that state a load; a workload has one of them at most.
pub(super) const LOADS: [&str; 3] = ["queue_depth", "outstanding", "rate"];

impl Values {
    /// How many there are.
    #[must_use]
    pub fn len(&self) -> usize {
        match self {
            Self::Each(values) => values.len(),
            Self::PercentOfMax(shares) => shares.len(),
        }
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl FromStr for Repeats {
    type Err = String;

    /// Reads `steady` and `steady:40`.
    fn from_str(text: &str) -> Result<Self, String> {
        let (word, most) = text.trim().split_once(':').map_or((text.trim(), None), |(word, most)| (word, Some(most)));
        let most = most.map_or(Some(ROUNDS_DEFAULT), |most| most.trim().parse().ok());
        match most.filter(|most| word == "steady" && (ROUNDS_MIN..=REPEATS_MAX).contains(most)) {
            Some(most) => Ok(Self::Steady { most }),
            None => Err(format!(
                "`{text}` is no number of repeats; write one such as 3, or \"steady\" or \"steady:40\" (rounds until five in \
                 a row are steady, {ROUNDS_MIN} to {REPEATS_MAX} at most)"
            )),
        }
    }
}

impl fmt::Display for Repeats {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Times(times) => write!(f, "{times}"),
            Self::Steady { most } => write!(f, "steady:{most}"),
        }
    }
}

impl FromStr for Stop {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text.trim() == "overloaded" {
            return Ok(Self::Overloaded);
        }
        match text.parse()? {
            Condition::Steady => {
                Err("`steady` ends no curve; write `overloaded`, or a condition on a figure, such as \
                                      `p99 read > 20ms`; for rounds until steady write repeats = \"steady\""
                    .to_owned())
            }
            condition => Ok(Self::When(condition)),
        }
    }
}

impl fmt::Display for Stop {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Overloaded => f.write_str("overloaded"),
            Self::When(condition) => write!(f, "{condition}"),
        }
    }
}

impl<'de> Deserialize<'de> for Sweep {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        struct Fields;
        impl<'de> Visitor<'de> for Fields {
            type Value = Sweep;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a table of fields, such as [sweep] with lines below it")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Sweep, A::Error> {
                let mut sweep = Sweep::default();
                while let Some(field) = map.next_key::<String>()? {
                    match field.as_str() {
                        "repeats" => sweep.repeats = Some(map.next_value()?),
                        "pause" => sweep.pause = map.next_value::<Pause>()?.0,
                        "shuffle" => sweep.shuffle = map.next_value::<YesOrNo>()?.0,
                        "stop" => sweep.stop = map.next_value::<Stops>()?.0,
                        _ => {
                            let values = map.next_value_seed(ListOf(&field))?;
                            sweep.axes.push(Axis { field, values });
                        }
                    }
                }
                Ok(sweep)
            }
        }
        d.deserialize_any(Fields)
    }
}

impl Serialize for Sweep {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        let Self { axes, repeats, pause, shuffle, stop } = self;
        let mut table = s.serialize_map(None)?;
        repeats.iter().try_for_each(|repeats| match repeats {
            Repeats::Times(times) => table.serialize_entry("repeats", times),
            steady => table.serialize_entry("repeats", &steady.to_string()),
        })?;
        if pause.is_some() {
            table.serialize_entry("pause", &Pause(*pause))?;
        }
        shuffle.iter().try_for_each(|shuffle| table.serialize_entry("shuffle", shuffle))?;
        if !stop.is_empty() {
            table.serialize_entry("stop", &stop.iter().map(ToString::to_string).collect::<Vec<_>>())?;
        }
        for Axis { field, values } in axes {
            match values {
                Values::Each(values) => table.serialize_entry(field, values)?,
                Values::PercentOfMax(shares) => {
                    table.serialize_entry(field, &Shares { percent_of_max: shares.clone() })?
                }
            }
        }
        table.end()
    }
}

#[derive(Serialize, Deserialize)]
#[serde(transparent)]
struct Pause(
    #[serde(deserialize_with = "scalar::duration", serialize_with = "scalar::write_duration")] Option<Duration>,
);

#[derive(Deserialize)]
#[serde(transparent)]
struct YesOrNo(#[serde(deserialize_with = "scalar::yes_or_no")] Option<bool>);

#[derive(Deserialize)]
#[serde(transparent)]
struct Stops(#[serde(deserialize_with = "stops")] Vec<Stop>);

fn stops<'de, D: Deserializer<'de>>(d: D) -> Result<Vec<Stop>, D::Error> {
    scalar::strings(d)?.iter().map(|text| text.parse().map_err(D::Error::custom)).collect()
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Shares {
    percent_of_max: Vec<f64>,
}

impl<'de> Deserialize<'de> for Repeats {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        struct Either;
        impl Visitor<'_> for Either {
            type Value = Repeats;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "how often each point is held, 1 to {REPEATS_MAX}, or \"steady\"")
            }

            fn visit_i64<E: Error>(self, times: i64) -> Result<Repeats, E> {
                let whole =
                    Whole { expecting: "how often each point is held, 1 to 1000", range: 1..=REPEATS_MAX.into() };
                whole.visit_i64(times).map(|times| Repeats::Times(times as u32))
            }

            fn visit_u64<E: Error>(self, times: u64) -> Result<Repeats, E> {
                self.visit_i64(i64::try_from(times).unwrap_or(i64::MAX))
            }

            fn visit_str<E: Error>(self, text: &str) -> Result<Repeats, E> {
                Text { expecting: "", parse: |text| text.parse() }.visit_str(text)
            }
        }
        d.deserialize_any(Either)
    }
}

/// Reads the values of the field it names.
struct ListOf<'a>(&'a str);

impl<'de> DeserializeSeed<'de> for ListOf<'_> {
    type Value = Values;

    fn deserialize<D: Deserializer<'de>>(self, d: D) -> Result<Values, D::Error> {
        let whole = |values: Option<Vec<u32>>| {
            Values::Each(values.into_iter().flatten().map(|value| Value::Integer(value.into())).collect())
        };
        match self.0 {
            "queue_depth" => load::queue_depths(d).map(whole),
            "outstanding" => load::outstandings(d).map(whole),
            "rate" => d.deserialize_any(Rates),
            _ => d.deserialize_any(Any),
        }
    }
}

/// A list of rates, or shares of the highest one.
struct Rates;

impl<'de> Visitor<'de> for Rates {
    type Value = Values;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of rates, such as [\"10k\", \"20k\"], or { percent_of_max = [10, 50, 90] }")
    }

    fn visit_seq<A: serde::de::SeqAccess<'de>>(self, seq: A) -> Result<Values, A::Error> {
        let rates = open::rates(serde::de::value::SeqAccessDeserializer::new(seq))?.unwrap_or_default();
        Ok(Values::Each(rates.into_iter().map(|rate| Value::Integer(rate.try_into().unwrap_or(i64::MAX))).collect()))
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Values, A::Error> {
        let Shares { percent_of_max } = Shares::deserialize(serde::de::value::MapAccessDeserializer::new(map))?;
        if percent_of_max.is_empty() {
            return Err(A::Error::custom("`percent_of_max` is empty; write shares in per cent, such as [10, 50, 90]"));
        }
        match percent_of_max.iter().find(|share| !(**share > 0.0 && **share <= 1_000.0)) {
            Some(share) => {
                Err(A::Error::custom(format!("{share} is no share of the highest rate; write per cent above 0")))
            }
            None => Ok(Values::PercentOfMax(percent_of_max)),
        }
    }
}

/// A list of values that only the field itself can judge.
struct Any;

impl<'de> Visitor<'de> for Any {
    type Value = Values;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of values to step through, such as [\"4k\", \"8k\"]")
    }

    fn visit_seq<A: serde::de::SeqAccess<'de>>(self, mut seq: A) -> Result<Values, A::Error> {
        let mut values = Vec::new();
        while let Some(value) = seq.next_element()? {
            values.push(value);
            if values.len() > SWEEP_POINTS_MAX {
                return Err(A::Error::custom(format!(
                    "the sweep has more than {SWEEP_POINTS_MAX} points; write fewer"
                )));
            }
        }
        if values.is_empty() {
            return Err(A::Error::custom("the sweep is empty; write a list of values to step through"));
        }
        Ok(Values::Each(values))
    }
}
