//! Showing: what a model says and does as it comes, results, remarks and errors, each under the name of who speaks.
//!
//! The main speaker streams, character by character; everybody else is shown by whole lines, so that several may talk at
//! once. Invariant: nothing that comes from a model, a tool or a server reaches the screen before it was made harmless
//! (`text`).

use console::measure_text_width;

use crate::style::Paint;
use crate::{Call, Repl, Shown, text};

/// How wide the label is that says whose result follows.
const LABEL_COLUMNS: usize = 60;

/// What a speaker is about to say.
#[derive(Default)]
pub(crate) struct Speech {
    /// The beginning of a line that is shown when it is whole.
    partial: String,
    /// Whether the reply has said anything; a reply may begin with empty lines, and they are not shown.
    begun: bool,
}

/// A model. Each event of a request is a method, called in order; none blocks.
impl Repl {
    /// A client was made for this endpoint.
    pub fn connected(&self, endpoint: &str) {
        self.say(&format!("{} · {endpoint}", self.inner.name));
    }

    /// A request is on its way.
    pub fn waiting(&self) {
        if self.name.is_none() {
            self.inner.screen.wait_for_model();
        }
    }

    /// A piece of text arrived.
    pub fn text(&self, piece: &str) {
        let speech = &mut *self.speech.lock().unwrap();
        let piece = if speech.begun { piece } else { piece.trim_start_matches('\n') };
        speech.begun |= !piece.is_empty();
        let piece = text::clean(piece);
        if self.name.is_none() {
            return self.inner.screen.text(&piece);
        }
        speech.partial.push_str(&piece);
        if let Some(newline) = speech.partial.rfind('\n') {
            let rest = speech.partial.split_off(newline + 1);
            let lines = std::mem::replace(&mut speech.partial, rest);
            self.lines(&lines);
        }
    }

    /// A tool call arrived whole.
    pub fn call<'a>(&self, call: impl Into<Call<'a>>) {
        self.pause();
        let (call, screen) = (call.into(), &self.inner.screen);
        let line = self.call_line('>', call, self.columns(screen.style.columns()));
        // The user waits for the calls of the main speaker.
        let name = self.name.is_none().then_some(call.name);
        screen.call(call.id, &self.attributed(&line), name);
    }

    /// Something the user should know of.
    pub fn notice(&self, notice: &str) {
        self.pause();
        let notice = format!("({})", text::clean(notice));
        self.painted(Paint::Dim, &notice);
    }

    /// The request is over.
    pub fn done(&self) {
        self.pause();
        if self.name.is_none() {
            self.inner.screen.wait_for_tool();
        }
    }

    /// Shows what there is of the current line and ends it.
    fn pause(&self) {
        let speech = &mut *self.speech.lock().unwrap();
        speech.begun = false;
        if self.name.is_none() {
            self.inner.screen.end_line();
        } else if !speech.partial.is_empty() {
            self.lines(&std::mem::take(&mut speech.partial));
        }
    }
}

/// Everybody else.
impl Repl {
    /// Prints whole lines, above an open prompt.
    pub fn say(&self, text: &str) {
        self.lines(&text::clean(text));
    }

    /// Prints a remark of the harness, dimmed: what it did on its own, such as trying again.
    pub fn remark(&self, text: &str) {
        self.painted(Paint::Dim, &text::clean(text));
    }

    /// The same for what nobody should miss: to standard error where nothing else is shown.
    pub fn warn(&self, text: &str) {
        self.insist(Paint::Dim, text);
    }

    /// Prints what a tool shows of its work on a call, before its result: the two stand together.
    pub fn below<'a>(&self, call: impl Into<Call<'a>>, text: &str) {
        let call = call.into();
        let lines = self.attributed(&text::clean(text));
        self.inner.screen.below(call.id, &lines);
    }

    /// Shows how far a call is, on the line that turns while the user waits for it.
    pub fn progress<'a>(&self, call: impl Into<Call<'a>>, text: &str) {
        let call = call.into();
        self.inner.screen.progress(call.id, &text::one_line(text));
    }

    /// Prints whole lines even when everything else is [quiet](Self::quiet).
    pub fn print(&self, text: &str) {
        let lines = self.attributed(&text::clean(text));
        self.inner.screen.print(&lines);
    }

    /// Shows a short preview of a result below the line of its call.
    pub fn result<'a>(&self, call: impl Into<Call<'a>>, output: impl Into<Shown<'a>>) {
        let (call, output) = (call.into(), output.into());
        let style = &self.inner.screen.style;
        let columns = self.columns(style.columns());
        let (mark, paint) = if output.is_error { ("✗", Paint::Error) } else { (" ", Paint::Dim) };
        let lines = text::preview(&output, columns.saturating_sub(2));
        let lines = lines.iter().enumerate().map(|(index, line)| match index {
            0 => style.paint(paint, &format!("{mark} {line}")),
            _ => style.paint(Paint::Dim, &format!("  {line}")),
        });
        let lines = self.attributed(&lines.collect::<Vec<_>>().join("\n"));
        let label = self.attributed(&self.call_line('<', call, columns.min(LABEL_COLUMNS)));
        self.inner.screen.result(call.id, &label, &lines);
    }

    /// Shows what went wrong, in one sentence; to standard error where nothing else is shown.
    pub(crate) fn error(&self, error: &anyhow::Error) {
        self.insist(Paint::Error, &format!("Error: {error:#}"));
    }

    fn insist(&self, paint: Paint, text: &str) {
        let text = text::clean(text);
        if self.inner.screen.is_quiet() {
            eprintln!("{text}");
        } else {
            self.painted(paint, &text);
        }
    }

    /// Prints whole lines in one colour.
    pub(crate) fn painted(&self, paint: Paint, lines: &str) {
        let style = &self.inner.screen.style;
        let lines = lines.split('\n').map(|line| style.paint(paint, line));
        self.lines(&lines.collect::<Vec<_>>().join("\n"));
    }

    /// Prints whole lines that are clean already.
    pub(crate) fn lines(&self, lines: &str) {
        self.inner.screen.lines(&self.attributed(lines));
    }

    /// The lines, each with the speaker's name in front.
    pub(crate) fn attributed(&self, lines: &str) -> String {
        let Some(name) = &self.name else {
            return lines.to_owned();
        };
        let margin = self.inner.screen.style.paint(Paint::Call, &format!("{name} │"));
        let lines = lines.trim_end_matches('\n').split('\n');
        let lines: Vec<String> = lines.map(|line| format!("{margin} {line}")).collect();
        lines.join("\n")
    }

    /// What is left of a line behind the speaker's name.
    pub(crate) fn columns(&self, columns: usize) -> usize {
        let margin = self.name.as_ref().map_or(0, |name| measure_text_width(name) + 3);
        columns.saturating_sub(margin)
    }

    pub(crate) fn call_line(&self, mark: char, call: Call<'_>, columns: usize) -> String {
        let name = format!("{mark} {}", text::one_line(call.name));
        let line = format!("{name}  {}", text::arguments(call));
        let line = text::cut(line.trim_end(), columns).into_owned();
        match line.strip_prefix(&name) {
            Some(rest) => self.inner.screen.style.paint(Paint::Call, &name) + rest,
            None => line,
        }
    }
}
