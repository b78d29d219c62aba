//! A reply that reached its token limit, and what may still become of it.
//!
//! It was paid for, so it is kept until something better has arrived. Invariant: the caller's history never sees a part;
//! it gets one reply, with the costs of all requests it took.

use std::borrow::Cow;

use s01_loop::{History, Reply};

const GO_ON: &str = "<continue>\nYour reply reached its token limit. Go on exactly where it stopped: repeat nothing, \
                     and say nothing about it.\n</continue>";
const SMALLER: &str = "<continue>\nYour tool call reached the token limit and was dropped. Make it again in smaller \
                       parts, such as a file in several calls.\n</continue>";

/// A cut reply.
#[derive(Default)]
pub enum PartialReply {
    /// There is none.
    #[default]
    Nothing,
    /// The same was asked again, with more room; this one is for the case that nothing comes of it.
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

    /// The reply that the next one makes, together with this.
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

    /// The beginning to go on from, when the same with more room is not to be had.
    pub fn into_part(self) -> Self {
        match self {
            Self::Spare(cut) => Self::Part(cut),
            Self::Nothing | Self::Part(_) => self,
        }
    }

    /// What can be shown for a reply when no more of it will come. One that lost a call would end the turn as if the call
    /// had never been meant.
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
