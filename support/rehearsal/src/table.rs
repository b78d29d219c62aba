//! What it can rehearse, as data: `intents.txt` has a paragraph an intent.
//!
//! A request goes to the row whose examples are nearest; the row then has to account for every word that carries a meaning,
//! by its own words, by a slot or by a filler. So a row is taught by examples in different words, and an example never
//! makes it do more than it says. Invariant: a paragraph that cannot be read stops the first test that asks for anything.

use std::sync::LazyLock;

use crate::tools::Can;

named! {
    /// What a row has to find in the request, or may: a file, two, any number, a folder, a kind of files, a quotation, a number,
    /// an id, names of teammates, or what stands behind one of `after`.
    Slot: Path Pair Paths Dir Kind Quoted Number Key Names After
}

named! {
    /// What a row makes of its slots, as `act` does it: a command, a text, a call, or what has a name of its own.
    Make:
    Shell Say Tool Read About ReadAll List Find Exists Framework Verify
    Mend Package Long ShowLong WriteSkill
    Abilities Skills LoadSkill Tools Remember Recall SoFar
    Board Claim Complete WorkBoard CancelCron
    Inbox Leave AskPlan OwnPlan Answer Report WaitForThem
    Worktrees
}

/// An intent.
#[derive(Debug)]
pub struct Row {
    /// How it is called in `what can you do?`: ready to type.
    pub offer: &'static str,
    /// Whether it only looks: asked for or ordered. What acts must be ordered, with a verb of its own.
    pub looks: bool,
    /// What is made of it, and the template behind its name.
    pub make: Make,
    pub template: &'static str,
    /// One of these tools must be on offer.
    pub tools: Vec<Can>,
    /// What must be found.
    pub needs: Vec<Slot>,
    /// What may be found beside.
    pub may: Vec<Slot>,
    /// The words of which one stands before what `After` means.
    pub after: &'static str,
    /// One of these words must be said, and one of `says`; empty for a row that its slots tell apart.
    pub verbs: &'static str,
    /// The same once more: what the verb is about.
    pub says: &'static str,
    pub examples: Vec<&'static str>,
}

/// All rows.
pub static ROWS: LazyLock<Vec<Row>> = LazyLock::new(|| {
    let paragraphs =
        include_str!("intents.txt").split("\n\n").filter(|text| !text.starts_with('#'));
    paragraphs
        .map(|text| {
            row(text.trim()).unwrap_or_else(|| panic!("intents.txt cannot be read at:\n{text}"))
        })
        .collect()
});

/// Reads a paragraph; nothing when a name in it is unknown.
fn row(text: &'static str) -> Option<Row> {
    let field =
        |name: &str| text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(": "));
    let looks = field("looks");
    let words = |name: &str| field(name).unwrap_or_default();
    let (make, template) = field("make")?.split_once(' ').unwrap_or((field("make")?, ""));
    let named = |name: &str| words(name).split(", ").filter(|slot| !slot.is_empty());
    let slots = |name: &str| {
        named(name).map(|slot| Slot::read(slot.split(' ').next()?)).collect::<Option<Vec<_>>>()
    };
    let after = named("needs").chain(named("may")).find_map(|slot| slot.strip_prefix("After "));
    let (_, examples) = text.split_once("\nexamples: ")?;
    Some(Row {
        offer: looks.or_else(|| field("acts"))?,
        looks: looks.is_some(),
        make: Make::read(make)?,
        template,
        tools: words("tools").split_whitespace().map(Can::read).collect::<Option<_>>()?,
        needs: slots("needs")?,
        may: slots("may")?,
        after: after.unwrap_or_default(),
        verbs: words("verbs"),
        says: words("says"),
        examples: examples.split('|').map(str::trim).collect(),
    })
}
