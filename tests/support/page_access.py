"""How readers with a keyboard or a screen reader find a page that a browser shows."""

from importlib.resources import files

MAX_STOPS = 120
AXE = """([exclude, rules, around]) => {
  if (around) axe.configure(
    {rules: [{id: "color-contrast", selector: ":not(main, main *)"}]});
  return axe.run({exclude}, {
    resultTypes: ["violations"], ...(rules && {runOnly: rules})});
}"""
OF_COLOURS = ["color-contrast", "link-in-text-block"]  # all that a theme can change
# Formulas are judged by their MathML, which screen readers read, and code as a whole: letters
# of the one and words of the other are most of all elements. The contrast of each is measured
# besides, in both themes. Folds are closed, as readers find them.
SIMPLER = """() => {
  document.querySelectorAll(".katex-html").forEach(formula => formula.remove());
  document.querySelectorAll("pre").forEach(code => code.removeAttribute("style"));
  document.querySelectorAll(".highlight pre").forEach(
    code => code.textContent = code.textContent);
  document.querySelectorAll("details").forEach(fold => fold.open = false);
}"""
# The focused control, and whether it shows that it has the focus: by an outline of its own,
# or, where it is hidden itself, by an outline or a border of its label.
FOCUSED = """
() => {
  const control = document.activeElement;
  if (control === document.body) return null;
  control.isReached = true;
  const style = getComputedStyle(control);
  const outlined = style => style.outlineStyle !== "none" && parseFloat(style.outlineWidth) > 1;
  const label = control.labels?.[0] && getComputedStyle(control.labels[0]);
  const visible = style.opacity !== "0" ? outlined(style)
    : label && (outlined(label) || parseFloat(label.borderTopWidth) > 1);
  return [control.outerHTML.slice(0, 120), visible];
}
"""
# Controls on the page that have not had the focus: of radio buttons that belong together, all,
# unless the tab key has stopped at one. One button serves all folds of code, and the link to the
# page itself leads nowhere.
MISSED = """
() => {
  const shown = [...document.querySelectorAll("a[href], button, input, select, summary")]
    .filter(control => control.checkVisibility({visibilityProperty: true}))
    .filter(control => !control.matches(
      ".cell:not(.tag_task) > .above-input > summary, [aria-current=page]"));
  const group = control => control.type === "radio" ? control.name : control;
  const reached = new Set(shown.filter(control => control.isReached).map(group));
  return shown.filter(control => !control.disabled && !reached.has(group(control)))
    .map(control => control.outerHTML.slice(0, 120));
}
"""
# By the page's clock, timers that were set before, for no longer, have run by then.
LATER = "milliseconds => new Promise(done => setTimeout(done, milliseconds))"
FROM_THE_TOP = "() => { document.activeElement.blur(); scrollTo(0, 0); }"


def controls(page):
    """Press the tab key until the page's end; return each control and whether one sees it there."""
    found = []
    page.evaluate(LATER, 500)  # the theme's scripts wait this long
    while len(found) < 3 * MAX_STOPS:
        page.keyboard.press("Tab")
        if (control := page.evaluate(FOCUSED)) is None:
            break
        found.append(control)
    missed = page.evaluate(MISSED)
    page.evaluate(FROM_THE_TOP)
    return found + [(control, False) for control in missed]


def violations(page, rules=None, without=(), *, contrast_around=False):
    """Return what axe-core finds on a page, at any level; by all its rules if ``None``.

    What the selectors ``without`` find is left out. With ``contrast_around``, contrast is judged
    only around the page's text, of whose letters ``page_facts.COLOURS`` judges each, quicker.
    """
    page.add_script_tag(path=files("axe_playwright_python") / "axe.min.js")
    asked = [list(without), rules, contrast_around]
    return [
        f"{found['id']}: {found['help']} ({len(found['nodes'])}) "
        f"{found['nodes'][0]['html'][:160]}"
        for found in page.evaluate(AXE, asked)["violations"]
    ]
