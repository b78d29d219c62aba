//! The client's end of HTTP+SSE, the transport of 2024-11-05 that many servers still offer.
//!
//! One stream brings all frames, after an event that names where frames are posted. Invariant: frames are posted one after
//! the other, and only to the server that the stream comes from.

use std::time::Duration;

use futures_util::{Stream, stream};
use hyper::http::header::ACCEPT;
use reqwest::StatusCode;
use tokio::time::timeout;

use crate::connection::{Connection, Error};
use crate::http::{Client, ClientOptions, Events, chain, large_ones, refusal};

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

async fn open(mut options: ClientOptions) -> Result<Connection, Error> {
    let own = options.headers.lock().unwrap().clone();
    let request = options.http.get(&options.url).headers(own);
    let response = request.header(ACCEPT, "text/event-stream").send().await;
    let response = response.map_err(|error| Error::Broken(chain(&error.without_url())))?;
    if response.status() != StatusCode::OK {
        return Err(refusal(response, None).await.0);
    }
    let base = response.url().clone();
    let mut events = Events::new(response, options.limit, &large_ones());
    let first = events.next().await;
    let first = first.map_err(Error::Broken)?;
    let named = first.filter(|event| event.event.as_deref() == Some("endpoint"));
    let place = named.and_then(|event| base.join(event.data?.trim()).ok());
    let Some(place) = place.filter(|place| place.origin() == base.origin()) else {
        let reason = "the stream does not begin with an endpoint of the same server";
        return Err(Error::Broken(reason.to_owned()));
    };
    options.url = place.into();
    let (near, mut far) = Connection::pair();
    let client = Client::new(options, far.writer.clone());
    tokio::spawn(async move {
        let post = async {
            while let Some(Ok(frame)) = far.reader.recv().await {
                client.tell(frame).await;
            }
        };
        // The stream is the connection: closing it is how either side says goodbye.
        tokio::select! {
            () = far.writer.fill(texts(events)) => {}
            () = post => {}
        }
    });
    Ok(near)
}

fn texts(events: Events) -> impl Stream<Item = Result<String, Error>> {
    stream::unfold(events, |mut events| async {
        let text = match events.next().await {
            Ok(Some(event)) if event.event.as_deref().is_none_or(|it| it == "message") => {
                Ok(event.data.unwrap_or_default())
            }
            Ok(Some(_)) => Ok(String::new()),
            Ok(None) => Err(Error::Broken("the server has closed the stream".to_owned())),
            Err(reason) => Err(Error::Broken(reason)),
        };
        Some((text, events))
    })
}
