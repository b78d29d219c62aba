// The official conformance suite against a server, one scenario after the other: suite.mjs HOME URL REVISION.
// Strict: a scenario passes when a check of it succeeded, none failed and none warned, and the suite itself ended well.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, readdirSync, rmSync, statSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
const [home, url, revision] = process.argv.slice(2);
const suite = join(home, 'node_modules/@modelcontextprotocol/conformance');
const yaml = createRequire(join(suite, 'dist/index.js'))('yaml');
const { server, not_scored } = yaml.parse(readFileSync(join(suite, `requirements/${revision}.yaml`), 'utf8'));
// Tasks and the schema's keywords are the server's affair; these are the transport's.
const more = ['server-session-lifecycle', 'server-sse-polling', 'http-header-validation', 'http-custom-header-server-validation'];
const extras = (not_scored ?? []).map(({ scenario }) => scenario).filter((it) => more.includes(it));

const find = (folder) => readdirSync(folder).map((it) => join(folder, it)).flatMap((it) => (statSync(it).isDirectory() ? find(it) : it.endsWith('checks.json') ? [it] : []));
let passed = 0;
const failed = [];
for (const scenario of [...server, ...extras]) {
  const out = mkdtempSync(join(tmpdir(), 'conformance-'));
  let ended = true;
  const args = ['server', '--url', url, '--scenario', scenario, '--spec-version', revision, '--force', '-o', out];
  try {
    execFileSync(process.execPath, [join(suite, 'dist/index.js'), ...args], { stdio: 'ignore', timeout: 30_000 });
  } catch {
    ended = false;
  }
  const checks = find(out).flatMap((it) => JSON.parse(readFileSync(it, 'utf8')));
  rmSync(out, { recursive: true });
  const bad = checks.find(({ status }) => status === 'FAILURE' || status === 'WARNING');
  if (ended && !bad && checks.some(({ status }) => status === 'SUCCESS')) passed += 1;
  else failed.push(`${scenario}: ${bad ? `${bad.id} ${bad.errorMessage ?? ''}` : 'nothing was exercised'}`);
}
console.log([...failed, `passed ${passed} of ${server.length + extras.length}, ${server.length} of them scored`].join('\n'));
process.exit(failed.length ? 1 : 0);
