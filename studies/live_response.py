"""Print how long each figure with controls takes to answer, on a slow processor.

    make live

opens the pages of ``_build/html`` in Chromium, whose processor it makes four times as slow,
opens every guess and moves every control to five positions, five times. It prints for each figure
the time from the event to the end of the layout: the median of the five, of the slowest move. A
reader calls up to 100 ms instant (Nielsen, 1993). It needs Chromium and a machine that does
nothing else.
"""

from __future__ import annotations

import sys

from rich.console import Console
from rich.table import Table

from studies.chromium import launched
from studies.pdf import BUILT

SLOWER, LONGEST = 4, 100  # times; milliseconds
MOVES = """
() => {
for (const guess of document.querySelectorAll("fieldset.guess")) guess.querySelector("input").click();
return [...document.querySelectorAll(".live")].map(figure => {
  figure.dispatchEvent(new Event("focusin")); // draws it
  const times = {};
  const time = (move, act) => {
    const start = performance.now();
    act();
    figure.getBoundingClientRect();
    (times[move] ??= []).push(performance.now() - start);
  };
  for (let again = 0; again < 5; again++) {
    for (const slider of figure.querySelectorAll("input[type=range]"))
      for (let share = 0; share <= 4; share++)
        time(slider.name + share, () => {
          slider.value = Math.round(share * slider.max / 4);
          slider.dispatchEvent(new Event("input", {bubbles: true}));
        });
    for (const button of figure.querySelectorAll("button, input[type=radio]"))
      time(button.name + button.value, () => button.click());
  }
  return [figure.id, Math.max(...Object.values(times).map(own => own.sort((a, b) => a - b)[2]))];
});
}
"""


def main() -> int:
    """Print the table; return 1 if a figure takes longer than ``LONGEST``."""
    table = Table("page", "figure", "slowest move, ms")
    slow = False
    with launched() as browser:
        for path in sorted((BUILT / "book").glob("*.html")):
            if 'class="live"' not in path.read_text("utf-8"):
                continue
            page = browser.new_page(viewport={"width": 390, "height": 844})
            page.goto(path.as_uri())
            session = page.context.new_cdp_session(page)
            session.send("Emulation.setCPUThrottlingRate", {"rate": SLOWER})
            for figure, longest in page.evaluate(MOVES):
                table.add_row(path.stem, figure, f"{longest:.0f}")
                slow |= longest > LONGEST
            page.close()
    Console().print(table)
    return int(slow)


if __name__ == "__main__":
    sys.exit(main())
