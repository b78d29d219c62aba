//! The client's end of HTTP+SSE, the transport of 2024-11-05 that many servers still offer.
//!
//! One stream brings all frames, after an event that names where frames are posted. Invariant: frames are posted one after
//! the other, and only to the server that the stream comes from.

use std::time::Duration;

use reqwest::{Method, StatusCode};
use tokio::time::timeout;

use crate::connection::{Connection, Error};
use crate::http::{Client, ClientOptions, chain};

/// For a server to open its stream and to say where frames are posted.
const PATIENCE: Duration = Duration::from_secs(30);

/// Connects to the URL of a stream, `/sse` as a rule.
///
/// # Errors
/// When there is no such stream, or it does not name a place of the same server.
pub async fn connect(options: ClientOptions) -> Result<Connection, Error> {
    let late = |_| Error::unanswered(None, "the server does not answer");
    timeout(PATIENCE, open(options)).await.map_err(late)?
}

async fn open(options: ClientOptions) -> Result<Connection, Error> {
    let (near, mut far) = Connection::pair();
    let mut client = Client::new(options, far.writer.clone());
    let response = client.request(Method::GET).send().await;
    let response = response.map_err(|error| Error::Broken(chain(&error.without_url())))?;
    if response.status() != StatusCode::OK {
        // Without an id it answers nothing.
        let refused = client.explain(response, None).await;
        return Err(refused.map_or_else(|error| error, Error::NotAFrame));
    }
    let base = response.url().clone();
    let mut events = client.events(response);
    let first = events.next().await.map_err(Error::Broken)?;
    let named = Some(first).filter(|event| event.event.as_deref() == Some("endpoint"));
    let place = named.and_then(|event| base.join(event.data?.trim()).ok());
    let Some(place) = place.filter(|place| place.origin() == base.origin()) else {
        let reason = "the stream does not begin with an endpoint of the same server";
        return Err(Error::Broken(reason.to_owned()));
    };
    client.options.url = place.into();
    tokio::spawn(async move {
        let post = async {
            while let Some(Ok(frame)) = far.reader.recv().await {
                client.tell(frame).await;
            }
        };
        // The stream is the connection: closing it is how either side says goodbye.
        tokio::select! {
            broken = client.pass_on(&mut events, None) => if let Ok(Some(why)) = broken {
                let _ = far.writer.put(Err(Error::Broken(why))).await;
            },
            () = post => {}
            () = far.writer.closed() => {}
        }
    });
    Ok(near)
}
