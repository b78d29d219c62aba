//! The client against a model that behaves, and against one that does not.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use mock_servers::model::{
    Block as Seen, Brain, Fault, MockModel, Options, Reply, Request, Role, StopReason, calls, says,
};
use s01_loop::{
    ApiError, Client, Credentials, Event, History, Observer, Settings, System, ToolSpec,
    Unobserved, Usage, bash,
};
use serde_json::json;

/// Writes down what a user would see.
#[derive(Default)]
pub struct Notebook(Mutex<Vec<String>>);

impl Observer for Notebook {
    fn see(&self, event: Event<'_>) {
        self.0.lock().unwrap().push(match event {
            Event::Connected(endpoint) => format!("connected {endpoint}"),
            Event::Waiting => "waiting".to_owned(),
            Event::Text(text) => format!("text {text}"),
            Event::Call(call) => format!("call {}", call.name),
            Event::Notice(text) => format!("notice {text}"),
            Event::Spent(usage) => format!("spent {}", usage.output_tokens),
            Event::Done => "done".to_owned(),
        });
    }
}

impl Notebook {
    /// The kinds of events, with runs of text as one.
    pub fn kinds(&self) -> Vec<String> {
        let mut kinds: Vec<String> = self
            .0
            .lock()
            .unwrap()
            .iter()
            .map(|line| line.split(' ').next().unwrap().to_owned())
            .collect();
        kinds.dedup();
        kinds
    }

    pub fn lines(&self) -> Vec<String> {
        self.0.lock().unwrap().clone()
    }

    fn text(&self) -> String {
        self.0.lock().unwrap().iter().filter_map(|line| line.strip_prefix("text ")).collect()
    }
}

pub fn client_of(model: &MockModel) -> Client {
    client_at(model.url(), Credentials::ApiKey("sk-test".into()))
}

pub fn client_at(url: &str, credentials: Credentials) -> Client {
    let settings = Settings {
        credentials,
        base_url: Some(url.to_owned()),
        ..Settings::default()
    };
    Client::new(settings, Arc::new(Unobserved)).unwrap()
}

pub fn asking(request: &str) -> History {
    let mut history = History::default();
    history.user(request);
    history
}

pub fn tools() -> [ToolSpec; 1] {
    [bash::spec()]
}

#[tokio::test]
async fn a_request_has_all_there_is_and_its_text_is_seen_while_it_arrives() {
    let model = MockModel::scripted([
        says("Hello, this is a longer sentence.").and_calls("bash", json!({"command": "ls"}))
    ]);
    let notebook = Arc::new(Notebook::default());
    let client = client_of(&model).watched_by(notebook.clone());
    let reply = client.send("Be brief.", &asking("hi"), &tools()).await.unwrap();
    assert_eq!(reply.message().text(), "Hello, this is a longer sentence.");
    assert_eq!(notebook.text(), reply.message().text());
    assert_eq!(notebook.kinds(), ["waiting", "text", "call", "spent", "done"]);
    assert!(reply.wants_tools());
    let usage = &reply.usage;
    assert!(usage.input_tokens > 0 && usage.output_tokens > 0, "{usage:?}");
    let request = &model.requests()[0];
    assert_eq!(&*request.system, "Be brief.");
    assert_eq!(request.tools[0].name, "bash");
    assert_eq!(request.messages[0].role, Role::User);
    assert_eq!(request.messages[0].blocks, [Seen::Text("hi".into())]);
}

#[tokio::test]
async fn what_all_clones_have_spent_is_counted_in_one_place() {
    let model = MockModel::scripted([says("One."), says("Two.")]);
    let client = client_of(&model);
    assert_eq!(client.spent(), Usage::default());
    let one = client.send("Be brief.", &asking("hi"), &tools()).await;
    let clone = client.clone().watched_by(Arc::new(Unobserved));
    let two = clone.send("Be brief.", &asking("hello"), &[]).await;
    let mut sum = one.unwrap().usage;
    sum += &two.unwrap().usage;
    assert_eq!(client.spent(), sum);
}

#[tokio::test]
async fn breakpoints_are_sent_where_they_were_put_and_none_with_a_question_beside_the_conversation()
{
    let model = MockModel::scripted([says("Hi."), says("Hi.")]);
    let client = client_of(&model).with_breakpoint_on_last_message();
    let mark = json!({"type": "ephemeral"});
    for (tools, expected) in [(&[bash::spec().breakpoint()][..], mark.clone()), (&[], json!(null))]
    {
        let system = System::from("Be brief.").breakpoint();
        client.send(system, &asking("hello"), tools).await.unwrap();
        let body = model.last_request().json();
        assert_eq!(body["tools"][0]["cache_control"], expected);
        assert_eq!(body["system"][0]["cache_control"], mark);
        assert_eq!(body["messages"][0]["content"][0]["cache_control"], expected);
    }
}

/// Pitfall 2: with a half call or an empty message in the history, every later request would be refused.
#[tokio::test]
async fn a_reply_that_is_cut_or_empty_leaves_a_history_that_can_be_sent() {
    let call = calls("bash", json!({"command": "x".repeat(4_000)}));
    let text = says("I write it.").and_calls("bash", json!({"command": "x".repeat(4_000)}));
    let empty = Reply::default().stops_with(StopReason::EndTurn);
    for (sent, kept, is_cut) in [(text, "I write it.", true), (call, "", true), (empty, "", false)]
    {
        let model = MockModel::scripted([sent, says("Shorter then.")]);
        let client = client_of(&model).with_max_tokens(50);
        let mut history = asking("write a long file");
        let reply = client.send("", &history, &tools()).await.unwrap();
        assert_eq!((reply.is_cut(), reply.lost_a_call), (is_cut, is_cut));
        assert!(!reply.wants_tools());
        assert_eq!(reply.message().text(), kept);
        history.reply(&reply);
        history.user("go on");
        client.send("", &history, &tools()).await.unwrap();
    }
}

#[tokio::test]
async fn an_error_status_carries_the_servers_own_words() {
    let model = talking_model(Options {
        require_key: true,
        ..Options::default()
    });
    let client = client_at(model.url(), Credentials::None);
    let error = client.send("", &asking("hi"), &[]).await.unwrap_err();
    assert!(
        matches!(&error, ApiError::Status { status: 401, kind, .. } if kind == "authentication_error"),
        "{error:?}"
    );
    assert!(
        error.to_string().ends_with("check ANTHROPIC_API_KEY or ANTHROPIC_AUTH_TOKEN"),
        "{error}"
    );

    model.fault(Fault::RateLimited { retry_after: 7 }, 1);
    let error = client_of(&model).send("", &asking("hi"), &[]).await.unwrap_err();
    assert!(
        matches!(error, ApiError::Status { status: 429, retry_after: Some(wait), .. } if wait == Duration::from_secs(7)),
        "{error:?}"
    );
}

/// A model that always says the same.
struct Talks;

impl Brain for Talks {
    fn answer(&self, _: &Request) -> Reply {
        says("A sentence that is long enough to be broken.")
    }
}

fn talking_model(options: Options) -> MockModel {
    MockModel::start(options, Talks).unwrap()
}

#[tokio::test]
async fn a_stream_that_breaks_is_an_error_of_its_own_kind() {
    for (fault, expected) in [
        (Fault::Drop, "no answer from"),
        (Fault::DropStream, "the reply was cut off"),
        (Fault::Malformed, "the answer is not a Messages API stream"),
        (Fault::ErrorEvent, "the model's API broke off its reply"),
    ] {
        let model = talking_model(Options::default());
        model.fault(fault, 1);
        let notebook = Arc::new(Notebook::default());
        let client = client_of(&model).watched_by(notebook.clone());
        let error = client.send("", &asking("hi"), &[]).await.unwrap_err().to_string();
        assert!(error.starts_with(expected), "{fault:?}: {error}");
        assert_eq!(notebook.kinds().last().unwrap(), "done", "{fault:?}");
    }
}

/// A server that answers every request with these bytes.
pub fn server_that_answers(answer: String) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let mut stream = stream;
            let _ = stream.read(&mut [0; 4096]);
            let _ = stream.write_all(answer.as_bytes());
        }
    });
    url
}

#[tokio::test(start_paused = true)]
async fn a_model_that_falls_silent_is_given_up() {
    let model = talking_model(Options::default());
    model.fault(Fault::Stall, 1);
    let error = client_of(&model).send("", &asking("hi"), &[]).await.unwrap_err();
    assert!(
        matches!(error, ApiError::Interrupted { .. } | ApiError::Unreachable { .. }),
        "{error:?}"
    );
}

/// Who answers with these settings, as the user is told.
fn endpoint_of(settings: Settings) -> anyhow::Result<String> {
    let notebook = Arc::new(Notebook::default());
    Client::new(settings, notebook.clone())?;
    Ok(notebook.lines().remove(0))
}

#[test]
fn a_base_url_is_understood_or_refused_with_a_sentence() {
    let endpoint = |url: &str| {
        endpoint_of(Settings {
            base_url: Some(url.to_owned()),
            ..Settings::default()
        })
    };
    for url in [
        "http://localhost:11434",
        "http://localhost:11434/",
        "http://localhost:11434/v1",
        "http://localhost:11434/v1/",
    ] {
        assert!(endpoint(url).unwrap().ends_with("at http://localhost:11434"), "{url}");
    }
    for url in ["localhost:11434", "not a url", "ftp://example.com"] {
        let error = format!("{:#}", endpoint(url).unwrap_err());
        assert!(error.starts_with("ANTHROPIC_BASE_URL"), "{url}: {error}");
    }
}

#[test]
fn without_key_and_url_the_mock_model_is_embedded() {
    let endpoint = endpoint_of(Settings::default()).unwrap();
    assert!(endpoint.starts_with("connected the mock model at http://127.0.0.1:"), "{endpoint}");
}
