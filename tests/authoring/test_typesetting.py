"""Formulas are typeset by the build; one that KaTeX does not understand is a warning."""

import re
import subprocess
import sys

import pytest
import yaml
from bs4 import BeautifulSoup
from conftest import ROOT
from sphinx.errors import ExtensionError
from sphinxcontrib.katex import katex_version

from authoring.mathematics import Typesetter, katex_macros, node_command

VENDORED = ROOT / "book" / "_static" / "vendor" / "katex"
CONF = """\
extensions = ["authoring.mathematics"]
html_math_renderer = "katex"
html_theme = "basic"
math_macros = {macros!r}
"""
# Every process that is started adds a letter to a file.
COUNTING = """
import subprocess

class Counted(subprocess.Popen):
    def __init__(self, *args, **options):
        with open({!r}, "a") as file:
            file.write("x")
        super().__init__(*args, **options)

subprocess.Popen = Counted
"""
SETTINGS = yaml.safe_load((ROOT / "_config.yml").read_text("utf-8"))["sphinx"]["config"]


def build(folder, text, more=""):
    """Build one page with the book's macros; return the process and the page."""
    conf = CONF.format(macros=SETTINGS["math_macros"])
    (folder / "conf.py").write_text(f"{conf}\n{more}")
    (folder / "index.rst").write_text(f"Formulas\n========\n\n{text}\n", "utf-8")
    command = [sys.executable, "-m", "sphinx", "-W", "--keep-going", "-q"]
    done = subprocess.run(
        [*command, folder, folder / "html"], cwd=ROOT, capture_output=True, text=True
    )
    page = (folder / "html" / "index.html").read_text("utf-8")
    return done, BeautifulSoup(page, "html.parser")


def test_a_page_holds_formulas_to_look_at_and_to_listen_to(tmp_path):
    macros = r":math:`\E \N \KL{q}{p} \softplus \sign \x`"
    numbered = ".. math:: a < b\n   :label: eq-one\n\nSee :eq:`eq-one`."
    done, page = build(tmp_path, f"{macros}\n\n{numbered}")
    assert done.returncode == 0, done.stderr
    inline, display = page.select(".math")
    assert inline.name == "span"
    assert display["id"] == "equation-eq-one"
    assert display.select_one(".eqno").get_text().startswith("(1)")
    assert page.select_one("p a[href='#equation-eq-one']").get_text() == "(1)"
    for formula in (inline, display):
        assert formula.select_one("math").get_text()
        assert formula.select_one(".katex-html")["aria-hidden"] == "true"
        assert "\\" not in formula.get_text()  # no source of the formula either
    assert inline.select_one("mi[mathvariant=double-struck]").get_text() == "E"
    assert page.select("link[href*='vendor/katex/katex.min.css']")


def test_a_page_without_formulas_loads_nothing_for_them(tmp_path):
    done, page = build(tmp_path, "No formula.")
    assert done.returncode == 0, done.stderr
    assert not page.select("[href*=katex], script[src*=katex], script[src*=mathjax]")


def test_a_wrong_formula_is_a_warning_with_its_line(tmp_path):
    wrong = [r"\nosuchmacro{x}", r"\frac{1}{2", "x_1_2", "x € y", r"a <b> &amp; \wrong"]
    text = "\n\n".join(["A :math:`y`.", *(f"Then :math:`{tex}`." for tex in wrong)])
    done, page = build(tmp_path, text)
    assert done.returncode == 1
    warnings = re.findall(r"index\.rst:(\d+): WARNING: (.*)", done.stderr)
    assert [line for line, _ in warnings] == ["6", "8", "10", "12", "14"]
    for tex, formula, (_, warning) in zip(
        wrong, page.select(".math")[1:], warnings, strict=True
    ):
        assert repr(tex) in warning
        assert formula.get_text() == tex


def test_all_formulas_are_typeset_by_one_process(tmp_path):
    """Starting Node takes longer than typesetting a page."""
    counted = tmp_path / "started"
    text = "\n\n".join(f":math:`x_{{{n}}}`" for n in range(50))
    done, page = build(tmp_path, text, COUNTING.format(str(counted)))
    assert done.returncode == 0, done.stderr
    assert len(page.select(".math .katex")) == 50
    assert counted.read_text() == "x"


def test_node_ends_with_the_build_and_its_death_is_reported():
    typesetter = Typesetter({})
    assert "katex-html" in typesetter.typeset(r"\frac12 ∑", display=True)
    process = typesetter.process
    typesetter.close()
    assert process.returncode == 0
    typesetter.typeset("x", display=False)
    typesetter.process.kill()
    typesetter.process.wait()
    with pytest.raises(ExtensionError, match="Node ended with status -9"):
        typesetter.typeset("x", display=False)
    typesetter.close()


def test_macros_are_those_of_the_exercises():
    macros = {"x": r"{\mathbf{x}}", "KL": ["{#1 #2}", 2]}
    assert katex_macros(macros) == {r"\x": r"{\mathbf{x}}", r"\KL": "{#1 #2}"}


def test_node_is_the_one_that_pip_installed():
    assert node_command().startswith(sys.prefix)


def test_style_sheet_and_fonts_are_those_of_the_katex_that_typesets():
    style = (VENDORED / "katex.min.css").read_text("utf-8")
    assert f'content:"{katex_version}"' in style
    fonts = set(re.findall(r"fonts/([\w-]+\.woff2)", style))
    assert len(fonts) > 10
    assert fonts == {path.name for path in VENDORED.glob("fonts/*")}
