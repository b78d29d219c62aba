//! Tickets: what waits for somebody's word, under an id that can be said aloud.
//!
//! The word comes later and from elsewhere, so it names what it means. Invariants: an id is good for one word and for a
//! limited time; nothing that waits is forgotten, it is handed back when its time is over.

use std::collections::HashMap;
use std::time::Duration;

use tokio::time::Instant;

use crate::fresh_suffix;

/// Letters of an id.
const LETTERS: usize = 5;

/// What waits, each under an id of five letters.
#[derive(Debug)]
pub struct Tickets<T> {
    life: Duration,
    waiting: HashMap<String, (Instant, T)>,
}

impl<T> Tickets<T> {
    /// Nothing waits yet; whatever will may wait so long.
    pub fn new(life: Duration) -> Self {
        Self {
            life,
            waiting: HashMap::new(),
        }
    }

    /// Lets this wait, and returns its id.
    pub fn issue(&mut self, what: T) -> String {
        loop {
            // Without digits, and without the letters that are misread.
            let letters = std::iter::repeat_with(fresh_suffix).flat_map(String::into_bytes);
            let letters = letters.filter(u8::is_ascii_lowercase).take(LETTERS);
            let id: String = letters.map(char::from).collect();
            if !self.waiting.contains_key(&id) {
                let until = Instant::now() + self.life;
                self.waiting.insert(id.clone(), (until, what));
                return id;
            }
        }
    }

    /// Takes what waits under this id, in whatever case it is typed, unless its time is over.
    pub fn take(&mut self, id: &str) -> Option<T> {
        let id = id.to_ascii_lowercase();
        let (until, _) = self.waiting.get(&id)?;
        let (_, what) = (Instant::now() < *until).then(|| self.waiting.remove(&id))??;
        Some(what)
    }

    /// Takes back all whose time is over.
    pub fn expired(&mut self) -> Vec<T> {
        let now = Instant::now();
        let over = self.waiting.extract_if(|_, (until, _)| *until <= now);
        over.map(|(_, (_, what))| what).collect()
    }

    /// How much waits.
    pub fn waiting(&self) -> usize {
        self.waiting.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn an_id_is_good_for_one_word_in_time() {
        let mut tickets = Tickets::new(Duration::from_secs(600));
        let ids: Vec<_> = (0..200).map(|number| tickets.issue(number)).collect();
        for id in &ids {
            let plain = |c: char| c.is_ascii_lowercase() && !"ilou".contains(c);
            assert!(id.len() == LETTERS && id.chars().all(plain), "{id}");
        }
        assert_eq!(tickets.take(&ids[0].to_uppercase()), Some(0));
        assert_eq!(tickets.take(&ids[0]), None);
        assert_eq!(tickets.take("xxxx"), None);
        assert_eq!(tickets.expired(), [0; 0]);
        tokio::time::advance(Duration::from_secs(600)).await;
        assert_eq!(tickets.take(&ids[1]), None);
        assert_eq!((tickets.expired().len(), tickets.waiting()), (199, 0));
    }
}
