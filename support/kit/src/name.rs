//! Names that become file names: ids, and names that a model makes up.
//!
//! Invariants: what passes here is one plain file name, on every file system; what makes an id unique is the system's
//! randomness, not a clock or a count that two processes share.

use std::hash::{BuildHasher, RandomState};

/// Without `i`, `l` and `o`, which are misread, and without `u`, so that fewer words come about (Crockford's base 32).
const ALPHABET: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";
/// 40 bits.
const SUFFIX: usize = 8;

/// Eight random characters for the end of an id. The keys of the standard library's hash maps are random, so a hash
/// under them is, and no crate has to be built for it.
pub fn fresh_suffix() -> String {
    let random = RandomState::new().hash_one(());
    let letters = (0..SUFFIX).map(|place| ALPHABET[(random >> (5 * place)) as usize % 32]);
    letters.map(char::from).collect()
}

/// Whether a name can be a file's name wherever this program runs: `[a-z0-9_-]`, 1 to `most` characters.
pub fn is_safe_name(name: &str, most: usize) -> bool {
    let allowed = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-' || c == '_';
    (1..=most).contains(&name.len()) && name.chars().all(allowed)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A clock, a counter or a process id in an id would show: some letters at some place would come more often.
    #[test]
    fn each_letter_is_as_likely_as_any_other_at_each_place() {
        const EACH: usize = 200;
        let mut counts = [[0_usize; 256]; SUFFIX];
        for _ in 0..EACH * ALPHABET.len() {
            for (place, letter) in fresh_suffix().bytes().enumerate() {
                counts[place][usize::from(letter)] += 1;
            }
        }
        // 256 counts, and seven standard deviations to each side.
        let counts = counts.iter().flat_map(|of| ALPHABET.map(|letter| of[usize::from(letter)]));
        for count in counts {
            assert!(count.abs_diff(EACH) < 100, "{count} instead of about {EACH}");
        }
    }

    #[test]
    fn a_suffix_is_a_safe_name_and_a_path_is_none() {
        assert!(is_safe_name(&fresh_suffix(), SUFFIX));
        assert_ne!(fresh_suffix(), fresh_suffix());
        for name in ["", "../x", "a/b", "A", "a b", "a\n", "ä", ".hidden"] {
            assert!(!is_safe_name(name, 32), "{name:?}");
        }
        assert!(!is_safe_name(&"a".repeat(33), 32));
    }
}
