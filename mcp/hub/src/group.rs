//! A program that the hub has started, with all that it starts in turn.
//!
//! Invariant: of its process group nothing is left running, whether it is dropped, its answer is no longer wanted, or the hub
//! itself is killed.

use std::collections::VecDeque;
use std::io::{self, PipeWriter, Write};
use std::process::{ExitStatus, Stdio};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncReadExt, BufReader};
use tokio::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command};
use tokio::task::JoinHandle;

/// Between asking a program to end, telling it to, and ending it.
const PATIENCE: Duration = Duration::from_secs(2);
/// What is kept of standard error: lines, and characters of each.
const TAIL: (usize, usize) = (5, 300);
/// For what was said last to be read.
const LAST_WORDS: Duration = Duration::from_millis(500);
/// Variables that no program inherits; `env` of a spoke hands one on.
const KEYS: [&str; 3] = ["ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "MCP_CLIENT_KEY"];
/// Kills a group when its standard input ends without a line: then the hub is gone.
const WATCH: &str = "trap '' HUP INT TERM; read -r _ || kill -s KILL -- \"-$1\"";

/// A running program, the leader of a process group.
pub struct Group {
    child: Option<Child>,
    id: Pid,
    /// Ends the watch, which outlives the hub otherwise.
    watch: PipeWriter,
    said: Arc<Mutex<VecDeque<String>>>,
    listening: JoinHandle<()>,
}

impl Group {
    /// Starts a program with its input and output piped; what it says on standard error is kept for the error.
    ///
    /// # Errors
    /// When it does not start.
    pub fn start(command: &mut Command) -> io::Result<(Self, ChildStdin, ChildStdout)> {
        for key in KEYS {
            // Unless it was set for this program.
            if !command.as_std().get_envs().any(|(name, value)| name == key && value.is_some()) {
                command.env_remove(key);
            }
        }
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.process_group(0).kill_on_drop(true).spawn()?;
        let number = child.id().expect("nobody has waited for it").cast_signed();
        let (reader, watch) = io::pipe()?;
        let mut watcher = std::process::Command::new("/bin/sh");
        watcher.args(["-c", WATCH, "sh", &number.to_string()]).env_clear().current_dir("/");
        watcher.stdin(reader).stdout(Stdio::null()).stderr(Stdio::null());
        let mut watcher = Command::from(watcher).process_group(0).spawn()?;
        // Reaped as soon as it has ended.
        tokio::spawn(async move { watcher.wait().await });
        let input = child.stdin.take().expect("it is piped");
        let output = child.stdout.take().expect("it is piped");
        let said = Arc::<Mutex<VecDeque<String>>>::default();
        let listening =
            tokio::spawn(listen(child.stderr.take().expect("it is piped"), said.clone()));
        let id = Pid::from_raw(number);
        Ok((
            Self {
                child: Some(child),
                id,
                watch,
                said,
                listening,
            },
            input,
            output,
        ))
    }

    /// Waits until the program ends by itself.
    ///
    /// # Errors
    /// When the system cannot tell.
    pub async fn wait(&mut self) -> io::Result<ExitStatus> {
        self.child.as_mut().expect("it is there until the drop").wait().await
    }

    /// Whether it still runs.
    pub fn is_running(&mut self) -> bool {
        matches!(self.child.as_mut().map(Child::try_wait), Some(Ok(None)))
    }

    /// What it said last on standard error, when it has ended.
    pub async fn last_words(&mut self) -> String {
        // What it has started may hold the pipe open.
        let _ = tokio::time::timeout(LAST_WORDS, &mut self.listening).await;
        let said = self.said.lock().unwrap();
        said.iter().map(String::as_str).collect::<Vec<_>>().join(" / ")
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        let (id, mut child) = (self.id, self.child.take().expect("it is dropped once"));
        // Its number stays taken as long as a member of the group lives; afterwards nobody is found.
        let kill = End(id, self.watch.try_clone().ok());
        let is_over = !matches!(child.try_wait(), Ok(None));
        let runtime = tokio::runtime::Handle::try_current();
        if let (false, Ok(runtime)) = (is_over, runtime) {
            runtime.spawn(async move {
                // A program that was started in the background of a shell ignores the first.
                for signal in [Signal::SIGINT, Signal::SIGTERM] {
                    let _ = killpg(id, signal);
                    if tokio::time::timeout(PATIENCE, child.wait()).await.is_ok() {
                        break;
                    }
                }
                drop(kill);
                let _ = child.wait().await;
            });
        }
    }
}

/// Kills the rest of a group when it is dropped, as it is when the runtime ends first.
struct End(Pid, Option<PipeWriter>);

impl Drop for End {
    fn drop(&mut self) {
        let _ = killpg(self.0, Signal::SIGKILL);
        let _ = self.1.as_mut().map(|watch| watch.write_all(b"\n"));
    }
}

/// Keeps the last lines of standard error.
async fn listen(errors: ChildStderr, said: Arc<Mutex<VecDeque<String>>>) {
    let mut errors = BufReader::new(errors);
    let mut line = Vec::new();
    loop {
        line.clear();
        let mut part = (&mut errors).take(64 << 10);
        if !part.read_until(b'\n', &mut line).await.is_ok_and(|read| read > 0) {
            return;
        }
        let text = kit::cut(&kit::one_line(&String::from_utf8_lossy(&line)), TAIL.1);
        if !text.is_empty() {
            tracing::debug!("{text}");
            let mut said = said.lock().unwrap();
            said.push_back(text);
            if said.len() > TAIL.0 {
                said.pop_front();
            }
        }
    }
}

/// All of an output up to a limit; the rest is read and forgotten, so that its writer is not held up.
///
/// # Errors
/// When it breaks, or is longer than the limit.
pub async fn read(mut output: impl AsyncRead + Unpin, limit: usize) -> Result<Vec<u8>, String> {
    let mut bytes = Vec::new();
    let failed = |error: io::Error| format!("its output broke: {error}");
    (&mut output).take(limit as u64).read_to_end(&mut bytes).await.map_err(failed)?;
    let more = tokio::io::copy(&mut output, &mut tokio::io::sink()).await.map_err(failed)?;
    if more > 0 {
        return Err(format!("its answer is longer than {} MiB", limit >> 20));
    }
    Ok(bytes)
}
