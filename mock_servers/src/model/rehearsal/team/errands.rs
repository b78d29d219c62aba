//! The jobs in the words behind a hiring, such as `Ask her to check x and have bob read y`.
//!
//! Invariant: of a job only the words that hand it over are left out.

use super::hiring::{ALL, ASKS, ONE};
use crate::model::rehearsal::tokens::{Break, Token, tokenize};

/// The sentences of a job, cut also where something new is asked.
pub fn sentences(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut from = 0;
    let tokens = tokenize(text);
    for (at, token) in tokens.iter().enumerate().skip(1) {
        let ends = token.before >= Break::Stop && !token.text.starts_with(char::is_lowercase);
        // `… and have him …`: a new thing is asked.
        let next = tokens.get(at + 1);
        let asks =
            token.is_any(ASKS) && next.is_some_and(|next| next.is_any(ONE) || next.is_any(ALL));
        let joined = token.before >= Break::Comma || tokens[at - 1].is_any(&["and", "then"]);
        if ends || asks && joined {
            found.push(text[from..token.start].to_owned());
            from = token.start;
        }
    }
    found.push(text[from..].to_owned());
    let trim = |text: &String| {
        let text = text.trim().trim_end_matches(['.', ',', ';', '!']).trim();
        let text = text.strip_suffix(" then").unwrap_or(text);
        text.strip_suffix(" and")
            .unwrap_or(text)
            .trim_end_matches(',')
            .to_owned()
    };
    found
        .iter()
        .map(trim)
        .filter(|text| !text.is_empty())
        .collect()
}

/// What a sentence asks, and whom when it names one of several: `ask alice to …, bob to …`.
pub fn asked(sentence: &str, names: &[String]) -> Vec<(Option<String>, String)> {
    let tokens = tokenize(sentence);
    let starts: Vec<(usize, String)> = (0..tokens.len())
        .filter_map(|at| {
            let name = names.iter().find(|name| tokens[at].is(name))?;
            let next = tokens.get(at + 1)?;
            let opens = at == 0
                || tokens[at - 1].is_any(ASKS)
                || tokens[at - 1].is_any(&["and", "then", "while"])
                || tokens[at].before >= Break::Comma;
            (opens
                && (next.is_any(&["to", "should", "shall", "will", "must", "can"])
                    || tokens[at].before >= Break::Comma
                    || at <= 1))
                .then(|| (at, name.clone()))
        })
        .collect();
    if starts.is_empty() || names.len() == 1 {
        let job = bare(sentence, &tokens, names);
        return if job.is_empty() {
            Vec::new()
        } else {
            vec![(None, job)]
        };
    }
    let ends = starts
        .iter()
        .skip(1)
        .map(|(at, _)| *at)
        .chain([tokens.len()]);
    let jobs = starts.iter().zip(ends).filter_map(|((at, name), end)| {
        let end = (at + 1..end)
            .rev()
            .find(|at| !tokens[*at].is_any(&["and", "while", "then", "ask", "tell", "have"]))?
            + 1;
        let text = &sentence[tokens[*at].start..tokens[end - 1].end];
        let job = bare(text, &tokenize(text), names);
        (!job.is_empty()).then(|| (Some(name.clone()), job))
    });
    jobs.collect()
}

/// The words of a job without those that only hand it over: `and ask her to`.
fn bare(text: &str, tokens: &[Token], names: &[String]) -> String {
    let hands_over = |token: &Token| {
        token.is_any(ASKS)
            || token.is_any(ONE)
            || token.is_any(ALL)
            || token.is_any(&[
                "and", "then", "to", "should", "shall", "will", "who", "please", "must", "can",
                "that", "first,",
            ])
            || names.iter().any(|name| token.is(name))
    };
    let mut at = 0;
    while at < tokens.len()
        && hands_over(&tokens[at])
        && !(at > 0 && tokens[at].is_any(&["make", "get"]) && !tokens[at - 1].is("and"))
    {
        at += 1;
    }
    let Some(first) = tokens.get(at) else {
        return String::new();
    };
    let job = text[first.start..].trim().trim_end_matches(['.', ',', ';']);
    match (first.is("with"), first.is("for")) {
        (true, _) | (_, true) => format!("Do {}", job.split_once(' ').map_or("", |(_, rest)| rest)),
        _ => {
            let mut letters = job.chars();
            letters
                .next()
                .map_or(String::new(), |c| c.to_uppercase().chain(letters).collect())
        }
    }
}
