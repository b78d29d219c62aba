//! Standard input and output: this process's own, or those of a server that it starts.
//!
//! A frame is a line. Invariant: a line over the limit is skipped without being kept; the two directions never wait for
//! each other; of a child's process group nothing is left running, however the [`Child`] ends.

use std::io;
use std::os::fd::AsFd;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use futures_util::{Stream, StreamExt, stream};
use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::io::{BufReader, BufWriter};
use tokio::net::unix::pipe;
use tokio::process::Command;
use tokio::task::JoinHandle;
use tokio::time::timeout;

use crate::connection::{Connection, Error, Reader};
use crate::frame::{FRAME_LIMIT, Frame};

/// Between closing a child's input and each stronger way to end it.
const PATIENCE: Duration = Duration::from_secs(2);
/// What is gathered before it is read or written.
const BATCH: usize = 64 << 10;

/// The client that started this process.
pub fn own() -> Connection {
    own_until(std::future::pending()).0
}

/// The same; nothing more is read once `stop` has come. The task ends when all that was sent is written.
pub fn own_until<S>(stop: S) -> (Connection, JoinHandle<()>)
where
    S: Future<Output = ()> + Send + 'static,
{
    type Input = Box<dyn AsyncRead + Unpin + Send>;
    type Output = Box<dyn AsyncWrite + Unpin + Send>;
    // A pipe can be waited for; anything else takes a thread of tokio's for each read and write.
    let input = io::stdin().as_fd().try_clone_to_owned().and_then(pipe::Receiver::from_owned_fd);
    let input = input.map_or_else(|_| Box::new(tokio::io::stdin()) as Input, |it| Box::new(it));
    let output = io::stdout().as_fd().try_clone_to_owned().and_then(pipe::Sender::from_owned_fd);
    let output = output.map_or_else(|_| Box::new(tokio::io::stdout()) as Output, |it| Box::new(it));
    open(input, output, FRAME_LIMIT, stop)
}

/// Frames as lines over any pair of streams.
pub fn lines<R, W>(input: R, output: W, limit: usize) -> Connection
where
    R: AsyncRead + Unpin + Send + 'static,
    W: AsyncWrite + Unpin + Send + 'static,
{
    open(input, output, limit, std::future::pending()).0
}

/// Reads until `stop`; the task writes.
fn open<R, W, S>(input: R, output: W, limit: usize, stop: S) -> (Connection, JoinHandle<()>)
where
    R: AsyncRead + Unpin + Send + 'static,
    W: AsyncWrite + Unpin + Send + 'static,
    S: Future<Output = ()> + Send + 'static,
{
    let (near, far) = Connection::pair();
    let texts = texts(input, limit).take_until(Box::pin(stop));
    tokio::spawn(far.writer.fill(texts));
    (near, tokio::spawn(async move { _ = write(far.reader, output).await }))
}

fn texts<R>(input: R, limit: usize) -> impl Stream<Item = Result<Vec<u8>, Error>> + Send
where
    R: AsyncRead + Unpin + Send,
{
    let input = BufReader::with_capacity(BATCH, input);
    stream::unfold(input, move |mut input| async move {
        let (mut line, mut long) = (Vec::new(), false);
        let text = loop {
            let mut some = (&mut input).take(BATCH as u64);
            let read = some.read_until(b'\n', &mut line).await;
            let end = matches!(read, Ok(0)) || line.ends_with(b"\n");
            if line.len() > limit {
                long = true;
                line.clear();
            }
            match read {
                Err(error) => break Err(Error::Broken(format!("reading: {error}"))),
                Ok(_) if !end => {}
                Ok(_) if long => {
                    let why = format!("the frame is longer than {limit} bytes");
                    break Err(Error::NotAFrame(Frame::invalid(None, &why)));
                }
                Ok(0) if line.is_empty() => return None,
                Ok(_) => break Ok(line),
            }
        };
        Some((text, input))
    })
}

async fn write(mut outbox: Reader, output: impl AsyncWrite + Unpin) -> io::Result<()> {
    let mut output = BufWriter::with_capacity(BATCH, output);
    while let Some(Ok(frame)) = outbox.recv().await {
        output.write_all(frame.to_line().as_bytes()).await?;
        output.write_all(b"\n").await?;
        if outbox.is_empty() {
            output.flush().await?;
        }
    }
    output.shutdown().await
}

/// A server that this process has started, the leader of a process group.
#[derive(Debug)]
pub struct Child {
    process: tokio::process::Child,
    group: Pid,
    /// Aborted, it closes the input, whoever still holds the writer.
    writing: JoinHandle<()>,
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
    let group = Pid::from_raw(id.cast_signed());
    let (connection, writing) = open(output, input, limit, std::future::pending());
    let child = Child {
        process,
        group,
        writing,
    };
    Ok((connection, child))
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
        self.writing.abort();
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
        self.writing.abort();
    }
}
