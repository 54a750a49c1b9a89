//! Words with a meaning, looked up as numbers.
//!
//! The names of elements and the texts of blocks are searched for some hundred words. A word of up
//! to 16 letters is one number ([`pack`]), so that a lookup reads one slot of a table and compares
//! one number.

/// The longest word that [`pack`] takes.
pub(super) const LONGEST_WORD: usize = 16;

/// The letters of a word in lower case, as the bytes of a number; `None` if it is longer than
/// [`LONGEST_WORD`]. `word` is a range of `text` that has only ASCII letters.
#[inline]
pub(super) fn pack(text: &[u8], word: std::ops::Range<usize>) -> Option<u128> {
    let length = word.len();
    if length == 0 || length > LONGEST_WORD {
        return None;
    }
    let rest = text.get(word.start..)?;
    let bytes = match rest.first_chunk() {
        Some(bytes) => *bytes,
        None => {
            let mut bytes = [0; LONGEST_WORD];
            bytes.get_mut(..rest.len())?.copy_from_slice(rest);
            bytes
        }
    };
    let lower = u128::from_le_bytes(bytes) | u128::from_le_bytes([0x20; LONGEST_WORD]);
    Some(prefix(lower, length))
}

/// The first letters of a word; `length` is from 1 to [`LONGEST_WORD`].
#[inline]
pub(super) const fn prefix(word: u128, length: usize) -> u128 {
    word & (u128::MAX >> (128 - 8 * length))
}

/// The number of letters of a word.
#[inline]
pub(super) const fn length(word: u128) -> usize {
    (135 - word.leading_zeros() as usize) / 8
}

/// The number of a word in lower case.
pub(super) const fn packed(word: &[u8]) -> u128 {
    assert!(word.len() <= LONGEST_WORD);
    let mut number = 0;
    let mut i = word.len();
    while i > 0 {
        i -= 1;
        number = number << 8 | word[i] as u128;
    }
    number
}

/// Words and what they mean, in a hash table that the compiler fills.
pub(super) struct Vocabulary<Meaning, const WORDS: usize, const SLOTS: usize> {
    words: [(u128, Meaning); WORDS],
    /// For each hash, the place after that of the word; 0 if there is none. Words with the same
    /// hash are in the next free slots.
    slots: [u16; SLOTS],
}

impl<Meaning: Copy, const WORDS: usize, const SLOTS: usize> Vocabulary<Meaning, WORDS, SLOTS> {
    /// A vocabulary of words in lower case, of which none is repeated.
    pub(super) const fn new(list: &[(&[u8], Meaning)]) -> Self {
        assert!(SLOTS.is_power_of_two() && 2 * WORDS <= SLOTS && list.len() == WORDS);
        let mut vocabulary = Vocabulary {
            words: [(0, list[0].1); WORDS],
            slots: [0; SLOTS],
        };
        let mut place = 0;
        while place < WORDS {
            let word = packed(list[place].0);
            let mut slot = Self::slot(word);
            while vocabulary.slots[slot] > 0 {
                assert!(vocabulary.words[vocabulary.slots[slot] as usize - 1].0 != word);
                slot = (slot + 1) % SLOTS;
            }
            vocabulary.words[place] = (word, list[place].1);
            place += 1;
            vocabulary.slots[slot] = place as u16;
        }
        vocabulary
    }

    #[inline]
    const fn slot(word: u128) -> usize {
        let folded = word as u64 ^ ((word >> 64) as u64).rotate_left(29);
        (folded.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 40) as usize % SLOTS
    }

    /// The meaning of a word that [`pack`] returned.
    #[inline]
    pub(super) fn get(&self, word: u128) -> Option<Meaning> {
        let mut slot = Self::slot(word);
        loop {
            let place = usize::from(self.slots[slot]).checked_sub(1)?;
            let &(known, meaning) = self.words.get(place)?;
            if known == word {
                return Some(meaning);
            }
            slot = (slot + 1) % SLOTS;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    static NUMBERS: Vocabulary<u8, 4, 8> = Vocabulary::new(&[
        (b"one", 1),
        (b"two", 2),
        (b"three", 3),
        (b"sixteenletterses", 16),
    ]);

    #[test]
    fn words_are_found_in_any_case_and_no_others_are() {
        let meaning = |text: &str| NUMBERS.get(pack(text.as_bytes(), 0..text.len())?);
        assert_eq!(meaning("one"), Some(1));
        assert_eq!(meaning("THREE"), Some(3));
        assert_eq!(meaning("sixteenLetterses"), Some(16));
        for unknown in ["", "on", "ones", "sixteenletterse", "sixteenlettersess"] {
            assert_eq!(meaning(unknown), None, "{unknown}");
        }
    }

    #[test]
    fn what_follows_a_word_does_not_matter() {
        let text = b"one two and what follows";
        assert_eq!(pack(text, 4..7), pack(b"two", 0..3));
        assert_eq!(pack(text, 0..17), None);
        assert_eq!(pack(text, 30..33), None);
    }
}
