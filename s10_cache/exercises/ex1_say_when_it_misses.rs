//! Exercise 1 · say when it misses (10 minutes).
//!
//! A broken cache is seen on the bill only. Let `cache_report` say so: below its line stands a second one,
//! `[cache missed: 23 % of the input of 3 requests was read]`, when a turn took three requests or more and less than half
//! of its input was read from the API's cache. Shorter turns have nothing to read it from and are left in peace. Input is
//! all that was sent: read, written and fresh; the percentage is rounded down.
//!
//! Hint: `History` knows what a turn has cost, and which messages belong to it.
//!
//! Hint: each request of a turn has left one message of the model behind.

use mock_servers::model::{Reply, calls, says};
use serde_json::json;
use testkit::Ran;

use super::{class, lead};

/// Writes a skill with a long description: all that stands behind it in the next prompt is new.
fn new_skill(name: &str) -> Reply {
    let about = "what it is good for and what it is not ".repeat(6);
    let skill = format!("---\nname: {name}\ndescription: {about}\n---\nDo it.\n");
    calls("write_file", json!({"path": format!("skills/{name}/SKILL.md"), "content": skill}))
}

/// The lines about missed caches, each with the report above it.
fn misses(ran: &Ran) -> Vec<(String, String)> {
    let lines: Vec<&str> = ran.stdout.lines().collect();
    let pairs = lines.windows(2);
    pairs
        .filter(|pair| pair[1].starts_with("[cache missed: "))
        .map(|pair| (pair[0].to_owned(), pair[1].to_owned()))
        .collect()
}

/// The share, in percent, that a report says was read.
fn share(report: &str) -> u64 {
    let numbers = report.split(" · ").map(|part| {
        let digits: String = part.chars().filter(char::is_ascii_digit).collect();
        digits.parse::<u64>().expect("a report has three numbers")
    });
    let numbers: Vec<u64> = numbers.collect();
    100 * numbers[0] / numbers.iter().sum::<u64>()
}

#[test]
#[ignore = "exercise 1"]
fn a_turn_that_reads_little_is_reported() {
    let skills = [new_skill("tea"), new_skill("coffee")];
    let replies = [says("Hi.")].into_iter().chain(skills).chain([says("Written.")]);
    let model = lead(replies);
    let ran = class().model(&model).types(&["Hello", "write two skills"]);
    ran.succeeds();
    let [(report, missed)] = &misses(&ran)[..] else {
        panic!(
            "the second turn took three requests, and in two of them the skills had changed, so little was read from the \
             cache: a line that begins with `[cache missed: ` was to stand below its report, and nowhere else\n{}",
            ran.transcript()
        );
    };
    let percent = share(report);
    assert_eq!(
        *missed,
        format!("[cache missed: {percent} % of the input of 3 requests was read]"),
        "the report above it says {report}"
    );
}

#[test]
#[ignore = "exercise 1"]
fn only_the_requests_of_this_turn_count() {
    let replies =
        [new_skill("tea"), new_skill("coffee"), says("Two."), new_skill("cake"), says("One more.")];
    let typed = ["write two skills", "and another"];
    let model = lead(replies);
    let ran = class().model(&model).types(&typed);
    ran.succeeds();
    assert_eq!(
        misses(&ran).len(),
        1,
        "the first turn took three requests and was to be reported; the second took two and was not\n{}",
        ran.transcript()
    );
}

#[test]
#[ignore = "exercise 1"]
fn a_turn_that_reads_much_is_not_reported() {
    let look = || calls("read_file", json!({"path": "README.md"}));
    let replies = [
        new_skill("tea"),
        new_skill("coffee"),
        says("Two."),
        look(),
        look(),
        look(),
        says("Nothing new."),
    ];
    let typed = ["write two skills", "read it three times"];
    let model = lead(replies);
    let class = class().file("README.md", "# Demo\n").model(&model);
    let ran = class.types(&typed);
    ran.succeeds();
    assert_eq!(
        misses(&ran).len(),
        1,
        "the first turn was to be reported; the second changed nothing and has read most of its input\n{}",
        ran.transcript()
    );
}
