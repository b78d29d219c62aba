//! The tasks in what the user wants on the board: `create tasks: schema, endpoints (depends on schema), …`.
//!
//! What blocks a task is named by its whole subject, so that all tasks of a request can be made in one reply.
//! Invariant: a subject is in the user's own words, and a blocker is a subject of the same request whenever one fits.

use super::table::Filling;
use super::{jobs, words};

/// Words behind which the tasks stand.
const HEADS: &[&str] = &["task", "tasks", "board", "graph"];

/// Words between those and the first task.
const LEADS: &[&str] = &[
    "to",
    "for",
    "called",
    "named",
    "titled",
    "board",
    "graph",
    "that",
    "about",
    "which",
    "saying",
    "with",
    "subject",
    "subjects",
    "the",
    "following",
    "where",
];

/// What says that a task is blocked, the longer words first.
const BLOCKED: &[&str] = &[
    "which depends on",
    "that depends on",
    "which depend on",
    "that depend on",
    "depends on",
    "depend on",
    "depending on",
    "which is blocked by",
    "is blocked by",
    "are blocked by",
    "blocked by",
    "which needs",
    "needs",
    "requires",
    "comes after",
    "come after",
    "after",
];

/// Words that do not tell one subject from another.
const SMALL: &[&str] = &[
    "the", "a", "an", "on", "of", "to", "for", "and", "task", "tasks", "is", "are", "first", "it",
];

/// Verbs that open a task besides those of a job.
const VERBS: &[&str] = &[
    "design",
    "deploy",
    "document",
    "implement",
    "plan",
    "prepare",
    "release",
    "set",
    "setup",
    "ship",
    "install",
    "configure",
    "migrate",
    "publish",
    "draft",
];

/// A task as the user wants it.
struct Wanted {
    subject: String,
    blocked_by: Vec<String>,
}

/// The slots `subject` and `blockers` of each task.
pub fn tasks(text: &str) -> Vec<Filling> {
    let list = behind_head(text);
    let chained = says_in_order(text);
    let mut wanted: Vec<Wanted> = Vec::new();
    let mut remarks: Vec<(String, String)> = Vec::new();
    for item in items(list) {
        let (is_next, item) = match strip_word(&item, "then") {
            Some(rest) => (true, rest.to_owned()),
            None => (false, item),
        };
        let (subject, blockers) = cut_blockers(&item);
        let subject = clean(&subject);
        // `The docs depend on the schema.`: a sentence about tasks named before.
        let named = wanted.iter().position(|task| fits(&task.subject, &subject));
        // `…, which depends on the schema`: about the task before.
        if let Some(last) = wanted
            .last_mut()
            .filter(|_| is_pronoun(&subject) && !blockers.is_empty())
        {
            last.blocked_by.extend(blockers);
            continue;
        }
        match named.filter(|_| !blockers.is_empty() && !wanted.is_empty()) {
            Some(at) => {
                let of = wanted[at].subject.clone();
                remarks.extend(blockers.into_iter().map(|blocker| (of.clone(), blocker)));
            }
            None if subject.is_empty() => {}
            None => {
                let mut blocked_by = blockers;
                if (is_next || chained) && blocked_by.is_empty() {
                    blocked_by.extend(wanted.last().map(|last| last.subject.clone()));
                }
                wanted.push(Wanted {
                    subject,
                    blocked_by,
                });
            }
        }
    }
    for (of, blocker) in remarks {
        if let Some(task) = wanted.iter_mut().find(|task| task.subject == of) {
            task.blocked_by.push(blocker);
        }
    }
    let subjects: Vec<String> = wanted.iter().map(|task| task.subject.clone()).collect();
    wanted.iter().map(|task| filling(task, &subjects)).collect()
}

/// Whether one of the words `of` names is in a subject: `endpoints` fits `create API endpoints`.
pub fn fits(subject: &str, of: &str) -> bool {
    let (subject, of) = (stems(subject), stems(of));
    !of.is_empty() && of.iter().all(|word| subject.contains(word))
}

fn filling(task: &Wanted, subjects: &[String]) -> Filling {
    let resolve = |blocker: &String| {
        let number = blocker.trim_start_matches('#').parse::<usize>().ok();
        let by_number = number.and_then(|number| subjects.get(number.checked_sub(1)?));
        let others = || subjects.iter().filter(|subject| **subject != task.subject);
        let by_words = others()
            .find(|subject| fits(subject, blocker))
            // `schema setup` and `setup database schema` share a word.
            .or_else(|| {
                others().find(|subject| {
                    let words = stems(subject);
                    stems(blocker).iter().any(|word| words.contains(word))
                })
            });
        by_number.or(by_words).unwrap_or(blocker).clone()
    };
    let mut blockers: Vec<String> = task.blocked_by.iter().map(resolve).collect();
    blockers.dedup();
    let blockers = match blockers.is_empty() {
        true => String::new(),
        false => serde_json::to_string(&blockers).unwrap_or_default(),
    };
    vec![("subject", task.subject.clone()), ("blockers", blockers)]
}

/// What stands behind `create tasks:`.
fn behind_head(text: &str) -> &str {
    let mut rest = text;
    let mut found = false;
    while let Some(word) = rest.split_whitespace().next() {
        let at = rest.find(word).unwrap_or(0);
        let bare = word
            .trim_matches(|c: char| !c.is_alphanumeric())
            .to_lowercase();
        let is_lead = found && LEADS.contains(&bare.as_str()) && !word.starts_with(['"', '`']);
        if found && !is_lead {
            return rest.trim_start();
        }
        found |= HEADS.contains(&bare.as_str());
        rest = &rest[at + word.len()..];
    }
    rest.trim_start()
}

/// The items of the list: at commas, semicolons, ends of lines and sentences outside of brackets; at an `and` where it
/// joins two items.
fn items(list: &str) -> Vec<String> {
    let mut items = Vec::new();
    let mut item = String::new();
    let mut depth = 0_usize;
    let mut before = ' ';
    let mut rest = list.chars().peekable();
    while let Some(c) = rest.next() {
        match c {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        let ends_sentence = c == '.' && rest.peek().is_none_or(|next| next.is_whitespace());
        let is_number = ends_sentence && before.is_ascii_digit() && item.trim().len() < 3;
        if depth == 0 && (matches!(c, ',' | ';' | '\n') || ends_sentence) && !is_number {
            items.push(std::mem::take(&mut item));
        } else {
            item.push(c);
        }
        before = c;
    }
    items.push(item);
    let items = items.iter().flat_map(|item| at_and(item));
    let bare = |item: String| {
        let item = item.trim().trim_start_matches(['-', '*', '•']).trim();
        let number = item.find(|c: char| !c.is_ascii_digit()).unwrap_or(0);
        let item = match number > 0 && item[number..].starts_with(['.', ')']) {
            true => &item[number + 1..],
            false => item,
        };
        strip_word(item.trim(), "and")
            .unwrap_or(item.trim())
            .to_owned()
    };
    items.map(bare).filter(|item| !item.is_empty()).collect()
}

/// An item cut at an `and` behind which a new task begins.
fn at_and(item: &str) -> Vec<String> {
    let mut parts = Vec::new();
    let mut rest = item;
    let mut from = 0;
    while let Some(at) = rest[from..].find(" and ").map(|at| from + at) {
        let behind = &rest[at + " and ".len()..];
        let is_inside = rest[..at].matches('(').count() > rest[..at].matches(')').count();
        let first = behind
            .split_whitespace()
            .next()
            .unwrap_or("")
            .to_lowercase();
        let is_verb = jobs::VERBS.contains(&first.as_str()) || VERBS.contains(&first.as_str());
        let goes_on = first == "then" || is_verb || behind.contains("depend");
        match goes_on && !is_inside {
            true => {
                parts.push(rest[..at].to_owned());
                (rest, from) = (behind, 0);
            }
            false => from = at + " and ".len(),
        }
    }
    parts.push(rest.to_owned());
    parts
}

/// The subject of an item, and what blocks it.
fn cut_blockers(item: &str) -> (String, Vec<String>) {
    let lower = item.to_lowercase();
    let found = BLOCKED.iter().filter_map(|words| {
        let at = lower.match_indices(words).map(|(at, _)| at).find(|at| {
            lower[..*at].ends_with([' ', '(', '-', ':'])
                && lower[at + words.len()..].starts_with(' ')
        })?;
        Some((at, at + words.len()))
    });
    let Some((from, to)) = found.min_by_key(|(from, to)| (*from, usize::MAX - to)) else {
        return (item.to_owned(), Vec::new());
    };
    let blockers = item[to..]
        .trim_end_matches([')', '.'])
        .replace(" and ", ",");
    let blockers = blockers.split([',', '+', '&']).map(clean);
    (
        item[..from]
            .trim_end_matches([' ', '(', '-', ':'])
            .to_owned(),
        blockers.filter(|blocker| !blocker.is_empty()).collect(),
    )
}

fn is_pronoun(subject: &str) -> bool {
    ["", "which", "that", "it", "this", "they"].contains(&subject.to_lowercase().as_str())
}

fn says_in_order(text: &str) -> bool {
    let lower = text.to_lowercase();
    [
        "each depends on the one before",
        "each depending on the",
        "each blocked by the",
        "in that order",
        "one after the other",
    ]
    .iter()
    .any(|words| lower.contains(words))
}

fn clean(text: &str) -> String {
    let text = text.trim().trim_matches(['"', '`', '“', '”', '\'']);
    text.trim_end_matches(words::PUNCTUATION).trim().to_owned()
}

fn strip_word<'t>(text: &'t str, word: &str) -> Option<&'t str> {
    let head = text.get(..word.len())?;
    let rest = &text[word.len()..];
    (head.eq_ignore_ascii_case(word) && rest.starts_with(' ')).then(|| rest.trim_start())
}

/// The words that count, without their plural.
fn stems(text: &str) -> Vec<String> {
    let lower = text.to_lowercase();
    let words = lower.split(|c: char| !c.is_alphanumeric());
    words
        .filter(|word| !word.is_empty() && !SMALL.contains(word))
        .map(|word| word.strip_suffix('s').unwrap_or(word).to_owned())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Vec<(String, String)> {
        let value = |filling: &Filling, slot: usize| filling[slot].1.clone();
        tasks(text)
            .iter()
            .map(|filling| (value(filling, 0), value(filling, 1)))
            .collect()
    }

    fn pairs(expected: &[(&str, &str)]) -> Vec<(String, String)> {
        let pair = |(subject, blockers): &(&str, &str)| (subject.to_string(), blockers.to_string());
        expected.iter().map(pair).collect()
    }

    #[test]
    fn a_blocker_is_named_by_its_whole_subject() {
        let chain = [
            ("setup database schema", ""),
            ("create API endpoints", r#"["setup database schema"]"#),
            ("write tests", r#"["create API endpoints"]"#),
        ];
        for text in [
            "Create tasks: setup database schema, create API endpoints (depends on schema), write tests (depends on endpoints",
            "Add three tasks: setup database schema; create API endpoints, which depends on the schema; write tests after the endpoints",
            "create tasks: setup database schema, then create API endpoints, then write tests",
            "Create these tasks:\n1. setup database schema\n2. create API endpoints (depends on 1)\n3. write tests (depends on 2)",
            "Create tasks setup database schema, create API endpoints and write tests. The endpoints depend on the schema. The tests depend on the endpoints",
            "Put on the task board: setup database schema, create API endpoints (blocked by the database schema), write tests (needs API endpoints)",
        ] {
            assert_eq!(read(text), pairs(&chain), "{text}");
        }
    }

    #[test]
    fn one_task_is_one_task() {
        for (text, subject) in [
            ("Create a task to setup the project", "setup the project"),
            (
                "add a new task: \"fix the login page\"",
                "fix the login page",
            ),
            ("create a task called release 1.2", "release 1.2"),
        ] {
            assert_eq!(read(text), pairs(&[(subject, "")]), "{text}");
        }
    }
}
