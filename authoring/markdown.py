"""Translate a chapter's MyST into Markdown that Jupyter renders without extensions.

Directives become headings, quotes and collapsible blocks; roles become text. Unknown
directives and roles raise an error, so that no raw MyST ends up in an exercise.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path

import yaml
from markdown_it import MarkdownIt
from mdit_py_plugins.colon_fence import colon_fence_plugin
from mdit_py_plugins.dollarmath import dollarmath_plugin
from mdit_py_plugins.myst_blocks import myst_block_plugin
from mdit_py_plugins.myst_role import myst_role_plugin
from pybtex.database import BibliographyData, Entry

from course.quiz import QuizQuestion, find_guess
from course.task import UnknownTask, find
from project.errors import CourseError
from project.files import read_text

PARSER = (
    MarkdownIt("commonmark")
    .enable("table")
    .use(dollarmath_plugin, allow_labels=True)
    .use(myst_role_plugin)
    .use(myst_block_plugin)
    .use(colon_fence_plugin)
)
BLANKS = re.compile(r"\s*")
NOTE = re.compile(r"\[\^[^\]\s]+\]")
ELSEWHERE = re.compile(r"\w+://|mailto:")
CODE = re.compile(r"(^```.*?^```|`[^`\n]+`)", re.DOTALL | re.MULTILINE)
OPTION = re.compile(r"^:([a-z_-]+):\s*(.*)$")
BOXES = {
    "admonition": "",
    "attention": "Attention",
    "caution": "Caution",
    "hint": "Hint",
    "important": "Important",
    "note": "Note",
    "seealso": "See also",
    "tip": "Tip",
    "warning": "Warning",
    "margin": "Aside",
    "sidebar": "Aside",
    "prf:algorithm": "Algorithm",
    "prf:definition": "Definition",
    "prf:example": "Example",
    "prf:lemma": "Lemma",
    "prf:proof": "Proof",
    "prf:property": "Property",
    "prf:proposition": "Proposition",
    "prf:remark": "Remark",
    "prf:theorem": "Theorem",
}
DROPPED = (
    "solution",
    "end-guess",
    "index",
    "raw",
    "bibliography",
    "tableofcontents",
    "contents",
)


@dataclass
class Translator:
    """Translates the Markdown cells of one chapter, in order.

    Labelled equations are numbered in order of appearance. Links to pages that are not exercises
    lead to the book's ``site``; while there is none, the first link to a page says that it is one
    of the book's. ``named`` has the pages of which this has been said.
    """

    path: Path
    references: BibliographyData
    macros: dict[str, str | list] = field(default_factory=dict)
    site: str = ""
    equations: dict[str, int] = field(default_factory=dict)
    named: set[str] = field(default_factory=set)

    def number(self, source: str) -> None:
        """Number a cell's labelled equations; call it for all cells before translating any."""
        for token in PARSER.parse(source):
            if token.type == "math_block_label":
                self.equations[token.info] = len(self.equations) + 1
            elif token.type in ("fence", "colon_fence") and token.info.startswith("{"):
                options, body = options_of(token.content)
                if token.info.strip() == "{math}" and "label" in options:
                    self.equations[options["label"]] = len(self.equations) + 1
                elif token.info.strip() != "{math}":
                    self.number(body)

    def translate(self, source: str, line: int = 1) -> str:
        """Translate a cell into Markdown for Jupyter.

        Raises:
            CourseError: a directive or role is unknown.
        """
        lines = source.splitlines()
        pieces: list[tuple[int, int, str]] = []
        inline: dict[tuple[int, int], str] = {}  # cells of a table share their lines
        for token in PARSER.parse(source):
            if token.type in ("fence", "colon_fence") and token.info.startswith("{"):
                pieces.append((*token.map, self._directive(token, line + token.map[0])))
            elif token.type == "math_block_label":
                tag = rf" \tag{{{self.equations[token.info]}}}"
                pieces.append((*token.map, f"$$\n{token.content.strip()}{tag}\n$$"))
            elif token.type in ("myst_target", "myst_line_comment", "myst_block_break"):
                pieces.append((*token.map, ""))
            elif token.type == "inline" and token.map:
                start, end = token.map
                text = inline.get((start, end), "\n".join(lines[start:end]))
                if not any(a <= start < b for a, b, _ in pieces):
                    inline[start, end] = self._inline(token, text, line + start)
        pieces += [(*place, text) for place, text in inline.items()]
        for start, end, text in sorted(pieces, reverse=True):
            lines[start:end] = text.split("\n")
        text = re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).strip()
        parts = CODE.split(text)
        for name, meaning in self.macros.items():
            try:
                parts[::2] = [_expand(part, name, meaning) for part in parts[::2]]
            except ValueError as error:
                raise CourseError(
                    self.path, line, f"{error}.", "Put it between braces."
                ) from None
        return "".join(parts)

    # --- directives -------------------------------------------------------------------

    def _directive(self, token, line: int) -> str:
        name, _, title = token.info.strip().removeprefix("{").partition("}")
        title = self.translate(title.strip(), line)
        options, body = options_of(token.content)
        if name in DROPPED:
            return ""
        if name == "math":
            tag = (
                rf" \tag{{{self.equations[options['label']]}}}"
                if "label" in options
                else ""
            )
            return f"$$\n{body.strip()}{tag}\n$$"
        if name == "task-info":
            return self._task_info(title, options, line)
        if name == "guess":
            return f"**Guess first.** {_asked(self.path, title, line).text}"
        inner = self.translate(body, line + 1)
        if name == "exercise":
            kind = "Question" if "question" in options.get("class", "") else "Task"
            return f"### {kind}: {title}\n\n{inner}"
        if name == "dropdown" or "dropdown" in options.get("class", ""):
            title = title or BOXES.get(name, "")
            return f"<details><summary>{title}</summary>\n\n{inner}\n\n</details>"
        if name in BOXES:
            head = ": ".join(part for part in (BOXES[name], title) if part)
            return "\n".join(
                f"> {text}".rstrip() for text in f"**{head}**\n\n{inner}".split("\n")
            )
        raise self._unknown(f"the directive {{{name}}}", line)

    def _unknown(self, what: str, line: int) -> CourseError:
        problem = f"The exercise generator does not know {what}."
        remedy = (
            "Tag the cell book-only, or teach authoring/markdown.py to translate it."
        )
        return CourseError(self.path, line, problem, remedy)

    def _task_info(self, task_id: str, options: dict[str, str], line: int) -> str:
        task, effort = info(self.path, task_id, options, line)
        return (
            f"*{effort} · `{task.id}`*\n\n"
            f'Stuck? `check.hint("{task.id}")` gives the first of {len(task.hints)} hints.'
        )

    # --- roles and links --------------------------------------------------------------

    def _inline(self, token, text: str, line: int) -> str:
        cursor = 0
        for child in token.children or []:
            if child.type == "myst_role":
                # The parser joins a role's lines and takes its outer backticks.
                name = child.meta["name"]
                words = r"\s+".join(map(re.escape, child.content.split()))
                pattern = rf"\{{{re.escape(name)}\}}`+\s*{words}\s*`+"
                match = re.search(pattern, text[cursor:])
                if match is None:  # in a quotation, whose marks stand between its lines
                    problem = f"The role {{{name}}} is broken over two lines."
                    raise CourseError(self.path, line, problem, "Write it on one.")
                raw = match[0]
                new = self._role(child.meta["name"], child.content, line)
            elif child.type == "link_open" and not ELSEWHERE.match(
                href := str(child.attrs["href"])
            ):
                match = re.search(
                    r"\[([^\[\]]*)\]\(" + re.escape(href) + r"\)", text[cursor:]
                )
                if match is None:
                    problem = f"The link to {href} is in a form that is not translated."
                    remedy = (
                        f"Write it as [text]({href}), without brackets in the text."
                    )
                    raise CourseError(self.path, line, problem, remedy)
                raw, new = match[0], match[1]
                if not new:
                    raise CourseError(
                        self.path,
                        line,
                        f"The link {raw} has no text.",
                        "Give it one: an exercise has no numbering.",
                    )
                page = (self.path.parent / href.partition("#")[0]).with_suffix(".md")
                elsewhere = page.is_file() and not page.name[0].isdigit()
                if elsewhere and self.site:
                    _, hash_, anchor = href.partition("#")
                    new = f"[{new}]({self.site}/book/{page.stem}.html{hash_}{anchor})"
                elif elsewhere and page.name not in self.named:
                    # Not an exercise beside this one: say where to find it.
                    new += f" (in the book, the page `{page.stem}.html`)"
                    self.named.add(page.name)
            elif child.type == "image" and not ELSEWHERE.match(child.attrs["src"]):
                raise self._unknown(f"the image {child.attrs['src']}", line)
            elif child.type == "text" and (note := NOTE.search(child.content)):
                raise self._unknown(f"the footnote {note[0]}", line)
            else:
                continue
            at = text.index(raw, cursor)
            text = text[:at] + new + text[at + len(raw) :]
            # The text of a link may hold roles.
            cursor = at if child.type == "link_open" else at + len(new)
        return text

    def _role(self, name: str, content: str, line: int) -> str:
        if name in ("cite:p", "cite"):
            return (
                "("
                + "; ".join(
                    self._cited(key.strip(), line, ", ") for key in content.split(",")
                )
                + ")"
            )
        if name == "cite:t":
            return "; ".join(
                self._cited(key.strip(), line, " ") for key in content.split(",")
            )
        if name == "eq":
            if content not in self.equations:
                raise CourseError(
                    self.path,
                    line,
                    f"No equation is labelled {content}.",
                    "Correct the label.",
                )
            return f"({self.equations[content]})"
        if name == "math":
            return f"${content.strip()}$"
        if name in ("ref", "prf:ref", "numref") and (
            "%s" in content or not content.endswith(">")
        ):
            raise CourseError(
                self.path,
                line,
                f"{{{name}}}`{content}` has no text of its own.",
                f"Write {{{name}}}`text <{content}>`: an exercise has no numbering.",
            )
        if name in ("ref", "prf:ref", "numref", "term", "doc", "abbr"):
            return re.sub(r"\s*<[^>]*>$", "", content)
        if name == "index":
            return ""
        raise self._unknown(f"the role {{{name}}}", line)

    def _cited(self, key: str, line: int, between: str) -> str:
        if key not in self.references.entries:
            raise CourseError(
                self.path,
                line,
                f"{key} is not in references.bib.",
                "Add it, or correct the key.",
            )
        entry = self.references.entries[key]
        year = entry.fields.get("year", "n.d.")
        text = (
            f"{_authors(entry)}{between}{year}"
            if between == ", "
            else f"{_authors(entry)} ({year})"
        )
        doi = entry.fields.get("doi")
        url = f"https://doi.org/{doi}" if doi else entry.fields.get("url")
        return f"[{text}]({url})" if url else text


def _asked(path: Path, guess_id: str, line: int) -> QuizQuestion:
    """Return the question of a ``guess`` directive.

    Raises:
        CourseError: there is no such guess.
    """
    try:
        return find_guess(guess_id)
    except UnknownTask as error:
        raise CourseError(path, line, str(error), "Correct the id.") from None


def info(path: Path, task_id: str, options: dict[str, str], line: int):
    """Read a ``task-info`` directive: the task, and its points, minutes and level in words.

    Raises:
        CourseError: there is no such task, or an option is missing or wrong.
    """
    try:
        task = find(task_id)
    except KeyError as error:
        raise CourseError(path, line, str(error), "Correct the id.") from None
    if not options.get("minutes", "").isdigit():
        raise CourseError(
            path,
            line,
            f"{task_id} does not say how long it takes.",
            "Add `:minutes: 5`.",
        )
    if options.get("level") not in ("core", "further"):
        raise CourseError(
            path,
            line,
            f"{task_id} has no level.",
            "Add `:level: core` or `:level: further`.",
        )
    points = "1 point" if task.points == 1 else f"{task.points} points"
    return (
        task,
        f"{points} · about {int(options['minutes'])} minutes · {options['level']}",
    )


def _authors(entry: Entry) -> str:
    names = [
        " ".join(person.prelast_names + person.last_names)
        for person in entry.persons.get("author", [])
    ]
    names = [name.replace("{", "").replace("}", "") for name in names]
    if not names:
        return entry.fields.get("title", "Anonymous")
    if len(names) > 2:
        return f"{names[0]} et al."
    return " and ".join(names)


def _expand(text: str, name: str, meaning: str | list) -> str:
    """Expand a TeX macro; ``meaning`` is its text, or its text and number of arguments.

    Raises:
        ValueError: an argument is not between braces.
    """
    body, count = (meaning, 0) if isinstance(meaning, str) else (meaning[0], meaning[1])
    pattern = re.compile(r"\\" + name + r"(?![A-Za-z])")
    while match := pattern.search(text):
        end, written = match.end(), body
        for index in range(1, count + 1):
            start = end = BLANKS.match(text, end).end()
            depth = 0
            while depth or end == start:
                depth += {"{": 1, "}": -1}.get(text[end : end + 1], 0)
                end += 1
                if (not depth and end == start + 1) or end > len(text):
                    raise ValueError(f"An argument of \\{name} is not between braces")
            written = written.replace(f"#{index}", text[start + 1 : end - 1])
        text = text[: match.start()] + written + text[end:]
    return text


def macros(root: Path) -> dict[str, str | list]:
    """Read the book's TeX macros, which MathJax in Jupyter does not have.

    Raises:
        CourseError: a macro stands for itself.
    """
    path = root / "_config.yml"
    found = yaml.safe_load(read_text(path))["sphinx"]["config"]["math_macros"]
    for name, meaning in found.items():
        body = meaning if isinstance(meaning, str) else meaning[0]
        if re.search(rf"\\{name}(?![A-Za-z])", body):
            problem = rf"The macro \{name} stands for itself."
            raise CourseError(path, None, problem, "Write what it means.")
    return found


def options_of(content: str) -> tuple[dict[str, str], str]:
    """Split the content of a directive into its options and its body."""
    lines, options = content.split("\n"), {}
    while lines and (match := OPTION.match(lines[0])):
        options[match[1]] = match[2].strip()
        lines.pop(0)
    return options, "\n".join(lines)
