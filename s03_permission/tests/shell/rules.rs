//! The rules of settings.json: what they cover, what they hit, and what an answer "always" makes.

use std::path::Path;

use s03_permission::Decision;
use s03_permission::rules::{Call, Rules};
use s03_permission::shell::Line;
use serde_json::{Value, json};

const TABLE: &str = include_str!("rules.txt");

/// What becomes of a call: a line of bash, or the tool and its file.
fn decide(rules: &Rules, call: &str) -> (Decision, Option<String>) {
    let (tool, path) = call.split_once(' ').unwrap_or((call, ""));
    let is_bash = !tool.contains("_file") && !tool.starts_with("mcp__");
    let call = Call {
        tool: if is_bash { "bash" } else { tool },
        line: is_bash.then(|| Line::parse(call)),
        path: Some(Path::new(path)).filter(|_| !is_bash),
        root: Path::new("/srv/shop"),
    };
    rules.decide(&call, Decision::Allow)
}

#[test]
fn what_becomes_of_a_call_under_rules() {
    for section in TABLE.split("== ").skip(1) {
        let mut lines = section.lines().filter(|line| !line.is_empty());
        let heading = lines.next().unwrap();
        let mut permissions = json!({ "deny": [], "allow": [], "ask": [] });
        for rule in heading.split(" ; ") {
            let (list, rule) = rule.split_once(' ').unwrap();
            permissions[list].as_array_mut().unwrap().push(rule.into());
        }
        let (rules, complaints) = Rules::parse(&json!({ "permissions": permissions }));
        assert_eq!(complaints, [""; 0], "{heading}");
        for line in lines {
            let (expected, call) = line.split_once(": ").unwrap();
            let decided = match decide(&rules, call).0 {
                Decision::Allow => "allowed",
                Decision::Ask(_) => "asked",
                Decision::Deny(_) => "denied",
            };
            assert_eq!(decided, expected, "{call} under {heading}");
        }
    }
}

#[test]
fn a_rule_that_cannot_be_read_is_told_and_the_others_stay() {
    let long = format!("bash({})", "x".repeat(500_000));
    let (rules, complaints) = Rules::parse(&json!({ "permissions": {
        "deny": ["bash(curl:*", "bash(rm:*)", 7, "read_file(a[)", "mcp__docs__x(y)", "glob(secrets/**)"],
        "allow": ["bash(A=1 make:*)", "bash(ls > x:*)", long],
        "ask": "bash",
    }}));
    assert!(matches!(decide(&rules, "rm x").0, Decision::Deny(_)));
    let only =
        "only bash, connect_mcp, read_file, write_file, edit_file take a pattern in brackets";
    let plain = "a rule with `*` is about one command of plain words, without redirects";
    let expected = [
        format!("the allow rule \"bash(A=1 make:*)\" is ignored: {plain}"),
        format!("the allow rule \"bash(ls > x:*)\" is ignored: {plain}"),
        format!("the allow rule \"{long}\" is ignored: it is too long"),
        "permissions.ask in the settings is not a list of rules and is ignored".to_owned(),
        "the deny rule \"bash(curl:*\" is ignored: its closing bracket is missing".to_owned(),
        "the deny rule 7 is ignored: a rule begins with the name of a tool, such as \"bash(ls:*)\"".to_owned(),
        "the deny rule \"read_file(a[)\" is ignored: its pattern cannot be read (error parsing glob 'a[': unclosed character class; missing ']')".to_owned(),
        format!("the deny rule \"mcp__docs__x(y)\" is ignored: {only}"),
        format!("the deny rule \"glob(secrets/**)\" is ignored: {only}"),
    ];
    assert!(complaints == expected, "{complaints:.200?}");
    assert!(Rules::parse(&Value::Null).1.is_empty());
}

#[test]
fn always_covers_a_subcommand_or_exactly_this_line() {
    #[rustfmt::skip]
    let cases = [
        ("cargo build --release", "bash(cargo build:*)", "cargo build", "cargo run"),
        ("cd x && git commit -m a | cat", "bash(git commit:*)", "git commit -m b", "git push"),
        ("npm run lint", "bash(npm run lint)", "npm run 'lint'", "npm run lint --fix"),
        ("rm -rf ./build", "bash(rm -rf ./build)", "rm -rf  ./build", "rm -rf ./build x"),
        ("rm *.o", r"bash(rm \*.o)", "rm *.o", "rm a.o"),
        ("echo hi > out.txt", "bash(echo hi > out.txt)", "echo 'hi' >out.txt", "echo hi > out2.txt"),
        ("cargo build && ./run", "bash(cargo build && ./run)", "cargo build && ./run", "./run"),
        ("rm x <> y", "bash(rm x <> y)", "rm x <> y", "rm x"),
    ];
    for (line, shown, also, not) in cases {
        let mut rules = Rules::default();
        let rule = decide(&rules, line).1.unwrap();
        assert_eq!(rule, shown);
        rules.allow_for_session(&rule);
        assert_eq!(decide(&rules, line).0, Decision::Allow, "{line}");
        assert_eq!(decide(&rules, also).0, Decision::Allow, "{line}");
        let other = decide(&rules, not).0;
        assert!(matches!(other, Decision::Ask(_)), "{line} lets {not} through");
    }
}
