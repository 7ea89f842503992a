"""Sphinx extension: number figures, equations and exercises by lab.

The first exercise of practical 1 is Exercise 1.1; if it has several labs, they begin with
Exercise 1a.1, Exercise 1b.1, and so on. A toctree can only number its pages from one, without
gaps. Other pages have no number, and their figures none either: "Figure 2" among figures such as
"Figure 2a.3" would seem to be one of practical 2. Their equations are numbered on each page from 1.
"""

from __future__ import annotations

from pathlib import Path

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx_external_toc.collectors import (
    TocTreeCollectorWithStyles,
    disable_builtin_toctree_collector,
)

from project.practicals import Course


class ByPractical(TocTreeCollectorWithStyles):
    """Sphinx's collector of tables of contents, with the numbers of the labs."""

    def assign_section_numbers(self, env: BuildEnvironment) -> list[str]:
        """Number the labs' pages; return the pages to write again."""
        rewritten = super().assign_section_numbers(env)
        for lab in Course.read(Path(env.srcdir)).labs():
            page = lab.chapter.relative_to(lab.root).with_suffix("").as_posix()
            if page not in env.tocs:
                continue
            number = (lab.label,)
            first, *rest = env.tocs[page].findall(nodes.reference)
            first["secnumber"] = number
            env.titles[page]["secnumber"] = number
            env.toc_secnumbers[page] = {"": number} | {
                section["anchorname"]: None for section in rest
            }
        return rewritten

    def assign_figure_numbers(self, env: BuildEnvironment) -> list[str]:
        """Number the figures of the labs' pages; return the pages to write again."""
        before = env.toc_fignumbers
        numbered = super().assign_figure_numbers(env)
        for page, numbers in env.toc_fignumbers.items():
            if "secnumber" not in env.titles[page]:
                numbers.pop("figure", None)
                for named in numbers.values():
                    named.update(
                        (name, (number,)) for number, name in enumerate(named, start=1)
                    )
        return [
            page
            for page in numbered
            if before.get(page) != env.toc_fignumbers.get(page)
        ]


def setup(app: Sphinx) -> dict[str, bool]:
    """Register with Sphinx, in place of the collector of sphinx-external-toc."""
    disable_builtin_toctree_collector(app)
    app.add_env_collector(ByPractical)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
