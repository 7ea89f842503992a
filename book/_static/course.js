// Keyboard access to what the theme leaves out, and the way from a search to its match.

// Boxes that scroll are tab stops for as long as they scroll. The theme would look at each box
// once the page has loaded, also in what is folded away, which has no layout until then.
addEventListener("load", event => event.stopImmediatePropagation());
const SCROLLING = "pre, .cell_output > .output, .katex-display, .pst-scrollable-table-container, figure.wide";
const goesOn = box => box.scrollLeft + box.clientWidth < box.scrollWidth - 1;
const mark = ([box, scrolls, on]) => {
  if (scrolls) box.tabIndex = 0;
  else box.removeAttribute("tabindex");
  box.classList.toggle("goes-on", on);
};
const resized = new ResizeObserver(entries => entries
  .map(({target: box}) => [box, box.scrollWidth > box.clientWidth, goesOn(box)])
  .forEach(mark));
// Letters of another font may be wider, in a box that stays as it is.
const watch = () => document.querySelectorAll(SCROLLING).forEach(box => {
  resized.unobserve(box);
  resized.observe(box);
});
watch();
document.fonts.addEventListener("loadingdone", watch);
document.addEventListener("scroll", ({target}) => {
  if (target.matches?.(SCROLLING)) target.classList.toggle("goes-on", goesOn(target));
}, {capture: true, passive: true});

// On a phone, rows of a table of sentences are paragraphs, which name their columns.
const SENTENCES = ":is(#the-same-in-pytorch, #where-each-of-them-fails, #what-you-have) table";
document.querySelectorAll(SENTENCES).forEach(({tHead, tBodies: [{rows}]}) => {
  for (const {cells: [, ...cells]} of rows)
    for (const cell of cells) cell.dataset.column = tHead.rows[0].cells[cell.cellIndex].textContent;
});

// Paper is light.
let theme;
const root = document.documentElement;
addEventListener("beforeprint", () => { theme = root.dataset.theme; root.dataset.theme = "light"; });
addEventListener("afterprint", () => { root.dataset.theme = theme; });

// The theme takes the focus away from its buttons when they are pressed.
document.querySelectorAll("button").forEach(button => { button.blur = () => {}; });

// One button unfolds the code of figures and tables, so that each fold need not be a tab stop.
const folds = [...document.querySelectorAll(".cell:not(.tag_task) > details.above-input")];
folds.forEach(fold => fold.addEventListener("toggle", () => {
  fold.firstElementChild.tabIndex = fold.open ? 0 : -1;
}));
folds.forEach(fold => { fold.firstElementChild.tabIndex = -1; });
window.toggleCode = () => {
  const open = !folds.some(fold => fold.open);
  folds.forEach(fold => { fold.open = open; });
};

// In the list of pages, this one says that it is the reader's place; going to it would lead nowhere.
document.querySelectorAll(".bd-sidebar-primary a[href='#']").forEach(link => {
  link.ariaCurrent = "page";
  link.tabIndex = -1;
});

// On a phone, that list opens at the reader's place.
document.querySelector(".primary-toggle")?.addEventListener("click", () => setTimeout(() => {
  document.querySelector(".bd-sidebar-primary [aria-current=page]")?.scrollIntoView({block: "center"});
}));

// The headings of such a table sort its rows, by number or by name; pressed again, they reverse.
document.querySelectorAll("table.sortable thead th").forEach(head => {
  const button = document.createElement("button");
  button.append(...head.childNodes);
  head.append(button);
  button.addEventListener("click", () => {
    const rises = head.getAttribute("aria-sort") !== "ascending";
    const body = head.closest("table").tBodies[0];
    const text = row => row.cells[head.cellIndex].textContent;
    const value = row => parseFloat(text(row).replace("−", "-").replaceAll(",", ""));
    const compare = (a, b) => value(a) - value(b) || text(a).localeCompare(text(b));
    const rows = [...body.rows].sort((a, b) => rises ? compare(a, b) : compare(b, a));
    head.parentElement.querySelectorAll("th").forEach(other => other.removeAttribute("aria-sort"));
    head.setAttribute("aria-sort", rises ? "ascending" : "descending");
    body.append(...rows);
  });
});

// A guess opens the figure after it. A link into that part, or a match there, opens it for good.
const openGuess = place => {
  const guess = place?.closest(".guessed")?.previousElementSibling;
  if (guess && !guess.querySelector(":checked")) guess.querySelector("[value=show]").checked = true;
};
const target = () => {
  try {
    return document.getElementById(decodeURIComponent(location.hash.slice(1)));
  } catch {  // "#50%" is not the name of a place
    return null;
  }
};
addEventListener("hashchange", () => openGuess(target()));
openGuess(target());

// On the page of the search: excerpts of the text only, with each formula once.
if (typeof Search !== "undefined") {
  Search.htmlToText = (html, anchor) => {
    const page = new DOMParser().parseFromString(html, "text/html");
    const found = anchor && page.getElementById(decodeURIComponent(anchor.slice(1)));
    const shown = (found && found.closest("section")) || page.querySelector("article");
    shown.querySelector("h1, h2, h3")?.remove();  // the result's title
    shown.querySelectorAll(".katex-html, .headerlink, .label, summary, pre, script, style, fieldset").forEach(e => e.remove());
    shown.querySelectorAll("p, li, dt, dd, td, th, h2, h3, small").forEach(e => e.append(" "));
    return shown.textContent;
  };
  // The text around a word that was searched for, from a whole word to a whole word.
  Search.makeSearchSummary = (html, words, anchor) => {
    const text = Search.htmlToText(html, anchor).replace(/\s+/g, " ").trim();
    const lower = text.toLowerCase();
    const at = Math.max(0, ...[...words].map(word => lower.indexOf(word.toLowerCase()) - 120));
    const start = at && text.indexOf(" ", at) + 1;
    const end = at + 240 < text.length ? text.lastIndexOf(" ", at + 240) : text.length;
    const excerpt = document.createElement("p");
    excerpt.className = "context";
    excerpt.textContent = (start ? "… " : "") + text.slice(start, end) + (end < text.length ? " …" : "");
    return text ? excerpt : null;
  };
  // A section with this very title comes first, and an entry of the glossary is named. A page, or
  // one more entry of the index, below one of its sections has nothing to add. The last result is
  // shown first.
  const find = Search._performSearch;
  Search._performSearch = (query, ...asked) => {
    const wanted = query.trim().toLowerCase();
    const named = ([, title]) => title.split(" > ").pop().trim().toLowerCase() === wanted;
    const results = find(query, ...asked).reverse().map(([page, title, anchor, ...more]) => [
      page, anchor?.startsWith("#term-") ? `Glossary: ${anchor.slice(6).replaceAll("-", " ")}` : title, anchor, ...more,
    ]);
    const above = new Set();
    return [...results.filter(named), ...results.filter(result => !named(result))].filter(([page, , anchor]) => {
      const adds = anchor && !anchor.startsWith("#index-") || !above.has(page);
      if (anchor) above.add(page);
      return adds;
    }).reverse();
  };
  Documentation.TRANSLATIONS["Search finished, found ${resultCount} page(s) matching the search query."]
    = "Search finished. Results: ${resultCount}";
// On a page that was opened from there: show the first match below the address's anchor.
} else if (localStorage.getItem("sphinx_highlight_terms")) {
  document.addEventListener("DOMContentLoaded", () => setTimeout(() => {
    const start = target();
    const below = match => !start || match === start
      || start.compareDocumentPosition(match) & Node.DOCUMENT_POSITION_FOLLOWING;
    const matches = [...document.querySelectorAll("article .highlighted")];
    const shown = matches.filter(match => match.checkVisibility());
    const match = shown.find(below) || matches.find(below) || matches[0];
    if (!match) document.querySelector("#searchbox .highlight-link")?.remove();
    for (let fold = match; (fold = fold?.parentElement.closest("details"));) fold.open = true;
    openGuess(match);
    match?.scrollIntoView({block: "center"});
  }, 100));  // Sphinx marks the matches after 10 ms
}
