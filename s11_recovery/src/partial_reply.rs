//! A reply that reached its token limit, and what may still become of it.
//!
//! It was paid for, so it is kept until a better one arrives. Invariant: the caller's history never holds a part; it
//! gets one reply with the costs of all its requests.

use std::borrow::Cow;

use s01_loop::{History, Reply};

const GO_ON: &str = "<continue>\nYour reply reached its token limit. Go on exactly where it stopped: repeat nothing, \
                     and say nothing about it.\n</continue>";
const SMALLER: &str = "<continue>\nYour tool call reached the token limit and was dropped. Make it again in smaller \
                       parts, such as a file in several calls.\n</continue>";

/// A cut reply.
#[derive(Default)]
pub enum PartialReply {
    /// No reply was cut.
    #[default]
    Nothing,
    /// The request was sent again with more room; this reply is kept in case that fails.
    Spare(Reply),
    /// The beginning of a reply; the next one goes on from there.
    Part(Reply),
}

impl PartialReply {
    /// The conversation to send: with the beginning and a line that asks for the rest, if there is a beginning. That line
    /// comes last, so the beginning may end in white space, which the API refuses of a last message.
    pub fn conversation<'a>(&self, history: &'a History) -> Cow<'a, History> {
        let mut conversation = Cow::Borrowed(history);
        if let Self::Part(part) = self {
            let aside = conversation.to_mut();
            aside.reply(part);
            aside.remind([if part.lost_a_call { SMALLER } else { GO_ON }]);
        }
        conversation
    }

    /// The next reply joined to this one.
    pub fn joined(self, mut next: Reply) -> Reply {
        match self {
            Self::Nothing => next,
            Self::Spare(cut) => {
                next.usage += &cut.usage;
                next
            }
            Self::Part(part) => part.followed_by(next),
        }
    }

    /// The beginning to continue from when the raised limit was refused.
    pub fn into_part(self) -> Self {
        match self {
            Self::Spare(cut) => Self::Part(cut),
            Self::Nothing | Self::Part(_) => self,
        }
    }

    /// The reply to show when no more of it will come. None for one that lost a call: it would end the turn as if the
    /// call had never been made.
    pub fn usable(self) -> Option<Reply> {
        match self {
            Self::Spare(reply) | Self::Part(reply) => {
                let has_text = !reply.message().text().is_empty();
                (has_text && !reply.lost_a_call).then_some(reply)
            }
            Self::Nothing => None,
        }
    }
}
