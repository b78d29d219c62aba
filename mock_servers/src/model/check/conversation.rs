//! The rules that span messages: who begins, which call has which result, what may come last.
//!
//! These are the rules a harness breaks when it compacts, interrupts or injects. They run on the whole conversation of
//! every request, and cost one walk over its blocks.
//! Invariant: places name the conversation as the API sees it, consecutive messages of one role combined.

use std::collections::HashSet;
use std::sync::Arc;

use super::message::{Known, Said};
use crate::model::refusal::{Flaw, Refusal};
use crate::model::types::{Block, Message, Role};

/// Combines consecutive messages of one role, as the API does. Instructions are no turn.
pub fn combine(messages: &[Arc<Known>]) -> Vec<Arc<Message>> {
    let mut combined: Vec<Arc<Message>> = Vec::with_capacity(messages.len());
    for message in messages.iter().filter_map(turn) {
        match combined.last_mut() {
            Some(last) if last.role == message.role => {
                let more = message.blocks.iter().cloned();
                Arc::make_mut(last).blocks.extend(more);
            }
            _ => combined.push(Arc::clone(message)),
        }
    }
    combined
}

/// Checks where instructions stand: after what the user or a tool said, and before the model speaks. Those in a row are
/// one, and those that say nothing may stand anywhere. Places are those of the messages as they were sent.
pub fn instructions(messages: &[Arc<Known>]) -> Result<(), Flaw> {
    let rule = |i, rule: &str| {
        let form =
            "the directive-only form (content: [] with output_config) is accepted at any position";
        Err(Flaw::at(i, format!("{rule}; {form}")))
    };
    for (i, known) in messages.iter().enumerate() {
        if !speaks(known) {
            continue;
        }
        let Some(before) = messages[..i].iter().rev().find_map(turn) else {
            return rule(i, "use the top-level 'system' parameter for the initial system prompt");
        };
        if before.role != Role::User && !ends_in_server_result(before) {
            return rule(
                i,
                "role 'system' must follow a 'user' message or an 'assistant' message ending in a server tool result",
            );
        }
        let mut after = messages[i + 1..].iter();
        let after = after.find(|known| speaks(known) || turn(known).is_some());
        if after.and_then(turn).is_some_and(|after| after.role == Role::User) {
            return rule(i, "role 'system' must precede an 'assistant' message or end the array");
        }
    }
    Ok(())
}

/// Whether the model no longer sees this message: instructions that ended with a later message of the user.
pub fn is_over(messages: &[Arc<Known>], at: usize) -> bool {
    let passing = matches!(messages[at].said, Said::Instructions { passing: true, .. });
    let mut later = messages[at..].iter().filter_map(turn);
    passing && later.any(|message| message.role == Role::User)
}

/// Checks a combined conversation.
pub fn conversation(messages: &[Arc<Message>]) -> Result<(), Flaw> {
    let Some(first) = messages.first() else {
        return Err(Flaw::here("at least one message is required"));
    };
    if first.role != Role::User {
        return Err(Flaw::here("first message must use the \"user\" role"));
    }
    let mut ids = HashSet::new();
    for (i, message) in messages.iter().enumerate() {
        let last = i + 1 == messages.len();
        if message.blocks.is_empty() && !(last && message.role == Role::Assistant) {
            return Err(Flaw::at(
                i,
                "all messages must have non-empty content except for the optional final assistant message",
            ));
        }
        let previous = if i == 0 { None } else { messages.get(i - 1) };
        let next = messages.get(i + 1);
        match message.role {
            Role::User => results_answer_calls(message, previous).map_err(|flaw| flaw.under(i))?,
            Role::Assistant => {
                ids_are_unique(message, &mut ids).map_err(|flaw| flaw.under(i))?;
                calls_are_answered(message, next, i).map_err(|flaw| flaw.under(i))?;
            }
        }
    }
    ends_well(messages)
}

/// Checks that at most four breakpoints are set.
pub fn breakpoints(count: usize) -> Result<(), Refusal> {
    const MOST: usize = 4;
    if count > MOST {
        let rule = format!("A maximum of {MOST} blocks with cache_control may be provided.");
        return Err(Refusal::invalid(format!("{rule} Found {count}.")));
    }
    Ok(())
}

fn turn(known: &Arc<Known>) -> Option<&Arc<Message>> {
    match &known.said {
        Said::Turn(message) => Some(message),
        Said::Instructions { .. } => None,
    }
}

fn speaks(known: &Known) -> bool {
    matches!(known.said, Said::Instructions { text: Some(_), .. })
}

fn ends_in_server_result(message: &Message) -> bool {
    let kind = match message.blocks.last() {
        Some(Block::Other(value)) => value["type"].as_str(),
        _ => None,
    };
    kind.is_some_and(|kind| kind.ends_with("_tool_result"))
}

fn ids_are_unique<'a>(message: &'a Message, ids: &mut HashSet<&'a str>) -> Result<(), Flaw> {
    for (j, block) in message.blocks.iter().enumerate() {
        if let Block::ToolUse { id, .. } = block
            && !ids.insert(id)
        {
            return Err(in_content(j, "`tool_use` ids must be unique".to_owned()));
        }
    }
    Ok(())
}

/// Every call has its result in the next message, before anything else there.
fn calls_are_answered(
    message: &Message,
    next: Option<&Arc<Message>>,
    at: usize,
) -> Result<(), Flaw> {
    let answers = next.map_or(&[][..], |next| &next.blocks);
    let leading = answers.iter().map_while(result_id).collect::<Vec<_>>();
    let open = call_ids(message).filter(|id| !leading.contains(id)).collect::<Vec<_>>();
    let Some(first) = open.first() else {
        return Ok(());
    };
    let rule = format!(
        "`tool_use` ids were found without `tool_result` blocks immediately after: {}. Each `tool_use` block must have \
         a corresponding `tool_result` block in the next message.",
        open.join(", ")
    );
    // The API stops here. A result that is there, but late, is the harder case to see.
    let late = answers.iter().position(|block| result_id(block) == Some(first));
    let hint = late.map(|j| {
        let place = format!("messages.{}.content.{j}", at + 1);
        format!(
            " Its result is at {place}, after other content: results come first in their message."
        )
    });
    Err(Flaw::here(rule + &hint.unwrap_or_default()))
}

/// Every result answers a call of the message before, once.
fn results_answer_calls(message: &Message, previous: Option<&Arc<Message>>) -> Result<(), Flaw> {
    let mut seen = Vec::new();
    for (j, block) in message.blocks.iter().enumerate() {
        let Some(id) = result_id(block) else {
            continue;
        };
        if !previous.is_some_and(|previous| call_ids(previous).any(|call| call == id)) {
            let rule = format!(
                "unexpected `tool_use_id` found in `tool_result` blocks: {id}. Each `tool_result` block must have a \
                 corresponding `tool_use` block in the previous message."
            );
            return Err(in_content(j, rule));
        }
        if seen.contains(&id) {
            let rule = "each tool_use must have a single result.";
            let found = format!("{rule} Found multiple `tool_result` blocks with id: {id}");
            return Err(in_content(j, found));
        }
        seen.push(id);
    }
    Ok(())
}

fn ends_well(messages: &[Arc<Message>]) -> Result<(), Flaw> {
    let last = messages.last().filter(|message| message.role == Role::Assistant);
    match last.and_then(|message| message.blocks.last()) {
        Some(Block::Text(text)) if text.ends_with(char::is_whitespace) => {
            Err(Flaw::here("final assistant content cannot end with trailing whitespace"))
        }
        _ => Ok(()),
    }
}

fn call_ids(message: &Message) -> impl Iterator<Item = &str> {
    message.blocks.iter().filter_map(|block| match block {
        Block::ToolUse { id, .. } => Some(id.as_str()),
        Block::Text(_) | Block::ToolResult { .. } | Block::Other(_) => None,
    })
}

fn result_id(block: &Block) -> Option<&str> {
    match block {
        Block::ToolResult { tool_use_id, .. } => Some(tool_use_id),
        Block::Text(_) | Block::ToolUse { .. } | Block::Other(_) => None,
    }
}

fn in_content(j: usize, reason: String) -> Flaw {
    Flaw::at(j, reason).under("content")
}
