//! The man in the middle: between the client's lines and the SDK's.
//!
//! It notes what a request was about, and spoils the line that answers it.
//! Invariant: a line that no fault concerns passes as it is.

use std::collections::HashMap;
use std::io::Write;
use std::time::Duration;

use rmcp::ServiceExt;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncWrite, AsyncWriteExt, BufReader};
use tokio::signal::unix::{SignalKind, signal};

use super::super::MockServer;
use super::{Conduct, Fault, Place, Spoil};

/// How many notifications a flood has, and how long a long line is.
const FLOOD: usize = 10_000;
const LONG: usize = 20 * 1024 * 1024;
/// How much noise there is before an answer: more than a pipe holds, so an undrained one blocks the server.
const NOISE: usize = 1024 * 1024;
/// How long a server stays alive after its input has ended: longer than a client waits.
const STAYS: Duration = Duration::from_secs(120);
/// The ids of the questions that [`Conduct::AsksFirst`] asks: both are lawful, and unlike the ids of many clients.
const QUESTIONS: [&str; 2] = ["0", "\"a\""];

/// Serves `mock` on `input` and `output` with `faults`, until the input ends; the error is that of a server that dies.
pub async fn serve(
    mock: MockServer,
    faults: Vec<Fault>,
    input: impl AsyncRead + Unpin,
    output: impl AsyncWrite + Unpin,
) -> Result<(), String> {
    if does(&faults, Conduct::Exit) {
        return Err("The server ends at once, as it was asked to.".to_owned());
    }
    let stays = does(&faults, Conduct::IgnoresEof);
    // From now on the signal comes here and does nothing.
    let _deaf = stays.then(|| signal(SignalKind::terminate()));
    // Roomy: with both directions full, client and server would wait for each other.
    let (near, far) = tokio::io::duplex(1024 * 1024);
    let server = tokio::spawn(async move {
        let running = mock.serve(far).await.map_err(|error| error.to_string())?;
        let ended = running.waiting().await;
        ended.map(|_| ()).map_err(|error| error.to_string())
    });
    let (from_server, mut to_server) = tokio::io::split(near);
    let mut from_client = BufReader::new(input).lines();
    let mut from_server = BufReader::new(from_server).lines();
    let mut middle = Middle::new(faults, output);
    let mut listens = true;
    loop {
        tokio::select! {
            line = from_client.next_line(), if listens => match line {
                Ok(Some(line)) => {
                    if middle.asked(&line).await? {
                        let sent = to_server.write_all(format!("{line}\n").as_bytes()).await;
                        sent.map_err(|error| error.to_string())?;
                    }
                }
                Ok(None) | Err(_) if stays => {
                    tokio::time::sleep(STAYS).await;
                    return Ok(());
                }
                Ok(None) | Err(_) => {
                    listens = false;
                    let ended = to_server.shutdown().await;
                    ended.map_err(|error| error.to_string())?;
                }
            },
            line = from_server.next_line() => match line {
                Ok(Some(line)) => middle.answered(line).await?,
                Ok(None) | Err(_) => break,
            },
        }
    }
    server.await.map_err(|error| error.to_string())?
}

/// What it knows of the conversation.
struct Middle<W> {
    faults: Vec<Fault>,
    output: W,
    /// What the requests that are under way are about, and how they are named in their progress, by their id as JSON.
    requests: HashMap<String, (Place, Value)>,
    /// How many of the server's questions the client has not answered.
    open: usize,
    /// The answers that wait for that.
    held: Vec<String>,
}

impl<W: AsyncWrite + Unpin> Middle<W> {
    fn new(faults: Vec<Fault>, output: W) -> Self {
        Self {
            faults,
            output,
            requests: HashMap::new(),
            open: 0,
            held: Vec::new(),
        }
    }

    /// Reads a line of the client; true when it is for the server.
    async fn asked(&mut self, line: &str) -> Result<bool, String> {
        let message: Value = serde_json::from_str(line).unwrap_or_default();
        let (id, method) = (&message["id"], message["method"].as_str());
        let place = match method {
            Some("initialize" | "server/discover") => Place::Start,
            Some("tools/list") => Place::List,
            Some("tools/call") => Place::Call,
            Some("notifications/initialized") if self.does(Conduct::AsksFirst) => {
                self.ask().await?;
                return Ok(true);
            }
            None if QUESTIONS.contains(&id.to_string().as_str()) => {
                eprintln!("The client answered: {line}");
                self.open = self.open.saturating_sub(1);
                if self.open == 0 {
                    for answer in std::mem::take(&mut self.held) {
                        self.answered(answer).await?;
                    }
                }
                return Ok(false);
            }
            _ => return Ok(true),
        };
        let token = message["params"]["_meta"]["progressToken"].clone();
        self.requests.insert(id.to_string(), (place, token));
        Ok(true)
    }

    /// Reads a line of the server and sends what the faults leave of it.
    async fn answered(&mut self, line: String) -> Result<(), String> {
        let mut message: Value = serde_json::from_str(&line).unwrap_or_default();
        if message.get("method").is_some() {
            return self.send(line.as_bytes()).await;
        }
        if self.open > 0 {
            self.held.push(line);
            return Ok(());
        }
        if self.does(Conduct::Noise) {
            noise();
        }
        if self.does(Conduct::Flood) {
            self.flood().await?;
        }
        let request = self.requests.remove(&message["id"].to_string());
        let (place, token) = request.unzip();
        if place == Some(Place::Call) && self.does(Conduct::Progress) {
            self.progress(&token.unwrap_or_default()).await?;
        }
        match place.and_then(|place| self.spoil(place)) {
            None => self.send(line.as_bytes()).await,
            Some(Spoil::Hang) => Ok(()),
            Some(Spoil::Die) => Err("The server ends in a request, as it was asked to.".to_owned()),
            Some(Spoil::Garbage) => self.send(b"\xff\xfe this is {no} JSON [").await,
            Some(Spoil::OtherId) => {
                message["id"] = json!(999_999);
                self.send(message.to_string().as_bytes()).await
            }
            Some(Spoil::StringIds) => {
                message["id"] = json!(message["id"].to_string());
                self.send(message.to_string().as_bytes()).await
            }
            Some(Spoil::LoneSurrogate) => {
                message["result"]["content"] = json!([{"type": "text", "text": "half"}]);
                let line = message.to_string().replace("\"half\"", r#""\ud800""#);
                self.send(line.as_bytes()).await
            }
            Some(Spoil::LongLine) => {
                message["result"]["_meta"] = json!({"padding": "x".repeat(LONG)});
                self.send(message.to_string().as_bytes()).await
            }
            Some(Spoil::HalfMessage) => {
                self.write(&line.as_bytes()[..line.len() / 2]).await?;
                Err("The server ends in an answer, as it was asked to.".to_owned())
            }
        }
    }

    fn does(&self, conduct: Conduct) -> bool {
        does(&self.faults, conduct)
    }

    /// What is to happen to an answer at `place`.
    fn spoil(&self, place: Place) -> Option<Spoil> {
        self.faults.iter().find_map(|fault| match fault {
            Fault::Spoils(spoil, at) if *at == place => Some(*spoil),
            _ => None,
        })
    }

    /// Asks the client, and tells it what it has never heard of.
    async fn ask(&mut self) -> Result<(), String> {
        self.open = QUESTIONS.len();
        let [roots, ping] = QUESTIONS;
        let lines = [
            format!(r#"{{"jsonrpc":"2.0","id":{roots},"method":"roots/list"}}"#),
            r#"{"jsonrpc":"2.0","method":"notifications/mock/unknown","params":{"x":[1]}}"#
                .to_owned(),
            format!(r#"{{"jsonrpc":"2.0","id":{ping},"method":"ping"}}"#),
            r#"{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}"#.to_owned(),
        ];
        for line in lines {
            self.send(line.as_bytes()).await?;
        }
        Ok(())
    }

    /// Says how far a call is, to a client that has asked for it.
    async fn progress(&mut self, token: &Value) -> Result<(), String> {
        for (done, message) in [(1, "reading"), (2, "thinking\u{1b}[2J\nhard"), (3, "writing")] {
            if !token.is_null() {
                let params = json!({"progressToken": token, "progress": done, "total": 3, "message": message});
                let method = "notifications/progress";
                let line = json!({"jsonrpc": "2.0", "method": method, "params": params});
                self.send(line.to_string().as_bytes()).await?;
            }
        }
        Ok(())
    }

    async fn flood(&mut self) -> Result<(), String> {
        let mut lines = String::new();
        for number in 0..FLOOD {
            let params = json!({"level": "info", "data": format!("drop {number}")});
            let method = "notifications/message";
            let line = json!({"jsonrpc": "2.0", "method": method, "params": params});
            lines.push_str(&format!("{line}\n"));
        }
        self.write(lines.as_bytes()).await
    }

    async fn send(&mut self, line: &[u8]) -> Result<(), String> {
        self.write(&[line, b"\n"].concat()).await
    }

    async fn write(&mut self, bytes: &[u8]) -> Result<(), String> {
        let written = self.output.write_all(bytes).await;
        written.map_err(|error| error.to_string())?;
        self.output.flush().await.map_err(|error| error.to_string())
    }
}

fn does(faults: &[Fault], conduct: Conduct) -> bool {
    let is_it = |fault: &Fault| matches!(fault, Fault::Does(of) if *of == conduct);
    faults.iter().any(is_it)
}

/// Writes to standard error, and waits until somebody reads it.
fn noise() {
    let line = [b"noise \x1b[31m\xff ".as_slice(), &[b'x'; 1010], b"\n"].concat();
    let mut stderr = std::io::stderr().lock();
    for _ in 0..NOISE / line.len() {
        // Nobody reads it: then nobody misses it.
        let _ = stderr.write_all(&line);
    }
}
