//! The spectacle at a prompt: several agents at once, each line under its name, and the lead has the last word.

use mock_servers::model::MockModel;

use crate::{TASKS, class};

#[test]
fn lines_are_told_apart_and_the_lead_has_the_last_word() {
    let model = MockModel::strict_rehearsal();
    let class = class().model(&model);
    let mut terminal = class.terminal(100, 60);
    terminal.wait_for("s18 >>").type_line(TASKS);
    let is_idle = |screen: &str, name: &str| {
        let mut lines = screen.lines().map(str::trim_end);
        lines.any(|line| line.starts_with(name) && line.ends_with("  idle"))
    };
    terminal.wait_until("three completed tasks and a prompt", |screen| {
        let done = screen.matches("> complete_task  000").count();
        done == 3 && screen.trim_end().ends_with("\ns18 >>")
    });
    let screen = terminal.screen();
    for what in ["[claimed 000", "> complete_task  000"] {
        for line in screen.lines().filter(|line| line.contains(what)) {
            let is_named = ["alice │ ", "bob │ "]
                .iter()
                .any(|name| line.starts_with(name));
            assert!(is_named, "{line:?} in\n{screen}");
        }
    }
    terminal
        .type_line("/team")
        .wait_until("who does what", |screen| {
            is_idle(screen, "alice") && is_idle(screen, "bob")
        });
}
