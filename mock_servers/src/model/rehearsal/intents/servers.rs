//! MCP servers: connecting them, and asking the tools they bring.
//!
//! A row says only that words are for a server; which of its tools is called, and with what, follows from the tools on
//! offer (`servers/`). Invariant: special rows stand above general ones.

use crate::model::rehearsal::table::{Intent, ROW, Serves, Way, way};

const NEEDS: &str = "connect_mcp";
const BY: &[Way] = &[way("connect_mcp", &[("name", "{server}")])];

/// A row that asks a server.
const ASK: Intent = Intent {
    needs: NEEDS,
    by: BY,
    serves: Some(Serves::Use),
    told: "{served}",
    doing: "{act}",
    ..ROW
};

/// The rows.
pub const SERVERS: &[Intent] = &[
    Intent {
        name: "tell what a server offers",
        says: &[
            "what|which|list|show|tell|give|how * tools|tool|functions * {server:server}",
            "what|which|list|show|tell|give * {server:server} * tools|functions",
            "what can|does|do {server:server} offer|do|have|provide",
            "what can|does|do {server:server} server offer|do|have|provide",
            "what|which * {server:server} server offer|offers|provide|provides|have|has|can",
        ],
        needs: NEEDS,
        told: "{server_tools}",
        ..ROW
    },
    Intent {
        name: "tell which servers there are",
        needs: NEEDS,
        says: &[
            "what|which|list|show|tell|are|any|how|is|give * servers|mcps",
            "what|which|is|are|list * {server:server} connected",
            "is|are {server:server} server connected",
            "what|which is|are connected",
            "what|which they|it|each|both offer|offers|provide|provides",
            "tell * what they|it|each|both offer|offers|provide|provides",
        ],
        told: "{servers}",
        ..ROW
    },
    Intent {
        name: "connect to a server",
        needs: NEEDS,
        says: &[
            "connect|connecting|reconnect|attach|plug|hook|link|join|mount|log * mcp|server|servers",
            "connect|connecting|reconnect|attach|plug|hook|link|join|mount|log * {server:server}",
            "connect|reconnect to|with {server:server}",
            "connect|reconnect everything|both|all|it|them|one|other",
            "connect|reconnect|attach|plug|hook|link|join * one",
            "connect|reconnect $",
            "add|start|open|load|enable|activate|launch|bring|fire|spin|turn|set|establish|need|want|get|use|have * mcp server|servers $",
            "add|start|open|load|enable|activate|launch|bring|fire|spin|turn|set|need|want up|in|on {server:server} server|mcp $",
            "add|start|open|load|enable|activate|launch|bring|fire|spin|turn|set|need|want {server:server} mcp|server up|in|on|running $",
            "add|start|open|load|enable|activate|launch|bring|fire|spin|turn|set|need|want {server:server} mcp|server $",
            "add|start|open|load|enable|activate|launch|bring|need|want {server:server} mcp server $",
            "establish|make|open|create|set|need|want up connection|link to|with * {server:server}",
            "get|have|want|need|make * {server:server} connected",
            "get|have|want|need|make * {server:server} server connected",
        ],
        by: BY,
        changes: true,
        beside: true,
        serves: Some(Serves::Connect),
        told: "{printed}",
        doing: "connect to {server}",
        ..ROW
    },
    Intent {
        name: "deploy a service",
        needs: "server:deploy",
        says: &[
            "trigger|start|launch|kick|run|do|make|create|roll|push|request|begin|initiate|perform|execute * deployment|deployments|deploy|rollout|redeploy|redeployment",
            "trigger|kick|initiate it|another|one|web|api|worker",
            "deploy|redeploy|ship|roll {service:word}",
            "deploy|redeploy|ship it",
            "put|push|bring|get {service:word} live",
            "put|push|bring|get {service:word} service live",
            "^ deploy|redeploy $",
        ],
        fills: &[("server", "deploy")],
        changes: true,
        ..ASK
    },
    Intent {
        name: "look at a deployment",
        needs: "server:deploy",
        says: &[
            "status|state|logs|log|progress of|for|from|about * service|deployment|deploy|deployments|api|web|worker|it",
            "show|get|tail|read|fetch|give|tell|check|see|print|what|how|is|are|look|watch|follow|display * deployment|deploy|deployments|rollout",
            "show|get|tail|read|fetch|give|tell|check|see|print|what|how|is|are|look|display * logs|log|status|state * service|api|web|worker",
            "show|get|tail|read|fetch|give|tell|check|see|print|what|how|is|are|look|display * service|api|web|worker * logs|log|status|state",
            "is|are * live|deployed",
        ],
        fills: &[("server", "deploy")],
        ..ASK
    },
    Intent {
        name: "search the docs",
        needs: "server:docs",
        says: &[
            "search|query|consult|ask|browse|scan|look|find|grep|check|see|read|use * docs|documentation",
            "what|how|where|which|do|does|is|are * docs|documentation",
            "get|show|tell|give|fetch|check|print|what * version * docs|documentation",
            "docs|documentation search|on|about|for",
        ],
        fills: &[("server", "docs")],
        ..ASK
    },
    Intent {
        name: "find and change issues",
        needs: "server:jira",
        says: &[
            "create|open|file|report|raise|log|add|make|show|get|find|search|list|look|what|which|move|transition|close|resolve|reopen|read|set|mark|change|update|give|fetch|query|put|start|describe|tell * issue|issues|ticket|tickets|jira",
            "show|get|move|transition|close|resolve|reopen|read|set|mark|change|update|give|fetch|put|start|describe|tell|what|open * {key:key}",
        ],
        fills: &[("server", "jira")],
        changes: true,
        ..ASK
    },
    Intent {
        name: "find and write pages",
        needs: "server:notion",
        says: &[
            "create|write|make|add|open|show|get|find|search|list|look|what|which|read|fetch|query|put|start|tell|give * page|pages|notion",
        ],
        fills: &[("server", "notion")],
        changes: true,
        ..ASK
    },
    Intent {
        name: "use a tool of a server",
        says: &[
            "^ * {server:server} server|mcp",
            "^ * server|mcp {server:server}",
            "^ * server|mcp called|named {server:server}",
            "use|call|invoke|try|query|consult|ask|tell|have|let {server:server} * to|for|tool|about|what|which|how|whether|if|and",
            "use|call|invoke|run|execute|try * tool|tools of|from|on|in {server:server}",
            "use|call|invoke|run|execute|try * of|from|on {server:server}",
            "use|call|invoke|run|execute|try {server:server} {name:word}",
            "use|call|invoke|run|execute|try its|their|server's * tool|tools",
            "using|with|via|through|on|in|from {server:server} show|find|get|search|list|create|add|say|echo|read|open|make|look",
            "search|find|show|get|look|read|list|create|add|make|say|store|write|open|fetch|give|tell * on|in|with|using|via|from {server:server} $",
        ],
        changes: true,
        ..ASK
    },
];
