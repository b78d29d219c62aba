//! Names that become file names: ids of tasks, and names that a model makes up.
//!
//! Invariants: what passes here is one plain file name, on every file system; what makes an id unique is the system's
//! randomness, not a clock or a count that two processes share.

use anyhow::{Context, Result};

/// Without `i`, `l` and `o`, which are misread, and without `u`, so that fewer words come about (Crockford's base 32).
const ALPHABET: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";
/// 40 bits from the system's generator.
const SUFFIX: usize = 8;

/// Characters that nobody can guess, for the end of an id.
///
/// # Errors
/// When the system gives no random numbers.
pub fn fresh_suffix() -> Result<String> {
    let mut bytes = [0; SUFFIX];
    getrandom::fill(&mut bytes)
        .ok()
        .context("the system gives no random numbers")?;
    let letters = bytes.map(|byte| char::from(ALPHABET[usize::from(byte % 32)]));
    Ok(letters.iter().collect())
}

/// Whether a name can be a file's name wherever this program runs: `[a-z0-9_-]`, 1 to `most` characters.
pub fn is_safe_name(name: &str, most: usize) -> bool {
    let allowed = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-' || c == '_';
    (1..=most).contains(&name.len()) && name.chars().all(allowed)
}

/// The id of the task with this number.
pub(crate) fn task_id(number: u64) -> Result<String> {
    Ok(format!("{number:04}-{}", fresh_suffix()?))
}

/// The number in an id, by which tasks sort.
pub(crate) fn number(id: &str) -> u64 {
    let digits = id.split('-').next().unwrap_or_default();
    digits.parse().unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_safe_names_in_order_and_never_alike() {
        let ids: Vec<String> = (1..200).map(|number| task_id(number).unwrap()).collect();
        assert!(ids.iter().all(|id| is_safe_name(id, 32)));
        assert!(ids.is_sorted());
        assert_ne!(fresh_suffix().unwrap(), fresh_suffix().unwrap());
        assert_eq!(number(&ids[6]), 7);
    }

    /// A clock, a counter or a process id in an id would show: some letters at some place would come more often.
    #[test]
    fn each_letter_is_as_likely_as_any_other_at_each_place() {
        const EACH: usize = 200;
        let mut counts = [[0_usize; 256]; SUFFIX];
        for _ in 0..EACH * ALPHABET.len() {
            for (place, letter) in fresh_suffix().unwrap().bytes().enumerate() {
                counts[place][usize::from(letter)] += 1;
            }
        }
        // 256 counts, and seven standard deviations to each side.
        for count in counts
            .iter()
            .flat_map(|of| ALPHABET.map(|letter| of[usize::from(letter)]))
        {
            assert!(
                count.abs_diff(EACH) < 100,
                "{count} instead of about {EACH}"
            );
        }
    }

    #[test]
    fn a_path_is_no_name() {
        for name in ["", "../x", "a/b", "A", "a b", "a\n", "ä", ".hidden"] {
            assert!(!is_safe_name(name, 32), "{name:?}");
        }
        assert!(!is_safe_name(&"a".repeat(33), 32));
    }
}
