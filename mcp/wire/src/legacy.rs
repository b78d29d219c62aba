//! The client's end of HTTP+SSE, the transport of 2024-11-05 that many servers still offer.
//!
//! One stream brings all frames, after an event that names where frames are posted. Invariant: frames are posted one after
//! the other, and only to the server that the stream comes from.

use std::time::Duration;

use hyper::http::header::ACCEPT;
use reqwest::{StatusCode, Url};
use tokio::time::timeout;

use crate::connection::{Connection, Error, Reader, Writer};
use crate::http::{ClientOptions, chain, refusal};
use crate::sse::{Events, Resume};

/// For a server to open its stream, and to take what is posted; the answers come on the stream.
const PATIENCE: Duration = Duration::from_secs(30);

/// Connects to the URL of a stream, `/sse` as a rule.
///
/// # Errors
/// When there is no such stream, or it does not name a place of the same server.
pub async fn connect(options: ClientOptions) -> Result<Connection, Error> {
    let broken = |reason: String| Error::Broken(reason);
    let own = options.headers.lock().unwrap().clone();
    let request = options.http.get(&options.url).headers(own);
    let request = request.header(ACCEPT, "text/event-stream");
    let late = |_| Error::silent(None);
    let response = timeout(PATIENCE, request.send()).await.map_err(late)?;
    let response = response.map_err(|error| broken(chain(&error)))?;
    if response.status() != StatusCode::OK {
        return Err(refusal(response, None).await.0);
    }
    let base = response.url().clone();
    let mut events = Events::new(response, options.limit);
    let mut resume = Resume::default();
    let first = timeout(PATIENCE, events.next(&mut resume)).await;
    let first = first.map_err(late)?.map_err(broken)?;
    let named = first.filter(|event| event.event.as_deref() == Some("endpoint"));
    let place = named.and_then(|event| base.join(event.data.as_deref()?.trim()).ok());
    let Some(place) = place.filter(|place| place.origin() == base.origin()) else {
        let reason = "the stream does not begin with an endpoint of the same server";
        return Err(broken(reason.to_owned()));
    };
    let (near, far) = Connection::pair();
    tokio::spawn(async move {
        let inbox = &far.writer;
        // The stream is the connection: closing it is how either side says goodbye.
        tokio::select! {
            () = read(events, inbox) => {}
            () = post(far.reader, options, place, inbox) => {}
        }
    });
    Ok(near)
}

async fn read(mut events: Events, inbox: &Writer) {
    let mut resume = Resume::default();
    let reason = loop {
        let event = match events.next(&mut resume).await {
            Ok(Some(event)) => event,
            Ok(None) => break "the server has closed the stream".to_owned(),
            Err(reason) => break reason,
        };
        if event.event.as_deref().is_some_and(|kind| kind != "message") {
            continue;
        }
        let text = event.data.unwrap_or_default();
        if inbox.receive(text.as_bytes()).await.is_err() {
            return;
        }
    };
    let _ = inbox.fail(Error::Broken(reason)).await;
}

async fn post(mut outbox: Reader, options: ClientOptions, place: Url, inbox: &Writer) {
    while let Some(Ok(frame)) = outbox.recv().await {
        let own = options.headers.lock().unwrap().clone();
        let request = options.http.post(place.clone()).headers(own);
        let request = request
            .header("content-type", "application/json")
            .body(frame.to_vec());
        let id = frame.id.filter(|_| frame.method.is_some());
        let error = match timeout(PATIENCE, request.send()).await {
            Ok(Ok(response)) if response.status().is_success() => continue,
            Ok(Ok(response)) => refusal(response, id).await.0,
            Ok(Err(error)) => Error::unsent(id, &error),
            Err(_) => Error::silent(id),
        };
        if inbox.fail(error).await.is_err() {
            return;
        }
    }
}
