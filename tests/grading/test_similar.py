"""Similar submissions: copies are found however they are disguised, independent work is not."""

import ast
import dataclasses

import pytest
from assembled import each_practical
from classroom import IMAGE, SCRIPT
from labs import COURSE
from pages import assert_harmless, assert_readable, text_of
from planted_sources import sources
from student_notebook import ANSWER, FIRST, ONE, cell, code, exercise, read

from grading.record import Code, Result
from grading.reports import similar as module
from grading.reports.feedback import feedback_page
from grading.reports.roster import Roster
from grading.reports.similar import FEW, flagged, groups, similar, write_similar
from grading.submissions.tokens import flat
from grading.submissions.winnowing import NOISE, WINDOW, fingerprints
from grading.worker import KEPT, code_of

STEM = "which_method"
LAB = COURSE.labs(STEM)[0]
TEXTS = {task: text for (task, _), text in sources(STEM).items()}


def notebook(student, *cells, lab=LAB):
    kept = tuple(Code(f"{lab.stem}/{n}", text) for n, text in enumerate(cells))
    return Result(student, lab.stem, "a.ipynb", "0" * 64, part=lab.part, code=kept)


def pairs(*results, lab=LAB):
    return similar(Roster(results), [lab])


class Renamed(ast.NodeTransformer):
    """Rename all names that are not imported, and drop docstrings."""

    def visit_Name(self, node):
        return ast.Name(f"my_{node.id}", node.ctx)

    def visit_arg(self, node):
        return ast.arg(f"my_{node.arg}")

    def visit_FunctionDef(self, node):
        self.generic_visit(node)
        node.name, node.returns = f"my_{node.name}", None
        node.body.insert(0, ast.Expr(ast.Constant("My own words.")))
        return node


def disguised(source):
    """Rename everything, and turn the order of the functions round."""
    tree = ast.parse(source)
    tree.body.reverse()
    return ast.unparse(ast.fix_missing_locations(Renamed().visit(tree)))


@each_practical
def test_right_answers_are_not_similar(stem, monkeypatch):
    """Each answer is one notebook; then the n-th answers to all tasks are one.

    A wrong answer is often a right one with one change, so two wrong ones are not compared.
    """
    monkeypatch.setattr(module, "FEW", 10_000)  # nothing is left out as common
    lab, right = COURSE.labs(stem)[0], sources(stem)
    alone = [notebook(f"{key}", text, lab=lab) for key, text in right.items()]
    wrong = {
        f"wrong {key}": text for key, text in sources(stem, "wrong_answers").items()
    }
    alone += [notebook(key, text, lab=lab) for key, text in wrong.items()]
    assert len(alone) > 9
    found = pairs(*alone, lab=lab)
    assert [
        (pair.one.student, pair.two.student)
        for pair in found
        if not {pair.one.student, pair.two.student} <= wrong.keys()
    ] == []
    labels: dict[str, list[str]] = {}
    for (task, _), text in right.items():
        labels.setdefault(task, []).append(text)
    whole = [
        notebook(
            f"s{n}",
            *[texts[n] for texts in labels.values() if n < len(texts)],
            lab=lab,
        )
        for n in range(max(map(len, labels.values())))
    ]
    assert pairs(*whole, lab=lab) == []


def test_a_disguised_copy_is_found():
    """Renamed, in another order, and with answers of its own beside it."""
    cells = list(TEXTS.values())
    copy = notebook("bob", *map(disguised, cells[5:0:-1]))
    (pair,) = pairs(notebook("ada", *cells[1:]), copy, notebook("cy", cells[0]))
    assert (pair.one.student, pair.two.student) == ("ada", "bob")
    assert pair.share > 0.9
    for one, two in pair.passages:
        assert any(hit for _, hit in one.lines)
        text = "\n".join(line for line, _ in two.lines)
        assert text == disguised("\n".join(line for line, _ in one.lines))


def test_own_notebooks_the_release_and_the_reference_do_not_count():
    cells = list(TEXTS.values())
    other = dataclasses.replace(notebook("ada", *cells), notebook="b.ipynb")
    assert pairs(notebook("ada", *cells), other) == []
    solutions = [one.shown() for one in LAB.solutions().definitions.values()]
    given = [c.source for c in LAB.released().cells if c.cell_type == "code"]
    both = [*solutions, *given]
    assert pairs(notebook("ada", *both), notebook("bob", *map(disguised, both))) == []
    assert pairs(notebook("ada", "def f(:"), notebook("bob", "def f(:")) == []
    assert pairs(notebook("ada"), notebook("bob")) == []


def test_a_copy_in_a_notebook_that_does_not_count_is_found():
    cells = list(TEXTS.values())
    chosen = notebook("ada", *cells[4:8])
    other = dataclasses.replace(notebook("ada", *cells[:4]), notebook="b.ipynb")
    other = dataclasses.replace(other, spare=True)
    own, bob = notebook("cy", *cells[8:]), notebook("bob", *cells[:4])
    found = pairs(chosen, other, own, bob)
    assert [(one.one.student, one.two.student) for one in found] == [("ada", "bob")]
    flags = [bool(one.flags) for one in flagged([chosen, other, own, bob], found)]
    assert flags == [False, True, False, True]
    # Several notebooks of one student do not make a passage common.
    few = [notebook(f"s{n}", *cells) for n in range(FEW)]
    again = [dataclasses.replace(one, notebook="b.ipynb") for one in few]
    assert len(pairs(*few, *again)) == 4 * FEW * (FEW - 1) / 2


def test_passages_that_many_have_do_not_count():
    cells = list(TEXTS.values())
    few = [notebook(f"s{n}", *cells) for n in range(FEW)]
    assert len(pairs(*few)) == FEW * (FEW - 1) / 2
    assert pairs(*few, notebook("one more", *cells)) == []


def test_winnowing_finds_every_long_run_and_no_short_one():
    """Theorem of the paper: NOISE + WINDOW - 1 tokens are enough, fewer than NOISE are not."""
    names = "abcdefghijklmnopqrstuvwxyz"
    run = "\n".join(f"x.{name}" for name in names)
    tokens = flat(ast.parse(run), {})
    each = len(tokens) // len(names)  # tokens of a line
    enough, few = -(-(NOISE + WINDOW) // each) + 1, (NOISE - 2) // each
    for count, found in ((enough, True), (few, False)):
        one = "\n".join([run, "y", *run.splitlines()[:count], "z"])
        two = "\n".join(["f(1)", "g(2)", *run.splitlines()[:count], "h(3)"])
        assert bool(fingerprints(one, {}).keys() & fingerprints(two, {})) is found


def test_not_every_cell_is_compared_with_every_other(monkeypatch):
    """Two long notebooks would hold up the report."""
    cells, calls, both = list(TEXTS.values()), [], module._both
    monkeypatch.setattr(module, "_both", lambda *args: calls.append(1) or both(*args))
    (pair,) = pairs(notebook("ada", *cells), notebook("bob", *cells))
    assert 1 < len(pair.passages) == len(calls) <= len(cells)


def test_a_grade_keeps_what_the_student_wrote():
    notebook = exercise()
    cell(notebook, ONE)["source"] = ANSWER
    notebook["cells"].append(code("helper = 1"))
    found = {one.where: one.text for one in code_of(read(notebook))}
    assert found.pop(FIRST) == ANSWER  # and no stub
    assert list(found.values()) == ["helper = 1"]
    notebook["cells"].append(code("x = 1\n" * (KEPT // 7)))
    notebook["cells"].append(code("y = 1\n" * (KEPT // 7)))
    assert sum(len(one.text) for one in code_of(read(notebook))) <= KEPT


def test_flags_and_page(tmp_path):
    cells = list(TEXTS.values())
    results = [notebook(name, *cells) for name in ("ada", "bob")]
    found = pairs(*results)
    ada, bob = flagged(results, found)
    assert [flag.code for flag in ada.flags] == ["similar"]
    assert "bob: 100% of the smaller one" in ada.flags[0].message
    assert "ada" not in text_of(
        feedback_page(bob)
    )  # others are no business of a student
    text = text_of(write_similar(found, tmp_path).read_text("utf-8"))
    assert "1 pair of notebooks has much code in common" in text
    text = text_of(write_similar([], tmp_path).read_text("utf-8"))
    assert "No two notebooks have much code in common" in text


def lines(name):
    return "\n".join(f"x.{name}{n}({n}, y.{name}) + {n}" for n in range(12))


def test_groups_have_all_members_side_by_side(tmp_path, monkeypatch):
    """ada and bob share one part, bob and cy another; di and eve are apart from them."""
    a, b, c, d = map(lines, "pqrs")
    results = [
        notebook(name, *cells)
        for name, cells in {
            "ada": (a, "own = 1"),
            "bob": (b, a),
            "cy": (b, "own = 2"),
            "di": (c, d),
            "eve": (c, "own = 3"),
        }.items()
    ]
    found = pairs(*results)
    assert len(found) == 3
    one, two = sorted(groups(found), key=lambda group: group.students)
    assert one.students == ("ada", "bob", "cy")
    assert two.students == ("di", "eve")
    names = [[(student, cell.where) for student, cell in row] for row in one.rows]
    assert sorted(names) == [
        [("ada", f"{STEM}/0"), ("bob", f"{STEM}/1")],
        [("bob", f"{STEM}/0"), ("cy", f"{STEM}/0")],
    ]
    text = text_of(write_similar(found, tmp_path).read_text("utf-8"))
    assert "3 pairs of notebooks have much code in common, in 2 groups" in text
    assert "ada , bob and cy" in text
    three = pairs(*[notebook(name, a, b) for name in ("ada", "bob", "cy")])
    (group,) = groups(three)
    assert [len(row) for row in group.rows] == [3, 3]  # not one pair after another
    assert group.rest == 0
    monkeypatch.setattr(module, "SHOWN", 1)
    (group,) = groups(three)
    assert (len(group.students), [len(row) for row in group.rows]) == (3, [2, 2])
    assert group.rest == 2


def test_a_line_is_marked_if_any_other_member_has_it():
    first, second = map(lines, "pq")
    results = [notebook("ada", f"{first}\n{second}"), notebook("bob", first)]
    (group,) = groups(pairs(*results, notebook("cy", second)))
    (row,) = group.rows
    assert [student for student, _ in row] == ["ada", "bob", "cy"]
    hits = [hit for _, hit in row[0][1].lines]
    assert sum(hits[:12]) > 6
    assert sum(hits[12:]) > 6


@pytest.mark.browser
def test_page_is_harmless_and_readable(browser, tmp_path):
    cells = [f"{text}\n# {SCRIPT}{IMAGE}" + "x" * 500 for text in TEXTS.values()]
    results = [notebook(f"{name}{SCRIPT}", *cells) for name in ("ada", "bob", "cy")]
    path = write_similar(pairs(*results), tmp_path, titles={f"{STEM}/0": IMAGE})
    assert_harmless(browser, path, links=("#", "data:,", "report.html"))
    assert_readable(browser, path)
