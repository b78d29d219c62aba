//! What the words of a wish say for an argument of some name.
//!
//! Nobody says `query: hooks`; one says `search for hooks`. So the names that arguments commonly have are known here, with
//! the words that lead to their values.
//! Invariant: what is not said is not made up, but for the few stand-ins named here.

use super::Asked;
use super::arguments::{ENDS, Filler};
use super::fit::{is_act, name_words, stem};
use super::names::parts;
use super::phrase::Phrase;
use super::schema::Schema;
use crate::model::rehearsal::tokens::Token;
use crate::model::rehearsal::{pattern, words};

/// What to look for where nobody says it.
const QUERIES: &[(&str, &str)] = &[
    ("docs", "agent loop"),
    ("jira", "login"),
    ("notion", "onboarding"),
];

/// Words behind which stands what is said.
const SAYS: &[&str] = &[
    "message",
    "text",
    "content",
    "saying",
    "observation",
    "observations",
    "says",
    "say",
    "echo",
    "repeat",
];

/// Words behind which stands a name.
const NAMED: &[&str] = &["called", "named", "titled", "name", "title", "summary"];

/// What is meant by names of arguments.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Meaning {
    Query,
    Message,
    Name,
    Key,
    Service,
    Path,
    State,
    Project,
    Other,
}

const MEANINGS: &[(Meaning, &[&str])] = &[
    (
        Meaning::Query,
        &[
            "query", "q", "search", "term", "keyword", "question", "pattern", "topic",
        ],
    ),
    (
        Meaning::Message,
        &[
            "message",
            "text",
            "content",
            "body",
            "value",
            "input",
            "prompt",
            "observation",
            "description",
            "thought",
            "note",
            "comment",
        ],
    ),
    (
        Meaning::Name,
        &["name", "title", "summary", "subject", "label", "heading"],
    ),
    (Meaning::Key, &["key", "id", "identifier"]),
    (
        Meaning::Service,
        &["service", "app", "application", "environment", "target"],
    ),
    (
        Meaning::Path,
        &[
            "path",
            "file",
            "directory",
            "folder",
            "source",
            "destination",
            "uri",
        ],
    ),
    (Meaning::State, &["status", "state", "transition"]),
    (Meaning::Project, &["project", "board", "space"]),
];

impl Filler<'_> {
    /// The text that a property of this name is given by the words; `outermost` when it is an argument itself.
    pub(super) fn text(&self, name: &str, schema: Schema, outermost: bool) -> Option<String> {
        let phrase = &self.phrase;
        let quoted = || phrase.quoted().next().map(str::to_owned);
        let rest = || outermost.then(|| self.rest()).flatten();
        match meaning(name) {
            Meaning::Query => self.query(),
            Meaning::Message => {
                let is_fact = name.starts_with("observation");
                let said = phrase.behind(SAYS, &[]);
                let given = said.or_else(|| (outermost || !is_fact).then(quoted).flatten());
                given.or_else(rest)
            }
            Meaning::Name => {
                let of = || (!outermost).then(|| phrase.behind(&["to", "for", "about"], ENDS));
                let named = phrase.behind(NAMED, &ENDS[..9]);
                let is_of = name.starts_with("entity") && name != "entity";
                let named = named.or_else(|| of().flatten().filter(|_| is_of));
                named.or_else(quoted).or_else(|| self.rest())
            }
            Meaning::Key => self.key(),
            Meaning::Service => self.service(schema),
            Meaning::Path => self.path(),
            Meaning::State => self.state(),
            Meaning::Project => self.project(),
            Meaning::Other if name == "from" => {
                phrase.behind(&["from", "relate", "link", "between", "connect"], ENDS)
            }
            Meaning::Other => {
                let named = phrase.behind(&[name], ENDS);
                named
                    .or_else(|| outermost.then(quoted).flatten())
                    .or_else(rest)
            }
        }
    }

    fn path(&self) -> Option<String> {
        let path = self
            .phrase
            .tokens
            .iter()
            .find(|token| pattern::is_path(token));
        let path = path.map(|path| path.text.to_owned());
        let quoted = || self.phrase.quoted().next().map(str::to_owned);
        let named = || {
            self.phrase
                .behind(&["directory", "folder", "in", "under"], ENDS)
        };
        let lists = ["list", "directory", "tree", "search"];
        let is_folder = || self.verbs.iter().any(|verb| lists.contains(&verb.as_str()));
        let found = path
            .or_else(quoted)
            .or_else(|| is_folder().then(named).flatten());
        found.or_else(|| is_folder().then(|| ".".to_owned()))
    }

    fn state(&self) -> Option<String> {
        let closes = |token: &Token| token.is_any(&["close", "resolve", "finish"]);
        let said = self.phrase.behind(&["as", "to", "into"], &[]);
        said.or_else(|| {
            self.phrase
                .tokens
                .iter()
                .any(closes)
                .then(|| "Done".to_owned())
        })
    }

    fn project(&self) -> Option<String> {
        let shout = self
            .phrase
            .tokens
            .iter()
            .find(|token| is_shout(token.text))?;
        Some(shout.text.split('-').next()?.to_owned())
    }

    /// What is looked for.
    fn query(&self) -> Option<String> {
        let tokens = &self.phrase.tokens;
        let default = QUERIES.iter().find(|(server, _)| *server == self.server);
        let default = default.map_or("help", |(_, query)| query);
        if let Some(quoted) = self.phrase.quoted().next() {
            return Some(quoted.to_owned());
        }
        let marks = [
            "for",
            "about",
            "regarding",
            "concerning",
            "mention",
            "mentions",
            "mentioning",
            "on",
            "up",
            "is",
            "are",
            "explain",
            "describe",
        ];
        let asks = |token: &Token| {
            is_act(token) || token.is_any(words::FILLERS) || token.is_any(words::PRONOUNS)
        };
        let said = self.phrase.behind(&marks, &["using"]).or_else(|| {
            let from = tokens.iter().take_while(|token| asks(token)).count();
            self.phrase.from(from, &["using"])
        });
        let said = said.map(|said| self.without_nouns(said));
        let said = said.filter(|said| !Phrase::names_nothing(said));
        Some(said.unwrap_or_else(|| default.to_owned()))
    }

    /// `login issues` are found by `login` where issues are all there is.
    fn without_nouns(&self, said: String) -> String {
        let nouns = |word: &&str| self.verbs.contains(&stem(word));
        let words: Vec<&str> = said.split(' ').collect();
        let idle = words.iter().rev().take_while(|word| nouns(word)).count();
        match words.len() - idle {
            0 => said,
            kept => words[..kept].join(" "),
        }
    }

    /// `TEA-12`, an id, or the one an earlier answer names.
    fn key(&self) -> Option<String> {
        let tokens = &self.phrase.tokens;
        let is_key = |token: &&Token| {
            token.text.contains('-') && token.text.bytes().any(|c| c.is_ascii_digit())
        };
        let named = tokens
            .iter()
            .find(is_key)
            .map(|token| token.text.to_owned());
        let quoted = || self.phrase.quoted().next().map(str::to_owned);
        let answered = || {
            let answers = self.earlier.iter().rev().filter(|asked| {
                parts(&asked.tool).is_some_and(|(server, _)| server == self.server)
            });
            let mut words = answers.flat_map(|asked| {
                asked
                    .content
                    .split(|c: char| !c.is_alphanumeric() && c != '-' && c != '_')
            });
            words
                .find(|word| word.contains('-') && word.bytes().any(|c| c.is_ascii_digit()))
                .map(str::to_owned)
        };
        named.or_else(quoted).or_else(answered)
    }

    /// What is deployed, as far as the words say it.
    fn service(&self, schema: Schema) -> Option<String> {
        let tokens = &self.phrase.tokens;
        let is_name = |token: &&Token| {
            let idle = token.is_any(words::FILLERS)
                || token.is_any(words::PRONOUNS)
                || is_act(token)
                || token.is_any(ENDS);
            !idle
                && !token.is_any(&[
                    "service",
                    "deployment",
                    "deploy",
                    "status",
                    "logs",
                    "log",
                    "its",
                    "one",
                    "some",
                    "last",
                    "new",
                    "another",
                    "state",
                    "progress",
                    "off",
                    "out",
                    "lines",
                    "newest",
                    "version",
                    "service's",
                    "live",
                    "then",
                ])
        };
        let beside = tokens
            .iter()
            .position(|token| token.is_any(&["service", "app"]));
        let beside = beside.and_then(|at| {
            tokens[..at]
                .last()
                .into_iter()
                .chain(tokens.get(at + 1))
                .find(is_name)
        });
        let behind = || {
            let at = tokens.iter().rposition(|token| {
                token.is_any(&["of", "for", "deploy", "redeploy", "ship", "trigger"])
            })?;
            tokens[at + 1..]
                .iter()
                .find(|token| !token.is_any(words::FILLERS))
                .filter(is_name)
        };
        let name = beside.or_else(behind)?;
        let named = name.text.strip_suffix("'s").unwrap_or(name.text);
        let known = schema
            .choices()
            .into_iter()
            .find(|choice| choice.eq_ignore_ascii_case(named));
        Some(known.unwrap_or(named).to_owned())
    }

    /// What the same argument was the last time this server was asked.
    pub(super) fn before(&self, name: &str) -> Option<String> {
        let same =
            |asked: &&Asked| parts(&asked.tool).is_some_and(|(server, _)| server == self.server);
        let inputs = self.earlier.iter().rev().filter(same);
        inputs
            .into_iter()
            .find_map(|asked| Some(asked.input.get(name)?.as_str()?.to_owned()))
    }

    /// What is put where something has to stand and nobody said what.
    pub(super) fn stand_in(&self, name: &str, outermost: bool) -> Option<String> {
        match meaning(name) {
            Meaning::Message if outermost => Some("hello".to_owned()),
            Meaning::Service => Some("web".to_owned()),
            Meaning::Project => {
                let key = self.key()?;
                Some(key.split('-').next()?.to_owned())
            }
            Meaning::Other if !outermost => Some("thing".to_owned()),
            _ => None,
        }
    }

    /// The words that neither ask nor name the tool.
    fn rest(&self) -> Option<String> {
        let tokens = &self.phrase.tokens;
        let idle = |token: &&Token| {
            let names = self.verbs.contains(&stem(token.text));
            !token.quoted
                && (names
                    || is_act(token)
                    || token.is_any(words::FILLERS)
                    || token.is_any(words::CALLS)
                    || token.is_any(&["tool", "its", "to", "and", "of", "with", "then"]))
        };
        let from = tokens.iter().take_while(idle).count();
        self.phrase.from(from, &[])
    }
}

/// What a property of this name holds.
pub(super) fn meaning(name: &str) -> Meaning {
    let words = name_words(name);
    let is = |known: &&(Meaning, &[&str])| {
        words
            .last()
            .is_some_and(|last| known.1.contains(&last.as_str()))
    };
    MEANINGS
        .iter()
        .find(is)
        .map_or(Meaning::Other, |(meaning, _)| *meaning)
}

fn is_shout(word: &str) -> bool {
    let key = word.split('-').next().unwrap_or(word);
    key.len() > 1 && key.bytes().all(|c| c.is_ascii_uppercase())
}
