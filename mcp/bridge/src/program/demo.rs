//! stub
use super::Failure;
pub async fn run() -> Result<u8, Failure> { Ok(0) }
