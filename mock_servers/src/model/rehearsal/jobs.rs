//! The jobs in what the user wants handed on: `use two subtasks: one counts the lines of a.txt, the other …`.
//!
//! A subagent sees nothing but its description, so a job must read like a request: `counts` and `counting` become `count`.
//! Invariant: the words of a job are the user's own; only the form of its verb and what joins it to the sentence change.

use super::pattern;
use super::tokens::{Break, Token, tokenize};

/// Who a job is handed to.
pub const SUBAGENTS: &[&str] = &[
    "subagent",
    "subagents",
    "sub-agent",
    "sub-agents",
    "subtask",
    "subtasks",
    "sub-task",
    "sub-tasks",
    "helper",
    "helpers",
];

/// Words for several of them.
pub const SEVERAL: &[&str] = &[
    "subagents",
    "sub-agents",
    "subtasks",
    "sub-tasks",
    "helpers",
    "tasks",
    "agents",
];

/// How a sentence begins that hands jobs to several subagents.
pub const HANDING: &[&str] = &[
    "use", "using", "start", "spawn", "launch", "run", "dispatch", "have", "let", "make", "give",
    "hand", "assign", "delegate", "in", "with", "create", "ask", "send",
];

/// Verbs a job may begin with, as a request has them.
pub const VERBS: &[&str] = &[
    "add",
    "analyze",
    "build",
    "check",
    "clean",
    "compile",
    "copy",
    "count",
    "create",
    "delete",
    "describe",
    "determine",
    "do",
    "explain",
    "explore",
    "find",
    "fix",
    "get",
    "give",
    "identify",
    "improve",
    "inspect",
    "lint",
    "list",
    "look",
    "make",
    "name",
    "open",
    "print",
    "put",
    "read",
    "refactor",
    "remove",
    "rename",
    "replace",
    "report",
    "review",
    "run",
    "say",
    "search",
    "show",
    "summarise",
    "summarize",
    "tell",
    "test",
    "tidy",
    "update",
    "verify",
    "write",
];

/// Who hands a job on.
pub const SELVES: &[&str] = &["yourself", "parent", "lead", "main"];

/// What one does with a job that was handed on.
pub const CHECKS: &[&str] = &[
    "verify", "check", "confirm", "tell", "report", "show", "test",
];

/// The jobs in what stands behind `use a subtask`, in order; several when the words tell them apart, or when the user
/// spoke of several subagents and listed what they shall do.
pub fn jobs(text: &str, several: bool) -> Vec<String> {
    let tokens = tokenize(text);
    let mut starts: Vec<usize> = (0..tokens.len())
        .filter_map(|at| behind_marker(&tokens, at))
        .collect();
    let on_a_line = |at: &usize| tokens[*at].before == Break::Line;
    if several && (0..tokens.len()).any(|at| on_a_line(&at)) {
        let is_start = |at: &usize| on_a_line(at) || *at == 0 && begins_a_list(text, &tokens);
        starts = (0..tokens.len()).filter(is_start).collect();
    }
    if starts.is_empty() && several {
        starts = (0..tokens.len())
            .filter(|at| opens_a_job(&tokens, *at))
            .collect();
    }
    let first = match &starts[..] {
        // `count the lines of a.txt and another lists …`: the first one has no mark.
        [first, ..] if !tokens[..*first].iter().any(is_mark) || *first == 0 => None,
        [first, ..] => (has_verb(&tokens[..*first])).then_some(0),
        [] => Some(0),
    };
    let starts: Vec<usize> = first.into_iter().chain(starts).collect();
    let ends = starts.iter().skip(1).copied().chain([tokens.len()]);
    let mut jobs: Vec<String> = starts
        .iter()
        .zip(ends)
        .map(|(from, to)| job(text, &tokens[*from..to]))
        .filter(|job| !job.is_empty())
        .collect();
    jobs.truncate(MAX_JOBS);
    jobs
}

/// The path a job names first: what it is about.
pub fn path(job: &str) -> Option<String> {
    let tokens = tokenize(job);
    let path = tokens.iter().find(|token| pattern::is_path(token))?;
    Some(pattern::named_file(path).to_owned())
}

/// The most subagents of one sentence.
const MAX_JOBS: usize = 8;

/// `the other lists …`: where the job behind this mark begins.
fn behind_marker(tokens: &[Token], at: usize) -> Option<usize> {
    let verb = tokens[at + 1..]
        .iter()
        .position(|token| !is_lead(token) && !is_mark(token))
        .map(|skipped| at + 1 + skipped)?;
    // `what each one does` marks nothing.
    let stands_alone = at == 0
        || tokens[at].before != Break::None
        || tokens[at - 1].is_any(&["and", "the", "while", "have", "let"]);
    (stands_alone && is_mark(&tokens[at]) && base_form(&tokens[verb]).is_some()).then_some(verb)
}

/// Whether the first line is a job itself, not what announces the list: `to do the following:`.
fn begins_a_list(text: &str, tokens: &[Token]) -> bool {
    let first = tokens
        .iter()
        .skip(1)
        .take_while(|token| token.before != Break::Line);
    let last = first.last().or(tokens.first());
    let announces = last.is_some_and(|last| text[..last.end].ends_with(':'));
    !announces
        && tokens
            .iter()
            .find(|token| !is_lead(token))
            .is_some_and(|token| base_form(token).is_some())
}

/// A verb behind a comma or an `and`.
fn opens_a_job(tokens: &[Token], at: usize) -> bool {
    let joined = at > 0 && (tokens[at].before != Break::None || tokens[at - 1].is("and"));
    let first = tokens[..at].iter().all(is_lead);
    (joined || first) && base_form(&tokens[at]).is_some()
}

fn has_verb(tokens: &[Token]) -> bool {
    tokens.iter().any(|token| base_form(token).is_some())
}

fn is_mark(token: &Token) -> bool {
    token.is_any(&[
        "one", "first", "second", "third", "fourth", "other", "another",
    ])
}

/// Words between a mark, or the beginning, and the verb of the job.
fn is_lead(token: &Token) -> bool {
    token.is_any(SUBAGENTS)
        || token.is_any(&[
            "the", "a", "an", "to", "for", "that", "which", "who", "should", "shall", "must",
            "can", "will", "needs", "has", "please", "and", "job", "of", "this", "it", "where",
            "so", "agent", "agents",
        ])
}

fn job(text: &str, tokens: &[Token]) -> String {
    // `which counts …` leads to a job, `which files …` is one.
    let asks = |at: usize| {
        let next = tokens.get(at + 1);
        tokens[at].is_any(&["which", "where"]) && next.is_none_or(|next| base_form(next).is_none())
    };
    let lead = (0..tokens.len())
        .take_while(|at| is_lead(&tokens[*at]) && !asks(*at))
        .count();
    let joins = |token: &&Token| {
        is_mark(token)
            || token.is_any(SUBAGENTS)
            || token.is_any(&[
                "and", "the", "a", "to", "should", "while", "then", "have", "use",
            ])
    };
    let tail = tokens.iter().rev().take_while(joins).count();
    let Some(tokens) = tokens.get(lead..tokens.len() - tail) else {
        return String::new();
    };
    let (Some(first), Some(last)) = (tokens.first(), tokens.last()) else {
        return String::new();
    };
    let rest = text[first.end..last.end].trim_end_matches([',', ';', ':', ' ', '.']);
    match base_form(first) {
        Some(base) => format!("{base}{rest}"),
        None if first.is_any(&["which", "where", "what", "how"]) => {
            format!("find out {}{rest}", first.text)
        }
        None => text[first.start..last.end]
            .trim_end_matches([',', ';', ':', ' ', '.'])
            .to_owned(),
    }
}

/// The verb a word is a form of: `counts`, `counting` and `count` are `count`.
fn base_form(token: &Token) -> Option<&'static str> {
    let word = token.text.to_ascii_lowercase();
    let is_form = |base: &&&str| {
        let base: &str = base;
        let third = match base {
            "copy" | "verify" | "tidy" => format!("{}ies", base.trim_end_matches('y')),
            _ if base.ends_with(['s', 'x', 'h', 'o']) => format!("{base}es"),
            _ => format!("{base}s"),
        };
        let stem = match base {
            "get" | "put" | "run" => format!("{base}{}", &base[2..]),
            _ => base.strip_suffix('e').unwrap_or(base).to_owned(),
        };
        word == base || word == third || word.strip_suffix("ing") == Some(&stem)
    };
    VERBS
        .iter()
        .find(is_form)
        .copied()
        .filter(|_| !token.quoted)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_job_reads_like_a_request() {
        for (several, text, expected) in [
            (
                false,
                "to find what testing framework this project uses",
                &["find what testing framework this project uses"][..],
            ),
            (
                false,
                "that counts the lines of a.txt.",
                &["count the lines of a.txt"],
            ),
            (false, "reading a.txt", &["read a.txt"]),
            (
                true,
                "one counts the lines of a.txt, the other lists the Python files",
                &["count the lines of a.txt", "list the Python files"],
            ),
            (
                true,
                "read a.txt, list the Python files, and count the lines of b.txt",
                &[
                    "read a.txt",
                    "list the Python files",
                    "count the lines of b.txt",
                ],
            ),
            (
                true,
                "for these jobs:\n1. count the Rust files\n2. plan a party, with tea",
                &["count the Rust files", "plan a party, with tea"],
            ),
            (
                true,
                "count the Rust files\n2. read a.txt",
                &["count the Rust files", "read a.txt"],
            ),
            (
                false,
                "to read a.txt and another to read b.txt",
                &["read a.txt", "read b.txt"],
            ),
            (
                false,
                "to read a.txt and summarize it",
                &["read a.txt and summarize it"],
            ),
            (
                false,
                "the first should read a.txt, the second one should read b.txt",
                &["read a.txt", "read b.txt"],
            ),
        ] {
            assert_eq!(jobs(text, several), expected, "{text}");
        }
    }

    #[test]
    fn a_question_is_a_job_of_its_own() {
        let asked = jobs("which files mention tea", false);
        assert_eq!(asked, ["find out which files mention tea"]);
        assert_eq!(jobs("agent look for tea", false), ["look for tea"]);
    }
}
