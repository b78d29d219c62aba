//! The thread that reads standard input where no line can be edited: a pipe, a file, a terminal that only prints.
//!
//! Invariant: a pipe is read only as fast as lines are wanted, so it may be endless; a person's terminal is read all the
//! time, so that what was typed before a question is known to be no answer to it.

use std::io::{self, BufRead, PipeReader};
use std::sync::Arc;

use super::desk::{Desk, Input, Wanted};
use super::keyboard::Keyboard;

/// Reads until the input ends or nobody wants more.
pub fn serve(keyboard: &Arc<Keyboard>, mut wake: PipeReader) {
    loop {
        let reads_ahead = keyboard.input() == Input::Dumb;
        match keyboard.next() {
            Wanted::Quit => return,
            Wanted::Nothing if !reads_ahead => keyboard.awake(&mut wake),
            Wanted::Nothing | Wanted::Line | Wanted::Answer(_) => match line() {
                Some(line) => keyboard.desk(|desk| desk.read(line)),
                None => return keyboard.desk(Desk::gone),
            },
        }
    }
}

/// The next line without its end; bytes that are no UTF-8 are replaced. `None` at the end of the input.
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
