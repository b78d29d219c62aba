//! The rules of settings.json: what they cover, what they hit, and what an answer "always" makes.

use std::path::Path;

use s03_permission::Decision;
use s03_permission::rules::{Call, Rules};
use serde_json::{Value, json};

fn rules(settings: Value) -> Rules {
    let (rules, complaints) = Rules::parse(&settings, false);
    assert_eq!(complaints, [""; 0]);
    rules
}

fn bash(command: &str) -> Call<'_> {
    Call {
        tool: "bash",
        command: Some(command),
        path: None,
        root: Path::new("/srv/shop"),
    }
}

fn file<'a>(tool: &'a str, path: &'a str) -> Call<'a> {
    Call {
        tool,
        command: None,
        path: Some(Path::new(path)),
        root: Path::new("/srv/shop"),
    }
}

fn allow(rules: &[&str]) -> Rules {
    self::rules(json!({ "permissions": { "allow": rules } }))
}

fn deny(rules: &[&str]) -> Rules {
    self::rules(json!({ "permissions": { "deny": rules } }))
}

fn allows(rules: &Rules, call: Call) -> bool {
    matches!(rules.decide(&call), Some(Decision::Allow))
}

fn denies(rules: &Rules, call: Call) -> bool {
    matches!(rules.decide(&call), Some(Decision::Deny(_)))
}

#[test]
fn deny_comes_before_allow_and_allow_before_ask() {
    let rules = rules(json!({ "permissions": {
        "deny": ["Bash(git push:*)"],
        "allow": ["bash(git:*)"],
        "ask": ["bash(git commit:*)", "bash(make)"],
    }}));
    assert_eq!(
        rules.decide(&bash("git push")),
        Some(Decision::Deny(
            "the rule Bash(git push:*) forbids it".into()
        ))
    );
    assert_eq!(
        rules.decide(&bash("git commit -m x")),
        Some(Decision::Allow)
    );
    assert_eq!(
        rules.decide(&bash("make")),
        Some(Decision::Ask(
            "the rule bash(make) wants it to be asked".into()
        ))
    );
    assert_eq!(rules.decide(&bash("make all")), None);
}

#[test]
fn a_prefix_ends_at_a_word() {
    let rules = allow(&["bash(npm run test:*)"]);
    assert!(allows(&rules, bash("npm run test")));
    assert!(allows(&rules, bash("npm run test unit")));
    assert!(allows(&rules, bash("npm run 'test' \"unit\"")));
    assert!(!allows(&rules, bash("npm run tests")));
    assert!(!allows(&rules, bash("npm run 'test unit'")));
}

#[test]
fn an_exact_rule_covers_one_command_and_a_star_any_text() {
    let exact = allow(&["bash(make  \"all\")"]);
    assert!(allows(&exact, bash("make all")));
    assert!(!allows(&exact, bash("make all -j4")));
    let star = allow(&["bash(git * main)"]);
    assert!(allows(&star, bash("git merge main")));
    assert!(!allows(&star, bash("git merge main2")));
    let escaped = allow(&[r"bash(rm \*)"]);
    assert!(allows(&escaped, bash("rm *")));
    assert!(!allows(&escaped, bash("rm x")));
}

#[test]
fn an_allow_rule_must_cover_every_part() {
    let rules = allow(&["bash(cargo test:*)"]);
    for covered in [
        "cargo test",
        "cargo test -q | tail -5",
        "cd x && cargo test 2>&1",
    ] {
        assert!(allows(&rules, bash(covered)), "{covered}");
    }
    let not_covered = [
        "cargo test; rm x",
        "cargo test $(rm x)",
        "cargo test > out.txt",
        "PATH=. cargo test",
        "$cargo test",
        "cargo test | sh",
        "cargo test `",
        "timeout 60 cargo test",
        "cd x && cargo test && git status",
        "ls",
    ];
    for line in not_covered {
        assert!(!allows(&rules, bash(line)), "{line}");
    }
    assert!(allows(
        &allow(&["bash(make)", "bash(./run:*)"]),
        bash("make && ./run fast")
    ));
}

#[test]
fn a_deny_rule_hits_any_part_in_any_spelling() {
    let rules = deny(&["Bash(curl:*)", "bash(xargs:*)"]);
    let hit = [
        "curl x",
        "ls && c''url x",
        "echo $(curl x)",
        "/usr/bin/curl x",
        "timeout 5 curl x",
        "A=1 curl x > y",
    ];
    for line in hit.into_iter().chain([
        "ls | xargs cat",
        "bash -c 'curl x'",
        "find . -exec curl {} +",
        "curl x <> y",
    ]) {
        assert!(denies(&rules, bash(line)), "{line}");
    }
    for line in ["curly x", "echo curl", "grep -r curl ."] {
        assert!(!denies(&rules, bash(line)), "{line}");
    }
}

#[test]
fn a_rule_without_brackets_speaks_of_the_whole_tool() {
    assert!(allows(&allow(&["Bash"]), bash("rm x > y `")));
    assert!(denies(
        &deny(&["write_file"]),
        file("write_file", "/srv/shop/a")
    ));
    assert!(!denies(
        &deny(&["write_file"]),
        file("edit_file", "/srv/shop/a")
    ));
}

#[test]
fn file_patterns_read_like_a_gitignore() {
    let denied = deny(&[
        "read_file(./secrets/**)",
        "Edit(*.env)",
        "read_file(//etc/shadow)",
        "read_file(private)",
    ]);
    assert!(denies(
        &denied,
        file("read_file", "/srv/shop/secrets/a/key.pem")
    ));
    assert!(!denies(
        &denied,
        file("read_file", "/srv/shop/src/secrets/a")
    ));
    assert!(denies(
        &denied,
        file("edit_file", "/srv/shop/deep/prod.env")
    ));
    assert!(denies(&denied, file("write_file", "/srv/shop/prod.env")));
    assert!(denies(&denied, file("read_file", "/etc/shadow")));
    assert!(denies(
        &denied,
        file("read_file", "/srv/shop/src/private/x")
    ));
    assert!(!denies(&denied, file("read_file", "/elsewhere/private")));
    let allowed = allow(&["write_file(src/*.rs)"]);
    assert!(allows(
        &allowed,
        file("write_file", "/srv/shop/src/main.rs")
    ));
    assert!(!allows(
        &allowed,
        file("write_file", "/srv/shop/src/deep/main.rs")
    ));
    assert!(!allows(
        &allowed,
        file("read_file", "/srv/shop/src/main.rs")
    ));
}

/// On a disk such as macOS's, `Secrets/key` opens `secrets/key`.
#[test]
fn a_deny_rule_minds_case_only_where_the_disk_does() {
    let settings = json!({ "permissions": {
        "deny": ["read_file(secrets/**)"], "allow": ["write_file(src/**)"],
    }});
    let secret = || file("read_file", "/srv/shop/Secrets/KEY");
    let (any_case, _) = Rules::parse(&settings, true);
    assert!(denies(&any_case, secret()));
    assert!(!allows(&any_case, file("write_file", "/srv/shop/SRC/a")));
    assert!(!denies(&rules(settings), secret()));
}

#[test]
fn a_server_of_tools_is_named_by_its_prefix() {
    let call = |tool| Call {
        tool,
        command: None,
        path: None,
        root: Path::new("/srv/shop"),
    };
    for rule in ["mcp__docs", "mcp__docs__*", "mcp__docs__search"] {
        assert!(denies(&deny(&[rule]), call("mcp__docs__search")), "{rule}");
        assert!(
            !denies(&deny(&[rule]), call("mcp__docs2__search")),
            "{rule}"
        );
    }
}

#[test]
fn a_rule_that_cannot_be_read_is_told_and_the_others_stay() {
    let (rules, complaints) = Rules::parse(
        &json!({ "permissions": {
            "deny": ["bash(curl:*", "bash(rm:*)", 7, "read_file(a[)", "mcp__docs__x(y)", "glob(secrets/**)"],
            "allow": ["bash(A=1 make:*)", "bash(ls > x:*)"],
            "ask": "bash",
        }}),
        false,
    );
    assert!(denies(&rules, bash("rm x")));
    let expected = [
        "the deny rule \"bash(curl:*\" is left out: its closing bracket is missing",
        "the deny rule 7 is left out: a rule is a text such as \"bash(ls:*)\"",
        "the deny rule \"read_file(a[)\" is left out: its pattern cannot be read (unclosed character class; missing ']')",
        "the deny rule \"mcp__docs__x(y)\" is left out: only bash, connect_mcp, read_file, write_file, edit_file take a pattern in brackets",
        "the deny rule \"glob(secrets/**)\" is left out: only bash, connect_mcp, read_file, write_file, edit_file take a pattern in brackets",
        "the allow rule \"bash(A=1 make:*)\" is left out: a rule with `*` is about one command of plain words, without redirects",
        "the allow rule \"bash(ls > x:*)\" is left out: a rule with `*` is about one command of plain words, without redirects",
        "permissions.ask in the settings is no list of rules; it is left out",
    ];
    assert_eq!(complaints, expected);
    assert!(Rules::parse(&Value::Null, false).1.is_empty());
}

#[test]
fn always_covers_a_subcommand_or_exactly_this_line() {
    let cases = [
        (
            "cargo build --release",
            "bash(cargo build:*)",
            Some("cargo build"),
            "cargo run",
        ),
        (
            "cd x && git commit -m a | cat",
            "bash(git commit:*)",
            Some("git commit -m b"),
            "git push",
        ),
        (
            "npm run lint",
            "bash(npm run lint:*)",
            Some("npm run lint --fix"),
            "npm run build",
        ),
        (
            "rm -rf ./build",
            "bash(rm -rf ./build)",
            None,
            "rm -rf ./build x",
        ),
        ("rm *.o", r"bash(rm \*.o)", None, "rm a.o"),
        (
            "echo hi > out.txt",
            "bash(echo hi > out.txt)",
            None,
            "echo hi > out2.txt",
        ),
        (
            "cargo build && ./run",
            "bash(cargo build && ./run)",
            None,
            "./run",
        ),
        ("rm x <> y", "bash(rm x <> y)", None, "rm x"),
    ];
    for (line, shown, also, not) in cases {
        let mut rules = Rules::default();
        let rule = rules.session_rule(&bash(line)).unwrap();
        assert_eq!(rule, shown);
        rules.allow_for_session(&rule);
        assert!(allows(&rules, bash(line)), "{line}");
        assert!(also.is_none_or(|also| allows(&rules, bash(also))), "{line}");
        assert!(!allows(&rules, bash(not)), "{line} lets {not} through");
    }
}

#[test]
fn always_covers_a_directory_of_files() {
    let cases = [
        (
            "/srv/shop/src/main.rs",
            "write_file(/src/**)",
            "/srv/shop/src/deep/x",
            "/srv/shop/docs/x",
        ),
        (
            "/srv/shop/a.txt",
            "write_file(/**)",
            "/srv/shop/b.txt",
            "/srv/other/b.txt",
        ),
        (
            "/tmp/out[1]/a",
            "write_file(//tmp/out[[]1[]]/**)",
            "/tmp/out[1]/b",
            "/tmp/out1/b",
        ),
    ];
    for (path, shown, also, not) in cases {
        let mut rules = Rules::default();
        let rule = rules.session_rule(&file("write_file", path)).unwrap();
        assert_eq!(rule, shown);
        rules.allow_for_session(&rule);
        assert!(allows(&rules, file("write_file", path)));
        assert!(allows(&rules, file("write_file", also)));
        assert!(!allows(&rules, file("write_file", not)));
        assert!(!allows(&rules, file("edit_file", path)));
    }
}
