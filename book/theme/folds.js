// A link to a file leads to a folded passage: open it, and those around it.
(function () {
  'use strict';

  function reveal() {
    let target = null;
    try {
      target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    } catch {
      return; // A fragment that is not well formed names nothing.
    }
    for (let element = target; element; element = element.parentElement) {
      if (element.tagName === 'DETAILS') element.open = true;
    }
    if (target && target.tagName === 'DETAILS') target.scrollIntoView();
  }

  window.addEventListener('hashchange', reveal);
  reveal();
})();
