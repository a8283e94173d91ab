//! `_hist.txt`, and the histogram within the summary: counts by latency, reads beside writes.
//!
//! Owns the buckets and the layout. Shares are cumulative, as ORION's are. The layout of the small I/Os' histogram is
//! published; that of the large ones is taken to be the same.

use std::fmt::Write;

use super::{OrionCell, OrionLatency, OrionReport};

/// Upper ends of the buckets, in microseconds. The last one holds whatever is longer, too.
pub const BUCKETS_US: [u64; 9] = [32, 64, 128, 256, 512, 1024, 2048, 4096, 1 << 28];

/// The file.
pub(super) fn render(report: &OrionReport) -> String {
    let mut text =
        "Contains histograms of the latencies observed for each data point test. Each data point test used a \
                    fixed number of outstanding small and large I/Os.\n\
                    For each data point, histograms are printed for the latencies of small reads, small writes, large \
                    reads, and large writes.\n\
                    The value specifies the number of I/Os that were observed within the bucket's latency range.\n"
            .to_owned();
    for cell in report.cells {
        for table in [small(cell), large(cell)].into_iter().flatten() {
            text.push('\n');
            text += &table;
        }
    }
    text
}

/// The histogram of a point's small I/Os; none if it had none.
pub(super) fn small(cell: &OrionCell) -> Option<String> {
    table("Small", cell, cell.small_read.as_ref(), cell.small_write.as_ref())
}

fn large(cell: &OrionCell) -> Option<String> {
    table("Large", cell, cell.large_read.as_ref(), cell.large_write.as_ref())
}

fn table(size: &str, cell: &OrionCell, read: Option<&OrionLatency>, write: Option<&OrionLatency>) -> Option<String> {
    if read.is_none() && write.is_none() {
        return None;
    }
    let mut text = format!(
        "{size} Read / Write Latency Histogram @ Small={} and Large={}\n{:8}{:33}{:25}# of IOs (write)\n",
        cell.small, cell.large, "", "Latency:", "# of IOs (read)"
    );
    let (reads, writes) = (counts(read), counts(write));
    let mut lower = 0;
    for (at, upper) in BUCKETS_US.into_iter().enumerate() {
        let _ = writeln!(
            text,
            "{lower:>9} - {upper:<11}us:{:>16} ({:6.2}%){:>15} ({:6.2}%)",
            reads[at],
            share(&reads, at),
            writes[at],
            share(&writes, at)
        );
        lower = upper;
    }
    Some(text)
}

fn counts(latency: Option<&OrionLatency>) -> [u64; BUCKETS_US.len()] {
    let mut counts = [0; BUCKETS_US.len()];
    for (upper, count) in latency.iter().flat_map(|latency| &latency.histogram) {
        let bucket = BUCKETS_US.iter().position(|end| upper <= end).unwrap_or(BUCKETS_US.len() - 1);
        counts[bucket] += count;
    }
    counts
}

/// Share of all I/Os up to and with a bucket, in per cent.
fn share(counts: &[u64], bucket: usize) -> f64 {
    let sum = |counts: &[u64]| counts.iter().sum::<u64>() as f64;
    let all = sum(counts);
    if all > 0.0 { sum(&counts[..=bucket]) / all * 100.0 } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_published_histogram_is_written_to_the_byte() {
        let histogram =
            vec![(64, 1), (128, 1_112_243), (256, 102_320), (512, 5_434), (1024, 405), (2048, 259), (4096, 2)];
        let small_read = Some(OrionLatency { histogram, ..OrionLatency::default() });
        let cell = OrionCell { small: 2, small_read, ..OrionCell::default() };
        let published = "\
Small Read / Write Latency Histogram @ Small=2 and Large=0
        Latency:                         # of IOs (read)          # of IOs (write)
        0 - 32         us:               0 (  0.00%)              0 (  0.00%)
       32 - 64         us:               1 (  0.00%)              0 (  0.00%)
       64 - 128        us:         1112243 ( 91.12%)              0 (  0.00%)
      128 - 256        us:          102320 ( 99.50%)              0 (  0.00%)
      256 - 512        us:            5434 ( 99.95%)              0 (  0.00%)
      512 - 1024       us:             405 ( 99.98%)              0 (  0.00%)
     1024 - 2048       us:             259 (100.00%)              0 (  0.00%)
     2048 - 4096       us:               2 (100.00%)              0 (  0.00%)
     4096 - 268435456  us:               0 (100.00%)              0 (  0.00%)
";
        assert_eq!(small(&cell).unwrap(), published);
        assert_eq!(large(&cell), None);
    }

    #[test]
    fn a_bucket_between_the_ends_and_one_beyond_them_are_counted() {
        let histogram = vec![(33, 2), (5_000, 3), (1 << 29, 4)];
        let counted = counts(Some(&OrionLatency { histogram, ..OrionLatency::default() }));
        assert_eq!(counted, [0, 2, 0, 0, 0, 0, 0, 0, 7]);
    }
}
