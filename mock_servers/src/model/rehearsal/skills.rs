//! Skills: which there are, and which one a request means.
//!
//! The catalogue stands in the system prompt, so the question what skills there are needs no tool; only a skill's body is
//! loaded. Invariant: a skill the user names is loaded under that name, whether it is in the catalogue or not.

use super::offer::Offer;
use super::phrases;
use super::steps::Step;
use super::table::Reading;
use super::tokens::tokenize;
use super::words;

/// Words that say which skill is meant only by what else was said.
const VAGUE: &[&str] = &[
    "relevant",
    "right",
    "matching",
    "appropriate",
    "suitable",
    "fitting",
    "proper",
    "best",
    "correct",
    "needed",
    "necessary",
    "skill",
    "that",
    "a",
    "corresponding",
];

/// One line of the catalogue.
struct Skill<'a> {
    name: &'a str,
    description: &'a str,
}

/// Fills the slots of a step that speaks of skills: the catalogue, and the skill that is meant.
pub fn settle(step: &mut Step, offer: Offer, request: &str) {
    let skills = catalogue(offer.system);
    let told: Vec<String> = skills
        .iter()
        .map(|skill| format!("- {}: {}", skill.name, skill.description))
        .collect();
    step.slots.set(
        "skills",
        match told.is_empty() {
            true => "No skills are listed in my instructions.".to_owned(),
            false => format!("I have these skills:\n{}", told.join("\n")),
        },
    );
    let given = step.slots.get("skill").unwrap_or_default().to_lowercase();
    let vague = given.is_empty() || VAGUE.contains(&given.as_str());
    let named = skills
        .iter()
        .find(|skill| skill.name.eq_ignore_ascii_case(&given));
    let part = || {
        let mut parts = skills
            .iter()
            .filter(|skill| skill.name.split('-').any(|part| part == given));
        parts.next().filter(|_| parts.next().is_none())
    };
    let meant = named
        .or_else(part)
        .or_else(|| best(&skills, request).filter(|_| vague));
    let name = meant.map_or(given, |skill| skill.name.to_owned());
    step.slots.set("skill", name);
}

/// The skill whose name and description share most words with a request.
fn best<'s, 'a>(skills: &'s [Skill<'a>], request: &str) -> Option<&'s Skill<'a>> {
    let wanted: Vec<String> = tokenize(request)
        .iter()
        .filter(|token| {
            token.text.len() > 2 && !token.is_any(words::FILLERS) && !token.is_any(VAGUE)
        })
        .map(|token| stem(token.text))
        .collect();
    let score = |skill: &Skill| {
        let hits = |text: &str| {
            let stems: Vec<String> = text
                .split(|c: char| !c.is_alphanumeric())
                .map(stem)
                .collect();
            wanted.iter().filter(|word| stems.contains(word)).count()
        };
        // A word of the name says more than one of the description.
        4 * hits(skill.name) + hits(skill.description)
    };
    let scored = skills.iter().map(|skill| (score(skill), skill));
    let best = scored.rev().max_by_key(|(score, _)| *score)?;
    (best.0 > 0).then_some(best.1)
}

/// `servers`, `building` and `builder` as `server` and `build`.
fn stem(word: &str) -> String {
    let word = word.to_lowercase();
    let stem = ["ing", "er", "s"]
        .iter()
        .find_map(|end| word.strip_suffix(end).filter(|stem| stem.len() > 3));
    stem.unwrap_or(&word).to_owned()
}

fn catalogue(system: &str) -> Vec<Skill<'_>> {
    let lines = system
        .lines()
        .skip_while(|line| line.trim() != "# Skills")
        .skip(1);
    let lines = lines.take_while(|line| !line.starts_with("# "));
    lines
        .filter_map(|line| {
            let (name, description) = line.strip_prefix("- ")?.split_once(": ")?;
            Some(Skill {
                name: name.trim(),
                description: description.trim(),
            })
        })
        .collect()
}

/// What a loaded skill asks for: its list, else its headings.
pub fn instructions(readings: &[Reading]) -> String {
    let loaded = |reading: &&Reading| reading.row == "load a skill";
    let Some(skill) = readings.iter().rev().find(loaded) else {
        return "There is no skill to follow.".to_owned();
    };
    let lines = || skill.content.lines().map(str::trim);
    let is_item = |line: &&str| {
        line.starts_with("- ")
            || line.starts_with(|c: char| c.is_ascii_digit()) && line.contains(". ")
    };
    let mut items: Vec<&str> = lines().filter(is_item).collect();
    if items.is_empty() {
        items = lines().filter(|line| line.starts_with('#')).collect();
    }
    items.truncate(8);
    let seen = readings
        .iter()
        .rev()
        .find(|reading| reading.row == "look where to begin");
    let seen = seen.map_or(String::new(), |seen| {
        format!(
            "I looked where to begin: {}.\n",
            phrases::list("entries", seen.content)
        )
    });
    format!(
        "{seen}It asks for this; tell me what to apply it to:\n{}",
        items.join("\n")
    )
}
