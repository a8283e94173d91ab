//! What the buffers that reads fill hold: a mark until the first read, then what the last one brought.
//!
//! Owns the mark and the judgement on what is held; knows no slot and no device.

use crate::io::Held;

/// What a buffer begins with until something is read into it; nothing that could pass for a blank block.
const MARK: [u64; 2] = [0x7267_6c5f_6e6f_7265, 0x6164_5f79_6574_0a0d];

/// Marks a buffer as one that nothing was read into.
pub(crate) fn mark(bytes: &mut [u8]) {
    let mark = MARK.into_iter().flat_map(u64::to_ne_bytes);
    bytes.iter_mut().zip(mark).for_each(|(byte, mark)| *byte = mark);
}

/// What a buffer holds that begins with these words; none where nothing was read into it.
pub(crate) fn judge(mut words: impl Iterator<Item = u64> + Clone) -> Option<Held> {
    if words.clone().take(MARK.len()).eq(MARK) {
        return None;
    }
    let first = words.next()?;
    let blank = (first == 0 || first == u64::MAX) && words.all(|word| word == first);
    Some(if blank { Held::Blank } else { Held::Data })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judged(bytes: &[u8]) -> Option<Held> {
        judge(bytes.chunks_exact(8).map(|word| u64::from_ne_bytes(word.try_into().expect("8 bytes"))))
    }

    #[test]
    fn only_all_zeroes_and_all_ones_are_blank() {
        assert_eq!(judged(&[0; 512]), Some(Held::Blank));
        assert_eq!(judged(&[0xff; 512]), Some(Held::Blank));
        assert_eq!(judged(&[0x55; 512]), Some(Held::Data));
        for place in [0, 7, 8, 511] {
            let (mut zeroes, mut ones) = ([0; 512], [0xff; 512]);
            (zeroes[place], ones[place]) = (1, 0xfe);
            assert_eq!((judged(&zeroes), judged(&ones)), (Some(Held::Data), Some(Held::Data)), "byte {place}");
        }
        // Half of each is neither.
        assert_eq!(judged(&[[0; 8], [0xff; 8]].concat()), Some(Held::Data));
    }

    #[test]
    fn what_is_marked_holds_nothing_until_its_beginning_changes() {
        let mut bytes = [0; 512];
        mark(&mut bytes);
        assert_eq!(judged(&bytes), None);
        bytes[3] ^= 1;
        assert_eq!(judged(&bytes), Some(Held::Data));
        assert_eq!(judged(&[]), None);
        // A buffer that has no room for all of it is no reason to panic.
        mark(&mut [0; 3]);
    }
}
