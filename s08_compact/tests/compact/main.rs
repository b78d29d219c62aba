//! The compactor through its public handle, judged by the mock model.

mod any;
mod ends;
mod layers;
mod requests;
mod rescue;
mod stage;
mod summaries;
mod transcripts;
