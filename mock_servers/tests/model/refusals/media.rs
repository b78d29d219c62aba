//! The rules of images and documents, and what they cost.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use mock_servers::model::MockModel;
use serde_json::{Value, json};

use super::{assert_table, assistant, call, talk, user};
use crate::client::post_bytes;

fn png(width: u32, height: u32) -> Vec<u8> {
    let head = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR".to_vec();
    [
        head,
        width.to_be_bytes().into(),
        height.to_be_bytes().into(),
    ]
    .concat()
}

fn gif(width: u16, height: u16) -> Vec<u8> {
    [
        b"GIF89a".to_vec(),
        width.to_le_bytes().into(),
        height.to_le_bytes().into(),
        vec![0; 16],
    ]
    .concat()
}

fn jpeg(width: u16, height: u16) -> Vec<u8> {
    let head = b"\xff\xd8\xff\xe0\0\x10JFIF\0\x01\x01\0\0\x01\0\x01\0\0\xff\xc0\0\x11\x08".to_vec();
    [
        head,
        height.to_be_bytes().into(),
        width.to_be_bytes().into(),
        vec![0; 16],
    ]
    .concat()
}

fn webp(width: u16, height: u16) -> Vec<u8> {
    let head = b"RIFF\0\0\0\0WEBPVP8X\x0a\0\0\0\0\0\0\0".to_vec();
    let less_one = |edge: u16| u32::from(edge - 1).to_le_bytes()[..3].to_vec();
    [head, less_one(width), less_one(height), vec![0; 16]].concat()
}

fn base64(media_type: &str, bytes: &[u8]) -> Value {
    json!({"type": "base64", "media_type": media_type, "data": STANDARD.encode(bytes)})
}

fn block(kind: &str, source: Value) -> Value {
    json!({"type": kind, "source": source})
}

fn shows(block: Value) -> Value {
    talk(json!([user(json!([block]))]))
}

fn cost(request: Value) -> u64 {
    let model = MockModel::scripted([]);
    let body = request.to_string();
    let counted = post_bytes(&model, "/v1/messages/count_tokens", body.as_bytes());
    counted.json()["input_tokens"]
        .as_u64()
        .unwrap_or_else(|| panic!("{}", counted.text()))
}

#[test]
fn an_image_costs_its_pixels() {
    for (media_type, bytes, tokens) in [
        ("image/png", png(1, 1), 1),
        ("image/png", png(200, 200), 54),
        ("image/gif", gif(300, 250), 100),
        ("image/jpeg", jpeg(1000, 1000), 1334),
        ("image/webp", webp(750, 400), 400),
        // Scaled down until the long edge has 1,568 pixels …
        ("image/png", png(3136, 500), 523),
        // … and until it costs no more than 1,600 tokens.
        ("image/jpeg", jpeg(8000, 6000), 1600),
        ("image/png", png(1092, 1500), 1600),
    ] {
        // What stands behind the head does not count.
        for filling in [0, 100_000] {
            let bytes = [bytes.clone(), vec![0; filling]].concat();
            let image = block("image", base64(media_type, &bytes));
            assert_eq!(cost(shows(image.clone())), tokens, "{media_type} {filling}");
            let result =
                json!({"type": "tool_result", "tool_use_id": "toolu_1", "content": [image]});
            let request = talk(json!([
                user(json!("a")),
                assistant(json!([call("toolu_1")])),
                user(json!([result]))
            ]));
            assert_eq!(
                cost(request),
                1 + (1 + 1) + tokens,
                "{media_type} {filling}"
            );
        }
    }
    let named = json!({"type": "url", "url": "https://example.com/a.png"});
    assert_eq!(cost(shows(block("image", named))), 1600);
    assert_eq!(
        cost(shows(block(
            "image",
            json!({"type": "file", "file_id": "file_1"})
        ))),
        1600
    );
}

#[test]
fn a_document_costs_its_text_or_its_pages() {
    let pdf = b"%PDF-1.7\n1 0 obj <</Type /Pages /Count 2>> 2 0 obj <</Type /Page>> 3 0 obj <</Type/Page/Parent 1 0 R>>";
    let image = block("image", base64("image/png", &png(200, 200)));
    for (source, tokens) in [
        (
            json!({"type": "text", "media_type": "text/plain", "data": "12345678"}),
            2,
        ),
        (json!({"type": "content", "content": "12345678"}), 2),
        (
            json!({"type": "content", "content": [{"type": "text", "text": "1234"}, image]}),
            1 + 54,
        ),
        (base64("application/pdf", pdf), 2 * 3000),
        (
            base64("application/pdf", b"%PDF-1.7 with all objects packed"),
            3000,
        ),
        (
            json!({"type": "url", "url": "https://example.com/a.pdf"}),
            3000,
        ),
    ] {
        let mut document = block("document", source);
        assert_eq!(cost(shows(document.clone())), tokens, "{document}");
        document["title"] = json!("1234");
        document["context"] = json!("1234");
        assert_eq!(cost(shows(document.clone())), tokens + 2, "{document}");
    }
}

#[test]
fn a_source_is_what_it_says() {
    let table = r#"
{"type": "image"} -> image.source: Field required
{"type": "image", "source": "a.png"} -> image.source: Input should be an object
{"type": "image", "source": {"type": "path"}} -> image.source: Input tag 'path' found using 'type' does not match any of the expected tags: 'base64', 'file', 'url'
{"type": "image", "source": {"type": "base64", "media_type": "image/bmp", "data": ""}} -> image.source.base64.media_type: Input should be 'image/jpeg', 'image/png', 'image/gif' or 'image/webp'
{"type": "image", "source": {"type": "base64", "media_type": "image/png"}} -> image.source.base64.data: Field required
{"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "a b"}} -> image.source.base64.data: Invalid base64 data
{"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": ""}} -> image.source.base64.data: Could not process image
{"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "aaaa"}} -> image.source.base64.data: Could not process image
{"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "GIF"}} -> image.source.base64.data: Image does not match the provided media type image/png
{"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "WIDE"}} -> image.source.base64.data: At least one of the image dimensions exceed max allowed size: 8000 pixels
{"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "LONG"}} -> image.source.base64.data: image exceeds 5 MB maximum: 5242884 bytes > 5242880 bytes
{"type": "image", "source": {"type": "url", "url": "file:///etc/passwd"}} -> image.source.url.url: Only HTTP and HTTPS URLs are supported.
{"type": "image", "source": {"type": "url", "url": "http://localhost/a", "alt": 1}} -> image.source.url.alt: Extra inputs are not permitted
{"type": "image", "source": {"type": "file"}} -> image.source.file.file_id: Field required
{"type": "image", "source": {"type": "file", "file_id": "a"}, "alt": "a"} -> image.alt: Extra inputs are not permitted
{"type": "document", "source": {"type": "base64", "media_type": "text/plain", "data": ""}} -> document.source.base64.media_type: Input should be 'application/pdf'
{"type": "document", "source": {"type": "base64", "media_type": "application/pdf", "data": "aaaa"}} -> document.source.base64.data: The PDF specified was not valid.
{"type": "document", "source": {"type": "text", "media_type": "text/html", "data": "a"}} -> document.source.text.media_type: Input should be 'text/plain'
{"type": "document", "source": {"type": "content", "content": [{"type": "document"}]}} -> document.source.content.content.0: Input tag 'document' found using 'type' does not match any of the expected tags: 'image', 'text'
{"type": "document", "source": {"type": "url", "url": "https://example.com/a.pdf"}, "title": 7} -> document.title: Input should be a valid string
"#;
    let table = table.replace("GIF", &STANDARD.encode(gif(2, 2)));
    let table = table.replace("WIDE", &STANDARD.encode(png(8001, 2)));
    let table = table.replace("LONG", &"A".repeat(5 * 1024 * 1024 + 4));
    let rows = table.lines().filter_map(|row| row.split_once(" -> "));
    let rows = rows.map(|(block, message)| {
        let messages = format!(r#"{{"messages": [{{"role": "user", "content": [{block}]}}]}}"#);
        format!("{messages} -> messages.0.content.0.{message}\n")
    });
    assert_table(&rows.collect::<String>());
}
