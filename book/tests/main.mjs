// The book in a browser: `cargo x book --test` makes it and starts this.
//
// BOOK is the folder of the pages, CHROMIUM the browser, KIT the folder with playwright-core, EXPECTED the diffs that
// `cargo x diff` prints, MODEL the program `mock_servers`. With SCREENSHOTS it keeps pictures there. Every fault is one line; any of them fails the run.

import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, extname, join, relative, sep } from 'node:path';
import { pathToFileURL } from 'node:url';

import { live, many } from './live.mjs';
import { contrast, fits, schemes } from './looks.mjs';
import { loads, step } from './pages.mjs';
import { fragments, pairs } from './pairs.mjs';
import { search } from './search.mjs';

const { BOOK, CHROMIUM, EXPECTED, KIT, MODEL, SCREENSHOTS } = process.env;
const { chromium } = createRequire(join(KIT, 'package.json'))('playwright-core');

const FLAGS = [
  '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking',
  '--disable-component-update', '--disable-sync',
];
const TYPES = { '.html': 'text/html', '.js': 'text/javascript', '.css': 'text/css', '.svg': 'image/svg+xml' };
const PHONE = { width: 360, height: 740 };
const DESK = { width: 1280, height: 900 };

/** All pages that a reader can reach; 404 and the frame of the contents are mdBook's own. */
function pagesBelow(folder) {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true });
  const paths = files.filter((file) => file.isFile() && file.name.endsWith('.html'));
  const names = paths.map((file) => relative(folder, join(file.parentPath ?? file.path, file.name)).split(sep).join('/'));
  return names.filter((name) => name !== '404.html' && name !== 'toc.html').sort();
}

/** Serves the folder on a free port. */
async function serve(folder) {
  const server = createServer((request, response) => {
    const path = decodeURIComponent(new URL(request.url, 'http://localhost').pathname);
    try {
      const body = readFileSync(join(folder, path));
      response.writeHead(200, { 'content-type': TYPES[extname(path)] ?? 'application/octet-stream' }).end(body);
    } catch {
      response.writeHead(404).end();
    }
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { server, url: `http://127.0.0.1:${server.address().port}/` };
}

/** The words of the picture are on every page that shows it; search passes them by. */
function pictureIndexed(folder) {
  const indexes = readdirSync(folder).filter((name) => name.startsWith('searchindex'));
  const found = indexes.filter((name) => readFileSync(join(folder, name), 'utf8').includes('or no sense in it'));
  return indexes.length ? found.map((name) => `${name} holds the words of the picture`) : ['there is no index'];
}

/** Pictures for a human eye: [name, page, size, scheme, what to do first]. */
async function pictures(browser, base, folder) {
  const open = (page) => page.evaluate(() => document.querySelectorAll('details')[1]?.scrollIntoView());
  const to = (selector) => (page) => page.evaluate((name) => document.querySelector(name)?.scrollIntoView(), selector);
  const wanted = [
    ['front-light', 'index.html', DESK, 'light'],
    ['front-phone-dark', 'index.html', PHONE, 'dark'],
    ['s19-light', 'chapters/s19_mcp_plugin.html', DESK, 'light'],
    ['s19-step-dark', 'chapters/s19_mcp_plugin.html', DESK, 'dark', to('#the-step')],
    ['s19-step-light', 'chapters/s19_mcp_plugin.html', DESK, 'light', to('#the-step')],
    ['s12-removed-light', 'chapters/s12_tasks.html', DESK, 'light', to('#added-and-removed')],
    ['s19-files-phone-light', 'chapters/s19_mcp_plugin.html', PHONE, 'light', to('#new-files')],
    ['s05-exercises-light', 'chapters/s05_todo.html', DESK, 'light', to('#the-exercises-with-hints-and-tests')],
    ['pairs-light', 'pairs.html#s11..s12', DESK, 'light'],
    ['pairs-dark', 'pairs.html#s03..s07', DESK, 'dark'],
    ['pairs-phone-light', 'pairs.html#s11..s12', PHONE, 'light'],
    ['pairs-phone-diff-dark', 'pairs.html#s11..s12', PHONE, 'dark', to('#pairs pre')],
    ['loop-light', 'loop.html', DESK, 'light'],
    ['loop-phone-dark', 'loop.html', PHONE, 'dark'],
    ['mechanism-light', 'mechanisms/s08_compact.html', DESK, 'light'],
    ['mechanism-phone-dark', 'mechanisms/s08_compact.html', PHONE, 'dark', open],
  ];
  for (const [name, path, viewport, colorScheme, first] of wanted) {
    const context = await browser.newContext({ viewport, colorScheme });
    const page = await context.newPage();
    const isThere = await page.goto(base + path).catch(() => null);
    if (!isThere) console.log(`no picture of ${path}: there is no such page`);
    if (isThere && first) await first(page);
    if (isThere) await page.screenshot({ path: join(folder, `${name}.png`) });
    await context.close();
  }
}

const names = pagesBelow(BOOK);
const isFirst = (name, at) => names.findIndex((other) => dirname(other) === dirname(name)) === at;
const file = pathToFileURL(BOOK).href + '/';
const { server, url } = await serve(BOOK);
const faults = [];
let browser;
try {
  browser = await chromium.launch({ executablePath: CHROMIUM, headless: true, args: FLAGS });
  const expected = JSON.parse(readFileSync(EXPECTED, 'utf8'));
  const checks = [
    ['pages and links from a file', () => loads(browser, file, names)],
    // A server has the same links; what a page wants beside it depends on its folder.
    ['a page of each folder from a server', () => loads(browser, url, names.filter(isFirst), false)],
    ['the step of s19', () => step(browser, file, expected['s18..s19'])],
    ['any two chapters', () => pairs(browser, file, expected)],
    ['the address of a pair', () => fragments(browser, url)],
    ['search from a file', () => search(browser, file)],
    ['search from a server', () => search(browser, url)],
    ['the picture is not to be found', async () => pictureIndexed(BOOK)],
    ['light and dark', () => schemes(browser, file)],
    ['contrast', () => contrast(browser, file)],
    ['the chapters fit a desk', () => fits(browser, file, names.filter((name) => name.startsWith('chapters/')), DESK)],
    ['all fits a phone', () => fits(browser, file, names, PHONE)],
    ['the page of the loop', () => live(browser, MODEL)],
    ['the page of the loop, 2,000 requests', () => many(browser, MODEL)],
  ];
  // Two at a time: a page is drawn by one core, and the next is on its way meanwhile.
  const work = async () => {
    for (let next = checks.shift(); next; next = checks.shift()) {
      const [name, check] = next;
      const began = Date.now();
      const found = await check().catch((error) => [`${name}: ${error.message.split('\n')[0]}`]);
      faults.push(...found);
      console.log(`${found.length ? 'FAULT' : 'ok   '} ${name} (${((Date.now() - began) / 1000).toFixed(1)} s)`);
    }
  };
  await Promise.all([work(), work()]);
  for (const fault of faults) console.log(`  ${fault}`);
  if (SCREENSHOTS) await pictures(browser, file, SCREENSHOTS);
} finally {
  await browser?.close();
  server.close();
}
console.log(`${names.length} pages, ${faults.length} faults`);
process.exitCode = faults.length ? 1 : 0;
