//! The known word that a misspelt one most likely meant.
//!
//! Owns the measure of likeness and the wording of the hint. Knows no field by name.

/// The known word nearest to `word`, if any is near enough to be worth a hint.
pub(super) fn nearest<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let word = word.to_lowercase();
    let farthest = (word.chars().count() / 2).clamp(1, 4);
    let distance = |candidate: &str| {
        let part_of_it =
            word.len() >= 4 && candidate.len() >= 4 && (candidate.contains(&word) || word.contains(candidate));
        // A part of a name (`depth`) is nearer than any word with two letters wrong, however long the rest of it is.
        if part_of_it { 2 } else { strsim::damerau_levenshtein(&word, candidate) }
    };
    let scored = known.into_iter().map(|candidate| (distance(candidate), candidate));
    scored.filter(|(distance, _)| *distance <= farthest).min_by_key(|(distance, _)| *distance).map(|(_, word)| word)
}

/// ` (did you mean …?)`, or nothing.
pub(crate) fn hint<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    nearest(word, known).map_or_else(String::new, |word| format!(" (did you mean `{word}`?)"))
}

/// The words in order, as a list for people.
pub(super) fn list<'a>(words: impl IntoIterator<Item = &'a str>) -> String {
    words.into_iter().collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_misspelling_and_a_part_of_a_name_are_recognised() {
        let known = ["queue_depth", "block_size", "read_percent", "region", "ns"];
        for (word, meant) in [("quue_depth", "queue_depth"), ("blocksize", "block_size"), ("depth", "queue_depth")] {
            assert_eq!(nearest(word, known), Some(meant), "{word}");
        }
        assert_eq!(nearest("frequency", known), None);
        assert_eq!(nearest("rw", known), None);
        assert_eq!(hint("regoin", known), " (did you mean `region`?)");
        assert_eq!(hint("frequency", known), "");
    }
}
