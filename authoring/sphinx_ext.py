"""The book's Sphinx extension: sources shown in place of imports, and details of each task.

- A cell tagged ``task`` shows the reference solution, collapsed; one tagged ``given`` shows
  its source, expanded. Chapters themselves contain no solution code.
- ``{task-info}`` shows points, minutes and level of a task. Its hints are collapsed, together
  with the solution where there is one.
- The *class edition*, for readers who have not answered yet, shows the stub in place of a
  solution, no model answers, and no notebooks to download; the environment variable
  ``EDITION=class`` selects it.
- The label of a fold says what it shows: a figure by its number, an output, or code alone.
- A page is removed from the cache of executed chapters when a file changes that its cells
  import or read. MyST-NB compares only the cells, so it would keep outdated outputs.
"""

from __future__ import annotations

import gc
import json
import os
from contextlib import suppress
from pathlib import Path

from docutils import nodes
from docutils.parsers.rst import directives
from jupyter_cache import get_cache
from myst_nb.sphinx_ import HideCodeCellNode
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.errors import ExtensionError
from sphinx.util.docutils import SphinxDirective

from authoring.chapter import is_long, names_imported, needs, notebook_of
from authoring.markdown import info
from authoring.typography import with_code
from course.task import task_id
from project.closure import closure, digest_of
from project.errors import CourseError
from project.files import write_whole
from project.practicals import lab_of
from project.source import Definition

EDITIONS = ("public", "class")
CACHE = "_build/.jupyter_cache"
# The extensions that write the text of a page.
OWN = (
    __name__,
    "authoring.accessibility",
    "authoring.guesses",
    "authoring.mathematics",
    "authoring.misconceptions",
    "authoring.numbering",
    "authoring.pictures",
    "authoring.strip_unused_assets",
    "authoring.typography",
)
BACKEND = "authoring.backend"  # draws the figures in the kernels


def is_class(app: Sphinx) -> bool:
    """Is this the edition without solutions and model answers?"""
    return app.config.edition == "class"


class NoAnswer(SphinxDirective):
    """Replacement for ``{solution}`` in the class edition; it produces no output."""

    required_arguments = 1
    final_argument_whitespace = True
    option_spec = {"label": directives.unchanged, "class": directives.unchanged}
    has_content = True

    def run(self) -> list[nodes.Node]:
        """Return no nodes."""
        return []


def name_only(role, raw, text, line, inliner, options=None, content=()):
    """Show a file's name in place of ``{download}``: students get notebooks in a bundle."""
    return [nodes.literal(raw, text.partition(" <")[0])], []


def choose_edition(app: Sphinx, config) -> None:
    """In the class edition, drop answers and the chapters' sources, which contain them."""
    if config.edition not in EDITIONS:
        raise ExtensionError(
            f"There is no edition {config.edition!r}: EDITION is {' or '.join(EDITIONS)}."
        )
    if is_class(app):
        app.add_directive("solution", NoAnswer, override=True)
        # A later lab's notebook gives answers of an earlier one.
        app.add_role("download", name_only, override=True)
        config.html_copy_source = False


def show_sources(app: Sphinx, doctree: nodes.document) -> None:
    """Put the sources of ``task`` and ``given`` cells in place of their imports."""
    page = Path(app.env.doc2path(app.env.docname))
    cells = [
        c
        for c in doctree.findall(nodes.container)
        if c.get("nb_element") == "cell_code"
    ]
    wanted = [c for c in cells if {"tag_task", "tag_given"} & set(c["classes"])]
    if not wanted:
        return
    try:
        lab = lab_of(page)
        module = lab.solutions()
        for cell in wanted:
            for block in cell.findall(nodes.literal_block):
                names = names_imported(block.astext(), f"solutions.{lab.stem}")
                task = "tag_task" in cell["classes"]
                shown = [module.definitions[name] for name in names]
                hidden = is_class(app) and any(one.has_solution for one in shown)
                if hidden and not task:  # an earlier lab asks for them
                    continue
                write = Definition.stub if hidden else Definition.shown
                source = "\n\n\n".join(map(write, shown))
                block.rawsource = source
                block[:] = [nodes.Text(source)]
            if task and not is_class(app):
                hide_code(cell, "Show a solution", "Hide the solution")
                fold_with_hints(doctree, cell, task_id(lab.stem, names[0]))
            elif not task and is_long(cell.astext()):
                # One name in place of "…" takes no more room.
                first = names if len(names) <= 4 else [*names[:3], "…"]
                label = f"the given code: {', '.join(first)}"
                hide_code(cell, f"Show {label}", f"Hide {label}")
    except CourseError as error:
        raise ExtensionError(str(error)) from None
    except KeyError as error:
        raise ExtensionError(
            f"{page}: {module.path} does not define {error}."
        ) from None


def hide_code(cell: nodes.container, show: str, hide: str) -> None:
    """Fold the code of a cell, under these two labels."""
    cell["hide_mode"], cell["prompt_show"], cell["prompt_hide"] = "input", show, hide


def fold_with_hints(doctree: nodes.document, cell: nodes.container, task: str) -> None:
    """Move a task's hints to its solution, folded together: one tab stop for each task."""
    for hints in doctree.findall(Details):
        if hints.get("task") == task:
            hints.parent.remove(hints)
            hints[0] = Summary("", nodes.Text("Hints and a solution"))
            cell.parent.replace(cell, hints)
            hints += cell
            return


def fold_figures(app: Sphinx, doctree: nodes.document) -> None:
    """Fold the code of every figure: readers look first, and a cell that teaches draws none."""
    for figure in doctree.findall(nodes.figure):
        cell = figure.parent
        while cell and cell.get("nb_element") != "cell_code":
            cell = cell.parent
        if cell and not cell.get("hide_mode"):
            hide_code(cell, "Show the code", "Hide the code")


def label_folds(app: Sphinx, doctree: nodes.document, page: str) -> None:
    """Say in a label what it folds: the code of which figure or of an output, or an output."""
    numbers = app.env.toc_fignumbers.get(page, {}).get("figure", {})
    for folded in doctree.findall(HideCodeCellNode):
        if "above-input" not in folded["classes"]:  # it folds the output
            folded["prompt_show"] = "Show the output"
            folded["prompt_hide"] = "Hide the output"
            continue
        figures = [
            id_ for one in folded.parent.findall(nodes.figure) for id_ in one["ids"]
        ]
        drawn = [numbers[id_] for id_ in figures if id_ in numbers]
        shows = any(
            one.get("nb_element") == "cell_code_output"
            for one in folded.parent.findall(nodes.container)
        )
        of = " of this figure" if figures else " of this output" if shows else ""
        if drawn:
            of = " of Figure " + ".".join(map(str, drawn[0]))
        for prompt in ("prompt_show", "prompt_hide"):
            folded[prompt] = f"{folded[prompt]}{of}"


class TaskInfo(SphinxDirective):
    """``{task-info} <task id>`` with ``:minutes:`` and ``:level:``."""

    required_arguments = 1
    option_spec = {"minutes": directives.unchanged, "level": directives.unchanged}

    def run(self) -> list[nodes.Node]:
        """Return one line about the task, and its hints: a fold with a fold for each."""
        try:
            task, effort = info(
                Path(self.get_source_info()[0]),
                self.arguments[0],
                self.options,
                self.get_source_info()[1],
            )
        except CourseError as error:
            raise self.error(str(error)) from None
        line = nodes.paragraph(classes=["task-info"])
        line += nodes.Text(effort)
        line += nodes.inline("", " · ", classes=["before-id"])
        line += nodes.literal(text=task.id)
        hints = [
            fold(f"Hint {number}", nodes.paragraph("", "", *with_code(text)))
            for number, text in enumerate(task.hints, start=1)
        ]
        if not hints:
            return [line]
        return [line, fold("Hints", *hints, task=task.id)]


def fold_answers(app: Sphinx, doctree: nodes.document, page: str) -> None:
    """Fold solutions and answers as code is folded."""
    for answer in list(doctree.findall(nodes.Admonition)):
        if "dropdown" in answer["classes"]:
            title, *content = answer.children
            details = Details(
                classes=["admonition", "hide", "answer"], ids=answer["ids"]
            )
            summary = Summary()
            # sphinx-exercise copies the exercise's title before quotes become curly.
            text = title.astext().replace("'", "’")
            summary += nodes.paragraph("", text, classes=["admonition-title"])
            details += [summary, *content]
            answer.parent.replace(answer, details)


def fold(title: str, *content: nodes.Node, **attributes: str) -> nodes.Element:
    """Make collapsed content with a title that expands it."""
    details = Details(classes=["hint"], **attributes)
    details += Summary("", nodes.Text(title))
    details += content
    return details


class Details(nodes.General, nodes.Element):
    """HTML's ``details``."""


class Summary(nodes.General, nodes.TextElement):
    """HTML's ``summary``."""


def _tag(name: str):
    def visit(self, node: nodes.Element) -> None:
        self.body.append(self.starttag(node, name, ""))

    def depart(self, node: nodes.Element) -> None:
        self.body.append(f"</{name}>\n")

    return visit, depart


def share_cache(app: Sphinx, config) -> None:
    """Use one output cache for both editions, as they run the same cells, and one backend."""
    os.environ["MPLBACKEND"] = f"module://{BACKEND}"
    config.nb_execution_cache_path = str(Path(app.srcdir) / CACHE)


def forget_stale_outputs(
    app: Sphinx, env: BuildEnvironment, added, changed, removed
) -> list[str]:
    """Drop cached outputs whose sources have changed; return the pages to read again.

    MyST-NB compares a page's cells only, not the files that they import and read.
    """
    root = Path(app.srcdir)
    try:
        pages = {page: Path(env.doc2path(page)) for page in env.found_docs}
        backend = closure(root, "", root / "_config.yml", BACKEND)
        made_by = {
            page: digest_of(root, backend | needs(root, path))
            for page, path in pages.items()
        }
    except CourseError as error:
        raise ExtensionError(str(error)) from None
    cache = get_cache(root / CACHE)
    notes = root / CACHE / "made_by.json"
    try:
        before = json.loads(notes.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        before = {}
    stale = [pages[page] for page in pages if before.get(page) != made_by[page]]
    outdated = {
        record.pk for record in cache.list_cache_records() if Path(record.uri) in stale
    }
    # The cache finds a notebook by its cells: by those of a page that was renamed, too.
    for path in stale:
        with suppress(KeyError):
            outdated.add(cache.match_cache_notebook(notebook_of(path)).pk)
    for pk in outdated:
        cache.remove_cache(pk)
    write_whole(notes, json.dumps(made_by, indent=1))
    # Each edition has its own environment, which records the sources its pages were read with.
    extension = digest_of(root, closure(root, "", root / "_config.yml", *OWN))
    read = getattr(env, "made_by", {})
    env.made_by = {page: f"{made} {extension}" for page, made in made_by.items()}
    return [page for page in made_by if read.get(page) != env.made_by[page]]


def notice_static_files(app: Sphinx, env, added, changed, removed) -> list[str]:
    """Return one page to read again if a static file is newer than its copy.

    If no page is outdated, Sphinx copies no static files.
    """
    copies = Path(app.outdir) / "_static"
    for folder in app.config.html_static_path:
        source = Path(app.srcdir) / folder
        for path in source.rglob("*"):
            copy = copies / path.relative_to(source)
            if path.is_file() and not (
                copy.exists() and copy.stat().st_mtime >= path.stat().st_mtime
            ):
                return [app.config.root_doc]
    return []


def setup(app: Sphinx) -> dict[str, bool]:
    """Register with Sphinx."""
    # The millions of objects of a build live until its end: look for others rarely.
    gc.set_threshold(100_000, 50, 100)
    edition = os.environ.get("EDITION", EDITIONS[0])
    app.add_config_value("edition", edition, "env", [str])
    app.add_directive("task-info", TaskInfo)
    app.add_node(Details, html=_tag("details"))
    app.add_node(Summary, html=_tag("summary"))
    app.connect("config-inited", choose_edition)
    app.connect("config-inited", share_cache)
    app.connect("env-get-outdated", forget_stale_outputs)
    app.connect("env-get-outdated", notice_static_files)
    app.connect("doctree-read", show_sources)
    app.connect("doctree-read", fold_figures)
    app.connect("doctree-resolved", label_folds)
    app.connect(
        "doctree-resolved", fold_answers, priority=900
    )  # when titles are complete
    return {"parallel_read_safe": True, "parallel_write_safe": True}
