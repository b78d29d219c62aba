//! The work itself: small tasks to put on a board, and the files that do them.
//!
//! Invariant: what is made is small, whole, and says what it is.

use crate::model::rehearsal::table::Filling;
use crate::model::rehearsal::tokens::tokenize;
use crate::model::rehearsal::{pattern, words};

/// The prompt of a teammate that takes its work from the board.
pub const BOARD: &str = "Look at the board with list_tasks. Claim a task that is free with claim_task, do it, and complete it with complete_task.";

/// The prompt of a teammate without a job.
pub const READY: &str = "Say that you are ready. Your work comes by mail.";

/// What is said to a teammate that shall plan first.
pub const PLAN_FIRST: &str =
    "Before you change anything, submit a plan with submit_plan and wait for the answer.";

/// The prompt of a teammate that is given a task.
pub fn given(id: &str, subject: &str, in_worktree: bool, job: &str) -> String {
    let place = match in_worktree {
        true => "\nYou work in the worktree of this task: use relative paths.",
        false => "",
    };
    let job = if job.is_empty() {
        String::new()
    } else {
        format!("\n{job}.")
    };
    format!("Your task is {id}: {subject}{job}{place}")
}

/// Tasks for which the user gave only a number.
pub fn small_tasks(text: &str) -> Vec<Filling> {
    let tokens = tokenize(text);
    let number = tokens.iter().find_map(pattern::number);
    let count = number.and_then(|number| number.parse().ok()).unwrap_or(2);
    let subjects = [
        "write notes/tools.md",
        "write notes/hooks.md",
        "write notes/memory.md",
        "write notes/tasks.md",
        "write notes/mail.md",
        "write notes/plans.md",
        "write notes/worktrees.md",
        "write notes/teams.md",
    ];
    let chosen = subjects.iter().take(count);
    chosen
        .map(|subject| {
            vec![
                ("subject", subject.to_string()),
                ("blockers", String::new()),
            ]
        })
        .collect()
}

/// What the notes of the small tasks say.
const NOTES: &[(&str, &str)] = &[
    (
        "tools",
        "A tool is a name, an input schema and a function that runs when the model asks.",
    ),
    (
        "hooks",
        "A hook sees a call before or after it runs, and may stop it.",
    ),
    (
        "memory",
        "A memory is a small file that outlives the session.",
    ),
    (
        "tasks",
        "A task on the board has a status, an owner and the tasks that block it.",
    ),
    (
        "mail",
        "Agents write to each other. A letter wakes its reader.",
    ),
    ("plans", "A plan that waits for its answer stops all work."),
    (
        "worktrees",
        "A worktree is a directory and a branch of its own for one task.",
    ),
    (
        "teams",
        "A team shares one board; each member claims what is free.",
    ),
];

/// A request for the file that does this work: `write tests` is a small test file.
pub fn request(subject: &str) -> String {
    let subject = subject.trim().trim_end_matches('.');
    let tokens = tokenize(subject);
    let path = tokens
        .iter()
        .find(|token| pattern::is_path(token) && !token.is_any(words::NO_PATHS));
    let path = path.map_or_else(
        || place(subject),
        |token| pattern::named_file(token).to_owned(),
    );
    let content = content(&path, subject);
    format!("Create {path} with this content:\n```\n{content}```")
}

/// Where work goes that names no file.
fn place(subject: &str) -> String {
    let lower = subject.to_lowercase();
    let has = |words: &[&str]| words.iter().any(|word| lower.contains(word));
    let slug = slug(subject).replace('-', "_");
    if has(&["test"]) {
        format!(
            "tests/test_{}.py",
            slug.trim_start_matches("test_")
                .trim_start_matches("tests_")
        )
    } else if has(&["schema", "database", "table"]) {
        "schema.sql".to_owned()
    } else if has(&["endpoint", "api", "server", "route"]) {
        "api.py".to_owned()
    } else if has(&[
        "script",
        "function",
        "module",
        "helper",
        "python",
        "implement",
    ]) {
        format!("{slug}.py")
    } else {
        format!("docs/{}.md", slug.replace('_', "-"))
    }
}

/// The text of a small file at this path.
fn content(path: &str, subject: &str) -> String {
    let name = path.rsplit('/').next().unwrap_or(path);
    let (stem, ext) = name.rsplit_once('.').unwrap_or((name, ""));
    let title = stem.replace(['_', '-'], " ");
    match ext {
        "sql" => schema(subject),
        "py" if stem.starts_with("test") => format!(
            "\"\"\"A first test: {subject}.\"\"\"\n\nimport unittest\n\n\nclass FirstTest(unittest.TestCase):\n    def test_adds(self) -> None:\n        self.assertEqual(1 + 1, 2)\n\n\nif __name__ == \"__main__\":\n    unittest.main()\n"
        ),
        "py" => format!(
            "\"\"\"A first version: {subject}.\"\"\"\n\n\ndef main() -> None:\n    print(\"{title}\")\n\n\nif __name__ == \"__main__\":\n    main()\n"
        ),
        _ => {
            let note = NOTES.iter().find(|(about, _)| *about == stem);
            let line = note.map_or_else(
                || format!("A first version of: {subject}."),
                |(_, line)| line.to_string(),
            );
            format!("# {title}\n\n{line}\n")
        }
    }
}

/// Whether a text asks for a table more and says not where: `also add an orders table`.
pub fn adds_table(text: &str) -> bool {
    let tokens = tokenize(text);
    let mut said = tokens
        .iter()
        .filter(|token| !token.is_filler() && !token.is("then"));
    said.next()
        .is_some_and(|verb| verb.is_any(&["add", "create", "put", "define"]))
        && tokens
            .iter()
            .any(|token| token.is_any(&["table", "tables"]))
        && !tokens.iter().any(pattern::is_path)
}

/// A request for the tables that a text names, behind those of this file.
pub fn more_tables(path: &str, text: &str) -> String {
    format!("Append to {path} this text:\n```\n\n{}```", schema(text))
}

/// The tables that a text names, each with a few columns: `a users table`.
pub fn schema(about: &str) -> String {
    let lower = about.to_lowercase();
    let words: Vec<&str> = lower
        .split(|c: char| !c.is_alphanumeric() && c != '_')
        .filter(|word| !word.is_empty())
        .collect();
    let small = [
        "a", "an", "the", "with", "and", "one", "two", "database", "new",
    ];
    let mut tables: Vec<&str> = Vec::new();
    for pair in words.windows(2) {
        if pair[1].starts_with("table") && !small.contains(&pair[0]) {
            tables.push(pair[0]);
        }
    }
    for triple in words.windows(3) {
        if triple[0].starts_with("table") && ["called", "named", "for"].contains(&triple[1]) {
            tables.push(triple[2]);
        }
    }
    if tables.is_empty() {
        tables.push("items");
    }
    let table = |name: &&str| {
        let columns = match *name {
            "users" | "user" => {
                "    id INTEGER PRIMARY KEY,\n    name TEXT NOT NULL,\n    email TEXT NOT NULL UNIQUE,\n    created_at TEXT NOT NULL DEFAULT CURRENT_TIMESTAMP"
            }
            _ => {
                "    id INTEGER PRIMARY KEY,\n    name TEXT NOT NULL,\n    created_at TEXT NOT NULL DEFAULT CURRENT_TIMESTAMP"
            }
        };
        format!("CREATE TABLE {name} (\n{columns}\n);\n")
    };
    tables.iter().map(table).collect::<Vec<_>>().join("\n")
}

/// A few words as a name: `write notes/tea.md` is `notes-tea`.
pub fn slug(text: &str) -> String {
    let lower = text.to_lowercase();
    let words = lower
        .split(|c: char| !c.is_ascii_alphanumeric())
        .filter(|word| {
            !word.is_empty()
                && !["write", "create", "the", "a", "an", "md", "py", "to", "for"].contains(word)
        });
    let slug = words.take(3).collect::<Vec<_>>().join("-");
    let slug: String = slug.chars().take(30).collect();
    if slug.is_empty() {
        "work".to_owned()
    } else {
        slug
    }
}
