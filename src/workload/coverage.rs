//! How much of a region some I/Os of a workload touch, and how often they come back to the same place.
//!
//! Owns the expectation by pattern (docs/method.md, "Footprint"). It follows from the pattern and the number of I/Os: nothing
//! is counted while they are sent, so it costs them nothing. Draws nothing.

use super::places::Places;
use super::shape::{Shape, Weight};
use super::volume;
use crate::plan::{Access, Op, Plan};

/// What I/Os on one target touch.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Coverage {
    /// I/Os to a place that none before went to.
    pub first_ios: f64,
    /// Blocks that at least one I/O touched.
    pub touched_blocks: f64,
    /// Blocks of the region.
    pub region_blocks: u64,
}

/// What so many I/Os of each operation, which end within `time_s`, touch of the target at `position` of a workload; of a volume
/// set whatever the position of all of it.
#[must_use]
pub fn coverage(plan: &Plan, workload: usize, position: usize, ios: &[(Op, u64)], time_s: f64) -> Coverage {
    let made_up = volume::made_up_of(plan, workload);
    let (plan, position) = made_up.as_ref().map_or((plan, position), |plan| (plan, 0));
    let workload = &plan.workloads[workload];
    let region = workload.regions[position];
    let lba_bytes = u64::from(plan.lba_bytes[workload.targets[position]].max(1));
    let mut first_ios = 0.0;
    // The sizes lie over each other by chance, but for streams, which share the one row of places.
    let (mut untouched, mut in_a_row) = (1.0, 0.0);
    for size in workload.all_sizes() {
        let count = ios.iter().map(|&(op, ios)| {
            let mix = workload.sizes_of(op);
            let share = |part: &crate::plan::SizeShare| if part.size == size { part.share_percent } else { 0.0 };
            ios as f64 * mix.sizes().iter().map(share).sum::<f64>() / 100.0
        });
        let count: f64 = count.sum();
        let places = Places::new(workload, region, lba_bytes, size);
        let (first, share) = of_places(&workload.access, &places, lba_bytes, count, time_s);
        first_ios += first;
        untouched *= 1.0 - share;
        in_a_row += share;
    }
    let streams = matches!(workload.access, Access::Sequential | Access::Strided { .. });
    let share = if streams { f64::min(in_a_row, 1.0) } else { 1.0 - untouched };
    Coverage { first_ios, touched_blocks: share * region.blocks as f64, region_blocks: region.blocks }
}

/// The places that `ios` I/Os find untouched, and the share of the region that they touch.
fn of_places(access: &Access, places: &Places, lba_bytes: u64, ios: f64, time_s: f64) -> (f64, f64) {
    let n = places.count as f64;
    // Where places lie closer than an I/O is long, each block lies in several.
    let overlap = (f64::from(places.blocks) / places.step_blocks as f64).max(1.0);
    match (access, Shape::of(access, places.count)) {
        (Access::Strided { stride }, _) => {
            // A stream stops at the places a stride apart only.
            let stride_blocks = (stride.0 / lba_bytes).max(1);
            let reach = (places.count - 1) * places.step_blocks;
            let distinct = ios.min((reach / stride_blocks + 1) as f64);
            let blocks = u64::from(places.blocks).min(stride_blocks) as f64;
            (distinct, (distinct * blocks / (reach + u64::from(places.blocks)) as f64).min(1.0))
        }
        (Access::Sequential | Access::Permutation, _) => {
            let distinct = ios.min(n);
            (distinct, (distinct / n * overlap).min(1.0))
        }
        (_, None) => (n * reached(1.0 / n, ios), reached(1.0 / n, ios * overlap)),
        (Access::Hot { moves: Some(every), .. }, Some(shape)) => {
            let bands = (time_s / every.as_secs_f64()).ceil().max(1.0);
            let share = moving(&shape, n, ios, bands);
            (n * share, share)
        }
        (_, Some(shape)) => {
            let each = probabilities(&shape);
            let sum = |ios: f64| each.iter().map(|&(width, p)| width * reached(p, ios)).sum::<f64>();
            (sum(ios), (sum(ios * overlap) / n).min(1.0))
        }
    }
}

/// The probability that `ios` I/Os reach a place that each goes to with probability `p`.
fn reached(p: f64, ios: f64) -> f64 {
    if p >= 1.0 { f64::from(u8::from(ios > 0.0)) } else { -(ios * (-p).ln_1p()).exp_m1() }
}

/// The share of places that a hot band has made its way over, in so many steps, or that were reached beside it.
fn moving(shape: &Shape, n: f64, ios: f64, bands: f64) -> f64 {
    let each = probabilities(shape);
    let [(width, hot), rest @ ..] = &each[..] else { return 0.0 };
    let cold = rest.first().map_or(0.0, |(_, p)| *p);
    let of_band = ios / bands;
    let passed = (bands * width / n).min(1.0);
    // A place is hot in one step, or in several once the band has gone round, and cold in all others.
    let times = (bands * width / n).max(1.0);
    let when_hot = |p: f64, ios: f64| (ios * (-p).ln_1p()).exp();
    let passed_untouched = when_hot(*hot, of_band * times) * when_hot(cold, of_band * (bands - times).max(0.0));
    1.0 - passed * passed_untouched - (1.0 - passed) * when_hot(cold, ios)
}

/// Stretches of places with about the same probability: how many, and the probability of each place.
fn probabilities(shape: &Shape) -> Vec<(f64, f64)> {
    let share = |stretch: &super::shape::Stretch| match shape.weight {
        Weight::Even => stretch.share,
        weight => weight.of(stretch.first + stretch.width / 2) * stretch.width as f64,
    };
    let sum: f64 = shape.stretches.iter().map(share).sum();
    let each = |stretch: &super::shape::Stretch| {
        let width = stretch.width as f64;
        (width, share(stretch) / sum / width)
    };
    shape.stretches.iter().map(each).collect()
}
