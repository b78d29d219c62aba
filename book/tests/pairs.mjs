// The page "Any two chapters": chosen by keyboard, swapped, walked, and followed by its address.

/** What the page shows of its diffs, as text. */
const shown = (page) => page.locator('#pairs pre').evaluateAll((all) => all.map((one) => one.textContent).join(''));
const said = (page) => page.locator('[data-part="said"]').textContent();
/** The browser tells of a new address a little after it has drawn it. */
const leads = (page, end) => page.waitForURL((url) => url.href.endsWith(end), { timeout: 5000 }).then(() => true, () => false);
const names = (page, part) => page.locator(`section[data-part="${part}"] code`).allTextContents();

/** Each of these is held against what `cargo x diff` prints; tools come and go. */
export async function pairs(browser, base, expected) {
  const faults = [];
  const page = await browser.newPage();
  const expect = (holds, text) => holds || faults.push(`pairs: ${text}`);
  for (const [pair, diff] of Object.entries(expected)) {
    await page.goto('about:blank');
    await page.goto(`${base}pairs.html#${pair}`);
    expect((await shown(page)) === diff, `${pair} differs from what cargo x diff prints`);
  }

  await page.goto('about:blank');
  await page.goto(`${base}pairs.html`);
  await page.locator('#pairs-from').focus();
  await page.keyboard.press('Home');
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Tab');
  // Not by its name: between two letters a busy machine may take longer than the browser waits.
  await page.keyboard.press('Home');
  for (let step = 1; step < 7; step += 1) await page.keyboard.press('ArrowDown');
  expect(await leads(page, 'pairs.html#s03..s07'), `the keyboard leads to ${page.url()}`);
  expect((await said(page)).includes('From s03_permission to s07_skills'), `it says ${await said(page)}`);
  const lines = page.locator('#pairs pre span');
  for (const kind of ['added', 'removed']) {
    expect((await page.locator(`#pairs pre span.${kind}`).count()) > 5, `s03..s07 shows few lines ${kind}`);
  }
  expect((await lines.count()) > 50, 'the diff of s03..s07 is short');
  const before = await shown(page);

  // Tab goes on to the buttons: back, swap.
  await page.keyboard.press('Tab');
  await page.keyboard.press('Tab');
  await page.keyboard.press('Enter');
  expect(await leads(page, '#s07..s03'), `swap leads to ${page.url()}`);
  expect((await shown(page)) !== before, 'swap shows the same');

  await page.goto(`${base}pairs.html#s11..s12`);
  await page.waitForFunction(() => document.querySelector('[data-part="said"]').textContent.includes('s12'));
  const [added, removed] = [await names(page, 'added'), await names(page, 'removed')];
  for (const tool of ['create_task', 'claim_task']) expect(added.includes(tool), `s11..s12 adds no ${tool}`);
  for (const tool of ['edit_file', 'glob', 'task']) expect(removed.includes(tool), `s11..s12 removes no ${tool}`);

  await page.locator('[data-part="after"]').click();
  expect(await leads(page, '#s12..s13'), `the next step leads to ${page.url()}`);
  await page.locator('[data-part="before"]').click();
  expect(await leads(page, '#s11..s12'), `the step before leads to ${page.url()}`);
  await page.close();
  return faults;
}

/** A fragment is followed at once; one that names no pair is said to. */
export async function fragments(browser, base) {
  const faults = [];
  const page = await browser.newPage();
  page.on('pageerror', (error) => faults.push(`pairs: ${error.message}`));
  await page.goto(`${base}pairs.html#s01..s20`);
  if (!(await said(page)).includes('From s01_loop to s20_full')) faults.push(`#s01..s20 says ${await said(page)}`);
  for (const bad of ['nonsense', 's03..s99', '%E0%A4%A', '..', 's03']) {
    await page.goto('about:blank');
    await page.goto(`${base}pairs.html#${bad}`);
    const text = await said(page);
    if (!text.startsWith('There is no pair')) faults.push(`#${bad} says ${text}`);
    if ((await page.locator('#pairs pre span').count()) === 0) faults.push(`#${bad} shows nothing`);
  }
  // The last step is the last: its button is off.
  await page.goto(`${base}pairs.html#s19..s20`);
  await page.waitForFunction(() => document.querySelector('[data-part="said"]').textContent.includes('s20'));
  if (!(await page.locator('[data-part="after"]').isDisabled())) faults.push('behind s20 there is a next step');
  await page.close();
  return faults;
}
