//! Acts that are a call or two: commands, servers, subagents, skills, schedules.
//!
//! Invariant: what is told is the result of the call, cut.

use serde_json::{Value, json};

use super::look::{paths, read};
use crate::clause::Clause;
use crate::mcp;
use crate::rank;
use crate::run::{Outcome, Run, Stop, Went, fail};
use crate::speak::{block, gist, listed, one_line, sentence, shown, why};
use crate::tools::{Call, Can};
use crate::when::When;
use crate::words::{has, set, stems};

pub(super) fn command_line(run: &Run, command: &str, in_background: bool) -> Went {
    let mut args = json!({ "command": command });
    if in_background {
        let tool = run.world.tools.get(Can::Bash);
        if !tool.is_some_and(|tool| tool.schema["properties"]["run_in_background"].is_object()) {
            return Err(Stop::Fail(format!(
                "I have no tool here that runs `{command}` in the background."
            )));
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

pub(super) fn tool(run: &Run, can: Can, args: Value) -> Went {
    let done = run.call(can, args)?;
    Ok(done.or_why(shown(&done.text)))
}

pub(super) fn named(run: &Run, name: &str, input: &Value, note: &str) -> Went {
    let call = Call {
        can: None,
        name: name.to_owned(),
        input: input.clone(),
        args: input.clone(),
    };
    let done = run.made(vec![call], note)?.remove(0);
    let (server, _) = mcp::parts(name);
    let is_served =
        run.world.tools.outside().iter().any(|tool| tool.name == name) && !server.is_empty();
    let who = if is_served { server } else { name };
    let line = if done.text.trim().contains('\n') { "\n" } else { " " };
    Ok(done
        .or_why(format!("{who}:{line}{}", done.text.trim()))
        .tagged(&format!("What {who} says"), &done.text))
}

/// Lets a tool of a server do what the words say. The choices of a server that this request connects could not be known, so
/// the first one is taken, and that is said.
pub(super) fn serve(run: &Run, server: &str, words: &str) -> Went {
    let clause = Clause::of(words);
    let is_new = run.world.called(Can::Connect).any(|call| call.at >= run.from);
    let pick = |may_choose| mcp::pick(&clause, run.world.tools, Some(server), may_choose);
    let mut note = String::new();
    let picked = match pick(false) {
        Some(Err(missing)) if is_new && !missing.choices.is_empty() => {
            note = format!("You asked for {}, so I take {}.", missing.what, missing.choices[0]);
            pick(true)
        }
        picked => picked,
    };
    let what = match picked {
        Some(Ok((name, input))) => return named(run, &name, &input, &note),
        Some(Err(missing)) => missing.what,
        None => format!("“{words}”"),
    };
    let of_server = run
        .world
        .tools
        .outside()
        .iter()
        .map(|tool| mcp::parts(tool.name))
        .filter(|(of, _)| *of == server);
    let names: Vec<String> = of_server.map(|(_, tool)| tool.to_owned()).collect();
    let there = if names.is_empty() { "no tool on offer".to_owned() } else { listed(&names) };
    fail(format!("I do not know how {server} could do {what}: it has {there}."))
}

pub(super) fn delegate(run: &Run, jobs: &[String]) -> Went {
    let all: Vec<(usize, &String)> = jobs.iter().enumerate().collect();
    run.each(
        &all,
        |(_, job)| (Can::Task, json!({"prompt": job})),
        |(at, job), done| {
            let who = if all.len() == 1 {
                "The subagent".to_owned()
            } else {
                format!("Subagent {}", at + 1)
            };
            let told = if done.failed {
                Outcome::failed(format!("{who} failed: {}.", why(&done.text)))
            } else {
                Outcome::told(format!("{who} reports:\n{}", done.text.trim()))
            };
            told.tagged(&format!("{who}: {job}"), &done.text)
        },
    )
}

pub(super) fn skill(run: &Run, name: &str, follows: bool) -> Went {
    let text = run.text(Can::Skill, json!({"name": name}), "That did not work")?;
    let says =
        gist(&text.lines().filter(|line| !line.starts_with('<')).collect::<Vec<_>>().join("\n"));
    if !follows || !name.contains("review") {
        let rest = if follows {
            " I have read its instructions; more than reading them I cannot rehearse."
        } else {
            ""
        };
        return Ok(Outcome::told(format!("I have loaded the skill {name}. It says: {says}{rest}")));
    }
    let all = paths(run, "**/*.{rs,py,js,ts,go,java,c,rb,sh}")?;
    let some: Vec<String> =
        all.into_iter().filter(|path| !path.contains("target/")).take(5).collect();
    let read = read(run, &some)?;
    let line = |(path, text): &(String, String)| {
        format!("- {path}: {} lines; {}", text.lines().count(), gist(text))
    };
    let lines: Vec<String> = read.found.iter().map(line).collect();
    let lines = if lines.is_empty() { "no source files".to_owned() } else { lines.join("\n") };
    let verdict = "A verdict is beyond a rehearsal.";
    Ok(Outcome::told(format!(
        "I have loaded the skill {name} and read what it asks for:\n{lines}\n{verdict}"
    )))
}

pub(super) fn schedule(run: &Run, when: &When, prompt: &str, durable: bool) -> Went {
    let clock = match when {
        When::Every(_) | When::Next(_) => String::new(),
        _ => run.call(Can::Bash, json!({"command": "date '+%Y-%m-%d %H:%M'"}))?.text,
    };
    let Some(line) = when.line(&clock) else {
        return fail(format!("I could not read the clock: {}.", why(&clock)));
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
    let low = words.to_lowercase();
    let wanted = rank::content(words).into_iter().filter(|token| !has(set("of-crons"), &token.low));
    let wanted: Vec<String> = wanted.map(|token| token.stem).collect();
    let is_meant = |line: &&&str| {
        let is_once = line.contains(", once");
        let is_reminder = is_once || line.to_lowercase().contains("remind");
        let own = stems(line);
        (!low.contains("recurring") || !is_once)
            && (!(low.contains("reminder") || low.contains("one-shot")) || is_reminder)
            && wanted.iter().all(|word| own.contains(word))
    };
    let meant: Vec<&str> = jobs.iter().filter(is_meant).copied().collect();
    if meant.is_empty()
        || (meant.len() > 1 && !low.split_whitespace().any(|word| has(set("all-crons"), word)))
    {
        let there = match jobs.as_slice() {
            [] => "nothing is scheduled".to_owned(),
            jobs => format!("scheduled are:\n{}", block(&jobs.join("\n"))),
        };
        return fail(format!(
            "I cancelled nothing, because “{words}” is not exactly one of them; {there}"
        ));
    }
    let ids: Vec<&str> = meant.iter().filter_map(|line| line.split_whitespace().next()).collect();
    run.each(
        &ids,
        |id| (Can::CancelCron, json!({"job_id": id})),
        |_, done| done.or_why(sentence(&done.text)),
    )
}
