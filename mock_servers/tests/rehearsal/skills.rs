//! Skills: which there are, which one is meant, and what comes of loading it.

use crate::stage::{Play, Stage};

/// The tools of the chapter that teaches skills.
const SKILLS: &[&str] = &[
    "bash",
    "read_file",
    "write_file",
    "edit_file",
    "glob",
    "todo_write",
    "task",
    "load_skill",
];

const SYSTEM: &str = "You are a coding agent.\n\n# Skills\n\nLoad a skill with load_skill before you do what it is for.\n\n\
- agent-builder: Design and build an AI agent or its harness. Use when asked to create a program that lets a model use tools.\n\
- code-review: Review code for defects, security, clarity and tests. Use when asked to review a change, a file or a project.\n\
- mcp-builder: Build or improve an MCP server (Model Context Protocol) that offers tools to agents.\n\
- pdf: Read, create, split, merge, rotate or fill in PDF files. Use whenever a request is about a .pdf file.";

fn stage() -> Stage {
    Stage::new(SKILLS).with_system(SYSTEM).intercepting(|name, input| {
        let skill = input["name"].as_str().filter(|_| name == "load_skill")?;
        let known = ["agent-builder", "code-review", "mcp-builder", "pdf"].contains(&skill);
        Some(match known {
            true => (format!("<skill name=\"{skill}\">\n# The skill {skill}\n\nDo it well.\n\n1. Look at it.\n2. Do it.\n</skill>"), false),
            false => (format!("there is no skill `{skill}`; the skills are agent-builder, code-review, mcp-builder, pdf"), true),
        })
    })
}

/// Which skill was loaded, and in which round.
fn loaded(play: &Play) -> Vec<(usize, String)> {
    let calls = play
        .calls
        .iter()
        .filter(|(_, name, _)| name == "load_skill");
    calls
        .map(|(round, _, input)| (*round, input["name"].as_str().unwrap_or("").to_owned()))
        .collect()
}

#[test]
fn the_catalogue_is_told_from_the_system_prompt() {
    for request in [
        "What skills are available?",
        "which skills do you have",
        "list your skills",
        "Show me all skills, please",
        "what skills are there?",
        "tell me which skills you have",
    ] {
        let play = stage().ask(request);
        assert!(play.calls.is_empty(), "{request}: {:?}", play.lines());
        assert!(
            play.answer
                .starts_with("I have these skills:\n- agent-builder: Design"),
            "{request}\n{}",
            play.answer
        );
        assert!(play.answer.contains("\n- pdf: "), "{}", play.answer);
    }
}

#[test]
fn the_skill_that_is_meant_is_loaded() {
    for (request, skill) in [
        ("Load the code-review skill", "code-review"),
        ("use the pdf skill", "pdf"),
        ("get the skill for building MCP servers", "mcp-builder"),
        ("load the skill called pdf", "pdf"),
        ("find a skill that helps me build an agent", "agent-builder"),
        ("load the review skill", "code-review"),
        ("I have a pdf to split. Load the right skill.", "pdf"),
    ] {
        let play = stage().ask(request);
        assert_eq!(
            loaded(&play),
            [(0, skill.to_owned())],
            "{request}\n{}",
            play.answer
        );
        assert!(
            play.answer.contains(&format!(
                "I loaded the skill {skill}. The skill {skill}. Do it well."
            )),
            "{}",
            play.answer
        );
    }
}

#[test]
fn an_unknown_skill_is_tried_and_the_refusal_told() {
    let play = stage().ask("load the juggling skill");
    assert_eq!(loaded(&play), [(0, "juggling".to_owned())]);
    assert!(play.answer.starts_with("I could not load the skill juggling: there is no skill `juggling`; the skills are agent-builder"), "{}", play.answer);
}

#[test]
fn a_code_review_follows_its_skill() {
    for request in [
        "Load the code-review skill and follow its instructions",
        "I need to do a code review -- load the relevant skill first",
        "use the code-review skill, then review the code",
        "Please do a code review. Load the matching skill first.",
        "get the code-review skill and apply it",
        "load the review skill and follow the steps",
    ] {
        let mut stage = stage().with_git();
        stage.put("boil.py", "try:\n    boil()\nexcept:\n    pass\n");
        let play = stage.ask(request);
        assert_eq!(
            loaded(&play),
            [(0, "code-review".to_owned())],
            "{request} {:?}",
            play.lines()
        );
        let lines = play.lines();
        assert!(
            lines
                .iter()
                .any(|line| line == "bash git status --short && git diff"),
            "{request} {lines:?}"
        );
        assert!(
            lines.iter().any(|line| line == "read_file boil.py"),
            "{request} {lines:?}"
        );
        assert!(
            play.answer
                .contains("I reviewed boil.py, src/main.rs and src/pour.py."),
            "{request}\n{}",
            play.answer
        );
        assert!(
            play.answer.contains("- boil.py:3: a bare `except`"),
            "{}",
            play.answer
        );
        assert!(
            play.answer
                .contains("- src/main.rs:4: an open point is left"),
            "{}",
            play.answer
        );
        assert!(
            play.answer.contains("Not committed yet: boil.py."),
            "{}",
            play.answer
        );
    }
}

#[test]
fn what_another_skill_asks_for_is_told() {
    let play = stage().ask("Load the pdf skill and follow its instructions");
    assert_eq!(loaded(&play), [(0, "pdf".to_owned())]);
    assert!(
        play.answer.contains("1. Look at it.\n2. Do it."),
        "{}",
        play.answer
    );
}

#[test]
fn without_the_tool_skills_mean_nothing() {
    let play = Stage::new(&["bash", "read_file"])
        .with_system(SYSTEM)
        .ask("Load the code-review skill");
    assert!(play.calls.is_empty(), "{:?}", play.lines());
}
