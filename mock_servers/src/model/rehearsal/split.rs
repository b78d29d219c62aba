//! Where one step ends and the next begins.
//!
//! A sentence may hold several steps, and a step several things (`read a.md and b.md`). So the end of a sentence ends a
//! step for certain, but a comma or an `and` does so only where the words behind it ask for something by themselves.
//! Invariant: every token belongs to exactly one step.

use super::follow_up;
use super::jobs;
use super::lookup;
use super::offer::Offer;
use super::servers::is_act;
use super::table::{Intent, Serves};
use super::team::hiring;
use super::tokens::{Break, Token};
use super::words;

/// Words between a thing and what each of it shall have: `two tasks, each with its own worktree`.
const OF_EACH: &[&str] = &["with", "each", "its", "their", "own", "one", "separate"];

/// The words of one step.
#[derive(Debug)]
pub struct Fragment<'a> {
    /// The words, without those that only join, greet or lead to a question.
    pub tokens: Vec<Token<'a>>,
    /// Whether it was asked for after the step before, not beside it.
    pub waits: bool,
}

/// Cuts a request into steps.
pub fn fragments<'a>(tokens: &[Token<'a>], offer: Offer) -> Vec<Fragment<'a>> {
    let mut found = Vec::new();
    let mut from = 0;
    let mut verb = None;
    for at in 1..=tokens.len() {
        let cut = if at == tokens.len() {
            Some(None)
        } else {
            cut(tokens, from, at, offer)
        };
        if let Some(next_verb) = cut {
            found.extend(fragment(&tokens[from..at], verb));
            (from, verb) = (at, next_verb);
        }
    }
    found
}

/// Whether a step begins at `at`; with the verb it shares with the step before, if it has none of its own.
fn cut<'a>(
    tokens: &[Token<'a>],
    from: usize,
    at: usize,
    offer: Offer,
) -> Option<Option<Token<'a>>> {
    let token = &tokens[at];
    if is_lone_quotation(tokens, at) {
        // It belongs to what announced it, unless that is a quotation itself: a list of commands.
        return tokens[from].quoted.then_some(None);
    }
    // A small letter behind a full stop may go on with the sentence: `e.g. this`.
    let goes_on = token.before == Break::Stop && token.text.starts_with(char::is_lowercase);
    let ends = token.before >= Break::Stop && !goes_on;
    // `use two subagents:`, and below it a list of what they shall do.
    if token.before == Break::Line && names_several(&tokens[from..at]) {
        return None;
    }
    if names_worktrees(&tokens[at..])
        && let Some(verb) = shared_verb(&tokens[from..at], without_head(&tokens[at..]), offer)
    {
        return Some(Some(verb));
    }
    if let Some(ends) = ends_whole(&tokens[from..at], &tokens[at..], offer) {
        return ends.then_some(None);
    }
    if !ends && (joint(token).is_some() || token.before == Break::Comma) {
        let so_far = without_head(&tokens[from..at]);
        // `in a subtask, find …`: the job is still to come.
        if names_only_who(so_far) || names_only_server(so_far, offer) {
            return None;
        }
        if lookup::takes_the_rest(so_far, offer).is_some() {
            return is_for_the_asker(&tokens[at..]).then_some(None);
        }
    }
    // `cargo run -- list`, `cd src; ls`: the mark belongs to the command.
    let goes_on_running = token.before == Break::Semicolon && token.is_any(words::PROGRAMS);
    let of_command = (token.is("--") || goes_on_running) && so_far_runs(&tokens[from..at]);
    if of_command {
        return None;
    }
    // `run make in the background and …`: here the command ends, and the `and` is not the shell's.
    let behind_command = tokens[at - 1].is("background") && joint(token).is_some();
    if ends || behind_command || token.is("then") {
        return Some(None);
    }
    if token.before == Break::None && joint(token).is_none() {
        return None;
    }
    let rest = without_head(sentence_from(&tokens[at..]));
    if lookup::fits_at_once(rest, offer) && !goes_on_naming(rest, offer)
        || follow_up::starts_work(rest)
        || leaves_server(&tokens[from..at], rest, offer)
        || asks_server(&tokens[..at], rest, offer)
    {
        return Some(None);
    }
    shared_verb(&tokens[from..at], rest, offer).map(Some)
}

/// Whether words, in a request that began with a server, ask one for more: `connect to docs and search for hooks`.
fn asks_server(before: &[Token], rest: &[Token], offer: Offer) -> bool {
    let row = lookup::at_once(without_head(before), offer);
    let is_served = row.is_some_and(|row| row.serves.is_some());
    is_served && rest.first().is_some_and(is_act) && !goes_on_naming(rest, offer)
}

/// Whether words, behind those that connect servers, name no other server: whatever they are, they are a step.
fn leaves_server(before: &[Token], rest: &[Token], offer: Offer) -> bool {
    let row = lookup::at_once(without_head(before), offer);
    let connects = row.is_some_and(|row| row.serves == Some(Serves::Connect));
    connects && !rest.is_empty() && !goes_on_naming(rest, offer)
}

/// Whether words only name another server: `connect to docs and deploy`.
fn goes_on_naming(rest: &[Token], offer: Offer) -> bool {
    let mut rest = rest.iter().skip_while(|token| token.is_any(&["the", "to"]));
    let names = |token: &Token| offer.servers.named(token.text).is_some();
    let ends = |token: &Token| {
        token.is_any(&["server", "servers", "mcp", "too"])
            || token.before >= Break::Comma
            || joint(token).is_some()
    };
    rest.next().is_some_and(names) && rest.next().is_none_or(ends)
}

/// Whether words to which a whole list or a whole job belongs end here; `None` when there are none before.
fn ends_whole(before: &[Token], rest: &[Token], offer: Offer) -> Option<bool> {
    if joint(&rest[0]).is_none() && rest[0].before < Break::Comma {
        return None;
    }
    let row = lookup::takes_the_rest(without_asker(before), offer)?;
    if row.needs == "spawn_teammate" && row.staffed.is_some() {
        return Some(!hiring::goes_on(rest, offer));
    }
    row.splits.map(|_| ends_list(row, before, rest, offer))
}

/// The verb that holds for both: `create a directory x and a file y`.
fn shared_verb<'a>(before: &[Token<'a>], rest: &[Token<'a>], offer: Offer) -> Option<Token<'a>> {
    let verb = *without_asker(before).first()?;
    let small = |token: &&Token| !token.is_filler() && !token.is_any(OF_EACH);
    let noun = rest.iter().find(small)?;
    let shared: Vec<Token> = std::iter::once(verb).chain(rest.iter().copied()).collect();
    (noun.is_any(words::OBJECTS) && lookup::fits_at_once(&shared, offer)).then_some(verb)
}

fn fragment<'a>(tokens: &[Token<'a>], verb: Option<Token<'a>>) -> Option<Fragment<'a>> {
    let waits = tokens.iter().map_while(joint).any(|waits| waits);
    let words = verb.into_iter().chain(without_head(tokens).iter().copied());
    let tokens: Vec<Token> = words.collect();
    (!tokens.is_empty()).then_some(Fragment { tokens, waits })
}

/// The tokens up to the end of their sentence.
fn sentence_from<'t, 'a>(tokens: &'t [Token<'a>]) -> &'t [Token<'a>] {
    let end = (1..tokens.len()).find(|at| tokens[*at].before >= Break::Stop);
    &tokens[..end.unwrap_or(tokens.len())]
}

/// Whether a program is named in these words.
fn so_far_runs(tokens: &[Token]) -> bool {
    tokens.iter().any(|token| token.is_any(words::PROGRAMS))
}

/// Whether a list that belongs to one row ends here: something else begins, or the words are no item of it.
fn ends_list(row: &Intent, before: &[Token], rest: &[Token], offer: Offer) -> bool {
    let sentence = sentence_from(rest);
    let several = before.iter().any(|token| token.is_any(&["tasks", "board"]));
    let other = lookup::at_once(without_head(sentence), offer);
    // What a task says about docs or a deployment is the task's.
    let other = other.filter(|other| other.serves.is_none());
    if other.is_some_and(|other| !other.needs.is_empty() && (other.name != row.name || !several)) {
        return true;
    }
    let about_items = [
        "depend",
        "depends",
        "depending",
        "blocked",
        "needs",
        "requires",
    ];
    let is_item = matches!(rest[0].before, Break::Line | Break::Semicolon)
        || sentence.iter().any(|token| token.is_any(&about_items));
    match (rest[0].before >= Break::Stop, several) {
        (true, true) => !is_item,
        (true, false) => true,
        (false, true) => false,
        (false, false) => rest[0].is("then"),
    }
}

/// Whether these words add worktrees to what is made: `create two tasks and a worktree for each`.
fn names_worktrees(tokens: &[Token]) -> bool {
    let has = |token: &Token| token.is_any(&["with", "having"]);
    let each_has = tokens[0].is("each") && tokens.get(1).is_some_and(has);
    let adds = joint(&tokens[0]).is_some() || has(&tokens[0]) || each_has;
    let idle = |token: &&Token| token.is_filler() || token.is_any(OF_EACH);
    let mut rest = tokens[1..].iter().skip_while(idle);
    adds && rest
        .next()
        .is_some_and(|token| token.is_any(&["worktree", "worktrees"]))
}

/// Whether these words say who or how something shall be done, and not yet what.
fn names_only_who(tokens: &[Token]) -> bool {
    let with = ["in", "with", "using", "via", "through", "by"];
    tokens.first().is_some_and(|token| token.is_any(&with))
        && tokens
            .last()
            .is_some_and(|token| token.is_any(jobs::SUBAGENTS) || token.is("background"))
}

/// Whether these words name the server, and not yet what it is for: `with the docs server, …`.
fn names_only_server(tokens: &[Token], offer: Offer) -> bool {
    let with = ["in", "on", "with", "using", "via", "through", "from", "by"];
    let names = |token: &Token| offer.servers.named(token.text).is_some();
    let ends = |token: &Token| token.is_any(&["server", "mcp", "tools"]) || names(token);
    tokens.first().is_some_and(|token| token.is_any(&with))
        && tokens.len() <= 6
        && tokens.iter().any(names)
        && tokens.last().is_some_and(ends)
}

/// Whether these words hand a list of jobs to several subagents.
fn names_several(tokens: &[Token]) -> bool {
    let tokens = without_head(tokens);
    let first = tokens
        .iter()
        .take_while(|token| token.before < Break::Line || token.start == tokens[0].start);
    let hands = tokens
        .first()
        .is_some_and(|token| token.is_any(jobs::HANDING));
    hands && first.into_iter().any(|token| token.is_any(jobs::SEVERAL))
}

/// Whether these words, behind a job that is handed on, are for the one who hands it on: `then verify it yourself`.
fn is_for_the_asker(tokens: &[Token]) -> bool {
    let sentence = sentence_from(tokens);
    let first = without_head(sentence).first();
    let waits = sentence.iter().map_while(joint).any(|waits| waits);
    waits && first.is_some_and(|token| token.is_any(jobs::CHECKS))
        || joint(&sentence[0]).is_some() && sentence.iter().any(|token| token.is_any(jobs::SELVES))
}

/// A quotation in a line or sentence of its own.
fn is_lone_quotation(tokens: &[Token], at: usize) -> bool {
    let ends = tokens
        .get(at + 1)
        .is_none_or(|next| next.before >= Break::Stop);
    tokens[at].quoted && tokens[at].before >= Break::Stop && ends
}

fn joint(token: &Token) -> Option<bool> {
    words::JOINTS
        .iter()
        .find(|(word, _)| token.is(word))
        .map(|(_, waits)| *waits)
}

/// The words without those at the head that only say who wants something: `I need …`.
fn without_asker<'t, 'a>(tokens: &'t [Token<'a>]) -> &'t [Token<'a>] {
    let words = without_head(tokens);
    let asker = words.iter().take_while(|token| token.is_any(&["i", "we"]));
    &words[asker.count()..]
}

/// The words without those at the head that only join, greet or lead to a question.
fn without_head<'t, 'a>(tokens: &'t [Token<'a>]) -> &'t [Token<'a>] {
    let polite = |token: &&Token| joint(token).is_some() || token.is_any(words::POLITE);
    let tokens = &tokens[tokens.iter().take_while(polite).count()..];
    let leads = tokens
        .iter()
        .take_while(|token| token.is_any(words::LEADS))
        .count();
    match tokens.get(leads) {
        Some(token) if token.is_any(words::QUESTIONS) => &tokens[leads..],
        _ => tokens,
    }
}
