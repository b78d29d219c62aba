//! Skills through the public handle: three places, broken files, and a folder that changes.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};

use kit::write_whole;
use s01_loop::Output;
use serde_json::json;

use crate::place::{Place, skill, write};

const SHIPPED: [&str; 4] = ["agent-builder", "code-review", "mcp-builder", "pdf"];

/// The lines of the catalogue, without the shipped ones.
fn listed(place: &Place) -> Vec<String> {
    let catalogue = place.skills.catalogue();
    let lines = catalogue.lines().filter_map(|line| line.strip_prefix("- "));
    let is_shipped = |line: &str| SHIPPED.iter().any(|name| line.starts_with(name));
    let lines = lines.filter(|line| !is_shipped(line)).map(str::to_owned);
    lines.collect()
}

async fn load(place: &Place, name: &str) -> Output {
    place.load(json!({ "name": name })).await
}

#[tokio::test]
async fn four_skills_are_shipped_and_looking_makes_no_folder() {
    let place = Place::with::<&str>(&[]);
    let catalogue = place.skills.catalogue();
    let lines: Vec<&str> = catalogue.lines().collect();
    assert_eq!((lines[0], lines.len()), ("# Skills", 6));
    for (line, name) in lines[2..].iter().zip(SHIPPED) {
        let is_described = line.starts_with(&format!("- {name}: ")) && line.len() > 50;
        assert!(is_described, "{line}");
    }
    assert_eq!(fs::read_dir(place.path("ws")).unwrap().count(), 0);
    assert!(!place.path("home").exists());
    assert_eq!(
        load(&place, "code_review").await,
        Output::error(
            "there is no skill `code_review`; the skills are agent-builder, code-review, mcp-builder, pdf"
        )
    );
}

#[tokio::test]
async fn the_project_wins_over_the_user_and_the_user_over_the_shipped() {
    let place = Place::with(&[
        ("ws/skills/pdf/SKILL.md", skill("pdf", "The project's.")),
        ("home/.harness/skills/pdf/SKILL.md", skill("pdf", "Mine.")),
        ("home/.harness/skills/mail/SKILL.md", skill("mail", "Mine.")),
        ("home/.harness/skills/x/SKILL.md", skill("code-review", "Mine.")),
    ]);
    assert_eq!(listed(&place), ["mail: Use it for mail."]);
    let home = place.path("home/.harness/skills");
    let home = home.display();
    for (name, start) in [
        ("pdf", "<skill name=\"pdf\" folder=\"skills/pdf\">\nThe project's.\n</skill>".to_owned()),
        ("mail", format!("<skill name=\"mail\" folder=\"{home}/mail\">\nMine.")),
        ("code-review", format!("<skill name=\"code-review\" folder=\"{home}/x\">\nMine.")),
        ("mcp-builder", "<skill name=\"mcp-builder\">\n".to_owned()),
    ] {
        let loaded = load(&place, name).await.text;
        assert!(loaded.starts_with(&start), "{loaded}");
    }
}

#[test]
fn a_broken_skill_never_breaks_the_others() {
    let place = Place::with(&[
        ("ws/skills/a-good/SKILL.md", skill("a-good", "x")),
        ("ws/skills/g/SKILL.md/in-the-way", String::new()),
        ("ws/skills/h/SKILL.md", skill("a-good", "another")),
        ("ws/skills/i/notes.md", "no skill at all".to_owned()),
        ("ws/skills/j", "no folder at all".to_owned()),
        ("ws/skills/large/SKILL.md", "x".repeat(2_000_000)),
        ("ws/skills/z-good/SKILL.md", skill("z-good", "x")),
    ]);
    let folder = place.path("ws/skills");
    symlink("nowhere", folder.join("link")).unwrap();
    fs::create_dir(folder.join("k")).unwrap();
    symlink("nowhere", folder.join("k/SKILL.md")).unwrap();
    let good = ["a-good: Use it for a-good.", "z-good: Use it for z-good."];
    assert_eq!(listed(&place), good);
    fs::set_permissions(&folder, fs::Permissions::from_mode(0o000)).unwrap();
    assert!(place.skills.catalogue().contains("- pdf: "));
    fs::set_permissions(&folder, fs::Permissions::from_mode(0o755)).unwrap();
}

#[tokio::test]
async fn a_folder_that_changes_is_looked_at_again() {
    let place = Place::with::<&str>(&[]);
    let file = place.path("ws/skills/one/SKILL.md");
    write(&file, skill("one", "First."));
    assert_eq!(listed(&place), ["one: Use it for one."]);
    // As long as before, and within the same tick of the clock.
    write_whole(&file, skill("one", "Fresh.").as_bytes()).unwrap();
    assert!(load(&place, "one").await.text.contains("Fresh."));
    write(&file, skill("two", "Later."));
    assert_eq!(listed(&place), ["two: Use it for two."]);
    fs::remove_dir_all(place.path("ws/skills")).unwrap();
    assert_eq!(listed(&place), [""; 0]);
}
