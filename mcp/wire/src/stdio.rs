//! Standard input and output: this process's own, or those of a server that it starts.
//!
//! A frame is a line. Invariant: a line over the limit is skipped without being kept; the two directions never wait for
//! each other; of a child's process group nothing is left running, however the [`Child`] ends.

use std::io;
use std::os::fd::AsFd;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;
use tokio::io::{AsyncBufRead, AsyncBufReadExt, AsyncRead, AsyncWrite, AsyncWriteExt, BufReader};
use tokio::net::unix::pipe;
use tokio::process::Command;
use tokio::sync::watch;
use tokio::time::timeout;

use crate::connection::{Connection, Error, Reader, Writer};
use crate::frame::{FRAME_LIMIT, NotAFrame};

/// Between closing a child's input and each stronger way to end it.
const PATIENCE: Duration = Duration::from_secs(2);
/// What is gathered before it is written.
const BATCH: usize = 64 << 10;

/// The client that started this process.
pub fn own() -> Connection {
    // A pipe can be waited for; anything else takes a thread of tokio's for each read and write.
    let input = io::stdin().as_fd().try_clone_to_owned();
    let input: Box<dyn AsyncRead + Unpin + Send> =
        match input.and_then(pipe::Receiver::from_owned_fd) {
            Ok(pipe) => Box::new(pipe),
            Err(_) => Box::new(tokio::io::stdin()),
        };
    let output = io::stdout().as_fd().try_clone_to_owned();
    let output: Box<dyn AsyncWrite + Unpin + Send> =
        match output.and_then(pipe::Sender::from_owned_fd) {
            Ok(pipe) => Box::new(pipe),
            Err(_) => Box::new(tokio::io::stdout()),
        };
    lines(input, output, FRAME_LIMIT)
}

/// Frames as lines over any pair of streams.
pub fn lines<R, W>(input: R, output: W, limit: usize) -> Connection
where
    R: AsyncRead + Unpin + Send + 'static,
    W: AsyncWrite + Unpin + Send + 'static,
{
    let (near, far) = Connection::pair();
    tokio::spawn(read(input, far.writer, limit));
    tokio::spawn(write(far.reader, output));
    near
}

async fn read(input: impl AsyncRead + Unpin, inbox: Writer, limit: usize) {
    let mut input = BufReader::with_capacity(BATCH, input);
    let mut line = Vec::new();
    loop {
        // A long line must not be paid for until the end.
        line.clear();
        line.shrink_to(BATCH);
        let sent = tokio::select! {
            // Nobody reads: the pipe is closed, which the other side notices.
            () = inbox.closed() => return,
            length = read_line(&mut input, &mut line, limit) => match length {
                Ok(0) => return,
                Ok(length) if length > limit => {
                    inbox.fail(Error::NotAFrame(NotAFrame::too_long(limit))).await
                }
                Ok(_) if line.trim_ascii().is_empty() => continue,
                Ok(_) => inbox.receive(&line).await,
                Err(error) => {
                    let _ = inbox.fail(Error::Broken(format!("reading: {error}"))).await;
                    return;
                }
            },
        };
        if sent.is_err() {
            return;
        }
    }
}

/// Reads a line with its end into `line`, as far as the limit goes, and returns its length; 0 at the end.
async fn read_line(
    input: &mut (impl AsyncBufRead + Unpin),
    line: &mut Vec<u8>,
    limit: usize,
) -> io::Result<usize> {
    let mut length = 0;
    loop {
        let there = input.fill_buf().await?;
        let end = there.iter().position(|byte| *byte == b'\n');
        let used = end.map_or(there.len(), |end| end + 1);
        length += used;
        if length <= limit {
            line.extend_from_slice(&there[..used]);
        }
        input.consume(used);
        if end.is_some() || used == 0 {
            return Ok(length);
        }
    }
}

async fn write(mut outbox: Reader, mut output: impl AsyncWrite + Unpin) {
    let mut batch = Vec::new();
    while let Some(Ok(frame)) = outbox.recv().await {
        let mut next = Some(frame);
        while let Some(frame) = next {
            batch.extend_from_slice(frame.to_line().as_bytes());
            batch.push(b'\n');
            let more = batch.len() < BATCH;
            next = more.then(|| outbox.try_recv()?.ok()).flatten();
        }
        let written = output.write_all(&batch).await;
        if written.is_err() || output.flush().await.is_err() {
            return;
        }
        batch.clear();
        batch.shrink_to(BATCH);
    }
    let _ = output.shutdown().await;
}

/// A server that this process has started, the leader of a process group.
#[derive(Debug)]
pub struct Child {
    process: tokio::process::Child,
    group: Pid,
    /// Closes its input, whoever still holds the writer.
    stop: watch::Sender<bool>,
}

/// Starts a server. Its standard error goes where `command` says.
///
/// # Errors
/// When the program does not start.
pub fn spawn(command: &mut Command, limit: usize) -> io::Result<(Connection, Child)> {
    let mut process = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .process_group(0)
        .kill_on_drop(true)
        .spawn()?;
    let input = process.stdin.take().expect("it is piped");
    let output = process.stdout.take().expect("it is piped");
    let id = process.id().expect("nobody has waited for it");
    let (stop, mut stopped) = watch::channel(false);
    let (near, far) = Connection::pair();
    tokio::spawn(read(output, far.writer, limit));
    tokio::spawn(async move {
        tokio::select! {
            () = write(far.reader, input) => {}
            // Also when the child was dropped.
            _ = stopped.changed() => {}
        }
    });
    let group = Pid::from_raw(id.cast_signed());
    let child = Child {
        process,
        group,
        stop,
    };
    Ok((near, child))
}

impl Child {
    /// Waits for it to end by itself.
    ///
    /// # Errors
    /// When the system cannot tell.
    pub async fn wait(&mut self) -> io::Result<ExitStatus> {
        self.process.wait().await
    }

    /// Ends it: closes its input, then SIGINT, SIGTERM and SIGKILL to its group, two seconds apart.
    pub async fn stop(mut self) {
        let _ = self.stop.send(true);
        for signal in [Signal::SIGINT, Signal::SIGTERM] {
            if timeout(PATIENCE, self.process.wait()).await.is_ok() {
                break;
            }
            let _ = killpg(self.group, signal);
        }
        let _ = timeout(PATIENCE, self.process.wait()).await;
        // The rest is done by the drop, also when it has ended: what it started may not have.
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        // Its number stays taken as long as one member of the group lives; when none does, nobody is found.
        let _ = killpg(self.group, Signal::SIGKILL);
    }
}
