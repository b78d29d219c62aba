//! The session in the README, made again and compared.
//!
//! Invariant: what the README shows is what the chapter does; `cargo x session s14 --write` brings it up to date.

use testkit::Class;

/// A durable job of a session that has ended, and whose minute has passed since.
const JOB: &str = r#"{"version": 1, "jobs": [{
  "id": "cron_0123abcd", "cron": "0 9 * * *", "prompt": "Run `echo 'Good morning. Three things for today: water the plants, call the dentist, send the invoice.'`",
  "recurring": true, "next": "2026-02-27T09:00:00Z", "computed_at": "2026-02-26T09:00:00Z", "session": "0123abcd"}]}"#;

#[test]
fn the_readme_shows_a_session() {
    let class = Class::new(env!("CARGO_BIN_EXE_s14_cron")).file(".harness/cron.json", JOB);
    let lines = ["List all cron jobs"];
    let readme = concat!(env!("CARGO_MANIFEST_DIR"), "/README.md");
    class.session(&lines).is_shown_in(readme);
}
