//! A prompt that is too long: shortened once and sent again, given up the second time, and never a compaction within a compaction.

use mock_servers::model::{Fault, MockModel, Options, Request, says};
use s01_loop::{History, Message, Repl, Settings};
use s02_tools::Workspace;
use s08_compact::Compactor;
use s11_recovery::Recovery;
use tempfile::TempDir;

use crate::diary::{Diary, SENTENCE, client, settings};

const SUMMARIZER: &str = "You summarize a conversation";

/// A recovery as the chapter puts it together, and the folder that its compactor writes to.
struct Bench {
    recovery: Recovery,
    diary: Diary,
    _dir: TempDir,
}

impl Bench {
    fn new(model: &MockModel, window: u32) -> Self {
        let settings = Settings {
            context_tokens: Some(window.to_string()),
            ..settings(model.url())
        };
        let dir = tempfile::tempdir().unwrap();
        let ws = Workspace::at(dir.path()).unwrap();
        let repl = Repl::typed("test").quiet();
        let diary = Diary::default();
        let recovery = Recovery::with_clock(client(settings), diary.clone());
        let compactor = Compactor::new(&recovery, &ws, &repl);
        let recovery = recovery.with_compactor(&compactor);
        Self {
            recovery,
            diary,
            _dir: dir,
        }
    }
}

/// A model that summarizes when it is asked to and else says a sentence.
fn model(window: u32, faults: Vec<Fault>) -> MockModel {
    let options = Options {
        context_tokens: window,
        faults,
        ..Options::strict()
    };
    let brain = |request: &Request| {
        if request.system.starts_with(SUMMARIZER) {
            says("They talked at length.")
        } else {
            says(SENTENCE)
        }
    };
    MockModel::start(options, brain).unwrap()
}

/// A conversation of some turns, each of about so many tokens, that ends with a request.
fn talk(turns: usize, tokens: usize) -> History {
    let mut history = History::default();
    for turn in 0..turns {
        history.user(format!("Question {turn}: {}", "word ".repeat(tokens * 4 / 5)));
        history.push(Message::assistant(format!("Answer {turn}.")));
    }
    history.user("And the last question?");
    history
}

fn is_summary(request: &Request) -> bool {
    request.system.starts_with(SUMMARIZER)
}

/// Pitfall 5, too: emergency compaction loses the user's request.
#[tokio::test]
async fn a_prompt_that_is_too_long_is_shortened_and_sent_again() {
    let model = model(8_000, Vec::new());
    let bench = Bench::new(&model, 200_000);
    let mut history = talk(10, 1_000);
    let before = history.len();
    let reply = bench.recovery.send("", &mut history, &[]).await.unwrap();
    assert_eq!(reply.message().text(), SENTENCE);
    assert_eq!(model.refusals().len(), 1);
    let requests = model.requests();
    let summaries: Vec<bool> = requests.iter().map(|request| is_summary(request)).collect();
    assert_eq!(summaries.last(), Some(&false), "{summaries:?}");
    assert!(history.len() < before && history.tokens() < 8_000);
    let texts = model.last_request().user_texts();
    assert!(texts.iter().any(|text| text.contains("And the last question?")), "{texts:?}");
    let remarks = bench.diary.remarks();
    assert_eq!(remarks, ["the prompt was too long: sending it again, shorter"]);
    assert!(bench.diary.waits().is_empty());
    history.reply(&reply);
    history.user("thanks");
    bench.recovery.send("", &mut history, &[]).await.unwrap();
}

#[tokio::test]
async fn a_prompt_that_stays_too_long_ends_the_turn_with_the_servers_words() {
    // The last request alone is more than the model takes.
    let model = model(3_000, Vec::new());
    let bench = Bench::new(&model, 4_000);
    let mut history = talk(4, 1_000);
    history.remind(["word ".repeat(4_000)]);
    let error = bench.recovery.send("", &mut history, &[]).await.unwrap_err();
    assert!(error.to_string().contains("prompt is too long: "), "{error}");
    let too_long = model.refusals().len();
    assert_eq!(too_long, 2, "once before the compaction, once behind it");
    assert!(model.requests().iter().all(|request| is_summary(request)));
    assert_eq!(bench.diary.remarks().len(), 1);
    assert!(!history.has_open_calls());
}

/// The compactor's own request goes through a recovery as well, one that has no compactor.
#[tokio::test]
async fn a_compaction_never_starts_another() {
    let model = model(8_000, vec![Fault::TooLong; 20]);
    let bench = Bench::new(&model, 8_000);
    let error = bench.recovery.send("", &mut talk(6, 1_000), &[]).await.unwrap_err();
    assert!(error.to_string().contains("prompt is too long"), "{error}");
    assert_eq!(model.requests().len(), 2, "the request and one summary");
}
