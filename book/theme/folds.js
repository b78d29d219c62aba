// Folded passages: a link to a file opens the passage that holds it, and a file is drawn when it is opened. The picture is
// drawn at once.
// A drawing tells the style how many columns it has, so that it is never wider than the page.
//
// A file stands in the page as a script that is text, so that search passes it by and nothing is coloured unseen.
(function () {
  'use strict';

  /** Makes a code block of each file in a passage. */
  function drawFiles(passage) {
    for (const script of passage.querySelectorAll(':scope > script.file')) {
      const code = document.createElement('code');
      code.className = `language-${script.dataset.language}`;
      // What would have ended the script was written with a backslash.
      code.textContent = script.textContent.replace(/^\n/, '').replace(/<\\(?=\/script|script|!--)/g, '<');
      const box = document.createElement('pre');
      box.tabIndex = 0;
      box.append(code);
      script.replaceWith(box);
      if (window.hljs) window.hljs.highlightBlock(code);
      code.classList.add('hljs');
    }
  }

  function reveal() {
    let target = null;
    try {
      target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    } catch {
      return; // A fragment that is not well formed names nothing.
    }
    for (let element = target; element; element = element.parentElement) {
      if (element.tagName === 'DETAILS') {
        drawFiles(element);
        element.open = true;
      }
    }
    if (target && target.tagName === 'DETAILS') target.scrollIntoView();
  }

  for (const script of document.querySelectorAll('.loop-picture > script')) script.outerHTML = script.textContent;

  for (const code of document.querySelectorAll('.content code.language-text')) {
    const lines = code.textContent.split('\n').map((line) => [...line].length);
    code.style.setProperty('--columns', Math.max(...lines));
    code.classList.toggle('drawing', /[\u2500-\u257f\u25b2-\u25c0]/.test(code.textContent));
  }

  for (const passage of document.querySelectorAll('.content details')) {
    passage.addEventListener('toggle', () => drawFiles(passage));
  }
  window.addEventListener('hashchange', reveal);
  reveal();
})();
