//! The table of errors, a row each.

use mcp_client::errors::Call::{Again, Fail, NeedsLogin, Unknown};
use mcp_client::errors::Class::{
    Broken, Protocol, Refused, Scope, SessionLost, Unanswered, Unauthorized, Unsent,
};
use mcp_client::errors::Link::{Close, Greet, Keep, Login, Pause, Reopen};
use mcp_client::errors::{Seen, classify, decide};
use mcp_wire::{Cause, Error, Frame};

#[test]
fn what_becomes_of_connection_and_call() {
    let (once, twice) = (true, false);
    for (class, alive, in_a_row, repeatable, remedied, expected) in [
        // The server was never there: its user hears so at once.
        (Broken, false, 1, true, false, (Close, Fail)),
        (Unsent, false, 1, true, false, (Close, Fail)),
        (Unanswered, false, 1, true, false, (Close, Fail)),
        // A stream that has ended is opened again; a call is made again when that does no harm.
        (Broken, true, 1, true, false, (Reopen, Again)),
        (Broken, true, 1, false, false, (Reopen, Unknown)),
        // Nothing was sent: no call is lost, whatever it does.
        (Unsent, true, 1, false, false, (Pause, Again)),
        (Unsent, true, 2, true, false, (Pause, Again)),
        (Unsent, true, 3, false, false, (Reopen, Again)),
        // It may have been sent.
        (Unanswered, true, 1, true, false, (Pause, Again)),
        (Unanswered, true, 2, false, false, (Pause, Unknown)),
        (Unanswered, true, 3, true, false, (Reopen, Again)),
        (Unanswered, true, 3, false, false, (Reopen, Unknown)),
        // One login for a call, one step up, one new session: the server has not acted.
        (Unauthorized, false, 0, false, twice, (Login, Again)),
        (Unauthorized, true, 0, false, twice, (Login, Again)),
        (Unauthorized, true, 0, true, once, (Keep, NeedsLogin)),
        (Scope, true, 0, false, twice, (Login, Again)),
        (Scope, true, 0, true, once, (Keep, NeedsLogin)),
        (SessionLost, true, 0, false, twice, (Greet, Again)),
        (SessionLost, true, 0, true, once, (Keep, Fail)),
        // Nonsense costs a call, and the third time the connection.
        (Protocol, true, 1, true, false, (Keep, Fail)),
        (Protocol, true, 2, true, false, (Keep, Fail)),
        (Protocol, true, 3, true, false, (Reopen, Fail)),
        (Refused, true, 0, true, false, (Keep, Fail)),
        (Refused, false, 0, false, false, (Keep, Fail)),
    ] {
        let seen = Seen {
            alive,
            in_a_row,
            repeatable,
            remedied,
        };
        assert_eq!(decide(class, seen), expected, "{class:?} {seen:?}");
    }
}

#[test]
fn each_error_has_its_class() {
    let failed = |cause| Error::Failed {
        id: None,
        cause,
        reason: String::new(),
    };
    let refused = |status, challenge: Option<&str>| {
        failed(Cause::Refused(status, challenge.map(str::to_owned)))
    };
    let scope = Some("Bearer error=\"insufficient_scope\", scope=\"files:write\"");
    for (error, class) in [
        (Error::Broken(String::new()), Broken),
        (failed(Cause::Unsent), Unsent),
        (failed(Cause::SessionLost), SessionLost),
        (Error::NotAFrame(Frame::parse(b"hello").unwrap_err()), Protocol),
        (failed(Cause::Unanswered), Unanswered),
        (refused(503, None), Unanswered),
        (refused(401, None), Unauthorized),
        (refused(403, scope), Scope),
        (refused(403, Some("Bearer")), Refused),
        (refused(403, None), Refused),
        (refused(429, None), Refused),
        (refused(500, None), Refused),
    ] {
        assert_eq!(classify(&error), class, "{error:?}");
    }
}
