//! The words about teammates: who is meant, who is hired and for what.
//!
//! `Spawn alice as a tester. Ask her to check x.` is one hiring: what she is asked belongs to her prompt, because she
//! sees nothing else. Invariant: a prompt holds the user's own words for the job, whole.

use super::errands::{asked, sentences};
use super::people::PEOPLE;
use crate::model::rehearsal::offer::Offer;
use crate::model::rehearsal::table::Filling;
use crate::model::rehearsal::tokens::{Break, Token, tokenize};
use crate::model::rehearsal::{jobs, lookup, pattern, words};
use crate::model::{Block, Request};

/// Words for the teammate who was named last.
pub const ONE: &[&str] = &["her", "him", "she", "he", "his"];

/// Words for all of them.
pub const ALL: &[&str] = &[
    "them",
    "they",
    "their",
    "both",
    "everyone",
    "everybody",
    "teammates",
    "team",
    "each",
];

/// Verbs that ask somebody for something.
pub const ASKS: &[&str] = &[
    "ask", "tell", "have", "let", "get", "instruct", "make", "want",
];

/// Verbs that hire.
const HIRES: &[&str] = &[
    "spawn", "hire", "recruit", "enlist", "start", "launch", "bring", "add", "create", "make",
    "get", "need", "want",
];

/// Words between the verb and the names.
const BEFORE_NAMES: &[&str] = &[
    "a",
    "an",
    "the",
    "new",
    "another",
    "two",
    "2",
    "three",
    "teammate",
    "teammates",
    "agent",
    "agents",
    "called",
    "named",
    "up",
    "in",
    "colleague",
    "colleagues",
    "and",
    "more",
    "one",
    "our",
];

/// Words that end the names.
const AFTER_NAMES: &[&str] = &[
    "as", "to", "with", "who", "for", "that", "which", "on", "from", "so", "then", "give", "ask",
    "tell", "have", "let", "should", "is", "are", "assign", "watch", "he", "she", "they", "each",
    "both", "hand", "shall", "will",
];

/// Words with which the lead goes on itself.
const FOR_THE_LEAD: &[&str] = &[
    "request", "shut", "shutdown", "dismiss", "review", "approve", "reject", "watch", "observe",
    "monitor", "wait", "await", "spawn", "hire", "stop",
];

/// The most teammates that are given names.
const MOST_UNNAMED: usize = 8;

/// The names that a request may mean: those it hires and those it names, or else all there are.
pub fn team(request: &Request, asked: &[String]) -> Vec<String> {
    if !request
        .tools
        .iter()
        .any(|tool| tool.name == "spawn_teammate")
    {
        let speaks = request.tools.iter().any(|tool| tool.name == "send_message");
        return if speaks {
            vec!["lead".to_owned()]
        } else {
            Vec::new()
        };
    }
    let there = spawned(request);
    let mut team: Vec<String> = Vec::new();
    for text in asked {
        let tokens = tokenize(text);
        for (at, token) in tokens.iter().enumerate() {
            let hires = |token: &Token| token.is_any(HIRES);
            let is_noun = token.is_any(&["teammate", "teammates", "colleague", "colleagues"]);
            let is_hired = is_noun && tokens[at.saturating_sub(5)..at].iter().any(hires);
            let starts = token.is_any(&["start", "launch", "bring"]);
            let behind = tokens[at + 1..]
                .iter()
                .find(|it| !it.is_any(&["in", "on", "up"]));
            let is_started = starts && behind.is_some_and(|it| it.is_any(PEOPLE));
            let is_always = token.is_any(&["spawn", "hire", "recruit", "enlist"]);
            if is_hired || is_started || is_always {
                let new = names(&tokens[at + 1..]).0;
                team.extend(
                    new.into_iter()
                        .filter(|name| !team.contains(name))
                        .collect::<Vec<_>>(),
                );
            }
            let named = there.iter().find(|name| token.is(name));
            team.extend(named.filter(|name| !team.contains(name)).cloned());
        }
    }
    match team.is_empty() {
        true => there,
        false => team,
    }
}

/// The teammates that were spawned in this conversation.
pub fn spawned(request: &Request) -> Vec<String> {
    let blocks = request.messages.iter().flat_map(|message| &message.blocks);
    let mut names: Vec<String> = blocks
        .filter_map(|block| match block {
            Block::ToolUse { name, input, .. } if name == "spawn_teammate" => {
                Some(input["name"].as_str()?.to_owned())
            }
            Block::ToolUse { .. } | Block::Text(_) | Block::ToolResult { .. } | Block::Other(_) => {
                None
            }
        })
        .collect();
    names.sort();
    names.dedup();
    names
}

/// Whether a word stands for somebody of this team.
pub fn is_one_of(word: &str, team: &[String]) -> bool {
    let word = word.to_lowercase();
    let stands = ONE.contains(&word.as_str()) || ALL.contains(&word.as_str());
    team.contains(&word) || stands && !team.is_empty()
}

/// Who of this team is meant.
pub fn who(text: &str, team: &[String]) -> Vec<String> {
    let tokens = tokenize(text);
    let mut named: Vec<String> = Vec::new();
    for token in &tokens {
        let name = team.iter().find(|name| token.is(name));
        named.extend(name.filter(|name| !named.contains(name)).cloned());
    }
    let all = tokens.iter().any(|token| token.is_any(ALL));
    match (named.is_empty(), all) {
        (false, _) => named,
        (true, true) => team.to_vec(),
        (true, false) => team.last().cloned().into_iter().collect(),
    }
}

/// Whether these words, behind those that hire somebody, still belong to its job.
pub fn goes_on(rest: &[Token], offer: Offer) -> bool {
    let joins = |token: &&Token| {
        words::JOINTS.iter().any(|(word, _)| token.is(word)) || token.is_any(words::POLITE)
    };
    let own = &rest[rest.iter().take_while(joins).count()..];
    let end = (1..own.len()).find(|at| own[*at].before >= Break::Stop);
    let own = &own[..end.unwrap_or(own.len())];
    let Some(first) = own.first() else {
        return true;
    };
    let to_me = own
        .get(1)
        .is_some_and(|next| next.is_any(&["me", "us", "you"]));
    let leads = first.is_any(FOR_THE_LEAD)
        || first.is_any(&["check", "read"])
            && own.get(1).is_some_and(|next| next.is_any(&["your", "the"]))
            && own
                .iter()
                .take(4)
                .any(|token| token.is_any(&["inbox", "mail", "mailbox"]));
    let works_alone = own
        .iter()
        .take(4)
        .any(|token| token.is_any(&["auto-claim", "self-claim"]));
    if leads || works_alone || first.is_any(ASKS) && to_me {
        return false;
    }
    // `I want plans from both before they claim`
    let wants_plans = own[0].is_any(&["i", "we"])
        && own
            .iter()
            .take(5)
            .any(|token| token.is_any(&["plan", "plans"]));
    let speaks_of_them = wants_plans
        || first.is_any(ONE)
        || first.is_any(ALL)
        || first.is_any(&["give", "assign", "hand"])
        || offer.team.iter().any(|name| first.is(name))
        || first.is_any(ASKS)
            && own
                .get(1)
                .is_some_and(|next| is_one_of(next.text, offer.team));
    let asks_to_leave = own
        .iter()
        .take(5)
        .any(|token| token.is_any(&["shutdown", "shut", "leave"]));
    if speaks_of_them {
        return !(first.is_any(ASKS) && asks_to_leave);
    }
    if rest[0].before >= Break::Stop {
        return false;
    }
    let other = lookup::at_once(own, offer);
    !other.is_some_and(|row| {
        row.staffed.is_some() || row.needs == "create_worktree" || row.needs == "create_task"
    })
}

/// The names at the head of these words, and how many words they take; `two teammates` are given names.
fn names(tokens: &[Token]) -> (Vec<String>, usize) {
    let (names, used) = given_names(tokens);
    let nouns = ["teammates", "agents", "colleagues"];
    let head = &tokens[..used];
    if !names.is_empty() || !head.iter().any(|token| token.is_any(&nouns)) {
        return (names, used);
    }
    let number = head.iter().find_map(pattern::number);
    let count = number
        .and_then(|number| number.parse().ok())
        .unwrap_or(2_usize);
    let new = PEOPLE.iter().take(count.min(MOST_UNNAMED));
    (new.map(|name| (*name).to_owned()).collect(), used)
}

fn given_names(tokens: &[Token]) -> (Vec<String>, usize) {
    let mut names = Vec::new();
    // `a tester named bob`
    let marked = tokens
        .iter()
        .take(8)
        .position(|token| token.is_any(&["named", "called"]));
    let from = marked.map_or(0, |at| at + 1);
    for (at, token) in tokens.iter().enumerate().skip(from) {
        let text = token.text.to_lowercase();
        let is_name = text
            .bytes()
            .all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, b'_' | b'-'));
        if !names.is_empty() && token.before >= Break::Stop
            || token.is_any(AFTER_NAMES)
            || token.is_any(jobs::VERBS)
            || !is_name
        {
            return (names, at);
        }
        let is_before = token.is_any(BEFORE_NAMES) || pattern::number(token).is_some();
        if !is_before && !names.contains(&text) {
            // `alice, a tester, …`: what follows an article is a role.
            if !names.is_empty() && tokens[at - 1].is_any(&["a", "an", "the"]) {
                return (names, at - 1);
            }
            if !names.is_empty()
                && token.before == Break::None
                && !tokens[at - 1].is_any(BEFORE_NAMES)
            {
                return (names, at);
            }
            names.push(text);
        }
    }
    (names, tokens.len())
}

/// The hiring in these words: names, roles and jobs, one line each.
pub fn hire(text: &str, _: &[String]) -> Vec<Filling> {
    let tokens = tokenize(text);
    let Some(verb) = tokens.iter().position(|token| token.is_any(HIRES)) else {
        return Vec::new();
    };
    let (names, used) = names(&tokens[verb + 1..]);
    if names.is_empty() {
        return Vec::new();
    }
    let behind = verb + 1 + used;
    let (role, from) = role(text, &tokens, verb + 1, behind);
    let rest = tokens.get(from).map_or("", |token| &text[token.start..]);
    let mut jobs = vec![Vec::<String>::new(); names.len()];
    let (mut wants_plan, mut gives) = (false, false);
    for sentence in sentences(rest) {
        for (whom, job) in asked(&sentence, &names) {
            let (is_plan, is_given) = (asks_for_plan(&job), gives_task(&job, &sentence));
            wants_plan |= is_plan;
            gives |= is_given;
            if !is_plan && !is_given {
                let of = |name: &String| whom.as_ref().is_none_or(|whom| whom == name);
                let meant = names.iter().zip(&mut jobs).filter(|(name, _)| of(name));
                meant.for_each(|(_, jobs)| jobs.push(job.clone()));
            }
        }
    }
    let lines: Vec<String> = jobs
        .iter()
        .map(|jobs| jobs.join(". ").replace('\n', " "))
        .collect();
    let roles = names
        .iter()
        .enumerate()
        .map(|(at, _)| role.clone().unwrap_or_else(|| default_role(&lines[at])));
    let mut filling: Filling = vec![
        ("roles", roles.collect::<Vec<_>>().join("\n")),
        ("names", names.join("\n")),
        ("team", crate::model::rehearsal::phrases::listed(&names)),
        ("jobs", lines.join("\n")),
    ];
    filling.extend(wants_plan.then(|| ("plan", "true".to_owned())));
    filling.extend(gives.then(|| ("gives", "true".to_owned())));
    vec![filling]
}

/// Whether a job is to send a plan first.
fn asks_for_plan(job: &str) -> bool {
    let lower = job.to_lowercase();
    let verbs = [
        "submit", "send", "propose", "write", "make", "present", "hand",
    ];
    let sends = lower.contains("plan") && verbs.iter().any(|verb| lower.contains(verb));
    // `ask both for a plan before they claim`, `let each plan first`
    let mut words = lower.split_whitespace();
    let first = words.find(|word| {
        ![
            "do", "a", "an", "the", "their", "his", "her", "get", "i", "we", "want", "need",
            "require", "expect",
        ]
        .contains(word)
    });
    sends || first.is_some_and(|word| ["plan", "plans"].contains(&word))
}

/// Whether a job is one of the tasks of the board.
fn gives_task(job: &str, sentence: &str) -> bool {
    let (job, sentence) = (job.to_lowercase(), sentence.to_lowercase());
    let marks = [
        "one of",
        "a task",
        "each one",
        "one task",
        "the first",
        "its task",
        "the tasks",
    ];
    let verbs = [
        "give", "gives", "assign", "assigns", "hand", "hands", "take", "takes",
    ];
    let mut words = sentence.split(|c: char| !c.is_alphanumeric());
    // `let each do one task`
    let does = ["do one ", "do a task", "work on one ", "work on a task"];
    let is_handed = words.any(|word| verbs.contains(&word))
        || does.iter().any(|start| job.starts_with(start)) && !job.contains(':');
    job.contains("task") && marks.iter().any(|mark| job.contains(mark)) && is_handed
}

fn default_role(job: &str) -> String {
    let lower = job.to_lowercase();
    let role = [
        ("test", "tester"),
        ("check", "tester"),
        ("review", "reviewer"),
        ("doc", "writer"),
    ];
    let found = role.iter().find(|(word, _)| lower.contains(word));
    found.map_or("developer", |(_, role)| role).to_owned()
}

/// `as a backend developer`, `a tester named`, and where the words behind it begin.
fn role(text: &str, tokens: &[Token], from: usize, behind: usize) -> (Option<String>, usize) {
    let named = (from..behind).find(|at| tokens[*at].is_any(&["named", "called"]));
    if let Some(named) = named {
        let words: Vec<&str> = tokens[from..named]
            .iter()
            .filter(|token| !token.is_any(BEFORE_NAMES))
            .map(|token| token.text)
            .collect();
        if !words.is_empty() {
            return (Some(words.join(" ")), behind);
        }
    }
    let opens = tokens
        .get(behind)
        .filter(|token| token.is_any(&["as", "a", "an", "the"]) && token.before < Break::Stop);
    if opens.is_none() {
        return (None, behind);
    }
    let ends = |at: &usize| {
        let token = &tokens[*at];
        *at > behind
            && (token.before >= Break::Comma
                || token.is_any(&["to", "who", "and", "with", "for", "that", "then", "should"]))
    };
    let end = (behind..tokens.len()).find(ends).unwrap_or(tokens.len());
    let words: Vec<&str> = tokens[behind..end]
        .iter()
        .filter(|token| !token.is_any(&["as", "a", "an", "the"]))
        .map(|token| token.text)
        .collect();
    let _ = text;
    let role = words.join(" ");
    ((!role.is_empty()).then_some(role), end)
}
