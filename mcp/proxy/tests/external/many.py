"""An MCP server on standard input and output with the first 500 tools of the data set: many.py FILE. Each answers with its name."""

import json
import sys

TOOLS = json.load(open(sys.argv[1]))["tools"][:500]
SEEN = {tool["name"]: tool for tool in TOOLS}

for line in sys.stdin:
    asked = json.loads(line)
    if "id" not in asked:
        continue
    if asked["method"] == "initialize":
        result = {
            "protocolVersion": asked["params"]["protocolVersion"],
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "many", "version": "1"},
        }
    elif asked["method"] == "tools/list":
        keys = ("name", "description", "inputSchema")
        result = {"tools": [{key: tool[key] for key in keys} for tool in SEEN.values()]}
    else:
        result = {"content": [{"type": "text", "text": "This is " + asked["params"]["name"]}]}
    print(json.dumps({"jsonrpc": "2.0", "id": asked["id"], "result": result}), flush=True)
