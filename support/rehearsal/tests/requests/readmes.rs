//! What the READMEs ask for, played on the stage: no lesson tells a class to type what is refused.
//!
//! A point of a README gives a request in backticks, or names the test that shows it, or stands in `readmes.txt` with the
//! requests that act it out, or with why there are none. An exercise names the file in which its tests are. Invariant: a point that is new to a README fails here until it is
//! one of these. That each prompt of *Try it* is typed into its chapter is the tidy check's affair.

use std::fs;
use std::path::Path;

use super::stage::Stage;

const SECTIONS: [&str; 4] =
    ["## Try it", "## Predict, then run", "## Exercises", "<summary>Speaker notes"];

/// The text without what stands between these two.
fn without(text: &str, open: &str, close: &str) -> String {
    text.split(open).map(|part| part.split_once(close).map_or(part, |(_, after)| after)).collect()
}

/// The points of the sections in which a class is told what to do; a recorded session and a folded answer tell nobody.
fn points(readme: &str) -> Vec<String> {
    let readme = without(readme, "<!-- session -->", "<!-- /session -->");
    let (mut points, mut is_in): (Vec<String>, bool) = (Vec::new(), false);
    for line in without(&readme, "  <details>", "  </details>").lines() {
        if line.starts_with("## ") || line.contains("<summary>") {
            is_in = SECTIONS.iter().any(|section| line.contains(section));
        } else if is_in
            && (line.starts_with("- ")
                || line.starts_with("Press ")
                || line.contains("](exercises/"))
        {
            points.push(line.trim_start_matches("- ").to_owned());
        } else if is_in && line.starts_with("  ") && !points.is_empty() {
            points.last_mut().unwrap().push_str(&format!(" {}", line.trim()));
        }
    }
    points
}

/// What stands between backticks and reads like a request: it begins with a capital and has more than one word.
fn requests(point: &str) -> Vec<String> {
    let is_double = point.contains("``");
    let mark = if is_double { "``" } else { "`" };
    let quoted = point.split(mark).skip(1).step_by(2).map(str::trim);
    let is_request = |text: &&str| {
        text.starts_with(char::is_uppercase) && text.contains(' ') && !text.contains("::")
    };
    quoted
        .filter(is_request)
        .filter(|text| !text.contains('=') && !text.starts_with("PATH"))
        .map(str::to_owned)
        .collect()
}

/// Plays requests of one conversation; the texts with which they were refused.
fn refused(requests: &[&str]) -> Vec<String> {
    let mut stage = Stage::new();
    let mut found = Vec::new();
    for request in requests {
        // A command of the terminal never reaches the model.
        let told = if request.starts_with('/') { String::new() } else { stage.asks(request) };
        let is_no = [
            "did not understand",
            "I have no tool",
            "says no time",
            "names nobody",
            "I know no",
            "so I did nothing",
        ];
        if is_no.iter().any(|no| told.contains(no)) {
            found.push(format!("{request}: {told}"));
        }
    }
    found
}

#[test]
fn every_point_of_the_readmes_is_acted_out_or_names_its_test() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let known: Vec<(&str, &str)> = include_str!("readmes.txt")
        .lines()
        .filter(|line| !line.starts_with('#') && !line.is_empty())
        .map(|line| line.split_once(" => ").expect("a line has an arrow"))
        .collect();
    let (mut open, mut used, mut count) = (Vec::new(), vec![false; known.len()], 0);
    let chapters = fs::read_dir(root).unwrap().map(|entry| entry.unwrap().path());
    let mut chapters: Vec<_> = chapters
        .filter(|path| path.file_name().unwrap().to_str().unwrap().starts_with('s'))
        .collect();
    chapters.retain(|path| path.join("README.md").exists() && path.join("src/main.rs").exists());
    assert_eq!(chapters.len(), 20, "{chapters:?}");
    for chapter in chapters {
        let name = chapter.file_name().unwrap().to_str().unwrap()[..3].to_owned();
        for point in points(&fs::read_to_string(chapter.join("README.md")).unwrap()) {
            count += 1;
            let line = known.iter().position(|(head, _)| {
                head.strip_prefix(&name).is_some_and(|head| point.starts_with(head.trim()))
            });
            if let Some(at) = line {
                used[at] = true;
                let played = known[at].1;
                if !played.starts_with('(') {
                    open.extend(refused(&played.split(" // ").collect::<Vec<_>>()));
                }
                continue;
            }
            let typed = requests(&point);
            let exercise = point.split_once("](").and_then(|(_, rest)| rest.split_once(')'));
            let is_exercise = exercise
                .is_some_and(|(file, _)| file.contains("/ex") && chapter.join(file).exists());
            if typed.is_empty()
                && !point.contains("(Test")
                && !point.starts_with("Ask:")
                && !is_exercise
            {
                open.push(format!("{name}: neither a request nor a test: {point}"));
            }
            open.extend(refused(&typed.iter().map(String::as_str).collect::<Vec<_>>()));
        }
    }
    let stale = known
        .iter()
        .zip(&used)
        .filter(|(_, used)| !**used)
        .map(|((head, _), _)| format!("in no README: {head}"));
    open.extend(stale);
    assert!(count > 260 && open.is_empty(), "{count} points\n{}", open.join("\n"));
}
