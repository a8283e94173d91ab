//! Completions on their way from a queue to its user. Owns the ring's bound; knows nothing of what was asked.

use crate::Status;

/// One finished I/O.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Completion {
    /// The slot it was submitted with.
    pub slot: u32,
    /// How it ended.
    pub status: Status,
}

/// A bounded list of completions, allocated once. A slot is outstanding at most once, so a list with room for every
/// slot never overflows.
#[derive(Debug, Default)]
pub struct Completions {
    entries: Vec<Completion>,
}

impl Completions {
    /// A list with room for `slots` completions.
    #[must_use]
    pub fn with_capacity(slots: usize) -> Self {
        Self { entries: Vec::with_capacity(slots) }
    }

    /// Appends one; false (and nothing done) when it is full.
    #[inline(always)]
    pub fn push(&mut self, completion: Completion) -> bool {
        if self.entries.len() == self.entries.capacity() {
            return false;
        }
        self.entries.push(completion);
        true
    }

    /// The completions since the last [`clear`](Self::clear), in the order they came.
    #[inline(always)]
    #[must_use]
    pub fn as_slice(&self) -> &[Completion] {
        &self.entries
    }

    /// Number of completions in the list.
    #[inline(always)]
    #[must_use]
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether there is none.
    #[inline(always)]
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Forgets them all; keeps the memory.
    #[inline(always)]
    pub fn clear(&mut self) {
        self.entries.clear();
    }
}
