//! Images and documents: the rules of their sources, and what they cost.
//!
//! A picture costs what the model looks at, so its base64, which is a hundred times longer, must not count.
//! Invariant: nothing is fetched. What stands elsewhere, at a URL or as a file, costs the most that one may.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use imagesize::{ImageType, blob_size, image_type};
use serde_json::Value;

use super::fields::{Fields, choice, tag, text};
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

/// The rules of an `image` block, and what it costs.
pub fn image(block: &Value) -> Result<u32, Flaw> {
    let mut fields = Fields::of(block.clone())?;
    let source = fields.required("source")?;
    fields.ignore(&["type", "transformations"]);
    fields.none_left()?;
    let kind = tag(&source, &["base64", "file", "url"]).map_err(|flaw| flaw.under("source"))?;
    let mut fields = Fields::of(source)?;
    fields.ignore(&["type"]);
    let cost = match kind {
        "base64" => pixels(&mut fields),
        kind => elsewhere(kind, &mut fields).map(|()| MOST_IMAGE_TOKENS),
    };
    let cost = cost.and_then(|cost| fields.none_left().map(|()| cost));
    cost.map_err(|flaw| flaw.under(kind).under("source"))
}

/// The rules of a `document` block, and what it costs.
pub fn document(block: &Value) -> Result<u32, Flaw> {
    let mut fields = Fields::of(block.clone())?;
    let source = fields.required("source")?;
    let title = fields.optional_string("title")?.unwrap_or_default();
    let context = fields.optional_string("context")?.unwrap_or_default();
    fields.ignore(&["type", "citations"]);
    fields.none_left()?;
    let kinds = ["base64", "content", "file", "text", "url"];
    let kind = tag(&source, &kinds).map_err(|flaw| flaw.under("source"))?;
    let mut fields = Fields::of(source)?;
    fields.ignore(&["type"]);
    let cost = match kind {
        "base64" => pages(&mut fields),
        "content" => {
            let content = fields.required("content")?;
            let read = content_of(content, &["image", "text"]);
            read.map(|(_, cost)| cost)
                .map_err(|flaw| flaw.under("content"))
        }
        "text" => media_type(&mut fields, &["text/plain"])
            .and_then(|_| fields.string("data"))
            .map(|text| tokens(&text)),
        kind => elsewhere(kind, &mut fields).map(|()| PAGE_TOKENS),
    };
    let cost = cost.and_then(|cost| fields.none_left().map(|()| cost));
    let cost = cost.map_err(|flaw| flaw.under(kind).under("source"))?;
    Ok(cost + tokens(&title) + tokens(&context))
}

fn pixels(fields: &mut Fields) -> Result<u32, Flaw> {
    let types = ["image/jpeg", "image/png", "image/gif", "image/webp"];
    let named = media_type(fields, &types)?;
    let data = fields.string("data")?;
    if data.len() > MOST_BYTES {
        let rule = format!(
            "image exceeds 5 MB maximum: {} bytes > {MOST_BYTES} bytes",
            data.len()
        );
        return Err(Flaw::at("data", rule));
    }
    let bytes = decoded(&data)?;
    let (Ok(found), Ok(size)) = (image_type(&bytes), blob_size(&bytes)) else {
        return Err(Flaw::at("data", "Could not process image"));
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
        return Err(Flaw::at("data", rule));
    }
    let (width, height) = (size.width, size.height);
    if width.max(height) > MOST_PIXELS {
        let rule = "At least one of the image dimensions exceed max allowed size";
        return Err(Flaw::at("data", format!("{rule}: {MOST_PIXELS} pixels")));
    }
    let (width, height) = (width as f64, height as f64);
    let scale = (LONG_EDGE / width.max(height)).min(1.0);
    let cost = (width * scale * height * scale / PIXELS_PER_TOKEN).ceil();
    Ok(cost.min(f64::from(MOST_IMAGE_TOKENS)) as u32)
}

fn pages(fields: &mut Fields) -> Result<u32, Flaw> {
    media_type(fields, &["application/pdf"])?;
    let bytes = decoded(&fields.string("data")?)?;
    if !bytes.starts_with(b"%PDF-") {
        return Err(Flaw::at("data", "The PDF specified was not valid."));
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

/// A source that is only named.
fn elsewhere(kind: &str, fields: &mut Fields) -> Result<(), Flaw> {
    if kind == "file" {
        return fields.string("file_id").map(drop);
    }
    let url = fields.string("url")?;
    if url.starts_with("https://") || url.starts_with("http://") {
        return Ok(());
    }
    Err(Flaw::at("url", "Only HTTP and HTTPS URLs are supported."))
}

fn media_type(fields: &mut Fields, types: &[&str]) -> Result<String, Flaw> {
    let named = fields.required("media_type")?;
    let known = choice(named.clone(), types).and_then(|()| text(named));
    known.map_err(|flaw| flaw.under("media_type"))
}

fn decoded(data: &str) -> Result<Vec<u8>, Flaw> {
    let wrong = |_| Flaw::at("data", "Invalid base64 data");
    STANDARD.decode(data).map_err(wrong)
}
