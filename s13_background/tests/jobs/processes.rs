//! Several programs in one folder, each with a job number 1. Each starts this test program again, with [`worker`] as its only
//! test.

use std::collections::HashSet;
use std::fs;
use std::process::{Child, Command, Stdio};

use s01_loop::Repl;
use s02_tools::{Workspace, bash};
use s13_background::{Jobs, Notices};
use serde_json::json;

use crate::{Desk, call};

const FOLDER: &str = "JOBS_TEST_FOLDER";
const PROCESSES: usize = 4;
const JOBS: usize = 10;

/// What another process does; nothing when the test program runs by itself.
#[tokio::test]
async fn worker() {
    let Ok(folder) = std::env::var(FOLDER) else {
        return;
    };
    let ws = Workspace::at(folder).unwrap();
    let notices = Notices::default();
    let tool = Jobs::new(&ws, &notices, &Repl::typed("test").quiet()).around(bash(&ws));
    for _ in 0..JOBS {
        let command = format!("echo {}", std::process::id());
        let input = json!({"command": command, "run_in_background": true});
        let told = tool.call(call(input)).await;
        assert!(!told.is_error, "{}", told.text);
    }
    let mut ended = 0;
    while ended < JOBS {
        tokio::task::yield_now().await;
        ended += notices.take().len();
    }
}

#[test]
fn each_job_of_four_processes_has_a_file_of_its_own() {
    let desk = Desk::new();
    let start = |_| {
        Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "processes::worker"])
            .env(FOLDER, desk.dir.path())
            .stdout(Stdio::null())
            .spawn()
            .unwrap()
    };
    let programs: Vec<Child> = (0..PROCESSES).map(start).collect();
    let ids: HashSet<u32> = programs.iter().map(Child::id).collect();
    for mut program in programs {
        assert!(program.wait().unwrap().success());
    }
    let outputs = fs::read_dir(desk.ws.state("outputs")).unwrap();
    let texts = outputs.map(|file| fs::read_to_string(file.unwrap().path()).unwrap());
    let mut lines: Vec<u32> = texts.map(|text| text.trim().parse().unwrap()).collect();
    assert_eq!(lines.len(), PROCESSES * JOBS);
    lines.sort_unstable();
    lines.dedup();
    assert_eq!(lines.into_iter().collect::<HashSet<u32>>(), ids);
}
