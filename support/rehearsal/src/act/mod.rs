//! How each act goes: straight code over results, which stops where a result is still missing.
//!
//! What is a call or two stands here. Invariant: what is told is the result of the call, cut.

mod behind;
mod files;
mod python;
mod team;

use serde_json::json;

use crate::clause::{Clause, Join};
use crate::history;
use crate::mcp;
use crate::run::{Act, Outcome, Run, Step, Stop, Went, fail};
use crate::slots::Slots;
use crate::speak::{block, gist, listed, one_line, sentence, shown, why};
use crate::table::{self, Make, Row};
use crate::tools::{Call, Can};
use crate::when::When;
use crate::words::{has, having, set};
pub use behind::search;

/// Runs a plan to its end, or to the next thing that is missing.
pub fn plan(run: &Run, steps: &[Step]) -> Result<(), Stop> {
    let mut at = 0;
    while at < steps.len() {
        let is_beside = |other: &&Step| {
            steps[at].act.stands_alone() && other.join == Join::And && other.act.stands_alone()
        };
        let end = at + 1 + steps[at + 1..].iter().take_while(is_beside).count();
        group(run, &steps[at..end])?;
        let failed = run.before.borrow().iter().any(|outcome| outcome.failed);
        if failed && steps[end..].iter().any(|step| !step.act.stands_alone()) {
            run.before.borrow_mut().push(Outcome::told("I left the rest."));
            return Ok(());
        }
        at = end;
    }
    Ok(())
}

/// Runs steps that may stand beside each other.
fn group(run: &Run, steps: &[Step]) -> Result<(), Stop> {
    let (mut wanted, mut said, mut other) = (Vec::new(), String::new(), None);
    let mut outcomes = Vec::new();
    for step in steps {
        match go(&step.act, run) {
            Ok(outcome) => outcomes.push(outcome),
            Err(Stop::Call(calls, note)) => {
                wanted.extend(calls);
                said.push_str(&note);
            }
            Err(Stop::Fail(why)) => outcomes.push(Outcome::failed(why)),
            Err(stop) => other = Some(stop),
        }
    }
    if !wanted.is_empty() {
        return Err(Stop::Call(wanted, said));
    }
    run.before.borrow_mut().extend(outcomes);
    other.map_or(Ok(()), Err)
}

fn go(act: &Act, run: &Run) -> Went {
    match act {
        Act::Row(row, slots) => of_row(row, slots, run),
        Act::Say(text) => Ok(Outcome::told(text)),
        Act::Shell(command, in_background) => command_line(run, command, *in_background),
        Act::Named(name, input) => named(run, Call::of(name, input.clone()), ""),
        Act::Create(path, content) => files::create(run, path, content),
        Act::Replace(path, old, new) => files::replace(run, path, old, new),
        Act::Todo(items) => {
            let todo = |item: &String| json!({"content": item, "status": "pending"});
            let todos: Vec<_> = items.iter().map(todo).collect();
            run.call(Can::Todo, json!({ "todos": todos }))?;
            let count = items.len();
            Ok(Outcome::told(format!("The plan has {count} items; I have done none of them yet.")))
        }
        Act::Delegate(jobs) => delegate(run, jobs),
        Act::Skill(name, follows) => skill(run, name, *follows),
        Act::Tasks(specs) => team::make_tasks(run, specs),
        Act::DoTask(id, subject, claims) => team::do_task(run, id, subject, *claims),
        Act::Spawn(name, role, job, plan_first) => team::spawn(run, name, role, job, *plan_first),
        Act::Message(to, text) => {
            let done = run.call(Can::Send, json!({"to": to, "content": text}))?;
            Ok(Outcome {
                teammate: Some(to.clone()),
                ..done.or_why(format!("I wrote to {to}."))
            })
        }
        Act::Schedule(when, prompt, durable) => schedule(run, when, prompt, *durable),
        Act::Connect(all) => run.each(
            all,
            |server| (Can::Connect, json!({"name": server})),
            |_, done| done.or_why(done.text.to_string()),
        ),
        Act::Serve(server, words, only) => serve(run, server, words, only.as_deref()),
    }
}

/// The same for what a row makes of its slots.
fn of_row(row: &Row, slots: &Slots, run: &Run) -> Went {
    let path = slots.paths.first().map_or("long_module.py", String::as_str);
    let dir = slots.dir.as_deref();
    let count = slots.number.unwrap_or_default();
    let told = |text: String| Ok(Outcome::told(text));
    match row.make {
        Make::Shell => command_line(run, slots.filled(row.template).trim_end(), false),
        Make::Say => told(row.template.to_owned()),
        Make::Tool => match slots.call(row.template) {
            Some((can, args)) => {
                let done = run.call(can, args)?;
                Ok(done.or_why(shown(&done.text)))
            }
            None => fail(format!("`{}` is no call.", row.template)),
        },
        Make::Read => files::read(run, &slots.paths),
        Make::About => files::about(run, &slots.paths),
        Make::ReadAll => files::read_all(run, dir.unwrap_or("."), slots),
        Make::Find => files::find(run, &slots.pattern()),
        Make::Exists => files::exists(run, path, &slots.said),
        Make::Framework => files::framework(run),
        Make::Verify => files::verify(run),
        Make::Mend => python::mend(run, slots),
        Make::Package => python::package(run, dir.unwrap_or("."), &slots.paths),
        Make::Long => files::write_new(run, path, &python::long(count)),
        Make::ShowLong => told(format!("```python\n{}```", python::long(count))),
        Make::Abilities => told(history::abilities(run.world, row.template == "all")),
        Make::Skills => told(history::skills(run.world)),
        Make::Tools => told(history::tools(run.world)),
        Make::Recall => told(history::recall(run.world, &slots.said)),
        Make::SoFar => told(history::so_far(run.world)),
        Make::Board => team::show_board(run, row.template == "unblocked"),
        Make::Claim => team::claim(run, &slots.rest),
        Make::Complete => team::complete(run, &slots.rest),
        Make::WorkBoard => team::work_board(run),
        Make::Worktrees => team::worktrees(run),
        Make::CancelCron => cancel(run, &slots.rest),
        Make::Inbox => team::inbox(run),
        Make::Leave => team::leave(run, &slots.names),
        Make::AskPlan => team::ask_plan(run, &slots.names, &slots.rest),
        Make::Answer => team::answer_plans(run, slots, row.template == "approve"),
        Make::OwnPlan => team::own_plan(run, &slots.said),
        Make::Report => team::report(run, &slots.names),
        // What a frame makes of them stands in the plan in their place.
        Make::WaitForThem | Make::LoadSkill | Make::Remember | Make::WriteSkill => {
            Ok(Outcome::default())
        }
    }
}

pub(super) fn command_line(run: &Run, command: &str, in_background: bool) -> Went {
    let mut args = json!({ "command": command });
    if in_background {
        let tool = run.world.tools.get(Can::Bash);
        if !tool.is_some_and(|tool| tool.schema["properties"]["run_in_background"].is_object()) {
            return fail(format!("I have no tool here that runs `{command}` in the background."));
        }
        args["run_in_background"] = json!(true);
    }
    let done = run.call(Can::Bash, args)?;
    let (text, short) = (done.text.trim(), one_line(command, 80));
    let is_silent =
        text.is_empty() || text.starts_with('(') && text.ends_with(')') && !text.contains('\n');
    Ok(if done.failed {
        let did = if text.contains("denied") { "I did not run" } else { "There was an error with" };
        Outcome::failed(format!("{did} `{short}`: {}.", why(text)))
    } else if is_silent {
        Outcome::told(format!("`{short}` is done; it printed nothing."))
    } else {
        Outcome::told(shown(text)).tagged(&format!("`{short}`"), text)
    })
}

/// Calls a tool that only its server knows, and tells what it says.
fn named(run: &Run, call: Call, note: &str) -> Went {
    let name = call.name.clone();
    let done = run.made(vec![call], note)?.remove(0);
    let who = Some(mcp::parts(&name).0).filter(|server| !server.is_empty()).unwrap_or(&name);
    let line = if done.text.trim().contains('\n') { "\n" } else { " " };
    Ok(done
        .or_why(format!("{who}:{line}{}", done.text.trim()))
        .tagged(&format!("What {who} says"), &done.text))
}

/// Lets a tool of a server do what the words say. The choices of a server that this request connects could not be known, so
/// the first one is taken, and that is said.
pub(super) fn serve(run: &Run, server: &str, words: &str, only: Option<&str>) -> Went {
    let is_new = run.world.called(Can::Connect).any(|call| call.at >= run.from);
    let is_first = !run.found().iter().any(|(title, _)| *title == format!("What {server} says"));
    let pick = |words: &str| mcp::pick(&Clause::of(words), run.world.tools, Some(server));
    let (mut note, mut picked) = (String::new(), pick(words));
    if let Some(Err(missing)) = &picked
        && let Some(first) = missing.choices.first().filter(|_| is_new && is_first)
    {
        note = format!("You asked for {}, so I take {first}.", missing.what);
        picked = pick(&format!("{words} {first}"));
    }
    // The clause may name the tool.
    let is_it = |tool: &str| only.is_none_or(|only| mcp::parts(tool).1 == only);
    let what = match picked {
        Some(Ok((name, input))) if is_it(&name) => {
            return named(run, Call::of(&name, input), &note);
        }
        Some(Err(missing)) => missing.what,
        _ => format!("“{words}”"),
    };
    let all = run.world.tools.outside().iter().map(|tool| mcp::parts(tool.name));
    let names: Vec<String> =
        all.filter(|(of, _)| *of == server).map(|(_, tool)| tool.to_owned()).collect();
    let there = if names.is_empty() { "no tool on offer".to_owned() } else { listed(&names) };
    fail(format!("I do not know how {server} could do {what}: it has {there}."))
}

pub(super) fn delegate(run: &Run, jobs: &[String]) -> Went {
    let all: Vec<(usize, &String)> = jobs.iter().enumerate().collect();
    run.each(
        &all,
        |(_, job)| (Can::Task, json!({"prompt": job})),
        |(at, job), done| {
            let number = format!("Subagent {}", at + 1);
            let who = if all.len() == 1 { "The subagent" } else { &number };
            let mut told = done.or_why(done.text.trim());
            told.text.insert_str(0, &format!("{who} reports:\n"));
            told.tagged(&format!("{who}: {job}"), &done.text)
        },
    )
}

pub(super) fn skill(run: &Run, name: &str, follows: bool) -> Went {
    let text = run.text(Can::Skill, json!({"name": name}), "That did not work")?;
    let says =
        gist(&text.lines().filter(|line| !line.starts_with('<')).collect::<Vec<_>>().join("\n"));
    if !follows || !name.contains("review") {
        let more = " I have read its instructions; more than reading them I cannot rehearse.";
        let rest = if follows { more } else { "" };
        return Ok(Outcome::told(format!("I have loaded the skill {name}. It says: {says}{rest}")));
    }
    let all = files::paths(run, "**/*.{rs,py,js,ts,go,java,c,rb,sh}")?;
    let some: Vec<String> =
        all.into_iter().filter(|path| !path.contains("target/")).take(5).collect();
    let read = files::walk(run, &some, String::new())?.text;
    let lines = if read.is_empty() { "no source files".to_owned() } else { read };
    let verdict = "A verdict is beyond a rehearsal.";
    Ok(Outcome::told(format!(
        "I have loaded the skill {name} and read what it asks for:\n{lines}\n{verdict}"
    )))
}

pub(super) fn schedule(run: &Run, when: &When, prompt: &str, durable: bool) -> Went {
    let line = match when {
        When::Every(line) | When::Next(line) => line.clone(),
        _ => {
            let now = &run.call(Can::Bash, json!({"command": "date '+%Y-%m-%d %H:%M'"}))?.text;
            let line = when.line(now);
            line.ok_or_else(|| Stop::Fail(format!("I could not read the clock: {}.", why(now))))?
        }
    };
    let mut args = json!({"prompt": prompt, "cron": line});
    if !matches!(when, When::Every(_)) {
        args["recurring"] = json!(false);
    }
    if durable {
        args["durable"] = json!(true);
    }
    let done = run.call(Can::Schedule, args)?;
    Ok(done.or_why(sentence(&done.text)))
}

pub(super) fn cancel(run: &Run, words: &str) -> Went {
    let done = run.call(Can::ListCrons, json!({}))?;
    let jobs: Vec<&str> = done.text.lines().filter(|line| line.contains("  ")).collect();
    let wanted =
        table::content(words).into_iter().filter(|token| !has(set("of-crons"), &token.low));
    let wanted: Vec<String> = wanted.map(|token| token.stem).collect();
    let told = |line: &&str| {
        let kind = if line.contains(", once") { "one-shot reminder" } else { "recurring" };
        let reminds = if line.to_lowercase().contains("remind") { "reminder" } else { "" };
        format!("{line} {kind} {reminds}")
    };
    let meant = having(&wanted, &jobs, told);
    let is_all = words.to_lowercase().split_whitespace().any(|word| has(set("all-crons"), word));
    if meant.is_empty() || meant.len() > 1 && !is_all {
        let there = if jobs.is_empty() { "nothing".to_owned() } else { block(&jobs.join("\n")) };
        let why = format!("because “{words}” is not exactly one of them");
        return fail(format!("I cancelled nothing, {why}; scheduled is:\n{there}"));
    }
    let ids: Vec<&str> = meant.iter().filter_map(|line| line.split_whitespace().next()).collect();
    run.each(
        &ids,
        |id| (Can::CancelCron, json!({"job_id": id})),
        |_, done| done.or_why(sentence(&done.text)),
    )
}
