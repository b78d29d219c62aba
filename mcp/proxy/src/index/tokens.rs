//! Words of a text, as the index counts them.
//!
//! Identifiers are split at changes of case and at every sign, so that `listPullRequests` and `list_pull_requests` are the same
//! three words. Chinese and Japanese, which have no blanks, are cut into overlapping pairs of characters, as Lucene's
//! CJKBigramFilter does. English is stemmed lightly: plural, *-ing*, *-ed*, *-ion*, *-ate* and a silent *e* go.
//! Invariant: queries and documents pass through the same function.

/// Words that say nothing about what a tool does. Verbs such as *get* and *list* stay, for they name what
/// is wanted; and so does *about*: whoever names a topic wants to search.
const STOP_WORDS: &str = " a an and any are as at be by can do each for from has have how i in into is it its me my not of on or our over \
     please so some such that the their them then there these this to up us was we what when where which who will with you your ";

/// The stems of all words in `text`, in order and as often as they stand there.
pub fn stems(text: &str) -> Vec<String> {
    words(text).iter().map(|word| stem(word)).collect()
}

/// The words in lower case, without stop words.
pub fn words(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    split(text, |word| {
        if !is_stop_word(word) {
            words.push(word.to_owned());
        }
    });
    words
}

/// Calls `each` with every word in lower case, stop words too.
pub fn split(text: &str, mut each: impl FnMut(&str)) {
    runs(text, |run| {
        if !run.starts_with(is_cjk) {
            return each(run);
        }
        let starts: Vec<usize> = run.char_indices().map(|(at, _)| at).collect();
        let end = |n: usize| starts.get(n).copied().unwrap_or(run.len());
        for first in 0..starts.len().saturating_sub(1).max(1) {
            each(&run[starts[first]..end(first + 2)]);
        }
    });
}

/// True for a word that says nothing about what a tool does.
pub fn is_stop_word(word: &str) -> bool {
    STOP_WORDS.split_whitespace().any(|stop| stop == word)
}

/// Calls `each` with every run of letters and digits in lower case; one ends at a sign, and where the case or the script changes.
pub fn runs(text: &str, mut each: impl FnMut(&str)) {
    let mut run = String::with_capacity(32);
    let mut chars = text.chars().peekable();
    let mut previous = ' ';
    while let Some(c) = chars.next() {
        let camel = c.is_uppercase() && (previous.is_lowercase() || previous.is_numeric());
        let next_is_lower = chars.peek().is_some_and(|next| next.is_lowercase());
        let acronym_ends = c.is_uppercase() && previous.is_uppercase() && next_is_lower;
        let is_part = c.is_alphanumeric();
        if !run.is_empty() && (!is_part || camel || acronym_ends || is_cjk(c) != is_cjk(previous)) {
            each(&run);
            run.clear();
        }
        if c.is_ascii_alphanumeric() {
            run.push(c.to_ascii_lowercase());
        } else if is_part {
            run.extend(c.to_lowercase());
        }
        previous = c;
    }
    if !run.is_empty() {
        each(&run);
    }
}

/// The runs of a text, joined.
pub fn joined(text: &str, by: &str) -> String {
    let mut joined = String::with_capacity(text.len() + 16);
    runs(text, |run| {
        joined += if joined.is_empty() { "" } else { by };
        joined += run;
    });
    joined
}

/// Hiragana, Katakana and the ideographs of the basic plane.
fn is_cjk(c: char) -> bool {
    matches!(c, '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}')
}

/// The light stemmer: one suffix, then a doubled consonant, a silent *e* and *-at*.
pub fn stem(word: &str) -> String {
    const SUFFIXES: [(&str, &str); 9] = [
        ("sses", "ss"),
        ("ies", "y"),
        ("ions", ""),
        ("ion", ""),
        ("ings", ""),
        ("ing", ""),
        ("ed", ""),
        ("es", "e"),
        ("s", ""),
    ];
    if word.len() <= 3 || !word.bytes().all(|b| b.is_ascii_lowercase()) {
        return word.to_owned();
    }
    let mut stem = word.to_owned();
    for (suffix, instead) in SUFFIXES {
        let Some(rest) = word.strip_suffix(suffix) else {
            continue;
        };
        // "status" and "class" end in an s that is no plural; "sing" and "red" have no suffix.
        if rest.len() >= 3 && !(suffix == "s" && rest.ends_with(['s', 'u', 'i'])) {
            stem = format!("{rest}{instead}");
            break;
        }
    }
    let bytes = stem.as_bytes();
    let doubled = |b: &[u8]| b.len() > 3 && b[b.len() - 1] == b[b.len() - 2];
    if doubled(bytes) && !stem.ends_with(['l', 's', 'e']) {
        stem.pop();
    }
    for (suffix, instead, least) in [("e", "", 3), ("at", "", 5), ("y", "i", 3)] {
        if let Some(rest) = stem.strip_suffix(suffix)
            && rest.len() >= least
        {
            stem = format!("{rest}{instead}");
        }
    }
    stem
}

#[cfg(test)]
mod tests {
    use super::{stem, stems, words};

    #[test]
    fn identifiers_and_sentences_become_the_same_words() {
        for text in [
            "listPullRequests",
            "list_pull_requests",
            "list-pull/requests",
            "List the pull requests",
        ] {
            assert_eq!(words(text), ["list", "pull", "requests"], "{text}");
        }
        assert_eq!(words("getHTTPResponse2"), ["get", "http", "response2"]);
        assert_eq!(words("返回搜索API结果"), ["返回", "回搜", "搜索", "api", "结果"]);
        assert_eq!(words("词"), ["词"]);
    }

    #[test]
    fn forms_of_a_word_have_one_stem() {
        for forms in [
            "create creates created creating creation",
            "query queries",
            "files filed",
            "runs running run",
            "translate translation translations translating",
            "list lists listing listings",
            "delete deletes deleted",
        ] {
            let stems = stems(forms);
            assert!(stems.iter().all(|s| *s == stems[0]), "{forms}: {stems:?}");
        }
        for word in ["status", "class", "red", "sing", "ls", "naïves", "v2s"] {
            assert_eq!(stem(word), word);
        }
    }
}
