// A client on a TypeScript SDK lists and calls the tools of the everything server: client.mjs HOME v1|v2|v2-modern|ws URL.
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';
const [home, kind, url] = process.argv.slice(2);
const require = createRequire(home + '/package.json');
const load = (name) => import(pathToFileURL(require.resolve(name)));

let client, transport;
if (kind === 'v1' || kind === 'ws') {
  const { Client } = await load('@modelcontextprotocol/sdk/client/index.js');
  const { StreamableHTTPClientTransport: Http } = await load('@modelcontextprotocol/sdk/client/streamableHttp.js');
  const { WebSocketClientTransport: Ws } = await load('@modelcontextprotocol/sdk/client/websocket.js');
  client = new Client({ name: 'referee', version: '1' });
  transport = kind === 'ws' ? new Ws(new URL(url)) : new Http(new URL(url));
} else {
  const { Client, StreamableHTTPClientTransport: Http } = await load('@modelcontextprotocol/client');
  const mode = kind === 'v2-modern' ? { pin: '2026-07-28' } : undefined;
  client = new Client({ name: 'referee', version: '1' }, mode && { versionNegotiation: { mode } });
  transport = new Http(new URL(url));
}
await client.connect(transport);
const { tools } = await client.listTools();
if (!tools.some((tool) => tool.name === 'test_simple_text')) throw new Error('a tool is missing');
const seen = [];
const options = { onprogress: ({ progress }) => seen.push(progress) };
const call = { name: 'test_tool_with_progress', arguments: {} };
const result = kind.startsWith('v2') ? await client.callTool(call, options) : await client.callTool(call, undefined, options);
if (!result.content[0].text.includes('reported')) throw new Error(JSON.stringify(result));
// Of frames that one packet brings, this SDK sees to the answer first and forgets who wanted progress.
const all = '0,50,100';
if (kind === 'ws' ? !all.startsWith(String(seen)) : String(seen) !== all) throw new Error('progress ' + seen);
await client.close();
console.log('all as in the protocol');
process.exit(0);
