//! The server deploy: it takes a service live, over some seconds.
//!
//! A deployment's state follows from the time since it was triggered, so nothing runs in the background and a test
//! moves a clock. Invariant: a service has one deployment under way at most.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::mock::MockServer;
use super::tool::{Effect, MockTool, word};

const INSTRUCTIONS: &str = "Deploys the services api, web and worker. A deployment takes some seconds: trigger \
                            starts it, status and logs show how far it is.";

/// The time since the server started.
pub type Clock = Box<dyn Fn() -> Duration + Send + Sync>;

/// How long a deployment waits, and how long it runs then.
const QUEUED: Duration = Duration::from_secs(2);
const RUNNING: Duration = Duration::from_secs(4);

/// How many lines of a log there are without a number, and at most.
const LINES: usize = 20;
const MOST_LINES: usize = 200;

/// What can be deployed.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(inline)]
enum Service {
    Api,
    Web,
    Worker,
}

/// How far a deployment is.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
#[serde(rename_all = "lowercase")]
enum State {
    Queued,
    Running,
    Live,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Which {
    /// The service.
    service: Service,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct WhichLines {
    /// The service.
    service: Service,
    /// How many of the newest lines, 1 to 200; 20 without it.
    #[schemars(range(min = 1, max = 200))]
    lines: Option<usize>,
}

/// What was triggered, and when.
struct Triggered {
    number: usize,
    service: Service,
    at: Duration,
}

/// All deployments since the start, and the clock.
struct Deployments {
    clock: Clock,
    // Never held across an `.await`: the tools are plain functions.
    triggered: Mutex<Vec<Triggered>>,
}

/// The server, with three services live and nothing under way.
pub fn server(clock: Clock) -> MockServer {
    let deployments = Arc::new(Deployments {
        clock,
        triggered: Mutex::default(),
    });
    let (trigger, status, logs) = (deployments.clone(), deployments.clone(), deployments);
    MockServer::new("deploy", INSTRUCTIONS)
        .tool(MockTool::new(
            "trigger",
            Effect::Changes,
            "Deploy the next version of a service. It replaces the version that is live.",
            move |which: Which| trigger.trigger(which.service),
        ))
        .tool(MockTool::new(
            "status",
            Effect::Reads,
            "How far the newest deployment of a service is: queued, running or live.",
            move |which: Which| Ok(status.status(which.service).0),
        ))
        .tool(MockTool::new(
            "logs",
            Effect::Reads,
            "The newest lines of a service's deployment log.",
            move |which: WhichLines| logs.logs(which.service, which.lines.unwrap_or(LINES)),
        ))
}

impl Deployments {
    fn trigger(&self, service: Service) -> Result<String, String> {
        let (newest, state) = self.status(service);
        if state != State::Live {
            return Err(format!("service: {newest}; wait until it is live"));
        }
        let at = (self.clock)();
        let mut triggered = self.triggered.lock().unwrap();
        // The first three put the services there that the server starts with.
        let number = 4 + triggered.len();
        triggered.push(Triggered {
            number,
            service,
            at,
        });
        drop(triggered);
        Ok(self.status(service).0)
    }

    /// The newest deployment of `service`; the first one was there before the server.
    fn status(&self, service: Service) -> (String, State) {
        let triggered = self.triggered.lock().unwrap();
        let mut of_service = triggered.iter().filter(|one| one.service == service);
        let version = first_version(service) + of_service.clone().count() as u32;
        let (number, state) = match of_service.next_back() {
            Some(newest) => (newest.number, state((self.clock)() - newest.at)),
            None => (1 + service as usize, State::Live),
        };
        let (service, now) = (word(&service), word(&state));
        let text = format!("deploy-{number}: {service} version {version} is {now}");
        (text, state)
    }

    fn logs(&self, service: Service, lines: usize) -> Result<String, String> {
        if !(1..=MOST_LINES).contains(&lines) {
            return Err(format!("lines: expected 1 to {MOST_LINES}, found {lines}"));
        }
        let now = (self.clock)();
        let triggered = self.triggered.lock().unwrap();
        let of_service = triggered.iter().filter(|one| one.service == service);
        let name = word(&service);
        let mut log = vec![format!("{name} {} is live", first_version(service))];
        for (version, one) in (first_version(service) + 1..).zip(of_service) {
            let steps = steps(&name, version);
            let so_far = steps.into_iter().filter(|(after, _)| one.at + *after <= now);
            log.extend(
                so_far.map(|(after, step)| {
                    format!("{:>7.1}s {step}", (one.at + after).as_secs_f64())
                }),
            );
        }
        log.drain(..log.len().saturating_sub(lines));
        Ok(log.join("\n"))
    }
}

fn first_version(service: Service) -> u32 {
    match service {
        Service::Api => 41,
        Service::Web => 17,
        Service::Worker => 8,
    }
}

fn state(since: Duration) -> State {
    if since < QUEUED {
        State::Queued
    } else if since < QUEUED + RUNNING {
        State::Running
    } else {
        State::Live
    }
}

/// What a deployment logs, and how long after it was triggered.
fn steps(service: &str, version: u32) -> [(Duration, String); 5] {
    let second = Duration::from_secs(1);
    [
        (Duration::ZERO, format!("{service} {version} is queued")),
        (QUEUED, format!("{service} {version} is running: building the image")),
        (QUEUED + second, "image built, 214 tests passed".to_owned()),
        (QUEUED + 3 * second, "2 of 2 instances answer their health check".to_owned()),
        (QUEUED + RUNNING, format!("{service} {version} is live")),
    ]
}
