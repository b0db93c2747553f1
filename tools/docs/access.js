// What access.py asks of a page.
({
  // Kinds of text that are too pale for their ground, each with its worst.
  contrast() {
    const parse = (s) => { const m = (s.match(/[\d.]+/g) || [0, 0, 0, 0]).map(Number); return m.length < 4 ? [...m, 1] : m; };
    const over = (a, b) => [0, 1, 2].map((i) => a[i] * a[3] + b[i] * (1 - a[3])).concat(1);
    const light = (c) => { const v = c.slice(0, 3).map((x) => { x /= 255; return x <= 0.03928 ? x / 12.92 : ((x + 0.055) / 1.055) ** 2.4; });
      return 0.2126 * v[0] + 0.7152 * v[1] + 0.0722 * v[2]; };
    const ground = (e) => {
      const layers = [];
      for (; e; e = e.parentElement) {
        const c = parse(getComputedStyle(e).backgroundColor);
        if (c[3] > 0) layers.push(c);
        if (c[3] === 1) break;
      }
      return layers.reverse().reduce((below, c) => over(c, below), [255, 255, 255, 1]);
    };
    const found = new Map(), walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    while (walker.nextNode()) {
      const text = walker.currentNode.textContent.trim(), e = walker.currentNode.parentElement;
      if (!text || !e.checkVisibility({checkOpacity: true, checkVisibilityCSS: true}) || e.closest('svg, script, style, noscript')) continue;
      const box = e.getBoundingClientRect();
      if (box.width < 2 || box.height < 2) continue;
      const style = getComputedStyle(e), below = ground(e), size = parseFloat(style.fontSize);
      const a = light(over(parse(style.color), below)), b = light(below);
      const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
      const large = size >= 24 || (size >= 18.66 && parseInt(style.fontWeight) >= 700);
      const kind = `${e.tagName.toLowerCase()}.${e.className}`;
      if (ratio < (large ? 3 : 4.5) - 0.005 && !(found.get(kind)?.[0] <= ratio)) found.set(kind, [ratio, text.slice(0, 30)]);
    }
    return [...found].map(([kind, [ratio, text]]) => `contrast ${ratio.toFixed(2)} of ${kind}: ${text}`);
  },

  // What is wrong with language, headings, names and texts.
  structure() {
    const wrong = [], seen = (e) => e.checkVisibility();
    if (!document.documentElement.lang) wrong.push('the page names no language');
    if (!document.title.trim()) wrong.push('the page has no title');
    const levels = [...document.querySelectorAll('article h1, article h2, article h3, article h4, article h5')].map((h) => +h.tagName[1]);
    if (document.querySelector('article') && levels.filter((l) => l === 1).length !== 1) wrong.push('not one heading of the first level');
    levels.forEach((l, i) => { if (i && l > levels[i - 1] + 1) wrong.push(`a heading of level ${l} follows one of level ${levels[i - 1]}`); });
    for (const e of document.querySelectorAll('img')) if (!(e.getAttribute('alt') || '').trim()) wrong.push(`${e.src} has no alt text`);
    for (const e of document.querySelectorAll('iframe')) if (!e.title) wrong.push(`a frame has no title: ${e.dataset.src || e.src}`);
    for (const e of document.querySelectorAll('a[href], button, summary')) {
      const name = e.textContent.trim() || e.getAttribute('aria-label') || e.title || e.querySelector('img[alt], svg title');
      if (seen(e) && !name) wrong.push(`without a name: ${e.outerHTML.slice(0, 80)}`);
    }
    for (const e of document.querySelectorAll('input:not([type=hidden]), select, textarea'))
      if (seen(e) && !(e.getAttribute('aria-label') || e.title || e.labels?.length || e.placeholder)) wrong.push(`a field without a label: ${e.name}`);
    if (document.querySelector('[tabindex]:not([tabindex="0"]):not([tabindex="-1"])')) wrong.push('a tabindex changes the order of the focus');
    return wrong;
  },

  // The place that has the focus, and whether it shows it: by an outline, or by anything that it is without otherwise.
  focused() {
    const e = document.activeElement;
    if (!e || e === document.body) return null;
    const look = () => { const s = getComputedStyle(e);
      return [s.outlineStyle === 'none' || parseFloat(s.outlineWidth) === 0 ? '' : s.outline, s.boxShadow, s.borderColor, s.backgroundColor, s.textDecorationLine].join('|'); };
    const name = `${e.tagName.toLowerCase()}.${e.className}: ${e.textContent.trim().slice(0, 30)}`, order = [...document.querySelectorAll('*')].indexOf(e);
    const box = e.getBoundingClientRect(), focused = look();
    e.blur();
    const plain = look();
    e.focus();
    return {name, order, shown: focused !== plain, seen: box.width > 0 && box.height > 0};
  },
})
