//! The rules of the fields beside tools, system and messages, and of what a beta brings.

use mock_servers::model::MockModel;
use serde_json::json;

use super::{assert_refused, assert_table, user};
use crate::client::{hello, post_beta};

#[test]
fn small_fields_have_their_values() {
    assert_table(
        r#"
{"service_tier": "priority"} -> service_tier: Input should be 'auto' or 'standard_only'
{"service_tier": null} -> service_tier: Input should be 'auto' or 'standard_only'
{"service_tier": "standard_only"}
{"speed": "slow"} -> speed: Input should be 'standard' or 'fast'
{"speed": null}
{"inference_geo": 7} -> inference_geo: Input should be a valid string
{"container": 7} -> container: Input should be an object
{"diagnostics": "all"} -> diagnostics: Input should be an object
{"diagnostics": {"previous_message_id": null}}
{"output_config": "high"} -> output_config: Input should be an object
{"output_config": {"effort": "huge"}} -> output_config.effort: Input should be 'low', 'medium', 'high', 'xhigh' or 'max'
{"output_config": {"style": 1}} -> output_config.style: Extra inputs are not permitted
{"output_config": {"format": {"type": "json_schema"}}} -> output_config.format.schema: Field required
{"output_config": {"format": {"type": "text"}}} -> output_config.format.type: Input should be 'json_schema'
{"output_config": {"effort": "xhigh", "format": null}}
{"output_config": {"format": {"type": "json_schema", "schema": {"type": "object"}}}}
{"tool_choice": {"type": "some"}} -> tool_choice: Input tag 'some' found using 'type' does not match any of the …
{"tool_choice": {"type": "any"}} -> tool_choice.any: may only be specified while providing tools
{"tool_choice": {"type": "auto", "name": "ls"}} -> tool_choice.auto.name: Extra inputs are not permitted
{"tool_choice": {"type": "none"}}
"#,
    );
}

#[test]
fn thinking_has_a_type_and_a_budget() {
    assert_table(
        r#"
{"thinking": "high"} -> thinking: Input should be an object
{"thinking": null} -> thinking: Input should be an object
{"thinking": {}} -> thinking.type: Field required
{"thinking": {"type": "deep"}} -> thinking: Input tag 'deep' found using 'type' does not match any of the expected tags: 'adaptive', 'between_tools', 'disabled', 'enabled'
{"thinking": {"type": "disabled"}}
{"thinking": {"type": "disabled", "budget_tokens": 1024}} -> thinking.disabled.budget_tokens: Extra inputs are not permitted
{"thinking": {"type": "between_tools"}}
{"thinking": {"type": "adaptive", "display": "omitted"}}
{"thinking": {"type": "adaptive", "display": "all"}} -> thinking.adaptive.display: Input should be 'summarized' or 'omitted'
{"thinking": {"type": "enabled"}} -> thinking.enabled.budget_tokens: Field required
{"thinking": {"type": "enabled", "budget_tokens": "1024"}} -> thinking.enabled.budget_tokens: Input should be a valid integer
{"thinking": {"type": "enabled", "budget_tokens": 1023}} -> thinking.enabled.budget_tokens: Input should be greater than or equal to 1024
{"thinking": {"type": "enabled", "budget_tokens": 1024}, "max_tokens": 1024} -> `max_tokens` must be greater than `thinking.budget_tokens`
{"thinking": {"type": "enabled", "budget_tokens": 1024}, "max_tokens": 1025}
[interleaved-thinking-2025-05-14] {"thinking": {"type": "enabled", "budget_tokens": 9000}}
{"thinking": {"type": "adaptive"}, "temperature": 0.5} -> `temperature` may only be set to 1 when thinking is enabled
{"thinking": {"type": "adaptive"}, "temperature": 1}
{"thinking": {"type": "adaptive"}, "top_k": 5} -> `top_k` must be unset when thinking is enabled
{"thinking": {"type": "adaptive"}, "top_p": 0.9} -> `top_p` must be greater than or equal to 0.95 or unset when thinking is enabled
{"thinking": {"type": "adaptive"}, "top_p": 0.95}
{"thinking": {"type": "adaptive"}, "tool_choice": {"type": "any"}} -> Thinking may not be enabled when tool_choice forces tool use
{"thinking": {"type": "adaptive"}, "tool_choice": {"type": "tool", "name": "ls"}} -> Thinking may not be enabled when tool_choice forces tool use
{"thinking": {"type": "adaptive"}, "tool_choice": {"type": "auto"}}
"#,
    );
}

#[test]
fn no_tokens_at_all_fill_the_cache_and_nothing_else() {
    assert_table(
        r#"
{"max_tokens": 0}
{"max_tokens": 0, "stream": true} -> max_tokens: 0 is not allowed together with `stream`
{"max_tokens": 0, "thinking": {"type": "adaptive"}}
{"max_tokens": 0, "thinking": {"type": "enabled", "budget_tokens": 1024}} -> `max_tokens` must be greater than `thinking.budget_tokens`
[interleaved-thinking-2025-05-14] {"max_tokens": 0, "thinking": {"type": "enabled", "budget_tokens": 1024}} -> max_tokens: 0 is not allowed together with `thinking.budget_tokens`
{"max_tokens": 0, "output_config": {"format": {"type": "json_schema", "schema": {}}}} -> max_tokens: 0 is not allowed together with a format of the output
{"max_tokens": 0, "tool_choice": {"type": "any"}} -> max_tokens: 0 is not allowed together with a `tool_choice` that forces tool use
"#,
    );
}

#[test]
fn what_a_beta_brings_is_unknown_without_it() {
    const ROWS: &str = r#"
context-management-2025-06-27 {"context_management": {"edits": []}} -> context_management: Extra inputs are not permitted
compact-2026-01-12 {"context_management": {"edits": []}} -> context_management: Extra inputs are not permitted
server-side-fallback-2026-07-01 {"fallbacks": "default"} -> fallbacks: Extra inputs are not permitted
mcp-client-2025-11-20 {"mcp_servers": []} -> mcp_servers: Extra inputs are not permitted
structured-outputs-2025-11-13 {"output_format": null} -> output_format: Extra inputs are not permitted
message-threads-2026-08-12 {"thread": null} -> thread: Extra inputs are not permitted
task-budgets-2026-03-13 {"output_config": {"task_budget": {}}} -> output_config.task_budget: Extra inputs are not permitted
mid-conversation-system-clear-at-2026-08-21 {"messages": [{"role": "user", "content": "a"}, {"role": "system", "content": "b", "clear_at": "never"}]} -> messages.1.clear_at: Extra inputs are not permitted
mid-conversation-output-config-2026-07-01 {"messages": [{"role": "user", "content": "a"}, {"role": "system", "content": "b", "output_config": {}}]} -> messages.1.output_config: Extra inputs are not permitted
mcp-client-2025-11-20 {"messages": [{"role": "user", "content": [{"type": "mcp_tool_result"}]}]} -> messages.0.content.0: Input tag 'mcp_tool_result' found…
mcp-client-2025-11-20 {"tools": [{"type": "mcp_toolset", "mcp_server_name": "docs"}]} -> tools.0: Input tag 'mcp_toolset' found…
computer-use-2025-01-24 {"tools": [{"type": "computer_20250124", "name": "computer"}]} -> tools.0: Input tag 'computer_20250124' found…
"#;
    for row in ROWS.lines().filter(|row| !row.is_empty()) {
        let (beta, row) = row.split_once(' ').expect("a beta and a row");
        let (fields, _) = row.split_once(" -> ").expect("fields and a message");
        let others = "files-api-2025-04-14";
        assert_table(&format!(
            "{row}\n[{others}] {row}\n[{beta}] {fields}\n[{others}, {beta}] {fields}"
        ));
    }
}

/// What the tool runners of the official SDKs ask for first; at this code they go on without a thread.
#[test]
fn a_thread_is_refused_with_the_code_that_clients_know() {
    let model = MockModel::scripted([]);
    let continued = json!({"type": "continue", "previous_message_id": "msg_1"});
    for (thread, messages) in [
        (json!({"type": "create"}), json!([user(json!("a"))])),
        // Only the new turn is sent along: the place of what is wrong with it would say nothing.
        (continued, json!([])),
    ] {
        let mut request = hello();
        request["thread"] = thread;
        request["messages"] = messages;
        let refused = post_beta(&model, "message-threads-2026-08-12", &request);
        let message = "thread: message threads are not kept here. Send the full conversation without `thread`.";
        assert_refused(&refused, 400, "invalid_request_error", message);
        let details = &refused.json()["error"]["details"];
        assert_eq!(
            *details,
            json!({"error_code": "thread_unsupported_request"})
        );
    }
    model.refusals();
}
