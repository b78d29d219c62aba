//! The thread that reads a pipe or a file.
//!
//! Invariant: it reads only as fast as lines are wanted, so the input may be endless.

use std::io::{self, BufRead, PipeReader};
use std::os::fd::AsFd;

use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};

use crate::desk::Wanted;
use crate::keyboard::Keyboard;

/// Reads until the input ends or nobody wants more.
pub fn serve(keyboard: &Keyboard, mut wake: PipeReader) {
    loop {
        match keyboard.next(&mut wake) {
            Wanted::Quit => return,
            Wanted::Nothing => wait(&wake),
            Wanted::Line | Wanted::Answer(_) => match line() {
                Some(line) => keyboard.desk(|desk| desk.typed.accept(line)),
                None => return,
            },
        }
    }
}

/// Waits to be woken.
fn wait(wake: &PipeReader) {
    let mut ready = [PollFd::new(wake.as_fd(), PollFlags::POLLIN)];
    while poll(&mut ready, PollTimeout::NONE) == Err(Errno::EINTR) {}
}

/// The next line without its end; bytes that are no UTF-8 are replaced. `None` at the end of the input.
pub fn line() -> Option<String> {
    let mut bytes = Vec::new();
    match io::stdin().lock().read_until(b'\n', &mut bytes) {
        Ok(0) | Err(_) => None,
        Ok(_) => {
            let line = String::from_utf8_lossy(&bytes);
            Some(line.trim_end_matches(['\n', '\r']).to_owned())
        }
    }
}
