//! What is said before a call: what was found so far, and what is going to be done.
//!
//! Invariant: it ends in one sentence that tells all the calls of the reply.

use super::answer::doing;
use super::phrases::listed;
use super::progress::Calls;
use super::rounds::Rounds;
use super::steps::Plan;

/// Says what was found so far and what is going to be done.
pub fn announce(plan: &Plan, calls: &Calls, rounds: Rounds) -> String {
    let found = |step: usize| {
        let alike = calls
            .wanted
            .iter()
            .filter(move |wanted| wanted.step == Some(step));
        alike
            .filter_map(|wanted| wanted.found.clone())
            .collect::<Vec<_>>()
    };
    let mut done: Vec<String> = Vec::new();
    for (step, own) in calls
        .wanted
        .iter()
        .filter_map(|wanted| Some((wanted.step.as_ref()?, &wanted.doing)))
    {
        if let Some(own) = own {
            done.push(own.clone());
            continue;
        }
        done.push(match &found(*step)[..] {
            [] => doing(&plan.steps[*step]),
            paths => plan.steps[*step]
                .slots
                .render(plan.steps[*step].intent.doing, Some(&listed(paths))),
        });
    }
    done.dedup();
    let mut lines = calls.notes.clone();
    let sentence = match (done.is_empty(), rounds.taken) {
        (true, 0) => "This takes several steps, so I will write down a plan.".to_owned(),
        (true, _) => "I will mark what is done.".to_owned(),
        (false, _) => format!("I will {}.", listed(&done)),
    };
    lines.push(rounds.say(&sentence, calls.gone));
    lines.join("\n")
}
