"""Facts about a page, as JavaScript that a browser evaluates there."""

from book_pages import UNFOLD

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
  const grounds = element => element
    ? [...grounds(element.parentElement), getComputedStyle(element).backgroundColor]
    : ["white"];
  const known = new Map();  // the contrast of each colour on each ground
  const contrast = element => {
    const under = grounds(element).filter(colour => colour !== "rgba(0, 0, 0, 0)");
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
