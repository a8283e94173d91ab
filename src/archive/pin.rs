//! Pins: names that people give to results of the archive. Owns what a name may be, and the pins' table.

use rusqlite::{OptionalExtension, TransactionBehavior, params};

use super::{Archive, ArchiveError};

/// Whether a pin may be called so: nothing that could be a number, `latest` or a path with a folder in it.
pub(super) fn is_name(text: &str) -> bool {
    let mut letters = text.chars();
    letters.next().is_some_and(|first| first.is_ascii_alphabetic())
        && letters.all(|c| c.is_ascii_alphanumeric() || ".-_".contains(c))
        && text != "latest"
}

impl Archive {
    /// Pins a result by name; gives the number of the one that had the name before.
    pub fn pin(&mut self, name: &str, id: i64) -> Result<Option<i64>, ArchiveError> {
        if !is_name(name) {
            return Err(ArchiveError::PinName { name: name.to_owned() });
        }
        let write = |connection: &mut rusqlite::Connection| {
            let change = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            let before =
                change.query_row("SELECT run FROM pin WHERE name = ?1", [name], |row| row.get(0)).optional()?;
            change.execute("INSERT OR REPLACE INTO pin(name, run) VALUES (?1, ?2)", params![name, id])?;
            change.commit()?;
            Ok(before)
        };
        write(&mut self.connection).map_err(|error| self.failed(&error))
    }

    /// Removes a pin, but not its result; gives the number it led to.
    pub fn unpin(&self, name: &str) -> Result<i64, ArchiveError> {
        let sql = "DELETE FROM pin WHERE name = ?1 RETURNING run";
        let gone = self.connection.query_row(sql, [name], |row| row.get(0)).optional();
        gone.map_err(|error| self.failed(&error))?.map_or_else(|| Err(self.no_pin(name)?), Ok)
    }

    /// Every pin and the number it leads to, in the order of their names.
    pub fn pins(&self) -> Result<Vec<(String, i64)>, ArchiveError> {
        let read = || -> rusqlite::Result<Vec<(String, i64)>> {
            let mut query = self.connection.prepare("SELECT name, run FROM pin ORDER BY name")?;
            query.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?.collect()
        };
        read().map_err(|error| self.failed(&error))
    }

    /// The error that names the pins there are.
    pub(super) fn no_pin(&self, name: &str) -> Result<ArchiveError, ArchiveError> {
        let pins: Vec<String> = self.pins()?.into_iter().map(|(name, _)| name).collect();
        Ok(ArchiveError::NoPin { name: name.to_owned(), pins })
    }
}

#[cfg(test)]
mod tests {
    use super::is_name;

    #[test]
    fn names_of_pins_cannot_be_numbers_or_places() {
        for name in ["nightly", "a", "v1.2-rc_3", "Latest", "latest2"] {
            assert!(is_name(name), "{name}");
        }
        for name in ["", "17", "1st", "latest", "latest~1", "-x", ".x", "a/b", "a b", "naïve", "a\n"] {
            assert!(!is_name(name), "{name:?}");
        }
    }
}
