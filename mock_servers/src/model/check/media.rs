//! Images and documents: what they cost.
//!
//! A picture costs what the model looks at, so its base64, which is a hundred times longer, must not count.
//! Invariant: nothing is fetched. What stands elsewhere, at a URL or as a file, costs the most that one may.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use imagesize::{ImageType, blob_size, image_type};
use serde_json::Value;

use super::message::content_of;
use crate::model::refusal::Flaw;
use crate::model::tokens::tokens;

/// This many pixels cost one token.
const PIXELS_PER_TOKEN: f64 = 750.0;
/// An image is scaled down until its long edge has so many pixels …
const LONG_EDGE: f64 = 1568.0;
/// … and it costs no more than this.
const MOST_IMAGE_TOKENS: u32 = 1600;
/// The most pixels that an edge may have, before any scaling.
const MOST_PIXELS: usize = 8000;
/// The most bytes of base64 that an image may have.
const MOST_BYTES: usize = 5 * 1024 * 1024;
/// A page of a PDF is given to the model as text and as an image.
const PAGE_TOKENS: u32 = 3000;

/// What an `image` block costs, or why its picture is none.
pub fn image(block: &Value) -> Result<u32, Flaw> {
    let source = &block["source"];
    if source["type"] != "base64" {
        return Ok(MOST_IMAGE_TOKENS);
    }
    pixels(source).map_err(in_source)
}

/// What a `document` block costs, or why its pages are none.
pub fn document(block: &Value) -> Result<u32, Flaw> {
    let source = &block["source"];
    let cost = match source["type"].as_str() {
        Some("base64") => pages(source).map_err(in_source)?,
        Some("content") => content_of(&source["content"])?.1,
        Some("text") => tokens(text(source, "data")),
        _ => PAGE_TOKENS,
    };
    Ok(cost + tokens(text(block, "title")) + tokens(text(block, "context")))
}

fn pixels(source: &Value) -> Result<u32, Flaw> {
    let (named, data) = (text(source, "media_type"), text(source, "data"));
    if data.len() > MOST_BYTES {
        let rule = format!(
            "image exceeds 5 MB maximum: {} bytes > {MOST_BYTES} bytes",
            data.len()
        );
        return Err(Flaw::here(rule));
    }
    let bytes = decoded(data)?;
    let (Ok(found), Ok(size)) = (image_type(&bytes), blob_size(&bytes)) else {
        return Err(Flaw::here("Could not process image"));
    };
    let found = match found {
        ImageType::Jpeg => "image/jpeg",
        ImageType::Png => "image/png",
        ImageType::Gif => "image/gif",
        ImageType::Webp => "image/webp",
        _ => "another",
    };
    if found != named {
        let rule = format!("Image does not match the provided media type {named}");
        return Err(Flaw::here(rule));
    }
    let (width, height) = (size.width, size.height);
    if width.max(height) > MOST_PIXELS {
        let rule = "At least one of the image dimensions exceed max allowed size";
        return Err(Flaw::here(format!("{rule}: {MOST_PIXELS} pixels")));
    }
    let (width, height) = (width as f64, height as f64);
    let scale = (LONG_EDGE / width.max(height)).min(1.0);
    let cost = (width * scale * height * scale / PIXELS_PER_TOKEN).ceil();
    Ok(cost.min(f64::from(MOST_IMAGE_TOKENS)) as u32)
}

fn pages(source: &Value) -> Result<u32, Flaw> {
    let bytes = decoded(text(source, "data"))?;
    if !bytes.starts_with(b"%PDF-") {
        return Err(Flaw::here("The PDF specified was not valid."));
    }
    // The pages of a PDF stand in it as `/Type /Page`, unless it packs them.
    let text = String::from_utf8_lossy(&bytes);
    let kinds = text.split("/Type").skip(1).map(str::trim_ascii_start);
    let pages = kinds.filter_map(|kind| kind.strip_prefix("/Page"));
    let count = pages
        .filter(|rest| !rest.starts_with(|c: char| c.is_ascii_alphanumeric()))
        .count();
    Ok(PAGE_TOKENS.saturating_mul(u32::try_from(count.max(1)).unwrap_or(u32::MAX)))
}

fn in_source(flaw: Flaw) -> Flaw {
    ["data", "base64", "source"].iter().fold(flaw, Flaw::under)
}

fn text<'a>(object: &'a Value, name: &str) -> &'a str {
    object[name].as_str().unwrap_or_default()
}

fn decoded(data: &str) -> Result<Vec<u8>, Flaw> {
    let wrong = |_| Flaw::here("Invalid base64 data");
    STANDARD.decode(data).map_err(wrong)
}
