//! The value of a named figure at a point.
//!
//! Owns where each figure stands in a result and why it may be missing. Judges nothing.

use super::headroom::Bound;
use super::latency::Latency;
use super::point::{Figures, PointResult};
use crate::plan::Op;
use crate::spec::{Figure, LatencyKind, Measure};

/// Why a point has no value of a figure; the text says what it has instead.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NoFigure {
    /// No workload of that name.
    #[error("no workload is named `{name}`; there are: {known}")]
    Workload {
        /// The name asked for.
        name: String,
        /// The names there are.
        known: String,
    },
    /// No such I/O completed.
    #[error("no {0} completed")]
    NoIo(&'static str),
    /// A closed loop has no response latency.
    #[error("a closed loop has no response latency; leave `response` out")]
    Closed,
    /// The system did not say.
    #[error("the use of processors is not known")]
    NoCpu,
    /// The archived histogram cannot be read.
    #[error("the archived histogram is damaged")]
    Damaged,
}

impl PointResult {
    /// The operations that a figure is told of: the one it names, or for a latency each that did any I/O.
    ///
    /// # Errors
    /// A workload that is not there.
    pub fn ops_of(&self, figure: &Figure) -> Result<Vec<Option<Op>>, NoFigure> {
        if figure.op.is_some() || !figure.measure.is_latency() {
            return Ok(vec![figure.op]);
        }
        let figures = self.figures_of(figure)?;
        Ok(figures.ops().filter(|(_, op)| op.completions + op.errors > 0).map(|(op, _)| Some(op)).collect())
    }

    /// The value of a figure: I/Os or bytes a second, nanoseconds, a number of errors, or per cent.
    ///
    /// # Errors
    /// When this point has none.
    pub fn value(&self, figure: &Figure) -> Result<f64, NoFigure> {
        if figure.measure == Measure::Cpu {
            return self.host.as_ref().map(|host| host.busy * 100.0).ok_or(NoFigure::NoCpu);
        }
        let figures = self.figures_of(figure)?;
        let op = figure.op.map(|op| figures.of(op).ok_or(NoFigure::NoIo(op.name()))).transpose()?;
        Ok(match figure.measure {
            Measure::Iops => op.map_or(figures.iops, |op| op.iops),
            Measure::BytesPerS => op.map_or(figures.bytes_per_s, |op| op.bytes_per_s),
            Measure::Errors => self.errors_of(figure) as f64,
            Measure::Mean => latency(figures, figure)?.mean_ns,
            Measure::Max => latency(figures, figure)?.max_ns as f64,
            Measure::Percentile(per_cent) => percentile(latency(figures, figure)?, per_cent)?,
            Measure::Cpu => unreachable!("told above"),
        })
    }

    /// Whether the host was the limit here.
    #[must_use]
    pub fn is_host_bound(&self) -> bool {
        self.verdict.as_ref().is_some_and(|verdict| verdict.bound == Bound::Host)
    }

    /// The latency that a figure speaks of.
    ///
    /// # Errors
    /// When this point has none.
    pub fn latency(&self, figure: &Figure) -> Result<&Latency, NoFigure> {
        latency(self.figures_of(figure)?, figure)
    }

    fn figures_of(&self, figure: &Figure) -> Result<&Figures, NoFigure> {
        let Some(name) = &figure.workload else { return Ok(&self.total) };
        let found = self.workloads.iter().find(|workload| workload.name == *name).map(|workload| &workload.figures);
        found.ok_or_else(|| {
            let known: Vec<&str> = self.workloads.iter().map(|workload| workload.name.as_str()).collect();
            NoFigure::Workload { name: name.clone(), known: known.join(", ") }
        })
    }

    /// Failures over ramp, window and drain: none of them may be overlooked.
    fn errors_of(&self, figure: &Figure) -> u64 {
        let of_workload = |name: &str| figure.workload.as_deref().is_none_or(|asked| asked == name);
        let errors = self.errors.iter().filter(|error| of_workload(&error.workload));
        errors.filter(|error| figure.op.is_none_or(|op| op == error.op)).map(|error| error.count).sum()
    }
}

/// The latency that a figure speaks of. Without an operation it is that of the only one there is.
fn latency<'a>(figures: &'a Figures, figure: &Figure) -> Result<&'a Latency, NoFigure> {
    let (op, name) = match figure.op {
        Some(op) => (figures.of(op).ok_or(NoFigure::NoIo(op.name()))?, op.name()),
        None => figures
            .ops()
            .find(|(_, of)| of.completions > 0)
            .map_or((&figures.write, "I/O"), |(op, figures)| (figures, op.name())),
    };
    let service = op.service.as_ref().ok_or(NoFigure::NoIo(name))?;
    match figure.kind {
        Some(LatencyKind::Service) => Ok(service),
        Some(LatencyKind::Response) => op.response.as_ref().ok_or(NoFigure::Closed),
        None => Ok(op.response.as_ref().unwrap_or(service)),
    }
}

/// Those told by name stand in the result; any other is in the archived histogram.
fn percentile(latency: &Latency, per_cent: f64) -> Result<f64, NoFigure> {
    if let Some((_, ns)) = latency.percentiles().into_iter().find(|(known, _)| *known == per_cent) {
        return Ok(ns as f64);
    }
    let histogram = latency.histogram().map_err(|_| NoFigure::Damaged)?;
    Ok(histogram.value_at_quantile(per_cent / 100.0).clamp(latency.min_ns, latency.max_ns) as f64)
}
