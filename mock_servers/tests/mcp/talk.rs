//! A server as a process, and raw lines to and from it.
//!
//! What a client writes stands in the tests as it is on the pipe. Invariant: the process is gone when the test is.

use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};

use serde_json::{Value, json};

/// A server that runs.
pub struct Talk {
    pub child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
}

/// Starts `mock_servers` with these words.
pub fn start(words: &[&str]) -> Talk {
    let mut command = Command::new(env!("CARGO_BIN_EXE_mock_servers"));
    let pipes = command.args(words).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = pipes.stderr(Stdio::piped()).spawn().expect("it starts");
    let input = child.stdin.take();
    let output = BufReader::new(child.stdout.take().expect("it is piped"));
    Talk {
        child,
        input,
        output,
    }
}

/// Starts a server with a fault, and shakes hands as of 2025-11-25.
pub fn start_with(server: &str, fault: &str) -> Talk {
    let mut talk = start(&[server, "--stdio", "--fault", fault]);
    talk.shake_hands();
    talk
}

impl Talk {
    pub fn send(&mut self, message: &Value) {
        let input = self.input.as_mut().expect("the input is open");
        writeln!(input, "{message}").expect("the server reads");
    }

    pub fn ask(&mut self, id: impl Into<Value>, method: &str, params: Value) {
        let id: Value = id.into();
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}));
    }

    /// The next line, without its end; empty at the end of the output.
    pub fn line(&mut self) -> Vec<u8> {
        let mut line = Vec::new();
        self.output.read_until(b'\n', &mut line).expect("the pipe can be read");
        line.pop_if(|last| *last == b'\n');
        line
    }

    pub fn message(&mut self) -> Value {
        let line = self.line();
        serde_json::from_slice(&line)
            .unwrap_or_else(|_| panic!("not JSON: {}", String::from_utf8_lossy(&line)))
    }

    /// Asks, and reads the answer, which is the next message.
    pub fn answer(&mut self, method: &str, params: Value) -> Value {
        self.ask(7, method, params);
        let answer = self.message();
        assert_eq!(answer["id"], 7, "{answer}");
        answer
    }

    pub fn call(&mut self, tool: &str, arguments: Value) -> Value {
        self.answer("tools/call", json!({"name": tool, "arguments": arguments}))
    }

    pub fn shake_hands(&mut self) -> Value {
        let answer = self.answer("initialize", hello());
        self.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
        answer
    }

    /// Ends the input.
    pub fn hang_up(&mut self) {
        self.input = None;
    }

    /// Ends the input; what comes then on output and on standard error, and how the process ends.
    pub fn end(mut self) -> (Vec<u8>, String, ExitStatus) {
        self.hang_up();
        let mut errors = String::new();
        let stderr = self.child.stderr.as_mut().expect("it is piped");
        stderr.read_to_string(&mut errors).expect("the log is UTF-8");
        let mut rest = Vec::new();
        self.output.read_to_end(&mut rest).expect("the pipe can be read");
        (rest, errors, self.child.wait().expect("it ends"))
    }
}

impl Drop for Talk {
    fn drop(&mut self) {
        // It has ended already, or it has to.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// What `initialize` is asked with.
pub fn hello() -> Value {
    let client = json!({"name": "test", "version": "1"});
    json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client})
}

/// What a request of 2026-07-28 says about itself.
pub fn meta() -> Value {
    json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {},
    })
}

/// The text of a tool's answer.
pub fn text(answer: &Value) -> &str {
    let text = answer["result"]["content"][0]["text"].as_str();
    text.unwrap_or_else(|| panic!("no text: {answer}"))
}

/// The names of the tools in an answer to `tools/list`.
pub fn names(answer: &Value) -> Vec<String> {
    let tools = answer["result"]["tools"].as_array();
    let tools = tools.unwrap_or_else(|| panic!("no tools: {answer}"));
    let names = tools.iter().map(|tool| tool["name"].as_str());
    names.map(|name| name.expect("a tool has a name").to_owned()).collect()
}
