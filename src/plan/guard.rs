//! The guard against writing to something that could hold data.
//!
//! Owns the rule that a target which is not memory is written to only when one of its identities was typed, and the
//! text that tells what to type. Knows no driver; drivers apply the same rule again through [`write_allowed`].

use super::{PlanError, WorkloadPlan};
use crate::facts::DeviceFacts;

/// Whether a target may be written to, given the identities that were typed.
#[must_use]
pub fn write_allowed(target: &DeviceFacts, destroy: &[String]) -> bool {
    target.volatile || target.identities.iter().any(|identity| !identity.is_empty() && destroy.contains(identity))
}

/// Refuses the plan if it writes to a target that is not allowed; the text covers all such targets at once.
pub(super) fn check_writes(
    workloads: &[WorkloadPlan],
    targets: &[DeviceFacts],
    destroy: &[String],
) -> Result<(), PlanError> {
    let mut refused: Vec<(&DeviceFacts, &WorkloadPlan)> = Vec::new();
    for (index, target) in targets.iter().enumerate() {
        let writer = workloads.iter().find(|w| w.destroys() && w.targets.contains(&index));
        if let Some(writer) = writer.filter(|_| !write_allowed(target, destroy)) {
            refused.push((target, writer));
        }
    }
    if refused.is_empty() {
        return Ok(());
    }
    let mut text =
        "this job writes to a target that may hold data, which Rigel does only when told to destroy it:".to_owned();
    let mut flags = String::new();
    for (target, workload) in &refused {
        let known: Vec<&str> = target.identities.iter().map(String::as_str).filter(|id| !id.is_empty()).collect();
        let model = if target.model.is_empty() { "no model reported" } else { target.model.trim() };
        let found = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
        text += &format!("\n  {} ({model}); identities found: {found}", target.uri);
        let share =
            workload.mix.map_or_else(|| format!("read_percent = {}", workload.read_percent), |mix| mix.to_string());
        text += &format!("\n    written by workload `{}` ({share})", workload.name);
        if !destroy.is_empty() {
            text += &format!("\n    typed: {}; found: {found}", destroy.join(", "));
        }
        match known.first() {
            Some(identity) => flags += &format!(" --destroy {}", shell_word(identity)),
            None => text += "\n    it reports no identity to type, so Rigel cannot write to it",
        }
    }
    if !flags.is_empty() {
        // Naming identities replaces those of the job, so the ones that are right already are repeated.
        let kept = destroy.iter().filter(|typed| targets.iter().any(|target| target.identities.contains(typed)));
        let kept: String = kept.map(|typed| format!(" --destroy {}", shell_word(typed))).collect();
        text += &format!("\nto destroy what they hold:{kept}{flags} (or `destroy` in the job)");
    }
    text += "\nto leave the data alone: --read-percent 100 (`read_percent` in the workload)";
    Err(PlanError::WriteRefused(text))
}

/// The text as one word of a shell.
fn shell_word(text: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_.:/+,@".contains(c);
    if text.chars().all(plain) { text.to_owned() } else { format!("'{}'", text.replace('\'', r"'\''")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_identity_with_spaces_is_one_word() {
        assert_eq!(shell_word("iqn.2026-11.io.rigel:a:0"), "iqn.2026-11.io.rigel:a:0");
        assert_eq!(shell_word("S1 A'B"), r"'S1 A'\''B'");
    }
}
