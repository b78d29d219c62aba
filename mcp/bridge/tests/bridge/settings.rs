//! What stands in `agents.yaml`.

use crate::{FIRST, owner, parsed};

#[test]
fn a_time_of_its_own_a_role_or_the_default_counts() {
    let folder = tempfile::tempdir().unwrap();
    let times = |more: &str, agent: &str| {
        let text = format!("agents: [{{name: a, tools: [], {agent}}}]\n{more}");
        parsed(&text, folder.path()).unwrap().agents[0].idle.as_secs()
    };
    for (more, agent, expected) in [
        ("", "role: research", 180),
        ("", "role: review", 150),
        ("", "role: building", 150),
        ("", "role: chief of staff", 120),
        ("", "role: engineering", 120),
        ("", "role: poet", 90),
        ("", "model: m", 90),
        ("", "role: research, idle_s: 7", 7),
        ("idle_s: {default: 5, poet: 6}", "role: poet", 6),
        ("idle_s: {default: 5, poet: 6}", "role: painter", 5),
    ] {
        assert_eq!(times(more, agent), expected, "{more} {agent}");
    }
}

#[test]
fn what_is_wrong_is_named_with_its_path() {
    for (text, why) in [
        ("agents: []", "agents: there must be one"),
        ("agents: [{name: a, tools: [], idle_s: 0}]", "agents[0].idle_s: at least 1 second"),
        ("agents: [{name: a, tools: [], max_s: 90000}]", "agents[0].max_s: at most a day"),
        ("agents: [{name: a, tools: [], colour: red}]", "agents[0].colour: unknown field"),
        ("agents: [{name: a}]", "missing field `tools`"),
        ("agents: [{name: A b, tools: []}]", "agents[0].name: \"A b\" is no name"),
        ("agents: [{name: owner, tools: []}]", "agents[0].name"),
        ("agents: [{name: a, tools: []}, {name: a, tools: []}]", "agents[1].name: a is taken"),
        ("agents: [{name: a, tools: ['[']}]", "agents[0].tools"),
        ("agents: [{name: a, tools: [], process: command}]", "agents[0].command"),
        (
            "agents: [{name: a, tools: []}]\nschedule: [{cron: '* *', agent: a, prompt: p}]",
            "schedule[0].cron",
        ),
        (
            "agents: [{name: a, tools: []}]\nschedule: [{cron: '@daily', agent: b, prompt: p}]",
            "schedule[0].agent: there is no agent b",
        ),
        ("agents: [{name: a, tools: []}]\nservers: {x: {command: 3}}", "servers.x"),
        ("agents: [", "unclosed bracket '[' at line 1, column 9"),
        ("[]", "a mapping"),
    ] {
        let error = parsed(text, ".".as_ref()).err().unwrap_or_else(|| panic!("{text} is taken"));
        assert!(error.contains(why) && !error.contains('\n'), "{text}: {error}");
    }
}

#[test]
fn more_tools_than_the_budget_are_refused_with_their_count() {
    let folder = tempfile::tempdir().unwrap();
    owner(FIRST, folder.path()).verify().unwrap();
    let text = "agents: [{name: a, tools: ['*'], tool_budget: 9}, {name: b, tools: ['task_*'], tool_budget: 3}]";
    let wrong = owner(text, folder.path()).verify().unwrap_err();
    assert!(wrong.starts_with("a has 10 tools, its tool_budget is 9"), "{wrong:?}");
}
