// The official TypeScript SDK against the mock model: `node sdk.mjs URL`. Ends with an error where it is not like the API.

import assert from "node:assert/strict";
import Anthropic from "@anthropic-ai/sdk";

const [baseURL] = process.argv.slice(2);
const model = "claude-sonnet-5-5";
const client = new Anthropic({ baseURL, apiKey: "test", maxRetries: 0 });
const hello = { model, max_tokens: 1000, messages: [{ role: "user", content: "Hello." }] };
const weather = {
  name: "get_weather",
  input_schema: { type: "object", properties: { city: { type: "string" } } },
};

const plain = await client.messages.create(hello);
assert.equal(plain.content[0].text, "Hello from the mock model.");
assert.equal(plain.usage.output_tokens, 7);
assert.match(plain._request_id, /^req_/);

const streamed = await client.messages.stream(hello).finalMessage();
assert.equal(streamed.content[0].text, "Hello from the mock model.");
assert.equal(streamed.stop_reason, "end_turn");

const asked = await client.messages.stream({ ...hello, tools: [weather] }).finalMessage();
const use = asked.content[1];
assert.deepEqual(use.input, { city: "Köln", days: 3 });
const result = { type: "tool_result", tool_use_id: use.id, content: "sunny" };
const answered = await client.messages.create({
  ...hello,
  tools: [weather],
  messages: [
    ...hello.messages,
    { role: "assistant", content: asked.content },
    { role: "user", content: [result] },
  ],
});
assert.equal(answered.content[0].text, "The tool says: sunny");

// The SDK's own loop. It asks for a thread first, and goes on without one when it hears that there is none.
for (const stream of [false, true]) {
  const run = async ({ city }) => `sunny in ${city}`;
  const runner = client.beta.messages.toolRunner({ ...hello, tools: [{ ...weather, run }], stream });
  const last = await runner.runUntilDone();
  assert.equal(last.content[0].text, "The tool says: sunny in Köln");
}
const thread = { ...hello, thread: { type: "create" }, betas: ["message-threads-2026-08-12"] };
await assert.rejects(client.beta.messages.create(thread), (error) => {
  assert.ok(error instanceof Anthropic.BadRequestError);
  assert.equal(error.error.error.details.error_code, "thread_unsupported_request");
  return true;
});

const briefly = [...hello.messages, { role: "system", content: "Be brief." }];
assert.equal((await client.messages.create({ ...hello, messages: briefly })).usage.input_tokens, 2 + 3);

assert.equal((await client.messages.countTokens({ model, messages: hello.messages })).input_tokens, 2);
const ids = [];
for await (const listed of client.models.list({ limit: 1 })) ids.push(listed.id);
assert.ok(ids.includes(model) && ids.includes("claude-sonnet-4-6"));

const orphan = { ...hello, messages: [{ role: "user", content: [result] }] };
await assert.rejects(client.messages.create(orphan), (error) => {
  assert.ok(error instanceof Anthropic.BadRequestError);
  assert.match(error.message, /messages\.0\.content\.0: unexpected `tool_use_id`/);
  return true;
});

const arm = (fault) =>
  client.messages.create({ ...hello, messages: [{ role: "user", content: `/fault ${fault}` }] });
for (const [fault, kind] of [
  ["429", Anthropic.RateLimitError],
  ["529", Anthropic.InternalServerError],
  ["drop", Anthropic.APIConnectionError],
]) {
  await arm(fault);
  await assert.rejects(client.messages.create(hello), (error) => error instanceof kind);
}
await arm("error_event");
await assert.rejects(client.messages.stream(hello).finalMessage(), /Overloaded/);
await arm("429=0");
const patient = await client.messages.create(hello, { maxRetries: 2 });
assert.equal(patient.stop_reason, "end_turn");

console.log("all as in the API");
