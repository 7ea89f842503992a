"""What tests do to figures with controls in the page, as JavaScript."""

# Put every control at a stop, and return the values of the controls and the figure's numbers.
PUT = """
([id, positions]) => {
  const figure = document.getElementById(id);
  const stops = JSON.parse(figure.querySelector("script").textContent).controls;
  return positions.map(at => {
    const state = {};
    const changed = [];
    for (const slider of figure.querySelectorAll("input[type=range]")) {
      if (Number(slider.value) !== at[slider.name]) {
        slider.value = at[slider.name];
        slider.dispatchEvent(new Event("input", {bubbles: true}));
      }
      state[slider.name] = stops[slider.name][slider.value];
      changed.push(slider.getAttribute("aria-valuetext") === slider.nextElementSibling.value);
    }
    for (const radio of figure.querySelectorAll("input[type=radio]")) {
      if (Number(radio.value) !== at[radio.dataset.name]) continue;
      radio.checked = true;
      radio.dispatchEvent(new Event("input", {bubbles: true}));
      state[radio.dataset.name] = Number(radio.value);
    }
    return {state, said: changed.every(Boolean), numbers: figure.numbers};
  });
}
"""
CONTROLS = """
id => {
  const figure = document.getElementById(id), counts = {};
  for (const slider of figure.querySelectorAll("input[type=range]"))
    counts[slider.name] = [Number(slider.max) + 1, Number(slider.value)];
  for (const radio of figure.querySelectorAll("input[type=radio]")) {
    const [n = 0, start = 0] = counts[radio.dataset.name] ?? [];
    counts[radio.dataset.name] = [n + 1, radio.checked ? Number(radio.value) : start];
  }
  return counts;
}
"""
DRAW = """
() => document.querySelectorAll(".live").forEach(live => live.dispatchEvent(new Event("focusin")))
"""
DRAWN = "[...document.querySelectorAll('.live')].filter(live => live.numbers).map(live => live.id)"
PRESS = "([id, name]) => document.querySelector(`#${id} button[name=${name}]`).click()"
