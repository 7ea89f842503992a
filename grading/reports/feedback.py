"""The students' feedback: one page for each notebook, in a folder for each student.

A page says for each task whether it is right and, if not, what is wrong, in the words of the
verdict. It contains no input and no expected value of the run, no solution, and nothing that
Python printed. Its examples are inputs of the notebook's own check, which students can see.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping
from itertools import accumulate
from pathlib import Path, PurePosixPath

from authoring.questions import Question
from grading.execution.examples import Example
from grading.flags import PRIVATE
from grading.record import Result
from grading.reports.pages import GENERATOR, render
from grading.reports.returned import moodle_zip, pages_csv, returned_in
from grading.reports.roster import Roster, score_of, unanswered
from project.files import discard, write_whole
from project.practicals import title_of

# Characters of a name, which leaves room for a hash and a suffix on any file system.
LONGEST = 80
SAFE = re.compile(r"[A-Za-z0-9][A-Za-z0-9._ -]*")
HASHED = re.compile(r"-[0-9a-f]{16}$")
# Windows treats these as devices, whatever their suffix and case; the last is a table that
# stands beside the students' folders.
RESERVED = re.compile(
    r"(con|prn|aux|nul|com[0-9]|lpt[0-9])(\..*)?|pages\.csv", re.IGNORECASE | re.DOTALL
)
REASON = 600  # characters of a reason; the grader's are far shorter

Comments = Mapping[tuple[str, str, str], str]
"""What a marker wrote, by student, practical and question."""


def slug(text: str, *, changed: bool = False) -> str:
    """A name that is safe in every file system.

    A name of plain letters, digits, spaces, dots, underscores and hyphens is unchanged. Any
    other is rewritten and gets a hash of the original, 16 digits; so does one that seems to
    have a hash already, so that nobody can choose a name that collides with another.

    Args:
        text: any text at all.
        changed: rewrite it even if it is safe.
    """
    safe = (
        SAFE.fullmatch(text)
        and len(text) <= LONGEST
        and not text.endswith((".", " "))
        and not RESERVED.fullmatch(text)
        and not HASHED.search(text)
    )
    if safe and not changed:
        return text
    letters = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode()
    words = re.sub(r"[^a-z0-9]+", "-", letters.lower()).strip("-")[:40].strip("-")
    return f"{words or 'x'}-{_hash(text)}"


def page_paths(results: Iterable[Result]) -> dict[tuple[str, ...], PurePosixPath]:
    """The path of each result's page below ``feedback``, by ``result.key``.

    No two students share a folder, even on disks that ignore case; two notebooks share a page
    only if a student submitted the same content under the same name.
    """
    results = list(results)
    students = _names({result.student for result in results})
    paths = {}
    for student, folder in students.items():
        own = [result for result in results if result.student == student]
        files = _names({_stem(result.notebook) for result in own})
        contents: dict[str, set[str]] = {}
        for result in own:
            contents.setdefault(_stem(result.notebook), set()).add(result.digest)
        for result in own:
            stem = _stem(result.notebook)
            name = files[stem]
            if len(contents[stem]) > 1:
                name = slug(f"{stem}\0{result.digest}", changed=True)
            paths[result.key] = PurePosixPath(folder, f"{name}.html")
    return paths


def feedback_page(
    result: Result,
    *,
    titles: Mapping[str, str] | None = None,
    comments: Comments | None = None,
    examples: Mapping[str, Example] | None = None,
    asked: Mapping[str, Question] | None = None,
    prompts: Mapping[str, str] | None = None,
    answers: bool = False,
    instead: str = "",
) -> str:
    """Render the page for one notebook.

    Args:
        result: its grade.
        instead: another notebook of the student, if that one counts for the lab.
        examples: public examples and hints, by task.
        asked: the questions, by id.
        prompts: the prompts of the tasks in Markdown, by id; see ``questions.prompts``.
        answers: show the model answers.
        titles: the titles of tasks and questions, by id; see ``marking.titles``.
        comments: a person's comments on the answers; see ``marking.read_comments``.
    """
    counts = Counter(verdict.status for verdict in result.verdicts)
    return render(
        "feedback.html.j2",
        result=result,
        flags=[flag for flag in result.flags if flag.code not in PRIVATE],
        practical=title_of(result.practical, result.part),
        titles=titles or {},
        comments=comments or {},
        examples=examples or {},
        asked=asked or {},
        prompts=prompts or {},
        answers=answers,
        instead=instead,
        totals=list(accumulate(verdict.earned for verdict in result.verdicts)),
        worth=list(accumulate(verdict.points for verdict in result.verdicts)),
        counts=counts,
        score=score_of(result),
        reason=_reason,
        unanswered=unanswered,
    )


def write_feedback(
    results: Iterable[Result],
    out: Path,
    *,
    titles: Mapping[str, str] | None = None,
    comments: Comments | None = None,
    examples: Mapping[str, Example] | None = None,
    asked: Mapping[str, Question] | None = None,
    prompts: Mapping[str, str] | None = None,
    answers: bool = False,
) -> list[Path]:
    """Write ``feedback/<student>/<notebook>.html`` for each result; return these paths.

    The other arguments are those of ``feedback_page``. ``feedback/pages.csv`` lists the pages.
    If there are participants' numbers of a platform, a zip file for Moodle contains them all.
    Generated pages that belong to no result any more are removed, and so is an old zip file:
    the path of a page may change as the class grows, and nobody should send the old one.
    """
    results = list(results)
    folder, roster = out / "feedback", Roster(results)
    paths, written, pages = page_paths(results), [], []
    for result in results:
        path = folder / paths[result.key]
        counting = [
            one.notebook
            for one in roster.labs(result.student, result.practical)
            if one.part == result.part and not roster.counts(result)
        ]
        page = feedback_page(
            result,
            instead="".join(counting),
            titles=titles,
            comments=comments,
            examples=examples,
            asked=asked,
            prompts=prompts,
            answers=answers,
        )
        write_whole(path, page)
        written.append(path)
        pages.append((result, paths[result.key], page))
    for path in set(folder.glob("*/*.html")) - set(written):
        if GENERATOR in path.read_text(encoding="utf-8", errors="replace")[:1000]:
            discard(path)
    table, archive = returned_in(out)
    write_whole(table, pages_csv(pages))
    if (zipped := moodle_zip(pages)) is None:
        discard(archive)
    else:
        write_whole(archive, zipped)
    return written


def _names(texts: set[str]) -> dict[str, str]:
    """A name for each text, all different even if case is ignored."""
    names = {text: slug(text) for text in texts}
    count = Counter(name.casefold() for name in names.values())
    return {
        text: slug(text, changed=True) if count[name.casefold()] > 1 else name
        for text, name in names.items()
    }


def _stem(notebook: str) -> str:
    return notebook.removesuffix(".ipynb")


def _hash(text: str) -> str:
    data = text.encode("utf-8", "surrogatepass")
    return hashlib.sha256(data).hexdigest()[:16]


def _reason(text: str) -> str:
    """A reason of limited length, without a traceback in case it contains one."""
    text = text.partition("Traceback (most recent call last)")[0].strip()
    return text if len(text) <= REASON else f"{text[:REASON].rstrip()} …"
