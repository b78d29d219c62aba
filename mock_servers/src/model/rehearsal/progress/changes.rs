//! Changes of files that were read: worked out from what is known of them.
//!
//! Several changes of one file build on each other, so what a change made of it is known as if it had been read. What each
//! came to is noted aloud where the text it was worked out from may be taken away.
//! Invariant: a file of which nothing is known is not changed.

use serde_json::Value;

use super::{Deed, Outcome, Walk};
use crate::model::rehearsal::edits;
use crate::model::rehearsal::gist;
use crate::model::rehearsal::left::Left;
use crate::model::rehearsal::slots::Slots;
use crate::model::rehearsal::steps::{Objects, Step};
use crate::model::rehearsal::table::{Intent, Rewrite, Way};
use crate::model::rehearsal::verdict::{Verdict, judge};

impl<'a> Walk<'_, 'a> {
    /// A step that changes files as they were read.
    pub(super) fn rewrite_all(
        &mut self,
        index: usize,
        step: &Step,
        rewrite: Rewrite,
    ) -> Outcome<'a> {
        let paths: Vec<String> = match &step.objects {
            Objects::Named(paths) => paths.clone(),
            Objects::Found(on) => self.found(*on, step.most),
            Objects::None | Objects::Unclear => return Outcome::Unclear,
        };
        let mut deeds = Vec::new();
        let mut known = paths.is_empty();
        for path in paths {
            let before = self.calls.wanted.len();
            let deed = match self.known.contains_key(&path) {
                true => self.rewrite(index, step.intent, rewrite, &step.slots, &path),
                false => self.settled(step.intent, &path),
            };
            if deed.is_none() && self.calls.wanted.len() == before {
                self.read_again(&path);
            }
            known |= deed.is_some() || self.calls.wanted.len() > before;
            deeds.extend(deed);
        }
        match known {
            true => Outcome::Done(deeds),
            false => Outcome::Skipped,
        }
    }

    /// Remembers a file that was read whole.
    pub(super) fn learn(&mut self, way: &Way, deed: &Deed) {
        let whole = matches!(
            way.args,
            [("path", "{path}")] | [("command", "cat {path|sh}")]
        );
        let all = matches!(deed.left, Left::Whole(_)) && deed.verdict == Verdict::Fine;
        let Some(path) = deed.path.as_ref().filter(|_| whole && all) else {
            return;
        };
        if deed.content.trim_end().ends_with(')') && deed.content.contains("read on with offset") {
            return;
        }
        let mut text = match gist::body(deed.content) {
            "" => String::new(),
            _ => gist::unnumbered(deed.content),
        };
        // The shell's output comes without its last line break.
        if way.tool == "bash" && !text.is_empty() && !text.ends_with('\n') {
            text.push('\n');
        }
        self.known.insert(path.clone(), text);
    }

    /// Changes a file as it is known; `None` when the call is still to be made.
    fn rewrite(
        &mut self,
        index: usize,
        intent: &'static Intent,
        rewrite: Rewrite,
        slots: &Slots,
        path: &str,
    ) -> Option<Deed<'a>> {
        let old = self.known.get(path)?.clone();
        let new = rewrite(path, &old);
        let passage = edits::passage(&old, &new.text);
        let fits = |way: &&Way| passage.is_some() || way.tool != "edit_file";
        let offered = |way: &&Way| self.tools.iter().any(|tool| tool.name == way.tool);
        let ways = || intent.by.iter().filter(offered);
        let way = ways().find(fits).or_else(|| ways().next())?;
        if new.text == old {
            return Some(self.noted(intent, unchanged(way.tool, path, new.note)));
        }
        let (part, instead) = passage.unwrap_or((old, new.text.clone()));
        let mut slots = slots.clone();
        slots.set("old", part);
        slots.set("new", instead);
        slots.set("whole", new.text.clone());
        let deed = self.deed(index, intent, way, &slots, Some(path.to_owned()))?;
        if !deed.verdict.is_done() {
            return Some(deed);
        }
        self.known.insert(path.to_owned(), new.text);
        let note = new.note;
        Some(self.noted(intent, Deed { note, ..deed }))
    }

    /// A file was read, and its text is gone before all was done to it.
    fn read_again(&mut self, path: &str) {
        let is_gone =
            |deed: &Deed| deed.verdict == Verdict::Gone && deed.path.as_deref() == Some(path);
        let step = self
            .outcomes
            .iter()
            .position(|outcome| outcome.deeds().iter().any(is_gone));
        let named = |call: &super::Call| {
            let words =
                ["path", "command"].map(|name| call.input.get(name).and_then(Value::as_str));
            words.into_iter().flatten().any(|word| word.contains(path))
        };
        let call = self
            .planned
            .iter()
            .find(|(at, call)| Some(*at) == step && named(call));
        if let Some((at, call)) = call {
            self.calls.wanted.push(super::Wanted {
                step: Some(*at),
                found: None,
                doing: None,
                call: call.clone(),
            });
        }
    }

    /// Says once what a change came to.
    fn noted(&mut self, intent: &Intent, deed: Deed<'a>) -> Deed<'a> {
        let path = deed.path.as_deref().unwrap_or_default();
        self.note_line(&key(intent, path), &deed.note, false);
        deed
    }

    /// A change whose file is not known any more, as it was noted when it was made.
    fn settled(&self, intent: &'static Intent, path: &str) -> Option<Deed<'a>> {
        let noted = self.turn.finding(&key(intent, path)).map(str::to_owned);
        let done = || format!("Done: {}", intent.doing.replace("{path}", path));
        let tool = intent.by.first()?.tool;
        let is_change = |past: &&super::Past| {
            let named = past.input.get("path").and_then(Value::as_str) == Some(path);
            past.is_free() && named && matches!(past.name.as_ref(), "edit_file" | "write_file")
        };
        if let Some(past) = self.turn.calls.iter().find(is_change) {
            past.take();
            let deed = unchanged(tool, path, noted.unwrap_or_else(done));
            return Some(Deed {
                verdict: judge(past),
                content: past.content,
                round: past.round,
                ..deed
            });
        }
        Some(unchanged(tool, path, noted?))
    }
}

/// What was noted of a change is found again under this name.
fn key(intent: &Intent, path: &str) -> String {
    format!("{path} ({})", intent.name)
}

fn unchanged<'a>(tool: &'static str, path: &str, note: String) -> Deed<'a> {
    Deed {
        path: Some(path.to_owned()),
        tool: tool.into(),
        content: "",
        verdict: Verdict::Fine,
        left: Left::Whole(""),
        similar: Vec::new(),
        note,
        round: 0,
    }
}
