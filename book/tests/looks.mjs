// What a page looks like: on a phone, in the light and in the dark.

/** The book follows the system's setting. */
export async function schemes(browser, base) {
  const faults = [];
  const grounds = [];
  for (const [colorScheme, theme] of [['light', 'light'], ['dark', 'navy']]) {
    const context = await browser.newContext({ colorScheme });
    const page = await context.newPage();
    await page.goto(`${base}pairs.html`);
    const [names, ground] = await page.evaluate(() => [
      [...document.documentElement.classList],
      getComputedStyle(document.documentElement).backgroundColor,
    ]);
    if (!names.includes(theme)) faults.push(`a ${colorScheme} system gets ${names.join(' ')}`);
    grounds.push(ground);
    await context.close();
  }
  if (grounds[0] === grounds[1]) faults.push(`light and dark have the same ground: ${grounds[0]}`);
  return faults;
}

/** Text of the book's own elements that stands out by less than 4.5:1, in the page it runs in. */
export function faint(selectors) {
  const parse = (color) => {
    const [red, green, blue, alpha = 1] = color.match(/[\d.]+/g).map(Number);
    // A mixed colour is written as color(srgb 0.1 0.2 0.3).
    const scale = color.startsWith('color(') ? 255 : 1;
    return { red: red * scale, green: green * scale, blue: blue * scale, alpha };
  };
  const over = (top, below) => {
    const mix = (name) => top[name] * top.alpha + below[name] * (1 - top.alpha);
    return { red: mix('red'), green: mix('green'), blue: mix('blue'), alpha: 1 };
  };
  const ground = (element) => {
    const layers = [];
    for (let at = element; at; at = at.parentElement) layers.unshift(parse(getComputedStyle(at).backgroundColor));
    return layers.reduce((below, top) => over(top, below), { red: 255, green: 255, blue: 255, alpha: 1 });
  };
  const light = ({ red, green, blue }) => {
    const part = (value) => (value / 255 <= 0.04045 ? value / 255 / 12.92 : ((value / 255 + 0.055) / 1.055) ** 2.4);
    return 0.2126 * part(red) + 0.7152 * part(green) + 0.0722 * part(blue);
  };
  const found = new Set();
  for (const element of document.querySelectorAll(selectors)) {
    const isText = [...element.childNodes].some((node) => node.nodeType === 3 && node.textContent.trim());
    if (!isText || element.closest('.here, style, title') || element.closest(':disabled')) continue;
    const style = getComputedStyle(element);
    const isSvg = element.namespaceURI.endsWith('svg');
    const color = parse(isSvg ? style.fill : style.color);
    color.alpha *= Number(style.opacity);
    const below = ground(isSvg ? element.closest('div') : element);
    const [bright, dark] = [light(over(color, below)), light(below)].sort((one, other) => other - one);
    const ratio = (bright + 0.05) / (dark + 0.05);
    const name = `${element.tagName.toLowerCase()}.${element.getAttribute('class') ?? ''}`;
    if (ratio < 4.5) found.add(`${name} has ${ratio.toFixed(2)}:1`);
  }
  return [...found];
}

/** What is read, in every theme: the text, the code, the contents. */
export async function contrast(browser, base) {
  const own = [
    ['index.html', 'main *'],
    ['pairs.html#s11..s12', 'main *'],
    ['chapters/s12_tasks.html', 'main *, .sidebar *, .menu-title'],
    ['loop.html', 'main *'],
  ];
  const faults = [];
  const page = await browser.newPage();
  for (const theme of ['light', 'rust', 'coal', 'navy', 'ayu']) {
    await page.addInitScript((name) => localStorage.setItem('mdbook-theme', name), theme);
    for (const [path, selectors] of own) {
      await page.goto('about:blank');
      const response = await page.goto(base + path).catch(() => null);
      if (!response) continue;
      await page.evaluate(() => document.querySelectorAll('details').forEach((fold) => (fold.open = true)));
      await page.waitForFunction(() => !document.querySelector('details script.file'));
      const found = await page.evaluate(faint, selectors);
      faults.push(...found.map((fault) => `${path} in ${theme}: ${fault}`));
    }
  }
  await page.close();
  return faults;
}

/**
 * With everything unfolded no page scrolls sideways, and every drawing and every header of a file is seen whole.
 */
export async function fits(browser, base, names, viewport) {
  const faults = [];
  const isMobile = viewport.width < 600;
  const context = await browser.newContext({ viewport, isMobile, hasTouch: isMobile });
  const page = await context.newPage();
  let drawings = 0;
  for (const name of names) {
    await page.goto(base + name, { waitUntil: 'load' });
    await page.evaluate(() => document.querySelectorAll('details').forEach((fold) => (fold.open = true)));
    await page.waitForFunction(() => !document.querySelector('details script.file'));
    const [width, widest, count, clipped] = await page.evaluate(() => {
      const room = document.documentElement.clientWidth;
      // A box within the page may scroll, so may the columns of the loop; around `main` mdBook has one that scrolls the whole page.
      const isScrolled = (element) => {
        for (let at = element.parentElement; at && (at.tagName !== 'MAIN' || at.id === 'columns'); at = at.parentElement) {
          if (['auto', 'scroll', 'hidden'].includes(getComputedStyle(at).overflowX)) return true;
        }
        return false;
      };
      const over = [...document.querySelectorAll('main *')].find((element) =>
        element.getBoundingClientRect().right > room + 1 && !isScrolled(element));
      const widest = over ? `${over.tagName} ${over.textContent.trim().slice(0, 40)}` : '';
      const all = [...document.querySelectorAll('code.drawing')];
      const comments = [...document.querySelectorAll('.language-rust .hljs-comment')];
      const headers = comments.filter((comment) => comment.textContent.startsWith('//!'));
      const isCut = (element) => element.scrollWidth > element.clientWidth + 1;
      const isOut = (header) => header.getBoundingClientRect().right > header.closest('pre').getBoundingClientRect().right;
      const clipped = [...all.filter(isCut), ...headers.filter(isOut)].map((it) => it.textContent.slice(0, 40));
      return [document.documentElement.scrollWidth - room, widest, all.length, clipped];
    });
    drawings += count;
    faults.push(...clipped.map((text) => `${name}: clipped at ${viewport.width} px: ${text}`));
    if (width > 0 || widest) faults.push(`${name}: ${width} px too wide at ${viewport.width} px (${widest})`);
  }
  if (!drawings) faults.push(`no drawing is found at ${viewport.width} px`);
  await context.close();
  return faults;
}
