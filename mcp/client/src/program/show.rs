//! What servers say, on a terminal.
//!
//! Invariant: a name or a description is one line without control characters; only the text of a result is printed as it
//! is, and to a terminal without what would steer it.

use std::io::IsTerminal;
use std::path::Path;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use mcp_client::start::say;
use mcp_wire::body;
use serde_json::Value;
use serde_json::value::RawValue;

/// One line, cut.
pub fn clean(text: &str, most: usize) -> String {
    kit::cut(&kit::one_line(text), most)
}

/// A tool, a resource or a prompt in a line.
pub fn item(item: &RawValue) -> String {
    let text = |key| body::text(item, &[key]).unwrap_or_default();
    let name = if text("uri").is_empty() { text("name") } else { text("uri") };
    let schema = body::get(item, &["inputSchema"])
        .and_then(|it| serde_json::from_str::<Value>(it.get()).ok());
    let arguments = schema.map_or_else(String::new, |schema| {
        let required = schema["required"].as_array().cloned().unwrap_or_default();
        let names = schema["properties"].as_object().into_iter().flatten().map(|(name, _)| {
            let optional = !required.contains(&name.as_str().into());
            format!("{}{}", clean(name, 40), if optional { "?" } else { "" })
        });
        format!("({})", names.collect::<Vec<_>>().join(", "))
    });
    let head = format!("{}{arguments}", clean(&name, 100));
    format!("{head:<32} {}", clean(&text("description"), 100)).trim_end().to_owned()
}

/// The result of a call; whether the tool was content.
pub fn result(result: &RawValue, out: Option<&Path>) -> Result<bool, String> {
    let result: Value = serde_json::from_str(result.get()).map_err(|error| error.to_string())?;
    let content = result["content"].as_array().map_or(&[][..], Vec::as_slice);
    for (at, block) in content.iter().enumerate() {
        say(self::block(at, block, out)?);
    }
    if content.is_empty() {
        let data = result.get("structuredContent").unwrap_or(&result);
        say(data);
    }
    Ok(result["isError"] != true)
}

fn block(at: usize, block: &Value, out: Option<&Path>) -> Result<String, String> {
    let resource = &block["resource"];
    let text = block["text"].as_str().or(resource["text"].as_str());
    if let Some(text) = text {
        let plain = |c: char| !c.is_control() || c == '\n' || c == '\t';
        let terminal = std::io::stdout().is_terminal();
        return Ok(text.chars().filter(|c| !terminal || plain(*c)).collect());
    }
    let data = block["data"].as_str().or(resource["blob"].as_str());
    let kind =
        block["mimeType"].as_str().or(resource["mimeType"].as_str()).unwrap_or("unknown type");
    let Some(bytes) = data.and_then(|data| BASE64_STANDARD.decode(data).ok()) else {
        return Ok(clean(&block.to_string(), 500));
    };
    let what = format!("{}, {} bytes", clean(kind, 40), bytes.len());
    let Some(folder) = out else {
        return Ok(format!("[{what}; --out DIR writes it into a file]"));
    };
    let suffix: String = kind
        .rsplit('/')
        .next()
        .unwrap_or_default()
        .chars()
        .take_while(char::is_ascii_alphanumeric)
        .collect();
    let path =
        folder.join(format!("{}.{}", at + 1, if suffix.is_empty() { "bin" } else { &suffix }));
    kit::write_whole(&path, &bytes).map_err(|error| format!("{}: {error:#}", path.display()))?;
    Ok(format!("[{what}: {}]", path.display()))
}

/// How far a call is, on standard error when that is a terminal.
#[derive(Default)]
pub struct Bar {
    shown: bool,
}

impl Bar {
    /// A report of the server.
    pub fn report(&mut self, report: &RawValue) {
        let Ok(report) = serde_json::from_str::<Value>(report.get()) else {
            return;
        };
        if !std::io::stderr().is_terminal() {
            return;
        }
        self.shown = true;
        let done = report["progress"].as_f64().unwrap_or(0.0);
        let message = clean(report["message"].as_str().unwrap_or_default(), 40);
        match report["total"].as_f64().filter(|total| *total > 0.0) {
            Some(total) => {
                let share = (done / total).clamp(0.0, 1.0);
                let bar = "█".repeat((share * 24.0) as usize);
                eprint!("\r\x1b[K{bar:░<24} {:3.0} % {message}", share * 100.0);
            }
            None => eprint!("\r\x1b[K{done} {message}"),
        }
    }

    /// Takes it away.
    pub fn clear(&mut self) {
        if std::mem::take(&mut self.shown) {
            eprint!("\r\x1b[K");
        }
    }
}
