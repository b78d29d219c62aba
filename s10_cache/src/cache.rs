//! The prompt cache: what was assembled is kept until its inputs change.
//!
//! The API reads a prefix from its cache when it is the same byte for byte; the harness need not write it anew to find
//! out. It also shows which sections have changed. Invariant: what comes out is what
//! [`assemble`](crate::assemble()) makes of the context, kept or not.

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
    /// An empty cache that says on this terminal what it does.
    pub fn new(repl: &Repl) -> Self {
        Self {
            repl: repl.clone(),
            cached: None,
        }
    }

    /// The system prompt and the tools of this context. Only sections whose inputs have changed are written anew.
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
        let is_other = |section: &Section| !section.has_same_inputs(&cached.context, &context);
        let changed: Vec<Section> = Section::ALL.into_iter().filter(is_other).collect();
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

    /// Where the texts lie in memory: one that was written anew lies elsewhere.
    fn places(cache: &PromptCache) -> Vec<usize> {
        let cached = cache.cached.as_ref().unwrap();
        let texts = cached.texts.iter().map(|text| text.as_ptr() as usize);
        let tools = cached
            .tools
            .last()
            .map_or(0, |tool| tool.wire().as_ptr() as usize);
        texts.chain([tools]).collect()
    }

    /// Assembles one context after the other, and says which parts were written anew for the second.
    fn written_anew(before: Context, after: Context) -> Vec<&'static str> {
        let mut cache = cache();
        cache.assemble(before);
        let old = places(&cache);
        let old_texts = cache.cached.as_ref().unwrap().texts.clone();
        let (system, tools) = cache.assemble(after.clone());
        assert_eq!(
            system,
            assemble(&after),
            "a cached prompt differs from a fresh one"
        );
        assert_eq!(tools, with_breakpoint(&after.tools));
        let names = Section::ALL.map(Section::name).into_iter().chain(["specs"]);
        let texts = &cache.cached.as_ref().unwrap().texts;
        let moved = places(&cache);
        let parts = names.enumerate().filter(|(index, _)| {
            // Empty texts have no place of their own.
            moved[*index] != old[*index] || texts.get(*index) != old_texts.get(*index)
        });
        parts.map(|(_, name)| name).collect()
    }

    #[test]
    fn what_has_not_changed_is_not_written_again() {
        let place = Place::new();
        assert_eq!(written_anew(place.context(), place.context()), [""; 0]);
    }

    #[test]
    fn each_change_rebuilds_exactly_what_depends_on_it() {
        let place = Place::new();
        let before = || place.context();
        for (part, after) in [
            ("identity", before().identity("You are alice.")),
            ("servers", before().servers("# Servers\ndocs")),
            ("skills", before().skills("# Skills\n- pdf: Writes.")),
            ("skills", before().skills("")),
            ("memory", before().memory("# Memory\n- spaces")),
            ("memory", before().memory("")),
        ] {
            assert_eq!(written_anew(before(), after), [part]);
        }
    }

    #[test]
    fn another_toolbox_rebuilds_the_tools_section_and_the_specs() {
        let place = Place::new();
        let with = |tool| Context::read(&place.ws, &place.tools.clone().with(tool));
        let one = with(tool("look", "Looks."));
        assert_eq!(
            written_anew(Context::read(&place.ws, &place.tools), one.clone()),
            ["tools", "specs"]
        );
        let other_description = with(tool("look", "Looks closely."));
        assert_eq!(written_anew(one, other_description), ["tools", "specs"]);
    }

    #[test]
    fn a_breakpoint_that_a_tool_brings_is_the_only_one() {
        let place = Place::new();
        let tools = Toolbox::new()
            .with(bash(&place.ws).breakpoint())
            .with(tool("late", "Comes and goes."));
        let (_, specs) = cache().assemble(Context::read(&place.ws, &tools));
        let has: Vec<bool> = specs.iter().map(ToolSpec::has_breakpoint).collect();
        assert_eq!(has, [true, false]);
        let (_, specs) = cache().assemble(place.context());
        let has: Vec<bool> = specs.iter().map(ToolSpec::has_breakpoint).collect();
        assert_eq!(has, [false, true], "else it stands after the last");
    }

    #[test]
    fn a_repository_that_appears_rebuilds_the_workspace_section() {
        let place = Place::new();
        let before = place.context();
        std::fs::create_dir(place.root.path().join(".git")).unwrap();
        assert_eq!(written_anew(before, place.context()), ["workspace"]);
    }

    /// Time with seconds in the prompt would let no cache ever hit.
    #[test]
    fn seconds_change_nothing_and_midnight_changes_the_date() {
        let place = Place::new();
        let at = |time| place.context().at(&moment(time));
        let evening = || at("2026-01-31T23:59:58");
        assert_eq!(written_anew(evening(), at("2026-01-31T23:59:59")), [""; 0]);
        assert_eq!(written_anew(evening(), at("2026-02-01T00:00:00")), ["date"]);
    }
}
