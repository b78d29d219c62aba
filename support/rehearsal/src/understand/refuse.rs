//! A no that helps: the word that was not understood, and the nearest requests that can be done here.
//!
//! Invariant: an offer can be typed as it stands.

use super::{LENT, plan};
use super::{Planner, Result, World};
use crate::clause::Clause;
use crate::mcp;
use crate::plan::Refusal;
use crate::rank;
use crate::table::Row;
use crate::words::{Shape, Token};

impl Planner<'_, '_> {
    pub(super) fn refuse(&self, word: &str, clause: &Clause) -> Refusal {
        let why = format!("I did not understand “{}”, so I did nothing of it", word.trim());
        Refusal { why, offers: self.offers(&clause.tokens) }
    }

    /// The nearest requests that can be done here, with the names that exist.
    pub(super) fn offers(&self, tokens: &[Token]) -> Vec<String> {
        let can = |row: &&Row| row.tools.is_empty() || row.tools.iter().any(|can| self.world.can(*can));
        let mut rows: Vec<&Row> = rank::nearest(tokens).into_iter().map(rank::row).filter(can).collect();
        rows.extend(
            ["list the files here", "read {file}", "what can you do?"]
                .iter()
                .filter_map(|offer| crate::table::ROWS.iter().find(|row| row.offer == *offer))
                .filter(can),
        );
        let mut offers: Vec<String> = Vec::new();
        let server = self.world.servers.iter().find(|server| tokens.iter().any(|token| mcp::names(token, server)));
        offers.extend(server.map(|server| format!("connect to {server}")));
        let file = tokens
            .iter()
            .find(|token| token.shape == Shape::Path && token.text.contains('.') && !token.text.contains('*'));
        offers.extend(file.map(|file| format!("read {}", file.text)));
        for row in rows {
            let offer = self.named(row.offer, tokens);
            if offers.len() < 3 && !offers.contains(&offer) {
                offers.push(offer);
            }
        }
        offers
    }

    /// An offer with names that exist: the file that was named or spoken of, a teammate.
    pub(super) fn named(&self, offer: &str, tokens: &[Token]) -> String {
        let said = tokens
            .iter()
            .find(|token| token.shape == Shape::Path && !token.text.contains('*'))
            .map(|token| token.text.clone());
        let file = said.or_else(|| self.last_path()).unwrap_or_else(|| "README.md".to_owned());
        let mut offer = offer.replace("{file}", &file).replace("{dir}", "this directory");
        if let Some(name) = self.people.first() {
            offer = offer.replace("alice", name).replace("bob", self.people.get(1).unwrap_or(name));
        }
        offer
    }

    /// A job for somebody else must be one that can be done.
    pub(super) fn check(&self, job: &str) -> Result<()> {
        let world = World {
            lent: LENT,
            mates: self.people.clone(),
            servers: Vec::new(),
            connected: Vec::new(),
            last_path: self.last_path(),
            tools: self.world.tools,
            scene: self.world.scene,
            system: "",
        };
        match plan(job, &world).refusal {
            Some(refusal) => Err(refusal),
            None => Ok(()),
        }
    }
}
