"""The official Python SDK against the mock model: `sdk.py URL`. Ends with an error where the mock is not like the API."""

import sys

import anthropic

URL = sys.argv[1]
MODEL = "claude-sonnet-5-5"
client = anthropic.Anthropic(base_url=URL, api_key="test", max_retries=0)
WEATHER = {
    "name": "get_weather",
    "description": "The weather of a city.",
    "input_schema": {
        "type": "object",
        "properties": {"city": {"type": "string"}, "days": {"type": "integer"}},
        "required": ["city"],
    },
}


def user(content):
    return {"role": "user", "content": content}


def assistant(content):
    return {"role": "assistant", "content": content}


def text(words):
    return {"type": "text", "text": words}


def call(id):
    return {"type": "tool_use", "id": id, "name": "get_weather", "input": {}}


def result(id):
    return {"type": "tool_result", "tool_use_id": id, "content": "sunny"}


def create(**changes):
    request = {"model": MODEL, "max_tokens": 1000, "messages": [user("Hello.")], **changes}
    return client.messages.create(**request)


def plain():
    message = create()
    assert message.content[0].text == "Hello from the mock model.", message
    assert (message.role, message.model, message.stop_reason) == ("assistant", MODEL, "end_turn")
    assert message.usage.input_tokens == 2 and message.usage.output_tokens == 7, message.usage
    assert message._request_id.startswith("req_"), message._request_id


def streamed():
    with client.messages.stream(model=MODEL, max_tokens=1000, messages=[user("Hello.")]) as stream:
        words = "".join(stream.text_stream)
        message = stream.get_final_message()
    assert words == message.content[0].text == "Hello from the mock model.", words
    assert message.stop_reason == "end_turn" and message.usage.output_tokens == 7, message
    events = [event.type for event in create(stream=True)]
    assert events[0] == "message_start" and events[-1] == "message_stop", events


def tool_round_trip():
    for form in ("plain", "streamed"):
        history = [user("How is the weather in Köln?")]
        request = {"model": MODEL, "max_tokens": 1000, "messages": history, "tools": [WEATHER]}
        if form == "plain":
            message = client.messages.create(**request)
        else:
            with client.messages.stream(**request) as stream:
                message = stream.get_final_message()
        assert message.stop_reason == "tool_use", message
        use = message.content[1]
        assert (use.name, use.input) == ("get_weather", {"city": "Köln", "days": 3}), use
        history += [assistant(message.content), user([result(use.id)])]
        answer = client.messages.create(**request)
        assert answer.content[0].text == "The tool says: sunny", answer


def tool_runner():
    """The SDK's own loop. It asks for a thread first, and goes on without one when it hears that there is none."""
    asked = []

    @anthropic.beta_tool
    def get_weather(city: str, days: int = 1) -> str:
        """The weather of a city.

        Args:
            city: Its name.
            days: For how many days.
        """
        asked.append((city, days))
        return "sunny"

    for stream in (False, True):
        runner = client.beta.messages.tool_runner(
            model=MODEL, max_tokens=1000, messages=[user("How is the weather?")], tools=[get_weather], stream=stream
        )
        message = runner.until_done()
        assert message.content[0].text == "The tool says: sunny", message
    assert asked == [("Köln", 3)] * 2, asked
    request = {"model": MODEL, "max_tokens": 1000, "messages": [user("Hello.")], "thread": {"type": "create"}}
    try:
        client.beta.messages.create(**request, betas=["message-threads-2026-08-12"])
    except anthropic.BadRequestError as error:
        assert error.body["error"]["details"]["error_code"] == "thread_unsupported_request", error.body
    else:
        raise AssertionError("a thread was begun")


def instructions_and_pictures():
    turns = [user("Hello."), {"role": "system", "content": "Be brief."}]
    assert create(messages=turns).usage.input_tokens == 2 + 3
    pixel = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGP4z8AAAAMBAQDJ/pLvAAAAAElFTkSuQmCC"
    source = {"type": "base64", "media_type": "image/png", "data": pixel}
    picture = {"type": "image", "source": source}
    assert create(messages=[user([picture, text("1234")])]).usage.input_tokens == 1600 + 1
    warm = create(max_tokens=0)
    assert (warm.content, warm.stop_reason, warm.usage.output_tokens) == ([], "max_tokens", 0), warm


def cut():
    message = create(tools=[WEATHER], max_tokens=8)
    assert message.stop_reason == "max_tokens", message
    with client.messages.stream(
        model=MODEL, max_tokens=8, messages=[user("Hello.")], tools=[WEATHER]
    ) as stream:
        assert stream.get_final_message().stop_reason == "max_tokens"


def caching():
    system = [{"type": "text", "text": "s" * 8000, "cache_control": {"type": "ephemeral"}}]
    first, second = create(system=system).usage, create(system=system).usage
    assert (first.cache_creation_input_tokens, first.cache_read_input_tokens) == (2000, 0), first
    assert (second.cache_creation_input_tokens, second.cache_read_input_tokens) == (0, 2000), second
    assert first.cache_creation.ephemeral_5m_input_tokens == 2000, first


def lists_and_counts():
    count = client.messages.count_tokens(model=MODEL, messages=[user("12345678")])
    assert count.input_tokens == 2, count
    models = [model.id for model in client.models.list()]
    assert MODEL in models and "claude-sonnet-4-6" in models, models
    assert [model.id for model in client.models.list(limit=1)] == models
    assert client.models.retrieve(MODEL).display_name == "Claude Sonnet 5.5"


def refused(kind, status, words, ask):
    try:
        ask()
    except kind as error:
        assert type(error) is kind, type(error)
        assert error.status_code == status, error
        assert words in error.message, error
        assert error.body["type"] == "error", error.body
    else:
        raise AssertionError(f"not refused: {words}")


def refusals():
    schema = {"type": "object"}
    rows = [
        ({"max_tokens": 10**6, "timeout": 60}, "max_tokens: 1000000 > 128000"),
        ({"max_tokens": "many", "timeout": 60}, "max_tokens: Input should be a valid integer"),
        ({"messages": []}, "at least one message is required"),
        ({"messages": [assistant("Hi.")]}, "first message must use the \"user\" role"),
        ({"messages": [user("")]}, "messages.0: all messages must have non-empty content"),
        ({"messages": [user([text("")])]}, "text content blocks must be non-empty"),
        ({"messages": [user("a"), assistant("b ")]}, "cannot end with trailing whitespace"),
        ({"messages": [user("a"), assistant([call("t1")]), user("b")]}, "messages.1: `tool_use` ids were found"),
        ({"messages": [user([result("t1")])]}, "messages.0.content.0: unexpected `tool_use_id`"),
        (
            {"messages": [user("a"), assistant([call("t1")]), user([text("b"), result("t1")])]},
            "results come first in their message",
        ),
        (
            {"messages": [user("a"), assistant([call("t1"), call("t1")]), user([result("t1")])]},
            "messages.1.content.1: `tool_use` ids must be unique",
        ),
        ({"tools": [WEATHER, WEATHER]}, "tools: Tool names must be unique."),
        ({"tools": [{"name": "a.b", "input_schema": schema}]}, "tools.0.custom.name: String should match pattern"),
        ({"tools": [{"name": "a", "input_schema": {}}]}, "tools.0.custom.input_schema.type: Field required"),
        (
            {"tools": [{"name": "a", "input_schema": {**schema, "properties": {"a b": {}}}}]},
            "Property keys should match pattern '^[a-zA-Z0-9_.-]{1,64}$'",
        ),
        (
            {"system": [{**text("a"), "cache_control": {"type": "ephemeral"}}] * 5},
            "A maximum of 4 blocks with cache_control may be provided. Found 5.",
        ),
        ({"messages": [user("a" * 800_004)]}, "prompt is too long: 200001 tokens > 200000 maximum"),
        ({"thinking": {"type": "enabled", "budget_tokens": 1000}}, "thinking.enabled.budget_tokens: Input should be"),
        ({"service_tier": "priority"}, "service_tier: Input should be 'auto' or 'standard_only'"),
        ({"extra_body": {"mcp_servers": []}}, "mcp_servers: Extra inputs are not permitted"),
        ({"extra_body": {"reminder": True}}, "reminder: Extra inputs are not permitted"),
    ]
    for changes, words in rows:
        refused(anthropic.BadRequestError, 400, words, lambda: create(**changes))
    too_large = lambda: create(messages=[user("a" * (33 * 1024 * 1024))])
    refused(anthropic.RequestTooLargeError, 413, "exceeds the maximum size", too_large)
    nobody = {"Authorization": anthropic.Omit()}
    no_key = anthropic.Anthropic(base_url=URL, default_headers=nobody, max_retries=0)
    refused(anthropic.AuthenticationError, 401, "x-api-key header is required", lambda: no_key.models.list())
    refused(anthropic.NotFoundError, 404, "model: gpt", lambda: client.models.retrieve("gpt"))


def faults():
    arm = lambda fault: create(messages=[user(f"/fault {fault}")])
    for fault, kind, status, words in [
        ("429=7", anthropic.RateLimitError, 429, "rate limit"),
        ("500", anthropic.InternalServerError, 500, "Internal server error"),
        ("529", anthropic.OverloadedError, 529, "Overloaded"),
        ("too_long", anthropic.BadRequestError, 400, "prompt is too long"),
    ]:
        arm(fault)
        refused(kind, status, words, create)
    arm("drop")
    try:
        create()
    except anthropic.APIConnectionError:
        pass
    else:
        raise AssertionError("a dropped connection went unnoticed")
    arm("error_event")
    try:
        list(create(stream=True))
    except anthropic.APIStatusError as error:
        assert error.body["error"]["type"] == "overloaded_error", error.body
    else:
        raise AssertionError("an error event went unnoticed")
    arm("429=0 2")
    patient = client.with_options(max_retries=2)
    message = patient.messages.create(model=MODEL, max_tokens=100, messages=[user("Hello.")])
    assert message.stop_reason == "end_turn", message


for check in (
    plain,
    streamed,
    tool_round_trip,
    tool_runner,
    instructions_and_pictures,
    cut,
    caching,
    lists_and_counts,
    refusals,
    faults,
):
    check()
    print(check.__name__, flush=True)
print("all as in the API")
