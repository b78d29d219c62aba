//! Other words for the same: what a class types instead of the prompts on the page.

use crate::stage::{BASH, FILES, Stage};

/// A request, the calls with bash alone, the calls with the file tools (`=` when they are the same), and a part of the
/// answer.
const REQUESTS: &[(&str, &str, &str, &str)] = &[
    // Looking around.
    ("show me what's in here", "bash ls", "=", "4 entries"),
    ("list everything", "bash ls", "=", "README.md"),
    ("list the files, please", "bash ls", "=", "boil.py"),
    ("give me a list of all files", "bash ls", "=", "4 entries"),
    ("how many files are there", "bash ls", "=", "4 entries"),
    ("list files in src", "bash ls src", "=", "main.rs, pour.py"),
    (
        "what's in the src folder?",
        "bash ls src",
        "=",
        "main.rs, pour.py",
    ),
    (
        "find every .rs file",
        "bash find . -name '*.rs' -not -path '*/.*'",
        "glob **/*.rs",
        "1 Rust file: src/main.rs",
    ),
    (
        "how many Python files are there?",
        "bash find . -name '*.py' -not -path '*/.*'",
        "glob **/*.py",
        "2 Python files",
    ),
    (
        "show all .py files in src",
        "bash find src -name '*.py' -not -path '*/.*'",
        "glob src/**/*.py",
        "1 Python file: src/pour.py",
    ),
    (
        "list *.toml",
        "bash find . -name '*.toml' -not -path '*/.*'",
        "glob **/*.toml",
        "Cargo.toml",
    ),
    (
        "where is main.rs?",
        "bash find . -path '*/main.rs' -not -path '*/.git/*'",
        "glob **/main.rs",
        "src/main.rs",
    ),
    (
        "is there a Makefile?",
        "bash find . -path '*/Makefile' -not -path '*/.git/*'",
        "glob **/Makefile",
        "no files",
    ),
    // Reading.
    (
        "what does README.md say",
        "bash cat README.md",
        "read_file README.md",
        "# Tea timer",
    ),
    (
        "open the readme",
        "bash cat README.md",
        "read_file README.md",
        "# Tea timer",
    ),
    (
        "Show me the contents of Cargo.toml",
        "bash cat Cargo.toml",
        "read_file Cargo.toml",
        "tea_timer",
    ),
    (
        "what is this project about?",
        "bash cat README.md",
        "read_file README.md",
        "counts the minutes",
    ),
    (
        "Summarize README.md",
        "bash cat README.md",
        "read_file README.md",
        "Tea timer. A small program",
    ),
    (
        "show the first 2 lines of boil.py",
        "bash head -n 2 boil.py",
        "read_file boil.py",
        "print('boil')",
    ),
    (
        "how many lines has README.md",
        "bash wc -l README.md",
        "=",
        "README.md has 7 lines.",
    ),
    (
        "count the lines in README.md and Cargo.toml",
        "bash wc -l README.md | bash wc -l Cargo.toml",
        "=",
        "Cargo.toml has 5 lines.",
    ),
    (
        "read all python files",
        "bash find . -name '*.py' -not -path '*/.*' | bash cat src/pour.py | bash cat boil.py",
        "glob **/*.py | read_file boil.py | read_file src/pour.py",
        "boil.py: print('boil')",
    ),
    (
        "search for TODO in the code",
        "bash grep -rnI --exclude-dir='.?*' -e TODO .",
        "=",
        "one match for `TODO`",
    ),
    (
        "find \"cup of\" in README.md",
        "bash grep -rnI --exclude-dir='.?*' -e 'cup of' README.md",
        "=",
        "one match",
    ),
    (
        "which files contain lemon?",
        "bash grep -rnI --exclude-dir='.?*' -e lemon .",
        "=",
        "no match for `lemon`",
    ),
    // Writing.
    (
        "make hello.py which outputs hi",
        "bash printf '%s\\n' 'print(\"hi\")' > hello.py",
        "write_file hello.py",
        "I created hello.py.",
    ),
    (
        "write \"hello\" to greet.txt",
        "bash printf '%s\\n' hello > greet.txt",
        "write_file greet.txt",
        "I created greet.txt.",
    ),
    (
        "Put the text hello into a file called greet.txt",
        "bash printf '%s\\n' hello > greet.txt",
        "write_file greet.txt",
        "greet.txt",
    ),
    (
        "create a file called „a b.txt“ with the text „hallo“",
        "bash printf '%s\\n' hallo > 'a b.txt'",
        "write_file a b.txt",
        "I created a b.txt.",
    ),
    (
        "create notes/a.md with `# A`",
        "bash mkdir -p notes && printf '%s\\n' '# A' > notes/a.md",
        "write_file notes/a.md",
        "notes/a.md",
    ),
    (
        "create an empty file called empty.txt",
        "bash : > empty.txt",
        "write_file empty.txt",
        "an empty file",
    ),
    (
        "append \"more tea\" to README.md",
        "bash printf '%s\\n' 'more tea' >> README.md",
        "=",
        "I appended the text to README.md.",
    ),
    (
        "replace small with tiny in README.md",
        "bash sed 's/small/tiny/g' README.md > README.md.tmp && mv README.md.tmp README.md",
        "edit_file README.md",
        "I replaced `small` with `tiny` in README.md.",
    ),
    (
        "in README.md, change \"small\" to \"tiny\"",
        "bash sed 's/small/tiny/g' README.md > README.md.tmp && mv README.md.tmp README.md",
        "edit_file README.md",
        "I replaced `small` with `tiny` in README.md.",
    ),
    (
        "rename boil.py to heat.py",
        "bash mv boil.py heat.py",
        "=",
        "I renamed boil.py to heat.py.",
    ),
    (
        "copy boil.py to heat.py",
        "bash cp boil.py heat.py",
        "=",
        "I copied boil.py to heat.py.",
    ),
    (
        "create a directory docs",
        "bash mkdir -p docs",
        "=",
        "I created the directory docs.",
    ),
    (
        "delete boil.py",
        "bash rm boil.py",
        "=",
        "I deleted boil.py.",
    ),
    (
        "get rid of boil.py and src/pour.py",
        "bash rm boil.py | bash rm src/pour.py",
        "=",
        "I deleted src/pour.py.",
    ),
    // Git and the machine.
    (
        "which branch am I on",
        "bash git branch --show-current",
        "=",
        "The current git branch is main.",
    ),
    ("git status", "bash git status", "=", "On branch main"),
    (
        "what has changed?",
        "bash git status --short",
        "=",
        "Nothing has changed",
    ),
    (
        "show the last 3 commits",
        "bash git log --oneline -n 3",
        "=",
        "Brew the first cup",
    ),
    ("run `echo tea`", "bash echo tea", "=", "tea"),
    ("execute ls -a src", "bash ls -a src", "=", "pour.py"),
    ("echo hello", "bash echo hello", "=", "hello"),
    (
        "run sh -c 'exit 3' please",
        "bash sh -c 'exit 3'",
        "=",
        "exit code 3",
    ),
    (
        "print the working directory",
        "bash pwd",
        "=",
        "The working directory is /",
    ),
    ("what's the date", "bash date", "=", "It is "),
    (
        "what version of git do we have",
        "bash git --version",
        "=",
        "git version",
    ),
    // Several steps.
    (
        "create hello.sh that prints \"hi there\" and run it",
        "bash printf '%s\\n' 'echo \"hi there\"' > hello.sh | bash sh hello.sh",
        "write_file hello.sh | bash sh hello.sh",
        "hi there",
    ),
    (
        "1. create a.md with the text \"# A\" 2. read it 3. delete it",
        "bash printf '%s\\n' '# A' > a.md | bash cat a.md | bash rm a.md",
        "write_file a.md | read_file a.md | bash rm a.md",
        "a.md: # A",
    ),
    (
        "rename boil.py to heat.py; read it",
        "bash mv boil.py heat.py | bash cat heat.py",
        "bash mv boil.py heat.py | read_file heat.py",
        "print('boil')",
    ),
    (
        "read README.md, then Cargo.toml",
        "bash cat README.md | bash cat Cargo.toml",
        "read_file README.md | read_file Cargo.toml",
        "tea_timer",
    ),
    (
        "create a.txt with hi",
        "bash printf '%s\\n' hi > a.txt",
        "write_file a.txt",
        "I created a.txt.",
    ),
    ("cd src; ls", "bash cd src; ls", "=", "pour.py"),
    (
        "create a directory docs and a file docs/a.txt",
        "bash mkdir -p docs | bash mkdir -p docs && printf '%s\\n' 'This is a.txt.' > docs/a.txt",
        "bash mkdir -p docs | write_file docs/a.txt",
        "I created docs/a.txt.",
    ),
];

#[test]
fn other_words_lead_to_the_same_calls() {
    for (request, with_bash, with_files, answer) in REQUESTS {
        let with_files = if *with_files == "=" {
            with_bash
        } else {
            with_files
        };
        for (tools, calls) in [(BASH, with_bash), (FILES, with_files)] {
            let stage = Stage::new(tools);
            let mut stage = if calls.contains("git") {
                stage.with_git()
            } else {
                stage
            };
            let play = stage.ask(request);
            let mut made = play.lines();
            let mut expected: Vec<&str> = calls.split(" | ").collect();
            // `find` lists in the order of the directory.
            if request.contains("read all") {
                made.sort();
                expected.sort();
            }
            assert_eq!(made, expected, "{request}");
            assert!(
                play.answer.contains(answer),
                "{request}\nexpected {answer}\nanswered {}",
                play.answer
            );
        }
    }
}

#[test]
fn small_talk_is_answered_without_a_tool() {
    for (said, answer) in [
        ("Hello", "Hello!"),
        ("hi there", "Hello!"),
        ("Thanks!", "You are welcome."),
        ("who are you?", "I am the rehearsal model"),
        ("what can you do?", "Create a file called hello.py"),
        ("help", "List all Python files in this directory"),
        ("/help", "Create a file called hello.py"),
        ("?", "Create a file called hello.py"),
        ("what else can you do?", "read a file"),
        ("how do I quit?", "Ctrl-D leaves"),
        ("bye", "Goodbye."),
        (
            "what tools do you have?",
            "bash, read_file, write_file, edit_file and glob",
        ),
    ] {
        let play = Stage::new(FILES).ask(said);
        assert_eq!(play.lines(), Vec::<String>::new(), "{said}");
        assert!(play.answer.contains(answer), "{said}\n{}", play.answer);
    }
}

#[test]
fn what_it_cannot_rehearse_it_says_with_what_it_can() {
    for request in [
        "paint the wall blue",
        "What is 2+2?",
        "Explain Rust's borrow checker",
        "asdf",
    ] {
        let play = Stage::new(BASH).ask(request);
        assert!(play.lines().is_empty(), "{request}: {:?}", play.calls);
        assert!(
            play.answer.starts_with("I am only a rehearsal model"),
            "{}",
            play.answer
        );
        assert!(play.answer.contains("run a command"), "{}", play.answer);
    }
    let without_tools = Stage::new(&[]).ask("paint the wall blue").answer;
    assert!(
        without_tools.contains("I was given no tool"),
        "{without_tools}"
    );
}

#[test]
fn a_part_that_was_not_understood_is_named() {
    let answer = Stage::new(FILES)
        .ask("Create a.txt. Paint the wall blue.")
        .answer;
    assert_eq!(
        answer,
        "I created a.txt.\nI did not understand “Paint the wall blue”, so I left it out."
    );
}

#[test]
fn what_was_done_is_told_from_the_conversation() {
    let mut stage = Stage::new(FILES);
    assert_eq!(
        stage.ask("what did you just do?").answer,
        "I have not done anything yet."
    );
    stage.ask("create a.txt");
    stage.ask("thanks");
    assert_eq!(
        stage.ask("what did you just create?").answer,
        "I created a.txt."
    );
}

#[test]
fn it_refers_to_the_file_named_last() {
    let mut stage = Stage::new(BASH);
    stage.ask("create tea.txt with the text \"Earl Grey\"");
    assert_eq!(stage.ask("read it").lines(), ["bash cat tea.txt"]);
    stage.ask("thanks");
    assert_eq!(
        stage.ask("now delete the file").lines(),
        ["bash rm tea.txt"]
    );
    assert!(
        Stage::new(BASH)
            .ask("delete it")
            .answer
            .starts_with("Which file do you mean?")
    );
}

#[test]
fn an_offered_tool_is_called_by_its_name() {
    let mut stage = Stage::new(&["bash", "read_file"]);
    let play = stage.ask("call read_file with path=boil.py");
    assert_eq!(
        (play.lines(), play.answer.as_str()),
        (
            vec!["read_file boil.py".to_owned()],
            "read_file answered: print('boil')"
        )
    );
    let play = stage.ask("Use the bash tool with {\"command\": \"echo tea\"}");
    assert_eq!(
        (play.lines(), play.answer.as_str()),
        (vec!["bash echo tea".to_owned()], "bash answered: tea")
    );
    let play = stage.ask("Use bash to list the files");
    assert_eq!(play.lines(), ["bash ls"]);
}
