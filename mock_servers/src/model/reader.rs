//! Reads the body of a request, and reads nothing twice.
//!
//! A conversation of 400 messages comes again with every request. The reader remembers the last bodies, finds the
//! longest beginning of `messages` that it has read before, and parses only what follows.
//! Invariant: what it returns is what a fresh reader would return for the same bytes.

use std::collections::VecDeque;
use std::sync::Arc;

use bytes::Bytes;
use serde::de::IgnoredAny;
use serde_json::Value;

use super::cache::Piece;
use super::check::{self, Betas, Known, Options, Said, System, ToolSet};
use super::refusal::{Flaw, Refusal};
use super::scan::{Scanner, common_prefix};
use super::types::Message;

/// A request's body, read and checked.
#[derive(Debug)]
pub struct Read {
    /// The small fields.
    pub options: Options,
    /// The tools on offer.
    pub tools: Arc<ToolSet>,
    /// The system prompt, and behind it what messages with the role `system` say.
    pub system: Arc<str>,
    /// The conversation, combined.
    pub messages: Vec<Arc<Message>>,
    /// The prompt in the order of the cache's prefix: tools, system, messages.
    pub prompt: Vec<Piece>,
}

/// Reads bodies and remembers the last ones.
#[derive(Default)]
pub struct Reader {
    conversations: VecDeque<Seen>,
    tools: Recent<ToolSet>,
    systems: Recent<System>,
}

/// A `messages` array read before.
struct Seen {
    /// The array, from its bracket on.
    raw: Bytes,
    /// Where each message ends.
    ends: Vec<usize>,
    messages: Vec<Arc<Known>>,
}

/// The parts of a body that were found so far.
#[derive(Default)]
struct Parts {
    options: Options,
    tools: Option<Arc<ToolSet>>,
    system: Option<Arc<System>>,
    messages: Option<Vec<Arc<Known>>>,
}

/// How many conversations are remembered: one for each agent that talks at the same time, and a few more.
const MOST_CONVERSATIONS: usize = 16;

impl Read {
    /// What the prompt costs.
    pub fn tokens(&self) -> u32 {
        self.prompt.iter().map(|piece| piece.tokens).sum()
    }
}

impl Reader {
    /// Reads a body and checks every rule that needs no knowledge of the model.
    pub fn read(&mut self, body: &Bytes, betas: &Betas) -> Result<Read, Refusal> {
        let mut parts = Parts::default();
        let mut scanner = Scanner::new(body);
        let malformed = |_| not_json(body);
        scanner.expect(b'{').map_err(malformed)?;
        if !scanner.take(b'}') {
            loop {
                let name: String = scanner.value().map_err(malformed)?;
                scanner.expect(b':').map_err(malformed)?;
                self.part(&name, body, &mut scanner, &mut parts)?;
                if !scanner.take(b',') {
                    break;
                }
            }
            scanner.expect(b'}').map_err(malformed)?;
        }
        scanner.end().map_err(malformed)?;
        parts.together(betas)
    }

    fn part(
        &mut self,
        name: &str,
        body: &Bytes,
        scanner: &mut Scanner<'_>,
        parts: &mut Parts,
    ) -> Result<(), Refusal> {
        if name == "messages" && scanner.peek() == Some(b'[') {
            parts.messages = Some(self.messages(body, scanner)?);
            return Ok(());
        }
        let here = |flaw: Flaw| flaw.under(name);
        match name {
            "tools" => {
                let read = |value| check::tools(&value).map_err(here);
                parts.tools = Some(self.tools.get(scanner, body, read)?);
            }
            "system" => {
                let read = |value| check::system(value).map_err(here);
                parts.system = Some(self.systems.get(scanner, body, read)?);
            }
            _ => {
                let value = scanner.value().map_err(|_| not_json(body))?;
                if name == "messages" {
                    return Err(here(Flaw::here("Input should be a valid array")).into());
                }
                check::option(name, &value, &mut parts.options).map_err(here)?;
            }
        }
        Ok(())
    }

    /// Reads the messages array, which begins here.
    fn messages(
        &mut self,
        body: &Bytes,
        scanner: &mut Scanner<'_>,
    ) -> Result<Vec<Arc<Known>>, Refusal> {
        let start = scanner.at();
        let (mut messages, mut ends) = self.resume(&body[start..]);
        let malformed = |_| not_json(body);
        match ends.last() {
            Some(end) => scanner.jump(start + end),
            None => scanner.expect(b'[').map_err(malformed)?,
        }
        while !scanner.take(b']') {
            if !messages.is_empty() {
                scanner.expect(b',').map_err(malformed)?;
            }
            let value = scanner.value().map_err(malformed)?;
            let index = messages.len();
            let known =
                check::message(value).map_err(|flaw| flaw.under(index).under("messages"))?;
            messages.push(Arc::new(known));
            ends.push(scanner.at() - start);
        }
        let raw = body.slice(start..scanner.at());
        self.remember(Seen {
            raw,
            ends,
            messages: messages.clone(),
        });
        Ok(messages)
    }

    /// The longest known beginning of this array.
    fn resume(&self, array: &[u8]) -> (Vec<Arc<Known>>, Vec<usize>) {
        let known = |seen: &Seen| {
            let common = common_prefix(&seen.raw, array);
            // A message ends with its brace, so it is known when the brace is.
            seen.ends.partition_point(|end| *end <= common)
        };
        let best = self.conversations.iter().map(|seen| (known(seen), seen));
        match best.max_by_key(|(count, _)| *count) {
            None => (Vec::new(), Vec::new()),
            Some((count, seen)) => (seen.messages[..count].to_vec(), seen.ends[..count].to_vec()),
        }
    }

    fn remember(&mut self, seen: Seen) {
        // A conversation that only grew replaces its earlier state.
        let grew = |old: &Seen| {
            old.messages.len() <= seen.messages.len()
                && old.messages.iter().zip(&seen.messages).all(|(a, b)| Arc::ptr_eq(a, b))
        };
        self.conversations.retain(|old| !grew(old));
        self.conversations.truncate(MOST_CONVERSATIONS - 1);
        self.conversations.push_front(seen);
    }
}

impl Parts {
    /// Checks what spans the parts.
    fn together(self, betas: &Betas) -> Result<Read, Refusal> {
        let sent = self.messages.ok_or_else(|| Flaw::at("messages", "Field required"))?;
        let tools = self.tools.unwrap_or_default();
        let system = self.system.unwrap_or_default();
        let options = self.options;
        let in_messages = sent.iter().enumerate().flat_map(|(i, known)| {
            let needs = known.needs.iter().cloned();
            needs.map(move |need| need.under(i).under("messages"))
        });
        let needs = options.needs.iter().chain(&tools.needs).cloned();
        betas.satisfy(needs.chain(in_messages))?;
        options.threads()?;
        options.together(betas.has("interleaved-thinking-"))?;
        check::instructions(&sent).map_err(|flaw| flaw.under("messages"))?;
        let messages = check::combine(&sent);
        check::conversation(&messages).map_err(|flaw| flaw.under("messages"))?;
        options.chosen_among(&tools)?;
        let mut prompt = [&tools.pieces[..], &system.pieces].concat();
        let mut instructions = vec![&*system.text];
        for (i, known) in sent.iter().enumerate() {
            if check::is_over(&sent, i) {
                continue;
            }
            prompt.extend(&known.pieces);
            if let Said::Instructions {
                text: Some(text), ..
            } = &known.said
            {
                instructions.push(text);
            }
        }
        let system = match &instructions[..] {
            [_] => Arc::clone(&system.text),
            ["", later @ ..] => later.join("\n\n").into(),
            all => all.join("\n\n").into(),
        };
        let set = prompt.iter().filter(|piece| piece.cache.is_some()).count();
        check::breakpoints(set + usize::from(options.cache.is_some()))?;
        if let (Some(life), Some(last)) = (options.cache, prompt.last_mut()) {
            last.cache = Some(life);
        }
        Ok(Read {
            options,
            tools,
            system,
            messages,
            prompt,
        })
    }
}

/// The last different values of one part, by their bytes.
struct Recent<T>(VecDeque<(Vec<u8>, Arc<T>)>);

impl<T> Default for Recent<T> {
    fn default() -> Self {
        Self(VecDeque::new())
    }
}

impl<T> Recent<T> {
    /// Reads the value that begins here, unless it is known.
    fn get(
        &mut self,
        scanner: &mut Scanner<'_>,
        body: &Bytes,
        read: impl Fn(Value) -> Result<T, Flaw>,
    ) -> Result<Arc<T>, Refusal> {
        if let Some((_, known)) = self.0.iter().find(|(raw, _)| scanner.take_known(raw)) {
            return Ok(Arc::clone(known));
        }
        scanner.peek();
        let start = scanner.at();
        let value = scanner.value().map_err(|_| not_json(body))?;
        let new = Arc::new(read(value)?);
        self.0.truncate(MOST_CONVERSATIONS - 1);
        // A copy, so that a remembered system prompt does not keep a whole body alive.
        let raw = body[start..scanner.at()].to_vec();
        self.0.push_front((raw, Arc::clone(&new)));
        Ok(new)
    }
}

/// Says where the whole body stops being JSON.
fn not_json(body: &Bytes) -> Refusal {
    let reason = match std::str::from_utf8(body).map(serde_json::from_str::<IgnoredAny>) {
        Err(error) => error.to_string(),
        Ok(Err(error)) => error.to_string(),
        Ok(Ok(_)) => "expected one object, nested less than 128 levels deep".to_owned(),
    };
    Refusal::invalid(format!("The request body is not valid JSON: {reason}"))
}
