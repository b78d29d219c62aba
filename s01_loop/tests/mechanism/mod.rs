//! The client and bash through their public handles: real HTTP against the mock model, real processes.

mod bash;
mod client;
mod mended;
mod size;
mod streams;
