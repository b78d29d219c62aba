// The page "Any two chapters": draws what lies between the two that are chosen.
//
// The data is made beforehand (pairs-data.js), so that the page shows the hunks that `cargo x diff` prints.
// The address names the pair, as in #s03..s07; whoever follows it sees the same.
(function () {
  'use strict';

  const root = document.getElementById('pairs');
  if (!root || !window.PAIRS) return;
  const { chapters, texts, diffs } = window.PAIRS;
  const part = (name) => root.querySelector(`[data-part="${name}"]`);
  const from = part('from');
  const to = part('to');
  const short = (chapter) => chapter.name.slice(0, 3);

  /** An element with a class and children, which may be text. */
  function make(tag, name, ...children) {
    const element = document.createElement(tag);
    if (name) element.className = name;
    element.append(...children);
    return element;
  }

  /** Names as code, separated by commas. */
  function codes(names) {
    return names.flatMap((name, index) => [index ? ', ' : '', make('code', '', name)]);
  }

  /** What only the second list has. */
  const beyond = (some = [], more = []) => more.filter((name) => !some.includes(name));

  /** What a line stands in: the nearest one above it that opens a function or a type. */
  function scope(before, line) {
    const opens = /^\s*(?:(?:pub|async) )*(?:fn|impl|struct|enum|trait)(?:[ <]|$)/;
    return (before.slice(0, line).findLast((text) => opens.test(text)) ?? '').trim();
  }

  /** The lines of a diff: [class, text], as `cargo x diff` prints them. */
  function lines(file, one, other) {
    const [oldPath, oldText] = texts[one];
    const [newPath, newText] = texts[other];
    const before = oldText.split('\n');
    const after = newText.split('\n');
    const drawn = [['removed', `--- ${oldPath}`], ['added', `+++ ${newPath}`]];
    const span = (start, count) => {
      if (count === 1) return `${start + 1}`;
      return `${count ? start + 1 : start},${count}`;
    };
    for (const hunk of diffs[`${one}-${other}`].split(';').filter(Boolean)) {
      const [first, second, runs] = hunk.split(' ');
      let [left, right] = [Number(first), Number(second)];
      const body = [];
      for (const [, sign, count] of runs.matchAll(/([=+-])(\d+)/g)) {
        for (let line = 0; line < Number(count); line += 1) {
          if (sign === '+') body.push(['added', `+${after[right]}`]);
          else if (sign === '-') body.push(['removed', `-${before[left]}`]);
          else body.push(['', ` ${before[left]}`]);
          if (sign !== '+') left += 1;
          if (sign !== '-') right += 1;
        }
      }
      const sizes = [span(Number(first), left - first), span(Number(second), right - second)];
      drawn.push(['place', `@@ -${sizes[0]} +${sizes[1]} @@ ${scope(before, Number(first))}`.trimEnd()], ...body);
    }
    return drawn;
  }

  /** The diff of a carried file, or a sentence when there is nothing to compare. */
  function drawFile(file, old, young) {
    const [one, other] = [old.runs[file], young.runs[file]];
    if (one === undefined && other === undefined) return null;
    const title = make('h2', '', make('code', '', file));
    const say = (text) => make('div', '', title, make('p', '', text));
    if (one === undefined) return say(`${short(old)} has none. In ${short(young)} it is ${texts[other][0]}.`);
    if (other === undefined) return say(`${short(young)} has none. In ${short(old)} it is ${texts[one][0]}.`);
    if (one === other) return say(`Both run the same file, ${texts[one][0]}.`);
    const code = make('code');
    for (const [name, text] of lines(file, one, other)) code.append(make('span', name, `${text}\n`));
    const box = make('pre', 'diff', code);
    box.tabIndex = 0;
    box.setAttribute('aria-label', `Diff of ${file}`);
    return make('div', '', title, box);
  }

  /** What the second has and the first has not: [what, names] for tools, imports and files. */
  function gains(one, other) {
    const found = [];
    for (const agent of Object.keys(other.tools)) {
      found.push([`tools of the ${agent}`, codes(beyond(one.tools[agent], other.tools[agent]))]);
    }
    for (const [file, lessons] of Object.entries(other.imports)) {
      for (const [lesson, items] of Object.entries(lessons)) {
        const known = (one.imports[file] || {})[lesson];
        found.push([`${file} imports from ${lesson}`, codes(beyond(known, items))]);
      }
    }
    const later = chapters.slice(chapters.indexOf(one) + 1, chapters.indexOf(other) + 1);
    for (const chapter of later.filter((chapter) => chapter.files.length > 0)) {
      const sum = chapter.files.reduce((lines, file) => lines + file[1], 0);
      const count = chapter.files.length;
      const text = ` ${count} ${count === 1 ? 'file' : 'files'}, ${sum} lines`;
      const link = make('a', '', chapter.name);
      link.href = `chapters/${chapter.name}.html#new-files`;
      found.push(['library', [link, text]]);
    }
    return found.filter(([, names]) => names.length > 0);
  }

  /** A column: what is new, or what is gone. */
  function column(title, name, found, count) {
    const list = make('dl');
    let last = '';
    for (const [what, names] of found) {
      if (what !== last) list.append(make('dt', '', what));
      last = what;
      list.append(make('dd', '', ...names));
    }
    list.append(make('dt', '', 'lines of src/main.rs'), make('dd', '', `${count}`));
    const heading = make('h2', '', make('span', name, title));
    const section = make('section', '', heading, list);
    section.dataset.part = name;
    return section;
  }

  function draw(note) {
    const [old, young] = [chapters[from.value], chapters[to.value]];
    const files = ['src/main.rs', 'src/teammate.rs'];
    const [one, other] = [old.runs[files[0]], young.runs[files[0]]];
    const drawn = one === other ? [] : lines(files[0], one, other).slice(2);
    const count = (name) => drawn.filter(([kind]) => kind === name).length;
    const title = old === young ? `${old.name}: twice the same chapter` : `From ${old.name} to ${young.name}`;
    part('said').textContent = note ? `${note} ${title}` : title;
    part('change').replaceChildren(
      column('Added', 'added', gains(old, young), count('added')),
      column('Removed', 'removed', gains(young, old), count('removed')),
    );
    part('diff').replaceChildren(...files.map((file) => drawFile(file, old, young)).filter(Boolean));
    part('before').disabled = step(-1) === null;
    part('after').disabled = step(1) === null;
  }

  /** The chapter whose step is next, or the one before; null at either end. */
  function step(direction) {
    const next = Number(to.value) + direction;
    const chapter = chapters[next];
    return chapter && chapter.base !== null ? next : null;
  }

  function choose(old, young) {
    from.value = `${old}`;
    to.value = `${young}`;
    const fragment = `#${short(chapters[old])}..${short(chapters[young])}`;
    if (location.hash !== fragment) history.replaceState(null, '', fragment);
    draw('');
  }

  /** Shows the pair that the address names; without one, the last step but one. */
  function follow() {
    const wanted = location.hash.slice(1);
    const at = (name) => chapters.findIndex((chapter) => short(chapter) === name);
    const [old, young] = wanted.split('..').map(at);
    if (old >= 0 && young >= 0) return choose(old, young);
    const shown = Math.max(1, chapters.length - 2);
    from.value = `${chapters[shown].base}`;
    to.value = `${shown}`;
    let name = wanted;
    try {
      name = decodeURIComponent(wanted);
    } catch {
      // It is shown as it stands in the address.
    }
    return draw(wanted ? `There is no pair “${name}”.` : '');
  }

  for (const select of [from, to]) {
    chapters.forEach((chapter, index) => {
      const option = make('option', '', chapter.name);
      option.value = `${index}`;
      select.append(option);
    });
    select.addEventListener('change', () => choose(Number(from.value), Number(to.value)));
  }
  part('swap').addEventListener('click', () => choose(Number(to.value), Number(from.value)));
  for (const [name, direction] of [['before', -1], ['after', 1]]) {
    part(name).addEventListener('click', () => {
      const next = step(direction);
      if (next !== null) choose(chapters[next].base, next);
    });
  }
  // mdBook turns pages by arrow keys and searches on s; in a list of chapters both mean the list.
  root.addEventListener('keydown', (event) => event.stopPropagation());
  root.addEventListener('submit', (event) => event.preventDefault());
  window.addEventListener('hashchange', follow);
  root.hidden = false;
  follow();
})();
