//! The thread that reads a terminal on which no line can be edited.
//!
//! The system edits and shows the line, and Ctrl-C is a signal. Invariant: a line is read as soon as it is there,
//! wanted or not, so that what was typed before a question is known to be no answer to it.

use std::io::{self, PipeReader};
use std::os::fd::AsFd;

use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};

use crate::desk::{Desk, Key, Wanted};
use crate::keyboard::Keyboard;
use crate::pipe;
use crate::screen::Screen;

/// Reads until the terminal has gone or nobody wants more.
pub fn serve(keyboard: &Keyboard, screen: &Screen, prompt: &str, mut wake: PipeReader) {
    loop {
        let wanted = keyboard.next(&mut wake);
        match wanted {
            Wanted::Quit => return,
            Wanted::Nothing => {}
            Wanted::Line => screen.open_plain_prompt(prompt),
            Wanted::Answer(_) => {
                while !keyboard.is_gone() && is_typed(&wake, PollTimeout::ZERO) {
                    read(keyboard, |desk, line| desk.typed.accept(line));
                }
                let (question, _) = keyboard.prompt_and_draft();
                screen.open_plain_prompt(&question.unwrap_or_default());
            }
        }
        let typed = is_typed(&wake, PollTimeout::NONE);
        if typed {
            read(keyboard, |desk, line| _ = desk.ended(Key::Enter, &line));
        }
        if wanted != Wanted::Nothing {
            screen.close_plain_prompt(typed && !keyboard.is_gone());
        }
        if keyboard.is_gone() {
            return;
        }
    }
}

/// Waits for a line, or to be woken; says whether it is a line.
fn is_typed(wake: &PipeReader, timeout: PollTimeout) -> bool {
    let stdin = io::stdin();
    let mut ready = [
        PollFd::new(stdin.as_fd(), PollFlags::POLLIN),
        PollFd::new(wake.as_fd(), PollFlags::POLLIN),
    ];
    while poll(&mut ready, timeout) == Err(Errno::EINTR) {}
    ready[0].any().unwrap_or(false)
}

fn read(keyboard: &Keyboard, take: impl FnOnce(&mut Desk, String)) {
    match pipe::line() {
        Some(line) => keyboard.desk(|desk| take(desk, line)),
        None => keyboard.desk(Desk::gone),
    }
}
