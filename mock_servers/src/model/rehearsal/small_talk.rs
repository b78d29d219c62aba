//! Small talk: what the model says when nothing is asked for.
//!
//! A newcomer types `hello` first. Invariant: it never claims to be more than a rehearsal model.

use super::tokens::Token;

/// What is said, by its first words, and the answer. The longer entries come first.
const TALK: &[(&[&str], &str)] = &[
    (
        &[
            "who are you",
            "what are you",
            "are you real",
            "are you human",
            "are you claude",
            "are you ai",
            "your name",
            "which model",
            "what model",
            "what is your name",
        ],
        "I am the rehearsal model of this course: a small, deterministic stand-in for a language model. I need no key and \
         no network, and I understand only a table of requests.",
    ),
    (
        &["how are you", "how is it going", "how do you do"],
        "I am deterministic, so I am the same as always. What shall I do?",
    ),
    (
        &[
            "good morning",
            "good evening",
            "good afternoon",
            "good day",
            "hello",
            "hi",
            "hey",
            "moin",
            "hallo",
            "greetings",
            "howdy",
        ],
        "Hello! I am the rehearsal model. Tell me what to do, or ask what I can do.",
    ),
    (
        &[
            "thanks",
            "thank you",
            "thank",
            "thx",
            "cheers",
            "great",
            "nice",
            "perfect",
            "well done",
            "good job",
            "good",
            "cool",
            "awesome",
            "danke",
        ],
        "You are welcome.",
    ),
    (
        &["bye", "goodbye", "see you", "good night", "ciao"],
        "Goodbye.",
    ),
    (
        &[
            "exit",
            "quit",
            "leave",
            "how do i exit",
            "how do i quit",
            "how do i leave",
            "how do i get out",
            "how do i stop",
            "how to exit",
            "how to quit",
            "how to leave",
        ],
        "Ctrl-D leaves, as q and exit do, each on a line of its own. Ctrl-C stops a turn.",
    ),
    (
        &[
            "sorry",
            "never mind",
            "nevermind",
            "forget it",
            "stop",
            "cancel",
            "no",
            "nope",
        ],
        "All right, I do nothing.",
    ),
    (
        &[
            "tell me a joke",
            "tell a joke",
            "a joke",
            "say something funny",
            "do you know a joke",
        ],
        "A cup of tea walks into a loop. It is still there: nobody gave it a reason to stop.",
    ),
    (
        &[
            "what is up",
            "what is new",
            "anything new",
            "how was your day",
        ],
        "Nothing has happened that you have not asked for.",
    ),
    (
        &[
            "are you there",
            "are you awake",
            "can you hear me",
            "ping",
            "test",
        ],
        "I am here. What shall I do?",
    ),
    (
        &["yes", "yep", "ok", "okay", "sure", "fine", "right"],
        "All right. What shall I do?",
    ),
];

/// What opens a question about all that the model can do.
const ALL_ABILITIES: &[&str] = &[
    "what else can you do",
    "what else can i do",
    "what else can i ask",
    "what else do you know",
    "what more can you do",
    "all you can do",
    "list all you can do",
    "list all that you can do",
    "list everything you can do",
    "tell me everything you can do",
];

/// What opens a question about what the model can do.
const ABILITIES: &[&str] = &[
    "help",
    "what can you do",
    "what can i do",
    "what can i ask",
    "what do you know",
    "what do you understand",
    "what can you",
    "what do you do",
    "what could you do",
    "how can you help",
    "what are your abilities",
    "what are your capabilities",
    "how do i use",
    "how do i start",
    "how does this work",
    "what is this",
    "what should i do",
    "what should i type",
    "what now",
    "what do i do",
    "usage",
    "man",
    "commands",
    "/help",
    "-h",
    "--help",
    "-help",
    "h",
    "/",
    ":help",
    ":h",
    "/start",
    "/commands",
];

/// The answer to a phrase that asks for nothing; `None` when it is no small talk.
pub fn reply(tokens: &[Token]) -> Option<&'static str> {
    let fits = |phrases: &[&str]| phrases.iter().any(|phrase| opens(tokens, phrase));
    TALK.iter()
        .find(|(phrases, _)| fits(phrases))
        .map(|(_, reply)| *reply)
}

/// Whether a request only asks what the model can do. A lone `?` has no words.
pub fn asks_abilities(request: &str, tokens: &[Token]) -> bool {
    request.trim() == "?" || ABILITIES.iter().any(|phrase| opens(tokens, phrase))
}

/// Whether a request asks for all that the model can do.
pub fn asks_all_abilities(tokens: &[Token]) -> bool {
    ALL_ABILITIES.iter().any(|phrase| opens(tokens, phrase))
}

/// Whether the tokens begin with a phrase and say little more.
fn opens(tokens: &[Token], phrase: &str) -> bool {
    let words: Vec<&str> = phrase.split(' ').collect();
    let said =
        tokens.len() >= words.len() && words.iter().zip(tokens).all(|(word, token)| token.is(word));
    said && tokens.len() <= words.len() + 3
}
