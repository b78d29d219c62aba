//! Skills through the public handle: three places, broken files, and a folder that changes.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;

use kit::write_whole;
use s01_loop::{Output, Repl, ToolCall};
use s02_tools::Workspace;
use s07_skills::Skills;
use serde_json::{Map, json};
use tempfile::TempDir;

/// A workspace and a home beside it.
struct Place {
    root: TempDir,
}

impl Place {
    fn new() -> Self {
        let root = tempfile::tempdir().unwrap();
        for name in ["ws", "home"] {
            fs::create_dir(root.path().join(name)).unwrap();
        }
        Self { root }
    }

    fn with(self, path: &str, text: impl AsRef<[u8]>) -> Self {
        write(self.root.path(), path, text);
        self
    }

    fn ws(&self) -> Workspace {
        Workspace::at(self.root.path().join("ws")).unwrap()
    }

    fn open(&self) -> Skills {
        let home = self.root.path().join("home");
        Skills::with_home(&self.ws(), Some(&home), &Repl::typed("s07_skills").quiet())
    }
}

fn write(root: &Path, path: &str, text: impl AsRef<[u8]>) {
    let path = root.join(path);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

fn skill(name: &str, description: &str) -> String {
    format!("---\nname: {name}\ndescription: {description}\n---\n\nThe body of {description}.\n")
}

/// The names in the catalogue, without the shipped ones.
fn names(skills: &Skills) -> Vec<String> {
    let shipped = ["agent-builder", "code-review", "mcp-builder", "pdf"];
    skills
        .catalogue()
        .lines()
        .filter_map(|line| line.strip_prefix("- ")?.split_once(": "))
        .map(|(name, _)| name.to_owned())
        .filter(|name| !shipped.contains(&name.as_str()))
        .collect()
}

async fn load(skills: &Skills, name: &str) -> Output {
    let call = ToolCall {
        id: "toolu_1".into(),
        name: "load_skill".into(),
        input: json!({ "name": name }),
        extra: Map::new(),
    };
    skills.tool().call(call).await
}

#[test]
fn four_skills_are_shipped_and_described() {
    let place = Place::new();
    let catalogue = place.open().catalogue();
    let lines: Vec<&str> = catalogue.lines().collect();
    assert_eq!(lines[0], "# Skills");
    assert!(lines[1].contains("call load_skill"), "{catalogue}");
    let named = [
        "- agent-builder: ",
        "- code-review: ",
        "- mcp-builder: ",
        "- pdf: ",
    ];
    assert_eq!(lines.len(), 2 + named.len());
    for (line, start) in lines[2..].iter().zip(named) {
        assert!(
            line.starts_with(start) && line.len() > start.len() + 40,
            "{line}"
        );
    }
}

#[test]
fn looking_creates_no_folder() {
    let place = Place::new();
    place.open().catalogue();
    for name in ["ws", "home"] {
        let entries = fs::read_dir(place.root.path().join(name)).unwrap();
        assert_eq!(entries.count(), 0, "{name}");
    }
}

#[tokio::test]
async fn the_project_wins_over_the_user_and_the_user_over_the_shipped() {
    let place = Place::new()
        .with("ws/skills/pdf/SKILL.md", skill("pdf", "the project"))
        .with(
            "home/.harness/skills/pdf/SKILL.md",
            skill("pdf", "the user"),
        )
        .with(
            "home/.harness/skills/mail/SKILL.md",
            skill("mail", "the user"),
        )
        .with(
            "home/.harness/skills/x/SKILL.md",
            skill("code-review", "the user"),
        );
    let skills = place.open();
    let catalogue = skills.catalogue();
    assert!(catalogue.ends_with("\n- pdf: the project"), "{catalogue}");
    assert!(
        catalogue.contains("- code-review: the user\n"),
        "{catalogue}"
    );
    assert_eq!(names(&skills), ["mail"]);
    let pdf = "<skill name=\"pdf\" folder=\"skills/pdf\">\nThe body of the project.\n</skill>";
    assert_eq!(load(&skills, "pdf").await, Output::ok(pdf));
    let mail = load(&skills, "mail").await.text;
    let folder = place.root.path().join("home/.harness/skills/mail");
    let head = format!("<skill name=\"mail\" folder=\"{}\">", folder.display());
    assert!(mail.starts_with(&head), "{mail}");
    let shipped = load(&skills, "mcp-builder").await.text;
    assert!(
        shipped.starts_with("<skill name=\"mcp-builder\">\n"),
        "{shipped}"
    );
}

#[tokio::test]
async fn an_unknown_name_is_an_error_that_lists_the_names() {
    let output = load(&Place::new().open(), "code_review").await;
    assert_eq!(
        output,
        Output::error(
            "there is no skill `code_review`; the skills are agent-builder, code-review, mcp-builder, pdf"
        )
    );
}

#[test]
fn a_broken_skill_never_breaks_the_others() {
    let place = Place::new()
        .with("ws/skills/a-good/SKILL.md", skill("a-good", "x"))
        .with("ws/skills/b/SKILL.md", "# No front matter\n")
        .with(
            "ws/skills/c/SKILL.md",
            "---\nname: c\ndescription: a: b\n---\n",
        )
        .with("ws/skills/d/SKILL.md", "---\nname: d\n---\n")
        .with("ws/skills/e/SKILL.md", skill("E", "x"))
        .with(
            "ws/skills/f/SKILL.md",
            b"---\nname: f\ndescription: \xff\n---\n",
        )
        .with("ws/skills/g/SKILL.md/in-the-way", "")
        .with("ws/skills/h/SKILL.md", skill("a-good", "another"))
        .with("ws/skills/i/notes.md", "no skill at all")
        .with("ws/skills/j", "no folder at all")
        .with("ws/skills/z-good/SKILL.md", skill("z-good", "x"));
    symlink("nowhere", place.root.path().join("ws/skills/link")).unwrap();
    fs::create_dir(place.root.path().join("ws/skills/k")).unwrap();
    symlink("nowhere", place.root.path().join("ws/skills/k/SKILL.md")).unwrap();
    assert_eq!(names(&place.open()), ["a-good", "z-good"]);
}

#[test]
fn a_folder_that_cannot_be_read_leaves_the_shipped_skills() {
    let place = Place::new().with("ws/skills/a/SKILL.md", skill("a", "x"));
    let folder = place.root.path().join("ws/skills");
    fs::set_permissions(&folder, fs::Permissions::from_mode(0o000)).unwrap();
    assert!(place.open().catalogue().contains("- pdf: "));
    fs::set_permissions(&folder, fs::Permissions::from_mode(0o755)).unwrap();
}

#[tokio::test]
async fn a_folder_that_changes_is_looked_at_again() {
    let place = Place::new();
    let skills = place.open();
    let root = place.root.path();
    assert_eq!(names(&skills), [""; 0]);
    write(root, "ws/skills/one/SKILL.md", skill("one", "first"));
    assert_eq!(names(&skills), ["one"]);
    // As long as before, and within the same tick of the clock.
    let file = root.join("ws/skills/one/SKILL.md");
    write_whole(&file, skill("one", "fresh").as_bytes()).unwrap();
    assert!(
        load(&skills, "one")
            .await
            .text
            .contains("The body of fresh.")
    );
    write(root, "ws/skills/one/SKILL.md", skill("two", "later"));
    assert_eq!(names(&skills), ["two"]);
    fs::remove_dir_all(root.join("ws/skills")).unwrap();
    assert_eq!(names(&skills), [""; 0]);
}

#[test]
fn a_hundred_clones_on_threads_see_one_catalogue() {
    let place = Place::new().with("ws/skills/one/SKILL.md", skill("one", "x"));
    let skills = place.open();
    let expected = skills.catalogue();
    std::thread::scope(|scope| {
        for _ in 0..100 {
            scope.spawn(|| assert_eq!(skills.clone().catalogue(), expected));
        }
    });
}
