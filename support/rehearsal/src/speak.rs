//! What is said: an announcement made from calls, an answer made from results.
//!
//! One maker for all acts, so that everything sounds alike. Invariant: what is said of a result is its own text, cut, and
//! never more than came back.

use serde_json::Value;

use crate::mcp;
use crate::plan::Refusal;
use crate::tools::{Call, Can};

/// A text that is shown whole has at most so many lines.
const LINES: usize = 40;
const CHARS: usize = 4_000;

/// What a call is for, in words: `read README.md`.
fn intent(call: &Call) -> String {
    let arg = |name: &str| call.args[name].as_str().unwrap_or_default().to_owned();
    let Some(can) = call.can else {
        let (server, tool) = mcp::parts(&call.name);
        let args: Vec<String> = call
            .input
            .as_object()
            .into_iter()
            .flatten()
            .map(|(name, value)| format!("{name}: {}", plain(value)))
            .collect();
        let args = if args.is_empty() { String::new() } else { format!(" ({})", cut(&args.join(", "), 120)) };
        return if server.is_empty() {
            format!("call {tool}{args}")
        } else {
            format!("call {tool} of the {server} server{args}")
        };
    };
    match can {
        Can::Bash if arg("command").starts_with("date ") => "look at the clock".into(),
        Can::Bash if call.args["run_in_background"] == true => {
            format!("run `{}` in the background", one_line(&arg("command"), 80))
        }
        Can::Bash => format!("run `{}`", one_line(&arg("command"), 80)),
        Can::Read => format!("read {}", arg("path")),
        Can::Write => format!("write {}", arg("path")),
        Can::Edit => format!("edit {}", arg("path")),
        Can::Glob => format!("look for {}", arg("pattern")),
        Can::Todo => "bring the plan up to date".into(),
        Can::Task => format!("hand on “{}”", one_line(&arg("prompt"), 60)),
        Can::Skill => format!("load the skill {}", arg("name")),
        Can::Compact => "compact the conversation".into(),
        Can::CreateTask => format!("create the task “{}”", arg("subject")),
        Can::ListTasks => "look at the board".into(),
        Can::GetTask => format!("look at {}", arg("task_id")),
        Can::ClaimTask => format!("claim {}", arg("task_id")),
        Can::CompleteTask => format!("complete {}", arg("task_id")),
        Can::Schedule => format!("schedule “{}”", arg("prompt")),
        Can::ListCrons => "list the scheduled prompts".into(),
        Can::CancelCron => format!("cancel {}", arg("job_id")),
        Can::Spawn => format!("hire {}", arg("name")),
        Can::Send => format!("write to {}", arg("to")),
        Can::Inbox => "look into the inbox".into(),
        Can::Shutdown => format!("ask {} to leave", arg("teammate")),
        Can::RequestPlan => format!("ask {} for a plan", arg("teammate")),
        Can::ReviewPlan => "answer the plan".into(),
        Can::SubmitPlan => "send my plan".into(),
        Can::MakeTree => format!("create the worktree {}", arg("name")),
        Can::RemoveTree => format!("remove the worktree {}", arg("name")),
        Can::KeepTree => format!("keep the worktree {}", arg("name")),
        Can::Connect => format!("connect to {}", arg("name")),
    }
}

/// The announcement of calls.
pub fn announce(calls: &[Call], note: &str) -> String {
    let mut intents: Vec<String> = Vec::new();
    for call in calls {
        let intent = intent(call);
        if !intents.contains(&intent) {
            intents.push(intent);
        }
    }
    if intents.len() > 5 {
        let more = intents.len() - 4;
        intents.truncate(4);
        intents.push(format!("do {more} more of the kind"));
    }
    let line = format!("I will {}.", listed(&intents));
    if note.is_empty() { line } else { format!("{note}\n{line}") }
}

/// `a, b and c`.
pub fn listed(all: &[String]) -> String {
    match all {
        [] => String::new(),
        [one] => one.clone(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}

fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// A text on one line, at most so long.
pub fn one_line(text: &str, most: usize) -> String {
    cut(&text.split_whitespace().collect::<Vec<_>>().join(" "), most)
}

/// The beginning of a text.
pub fn cut(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text.to_owned(),
    }
}

/// A text as a block, whole or its beginning.
pub fn block(text: &str) -> String {
    let text = text.trim_end();
    let lines: Vec<&str> = text.lines().collect();
    let shown = cut(&lines[..lines.len().min(LINES)].join("\n"), CHARS);
    let more = if lines.len() > LINES { format!("\n… {} more lines", lines.len() - LINES) } else { String::new() };
    // A fence longer than any inside.
    let fence = if shown.contains("```") { "````" } else { "```" };
    format!("{fence}\n{shown}{more}\n{fence}")
}

/// A result as it is: one line stays in its sentence, more become a block.
pub fn shown(text: &str) -> String {
    let text = text.trim();
    match text.lines().count() {
        0 => "(nothing)".to_owned(),
        1 => text.to_owned(),
        _ => block(text),
    }
}

/// What a file is about, in one line: its title and its first sentence.
pub fn gist(text: &str) -> String {
    let mut lines = text
        .lines()
        .map(|line| line.trim().trim_start_matches(['#', '/', '!', '*', '"', ' ']).trim_end_matches(['"', '.']))
        .filter(|line| line.chars().filter(|c| c.is_alphanumeric()).count() > 2);
    match (lines.next(), lines.next()) {
        (None, _) => "(empty)".to_owned(),
        (Some(first), None) => one_line(first, 160),
        (Some(first), Some(second)) => {
            format!("{}. {}.", one_line(first, 100).trim_end_matches('.'), one_line(second, 160).trim_end_matches('.'))
        }
    }
}

/// Why something did not come about: the first line of an error.
pub fn why(text: &str) -> String {
    one_line(text.lines().find(|line| !line.trim().is_empty()).unwrap_or("it failed"), 300)
        .trim_end_matches('.')
        .to_owned()
}

/// A refusal, with what would do.
pub fn refusal(refusal: &Refusal) -> String {
    let offers: Vec<String> = refusal.offers.iter().map(|offer| format!("\n- `{offer}`")).collect();
    match offers.is_empty() {
        true => format!("{}.", refusal.why),
        false => format!("{}. What I can do:{}", refusal.why, offers.concat()),
    }
}
