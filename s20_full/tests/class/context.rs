//! A full context, and what arrives meanwhile: nothing that came from outside is summarized away unread.

use mock_servers::model::{Fault, Options, Request, calls, says};
use serde_json::{Value, json};
use testkit::Class;

use super::{class, model, model_with, news, of_the_lead, prompt_below, session};

pub const DUE: &str = "[Scheduled] water the plants";
/// Makes the job due that the tests have prepared.
const COMES_DUE: &str = "cp due.json .harness/cron.json";

/// One job of `cron.json`, due at this moment.
pub fn jobs(next: &str) -> String {
    let job = json!({"id": "cron_stored", "cron": "0 9 * * *", "prompt": "water the plants",
        "recurring": false, "next": next});
    json!({"version": 1, "jobs": [job]}).to_string()
}

/// A workspace with a job that a command makes due: what is due is taken at the next round, without any clock.
fn with_a_job(settings: &Value) -> Class {
    class(&[])
        .file(".harness/settings.json", settings.to_string())
        .file(".harness/cron.json", jobs("2999-01-01T00:00:00Z"))
        .file("due.json", jobs("2020-01-01T09:00:00Z"))
}

/// A prompt that was missed while nothing ran is the first request of the session. Its turn is longer than the window.
#[test]
fn a_scheduled_prompt_is_known_to_the_end_of_its_turn() {
    let options = Options {
        context_tokens: 14_000,
        ..Options::strict()
    };
    let model = model_with(options, |request: &Request| {
        if news(request).contains("the last page") {
            return says("Watered.");
        }
        let texts = request.user_texts().join(" ");
        let summarized = texts.contains("<conversation-summary>");
        let page = if summarized { "last.txt" } else { "page.txt" };
        calls("read_file", json!({"path": page}))
    });
    let class = class(&[])
        .file(".harness/cron.json", jobs("2020-01-01T09:00:00Z"))
        .file("page.txt", "All work and no play. ".repeat(600))
        .file("last.txt", "This is the last page.")
        .model(&model)
        .env("MODEL_CONTEXT_TOKENS", "14000");
    class.types(&[]).succeeds().shows("[compacted:").shows("Watered.");
    for request in of_the_lead(&model) {
        let texts = request.user_texts();
        assert!(texts.iter().any(|text| text.contains(DUE)), "{texts:#?}");
    }
}

/// It comes due between the user's line and the first request, and that request is refused as too long.
#[test]
fn what_comes_with_a_request_that_is_too_long_is_told_again() {
    let hook = json!([{"hooks": [{"type": "command", "command":
        format!("grep -q second && {COMES_DUE}; exit 0")}]}]);
    let settings = json!({"hooks": {"UserPromptSubmit": hook}});
    let model = model(|request: &Request| {
        let is_second = news(request).contains("second");
        says(if is_second { "Both.".to_owned() } else { "word ".repeat(2_000) })
    });
    let class = with_a_job(&settings).model(&model);
    let mut terminal = session(&class);
    terminal.type_line("the first");
    prompt_below(&mut terminal, "fresh 0 tokens]");
    model.fault(Fault::TooLong, 1);
    terminal.type_line("the second");
    prompt_below(&mut terminal, "Both.");
    let last = of_the_lead(&model).pop().unwrap();
    let told = news(&last);
    assert!(told.contains("the second") && told.contains(DUE), "{told}\n{}", terminal.screen());
}
