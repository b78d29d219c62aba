//! What a lead says about its team, from the mail and its own calls.
//!
//! Invariant: only what a call or a letter says; what a teammate does meanwhile is not known.

use super::letters::Letter;
use crate::model::rehearsal::phrases::first_line;
use crate::model::rehearsal::turn::Turn;

/// What a look into the inbox gave, with what had come by itself before.
pub fn inbox(turn: &Turn, round: usize) -> String {
    let at = turn.start + round;
    let now: Vec<String> = turn
        .letters
        .iter()
        .filter(|mail| mail.at == at + 1)
        .map(Letter::told)
        .collect();
    if !now.is_empty() {
        return now.join("\n");
    }
    let before: Vec<String> = turn
        .letters
        .iter()
        .rev()
        .filter(|mail| mail.at <= at)
        .take(1)
        .map(Letter::told)
        .collect();
    match before.is_empty() {
        true => "There is no mail yet; it comes by itself.".to_owned(),
        false => format!(
            "There is no new mail. This came by itself before: {}",
            before.join("\n")
        ),
    }
}

/// Who was hired, and what came from each last.
pub fn team(turn: &Turn) -> String {
    let hired = turn.hired();
    let line = |(name, role): &(String, String)| {
        let last = turn.letters.iter().rfind(|mail| mail.from == *name);
        let state = match last {
            None => "at work; no mail yet".to_owned(),
            Some(mail) if mail.kind == "shutdown_response" => "has left".to_owned(),
            Some(mail) if mail.is_plan() => "has sent a plan".to_owned(),
            Some(mail) => format!("wrote last: {}", first_line(&mail.text)),
        };
        format!("{name} ({role}): {state}")
    };
    match hired.is_empty() {
        true => "There is no teammate yet.".to_owned(),
        false => hired.iter().map(line).collect::<Vec<_>>().join("\n"),
    }
}

/// `alice is at work; its mail comes …` as a sentence for the user.
pub fn hired(content: &str) -> String {
    let said = first_line(content).split(';').next().unwrap_or_default();
    match said.trim_end_matches('.') {
        "" => String::new(),
        said => format!("{said}."),
    }
}
