// The official conformance suite against a client, one scenario after the other: suite.mjs HOME PROGRAM REVISION.
// Strict: a scenario passes when a check of it succeeded, none failed and none warned, and the suite itself ended well.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, readdirSync, rmSync, statSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
const [home, program, revision] = process.argv.slice(2);
const suite = join(home, 'node_modules/@modelcontextprotocol/conformance');
const yaml = createRequire(join(suite, 'dist/index.js'))('yaml');
const { client } = yaml.parse(readFileSync(join(suite, `requirements/${revision}.yaml`), 'utf8'));
// A refusal is what they want: the client may end with any code.
const refusals = [
  'http-invalid-tool-headers', 'auth/scope-retry-limit', 'auth/resource-mismatch', 'auth/metadata-issuer-mismatch',
  'auth/iss-supported-missing', 'auth/iss-wrong-issuer', 'auth/iss-unexpected', 'auth/iss-normalized',
];
const scenarios = client.map((it) => it.scenario ?? it);

const find = (folder) => readdirSync(folder).map((it) => join(folder, it)).flatMap((it) => (statSync(it).isDirectory() ? find(it) : it.endsWith('checks.json') ? [it] : []));
let passed = 0;
const failed = [];
for (const scenario of scenarios) {
  const out = mkdtempSync(join(tmpdir(), 'conformance-'));
  let said = '';
  let ended = true;
  const args = ['client', '--command', `${program} conformance`, '--scenario', scenario, '--spec-version', revision, '--force', '-o', out];
  try {
    said = execFileSync(process.execPath, [join(suite, 'dist/index.js'), ...args], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'], timeout: 60_000 });
  } catch (error) {
    ended = refusals.includes(scenario);
    said = `${error.stdout}${error.stderr}`;
  }
  const checks = find(out).flatMap((it) => JSON.parse(readFileSync(it, 'utf8')));
  rmSync(out, { recursive: true });
  const bad = checks.find(({ status }) => status === 'FAILURE' || status === 'WARNING');
  if (ended && !bad && checks.some(({ status }) => status === 'SUCCESS')) passed += 1;
  else failed.push(`${scenario}: ${bad ? `${bad.id} ${bad.errorMessage ?? ''}` : `nothing was exercised, or the client failed: ${said.slice(-500)}`}`);
}
console.log([...failed, `passed ${passed} of ${scenarios.length}`].join('\n'));
process.exit(failed.length ? 1 : 0);
