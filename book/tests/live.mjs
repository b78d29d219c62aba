// The page of the mock model while agents work: every request a card, nothing that was sent becomes markup, the saved file
// opens from disk, and 2,000 requests are no burden.

import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { tmpdir } from 'node:os';
import { mkdtempSync, rmSync } from 'node:fs';
import { pathToFileURL } from 'node:url';

import { faint } from './looks.mjs';

const HOSTILE = '</script><script>window.hacked = 1</script><img src=x onerror="window.hacked = 1">javascript:alert(1)<!--\u2028';
const KEY = 'a-key-that-nobody-may-see';
const TOOLS = ['bash', 'mcp__docs__search'].map((name) => ({ name, description: HOSTILE, input_schema: { type: 'object' } }));
const MANY = 2000;
/** More elements than that would make the page slow. */
const MOST_ELEMENTS = 60_000;

/** Starts the mock model; gives its address and how to end it. */
async function model(program) {
  const child = spawn(program, ['model'], { stdio: ['ignore', 'pipe', 'ignore'], env: { ...process.env, MOCK_CONTEXT_TOKENS: '4000000' } });
  const url = await new Promise((resolve, reject) => {
    child.stdout.once('data', (data) => resolve(String(data).trim()));
    child.once('error', reject);
  });
  return { url, end: () => child.kill() };
}

async function ask(url, body) {
  const headers = { 'content-type': 'application/json', 'x-api-key': KEY, 'anthropic-version': '2023-06-01' };
  const whole = { model: 'claude-sonnet-5-5', max_tokens: 500, stream: true, ...body };
  const response = await fetch(`${url}/v1/messages`, { method: 'POST', headers, body: JSON.stringify(whole) });
  return response.text();
}

/** A session with a lead, a teammate, a side call, a new tool, a hostile result of 5 MB, and a refusal. */
async function session(url) {
  const lead = { system: `You are a coding agent.\n\n# Rules\n${HOSTILE}`, tools: TOOLS.slice(0, 1) };
  const call = { type: 'tool_use', id: 'one', name: 'bash', input: { command: HOSTILE } };
  const result = { type: 'tool_result', tool_use_id: 'one', content: HOSTILE + 'x<b>y</b>\n'.repeat(500_000) };
  const messages = [{ role: 'user', content: `list the files ${HOSTILE}` }];
  await ask(url, { ...lead, messages });
  messages.push({ role: 'assistant', content: [call] }, { role: 'user', content: [result] });
  await ask(url, { ...lead, tools: TOOLS, messages });
  await ask(url, { system: "You are a teammate named 'alice', a tester.", tools: TOOLS, messages: messages.slice(0, 1) });
  await ask(url, { system: 'Sum up.', messages: messages.slice(0, 1) });
  await ask(url, { ...lead, messages: [] });
}

const cards = (page) => page.locator('.card').count();
const untilCards = (page, count) => page.waitForFunction((count) => document.querySelectorAll('.card').length === count && !document.querySelector('.streaming'), count);

/** Who looks at a page hears of its errors. */
async function open(browser, url, options, faults) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, ...options });
  const page = await context.newPage();
  page.on('pageerror', (error) => faults.push(`the page of the loop: ${error}`));
  await page.goto(url);
  return page;
}

async function holds(page, faults, where) {
  const seen = await page.evaluate(() => ({
    hacked: window.hacked,
    pictures: document.querySelectorAll('img').length,
    columns: [...document.querySelectorAll('.column h2')].map((title) => title.firstChild.textContent),
    sideways: document.documentElement.scrollWidth > innerWidth,
  }));
  if (seen.hacked || seen.pictures) faults.push(`${where}: what was sent became markup`);
  if (seen.columns.join() !== 'lead,alice,side calls') faults.push(`${where}: the columns are ${seen.columns}`);
  if (seen.sideways) faults.push(`${where}: the page scrolls sideways`);
  const texts = await page.locator('.card').allTextContents();
  if (!texts.some((text) => text.includes('2 tools, new: mcp__docs__search'))) faults.push(`${where}: a new tool does not stand out`);
  if (!texts.some((text) => text.includes('invalid_request_error: '))) faults.push(`${where}: a refusal names no rule`);
  const pale = await page.evaluate(faint, '#bar *, .card *, .column h2 *');
  faults.push(...pale.map((what) => `${where}: ${what}`));
}

export async function live(browser, program) {
  const faults = [];
  const { url, end } = await model(program);
  const folder = mkdtempSync(join(tmpdir(), 'loop-'));
  try {
    const page = await open(browser, url, {}, faults);
    await session(url);
    await untilCards(page, 5);
    await holds(page, faults, 'live');
    await page.keyboard.press('ArrowLeft');
    if (!(await page.locator('.card.picked').textContent()).startsWith('#5')) faults.push('the arrow key does not step to the newest card');
    await page.fill('#search', 'sum up');
    const found = await page.locator('.card:not(.missed)').count();
    if (found !== 1) faults.push(`a search for the words of one request finds ${found}`);
    const [download] = await Promise.all([page.waitForEvent('download'), page.click('#save')]);
    const file = join(folder, 'loop.html');
    await download.saveAs(file);
    for (const [where, options] of [['from disk', { colorScheme: 'light' }], ['in the dark', { colorScheme: 'dark' }], ['on a phone', { viewport: { width: 360, height: 740 } }]]) {
      const saved = await open(browser, pathToFileURL(file).href, options, faults);
      await untilCards(saved, 5);
      await holds(saved, faults, where);
      if ((await saved.content()).includes(KEY)) faults.push(`${where}: a key is in the page`);
      await saved.context().close();
    }
    await page.context().close();
  } finally {
    end();
    rmSync(folder, { recursive: true });
  }
  return faults;
}

export async function many(browser, program) {
  const faults = [];
  const { url, end } = await model(program);
  try {
    const page = await open(browser, url, {}, faults);
    const agents = ['alice', 'bob', 'carol'].map((name) => ({ system: `You are a teammate named '${name}', a tester.`, tools: TOOLS, messages: [] }));
    for (let at = 0; at < MANY; at += 1) {
      const agent = agents[at % agents.length];
      if (agent.messages.length > 40) agent.messages = [];
      agent.messages.push({ role: 'user', content: `line ${at} ${'word '.repeat(50)}` });
      await ask(url, agent);
      agent.messages.push({ role: 'assistant', content: `Said ${at}.` });
    }
    await untilCards(page, MANY);
    const elements = await page.locator('*').count();
    if (elements > MOST_ELEMENTS) faults.push(`${MANY} requests make ${elements} elements`);
    const late = await open(browser, url, {}, faults);
    await untilCards(late, MANY);
    if (await cards(late) !== MANY) faults.push('a page that is opened late shows less');
  } finally {
    end();
  }
  return faults;
}
