//! A program that this one has started, with all that it starts in turn.
//!
//! Invariant: of its process group nothing is left running, whether it was stopped, is dropped, or this process is killed.

use std::collections::VecDeque;
use std::io::{self, PipeWriter, Write};
use std::process::{ExitStatus, Stdio};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncReadExt, BufReader};
use tokio::process::{ChildStdin, ChildStdout, Command};
use tokio::task::JoinHandle;
use tokio::time::timeout;

/// What is kept of standard error: lines, and characters of each.
const TAIL: (usize, usize) = (5, 300);
/// For a program whose output has ended to end itself, and for what it said last to be read.
const LAST_WORDS: Duration = Duration::from_millis(500);
/// Variables that a program inherits only when it asks the model for us.
const KEYS: [&str; 3] = ["ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "MCP_CLIENT_KEY"];
/// Kills a group when its standard input ends without a line: then its owner is gone.
const WATCH: &str = "trap '' HUP INT TERM; read -r _ || kill -s KILL -- \"-$1\"";

/// The signals that ask a program to end, with the time it has after each; SIGKILL comes behind them.
pub type Ending = &'static [(Signal, Duration)];

/// A running program, the leader of a process group. Dropped, it is stopped in the background.
pub struct Child {
    process: Option<tokio::process::Child>,
    group: Pid,
    ending: Ending,
    /// Ends the watch, which outlives this process otherwise.
    watch: PipeWriter,
    errors: Errors,
}

impl Child {
    /// Starts a program with its input and output piped; what it says on standard error is kept for the error.
    ///
    /// # Errors
    /// When it does not start.
    pub fn start(
        command: &mut Command,
        ending: Ending,
    ) -> io::Result<(Self, ChildStdin, ChildStdout)> {
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut process = command.process_group(0).kill_on_drop(true).spawn()?;
        let number = process.id().expect("nobody has waited for it").cast_signed();
        let (reader, watch) = io::pipe()?;
        let mut watcher = std::process::Command::new("/bin/sh");
        watcher.args(["-c", WATCH, "sh", &number.to_string()]).env_clear().current_dir("/");
        watcher.stdin(reader).stdout(Stdio::null()).stderr(Stdio::null());
        let mut watcher = Command::from(watcher).process_group(0).spawn()?;
        // Reaped as soon as it has ended.
        tokio::spawn(async move { watcher.wait().await });
        let input = process.stdin.take().expect("it is piped");
        let output = process.stdout.take().expect("it is piped");
        let errors = Errors::listen(process.stderr.take().expect("it is piped"), "");
        let child = Self {
            process: Some(process),
            group: Pid::from_raw(number),
            ending,
            watch,
            errors,
        };
        Ok((child, input, output))
    }

    fn process(&mut self) -> &mut tokio::process::Child {
        self.process.as_mut().expect("it is there until it is stopped")
    }

    /// Its number, which is its group's.
    pub fn id(&self) -> u32 {
        self.group.as_raw().cast_unsigned()
    }

    /// Waits until the program ends by itself.
    ///
    /// # Errors
    /// When the system cannot tell.
    pub async fn wait(&mut self) -> io::Result<ExitStatus> {
        self.process().wait().await
    }

    /// Whether it still runs.
    pub fn is_running(&mut self) -> bool {
        matches!(self.process().try_wait(), Ok(None))
    }

    /// How it has ended, None when it has only closed its output; and what it said last on standard error.
    pub async fn last_words(&mut self) -> (Option<ExitStatus>, String) {
        let status = timeout(LAST_WORDS, self.wait()).await;
        (status.ok().and_then(Result::ok), self.errors.last().await)
    }

    /// Ends it and all that it has started.
    pub async fn stop(mut self) {
        self.end().await;
    }

    fn end(&mut self) -> impl Future<Output = ()> + use<> {
        let (group, ending) = (self.group, self.ending);
        // Its number stays taken as long as a member of the group lives; afterwards nobody is found.
        let kill = Kill(group, self.watch.try_clone().ok());
        let process = self.process.take();
        async move {
            let Some(mut process) = process else { return };
            for (signal, patience) in ending {
                if !matches!(process.try_wait(), Ok(None)) {
                    break;
                }
                let _ = killpg(group, *signal);
                let _ = timeout(*patience, process.wait()).await;
            }
            drop(kill);
            let _ = process.wait().await;
        }
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        if self.process.is_some() {
            let end = self.end();
            if let Ok(runtime) = tokio::runtime::Handle::try_current() {
                runtime.spawn(end);
            }
        }
    }
}

/// Kills the rest of a group when it is dropped, as it is when the runtime ends first.
struct Kill(Pid, Option<PipeWriter>);

impl Drop for Kill {
    fn drop(&mut self) {
        let _ = killpg(self.0, Signal::SIGKILL);
        let _ = self.1.as_mut().map(|watch| watch.write_all(b"\n"));
    }
}

/// Takes our keys out of a program's environment, unless one was set for it.
pub fn without_keys(command: &mut Command) {
    for key in KEYS {
        if !command.as_std().get_envs().any(|(name, value)| name == key && value.is_some()) {
            command.env_remove(key);
        }
    }
}

/// The last lines of a program's standard error.
pub(crate) struct Errors {
    said: Arc<Mutex<VecDeque<String>>>,
    listening: JoinHandle<()>,
}

impl Errors {
    pub fn listen(errors: impl AsyncRead + Send + Unpin + 'static, server: &str) -> Self {
        let said = Arc::<Mutex<VecDeque<String>>>::default();
        let (keeping, server) = (said.clone(), server.to_owned());
        let listening = tokio::spawn(async move {
            let mut errors = BufReader::new(errors);
            let mut line = Vec::new();
            loop {
                line.clear();
                // A line without an end is read in parts.
                let mut part = (&mut errors).take(64 << 10);
                if !part.read_until(b'\n', &mut line).await.is_ok_and(|read| read > 0) {
                    return;
                }
                let text = kit::cut(&kit::one_line(&String::from_utf8_lossy(&line)), TAIL.1);
                if !text.is_empty() {
                    tracing::debug!(server, "{text}");
                    let mut said = keeping.lock().unwrap();
                    said.push_back(text);
                    if said.len() > TAIL.0 {
                        said.pop_front();
                    }
                }
            }
        });
        Self { said, listening }
    }

    /// What was said last, as soon as all is read.
    pub async fn last(&mut self) -> String {
        // What the program has started may hold the pipe open.
        if !self.listening.is_finished() {
            let _ = timeout(LAST_WORDS, &mut self.listening).await;
        }
        let said = self.said.lock().unwrap();
        said.iter().map(String::as_str).collect::<Vec<_>>().join(" / ")
    }
}
