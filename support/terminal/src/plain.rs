//! The thread that reads lines as the system gives them: from a pipe, or from a terminal on which no line is edited.
//!
//! Invariants: a pipe is read only as fast as lines are wanted, so it may be endless; a terminal that is watched is read as
//! soon as a line is there, so that what was typed before a question is known to be no answer to it.

use std::io::{self, BufRead};
use std::os::fd::AsFd;

use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::termios::{FlushArg, tcflush};
use tokio::runtime::Handle;

use crate::keyboard::Keyboard;
use crate::screen::Screen;
use crate::state::{Input, Key, State};

/// Reads until the input ends or nobody wants more.
pub fn serve(keyboard: &Keyboard, runtime: &Handle) {
    while let Some(mode) = keyboard.wait(runtime) {
        if keyboard.input() == Input::Pipe {
            let line = line();
            keyboard.with(|state| match line {
                Some(line) => state.lines.push_back(line),
                None => state.gone(),
            });
        } else if is_readable(PollTimeout::NONE) {
            keyboard.with(|state| match (state.wanted() == mode).then(line) {
                // Whoever has put a question meanwhile has taken what was typed before it.
                None => {}
                Some(Some(line)) => {
                    keyboard.screen.entered();
                    state.pressed(Key::Enter, line);
                }
                Some(None) => state.gone(),
            });
        }
    }
}

/// Shows the prompt that is due on a terminal. What was typed before a question is no answer to it.
pub fn show(state: &mut State, screen: &Screen) {
    if state.asks_anew() {
        if state.is_watched {
            while is_readable(PollTimeout::ZERO)
                && let Some(line) = line()
            {
                state.lines.push_back(line);
            }
        } else {
            // It fails only where there is nothing to drop.
            let _ = tcflush(io::stdin(), FlushArg::TCIFLUSH);
        }
    }
    screen.show_prompt(&state.opened(false).1);
}

/// Whether a line, or the end, can be read by then.
pub fn is_readable(timeout: PollTimeout) -> bool {
    let stdin = io::stdin();
    let mut ready = [PollFd::new(stdin.as_fd(), PollFlags::POLLIN)];
    poll(&mut ready, timeout).is_ok_and(|count| count > 0)
}

/// The next line without its end; bytes that are no UTF-8 are replaced.
fn line() -> Option<String> {
    let mut bytes = Vec::new();
    match io::stdin().lock().read_until(b'\n', &mut bytes) {
        Ok(0) | Err(_) => None,
        Ok(_) => {
            let line = String::from_utf8_lossy(&bytes);
            Some(line.trim_end_matches(['\n', '\r']).to_owned())
        }
    }
}
