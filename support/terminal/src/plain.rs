//! The thread that reads lines as the system gives them: from a pipe, or from a terminal on which no line is edited.
//!
//! Invariants: a pipe is read only as fast as lines are wanted, so it may be endless; a terminal that is watched is read as
//! soon as a line is there, so that what was typed before a question is known to be no answer to it.

use std::io::{self, BufRead};
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;

use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::termios::{FlushArg, tcflush};

use crate::keyboard::Keyboard;
use crate::screen::Screen;
use crate::state::{Input, Key, Mode, State};

/// Reads until the input ends or nobody wants more. Not `watched` means that what is typed during the turn belongs to
/// whoever runs this program.
pub fn serve(
    keyboard: &Keyboard,
    screen: &Screen,
    prompt: &str,
    watched: bool,
    woken: &UnixStream,
) {
    let is_terminal = keyboard.input() == Input::Plain;
    loop {
        let mode = keyboard.next(woken);
        let wants = matches!(mode, Mode::Prompt | Mode::Question(_));
        if mode == Mode::Quit {
            return;
        }
        if is_terminal && matches!(mode, Mode::Question(_)) {
            if !watched {
                // It fails only where there is nothing to drop.
                let _ = tcflush(io::stdin(), FlushArg::TCIFLUSH);
            }
            while is_typed(woken, true, PollTimeout::ZERO) && !is_gone(keyboard) {
                read(keyboard, State::accept);
            }
        }
        if is_terminal && wants {
            let (question, _) = keyboard.with(State::prompt_and_draft);
            screen.open_prompt();
            screen.command(question.as_deref().unwrap_or(prompt));
        }
        let reads = wants || (is_terminal && watched);
        let typed = (wants && !is_terminal) || is_typed(woken, reads, PollTimeout::NONE);
        if typed {
            read(keyboard, |state, line| {
                if is_terminal {
                    state.pressed(Key::Enter, &line)
                } else {
                    state.accept(line)
                }
            });
        }
        if is_terminal && wants {
            screen.close_plain_prompt(typed && !is_gone(keyboard));
        }
        if is_gone(keyboard) {
            return;
        }
    }
}

/// Waits for a line, if it is to be read, or to be woken; says whether it is a line.
fn is_typed(woken: &UnixStream, reads: bool, timeout: PollTimeout) -> bool {
    let stdin = io::stdin();
    let mut ready = [
        PollFd::new(woken.as_fd(), PollFlags::POLLIN),
        PollFd::new(stdin.as_fd(), PollFlags::POLLIN),
    ];
    while poll(&mut ready[..=usize::from(reads)], timeout) == Err(Errno::EINTR) {}
    ready[1].any().unwrap_or(false)
}

fn is_gone(keyboard: &Keyboard) -> bool {
    keyboard.with(|state| state.gone)
}

/// The next line without its end; bytes that are no UTF-8 are replaced.
fn read(keyboard: &Keyboard, take: impl FnOnce(&mut State, String)) {
    let mut bytes = Vec::new();
    match io::stdin().lock().read_until(b'\n', &mut bytes) {
        Ok(0) | Err(_) => keyboard.with(State::gone),
        Ok(_) => {
            let line = String::from_utf8_lossy(&bytes);
            let line = line.trim_end_matches(['\n', '\r']).to_owned();
            keyboard.with(|state| take(state, line));
        }
    }
}
