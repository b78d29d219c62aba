//! Acts that are a call or two: commands, servers, subagents, skills, schedules.
//!
//! Invariant: what is told is the result of the call, cut.

use serde_json::{Value, json};

use super::look::{paths, read};
use super::outcome;
use crate::engine::{Outcome, Run, Stop, Went};
use crate::mcp;
use crate::people::sentence;
use crate::speak::{block, gist, listed, one_line, shown, why};
use crate::tools::{Call, Can};
use crate::when::When;

pub(crate) fn command_line(run: &Run, command: &str, in_background: bool) -> Went {
    let args = if in_background {
        json!({"command": command, "run_in_background": true})
    } else {
        json!({"command": command})
    };
    let has_ground =
        run.world.tools.get(Can::Bash).is_some_and(|tool| tool.schema["properties"]["run_in_background"].is_object());
    if in_background && !has_ground {
        return Err(Stop::Fail(format!("I have no tool here that runs `{command}` in the background.")));
    }
    let done = run.call(Can::Bash, args)?;
    let text = done.text.trim();
    Ok(if done.failed {
        let did = if text.starts_with("permission denied") || text.contains("denied") {
            "I did not run"
        } else {
            "There was an error with"
        };
        Outcome::failed(format!("{did} `{}`: {}.", one_line(command, 80), why(text)))
    } else if text.is_empty() || text == "(no output)" {
        Outcome::told(format!("`{}` is done; it printed nothing.", one_line(command, 80)))
    } else {
        Outcome::told(shown(text)).tagged(&format!("`{}`", one_line(command, 80)), text)
    })
}

pub(crate) fn tool(run: &Run, can: Can, args: &Value) -> Went {
    let done = run.call(can, args.clone())?;
    Ok(outcome(&done, shown(&done.text)))
}

pub(crate) fn named(run: &Run, name: &str, input: &Value) -> Went {
    let call = Call { can: None, name: name.to_owned(), input: input.clone(), args: input.clone() };
    let done = run.made(vec![call], "")?.remove(0);
    let (server, _) = mcp::parts(name);
    let is_served = run.world.tools.outside().iter().any(|tool| tool.name == name) && !server.is_empty();
    let who = if is_served { server } else { name };
    let line = if done.text.trim().contains('\n') { "\n" } else { " " };
    Ok(outcome(&done, format!("{who}:{line}{}", done.text.trim())).tagged(&format!("What {who} says"), &done.text))
}

pub(crate) fn serve(run: &Run, server: Option<&str>, words: &str) -> Went {
    let clause = crate::clause::Clause::of(words);
    let picked = mcp::pick(&clause, run.world.tools, server);
    match picked.or_else(|| mcp::look_up(&clause, run.world.tools, server).map(Ok)) {
        Some(Ok((name, input))) => named(run, &name, &input),
        other => {
            let quoted = if let Some(Err(word)) = other { word } else { words.to_owned() };
            let of_server = run
                .world
                .tools
                .outside()
                .iter()
                .map(|tool| mcp::parts(tool.name))
                .filter(|(of, _)| server.is_none_or(|server| *of == server));
            let names: Vec<String> = of_server.map(|(_, tool)| tool.to_owned()).collect();
            let there = if names.is_empty() {
                "it has no tool on offer".to_owned()
            } else {
                format!("it has {}", listed(&names))
            };
            Ok(Outcome::failed(format!(
                "I do not know how {} could do “{quoted}”: {there}.",
                server.unwrap_or("a server")
            )))
        }
    }
}

pub(crate) fn delegate(run: &Run, jobs: &[String]) -> Went {
    let done = run.calls(jobs.iter().map(|job| (Can::Task, json!({"prompt": job}))).collect())?;
    let mut told = Outcome::default();
    let mut texts = Vec::new();
    for (at, done) in done.iter().enumerate() {
        let who = if jobs.len() == 1 { "The subagent".to_owned() } else { format!("Subagent {}", at + 1) };
        texts.push(if done.failed {
            format!("{who} failed: {}.", why(&done.text))
        } else {
            format!("{who} reports:\n{}", done.text.trim())
        });
        told.failed |= done.failed;
        told.found.push((format!("{who}: {}", jobs[at]), done.text.clone()));
    }
    told.text = texts.join("\n");
    Ok(told)
}

pub(crate) fn skill(run: &Run, name: &str, follows: bool) -> Went {
    let done = run.call(Can::Skill, json!({"name": name}))?;
    if done.failed {
        return Ok(outcome(&done, String::new()));
    }
    let says = gist(&done.text.lines().filter(|line| !line.starts_with('<')).collect::<Vec<_>>().join("\n"));
    if !follows || !name.contains("review") {
        let rest =
            if follows { " I have read its instructions; more than reading them I cannot rehearse." } else { "" };
        return Ok(Outcome::told(format!("I have loaded the skill {name}. It says: {says}{rest}")));
    }
    let (all, _) = paths(run, "**/*.{rs,py,js,ts,go,java,c,rb,sh}")?;
    let some: Vec<String> = all.into_iter().filter(|path| !path.contains("target/")).take(5).collect();
    if some.is_empty() {
        return Ok(Outcome::told(format!("I have loaded the skill {name}, and found no source files to review.")));
    }
    let read = read(run, &some)?;
    let lines: Vec<String> = read
        .found
        .iter()
        .map(|(path, text)| format!("- {path}: {} lines; {}", text.lines().count(), gist(text)))
        .collect();
    Ok(Outcome::told(format!(
        "I have loaded the skill {name} and read what it asks for:\n{}\nA verdict is beyond a rehearsal.",
        lines.join("\n")
    )))
}

pub(crate) fn schedule(run: &Run, when: &When, prompt: &str, durable: bool) -> Went {
    let line = match when {
        When::Every(line) => line.clone(),
        _ => {
            let clock = run.call(Can::Bash, json!({"command": "date '+%Y-%m-%d %H:%M'"}))?;
            match when.line(&clock.text) {
                Some(line) => line,
                None => return Ok(Outcome::failed(format!("I could not read the clock: {}.", why(&clock.text)))),
            }
        }
    };
    let mut args = json!({"cron": line, "prompt": prompt});
    if !matches!(when, When::Every(_)) {
        args["recurring"] = json!(false);
    }
    if durable {
        args["durable"] = json!(true);
    }
    let done = run.call(Can::Schedule, args)?;
    Ok(outcome(&done, sentence(&done.text)))
}

pub(crate) fn cancel(run: &Run, words: &str) -> Went {
    let listed_jobs = run.call(Can::ListCrons, json!({}))?;
    let jobs: Vec<&str> =
        listed_jobs.text.lines().filter(|line| line.trim_start().starts_with("cron_") || line.contains("  ")).collect();
    let low = words.to_lowercase();
    let general =
        "job jobs cron scheduled schedule prompt prompts reminder reminders recurring one-shot all it about which";
    let wanted: Vec<String> = crate::rank::content(words)
        .into_iter()
        .filter(|token| !crate::words::has(general, &token.low))
        .map(|token| token.stem)
        .collect();
    let is_meant = |line: &&&str| {
        let is_once = line.contains(", once");
        let own: Vec<String> = crate::words::tokens(line).into_iter().map(|token| token.stem).collect();
        (!low.contains("recurring") || !is_once)
            && (!(low.contains("reminder") || low.contains("one-shot"))
                || is_once
                || line.to_lowercase().contains("remind"))
            && wanted.iter().all(|word| own.contains(word))
    };
    let meant: Vec<&str> = jobs.iter().filter(is_meant).copied().collect();
    let is_all =
        low.split_whitespace().any(|word| matches!(word, "all" | "every" | "both" | "jobs" | "reminders" | "them"));
    if meant.is_empty() || (meant.len() > 1 && !is_all) {
        let there = if jobs.is_empty() {
            "nothing is scheduled".to_owned()
        } else {
            format!("scheduled are:\n{}", block(&jobs.join("\n")))
        };
        return Ok(Outcome::failed(format!(
            "I cancelled nothing, because “{words}” is not exactly one of them; {there}"
        )));
    }
    let ids: Vec<&str> = meant.iter().filter_map(|line| line.split_whitespace().next()).collect();
    let done = run.calls(ids.iter().map(|id| (Can::CancelCron, json!({"job_id": id}))).collect())?;
    let failed = done.iter().any(|done| done.failed);
    Ok(Outcome {
        failed,
        ..Outcome::told(done.iter().map(|done| outcome(done, sentence(&done.text)).text).collect::<Vec<_>>().join("\n"))
    })
}
