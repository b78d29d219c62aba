// mdBook's search finds a word, wherever the book lies.

/** Searches for a word and follows the first answer. */
export async function search(browser, base) {
  const page = await browser.newPage();
  await page.goto(`${base}index.html`);
  await page.keyboard.press('s');
  await page.locator('#mdbook-searchbar, #searchbar').first().pressSequentially('worktree');
  const results = page.locator('#mdbook-searchresults a, #searchresults a');
  await results.first().waitFor({ timeout: 20_000 });
  const titles = await results.allTextContents();
  const faults = [];
  if (!titles.some((title) => title.includes('s17'))) faults.push(`search: worktree is found in ${titles.slice(0, 3)}`);
  await results.first().click();
  await page.waitForURL(/highlight=worktree/, { timeout: 20_000 });
  await page.close();
  return faults;
}
