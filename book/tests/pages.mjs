// Every page loads, and every link leads somewhere in the book.

import { readFileSync } from 'node:fs';

/**
 * Opens each page and reports what the console, a script or a request complains of, and the links that lead nowhere when
 * these are all pages.
 */
export async function loads(browser, base, names, areAll = true) {
  const faults = [];
  const known = new Map();
  const wanted = [];
  const page = await browser.newPage();
  let name = '';
  const note = (text) => faults.push(`${name}: ${text}`);
  page.on('console', (message) => {
    if (['error', 'warning'].includes(message.type())) note(`console: ${message.text()}`);
  });
  page.on('pageerror', (error) => note(`script: ${error.message}`));
  page.on('requestfailed', (request) => {
    // What is still loading when the next page is opened is given up: icons.
    const why = request.failure()?.errorText;
    if (why !== 'net::ERR_ABORTED') note(`${request.url()}: ${why}`);
  });
  page.on('response', (response) => {
    if (response.status() >= 400) note(`${response.url()}: ${response.status()}`);
  });
  for (name of names) {
    await page.goto(base + name, { waitUntil: 'load' });
    const { title, ids, links } = await page.evaluate(() => ({
      // The requests of a session stand on a page of their own kind, which is nothing without them.
      title: document.querySelector('main h1, #columns .card')?.textContent ?? '',
      ids: [...document.querySelectorAll('[id]')].map((element) => element.id),
      // A link in an SVG has no href property that is text.
      links: [...document.querySelectorAll('a[href]')].map((element) =>
        new URL(element.getAttribute('href'), location.href).href),
    }));
    if (!title) note('has no title');
    const twice = ids.find((id, index) => ids.indexOf(id) !== index);
    if (twice) note(`the name ${twice} is given twice`);
    known.set(base + name, new Set(ids));
    for (const link of new Set(links)) wanted.push([name, link]);
  }
  await page.close();
  return areAll ? [...faults, ...dead(base, known, wanted)] : faults;
}

/** The links that name no page of the book, or nothing on it. */
function dead(base, known, wanted) {
  const faults = [];
  for (const [name, link] of wanted) {
    if (/^(https?|mailto):/.test(link) && !link.startsWith(base)) continue;
    const [path, fragment] = link.split('#');
    // The page of pairs makes something of any fragment.
    const isNamed = !fragment || path.endsWith('/pairs.html') || known.get(path)?.has(decodeURIComponent(fragment));
    if (!known.has(path)) faults.push(`${name}: a link to ${link}, which is no page`);
    else if (!isNamed) faults.push(`${name}: a link to ${link}, but nothing there is called #${fragment}`);
  }
  return faults;
}

/** The page of s19 shows the diff that `cargo x diff` prints, and a link to a file opens it. */
export async function step(browser, base, expected) {
  const faults = [];
  const page = await browser.newPage();
  await page.goto(`${base}chapters/s19_mcp_plugin.html`);
  const diff = page.locator('code.language-diff').first();
  const text = await diff.textContent();
  if (text.trim() !== expected.trim()) faults.push('the diff of s19 differs from what cargo x diff prints');
  const added = text.split('\n').filter((line) => line.startsWith('+') && !line.startsWith('+++ ')).length;
  const shown = await diff.locator('.hljs-addition').count();
  if (!added || shown !== added) faults.push(`${shown} of ${added} added lines of s19 are marked`);
  await page.locator('main a[href="#src-pool-rs"]').first().click();
  const isOpen = await page.locator('#src-pool-rs').evaluate((element) => element.open);
  if (!isOpen) faults.push('a link to src/pool.rs leaves it folded');
  const code = page.locator('#src-pool-rs code.language-rust');
  const source = readFileSync(new URL('../../s19_mcp_plugin/src/pool.rs', import.meta.url), 'utf8');
  if ((await code.textContent()).trim() !== source.trim()) faults.push('src/pool.rs is not shown as it is');
  if ((await code.locator('.hljs-keyword').count()) < 10) faults.push('src/pool.rs is not coloured');
  await page.close();
  return faults;
}
