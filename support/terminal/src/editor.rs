//! The thread that owns a terminal with a line editor.
//!
//! rustyline is open all the time, during a turn too: what is to be printed is drawn above its prompt whenever it draws
//! that, and a signal closes it when another prompt is due. It reads ahead; what it took from the terminal behind a key
//! that ends it is read first when it opens again, and the signal ends it when nothing of that is left.
//! Invariants: the state always holds the text and the cursor that the user sees; a line that no word begins with stays
//! as it is when Tab is pressed; the terminal's mode is put back when the thread ends, in whatever way it ends; the history
//! appears with the first line and not before, readable by its owner only, and two sessions add to it side by side.

use std::borrow::Cow;
use std::fs::{self, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::sync_channel;
use std::thread;
use std::time::Duration;

use anyhow::Context as _;
use kit::{STATE_DIR, make_state_folder};
use nix::errno::Errno;
use nix::poll::PollTimeout;
use nix::sys::signal::{Signal, kill};
use nix::sys::termios::{self, SetArg, Termios};
use nix::unistd::{Pid, read};
use rustyline::completion::Completer;
use rustyline::config::{BellStyle, Config};
use rustyline::error::ReadlineError;
use rustyline::highlight::{CmdKind, Highlighter};
use rustyline::hint::Hinter;
use rustyline::history::FileHistory;
use rustyline::validate::Validator;
use rustyline::{
    Cmd, ColorMode, ConditionalEventHandler, Context, Editor, Event, EventContext, EventHandler,
    ExternalPrinter, Helper, KeyEvent, RepeatCount, Result,
};

use crate::keyboard::Keyboard;
use crate::plain::is_readable;
use crate::state::{Key, Mode, State};
use crate::style::Paint;
use crate::{is_goodbye, text};

/// How long the rest of a key may take to come behind its Esc.
const ESCAPE_MILLIS: u16 = 50;
/// How many lines the history keeps.
const HISTORY_LINES: usize = 1_000;
/// How long a stop signal may take to arrive.
const STOPPING: Duration = Duration::from_millis(50);
const EXIT_HINT: &str = "(Ctrl-D, q or exit leaves)";
/// Has rustyline draw its line again, and moves nothing.
const DRAW: &str = "\x1b[A\n";

/// A terminal with its line editor.
pub struct Reader {
    keyboard: Arc<Keyboard>,
    editor: Editor<Reporter, FileHistory>,
    /// Whether lines can be written down.
    keeps_history: bool,
    /// The mode that was found, put back when this drops, and the one in which keys are read as they are pressed and not
    /// shown. Output stays as it is.
    original: Termios,
    raw: Termios,
}

impl Reader {
    /// Takes the terminal over; `None` when it cannot be used. Tab completes these words.
    pub fn open(keyboard: &Arc<Keyboard>, words: Vec<&'static str>) -> Option<Self> {
        let mut editor = configured(keyboard, words).ok()?;
        let printer = editor.create_external_printer().ok()?;
        let folder = Path::new(STATE_DIR);
        let file = folder.join("history");
        if let Err(ReadlineError::Io(error)) = editor.load_history(&file)
            && error.kind() == io::ErrorKind::InvalidData
        {
            // Set aside. If it cannot be moved, adding to it will fail and say so.
            let _ = fs::rename(&file, folder.join("history.damaged"));
        }
        let original = termios::tcgetattr(io::stdin()).ok()?;
        // Typed before the program started, in the mode of the shell: whole lines.
        let ahead = keyboard.with(|state| state.typed_ahead(&typed_ahead()));
        let mut raw = original.clone();
        termios::cfmakeraw(&mut raw);
        raw.output_flags = original.output_flags;
        set(&raw).ok()?;
        keyboard.screen.edits(Box::new(drawing(printer)));
        let mut reader = Self {
            original,
            raw,
            keyboard: keyboard.clone(),
            editor,
            keeps_history: true,
        };
        reader.accept(ahead);
        Some(reader)
    }

    /// Works until it shall quit.
    pub fn serve(mut self) {
        let keyboard = self.keyboard.clone();
        let mut is_ahead = false;
        loop {
            let (ahead, (mode, prompt, draft)) = keyboard.with(|state| {
                // What was typed before the question was seen is no answer to it.
                let asks = !is_ahead && state.asks_anew();
                let keys = if asks { typed_ahead() } else { String::new() };
                (state.typed_ahead(&keys), state.opened(is_ahead))
            });
            self.accept(ahead);
            if mode == Mode::Quit {
                return;
            }
            keyboard.screen.opened(matches!(mode, Mode::Question(_)));
            let end = self.editor.readline_with_initial(prompt.as_str(), (&draft.0, &draft.1));
            let (line, key) = keyboard.with(State::closed);
            let screen = &keyboard.screen;
            screen.clear(text::rows(&(prompt + &line), screen.style.columns()));
            is_ahead = end.is_ok() && key != Key::Suspend;
            match end {
                Ok(line) => self.pressed(key, mode, line),
                // As our own signal ends it.
                Err(ReadlineError::Interrupted | ReadlineError::Errno(Errno::EINTR)) => {}
                // A byte that is no UTF-8: it is dropped, the line stays.
                Err(ReadlineError::Io(error)) if error.kind() == io::ErrorKind::InvalidData => {}
                Err(_) => keyboard.with(State::gone),
            }
        }
    }

    /// A key has ended the line.
    fn pressed(&mut self, key: Key, mode: Mode, line: String) {
        match (key, mode) {
            (Key::Suspend, _) => return self.suspend(),
            (Key::Enter, Mode::Prompt | Mode::Turn) => self.remember(&line),
            // Whoever presses it at an empty prompt looks for the way out.
            (Key::Interrupt, Mode::Prompt) if line.is_empty() => remark(&self.keyboard, EXIT_HINT),
            _ => {}
        }
        self.keyboard.with(|state| state.pressed(key, line));
    }

    /// Takes lines that were typed while no editor was open.
    fn accept(&mut self, lines: Vec<String>) {
        for line in lines {
            self.remember(&line);
            self.keyboard.with(|state| state.lines.push_back(line));
        }
    }

    /// Stops this program, and those it runs under, until the shell wakes them.
    fn suspend(&self) {
        // A terminal that has gone needs no mode.
        let _ = set(&self.original);
        // The whole group, as the terminal would: `cargo run` has to stop too, or the shell waits for it.
        let _ = kill(Pid::from_raw(0), Signal::SIGTSTP);
        // The signal may stop this thread a moment after the call returns; the terminal is the shell's by then.
        thread::sleep(STOPPING);
        let _ = set(&self.raw);
    }

    /// Adds a request to the history, before anybody gets it.
    fn remember(&mut self, line: &str) {
        if line.trim().is_empty() || is_goodbye(line) {
            return;
        }
        let is_new = self.editor.add_history_entry(line).unwrap_or(false);
        if is_new
            && self.keeps_history
            && let Err(error) = self.keep()
        {
            self.keeps_history = false;
            remark(&self.keyboard, &format!("(the history is not kept: {error:#})"));
        }
    }

    /// Writes down what was added.
    fn keep(&mut self) -> anyhow::Result<()> {
        let folder = Path::new(STATE_DIR);
        make_state_folder(folder).with_context(|| format!("creating {}", folder.display()))?;
        let file = folder.join("history");
        let writing = || format!("writing {}", file.display());
        // Made here: rustyline would empty a file that another session has made meanwhile.
        let mut options = OpenOptions::new();
        let options = options.append(true).create(true).mode(0o600);
        options.open(&file).with_context(writing)?;
        self.editor.append_history(&file).with_context(writing)
    }
}

impl Drop for Reader {
    fn drop(&mut self) {
        let _ = set(&self.original);
        self.keyboard.screen.edited();
    }
}

fn remark(keyboard: &Keyboard, remark: &str) {
    let screen = &keyboard.screen;
    screen.lines(&screen.style.paint(Paint::Dim, remark));
}

fn set(mode: &Termios) -> nix::Result<()> {
    termios::tcsetattr(io::stdin(), SetArg::TCSADRAIN, mode)
}

/// What can be read now. The end is left for the editor to find.
fn typed_ahead() -> String {
    let mut keys = Vec::new();
    let mut bytes = [0; 1024];
    while is_readable(PollTimeout::ZERO)
        && let Ok(count @ 1..) = read(io::stdin(), &mut bytes)
    {
        keys.extend_from_slice(&bytes[..count]);
    }
    String::from_utf8_lossy(&keys).into_owned()
}

/// What has the editor draw. The printer waits while the user looks through the history, and nobody else is to wait with
/// it: so it has a thread of its own, from the first time on.
fn drawing(mut printer: impl ExternalPrinter + Send + 'static) -> impl FnMut() + Send {
    let (draw, due) = sync_channel(1);
    let mut print = Some(move || while due.recv().is_ok() && printer.print(DRAW.into()).is_ok() {});
    move || {
        print.take().map(thread::spawn);
        // When it is told already, it has not looked yet.
        let _ = draw.try_send(());
    }
}

fn configured(
    keyboard: &Arc<Keyboard>,
    words: Vec<&'static str>,
) -> Result<Editor<Reporter, FileHistory>> {
    let config = Config::builder()
        .max_history_size(HISTORY_LINES)?
        .bell_style(BellStyle::None)
        // The prompt is ours to draw, with colours or without.
        .color_mode(ColorMode::Forced)
        .keyseq_timeout(Some(ESCAPE_MILLIS))
        .build();
    let history = FileHistory::with_config(&config);
    let mut editor = Editor::with_history(config, history)?;
    editor.set_helper(Some(Reporter(keyboard.clone())));
    for event in [KeyEvent::ctrl('J'), KeyEvent::alt('\r')] {
        editor.bind_sequence(event, Cmd::Newline);
    }
    for (event, key) in [
        (KeyEvent::ctrl('C'), Some(Key::Interrupt)),
        (KeyEvent::ctrl('D'), Some(Key::End)),
        (KeyEvent::ctrl('Z'), Some(Key::Suspend)),
        (KeyEvent::from('\x1b'), Some(Key::Escape)),
        (KeyEvent::from('\t'), None),
    ] {
        let pressed = Pressed {
            key,
            words: words.clone(),
            keyboard: keyboard.clone(),
        };
        editor.bind_sequence(event, EventHandler::Conditional(Box::new(pressed)));
    }
    Ok(editor)
}

/// Reports every edit.
struct Reporter(Arc<Keyboard>);

impl Helper for Reporter {}

impl Completer for Reporter {
    type Candidate = String;
}

impl Validator for Reporter {}

impl Hinter for Reporter {
    type Hint = String;

    /// Called whenever the line has changed.
    fn hint(&self, line: &str, cursor: usize, _: &Context<'_>) -> Option<String> {
        self.0.edited(line, cursor);
        None
    }
}

impl Highlighter for Reporter {
    /// Called whenever the cursor has moved.
    fn highlight_char(&self, line: &str, cursor: usize, kind: CmdKind) -> bool {
        if kind == CmdKind::MoveCursor {
            self.0.edited(line, cursor);
        }
        false
    }

    /// Called whenever the prompt is drawn, with the cursor where it begins.
    fn highlight_prompt<'b, 's: 'b, 'p: 'b>(&'s self, prompt: &'p str, _: bool) -> Cow<'b, str> {
        let screen = &self.0.screen;
        Cow::Owned(screen.above() + &screen.style.paint(Paint::Prompt, prompt))
    }
}

/// A key that is not rustyline's, or Tab.
struct Pressed {
    key: Option<Key>,
    words: Vec<&'static str>,
    keyboard: Arc<Keyboard>,
}

impl ConditionalEventHandler for Pressed {
    fn handle(
        &self,
        _: &Event,
        _: RepeatCount,
        _: bool,
        context: &EventContext<'_>,
    ) -> Option<Cmd> {
        let Some(key) = self.key else {
            return self.complete(context);
        };
        let is_editing = match key {
            // On a line that is not empty it deletes the character under the cursor, as everywhere.
            Key::End => !context.line().is_empty(),
            Key::Escape => self.keyboard.mode() == Mode::Prompt,
            Key::Enter | Key::Interrupt | Key::Suspend => false,
        };
        if is_editing {
            return None;
        }
        self.keyboard.with(|state| state.key = key);
        Some(Cmd::AcceptLine)
    }
}

impl Pressed {
    /// Completes the word that the line is the beginning of, or lists those it may be. rustyline's own completion waits
    /// for the next key, and nothing else closes the prompt meanwhile.
    fn complete(&self, context: &EventContext<'_>) -> Option<Cmd> {
        let line = context.line();
        if context.pos() < line.len() {
            return None;
        }
        let words = beginning_with(line, &self.words);
        match rest(line, &words) {
            "" if words.len() > 1 => {
                remark(&self.keyboard, &words.join("  "));
                Some(Cmd::Noop)
            }
            "" => None,
            rest => Some(Cmd::Insert(1, rest.to_owned())),
        }
    }
}

/// The words that this is the beginning of.
fn beginning_with(line: &str, words: &[&'static str]) -> Vec<&'static str> {
    let words = words.iter().copied();
    words.filter(|word| !line.is_empty() && word.starts_with(line)).collect()
}

/// What all these words, which begin with the line, have in common behind it.
fn rest(line: &str, words: &[&'static str]) -> &'static str {
    let rests = words.iter().map(|word| &word[line.len()..]);
    let common = |a: &'static str, b: &'static str| {
        let same = a.chars().zip(b.chars()).take_while(|(a, b)| a == b);
        &a[..same.map(|(a, _)| a.len_utf8()).sum()]
    };
    rests.reduce(common).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tab_completes_what_the_words_have_in_common() {
        const WORDS: [&str; 4] = ["/help", "/resume", "/team", "/tell"];
        type Case = (&'static str, &'static [&'static str], &'static str);
        let table: &[Case] = &[
            ("/h", &["/help"], "elp"),
            ("/t", &["/team", "/tell"], "e"),
            ("/te", &["/team", "/tell"], ""),
            ("/help", &["/help"], ""),
            ("/", &WORDS, ""),
            ("", &[], ""),
            ("hello", &[], ""),
            ("/help me", &[], ""),
            ("what is /he", &[], ""),
        ];
        for (line, candidates, completed) in table {
            let found = beginning_with(line, &WORDS);
            assert_eq!(&found, candidates, "{line}");
            assert_eq!(rest(line, &found), *completed, "{line}");
        }
    }
}
