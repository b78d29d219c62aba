//! Plays a story: what is said and when, in time that passes only as the story says.
//!
//! Half an hour with schedules, jobs and a team cannot be waited for in a test, and the agent is private to the binary, so
//! its player stands here. `tests/whole/story` writes `story.txt` and plays the model. Invariant: time stands still while anybody
//! works, so that no real answer comes too late; then it goes on second by second.

use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use s01_loop::Repl;
use s02_tools::Toolbox;
use s04_hooks::PromptDecision;
use s08_compact::transcript;
use s14_cron::{Clock, Cron};
use s20_full::built_in;
use tokio::task::{spawn_blocking, yield_now};
use tokio::time::{Instant, advance};

use super::Agent;

/// When the story begins, by its clock.
const BEGIN: &str = "2026-03-02T09:00:00Z";
/// The session is resumed, as in a new process.
const AGAIN: &str = "(again)";
/// Nobody knows when a process ends, so the story waits until the lead has heard of it.
const ENDS: &str = "(the job ends)";
const ENDED: &str = "<task_notification>";
/// Shows who does what.
const TEAM: &str = "/team";
/// As often as everybody gets the chance to see that a second has passed.
const LOOKS: usize = 16;

struct Day {
    began: Instant,
    repl: Repl,
    agent: Agent,
}

impl Day {
    fn begins(began: Instant) -> Self {
        let repl = Repl::once("story", "");
        let mut agent = Agent::new(&repl).expect("the workspace is fine");
        let begin: Timestamp = BEGIN.parse().expect("a timestamp");
        let clock: Clock = Arc::new(move || begin + began.elapsed());
        let cron = Cron::with_clock(&agent.ws, &agent.notices, &repl, clock);
        // The first tool of a name wins.
        let tools = Toolbox::new().with_all(cron.tools());
        agent.tools = built_in(tools.with_all(agent.tools.clone()));
        Self { began, repl, agent }
    }

    async fn hears(&mut self, line: &str) {
        match line {
            ENDS => self.hears_of(ENDED).await,
            line => self.turn(line.to_owned()).await,
        }
        self.settles().await;
    }

    /// Ends the session and goes on with it in a new one.
    async fn again(self) -> Self {
        self.agent.mcp.shut_down().await;
        let (began, session) = (self.began, self.session());
        // The session is held until the agent has gone.
        drop(self);
        let mut day = Self::begins(began);
        day.turn(format!("/resume {session}")).await;
        day
    }

    /// The id of the only session there is.
    fn session(&self) -> String {
        let folder = self.agent.ws.state("sessions");
        let files = std::fs::read_dir(folder).expect("sessions are kept");
        let mut files = files.map(|file| file.expect("a file").path());
        let file = files.find(|file| file.extension().is_some_and(|kind| kind == "json"));
        let id = file.expect("a session").file_stem().map(ToOwned::to_owned);
        id.and_then(|id| id.into_string().ok()).expect("an id")
    }

    async fn turn(&mut self, line: String) {
        self.repl.print(&format!("story >> {line}"));
        let turn = self.agent.turn(line);
        turn.await.expect("a turn without an error");
        self.agent.sessions.save(&self.agent.history);
    }

    /// Lets time pass, and takes what arrives.
    async fn until(&mut self, minute: u64) {
        while self.began.elapsed() < Duration::from_secs(60 * minute) {
            advance(Duration::from_secs(1)).await;
            for _ in 0..LOOKS {
                yield_now().await;
            }
            self.settles().await;
        }
    }

    /// Real time passes until nobody works any more and nothing is unread.
    async fn settles(&mut self) {
        loop {
            let team = match self.agent.hooks.prompt(TEAM.to_owned()).await {
                PromptDecision::Refused(team) => team,
                PromptDecision::Go(_) => panic!("{TEAM} is no request"),
            };
            if team.contains("  working") {
                yield_now().await;
                continue;
            }
            match self.agent.notices.take() {
                notices if notices.is_empty() => return,
                notices => self.turn(notices.join("\n\n")).await,
            }
        }
    }

    async fn hears_of(&mut self, what: &str) {
        while !transcript(&self.agent.history).contains(what) {
            yield_now().await;
            self.settles().await;
        }
    }
}

/// Does nothing without a story.
#[tokio::test(start_paused = true)]
async fn plays() {
    let Ok(story) = std::fs::read_to_string("story.txt") else {
        return;
    };
    // Time leaps to the next timer whenever all wait, for a socket as well, unless a blocking task runs.
    let (ends, end) = std::sync::mpsc::channel::<()>();
    let blocks = spawn_blocking(move || end.recv());
    let mut day = Day::begins(Instant::now());
    for line in story.lines() {
        let (minute, line) = line.split_once(' ').expect("a minute and a line");
        day.until(minute.parse().expect("a minute")).await;
        match line {
            AGAIN => day = day.again().await,
            line => day.hears(line).await,
        }
    }
    day.agent.mcp.shut_down().await;
    drop(ends);
    let _ = blocks.await;
}
