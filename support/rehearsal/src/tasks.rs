//! Lists in a request: tasks with what they wait for, and the items of a plan.
//!
//! A list is read whole before the request is cut into clauses: `then` in it is an order of tasks and no order to the
//! model. Invariant: each item is the user's text, and each dependency is a subject of the list.

use crate::clause::{Clause, is_filler};
use crate::plan::TaskSpec;
use crate::words::{Token, has, number, stem, tokens};

/// Subjects for tasks that have none: `create 3 tasks`. Each says what a teammate writes.
pub const SAMPLES: [(&str, &str); 6] = [
    ("tools", "A tool is a name, an input schema and a function that runs when the model asks."),
    ("hooks", "A hook sees a call before or after it runs, and may stop it."),
    ("memory", "A memory is a file that the next session reads."),
    ("tasks", "A task on the board outlives the session and has one owner."),
    ("mail", "Mail reaches an agent between two rounds."),
    ("servers", "A server brings tools that the harness did not know before."),
];

/// Tasks, and where the text that names them ends.
pub struct Listed {
    /// The tasks.
    pub tasks: Vec<TaskSpec>,
    /// The rest of the request.
    pub rest: String,
}

const MAKES: &str = "create add make put break set need write open";
/// What ends a list: these verbs order the model and are no task.
const ORDERS: &str = "spawn hire recruit hand give assign ask tell list show watch report claim let";

/// Reads `create tasks: a, b (depends on a)`; `None` when the text begins with something else.
pub fn listed(text: &str) -> Option<Listed> {
    let all = tokens(text);
    let clause = Clause::of(text);
    let noun = all.iter().position(|token| token.is("task tasks board"))?;
    let is_making = clause.tokens.iter().take(3).any(|token| token.is(MAKES)) && noun < 8;
    let colon = all.iter().skip(noun).take(7).position(|token| token.text == ":").map(|at| at + noun)?;
    let between = all[noun + 1..colon].iter().all(|token| is_filler(token) || token.is("board task tasks list"));
    if !is_making || !between || all[..noun].iter().any(|token| token.is("todo to-do")) {
        return None;
    }
    let body = &text[all[colon].end..];
    let end = end_of_list(body);
    let chained = body[..end].contains(", then ") || body[..end].contains("; then ");
    let mut tasks: Vec<TaskSpec> = Vec::new();
    for item in items(&body[..end]) {
        let (subject, refs) = without_reference(&item);
        let mut blocked_by: Vec<String> = refs.iter().flat_map(|reference| resolve(reference, &tasks)).collect();
        if chained && blocked_by.is_empty() {
            blocked_by.extend(tasks.last().map(|task| task.subject.clone()));
        }
        if !subject.is_empty() {
            tasks.push(TaskSpec { subject, blocked_by });
        }
    }
    let rest = depend_later(&mut tasks, body[end..].trim_start_matches(['.', ',', ';', ' ', '\n']));
    (!tasks.is_empty()).then_some(Listed { tasks, rest })
}

/// `create two tasks`, `create a task to setup the project`: the tasks, and the words nobody accounts for.
pub fn counted(clause: &Clause) -> Option<(Vec<TaskSpec>, Vec<String>)> {
    let tokens = &clause.tokens;
    if !tokens.first()?.is(MAKES) {
        return None;
    }
    let noun = tokens.iter().position(|token| token.is("task tasks")).filter(|at| *at <= 4)?;
    if tokens[1..noun].iter().any(|token| token.is("each every todo cron scheduled recurring")) {
        return None;
    }
    let spec = |subject: &str| TaskSpec { subject: subject.trim_end_matches('.').to_owned(), blocked_by: Vec::new() };
    let marker = tokens[noun + 1..]
        .iter()
        .position(|token| token.is("to called named for :") || token.shape == crate::words::Shape::Quoted)
        .map(|at| at + noun + 1);
    if let (Some(at), true) = (marker, tokens[noun].is("task")) {
        let is_board = tokens[at].is("to")
            && tokens.get(at + 1).is_some_and(|next| next.is("the"))
            && tokens.get(at + 2).is_some_and(|next| next.is("board task"));
        if !is_board {
            let from = if tokens[at].shape == crate::words::Shape::Quoted { at } else { at + 1 };
            // `a task for alice` says whose it is, and not what.
            if let ([one], true) = (&tokens[from.min(tokens.len())..], tokens[at].is("for")) {
                return Some((Vec::new(), vec![one.text.clone()]));
            }
            let subject = match &tokens[from..] {
                [one] => one.text.clone(),
                _ => clause.between(from, tokens.len()).to_owned(),
            };
            return (!subject.is_empty()).then(|| (vec![spec(&subject)], Vec::new()));
        }
    }
    let tail = tokens[noun + 1..].iter().position(|token| token.is("depends depending blocked waits needs"));
    let end = tail.map_or(tokens.len(), |_| noun + 1);
    let count = tokens[1..noun].iter().find_map(|token| number(&token.low)).or_else(|| {
        tokens[1..noun].iter().any(|token| token.is("a some")).then(|| if tokens[noun].is("task") { 1 } else { 2 })
    })?;
    let is_known = |token: &&Token| {
        is_filler(token)
            || token.is("board tasks task sample some example small different")
            || number(&token.low).is_some()
    };
    let left = tokens[1..end].iter().filter(|token| !is_known(token)).map(|token| token.text.clone()).collect();
    let subjects = (0..count.min(20) as usize).map(|at| {
        let (name, _) = SAMPLES[at % SAMPLES.len()];
        let round = at / SAMPLES.len();
        spec(&format!("write notes/{name}{}.md", if round == 0 { String::new() } else { (round + 1).to_string() }))
    });
    let mut specs: Vec<TaskSpec> = subjects.collect();
    if tail.is_some() && !depend(&mut specs, clause.between(noun + 1, tokens.len())) {
        return Some((specs, vec![clause.between(noun + 1, tokens.len()).to_owned()]));
    }
    Some((specs, left))
}

/// Where a list ends: with its sentence, or where the model is told what comes next.
fn end_of_list(body: &str) -> usize {
    let all = tokens(body);
    let mut depth = 0_i32;
    for (at, token) in all.iter().enumerate() {
        match token.text.as_str() {
            "(" => depth += 1,
            ")" => depth -= 1,
            _ => {}
        }
        let is_end = matches!(token.text.as_str(), "." | "!" | "?")
            && token.shape == crate::words::Shape::Mark
            && all.get(at + 1).is_none_or(|next| next.start > token.end);
        // The number of an item ends nothing.
        let is_item = is_end && at > 0 && all[at - 1].shape == crate::words::Shape::Number;
        let order = token.is(ORDERS) && at > 0 && all[at - 1].is("then and , ;") && depth == 0;
        if is_end && !is_item {
            return token.start;
        }
        if order {
            let mut first = at - 1;
            while first > 0 && all[first - 1].is("then and , ;") {
                first -= 1;
            }
            return all[first].start;
        }
    }
    body.len()
}

/// The items of a list: cut at commas, semicolons, lines, `and`, `then`, outside parentheses.
pub fn items(body: &str) -> Vec<String> {
    let all = tokens(body);
    let has_semicolon = all.iter().any(|token| token.text == ";");
    let (mut found, mut start, mut depth) = (Vec::new(), 0, 0_i32);
    let mut cut = |from: usize, to: usize| {
        let item = body[from..to].trim().trim_start_matches(|c: char| c == '-' || c == '*' || c.is_whitespace());
        let numbered = item.trim_start_matches(|c: char| c.is_ascii_digit());
        let item =
            if numbered.len() < item.len() && numbered.starts_with(['.', ')']) { numbered[1..].trim() } else { item };
        let item =
            ["and then ", "then ", "and "].iter().fold(item, |item, word| item.strip_prefix(word).unwrap_or(item));
        let item = item.trim_matches(|c: char| c.is_whitespace() || c == '"' || c == ',' || c == '.');
        if !item.is_empty() {
            found.push(item.to_owned());
        }
    };
    for (at, token) in all.iter().enumerate() {
        match token.text.as_str() {
            "(" => depth += 1,
            ")" => depth -= 1,
            _ => {}
        }
        let new_line = at > 0 && body[all[at - 1].end..token.start].contains('\n');
        if new_line {
            cut(start, token.start);
            start = token.start;
        }
        let next_refers = all.get(at + 1).is_some_and(|next| next.is("which depends depending blocked needs that"));
        let is_cut = depth == 0 && !next_refers && if has_semicolon { token.text == ";" } else { token.is(", and") };
        if is_cut {
            cut(start, token.start);
            start = token.end;
        }
    }
    cut(start, body.len());
    found
}

/// An item without what it says about other items, and the references.
fn without_reference(item: &str) -> (String, Vec<String>) {
    const MARKS: [&str; 11] = [
        "(depends on ",
        "(blocked by ",
        "(needs ",
        "(after ",
        "(depending on ",
        ", which depends on ",
        ", which needs ",
        ", depends on ",
        ", blocked by ",
        " which depends on ",
        " after the ",
    ];
    let low = item.to_lowercase();
    match MARKS.iter().filter_map(|mark| Some((low.find(mark)?, mark))).min() {
        Some((at, mark)) => {
            let refs = item[at + mark.len()..].trim_end_matches([')', '.']);
            (
                item[..at].trim().to_owned(),
                refs.split(" and ").flat_map(|part| part.split(',')).map(|part| part.trim().to_owned()).collect(),
            )
        }
        None => (item.trim().to_owned(), Vec::new()),
    }
}

/// The subjects that a reference means.
fn resolve(reference: &str, tasks: &[TaskSpec]) -> Vec<String> {
    const ORDINALS: [&str; 6] = ["first", "second", "third", "fourth", "fifth", "sixth"];
    let words = tokens(reference);
    let by_number = words.iter().find_map(|token| {
        ORDINALS.iter().position(|word| *word == token.low).or_else(|| token.low.parse::<usize>().ok()?.checked_sub(1))
    });
    if let Some(task) = by_number.and_then(|at| tasks.get(at)) {
        return vec![task.subject.clone()];
    }
    if words.iter().any(|token| token.is("previous before last")) {
        return tasks.last().map(|task| task.subject.clone()).into_iter().collect();
    }
    let wanted: Vec<String> = words.iter().filter(|token| !is_filler(token)).map(|token| token.stem.clone()).collect();
    let overlap = |task: &TaskSpec| tokens(&task.subject).iter().filter(|token| wanted.contains(&token.stem)).count();
    let best = tasks
        .iter()
        .filter(|task| overlap(task) > 0)
        .max_by(|one, other| overlap(one).cmp(&overlap(other)).then(std::cmp::Ordering::Greater));
    best.map(|task| task.subject.clone()).into_iter().collect()
}

/// Sentences behind the list that say what depends on what: `The second depends on the first.`
fn depend_later(tasks: &mut [TaskSpec], rest: &str) -> String {
    let mut rest = rest;
    loop {
        let end = rest.find(". ").or_else(|| rest.ends_with('.').then(|| rest.len() - 1)).unwrap_or(rest.len());
        if !depend(tasks, &rest[..end]) {
            return rest.to_owned();
        }
        rest = rest[(end + 1).min(rest.len())..].trim_start();
        if rest.is_empty() {
            return String::new();
        }
    }
}

/// `where the second depends on the first`: notes it in the tasks; `false` when it says something else.
pub fn depend(tasks: &mut [TaskSpec], sentence: &str) -> bool {
    const MARKS: [&str; 6] = ["depends on ", "depending on ", "waits for ", "is blocked by ", "blocked by ", "needs "];
    let low = sentence.to_lowercase();
    let Some((at, len)) = MARKS.iter().find_map(|mark| Some((low.find(mark)?, mark.len()))) else { return false };
    let known = |token: &Token| {
        is_filler(token) || token.is("where which task tasks one whose second third fourth last first previous")
    };
    let is_short = tokens(&sentence[..at]).iter().filter(|token| !known(token)).count() < 4;
    let (whom, on) = (resolve(&sentence[..at], tasks), resolve(&sentence[at + len..], tasks));
    let (Some(whom), Some(on), true) = (whom.first(), on.first(), is_short) else { return false };
    let task = tasks.iter_mut().find(|task| task.subject == *whom && task.subject != *on);
    task.map(|task| task.blocked_by.push(on.clone())).is_some()
}

/// The items of a plan, and the rest of the request: `make a to-do list: a, b`, `plan how to inspect this`.
pub fn plan(text: &str) -> Option<(Vec<String>, String)> {
    let low = text.to_lowercase();
    let is_list = ["todo list", "to-do list", "to do list", "todos"]
        .iter()
        .filter_map(|name| Some((low.find(name)?, name.len())))
        .min();
    let is_plan = low
        .trim_start()
        .starts_with("plan how to ")
        .then_some((low.find("plan how to").unwrap_or(0), "plan how".len()));
    let (at, len) = is_list.or(is_plan).filter(|(at, _)| *at < 30)?;
    let known =
        |token: &Token| is_filler(token) || token.is("make create write draw set up put together start down plan how");
    if !tokens(&text[..at]).iter().all(known) {
        return None;
    }
    let behind = text[at + len..].trim_start();
    if let Some(body) = behind.strip_prefix([':', '—']) {
        let end = tokens(body)
            .iter()
            .find(|token| matches!(token.text.as_str(), "." | "!"))
            .map_or(body.len(), |token| token.start);
        return Some((items(&body[..end]), body[end..].trim_start_matches(['.', '!', ' ']).to_owned()));
    }
    let goal = ["for ", "to ", "about ", "with "].iter().find_map(|word| behind.strip_prefix(word))?;
    let end =
        [", then ", " and then ", ". ", "; "].iter().filter_map(|mark| goal.find(mark)).min().unwrap_or(goal.len());
    let named = goal[..end].trim().trim_end_matches('.');
    let rest = goal[end..].trim_start_matches(|c: char| !c.is_alphanumeric());
    if goal[..end].contains(',') || behind.starts_with("with ") {
        return Some((items(named), rest.to_owned()));
    }
    let steps = vec!["look at what there is".to_owned(), named.to_owned(), "say what came of it".to_owned()];
    Some((steps, rest.strip_prefix("then ").or(rest.strip_prefix("and then ")).unwrap_or(rest).to_owned()))
}

/// A task of the board, as `list_tasks` shows it.
#[derive(Clone, Debug, PartialEq)]
pub struct OnBoard {
    /// Its id.
    pub id: String,
    /// What is to be done.
    pub subject: String,
    /// `pending`, `in_progress`, `completed`.
    pub mark: char,
    /// Whether something blocks it.
    pub is_blocked: bool,
    /// Whether somebody owns it whose session goes on.
    pub is_owned: bool,
}

/// The board, from its text.
pub fn board(text: &str) -> Vec<OnBoard> {
    let line = |line: &str| {
        let (mark, rest) = line.trim().strip_prefix('[')?.split_once("] ")?;
        let (id, rest) = rest.split_once(' ')?;
        let (rest, blocked) = rest.split_once(" · blocked by").map_or((rest, false), |(rest, _)| (rest, true));
        let (subject, owner) = match rest.rsplit_once(" (") {
            Some((subject, owner)) if owner.ends_with(')') => (subject, Some(owner)),
            _ => (rest, None),
        };
        let is_owned = owner.is_some_and(|owner| !owner.contains("free to claim"));
        Some(OnBoard {
            id: id.to_owned(),
            subject: subject.to_owned(),
            mark: mark.chars().next().unwrap_or(' '),
            is_blocked: blocked,
            is_owned,
        })
    };
    text.lines().filter_map(line).collect()
}

impl OnBoard {
    /// Whether it can be claimed.
    pub fn is_free(&self) -> bool {
        self.mark != 'x' && !self.is_blocked && !self.is_owned
    }
}

/// The task of a board that the words mean; the first one that fits when they name none. The error says what is wrong.
pub fn meant<'a>(words: &str, board: &'a [OnBoard], fits: impl Fn(&OnBoard) -> bool) -> Result<&'a OnBoard, String> {
    const GENERAL: &str = "task tasks unblocked available free open done as completed mark finished yourself board that blocked up one off pending nothing blocks not ones claimable complete_task claim_task";
    let named: Vec<Token> =
        tokens(words).into_iter().filter(|token| !is_filler(token) && !has(GENERAL, &token.low)).collect();
    if named.is_empty() {
        return board
            .iter()
            .find(|task| fits(task))
            .ok_or_else(|| "there is no task on the board that I could take".to_owned());
    }
    let wanted: Vec<String> =
        named.iter().flat_map(|token| token.low.split_whitespace().map(stem).collect::<Vec<_>>()).collect();
    let overlap = |task: &OnBoard| {
        let own: Vec<String> =
            tokens(&task.subject).iter().map(|token| token.stem.clone()).chain([task.id.clone()]).collect();
        wanted.iter().filter(|word| own.contains(word) || task.id.starts_with(word.as_str()) && word.len() > 3).count()
    };
    let best = board.iter().filter(|task| overlap(task) == wanted.len()).min_by_key(|task| tokens(&task.subject).len());
    best.ok_or_else(|| {
        let subjects: Vec<&str> = board.iter().map(|task| task.subject.as_str()).collect();
        let there = if subjects.is_empty() {
            "the board is empty".to_owned()
        } else {
            format!("on the board are: {}", subjects.join(", "))
        };
        format!("there is no task “{}”; {there}", words.trim())
    })
}
