//! What becomes of running commands when the harness itself is killed.
//!
//! `kill -9` leaves a program no last word, so somebody else must have it: a small shell, started with the first command. It
//! reads which process groups begin and end from a pipe, and when that closes it kills those that are left.
//! Invariants: a command's group is on the list before the command runs, for its shell writes the line and then closes the
//! pipe, which the command never holds; a group is taken off when its leader is reaped, so that a number which the system
//! gives out anew is never killed.

use std::io::{self, PipeWriter, Write};
use std::os::fd::AsRawFd;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::sync::Mutex;

use anyhow::{Context, Result};
use nix::fcntl::{FcntlArg, FdFlag, fcntl};

/// A line is `began` or `ended` and a group. One that was killed before it wrote the first ends without having begun.
const SHELL: &str = r#"
trap '' HUP INT TERM
groups=' '
while read -r what group; do
    case $what$groups in
        began*) groups="$groups$group " ;;
        ended*" $group "*) groups="${groups%% $group *} ${groups#* $group }" ;;
    esac
done
for group in $groups; do kill -s KILL -- "-$group"; done
"#;

/// The shell, once there has been a command. A std lock: nothing is awaited while it is held.
static WATCH: Mutex<Option<Watch>> = Mutex::new(None);

struct Watch {
    shell: Child,
    pipe: PipeWriter,
}

/// Starts a shell whose process group dies with the harness. `spawn` gets what that shell has to do before its command. A
/// process that another thread starts meanwhile would hold the pipe open; all of ours are started on one.
pub(crate) fn spawn<T>(spawn: impl FnOnce(&str) -> Result<T>) -> Result<T> {
    let mut watch = WATCH.lock().unwrap();
    // A command may have killed it.
    let is_gone = |watch: &mut Watch| !matches!(watch.shell.try_wait(), Ok(None));
    if watch.as_mut().is_none_or(is_gone) {
        *watch = Some(Watch::start().context("starting /bin/sh")?);
    }
    let pipe = &watch.as_ref().expect("it was started").pipe;
    let passed_on = |flag| fcntl(pipe, FcntlArg::F_SETFD(flag)).context("passing on a pipe");
    passed_on(FdFlag::empty())?;
    let number = pipe.as_raw_fd();
    let spawned = spawn(&format!("echo began $$ >&{number}; exec {number}>&-; "));
    passed_on(FdFlag::FD_CLOEXEC)?;
    spawned
}

/// Takes a process group off the list.
pub(crate) fn ended(group: u32) {
    if let Some(watch) = &mut *WATCH.lock().unwrap() {
        // Short enough to arrive whole. Where nobody reads it, the list has gone, too.
        let _ = watch.pipe.write_all(format!("ended {group}\n").as_bytes());
    }
}

impl Watch {
    /// Starts the shell, away from our terminal's signals, our directory, our output and our environment, which may hold the
    /// key.
    fn start() -> io::Result<Self> {
        let (reader, pipe) = io::pipe()?;
        let shell = Command::new("/bin/sh")
            .args(["-c", SHELL])
            .env_clear()
            .current_dir("/")
            .stdin(reader)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .process_group(0)
            .spawn()?;
        Ok(Self { shell, pipe })
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::process::ExitStatusExt;

    use super::*;

    #[test]
    fn when_the_pipe_closes_what_has_not_ended_is_killed_and_nothing_else() {
        let sleeper = |_| {
            let mut sleep = Command::new("sleep");
            sleep.arg("1000").process_group(0).spawn().unwrap()
        };
        let [mut first, mut ended, mut last] = [1, 2, 3].map(sleeper);
        let Watch {
            mut shell,
            mut pipe,
        } = Watch::start().unwrap();
        for group in [&first, &ended, &last] {
            writeln!(pipe, "began {}", group.id()).unwrap();
        }
        writeln!(pipe, "ended 1\nended {}", ended.id()).unwrap();
        drop(pipe);
        assert!(shell.wait().unwrap().success());
        for killed in [&mut first, &mut last] {
            assert_eq!(killed.wait().unwrap().signal(), Some(9));
        }
        assert_eq!(ended.try_wait().unwrap(), None, "the number may be another's");
        ended.kill().unwrap();
        ended.wait().unwrap();
    }
}
