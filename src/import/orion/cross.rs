//! Which of ORION's options go together.
//!
//! Owns every refusal that concerns more than one option, or an option and the release. Each names the remedy.

use super::error::OrionError;
use super::options::{Dialect, LargeType, Matrix, Options, RunLevel, Simulate};
use crate::spec::OUTSTANDING_MAX;

/// Refuses what contradicts itself.
pub(super) fn check(options: &Options) -> Result<(), OrionError> {
    let refuse = |name: &str, message: String| Err(OrionError::new(format!("-{name}"), message));
    release(options)?;
    if options.run != RunLevel::Advanced {
        // What these set is what the level is made of. The reference lists only testname, num_disks and duration beside
        // the simple level; -write, -simulate, -stripe and -cache_size change nothing the level fixes and are honoured.
        let fixed = [
            ("size_small", options.size_small.is_some()),
            ("size_large", options.size_large.is_some()),
            ("type", options.large_type.is_some()),
            ("num_streamIO", options.num_stream_io.is_some()),
            ("matrix", options.matrix.is_some()),
            ("num_small", options.num_small.is_some()),
            ("num_large", options.num_large.is_some()),
        ];
        if let Some((name, _)) = fixed.iter().find(|(_, given)| *given) {
            let level = options.run.word();
            return refuse(name, format!("is fixed at -run {level}; write -run advanced, or leave -{name} out"));
        }
    }
    if options.num_stream_io.is_some() && options.large_type() != LargeType::Seq {
        return refuse("num_streamIO", "is of sequential streams; add -type seq, or leave it out".to_owned());
    }
    if options.stripe.is_some() && options.simulate != Some(Simulate::Raid0) {
        return refuse("stripe", "is of a striped volume; add -simulate raid0, or leave it out".to_owned());
    }
    matrix(options)
}

/// What a release does not know, and what it insists on.
fn release(options: &Options) -> Result<(), OrionError> {
    if options.dialect != Dialect::V10_2 {
        return Ok(());
    }
    let refuse = |name: &str, message: &str| Err(OrionError::new(format!("-{name}"), message));
    let later = "came after ORION 10.2; take the 11.2 dialect, or leave it out";
    match options.run {
        RunLevel::Dss => {
            return refuse("run", "`dss` came after ORION 10.2; take the 11.2 dialect, or write -run simple");
        }
        RunLevel::Oltp => {
            return refuse("run", "`oltp` came after ORION 10.2; take the 11.2 dialect, or write -run simple");
        }
        RunLevel::Simple | RunLevel::Normal | RunLevel::Advanced => {}
    }
    if options.storax.is_some() {
        return refuse("storax", later);
    }
    if options.huge_not_needed {
        return refuse("hugenotneeded", later);
    }
    if options.testname.is_none() {
        return refuse("testname", "is mandatory in ORION 10.2; write -testname NAME, or take the 11.2 dialect");
    }
    if options.num_disks.is_none() {
        return refuse("num_disks", "is mandatory in ORION 10.2; write -num_disks N, or take the 11.2 dialect");
    }
    Ok(())
}

/// The loads that a shape of the matrix needs, and those it has no use for.
fn matrix(options: &Options) -> Result<(), OrionError> {
    let matrix = options.matrix();
    let (small, large) = match matrix {
        Matrix::Basic | Matrix::Detailed => (false, false),
        Matrix::Point | Matrix::Max => (true, true),
        Matrix::Col => (true, false),
        Matrix::Row => (false, true),
    };
    let word = matrix.word();
    for (name, needed, given, others) in [
        ("num_small", small, options.num_small, "point, col or max"),
        ("num_large", large, options.num_large, "point, row or max"),
    ] {
        if needed && given.is_none() {
            let message = format!("is missing, and -matrix {word} needs it; write -{name} N");
            return Err(OrionError::new(format!("-{name}"), message));
        }
        if !needed && given.is_some() {
            let message = format!("has no use at -matrix {word}; write -matrix {others}, or leave -{name} out");
            return Err(OrionError::new(format!("-{name}"), message));
        }
    }
    if small && large && options.num_small == Some(0) && options.num_large == Some(0) {
        let message = format!("-matrix {word} of no I/O at all; make -num_small or -num_large at least 1");
        return Err(OrionError::new("-matrix", message));
    }
    let ios = options.ios_of_large(options.num_large.unwrap_or(0));
    if ios > u64::from(OUTSTANDING_MAX) {
        let message =
            format!("asks for {ios} outstanding large I/Os; at most {OUTSTANDING_MAX} are possible: lower it");
        return Err(OrionError::new("-num_large", message));
    }
    Ok(())
}
