//! Background jobs: a slow command runs on, and a notice comes when it ends.
//!
//! A build takes minutes in which the model could go on. Only the model knows which command is slow, so its
//! `run_in_background` decides. Invariants: every job ends in exactly one notice, whatever becomes of it; its output is
//! in a file that can be read while it runs, and the notice says when that file was cut; it ends with the session at
//! the latest.

use std::fmt;
use std::fs::{File, OpenOptions};
use std::future::Future;
use std::io::{Read, Seek, SeekFrom, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use anyhow::{Context, Result};
use kit::{cut, fresh_suffix, make_state_folder, one_line, tagged};
use s01_loop::{End, Process, Repl, ToolCall, ToolSpec, bash};
use s02_tools::{Access, Tool, Workspace};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::notices::Notices;

/// How many characters of a job's output stand in its notice.
pub const TAIL: usize = 2_000;

/// The maximum size of a job's output file: a command that never stops writing must not fill the disk.
const MOST_KEPT: usize = 100_000_000;

/// How many characters of a command the user is shown in a remark.
const SHOWN: usize = 60;

/// The input of bash, with one property more.
#[derive(Debug, Deserialize, JsonSchema)]
struct Input {
    /// The command line, as typed into a shell.
    command: String,
    /// Whether it runs on while you go on. It has no time limit then; a `<task_notification>` comes when it ends.
    #[serde(default)]
    run_in_background: bool,
}

/// The jobs of a session. Clones share them.
#[derive(Clone)]
pub struct Jobs {
    ws: Workspace,
    repl: Repl,
    notices: Notices,
    /// How many have been started. A std lock: nothing is awaited while it is held.
    started: Arc<Mutex<usize>>,
}

/// How a job ended, and how many bytes it wrote.
type Ended = (End, usize);

/// One job: what it runs, and where its output goes.
struct Job {
    id: String,
    command: String,
    output: PathBuf,
}

/// As the user reads it in one line.
impl fmt::Display for Job {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let command = one_line(&self.command);
        write!(f, "{}: {}", self.id, cut(&command, SHOWN))
    }
}

impl Jobs {
    /// Reports each job that ends on this terminal, and to the model through these notices.
    pub fn new(ws: &Workspace, notices: &Notices, repl: &Repl) -> Self {
        Self {
            ws: ws.clone(),
            repl: repl.clone(),
            notices: notices.clone(),
            started: Arc::default(),
        }
    }

    /// Decorates bash with `run_in_background`. Other calls run as before.
    pub fn around(&self, bash: Tool) -> Tool {
        let spec = ToolSpec::new::<Input>(bash.name(), bash.spec().description());
        let jobs = self.clone();
        Tool::new(spec, move |call| {
            let (jobs, bash) = (jobs.clone(), bash.clone());
            async move {
                match call.args::<Input>() {
                    Ok(input) if input.run_in_background => jobs.start(input.command).into(),
                    Ok(_) => bash.call(without_flag(call)).await,
                    Err(error) => Err::<String, _>(error).into(),
                }
            }
        })
        .touching(Access::Command)
    }

    /// Starts a command and returns what the model is told at once.
    fn start(&self, command: String) -> Result<String> {
        bash::refuse_fatal(&command)?;
        let (job, file) = self.new_job(without_ampersand(command))?;
        let process = Process::start(self.ws.root(), &job.command)?;
        let told = format!(
            "{} runs in the background; a notice comes by itself when it ends. Its output goes to {}",
            job.id,
            self.ws.shown(&job.output)
        );
        self.follow(job, run(process, file, MOST_KEPT));
        Ok(told)
    }

    /// Follows a job to its end. The job belongs to the session: Ctrl-C ends the turn that started it, and the job
    /// continues.
    fn follow(&self, job: Job, work: impl Future<Output = Result<Ended>> + Send + 'static) {
        let (jobs, at_work) = (self.clone(), self.notices.at_work(job.to_string()));
        tokio::spawn(async move {
            let _at_work = at_work;
            // In a task of its own, so that a panic is an end like any other.
            let ended = tokio::spawn(work).await;
            jobs.ended(&job, ended.context("it broke down").flatten());
        });
    }

    /// A job with a number and a file of its own.
    fn new_job(&self, command: String) -> Result<(Job, File)> {
        let mut started = self.started.lock().unwrap();
        let id = format!("job_{}", *started + 1);
        let output = self.ws.state("outputs").join(format!("{id}-{}.txt", fresh_suffix()));
        let file = create(&output).with_context(|| format!("creating {}", output.display()))?;
        *started += 1;
        let job = Job {
            id,
            command,
            output,
        };
        Ok((job, file))
    }

    /// Tells the user and the model that a job has ended.
    fn ended(&self, job: &Job, ended: Result<Ended>) {
        let (how, written) = match ended {
            Ok((End::Exit(0), written)) => ("finished, exit code 0".to_owned(), written),
            Ok((end @ End::Exit(_), written)) => (format!("failed, {end}"), written),
            Ok((end @ End::Signal(_), written)) => (format!("killed by {end}"), written),
            Err(error) => (format!("lost: {error:#}"), 0),
        };
        self.repl.remark(&format!("[{job}: {how}]"));
        let (size, tail) = match read_end(&job.output) {
            Ok((kept, tail)) if written > kept => {
                (format!("the first {kept} of {written} bytes"), tail)
            }
            Ok((kept, tail)) => (format!("{kept} bytes"), tail),
            Err(error) => (format!("cannot be read: {error}"), String::new()),
        };
        let notice = format!(
            "job: {}\nstatus: {how}\ncommand: {}\noutput: {} ({size})\n{tail}",
            job.id,
            job.command,
            self.ws.shown(&job.output),
        );
        self.notices.push(tagged("task_notification", &notice));
    }
}

/// A new file that only the user reads.
fn create(path: &Path) -> Result<File> {
    if let Some(folder) = path.parent() {
        make_state_folder(folder)?;
    }
    let mut options = OpenOptions::new();
    options.create_new(true).write(true).mode(0o600);
    Ok(options.open(path)?)
}

/// Runs a process to its end; its output goes to the file as it comes, until the file is full.
async fn run(mut process: Process, mut file: File, most: usize) -> Result<Ended> {
    let mut written = 0_usize;
    while let Some(piece) = process.read().await? {
        let room = most.saturating_sub(written).min(piece.len());
        file.write_all(&piece[..room]).context("writing its output")?;
        written += piece.len();
    }
    Ok((process.end().await?, written))
}

/// The size of an output file, and its last characters.
fn read_end(output: &Path) -> std::io::Result<(usize, String)> {
    let mut file = File::open(output)?;
    let size = file.metadata()?.len();
    // A character has at most four bytes.
    file.seek(SeekFrom::Start(size.saturating_sub(4 * TAIL as u64)))?;
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes)?;
    let text = String::from_utf8_lossy(&bytes);
    let text = text.trim_end();
    let tail = match text.char_indices().rev().nth(TAIL - 1) {
        _ if text.is_empty() => "(no output)".to_owned(),
        Some((start, _)) if start > 0 => format!("…{}", &text[start..]),
        _ => text.to_owned(),
    };
    Ok((size as usize, tail))
}

/// A command that sends itself to the background would end at once, and what it started with it. The job is that command.
fn without_ampersand(command: String) -> String {
    match command.trim_end().strip_suffix(" &") {
        Some(job) if !job.ends_with('\\') => job.trim_end().to_owned(),
        Some(_) | None => command,
    }
}

/// The call without the property, for the plain bash.
fn without_flag(mut call: ToolCall) -> ToolCall {
    if let Some(input) = call.input.as_object_mut() {
        input.remove("run_in_background");
    }
    call
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_of_an_output_is_told_in_whole_characters() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("output");
        for (output, tail) in [
            (" \n".to_owned(), "(no output)".to_owned()),
            ("short\n".to_owned(), "short".to_owned()),
            ("äö".repeat(3_000) + "end\n", format!("…{}öend", "öä".repeat(998))),
        ] {
            std::fs::write(&path, &output).unwrap();
            let (size, read) = read_end(&path).unwrap();
            assert_eq!((size, read.as_str()), (output.len(), tail.as_str()));
        }
    }

    #[test]
    fn an_ampersand_at_the_end_is_no_part_of_a_job() {
        for (command, job) in [
            ("npm start &\n", "npm start"),
            ("a & b", "a & b"),
            ("a &&", "a &&"),
            ("echo \\ &", "echo \\ &"),
        ] {
            assert_eq!(without_ampersand(command.to_owned()), job);
        }
    }

    #[tokio::test]
    async fn a_job_that_breaks_down_is_no_job_that_runs_for_ever() {
        let directory = tempfile::tempdir().unwrap();
        let ws = Workspace::at(directory.path()).unwrap();
        let notices = Notices::default();
        let repl = Repl::once("test", "");
        let jobs = Jobs::new(&ws, &notices, &repl);
        let (job, _) = jobs.new_job("true".to_owned()).unwrap();
        jobs.follow(job, async { panic!("on purpose") });
        let notice = notices.next_input(&repl).await.unwrap();
        assert!(notice.contains("status: lost: it broke down"), "{notice}");
        assert!(notices.take().is_empty());
        assert_eq!(notices.next_input(&repl).await, None, "nobody is waited for");
    }

    #[tokio::test]
    async fn a_job_that_writes_without_end_does_not_fill_the_disk() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("output");
        let process = Process::start(directory.path(), "printf 12345; printf 67890").unwrap();
        let (end, written) = run(process, create(&path).unwrap(), 7).await.unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"1234567");
        assert_eq!((end, written), (End::Exit(0), 10));
    }
}
