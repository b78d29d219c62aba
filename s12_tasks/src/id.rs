//! Ids of tasks: a number by which they sort, and random characters.
//!
//! Invariant: what makes an id unique is randomness, not the number, which two processes may give at once.

use kit::fresh_suffix;

/// The id of the task with this number.
pub(crate) fn task_id(number: u64) -> String {
    format!("{number:04}-{}", fresh_suffix())
}

/// The number in an id, by which tasks sort.
pub(crate) fn number(id: &str) -> u64 {
    let digits = id.split('-').next().unwrap_or_default();
    digits.parse().unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use kit::is_safe_name;

    use super::*;

    #[test]
    fn ids_are_safe_names_in_order() {
        let ids: Vec<String> = (1..200).map(task_id).collect();
        assert!(ids.iter().all(|id| is_safe_name(id, 32)));
        assert!(ids.is_sorted());
        assert_eq!(number(&ids[6]), 7);
    }
}
