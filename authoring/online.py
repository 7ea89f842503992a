"""Sphinx extension: links to the published course, from ``_config.yml``'s ``publication``.

- The theme's buttons link to the repository, the page's source and a new issue; the class
  edition has no links to sources, because they contain the answers.
- A page with an exercise has buttons that open the exercise online. The theme's own launch
  buttons would open the page's source, and would copy the executed page, with its answers.
- ``{clone}`` shows the commands that clone the repository.
- The site's address becomes the canonical address of every page, and each page gets a picture
  for the places where its link is shown.
- The footer links to the PDF of the latest release.

While the block is empty, none of this appears. The book's address leads to its first page, and
the address that a practical had before it became several labs to the first of them.
"""

from __future__ import annotations

import re
from pathlib import Path

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.errors import ExtensionError
from sphinx.util.docutils import SphinxDirective

from authoring.sphinx_ext import is_class
from project.errors import CourseError
from project.practicals import Course
from project.publication import CONFIG, Publication

ICONS = {
    "Colab": "_static/images/logo_colab.png",
    "Binder": "_static/images/logo_binder.svg",
    "Codespaces": "fab fa-github",
}
PDF = '<p><a href="{}/releases/latest/download/known-unknowns.pdf">The book as a PDF</a></p>'
RELATIVE = re.compile(r'<meta property="og:url"[^>]*>\n')


def publish(app: Sphinx, config) -> None:
    """Read the block, and set the options of Sphinx and of the theme."""
    try:
        app.publication = published = Publication.read(Path(app.srcdir))
    except CourseError as error:
        raise ExtensionError(str(error)) from None
    config.html_theme_options |= {
        "repository_url": published.repository,
        "repository_branch": published.branch,
        "use_issues_button": bool(published.repository),
    }
    sources = bool(published.repository) and not is_class(app)
    for button in ("use_repository_button", "use_edit_page_button"):
        config.html_theme_options[button] = sources
    if published.repository:
        config.html_theme_options["extra_footer"] += PDF.format(published.repository)
    if published.site:
        config.html_baseurl = config.ogp_site_url = f"{published.site}/"
    config.ogp_social_cards = {"enable": bool(published.site)}
    config.redirect_html_template_file = "book/_templates/moved.html"
    config.redirects = {"index": "book/intro.html"} | {
        f"book/{first.chapter.stem}".replace(
            f"{first.part}-", "-", 1
        ): f"{first.chapter.stem}.html"
        for first, *others in (
            one.labs for one in Course.read(Path(app.srcdir)).practicals
        )
        if others
    }


def link_exercise(app: Sphinx, page, template, context, doctree) -> None:
    """Add the buttons that open a page's exercise online."""
    root = Path(app.srcdir)
    labs = {lab.chapter.stem: lab for lab in Course.read(root).labs()}
    lab = labs.get(page.removeprefix("book/"))
    if lab is None or not app.publication.repository:
        return
    path = lab.exercise.relative_to(root).as_posix()
    buttons = [
        {
            "type": "link",
            "text": f"Open in {name}",
            "icon": ICONS[name],
            "url": url,
            "label": f"open-in-{name.lower()}",
        }
        for name, url in app.publication.launchers(path).items()
    ]
    group = {
        "type": "group",
        "tooltip": "Open the exercise online",
        "icon": "fas fa-rocket",
        "label": "launch-buttons",
        "buttons": buttons,
    }
    context["header_buttons"].insert(0, group)


def set_address(app: Sphinx, page, template, context, doctree) -> None:
    """Leave out addresses that need a site; make those of the page for errors absolute."""
    tags = context.get("metatags", "")
    if not app.publication.site:
        context["metatags"] = RELATIVE.sub("", tags)
    elif page == "404":  # shown at any address
        context["metatags"] = f'{tags}<base href="{app.publication.site}/">'


class Clone(SphinxDirective):
    """``{clone}``: the commands that clone the repository."""

    def run(self) -> list[nodes.Node]:
        """Return a block of commands; nothing while no repository is named."""
        self.env.note_dependency(str(Path(self.env.srcdir, CONFIG)))
        text = "\n".join(self.env.app.publication.clone)
        return [nodes.literal_block(text, text, language="sh")] if text else []


def setup(app: Sphinx) -> dict[str, bool]:
    """Register with Sphinx."""
    app.add_directive("clone", Clone)
    # Before the theme's handler, which reads the options at builder-inited.
    app.connect("config-inited", publish)
    # After the theme's handlers (501), which prepare the list of buttons.
    app.connect("html-page-context", link_exercise, priority=502)
    app.connect("html-page-context", set_address, priority=502)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
