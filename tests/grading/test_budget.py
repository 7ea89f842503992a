"""The budget for reading one student's files: costly or broken files affect no one else."""

import os
import time
import zipfile

import pytest
from submission_files import BACKPROP, DEEP, codes, notebook, tree, zipped

from grading import bounded
from grading.bounded import TooCostly
from grading.submissions import files, reading
from grading.submissions.intake import take_in
from project.errors import CourseError

COSTLY = b'{"costly": 1}'


def costly(data, name, known):
    """Replace ``lab_of``: loop for 30 s on some files, and fail on others."""
    began = time.process_time()
    while data == COSTLY and time.process_time() - began < 30:
        pass
    if data.startswith(b"raise "):
        raise {
            "MemoryError": MemoryError,
            "RecursionError": RecursionError,
            "OSError": OSError,
            "KeyError": KeyError,
            "Unpicklable": Unpicklable,
            "UnicodeError": UnicodeError,
        }[data.decode().split()[1]]("on this file")
    if data == b"die":
        os.abort()
    return DEEP if data.startswith(b"{") or "deep" in name else "", ""


class Unpicklable(Exception):
    def __init__(self, one, two=None):
        super().__init__()

    def __reduce__(self):
        raise TypeError("cannot be pickled")


@pytest.fixture
def calls(monkeypatch):
    """The calls that readers make in processes of their own."""
    made, real = [], reading.bounded

    def counting(*arguments, **options):
        made.append(arguments)
        return real(*arguments, **options)

    monkeypatch.setattr(reading, "bounded", counting)
    return made


@pytest.fixture
def quick(monkeypatch):
    """Budgets of one or two seconds, and ``costly`` as the reader of files."""
    monkeypatch.setattr(reading, "SECONDS", 1.0)
    monkeypatch.setattr(reading, "SECONDS_EACH", 2.0)
    monkeypatch.setattr(reading, "lab_of", costly)
    monkeypatch.setitem(bounded.bounded.__kwdefaults__, "seconds", 1.0)


def test_thousands_of_costly_notebooks_use_up_their_own_students_seconds(
    tmp_path, quick, calls
):
    given = {f"ann/{n:04}-deep-ensembles.ipynb": COSTLY for n in range(1_000)}
    given |= {f"bo {n}/x.ipynb": notebook(note=n) for n in range(100)}
    intake = take_in(zipped(tmp_path / "class.zip", given))
    # One for each of 18 batches, a few of ann's, and one for each notebook in a batch with hers.
    assert len(calls) < 100
    ann, *others = intake.submissions
    assert "too-costly" in codes(ann)
    assert "could not be read within the limits" in ann.problem
    assert [codes(one) for one in others] == [[]] * 100


def test_choosing_among_costly_notebooks_has_the_same_budget(tmp_path, calls):
    budget = reading.ReadingBudget(seconds=1.0)
    for _ in range(100):
        with pytest.raises(TooCostly):
            budget.call(costly, COSTLY, "x.ipynb", [])
    assert len(calls) < 5
    assert budget.seconds <= 0
    assert reading.written(b"{}", tmp_path, budget) == -1


@pytest.mark.parametrize(
    ("data", "code", "said"),
    [
        (b"die", "too-costly", "could not be read within the limits"),
        (b"raise MemoryError", "too-costly", "could not be read within the limits"),
        (b"raise RecursionError", "too-costly", "could not be read within the limits"),
        (b"raise OSError", "unreadable", "OSError"),
        (b"raise UnicodeError", "unreadable", "UnicodeError"),
        (b"raise KeyError", "unreadable", "KeyError"),
        (b"raise Unpicklable", "unreadable", ""),
    ],
)
def test_whatever_reading_a_file_raises_costs_that_file(
    data, code, said, tmp_path, quick
):
    given = {"ann/deep-ensembles.ipynb": data, "bo/x.ipynb": notebook()}
    given |= {"ann/deep-ensembles-2.ipynb": data, "ann/backprop.txt": data}
    given |= {"cy/y.ipynb": data, "cy/z.ipynb": notebook(BACKPROP)}
    ann, bo, *cy = take_in(tree(tmp_path / "class", given)).submissions
    assert code in codes(ann)
    assert said in ann.problem
    assert not bo.problem
    assert sorted(one.problem == "" for one in cy) == [False, True]


def test_whatever_a_call_raises_does_not_end_the_class(tmp_path, monkeypatch):
    call = reading.bounded

    def failing(function, *arguments, **options):
        if "a fault" in repr(arguments):
            raise OSError("no worker could be started")
        return call(function, *arguments, **options)

    monkeypatch.setattr(reading, "bounded", failing)
    given = {"ann/x.ipynb": b"a fault", "bo/x.ipynb": notebook()}
    ann, bo = take_in(tree(tmp_path, given)).submissions
    assert ann.problem == "The file or folder cannot be read (OSError)."
    assert not bo.problem


def test_a_fault_while_a_file_is_opened_costs_that_file(tmp_path, monkeypatch):
    read = files.read_bytes

    def failing(path, member, limit):
        if path.parent.name == "ann":
            raise KeyError("odd")
        return read(path, member, limit)

    monkeypatch.setattr(reading, "read_bytes", failing)
    given = {"ann/x.ipynb": notebook(), "bo/x.ipynb": notebook()}
    ann, bo = take_in(tree(tmp_path, given)).submissions
    assert ann.problem == "The file or folder cannot be read (KeyError)."
    assert not bo.problem


def test_the_list_of_a_zip_is_read_once_for_all_students(tmp_path, monkeypatch):
    path = zipped(
        tmp_path / "class.zip",
        {f"{n}/{k}.ipynb": notebook(note=k) for n in range(20) for k in range(3)},
    )
    opened = []
    real = zipfile.ZipFile.__init__

    def counting(self, *arguments, **options):
        opened.append(arguments)
        real(self, *arguments, **options)

    monkeypatch.setattr(zipfile.ZipFile, "__init__", counting)
    for one in take_in(path).submissions:
        assert one.read()
    assert len(opened) == 1
    # The list of the old zip is not used for one that replaces it.
    found = take_in(path).submissions
    zipped(path, {"other.ipynb": notebook(note="new " * 50)})
    with pytest.raises(Exception, match=r"changed|cannot be read"):
        found[-1].read()


def test_a_zip_with_too_many_members_is_refused_before_its_list_fills_memory(
    tmp_path, monkeypatch
):
    path = zipped(tmp_path / "class.zip", {f"ann/{n}": b"" for n in range(60_000)})
    monkeypatch.setattr(files, "MAX_MEMBERS", 30_000)
    message = "more than 30,000 files: 60,000 in 'ann'. Unpack it and give the folder."
    with pytest.raises(CourseError, match=message):
        take_in(path)
    bounded.close()  # a worker that has read much has memory to spare
    monkeypatch.setitem(bounded.bounded.__kwdefaults__, "memory", 10 * 1024**2)
    with pytest.raises(CourseError, match="list of files is too long"):
        take_in(path)
