//! What a frame is, what is none, and edits of one key.

use mcp_wire::{Frame, Id, Kind, body};
use serde_json::value::RawValue;

fn raw(text: &str) -> Box<RawValue> {
    RawValue::from_string(text.to_owned()).unwrap()
}

#[test]
fn what_is_no_frame_is_answered_as_the_specification_says() {
    let table = [
        ("", -32700, "null"),
        ("hello", -32700, "null"),
        ("{\"jsonrpc\":\"2.0\",\"id\":1,", -32700, "null"),
        ("{} {}", -32700, "null"),
        ("\u{feff}{}", -32700, "null"),
        ("[]", -32600, "null"),
        ("[{\"jsonrpc\":\"2.0\",\"method\":\"x\"}]", -32600, "null"),
        ("7", -32600, "null"),
        ("{}", -32600, "null"),
        (r#"{"id":1,"method":"x"}"#, -32600, "1"),
        (r#"{"jsonrpc":"1.0","id":1,"method":"x"}"#, -32600, "1"),
        (r#"{"jsonrpc":"2.0","id":"a"}"#, -32600, "\"a\""),
        (r#"{"jsonrpc":"2.0","id":null,"method":"x"}"#, -32600, "null"),
        (r#"{"jsonrpc":"2.0","id":{},"method":"x"}"#, -32600, "null"),
        (r#"{"jsonrpc":"2.0","id":true,"result":1}"#, -32600, "null"),
        (r#"{"jsonrpc":"2.0","id":2,"method":7}"#, -32600, "2"),
        (r#"{"jsonrpc":"2.0","id":2,"method":"x","result":1}"#, -32600, "2"),
        (r#"{"jsonrpc":"2.0","id":2,"result":1,"error":{}}"#, -32600, "2"),
        (r#"{"jsonrpc":"2.0","id":2,"method":"x","method":"y"}"#, -32600, "2"),
        (r#"{"jsonrpc":"2.0","result":1}"#, -32600, "null"),
        (r#"{"jsonrpc":"2.0","id":null,"result":1}"#, -32600, "null"),
    ];
    for (text, code, id) in table {
        let reply = Frame::parse(text.as_bytes()).unwrap_err().to_string();
        let reply: serde_json::Value = serde_json::from_str(&reply).unwrap();
        assert_eq!(reply["error"]["code"], code, "{text}");
        assert_eq!(reply["id"].to_string(), id, "{text}");
    }
    let reply = Frame::parse(b"{\"jsonrpc\":\"2.0\",\"method\":\"\xff\"}").unwrap_err();
    assert!(reply.to_string().contains("-32700"), "{reply}");
}

#[test]
fn a_frame_is_written_as_it_was_read() {
    let table = [
        (r#"{"jsonrpc":"2.0","id":1,"method":"x","params":{"a":1.0}}"#, Kind::Request),
        (r#"{"jsonrpc":"2.0","method":"a\"\n/b","params":[1]}"#, Kind::Notification),
        (r#"{"jsonrpc":"2.0","id":"s","result":null}"#, Kind::Response),
        (r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":""}}"#, Kind::Response),
        (r#"{"jsonrpc":"2.0","id":-1.5e3,"error":{},"x\ty":[]}"#, Kind::Response),
    ];
    for (text, kind) in table {
        let frame = Frame::parse(text.as_bytes()).unwrap();
        assert_eq!((frame.kind(), frame.to_line()), (kind, text.to_owned()));
    }
    let spread = "{ \"jsonrpc\" : \"2.0\",\r\n \"method\":\"x\",\n\"params\":{\n\"a\":\r[ ]}\n}";
    let line = Frame::parse(spread.as_bytes()).unwrap().to_line();
    assert_eq!(line, "{\"jsonrpc\":\"2.0\",\"method\":\"x\",\"params\":{ \"a\": [ ]}}");
}

#[test]
fn ids_are_equal_when_their_values_are() {
    let id = |text: &str| Id::parse(&raw(text)).unwrap();
    assert_eq!(id(r#""\u0061\/""#), Id::from("a/"));
    assert_ne!(id("\"1\""), id("1"));
    let half_a_pair = r#""\ud800""#;
    assert_eq!(id(half_a_pair).as_json(), half_a_pair);
    assert_ne!(id("123456789012345678901234567890"), id("123456789012345678901234567891"));
}

#[test]
fn one_key_is_edited_and_every_other_byte_stays() {
    let text = r#"{ "a" : 1.0 ,"_meta":{"x":[1, 2],"progressToken":"t"}, "\u0062" : {} ,"a":2 }"#;
    let body = raw(text);
    let token = ["_meta", "progressToken"];
    assert_eq!(body::text(&body, &token).as_deref(), Some("t"));
    assert_eq!(body::get(&body, &["a"]).unwrap().get(), "2");
    assert!(body::get(&body, &["a", "x"]).is_none() && body::get(&raw("[1]"), &["0"]).is_none());
    let seven = raw("7");
    let set = |text: &str, path: &[&str]| {
        body::set(&raw(text), path, &seven).map(|it| it.get().to_owned())
    };
    let remove =
        |text: &str, path: &[&str]| body::remove(&raw(text), path).map(|it| it.get().to_owned());
    assert_eq!(set(text, &token).unwrap(), text.replace("\"t\"", "7"));
    assert_eq!(set(text, &["b"]).unwrap(), text.replace("{} ", "7 "));
    assert_eq!(set(text, &["a"]).unwrap(), text.replace(":2", ":7"));
    assert_eq!(set("{}", &["x", "y\""]).unwrap(), r#"{"x":{"y\"":7}}"#);
    assert_eq!(set("{ \"a\":1 }", &["b"]).unwrap(), "{ \"a\":1 ,\"b\":7}");
    assert_eq!(set("[]", &["x"]), None);
    assert_eq!(set("{\"a\":[]}", &["a", "x"]), None);
    assert_eq!(remove(text, &token).unwrap(), text.replace(r#","progressToken":"t""#, ""));
    assert_eq!(remove("{ \"a\":1 , \"b\" : 2 }", &["a"]).unwrap(), "{ \"b\" : 2 }");
    assert_eq!(remove("{ \"a\":1 , \"b\" : 2 }", &["b"]).unwrap(), "{ \"a\":1 }");
    assert_eq!(remove("{ \"a\":1 }", &["a"]).unwrap(), "{  }");
    assert_eq!(remove("{}", &["a"]), None);
}
