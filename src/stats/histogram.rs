//! The log-linear histogram in ticks that every I/O goes into.
//!
//! Owns the bucket layout and its error; does no I/O, reads no clock, knows no unit but ticks. 1,024 linear buckets
//! to each power of two, so that a value and the bucket it falls into differ by less than 1/1,024 (0.1 %) from one
//! tick to 2^45 ticks (over an hour at any clock up to 9 GHz); what lies above is counted in `overflow`.
//! Layout after G. Tene's HdrHistogram (3 significant digits), with ticks as the unit.

use std::fmt;
use std::ops::Range;

/// log2 of the linear buckets to each power of two.
const SUB_BITS: u32 = 10;
/// Values of this many bits and fewer have a bucket.
const MAX_BITS: u32 = 45;
/// Number of buckets.
pub const BUCKETS: usize = ((MAX_BITS - SUB_BITS + 1) as usize) << SUB_BITS;
/// The largest value with a bucket of its own, in ticks.
pub const MAX_TICKS: u64 = (1 << MAX_BITS) - 1;

/// A histogram of spans in ticks, with exact count, sum, least and greatest.
pub struct TickHistogram {
    counts: Box<[u64; BUCKETS]>,
    overflow: u64,
    sum_ticks: u64,
    /// Carry of the sum: only merging reaches beyond 64 bits.
    sum_high: u64,
    min_ticks: u64,
    max_ticks: u64,
}

/// What is told of a histogram that is not empty, in ticks.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Reading<const N: usize> {
    /// Number of recorded spans.
    pub count: u64,
    /// Exact mean.
    pub mean_ticks: f64,
    /// As they were asked for.
    pub quantiles_ticks: [u64; N],
    /// Exact greatest span.
    pub max_ticks: u64,
}

/// The bucket of a value of at most [`MAX_TICKS`].
#[inline(always)]
fn bucket_of(ticks: u64) -> usize {
    // One power of two below 2^(SUB_BITS+1) would have buckets finer than a tick, hence the `|`: shift 0 there.
    let shift = (63 - SUB_BITS) - (ticks | ((2 << SUB_BITS) - 1)).leading_zeros();
    ((shift as usize) << SUB_BITS) + (ticks >> shift) as usize
}

/// The least and the greatest value of a bucket, in ticks.
fn bounds_of(bucket: usize) -> (u64, u64) {
    let shift = (bucket >> SUB_BITS).saturating_sub(1) as u32;
    let low = ((bucket as u64) - (u64::from(shift) << SUB_BITS)) << shift;
    (low, low + ((1u64 << shift) - 1))
}

impl TickHistogram {
    /// An empty histogram; the only allocation it ever makes.
    #[must_use]
    pub fn new() -> Self {
        let counts = vec![0u64; BUCKETS].into_boxed_slice();
        let counts = counts.try_into().unwrap_or_else(|_| unreachable!("the slice has BUCKETS elements"));
        Self { counts, overflow: 0, sum_ticks: 0, sum_high: 0, min_ticks: u64::MAX, max_ticks: 0 }
    }

    /// Counts one span. Never fails, never allocates: a span beyond [`MAX_TICKS`] is counted as overflow.
    #[inline(always)]
    pub fn record(&mut self, ticks: u64) {
        match self.counts.get_mut(bucket_of(ticks)) {
            Some(count) => *count += 1,
            None => self.overflow += 1,
        }
        self.sum_ticks = self.sum_ticks.wrapping_add(ticks);
        // Hardly ever true after the first few, so that two predicted branches cost less than two stores.
        if ticks < self.min_ticks {
            self.min_ticks = ticks;
        }
        if ticks > self.max_ticks {
            self.max_ticks = ticks;
        }
    }

    /// Number of recorded spans: the sum of all buckets and the overflow.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.counts[self.filled()].iter().sum::<u64>() + self.overflow
    }

    /// The buckets from that of the least to that of the greatest span. What is filled is a small part of all, and whole
    /// histograms are read, merged and emptied many times a second.
    fn filled(&self) -> Range<usize> {
        if self.min_ticks > self.max_ticks {
            return 0..0;
        }
        let bucket = |ticks: u64| bucket_of(ticks).min(BUCKETS);
        bucket(self.min_ticks)..(bucket(self.max_ticks) + 1).min(BUCKETS)
    }

    /// Number of spans beyond [`MAX_TICKS`].
    #[must_use]
    pub fn overflow(&self) -> u64 {
        self.overflow
    }

    /// Exact mean, in ticks; none when empty.
    #[must_use]
    pub fn mean_ticks(&self) -> Option<f64> {
        let count = self.count();
        (count > 0).then(|| self.sum_ticks() as f64 / count as f64)
    }

    /// Exact sum of all recorded spans, in ticks.
    #[must_use]
    pub fn sum_ticks(&self) -> u128 {
        u128::from(self.sum_high) << 64 | u128::from(self.sum_ticks)
    }

    /// Exact least span, in ticks; none when empty.
    #[must_use]
    pub fn min_ticks(&self) -> Option<u64> {
        (self.min_ticks <= self.max_ticks).then_some(self.min_ticks)
    }

    /// Exact greatest span, in ticks; none when empty.
    #[must_use]
    pub fn max_ticks(&self) -> Option<u64> {
        (self.min_ticks <= self.max_ticks).then_some(self.max_ticks)
    }

    /// The span that a share `quantile` in `[0, 1]` of all recorded spans does not exceed, in ticks: the greatest value
    /// of the bucket that holds the ⌈quantile × count⌉-th smallest span (at least the first), at most the exact greatest.
    /// None when empty.
    #[must_use]
    pub fn quantile_ticks(&self, quantile: f64) -> Option<u64> {
        let [ticks] = self.reading([quantile])?.quantiles_ticks;
        Some(ticks)
    }

    /// Count, mean, greatest and several quantiles (in rising order, as in [`Self::quantile_ticks`]) in one go; none when
    /// empty.
    #[must_use]
    pub fn reading<const N: usize>(&self, rising: [f64; N]) -> Option<Reading<N>> {
        let count = self.count();
        if count == 0 {
            return None;
        }
        let (mut next, mut seen) = (self.filled().start, 0);
        let quantiles_ticks = rising.map(|quantile| {
            let rank = ((quantile.clamp(0.0, 1.0) * count as f64).ceil() as u64).clamp(1, count);
            while seen < rank && next < BUCKETS {
                seen += self.counts[next];
                next += 1;
            }
            // Past the last bucket lies the overflow.
            let greatest = if seen < rank { self.max_ticks } else { bounds_of(next - 1).1 };
            greatest.clamp(self.min_ticks, self.max_ticks)
        });
        let mean_ticks = self.sum_ticks() as f64 / count as f64;
        Some(Reading { count, mean_ticks, quantiles_ticks, max_ticks: self.max_ticks })
    }

    /// Adds all counts of `other`; the result is what one histogram of both would hold.
    pub fn merge(&mut self, other: &Self) {
        let Self { counts, overflow, sum_ticks, sum_high, min_ticks, max_ticks } = other;
        if min_ticks > max_ticks {
            return;
        }
        let filled = other.filled();
        for (mine, theirs) in self.counts[filled.clone()].iter_mut().zip(&counts[filled]) {
            *mine += theirs;
        }
        self.overflow += overflow;
        let (sum, carry) = self.sum_ticks.overflowing_add(*sum_ticks);
        self.sum_ticks = sum;
        self.sum_high += sum_high + u64::from(carry);
        self.min_ticks = self.min_ticks.min(*min_ticks);
        self.max_ticks = self.max_ticks.max(*max_ticks);
    }

    /// Empties it for reuse.
    pub fn clear(&mut self) {
        let filled = self.filled();
        self.counts[filled].fill(0);
        self.overflow = 0;
        self.sum_ticks = 0;
        self.sum_high = 0;
        self.min_ticks = u64::MAX;
        self.max_ticks = 0;
    }

    /// The filled buckets in rising order: least value, greatest value (ticks), count. Overflow is not among them.
    pub fn buckets(&self) -> impl Iterator<Item = (u64, u64, u64)> + '_ {
        let filled = self.filled();
        filled.clone().zip(&self.counts[filled]).filter(|(_, n)| **n > 0).map(|(bucket, &n)| {
            let (low, high) = bounds_of(bucket);
            (low, high, n)
        })
    }
}

impl Clone for TickHistogram {
    fn clone(&self) -> Self {
        let mut copy = Self::new();
        copy.merge(self);
        copy
    }
}

impl Default for TickHistogram {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for TickHistogram {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TickHistogram")
            .field("count", &self.count())
            .field("max_ticks", &self.max_ticks())
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buckets_are_contiguous_and_hold_their_values() {
        let mut next = 0;
        for bucket in 0..BUCKETS {
            let (low, high) = bounds_of(bucket);
            assert_eq!(low, next, "bucket {bucket}");
            assert_eq!((bucket_of(low), bucket_of(high)), (bucket, bucket));
            assert!(high - low < (low >> SUB_BITS).max(1), "bucket {bucket} is wider than 1/1,024 of its value");
            next = high + 1;
        }
        assert_eq!(next - 1, MAX_TICKS);
    }

    #[test]
    fn values_beyond_the_range_are_counted_not_lost() {
        let mut h = TickHistogram::new();
        for value in [0, 1, MAX_TICKS, MAX_TICKS + 1, u64::MAX] {
            h.record(value);
        }
        assert_eq!((h.count(), h.overflow()), (5, 2));
        assert_eq!(h.max_ticks(), Some(u64::MAX));
        assert_eq!(h.reading([0.0, 0.4, 0.8, 1.0]).unwrap().quantiles_ticks, [0, 1, u64::MAX, u64::MAX]);
        let copy = h.clone();
        h.clear();
        assert_eq!((h.count(), h.quantile_ticks(0.5), h.buckets().count()), (0, None, 0));
        assert_eq!((copy.count(), copy.overflow(), copy.buckets().count()), (5, 2, 3));
    }

    #[test]
    fn only_values_beyond_the_range_leave_no_bucket() {
        let mut h = TickHistogram::new();
        h.record(MAX_TICKS + 1);
        assert_eq!((h.count(), h.buckets().count(), h.quantile_ticks(0.5)), (1, 0, Some(MAX_TICKS + 1)));
    }

    #[test]
    fn several_quantiles_are_those_one_by_one() {
        let mut h = TickHistogram::new();
        (1..=2_000).for_each(|n| h.record(n * n));
        let quantiles = [0.0, 0.5, 0.5, 0.99, 0.999, 1.0];
        let reading = h.reading(quantiles).unwrap();
        assert_eq!(reading.quantiles_ticks, quantiles.map(|q| h.quantile_ticks(q).unwrap()));
        assert_eq!((reading.count, Some(reading.mean_ticks)), (2_000, h.mean_ticks()));
    }
}
