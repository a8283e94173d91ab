//! The sizes of a workload's I/Os: one, or several with a share each.
//!
//! Owns their spelling, `8k`, `4k:60,64k:40` or a list of tables, and their limits. Knows no device.

use std::fmt;
use std::str::FromStr;

use serde::de::{Error, SeqAccess, Unexpected, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::access_form::SHARES_OFF_PERCENT;
use super::job::Workload;
use super::load::Op;
use super::scalar::{self, BLOCK_SIZE_MAX};
use crate::units::{Bytes, greatest_divisor, parse_size};

/// Block size of a workload that states none.
const DEFAULT_BLOCK_SIZE: Bytes = Bytes(4096);

/// Most sizes of one mix.
pub const SIZES_MAX: usize = 64;

/// One size and how many of the I/Os have it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SizeShare {
    /// Bytes of the I/O.
    pub size: Bytes,
    /// Share of the I/Os (not of the bytes), in per cent, above 0.
    pub share_percent: f64,
}

/// Sizes in the order written, each once; their shares add up to 100 %.
#[derive(Debug, Clone, PartialEq)]
pub struct SizeMix(Vec<SizeShare>);

const EXPECTING: &str = "a size of 1 byte to 64m, such as \"8k\" or 8192, or sizes with their shares, \
     such as \"4k:60,64k:40\" or [{ size = \"4k\", share = 60 }, { size = \"64k\", share = 40 }]";

impl SizeMix {
    /// The sizes with their shares, at least one.
    #[must_use]
    pub fn sizes(&self) -> &[SizeShare] {
        &self.0
    }

    /// The size, where there is only one.
    #[must_use]
    pub fn only(&self) -> Option<Bytes> {
        match self.0.as_slice() {
            [one] => Some(one.size),
            _ => None,
        }
    }

    /// The greatest size.
    #[must_use]
    pub fn greatest(&self) -> Bytes {
        self.0.iter().map(|part| part.size).max().unwrap_or_default()
    }

    fn of(sizes: Vec<SizeShare>) -> Result<Self, String> {
        if sizes.is_empty() || sizes.len() > SIZES_MAX {
            return Err(format!("the mix has {} sizes; write 1 to {SIZES_MAX}", sizes.len()));
        }
        for (index, part) in sizes.iter().enumerate() {
            if part.size.0 == 0 || part.size.0 > BLOCK_SIZE_MAX {
                return Err(format!("the size {} is not of 1 byte to 64m; write one such as 8k", part.size));
            }
            if !(part.share_percent > 0.0 && part.share_percent <= 100.0) {
                let (size, share) = (part.size, part.share_percent);
                return Err(format!("the share of {size} is {share} %; write one above 0, or leave the size out"));
            }
            if sizes[..index].iter().any(|earlier| earlier.size == part.size) {
                return Err(format!("the size {} is given twice; add its shares up", part.size));
            }
        }
        let sum: f64 = sizes.iter().map(|part| part.share_percent).sum();
        if (sum - 100.0).abs() > SHARES_OFF_PERCENT {
            return Err(format!("the shares of the sizes add up to {sum} %, not 100 %; change one of them"));
        }
        Ok(Self(sizes))
    }
}

impl From<Bytes> for SizeMix {
    fn from(size: Bytes) -> Self {
        Self(vec![SizeShare { size, share_percent: 100.0 }])
    }
}

impl fmt::Display for SizeMix {
    /// As it is read: `8k`, `4k:60,64k:40`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(size) = self.only() {
            return write!(f, "{size}");
        }
        let part = |part: &SizeShare| format!("{}:{}", part.size, part.share_percent);
        f.write_str(&self.0.iter().map(part).collect::<Vec<_>>().join(","))
    }
}

impl FromStr for SizeMix {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let size = |text: &str| parse_size(text).map_err(|error| error.to_string());
        if !text.contains([':', ',']) {
            return Self::of(vec![SizeShare { size: size(text)?, share_percent: 100.0 }]);
        }
        let part = |part: &str| {
            let (of, share) = part.split_once(':').ok_or_else(|| {
                format!("`{}` has no share; write SIZE:SHARE for each size, as in 4k:60,64k:40", part.trim())
            })?;
            let digits = share.trim().trim_end_matches('%').trim_end();
            let share_percent = digits.parse().map_err(|_| {
                format!("`{}` is not a share in per cent; write SIZE:SHARE, as in 4k:60,64k:40", share.trim())
            })?;
            Ok(SizeShare { size: size(of)?, share_percent })
        };
        Self::of(text.split(',').map(part).collect::<Result<_, String>>()?)
    }
}

impl Serialize for SizeMix {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        s.collect_str(self)
    }
}

/// An entry of a list of sizes.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    #[serde(default, deserialize_with = "scalar::block_size")]
    size: Option<Bytes>,
    #[serde(default, deserialize_with = "scalar::share")]
    share: Option<f64>,
}

impl<'de> Deserialize<'de> for SizeMix {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        struct Sizes;
        impl<'de> Visitor<'de> for Sizes {
            type Value = SizeMix;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(EXPECTING)
            }

            fn visit_str<E: Error>(self, text: &str) -> Result<SizeMix, E> {
                text.parse().map_err(E::custom)
            }

            fn visit_i64<E: Error>(self, value: i64) -> Result<SizeMix, E> {
                match u64::try_from(value) {
                    Ok(size @ 1..=BLOCK_SIZE_MAX) => Ok(Bytes(size).into()),
                    _ => Err(E::invalid_value(Unexpected::Signed(value), &self)),
                }
            }

            fn visit_u64<E: Error>(self, value: u64) -> Result<SizeMix, E> {
                self.visit_i64(i64::try_from(value).unwrap_or(i64::MAX))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<SizeMix, A::Error> {
                let mut sizes = Vec::new();
                while let Some(Entry { size, share }) = seq.next_element()? {
                    let (Some(size), Some(share_percent)) = (size, share) else {
                        let number = sizes.len();
                        return Err(A::Error::custom(format!(
                            "entry {number} lacks `size` or `share`; write both, as in {{ size = \"4k\", share = 60 }}"
                        )));
                    };
                    sizes.push(SizeShare { size, share_percent });
                }
                SizeMix::of(sizes).map_err(A::Error::custom)
            }
        }
        d.deserialize_any(Sizes)
    }
}

impl Workload {
    /// Sizes of the I/Os of one direction.
    #[must_use]
    pub fn sizes(&self, op: Op) -> SizeMix {
        let own = match op {
            Op::Read => &self.read_block_size,
            Op::Write | Op::Trim | Op::WriteZeroes | Op::Flush => &self.write_block_size,
        };
        own.as_ref().or(self.block_size.as_ref()).cloned().unwrap_or_else(|| DEFAULT_BLOCK_SIZE.into())
    }

    /// Bytes of each I/O, or of the greatest.
    #[must_use]
    pub fn block_size(&self) -> Bytes {
        self.sizes(Op::Read).greatest().max(self.sizes(Op::Write).greatest())
    }

    /// What each write begins at and is long a multiple of, in bytes.
    #[must_use]
    pub fn write_grain(&self) -> Bytes {
        let sizes = self.sizes(Op::Write);
        let sizes = sizes.sizes().iter().map(|part| part.size.0);
        Bytes(sizes.chain(self.align.map(|align| align.0)).fold(0, greatest_divisor))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mix_prints_as_it_is_read() {
        for text in ["8k", "4k:60,64k:40", "512:0.5,4k:99.5"] {
            assert_eq!(text.parse::<SizeMix>().unwrap().to_string(), text);
        }
        assert_eq!(" 4k: 60 %, 64k:40%".parse::<SizeMix>().unwrap().to_string(), "4k:60,64k:40");
    }

    #[test]
    fn shares_that_do_not_add_up_and_sizes_given_twice_are_refused() {
        let error = |text: &str| text.parse::<SizeMix>().unwrap_err();
        assert!(error("4k:60,64k:30").contains("add up to 90 %"));
        assert!(error("4k:60,4096:40").contains("twice"));
        assert!(error("4k:0,64k:100").contains("above 0"));
        assert!(error("4k:50,64k").contains("no share"));
        assert!(error("4k:50,65m:50").contains("64m"));
        assert!(error("0").contains("1 byte to 64m"));
    }
}
