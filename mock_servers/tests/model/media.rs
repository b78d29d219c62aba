//! What images and documents cost.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use mock_servers::model::MockModel;
use serde_json::{Value, json};

use crate::client::{asks, post_bytes};

/// The head of a picture: its beginning, and both edges.
pub fn png(width: u32, height: u32) -> Vec<u8> {
    let head = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR";
    [&head[..], &width.to_be_bytes(), &height.to_be_bytes()].concat()
}

pub fn gif(width: u16, height: u16) -> Vec<u8> {
    [
        b"GIF89a",
        &width.to_le_bytes()[..],
        &height.to_le_bytes(),
        &[0; 16],
    ]
    .concat()
}

fn base64(media_type: &str, bytes: &[u8]) -> Value {
    json!({"type": "base64", "media_type": media_type, "data": STANDARD.encode(bytes)})
}

/// What a conversation costs that ends with these blocks of the user.
fn cost(before: &[Value], blocks: Value) -> u64 {
    let mut request = asks("");
    let last = json!({"role": "user", "content": blocks});
    request["messages"] = before.iter().cloned().chain([last]).collect();
    let model = MockModel::scripted([]);
    let body = request.to_string();
    let counted = post_bytes(&model, "/v1/messages/count_tokens", body.as_bytes());
    let tokens = counted.json()["input_tokens"].as_u64();
    tokens.unwrap_or_else(|| panic!("{}", counted.text()))
}

#[test]
fn an_image_costs_its_pixels() {
    let call = json!([{"type": "tool_use", "id": "toolu_1", "name": "ls", "input": {}}]);
    let before = [
        json!({"role": "user", "content": "a"}),
        json!({"role": "assistant", "content": call}),
    ];
    for (media_type, bytes, tokens) in [
        ("image/png", png(1, 1), 1),
        ("image/png", png(200, 200), 54),
        ("image/gif", gif(300, 250), 100),
        // Scaled down until the long edge has 1,568 pixels …
        ("image/png", png(3136, 500), 523),
        // … and until it costs no more than 1,600 tokens.
        ("image/png", png(8000, 6000), 1600),
    ] {
        // What stands behind the head does not count.
        for filling in [0, 100_000] {
            let bytes = [bytes.clone(), vec![0; filling]].concat();
            let image = json!({"type": "image", "source": base64(media_type, &bytes)});
            assert_eq!(cost(&[], json!([image])), tokens, "{media_type} {filling}");
            let result =
                json!([{"type": "tool_result", "tool_use_id": "toolu_1", "content": [image]}]);
            assert_eq!(
                cost(&before, result),
                1 + (1 + 1) + tokens,
                "{media_type} {filling}"
            );
        }
    }
    for source in [
        json!({"type": "url", "url": "https://example.com/a.png"}),
        json!({"type": "file", "file_id": "file_1"}),
    ] {
        assert_eq!(
            cost(&[], json!([{"type": "image", "source": source}])),
            1600
        );
    }
}

#[test]
fn a_document_costs_its_text_or_its_pages() {
    let pdf = b"%PDF-1.7\n1 0 obj <</Type /Pages /Count 2>> 2 0 obj <</Type /Page>> 3 0 obj <</Type/Page/Parent 1 0 R>>";
    let image = json!({"type": "image", "source": base64("image/png", &png(200, 200))});
    let parts = json!([{"type": "text", "text": "1234"}, image]);
    for (source, tokens) in [
        (
            json!({"type": "text", "media_type": "text/plain", "data": "12345678"}),
            2,
        ),
        (json!({"type": "content", "content": "12345678"}), 2),
        (json!({"type": "content", "content": parts}), 1 + 54),
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
        let mut document = json!({"type": "document", "source": source});
        assert_eq!(cost(&[], json!([document])), tokens, "{document}");
        (document["title"], document["context"]) = (json!("1234"), json!("1234"));
        assert_eq!(cost(&[], json!([document])), tokens + 2, "{document}");
    }
}
