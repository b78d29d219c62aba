//! The spinner: shows that something is awaited, and what.
//!
//! It turns in a thread of its own (indicatif's), on the line below what was printed last. Invariant: it is off the
//! screen while anything is written.

use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::style::{Paint, Style};
use crate::text;

const TICK: Duration = Duration::from_millis(100);

/// The columns that the sign and the time take beside the message.
const BESIDE_MESSAGE: usize = 12;

/// What is awaited, and the turning sign of it while there is room.
#[derive(Default)]
pub struct Spinner {
    awaited: Option<String>,
    bar: Option<ProgressBar>,
}

impl Spinner {
    /// What is awaited from now on. Shown by the next [`Spinner::show`].
    pub fn wait_for(&mut self, awaited: Option<String>) {
        if self.awaited != awaited {
            self.awaited = awaited;
            self.hide();
        }
    }

    /// Shows it, if something is awaited and the terminal can take a line back.
    pub fn show(&mut self, style: &Style) {
        let Some(awaited) = &self.awaited else {
            return;
        };
        if self.bar.is_some() || !style.can_move() {
            return;
        }
        let template = style.paint(Paint::Dim, "{spinner} {msg} {elapsed}");
        let template = ProgressStyle::with_template(&template).expect("the template is constant");
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stdout())
            .with_style(template)
            .with_message(awaited.clone());
        bar.enable_steady_tick(TICK);
        self.bar = Some(bar);
    }

    /// Says more about what is awaited, cut to its place in the line, until something else is.
    pub fn note(&self, note: &str, style: &Style) {
        if let Some(bar) = &self.bar {
            let columns = style.columns().saturating_sub(BESIDE_MESSAGE);
            bar.set_message(text::cut(note, columns).into_owned());
        }
    }

    /// Takes it off the screen.
    pub fn hide(&mut self) {
        if let Some(bar) = self.bar.take() {
            bar.finish_and_clear();
        }
    }

    /// Runs this while it is off the screen.
    pub fn beside<T>(&self, write: impl FnOnce() -> T) -> T {
        match &self.bar {
            Some(bar) => bar.suspend(write),
            None => write(),
        }
    }
}
