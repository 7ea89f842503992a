"""Facts about a page, as JavaScript that a browser evaluates there."""

from book_pages import GUESS, UNFOLD

# With everything unfolded: the page's width, and what sticks out of it.
WIDTH = (
    "() => {"
    + UNFOLD
    + r"""
  const scrolls = element => element && (
    getComputedStyle(element).overflowX !== "visible" || scrolls(element.parentElement));
  const wide = [...document.querySelectorAll("main *")]
    .map(element => [element, Math.round(element.getBoundingClientRect().right)])
    .filter(([element, right]) => right > screen.width && !scrolls(element.parentElement))
    .sort((one, two) => two[1] - one[1]).slice(0, 5)
    .map(([element, right]) => `${right} px: ${element.outerHTML.slice(0, 120)}`);
  return {width: document.documentElement.scrollWidth, wide};
}
"""
)

# Contrast as in WCAG 2, of every piece of text that is to be seen on the page. A canvas
# reads colours in any notation, and the corners of pictures.
COLOURS = r"""
() => {
  const canvas = Object.assign(document.createElement("canvas"), {width: 1, height: 1});
  const brush = canvas.getContext("2d", {willReadFrequently: true});
  const pixel = paint => {
    brush.clearRect(0, 0, 1, 1);
    paint();
    const [red, green, blue, alpha] = brush.getImageData(0, 0, 1, 1).data;
    return [red, green, blue, alpha / 255];
  };
  const fill = colour => { brush.fillStyle = colour; brush.fillRect(0, 0, 1, 1); };
  const luminance = ([red, green, blue]) => [red, green, blue]
    .map(part => part / 255)
    .map(part => part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4)
    .reduce((sum, part, index) => sum + part * [0.2126, 0.7152, 0.0722][index], 0);
  const layers = new Map();  // the colours behind what each element holds
  const grounds = element => {
    if (!element) return ["white"];
    if (!layers.has(element)) {
      const above = grounds(element.parentElement);
      const own = getComputedStyle(element).backgroundColor;
      layers.set(element, own === "rgba(0, 0, 0, 0)" ? above : [...above, own]);
    }
    return layers.get(element);
  };
  const known = new Map();  // the contrast of each colour on each ground
  const contrast = element => {
    const under = grounds(element);
    const text = getComputedStyle(element).color;
    const both = [...under, text].join("|");
    if (!known.has(both)) {
      const [dark, light] = [under, [...under, text]]
        .map(colours => luminance(pixel(() => colours.forEach(fill))))
        .sort((a, b) => a - b);
      known.set(both, (light + 0.05) / (dark + 0.05));
    }
    return known.get(both);
  };
  const main = document.querySelector("main");
  const texts = [...main.querySelectorAll("*")].filter(element =>
    element.checkVisibility({opacityProperty: true, visibilityProperty: true}) &&
    !element.closest("svg, mjx-assistive-mml") &&
    (element.matches("mjx-container") || [...element.childNodes].some(
      node => node.nodeType === Node.TEXT_NODE && node.data.trim())));
  return {
    page: luminance(pixel(() => grounds(document.body).forEach(fill))),
    body: contrast(main),
    faint: texts.map(element => [contrast(element), element])
      .filter(([ratio]) => ratio < 4.5)
      .map(([ratio, element]) =>
        `${ratio.toFixed(1)}: ${element.outerHTML.slice(0, 120)}`),
    // A picture of another host cannot be read; another test finds it.
    dark_images: [...main.querySelectorAll("img:not(.only-dark, .dark-light)")]
      .filter(image => image.naturalWidth
        && ["data:", location.origin].some(start => image.src.startsWith(start)))
      .filter(image => luminance(pixel(() => {
        grounds(image).forEach(fill);
        brush.drawImage(image, 0, 0, 1, 1, 0, 0, 1, 1);
      })) < 0.8)
      .map(image => image.getAttribute("src")),
  };
}
"""
# True once all visible pictures and all fonts are loaded, the theme is set, and no colour
# transition is running.
READY = """
() => document.querySelector("main") && document.readyState === "complete"
  && ["light", "dark"].includes(document.documentElement.dataset.theme)
  && [...document.images].filter(image => image.checkVisibility()).every(image => {
    image.loading = "eager";
    return image.complete;
  })
  && document.fonts.status === "loaded"
  && !document.getAnimations().some(animation => animation instanceof CSSTransition)
"""
# What a page holds, whatever the screen.
CONTENT = r"""
() => {
  const main = document.querySelector("main");
  const texts = document.createTreeWalker(main, NodeFilter.SHOW_TEXT), prose = [];
  while (texts.nextNode())
    if (!texts.currentNode.parentElement.closest("pre, code, script, style"))
      prose.push(texts.currentNode.data);
  const count = selector => document.querySelectorAll(selector).length;
  return {
    prose: prose.join("\n"),
    text: document.documentElement.textContent,
    folded: [...main.querySelectorAll("details:not([open]) pre")]
      .map(pre => pre.textContent.trim()),
    formulas: count(".math"),
    typeset: count(".math > .katex, .math > .katex-display > .katex"),
    broken: count(".katex-error, merror")
      + [...document.querySelectorAll(".katex")]
        .filter(formula => formula.textContent.includes("\\")).length,
    images: [...main.querySelectorAll("img")].filter(
      image => image.checkVisibility()).map(image => ({
      name: image.getAttribute("src"),
      alt: image.getAttribute("alt"),
      width: image.naturalWidth,
    })),
  };
}
"""
# Ids that several elements have.
TWICE = """
() => {
  const ids = [...document.querySelectorAll("[id]")].map(element => element.id);
  return ids.filter((id, at) => ids.indexOf(id) < at);
}
"""
# All pictures that the reader sees, before and after they are loaded.
PICTURES = (
    "async () => {"
    + GUESS
    + """
  const seen = [...document.querySelectorAll("main article img")]
    .filter(image => image.checkVisibility());
  const box = image => {
    const {width, height, left, right} = image.getBoundingClientRect();
    return {width, height, left, right};
  };
  const facts = seen.map(image => ({
    before: box(image),
    loading: image.loading,
    alt: image.alt,
    sized: image.hasAttribute("width") && image.hasAttribute("height"),
    column: box(image.closest("article")),
  }));
  for (const image of seen) image.loading = "eager";
  await Promise.all(seen.map(image => image.decode().catch(() => {})));  // some may be lost
  return facts.map((fact, at) =>
    ({...fact, after: box(seen[at]), name: new URL(seen[at].currentSrc).pathname}));
}
"""
)
# Code, output and equations that need horizontal scrolling, with everything expanded.
CUT_OFF = (
    "async () => {"
    + UNFOLD
    + """
  await document.fonts.ready;
  const schema = box => box.textContent.includes('"description": ');
  const boxes = [...document.querySelectorAll("main pre, main .katex-display")]
    .filter(box => box.checkVisibility() && !schema(box));
  // A line that would go on below is cut off now.
  boxes.forEach(box => { if (box.tagName === "PRE") box.style.whiteSpace = "pre"; });
  return boxes.filter(box => box.scrollWidth > box.clientWidth + 1)
    .map(box => `${box.tagName}: ${
      box.textContent.split("\\n").sort((a, b) => b.length - a.length)[0]}`);
}
"""
)
# Inline formulas that are wider than their column, where they would be cut off.
TOO_WIDE = (
    "async () => {"
    + UNFOLD
    + """
  await document.fonts.ready;
  return [...document.querySelectorAll("main span.math .katex")]
    .filter(formula => formula.checkVisibility() && !formula.closest("table"))
    .filter(formula => {
      const column = formula.closest("p, li, dd, dt, figcaption, h1, h2, h3, div");
      const right = column.getBoundingClientRect().right;
      return formula.getBoundingClientRect().right > right + 1;
    })
    .map(formula => formula.textContent);
}
"""
)
# Punctuation after a formula that wraps to the beginning of the next line.
PARTED = (
    "async () => {"
    + UNFOLD
    + """
  await document.fonts.ready;
  const parted = [];
  for (const formula of document.querySelectorAll("main span.math")) {
    const after = formula.nextSibling;
    const last = [...formula.querySelectorAll(".base")].at(-1);
    if (after?.nodeType !== Node.TEXT_NODE || !/^\\S/.test(after.data) || !last) continue;
    const range = document.createRange();
    range.setStart(after, 0);
    range.setEnd(after, 1);
    const [sign, box] = [range, last].map(of => of.getBoundingClientRect());
    if (box.width && sign.left < box.left) parted.push(formula.parentElement.textContent);
  }
  return parted;
}
"""
)
# The share of the main column's height that visible code takes.
CODE = """
() => {
  const main = document.querySelector("main article");
  if (!main) return 0;
  const code = [...main.querySelectorAll(".cell_input, div.highlight")]
    .filter(box => box.checkVisibility() && !box.parentElement.closest(".cell_input")
      && !box.closest(".cell_output"));
  const height = box => box.getBoundingClientRect().height;
  return code.map(height).reduce((sum, one) => sum + one, 0) / height(main);
}
"""
# What sticks out of the links to the pages before and after this one.
OUTSIDE = """
() => [...document.querySelectorAll(".prev-next-area :is(i, p)")]
  .filter(part => {
    const link = part.closest("a").getBoundingClientRect();
    const box = part.getBoundingClientRect();
    return box.left < link.left - 1 || box.right > link.right + 1
      || box.right > innerWidth - 4;
  })
  .map(part => part.outerHTML)
"""
# Folds whose title moves sideways when they open.
MOVING = """
() => [...document.querySelectorAll("main details > summary")]
  .filter(summary => new Set([...summary.querySelectorAll(":scope > p")]
    .map(title => getComputedStyle(title).marginLeft)).size > 1)
  .map(summary => summary.textContent.trim())
"""
# Elements within formulas that the tab key would stop at.
STOPS = """
() => [...document.querySelectorAll(".math, .math *")]
  .filter(element => element.tabIndex >= 0 && !element.matches(".headerlink"))
  .map(element => element.outerHTML)
"""
# Tables that are wider than their column.
CUT_TABLES = (
    "async () => {"
    + UNFOLD
    + """
  await document.fonts.ready;
  return [...document.querySelectorAll("main table")]
    .filter(table => table.checkVisibility()
      && table.scrollWidth > table.parentElement.clientWidth + 1)
    .map(table => table.innerText.slice(0, 80));
}
"""
)
# Percent signs that are not on the line of their number.
PERCENT = (
    "async () => {"
    + UNFOLD
    + """
  await document.fonts.ready;
  const texts = document.createTreeWalker(document.querySelector("main"), NodeFilter.SHOW_TEXT);
  const range = document.createRange(), parted = [];
  const block = node => node.parentElement.closest("p, li, td, dd");
  const left = (node, at) => {
    range.setStart(node, at);
    range.setEnd(node, at + 1);
    const {left, width} = range.getBoundingClientRect();
    return width ? left : null;
  };
  let digit = null;  // the last one, if only spaces have come after it
  for (let node; (node = texts.nextNode());) {
    if (!node.parentElement.checkVisibility()) continue;
    for (let at = 0; at < node.data.length; at++) {
      const sign = node.data[at];
      if (sign === "%" && digit && block(digit[0]) === block(node)
        && left(node, at) !== null && left(node, at) <= left(...digit))
        parted.push(node.data.slice(0, 40));
      if (/[0-9]/.test(sign)) digit = [node, at];
      else if (/\\S/.test(sign)) digit = null;
    }
  }
  return parted;
}
"""
)
# Equation numbers that are outside the page, or on their equation.
NUMBERS = (
    "async () => {"
    + UNFOLD
    + """
  await document.fonts.ready;
  const width = document.documentElement.clientWidth;
  return [...document.querySelectorAll("main .eqno")].filter(number => {
    const [box, formula] = [number, number.parentElement.querySelector(".katex-display")]
      .map(element => element.getBoundingClientRect());
    return box.right > width
      || box.left < formula.right - 1 && box.top < formula.bottom - 1;
  }).map(number => number.textContent);
}
"""
)
# Boxes with a horizontal scroll bar that the tab key does not reach, with everything unfolded.
OUT_OF_REACH = (
    "async () => {"
    + UNFOLD
    + """
  await document.fonts.ready;
  await new Promise(done => setTimeout(done, 500));  // the scripts wait this long
  return [...document.querySelectorAll("main *")]
    .filter(box => box.checkVisibility() && box.tabIndex < 0
      && ["auto", "scroll"].includes(getComputedStyle(box).overflowX)
      && box.scrollWidth > box.clientWidth + 1
      && !box.querySelector("a, button, [tabindex='0']"))
    .map(box => box.outerHTML.slice(0, 120));
}
"""
)
# Formulas that are not drawn, or drawn without the fonts of the book.
NOT_DRAWN = (
    "async () => {"
    + GUESS
    + """
  await document.fonts.ready;
  const fonts = [...document.fonts].filter(font => font.family.startsWith("KaTeX"));
  const loaded = fonts.filter(font => font.status === "loaded").map(font => font.family);
  const drawn = formula => {
    const box = formula.querySelector(".katex-html").getBoundingClientRect();
    return box.width > 2 && box.height > 2 && getComputedStyle(formula).fontFamily
      .startsWith("KaTeX_Main") && loaded.includes("KaTeX_Main");
  };
  return [...document.querySelectorAll("main .math .katex")]
    .filter(formula => formula.checkVisibility() && !drawn(formula))
    .map(formula => formula.textContent);
}
"""
)
