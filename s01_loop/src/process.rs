//! A shell process: its output as it comes, its end, and the end of all it started.
//!
//! Every tool that runs a command runs it here. Invariants: standard input is never the terminal, so a command cannot
//! read what the user types; the API key is not in the environment; dropping a running process kills its process group,
//! and so does the end of the harness, however it comes.

use std::fmt;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{ExitStatus, Stdio};
use std::sync::OnceLock;
use std::time::Duration;

use anyhow::{Context, Result};
use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;
use tokio::io::AsyncReadExt;
use tokio::net::unix::pipe;
use tokio::process::{Child, Command};
use tokio::time::{Instant, sleep_until};

use crate::orphans;
use crate::settings::{KEY_VARIABLES, number};

/// How long output is still read after the shell has ended while a child it left behind holds the pipe open.
const GRACE: Duration = Duration::from_millis(50);

/// How much memory each process of a command may have, in GB, unless the environment says otherwise. What the system can
/// limit is the address space, and programs reserve more of it than they use: node 10 GB as soon as it fetches something.
const MEMORY_GB: u64 = 16;

/// The same as the environment has it; no number is no limit.
static MEMORY_ASKED_FOR: OnceLock<Option<u64>> = OnceLock::new();

/// How a process ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// By itself, with this code.
    Exit(i32),
    /// By this signal.
    Signal(i32),
}

impl fmt::Display for End {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Exit(code) => write!(f, "exit code {code}"),
            Self::Signal(signal) => write!(f, "signal {signal}"),
        }
    }
}

impl From<ExitStatus> for End {
    fn from(status: ExitStatus) -> Self {
        match (status.code(), status.signal()) {
            (Some(code), _) => Self::Exit(code),
            (None, signal) => Self::Signal(signal.unwrap_or_default()),
        }
    }
}

/// A running shell command. Standard output and standard error come through one pipe, in the order they were written.
pub struct Process {
    child: Child,
    /// The number of its process group, until the shell is reaped.
    group: Option<u32>,
    /// What stands in front of the command.
    preface: String,
    pipe: pipe::Receiver,
    buffer: Box<[u8]>,
    status: Option<ExitStatus>,
    /// When to stop reading, once the shell has ended.
    last_read: Option<Instant>,
}

impl Process {
    /// Starts `bash -c command` in this directory, in a process group of its own and with a limit to its memory.
    ///
    /// # Errors
    /// When the directory is gone or bash is not installed.
    pub fn start(cwd: &Path, command: &str) -> Result<Self> {
        Self::launch(cwd, &memory_limit(), command, Stdio::null(), None)
    }

    /// The same for a command that is not the model's: with this standard input, with standard error going elsewhere than
    /// into the output, and without a limit.
    ///
    /// # Errors
    /// When the directory is gone or bash is not installed.
    pub fn start_with(
        cwd: &Path,
        command: &str,
        stdin: Stdio,
        stderr: Option<Stdio>,
    ) -> Result<Self> {
        Self::launch(cwd, "", command, stdin, stderr)
    }

    fn launch(
        cwd: &Path,
        limit: &str,
        command: &str,
        stdin: Stdio,
        stderr: Option<Stdio>,
    ) -> Result<Self> {
        let (reader, writer) = io::pipe().context("opening a pipe")?;
        let mut bash = Command::new("bash");
        bash.current_dir(cwd)
            .stdin(stdin)
            .stdout(writer.try_clone().context("opening a pipe")?)
            .stderr(stderr.unwrap_or(writer.into()))
            .process_group(0)
            .kill_on_drop(true);
        for variable in KEY_VARIABLES {
            bash.env_remove(variable);
        }
        let (child, preface) = orphans::spawn(|first| {
            let preface = format!("{first}{limit}");
            bash.arg("-c").arg(format!("{preface}{command}"));
            let child = bash.spawn().with_context(|| {
                if cwd.is_dir() {
                    "starting bash, which must be installed and in PATH".to_owned()
                } else {
                    format!("starting bash in {}, which is gone", cwd.display())
                }
            })?;
            Ok((child, preface))
        })?;
        // Our copies of the pipe's writing end are in `bash`; they must close or the end would never be seen.
        drop(bash);
        let pipe =
            pipe::Receiver::from_owned_fd(OwnedFd::from(reader)).context("reading from a pipe")?;
        Ok(Self {
            group: child.id(),
            child,
            preface,
            pipe,
            buffer: vec![0; 64 * 1024].into(),
            status: None,
            last_read: None,
        })
    }

    /// The next piece of output, or `None` when the command has ended. Dropping the future loses nothing.
    ///
    /// # Errors
    /// When the pipe breaks.
    pub async fn read(&mut self) -> Result<Option<&[u8]>> {
        loop {
            let last_read = self.last_read.unwrap_or_else(Instant::now);
            tokio::select! {
                biased;
                count = self.pipe.read(&mut self.buffer) => {
                    let count = count.context("reading the output of a command")?;
                    let count = self.hide_preface(count);
                    return Ok((count > 0).then(|| &self.buffer[..count]));
                }
                () = sleep_until(last_read), if self.last_read.is_some() => return Ok(None),
                status = self.child.wait(), if self.status.is_none() => {
                    self.reaped(status.context("waiting for a command")?);
                    self.last_read = Some(Instant::now() + GRACE);
                }
            }
        }
    }

    /// Waits for the end of the shell.
    ///
    /// # Errors
    /// When the system cannot tell.
    pub async fn end(&mut self) -> Result<End> {
        let status = match self.status {
            Some(status) => status,
            None => self.child.wait().await.context("waiting for a command")?,
        };
        self.reaped(status);
        Ok(status.into())
    }

    /// A shell that cannot make sense of its first line shows it. Returns how many bytes are left.
    fn hide_preface(&mut self, count: usize) -> usize {
        let (piece, preface) = (&self.buffer[..count], self.preface.as_bytes());
        if !piece.starts_with(b"bash: ") {
            return count;
        }
        match piece.windows(preface.len()).position(|it| it == preface) {
            Some(at) => {
                self.buffer.copy_within(at + preface.len()..count, at);
                count - preface.len()
            }
            None => count,
        }
    }

    fn reaped(&mut self, status: ExitStatus) {
        self.status = Some(status);
        if let Some(group) = self.group.take() {
            orphans::ended(group);
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // The leader of a group that has a number here is not reaped yet, so it means this group and no other.
        if let Some(group) = self.group.take() {
            let _ = killpg(Pid::from_raw(group.cast_signed()), Signal::SIGKILL);
            orphans::ended(group);
        }
    }
}

/// Takes the limit from the environment. The first to come decides for the whole program.
pub(crate) fn limit_memory(written: Option<&str>) -> Result<()> {
    let limit = match written {
        None => Some(MEMORY_GB),
        Some("none") => None,
        Some(written) => Some(number("BASH_MEMORY_GB", written, 1_000_000)?),
    };
    let _ = MEMORY_ASKED_FOR.set(limit);
    Ok(())
}

/// What a shell does to limit itself and all it starts. macOS has no such limit; a tighter one of the user's stays.
fn memory_limit() -> String {
    match MEMORY_ASKED_FOR.get().unwrap_or(&Some(MEMORY_GB)) {
        Some(gigabytes) if cfg!(target_os = "linux") => {
            format!("ulimit -v {} 2>/dev/null; ", gigabytes * 1024 * 1024)
        }
        Some(_) | None => String::new(),
    }
}
