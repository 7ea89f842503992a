"""Everything that can be unusual about a submission, each with a code and a sentence.

A flag never changes a grade. Those in ``LOOK`` rarely result from honest work with a notebook,
or report a choice that a person may make differently: somebody should look at the submission.
Those in ``PRIVATE`` concern other students and are not shown to this one.
"""

from __future__ import annotations

from grading.record import Flag

FLAGS = {
    # The file.
    "too-large": "The file exceeds the size limit; it was not graded.",
    "unreadable": "The file or folder cannot be read.",
    "link": "A link was not followed: submit the file itself.",
    "unsafe-name": "The name points outside its folder; nothing was written there.",
    "nested-zip": "A zip inside a zip is not opened.",
    "encrypted": "The file in the zip is protected by a password.",
    "too-costly": "The file could not be read within the limits of time and memory; it was not "
    "graded.",
    "too-many-files": "There are more files than the limit allows; the rest were ignored.",
    "too-deep": "A folder is nested more deeply than the limit allows; its contents were "
    "ignored.",
    "empty-folder": "The folder is empty: there is no notebook in it.",
    "other-suffix": "The file's name does not end with .ipynb; it was read anyway.",
    "same-name": "Files under several names, or in several folders, were attributed to one "
    "student.",
    "alike-name": "Another student's name is nearly the same; they were treated as two students.",
    "no-notebook": "The submission contains no notebook.",
    "not-chosen": "The notebook belongs to a lab that was not graded this time.",
    "late": "The notebook was submitted late.",
    "resubmitted": "The lab was submitted more than once: the last notebook with answers counts.",
    "best-of-several": "The lab was submitted more than once: each task counts if it is right in "
    "any of the notebooks.",
    "unknown-practical": "It is not clear which practical the notebook belongs to.",
    # The notebook.
    "old-format": "The notebook's format differs from the release's; it was read anyway.",
    "no-ids": "The cells have no ids; they were matched by their metadata or their text.",
    "other-lab": "The notebook also holds tasks of another lab of the practical; they were not "
    "graded.",
    "found-by-text": "Cells of the release have lost their ids and metadata; they were matched "
    "by their text.",
    "other-kernel": "The notebook names another kernel; it was graded with Python.",
    "bad-characters": "The text contains invalid characters; they were replaced.",
    "malformed-cell": "A cell is malformed; it was ignored.",
    "too-many-cells": "There are more cells than the limit allows; further ones of the "
    "student's own were ignored.",
    # The cells of the release.
    "missing-answer": "The answer's cell is missing.",
    "empty-answer": "The answer's cell is empty.",
    "missing-written": "The cell for the answer in words is missing.",
    "duplicated": "Several cells contain the answer; they were joined in order.",
    "recovered": "The answer was found by its name.",
    "recovered-words": "The answer in words was found in a cell next to its own.",
    "redefined": "The answer is defined again in a later cell; the last definition counts.",
    "renamed": "The cell has a different id; it was found by its metadata.",
    "retagged": "The cell's metadata was changed.",
    "reordered": "The cells are not in the order of the release; they were graded in the "
    "release's order.",
    "wrong-type": "The cell was changed from code to text or from text to code; it was treated "
    "as its original type.",
    "too-long": "The cell exceeds the length limit.",
    "check-edited": "The check was edited; the release's version counts.",
    "check-extended": "Code was added to a check's cell; it was run as a cell of the student's "
    "own.",
    "check-deleted": "The check was deleted; the release's version counts.",
    "given-edited": "Given code was edited; the release's version counts.",
    "given-extended": "Code was added to a cell of given code; it was run as a cell of the "
    "student's own.",
    "given-deleted": "Given code was deleted; the release's version counts.",
    "added-raised": "A cell of the student's own raised an exception, which was ignored.",
    "added-stopped": "A cell of the student's own had to be stopped; only its definitions were "
    "used.",
    "forged-values": "A cell displayed values in the way that a probe does; they do not count.",
    "acting-code": "The answer is right only with code in the student's own cells that does more "
    "than define names.",
    "stood-in": "The answer is right only with the reference solution of another task, which the "
    "reference solution of this one does not use.",
    "interpreter": "A cell uses names that reach into Python's internals.",
    "patched-module": "A cell sets an attribute of something that it imported.",
    "long-literal": "A cell contains long literals, or decodes one: code may be hidden in it.",
    "like-checks": "A cell contains at least half of an oracle of the checks.",
    "similar": "The notebook has passages in common with that of another student.",
    "much-code": "There is too much code to search; from this cell on, read it yourself.",
    "nbval-tag": "A cell has a tag that tells nbval to skip it or to ignore its failure; the "
    "tag was removed.",
    "nbval-comment": "A comment tells nbval to skip a cell or to ignore its failure; it has no "
    "effect.",
}

LOOK = frozenset(
    {
        "unsafe-name",
        "link",
        "nested-zip",
        "check-edited",
        "forged-values",
        "acting-code",
        "stood-in",
        "interpreter",
        "patched-module",
        "long-literal",
        "like-checks",
        "similar",
        "much-code",
        "nbval-tag",
        "other-lab",
        "too-many-cells",
        "too-costly",
        "too-many-files",
        "same-name",
        "alike-name",
        "resubmitted",
        "best-of-several",
        "late",
        "malformed-cell",
        "too-deep",
    }
)
PRIVATE = frozenset({"alike-name", "same-name", "similar"})


def flag(code: str, where: str = "", *, detail: str = "") -> Flag:
    """The flag with this code, with its sentence and, in brackets, a detail.

    Raises:
        KeyError: there is no such code.
    """
    message = FLAGS[code]
    return Flag(code, where, f"{message[:-1]} ({detail})." if detail else message)
