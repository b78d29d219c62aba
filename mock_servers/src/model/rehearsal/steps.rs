//! From a request to steps: where one ends and the next begins, and which row of the table each asks for.
//!
//! A sentence may hold several steps, and a step several things (`read a.md and b.md`). So a sentence ends a step for
//! certain, but a comma or an `and` does so only where the words behind it ask for something by themselves.
//! Invariant: nothing the user asked for is dropped; what no row fits is kept as not understood.

use std::collections::HashMap;
use std::sync::LazyLock;

use super::intents::{self, row};
use super::pattern::{self, Kind, Pattern, Taken};
use super::slots::Slots;
use super::table::Intent;
use super::tokens::{Break, Token, tokenize};
use super::{small_talk, words};

/// The most steps of one request.
const MAX_STEPS: usize = 24;

/// What a request comes to.
#[derive(Debug, Default)]
pub struct Plan {
    /// The steps, in the order they were asked for.
    pub steps: Vec<Step>,
    /// What no row of the table fits, as it was typed.
    pub unknown: Vec<String>,
    /// The answer to what was only said out of politeness.
    pub chat: Option<&'static str>,
}

/// One step.
#[derive(Clone, Debug)]
pub struct Step {
    /// Its row of the table.
    pub intent: &'static Intent,
    /// What the words filled in.
    pub slots: Slots,
    /// What it is done to.
    pub objects: Objects,
    /// Whether the user asked for it after the step before, not beside it.
    pub waits: bool,
    /// The step without whose success it makes no sense.
    pub leans_on: Option<usize>,
}

/// What a step is done to.
#[derive(Clone, Debug, PartialEq)]
pub enum Objects {
    /// Nothing that has a path.
    None,
    /// These paths.
    Named(Vec<String>),
    /// The files that an earlier step finds.
    Found(usize),
    /// Something named before; nobody knows what.
    Unclear,
}

/// Works out the plan. `last_path` says which path the conversation named last.
pub fn plan(requests: &[String], last_path: impl Fn() -> Option<String>) -> Plan {
    let mut planner = Planner {
        plan: Plan::default(),
        last_path: &last_path,
    };
    for request in requests {
        let tokens = tokenize(request);
        for fragment in fragments(&tokens) {
            planner.add(request, &tokens[fragment.from..fragment.to], fragment.waits);
        }
    }
    planner.plan
}

struct Planner<'p> {
    plan: Plan,
    last_path: &'p dyn Fn() -> Option<String>,
}

impl Planner<'_> {
    fn add(&mut self, request: &str, tokens: &[Token], waits: bool) {
        let tokens = &tokens[head(tokens)..];
        let (Some(first), Some(last)) = (tokens.first(), tokens.last()) else {
            return;
        };
        let typed = request[first.start..last.end].trim_end_matches(words::PUNCTUATION);
        match find_row(tokens) {
            _ if self.plan.steps.len() >= MAX_STEPS => self.plan.unknown.push(typed.to_owned()),
            Some((intent, taken)) => self.add_step(intent, request, tokens, &taken, waits),
            None => match (small_talk::reply(tokens), self.plan.steps.last()) {
                (Some(reply), _) => self.plan.chat = Some(reply),
                // `…, then Cargo.toml`: the verb of the step before still holds.
                (None, Some(before))
                    if before.intent.each
                        && tokens.len() <= 3
                        && !paths(tokens, &[]).is_empty() =>
                {
                    let objects = Objects::Named(paths(tokens, &[]));
                    let step = Step {
                        objects,
                        waits,
                        leans_on: None,
                        ..before.clone()
                    };
                    self.plan.steps.push(step);
                }
                (None, _) => self.plan.unknown.push(typed.to_owned()),
            },
        }
    }

    fn add_step(
        &mut self,
        intent: &'static Intent,
        request: &str,
        tokens: &[Token],
        taken: &[Taken],
        waits: bool,
    ) {
        let mut slots = Slots::default();
        let mut objects = Objects::None;
        let mut leans_on = None;
        for slot in taken {
            let value = slots.take(request, tokens, slot);
            match (slot.name, slot.kind) {
                ("path", Kind::It) => (objects, leans_on) = self.refer(),
                ("path", _) => objects = Objects::Named(vec![value]),
                (name, Kind::It) => leans_on = self.refer_as(name, &mut slots),
                _ => {}
            }
        }
        for (name, value) in intent.fills {
            match (*name, *value) {
                ("path", "it") if objects == Objects::None && intent.first.is_none() => {
                    (objects, leans_on) = self.refer()
                }
                ("path", "it") => {}
                ("path", _) if objects == Objects::None => {
                    objects = Objects::Named(vec![value.to_string()])
                }
                (name, "it") if slots.get(name).is_none() => {
                    leans_on = self.refer_as(name, &mut slots)
                }
                _ => slots.fill(name, value),
            }
        }
        if intent.each
            && let Objects::Named(named) = &mut objects
        {
            named.extend(paths(tokens, taken));
        }
        self.add_first(intent, tokens, taken, &slots, &mut objects);
        self.plan.steps.push(Step {
            intent,
            slots,
            objects,
            waits,
            leans_on,
        });
    }

    /// Puts the step in front that this one needs, unless the request already has one that reads or finds.
    fn add_first(
        &mut self,
        intent: &Intent,
        tokens: &[Token],
        taken: &[Taken],
        slots: &Slots,
        objects: &mut Objects,
    ) {
        let Some(first) = &intent.first else { return };
        let named = paths(tokens, taken);
        let intent = row(first.intent);
        if first.path.is_empty() {
            let mut slots = slots.clone();
            intent
                .fills
                .iter()
                .for_each(|(name, value)| slots.fill(name, value));
            *objects = Objects::Found(self.plan.steps.len());
            self.plan.steps.push(Step {
                intent,
                slots,
                objects: Objects::None,
                waits: true,
                leans_on: None,
            });
        } else if !named.is_empty() || !self.plan.steps.iter().any(|step| !step.intent.changes) {
            let named = if named.is_empty() {
                vec![first.path.to_owned()]
            } else {
                named
            };
            let objects = Objects::Named(named);
            self.plan.steps.push(Step {
                intent,
                slots: Slots::default(),
                objects,
                waits: false,
                leans_on: None,
            });
        }
    }

    /// What `it` means: what the last step with a path was about, else what the conversation named last.
    fn refer(&self) -> (Objects, Option<usize>) {
        for (index, step) in self.plan.steps.iter().enumerate().rev() {
            if step.intent.told.contains("{list}") {
                return (Objects::Found(index), Some(index));
            }
            if let Some(to) = step.slots.get("to") {
                return (Objects::Named(vec![to.to_owned()]), Some(index));
            }
            if step.objects != Objects::None {
                return (step.objects.clone(), Some(index));
            }
        }
        (
            (self.last_path)().map_or(Objects::Unclear, |path| Objects::Named(vec![path])),
            None,
        )
    }

    fn refer_as(&self, name: &'static str, slots: &mut Slots) -> Option<usize> {
        let (objects, leans_on) = self.refer();
        if let Objects::Named(paths) = objects {
            slots.set(name, paths.into_iter().next_back().unwrap_or_default());
        }
        leans_on
    }
}

/// The paths among the tokens that no slot took.
fn paths(tokens: &[Token], taken: &[Taken]) -> Vec<String> {
    let free = |index: &usize| {
        !taken
            .iter()
            .any(|slot| (slot.from..slot.to).contains(index))
    };
    let path = |index: usize| {
        let token = &tokens[index];
        pattern::is_path(token).then(|| {
            pattern::known_file(token.text)
                .unwrap_or(token.text)
                .to_owned()
        })
    };
    (0..tokens.len())
        .filter(free)
        .filter_map(path)
        .take(20)
        .collect()
}

struct Fragment {
    from: usize,
    to: usize,
    waits: bool,
}

/// Cuts the tokens into steps.
fn fragments(tokens: &[Token]) -> Vec<Fragment> {
    let mut found: Vec<Fragment> = Vec::new();
    let mut from = 0;
    let mut waits = false;
    for at in 1..tokens.len() {
        let joint = joint(&tokens[at]);
        let strong = tokens[at].before == Break::Strong && !is_lone_quote(tokens, at)
            || tokens[at].is("then");
        let weak =
            !strong && (tokens[at].before == Break::Weak || joint.is_some()) && asks(&tokens[at..]);
        if strong || weak {
            found.push(Fragment {
                from,
                to: at,
                waits,
            });
            from = at;
            waits = joint_waits(&tokens[at..]);
        }
    }
    found.push(Fragment {
        from,
        to: tokens.len(),
        waits,
    });
    found.retain(|fragment| fragment.from < fragment.to);
    found
}

/// A quotation on a line of its own belongs to what announced it.
fn is_lone_quote(tokens: &[Token], at: usize) -> bool {
    tokens[at].quoted
        && tokens
            .get(at + 1)
            .is_none_or(|next| next.before == Break::Strong)
}

fn joint(token: &Token) -> Option<bool> {
    words::JOINTS
        .iter()
        .find(|(word, _)| token.is(word))
        .map(|(_, waits)| *waits)
}

fn joint_waits(tokens: &[Token]) -> bool {
    tokens.iter().map_while(joint).any(|waits| waits)
}

/// Whether these words ask for something by themselves: a pattern fits right at their head, before the sentence ends.
fn asks(tokens: &[Token]) -> bool {
    let end = (1..tokens.len())
        .find(|at| tokens[*at].before == Break::Strong)
        .unwrap_or(tokens.len());
    let tokens = &tokens[..end];
    let tokens = &tokens[head(tokens)..];
    !tokens.is_empty() && rows_at(tokens, 0).is_some()
}

/// How many words at the head only join, greet or lead to a question.
fn head(tokens: &[Token]) -> usize {
    let polite = |token: &Token| joint(token).is_some() || token.is_any(words::POLITE);
    let skipped = tokens.iter().take_while(|token| polite(token)).count();
    let leads = tokens[skipped..]
        .iter()
        .take_while(|token| token.is_any(words::LEADS))
        .count();
    match tokens.get(skipped + leads) {
        Some(token) if token.is_any(words::QUESTIONS) => skipped + leads,
        _ => skipped,
    }
}

fn find_row(tokens: &[Token]) -> Option<(&'static Intent, Vec<Taken>)> {
    let (row, mut taken) = (0..tokens.len().min(60)).find_map(|start| rows_at(tokens, start))?;
    let (intent, also) = &INDEX.rows[row];
    for pattern in also {
        for slot in pattern.find(tokens, 0).unwrap_or_default() {
            if !taken.iter().any(|other| {
                other.name == slot.name
                    || other.kind != Kind::Text && slot.from < other.to && other.from < slot.to
            }) {
                taken.push(slot);
            }
        }
    }
    Some((intent, taken))
}

fn rows_at(tokens: &[Token], start: usize) -> Option<(usize, Vec<Taken>)> {
    let token = &tokens[start];
    let by_word = match token.quoted {
        false => INDEX
            .by_word
            .get(token.text.to_ascii_lowercase().as_str())
            .map_or(&[][..], |found| found),
        true => &[],
    };
    let mut candidates: Vec<usize> = by_word.iter().chain(&INDEX.others).copied().collect();
    candidates.sort_unstable();
    candidates.into_iter().find_map(|candidate| {
        let (row, pattern) = &INDEX.patterns[candidate];
        Some((*row, pattern.match_at(tokens, start)?))
    })
}

/// The patterns of the table, by the word they begin with.
struct Index {
    patterns: Vec<(usize, Pattern)>,
    by_word: HashMap<&'static str, Vec<usize>>,
    others: Vec<usize>,
    rows: Vec<(&'static Intent, Vec<Pattern>)>,
}

static INDEX: LazyLock<Index> = LazyLock::new(|| {
    let parsed = |texts: &'static [&'static str]| {
        texts
            .iter()
            .copied()
            .map(Pattern::parse)
            .collect::<Vec<_>>()
    };
    let mut index = Index {
        patterns: Vec::new(),
        by_word: HashMap::new(),
        others: Vec::new(),
        rows: Vec::new(),
    };
    for (row, intent) in intents::all().enumerate() {
        for pattern in parsed(intent.says) {
            let place = index.patterns.len();
            match pattern.first_words() {
                [] => index.others.push(place),
                words => words
                    .iter()
                    .for_each(|word| index.by_word.entry(word).or_default().push(place)),
            }
            index.patterns.push((row, pattern));
        }
        index.rows.push((intent, parsed(intent.also)));
    }
    index
});
