//! The prompt cache: what was assembled is kept until its inputs change.
//!
//! The API reads a prefix from its cache when it is the same byte for byte, so an unchanged prompt is reused as it is.
//! The user is shown which sections changed. Invariant: the result is what [`assemble`](crate::assemble()) makes of the
//! context, kept or not.

use s01_loop::{Repl, System, ToolSpec};

use crate::assemble::join;
use crate::context::Context;
use crate::section::Section;

/// Keeps what it assembled until its inputs change.
pub struct PromptCache {
    repl: Repl,
    cached: Option<CachedPrompt>,
}

/// The last prompt, and what it was made of.
struct CachedPrompt {
    context: Context,
    texts: [String; Section::ALL.len()],
    system: System,
    tools: Vec<ToolSpec>,
}

impl PromptCache {
    /// An empty cache that reports hits and rebuilds to this terminal.
    pub fn new(repl: &Repl) -> Self {
        Self {
            repl: repl.clone(),
            cached: None,
        }
    }

    /// The system prompt and the tools of this context. Only sections whose inputs changed are rendered again.
    pub fn assemble(&mut self, context: Context) -> (System, Vec<ToolSpec>) {
        let cached = match self.cached.take() {
            None => self.first(context),
            Some(cached) => self.next(cached, context),
        };
        let prompt = (cached.system.clone(), cached.tools.clone());
        self.cached = Some(cached);
        prompt
    }

    fn first(&self, context: Context) -> CachedPrompt {
        let texts = Section::ALL.map(|section| section.render(&context));
        let written = Section::ALL.into_iter().zip(&texts);
        let written = written.filter(|(_, text)| !text.is_empty());
        self.rebuilt(written.map(|(section, _)| section));
        CachedPrompt {
            system: join(&texts),
            tools: with_breakpoint(&context.tools),
            texts,
            context,
        }
    }

    fn next(&self, mut cached: CachedPrompt, context: Context) -> CachedPrompt {
        let changed = changed(&cached.context, &context);
        if changed.is_empty() {
            self.repl.remark("[cache hit]");
            return cached;
        }
        for section in &changed {
            cached.texts[*section as usize] = section.render(&context);
        }
        cached.system = join(&cached.texts);
        if changed.contains(&Section::Tools) {
            cached.tools = with_breakpoint(&context.tools);
        }
        self.rebuilt(changed);
        CachedPrompt { context, ..cached }
    }

    fn rebuilt(&self, sections: impl IntoIterator<Item = Section>) {
        let names: Vec<&str> = sections.into_iter().map(Section::name).collect();
        let names = names.join(", ");
        self.repl.remark(&format!("[prompt rebuilt: {names}]"));
    }
}

/// The sections whose texts differ between the contexts.
fn changed(before: &Context, after: &Context) -> Vec<Section> {
    let is_other = |section: &Section| !section.has_same_inputs(before, after);
    Section::ALL.into_iter().filter(is_other).collect()
}

/// The tools, with a prompt-cache breakpoint after the last one: they are the beginning of every request. A breakpoint that
/// is already there stays where it is.
fn with_breakpoint(tools: &[ToolSpec]) -> Vec<ToolSpec> {
    let mut tools = tools.to_vec();
    if !tools.iter().any(ToolSpec::has_breakpoint)
        && let Some(last) = tools.last_mut()
    {
        *last = last.breakpoint();
    }
    tools
}

#[cfg(test)]
mod tests {
    use std::future::ready;

    use jiff::Zoned;
    use s01_loop::Output;
    use s02_tools::{Access, Tool, Toolbox, Workspace, bash, read_file};
    use serde_json::json;
    use tempfile::TempDir;

    use super::*;
    use crate::assemble::assemble;

    /// A directory, and a context that reads it.
    struct Place {
        root: TempDir,
        ws: Workspace,
        tools: Toolbox,
    }

    impl Place {
        fn new() -> Self {
            let root = tempfile::tempdir().unwrap();
            let ws = Workspace::at(root.path()).unwrap();
            let tools = Toolbox::new().with(bash(&ws)).with(read_file(&ws));
            Self { root, ws, tools }
        }

        fn context(&self) -> Context {
            Context::read(&self.ws, &self.tools)
                .skills("# Skills\n- pdf: Reads.")
                .memory("# Memory\n- tabs")
                .at(&moment("2026-01-31T23:59:59"))
        }
    }

    fn moment(text: &str) -> Zoned {
        format!("{text}+00:00[+00:00]").parse().unwrap()
    }

    fn tool(name: &str, description: &str) -> Tool {
        let spec = ToolSpec::with_schema(name, description, json!({"type": "object"}));
        Tool::new(spec, |_| ready(Output::ok("done"))).touching(Access::Nothing)
    }

    fn cache() -> PromptCache {
        PromptCache::new(&Repl::typed("s10_cache").quiet())
    }

    /// Assembles one context after the other and returns the sections that the second one rebuilds.
    fn written_anew(before: &Context, after: &Context) -> Vec<&'static str> {
        let mut cache = cache();
        cache.assemble(before.clone());
        let (system, tools) = cache.assemble(after.clone());
        assert_eq!(system, assemble(after), "as if nothing had been kept");
        assert_eq!(tools, with_breakpoint(&after.tools));
        let changed = changed(before, after).into_iter();
        changed.map(Section::name).collect()
    }

    #[test]
    fn each_change_rebuilds_exactly_what_depends_on_it() {
        let place = Place::new();
        let before = || place.context();
        let look = tool("look", "Looks.");
        let toolbox = place.tools.clone().with(look);
        let mut tools = before();
        tools.tools = toolbox.specs();
        for (part, after) in [
            (&["identity"][..], before().identity("You are alice.")),
            (&["servers"], before().servers("# Servers\ndocs")),
            (&["skills"], before().skills("# Skills\n- pdf: Writes.")),
            (&["skills"], before().skills("")),
            (&["memory"], before().memory("")),
            (&["tools"], tools),
            (&[], before()),
        ] {
            assert_eq!(written_anew(&before(), &after), part);
        }
        let before = before();
        std::fs::create_dir(place.root.path().join(".git")).unwrap();
        assert_eq!(written_anew(&before, &place.context()), ["workspace"]);
    }

    #[test]
    fn a_breakpoint_that_a_tool_brings_is_the_only_one() {
        let place = Place::new();
        let tools =
            Toolbox::new().with(bash(&place.ws).breakpoint()).with(tool("late", "Comes and goes."));
        let (_, specs) = cache().assemble(Context::read(&place.ws, &tools));
        let has: Vec<bool> = specs.iter().map(ToolSpec::has_breakpoint).collect();
        assert_eq!(has, [true, false]);
        let (_, specs) = cache().assemble(place.context());
        let has: Vec<bool> = specs.iter().map(ToolSpec::has_breakpoint).collect();
        assert_eq!(has, [false, true], "else it stands after the last");
    }

    /// With seconds in the prompt no cache would ever hit.
    #[test]
    fn seconds_change_nothing_and_midnight_changes_the_date() {
        let place = Place::new();
        let at = |time| place.context().at(&moment(time));
        let evening = at("2026-01-31T23:59:58");
        let (later, next_day) = (at("2026-01-31T23:59:59"), at("2026-02-01T00:00:00"));
        assert_eq!(written_anew(&evening, &later), [""; 0]);
        assert_eq!(written_anew(&evening, &next_day), ["date"]);
    }
}
