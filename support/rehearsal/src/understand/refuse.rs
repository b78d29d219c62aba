//! A no that helps: the word that was not understood, and the nearest requests that can be done here.
//!
//! Invariant: an offer can be typed as it stands.

use super::{Planner, Result};
use crate::clause::Clause;
use crate::mcp;
use crate::plan::Refusal;
use crate::rank;
use crate::table::{ROWS, Row};
use crate::tools::Can;
use crate::words::{Shape, Token, set};
use crate::world::World;

impl Planner<'_, '_> {
    pub(super) fn refuse(&self, word: &str, clause: &Clause) -> Refusal {
        self.no(format!("I did not understand “{}”, so I did nothing of it", word.trim()), clause)
    }

    /// A refusal that offers what is near.
    pub(super) fn no(&self, why: String, clause: &Clause) -> Refusal {
        Refusal {
            why,
            offers: self.offers(&clause.tokens),
        }
    }

    /// The nearest requests that can be done here, with the names that exist.
    pub(super) fn offers(&self, tokens: &[Token]) -> Vec<String> {
        const ALWAYS: [&str; 3] = ["list the files here", "read {file}", "what can you do?"];
        let can =
            |row: &&Row| row.tools.is_empty() || row.tools.iter().any(|can| self.world.can(*can));
        let near = rank::close(tokens)
            .into_iter()
            .map(|index| &ROWS[index])
            .filter(can)
            .map(|row| row.offer);
        let is_file = |token: &&Token| {
            token.shape == Shape::Path && token.text.contains('.') && !token.text.contains('*')
        };
        let server = self
            .world
            .servers
            .iter()
            .find(|server| tokens.iter().any(|token| mcp::names(token, server)));
        let mut offers: Vec<String> = Vec::new();
        offers.extend(server.map(|server| format!("connect to {server}")));
        offers.extend(tokens.iter().find(is_file).map(|file| format!("read {}", file.text)));
        for offer in near.chain(ALWAYS) {
            let offer = self.named(offer, tokens);
            if offers.len() < 3 && !offers.contains(&offer) {
                offers.push(offer);
            }
        }
        offers
    }

    /// The same for a request about teammates: what it can let the first of them do.
    pub(super) fn for_team(&self, mut no: Refusal) -> Refusal {
        let Some(name) = self.hired.first().filter(|_| self.world.can(Can::Spawn)) else {
            return no;
        };
        let verb = if self.world.mates.contains(name) { "ask" } else { "spawn" };
        let file = self.last_path().unwrap_or_else(|| "README.md".to_owned());
        let filled = |offer: &str| {
            offer.replace("{verb}", verb).replace("{name}", name).replace("{file}", &file)
        };
        let can = |offer: &String| Planner::new(self.world).whole_of(offer).is_ok();
        no.offers = set("team-offers").split(" | ").map(filled).filter(can).take(3).collect();
        no
    }

    /// An offer with names that exist: the file that was named or spoken of, a teammate.
    fn named(&self, offer: &str, tokens: &[Token]) -> String {
        let is_name = |text: &str| !text.contains('*') && text.contains(char::is_alphanumeric);
        let said = tokens.iter().find(|token| token.shape == Shape::Path && is_name(&token.text));
        let file = said.map(|token| token.text.clone()).or_else(|| self.last_path());
        let file = file.unwrap_or_else(|| "README.md".to_owned());
        let offer = offer.replace("{file}", &file).replace("{dir}", "this directory");
        let people = ["alice", "bob"].into_iter().zip(&self.people);
        people.fold(offer, |offer, (sample, name)| offer.replace(sample, name))
    }

    /// A job for somebody else must be one that can be done, without the lead's servers.
    pub(super) fn check(&self, job: &str) -> Result<()> {
        let (mates, last_path) = (self.people.clone(), self.last_path());
        let (servers, connected) = (Vec::new(), Vec::new());
        let world = World {
            lent: set("lent"),
            mates,
            last_path,
            servers,
            connected,
            system: "",
            ..*self.world
        };
        Planner::new(&world).whole_of(job)
    }
}
