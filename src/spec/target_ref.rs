//! How a workload names its targets: by their names, or by their numbers from 0.
//!
//! Owns the spelling. Whether there is such a target is looked up in the job.

use serde::{Deserialize, Deserializer, Serialize};

use super::scalar;

/// A target as a workload refers to it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum TargetRef {
    /// By position in the job, from 0.
    Index(usize),
    /// By name.
    Name(String),
}

impl<'de> Deserialize<'de> for TargetRef {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        struct Reference;
        impl serde::de::Visitor<'_> for Reference {
            type Value = TargetRef;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("a target's name, or its number from 0")
            }

            fn visit_str<E: serde::de::Error>(self, name: &str) -> Result<TargetRef, E> {
                Ok(TargetRef::Name(name.to_owned()))
            }

            fn visit_u64<E: serde::de::Error>(self, index: u64) -> Result<TargetRef, E> {
                Ok(TargetRef::Index(usize::try_from(index).unwrap_or(usize::MAX)))
            }

            fn visit_i64<E: serde::de::Error>(self, index: i64) -> Result<TargetRef, E> {
                match u64::try_from(index) {
                    Ok(index) => self.visit_u64(index),
                    Err(_) => Err(E::invalid_value(serde::de::Unexpected::Signed(index), &self)),
                }
            }
        }
        d.deserialize_any(Reference)
    }
}

/// Reads the targets of a workload, at least one.
pub(super) fn target_refs<'de, D: Deserializer<'de>>(d: D) -> Result<Option<Vec<TargetRef>>, D::Error> {
    let refs = scalar::list(d, "a list of targets by name or number from 0, such as [\"vol1\", 1]")?;
    if refs.is_empty() {
        return Err(serde::de::Error::custom(
            "the list is empty; name at least one target, or leave `targets` out for all",
        ));
    }
    Ok(Some(refs))
}
