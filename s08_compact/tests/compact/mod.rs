//! The compactor through its public handle, judged by the mock model.

mod any;
mod layers;
mod recover;
mod requests;
mod summaries;
mod transcripts;
