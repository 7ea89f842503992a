"""Right answers get their points, wherever in the notebook they were written."""

import copy

import pytest
from cell_edits import IDS, NAMES, TASKS, answer, read, right, solved
from student_notebook import cell, code, exercise, index, problems

from grading.flags import LOOK

ONE, TWO, THREE, FOUR, FIVE = IDS
STUBS = {each["id"]: each["source"] for each in exercise()["cells"]}


def write(notebook, id_, source):
    cell(notebook, id_)["source"] = source


def stub(notebook, id_):
    cell(notebook, id_)["source"] = STUBS[id_]


def below(notebook, id_, *sources):
    at = index(notebook, id_) + 1
    notebook["cells"][at:at] = [code(source) for source in sources]


def delete(notebook, *ids):
    notebook["cells"] = [c for c in notebook["cells"] if c.get("id") not in ids]


def check(name):
    return f'check("bayes-by-backprop/{name.replace("_", "-")}", {name})'


def renamed(name, other):
    return answer(name).replace(f"def {name}(", f"def {other}(")


EDITS = {}


def edit(*flags):
    def keep(function):
        EDITS[function.__name__] = function, set(flags)
        return function

    return keep


@edit("recovered")
def stub_left_and_answer_below(notebook):
    stub(notebook, THREE)
    below(notebook, THREE, answer("log_prior"))


@edit("recovered")
def stub_left_and_answer_below_the_check(notebook):
    stub(notebook, THREE)
    below(notebook, f"{THREE}--check", answer("log_prior"))


@edit("recovered")
def stub_left_and_answer_above(notebook):
    stub(notebook, THREE)
    below(notebook, f"{TWO}--check", answer("log_prior"))


@edit("recovered")
def stub_left_and_answer_at_the_end(notebook):
    stub(notebook, THREE)
    notebook["cells"].append(code(answer("log_prior")))


@edit("recovered")
def stub_left_and_answer_with_a_copy_of_the_check(notebook):
    stub(notebook, THREE)
    again = copy.deepcopy(cell(notebook, f"{THREE}--check")) | {"id": "pasted"}
    below(notebook, f"{THREE}--check", answer("log_prior"))
    notebook["cells"].insert(index(notebook, f"{THREE}--check") + 2, again)


@edit("recovered")
def stub_left_and_answer_with_the_check_typed_beneath(notebook):
    stub(notebook, THREE)
    source = f"{answer('log_prior')}\n\n{check('log_prior')}"
    below(notebook, f"{THREE}--check", source)


@edit("recovered")
def stub_left_with_a_note_in_it(notebook):
    lines = "".join(STUBS[THREE])
    write(notebook, THREE, f"# My answer stands below.\n{lines}")
    below(notebook, f"{THREE}--check", answer("log_prior"))


@edit()
def answer_above_the_stub_in_its_cell(notebook):
    stub_text = "".join(STUBS[THREE])
    write(notebook, THREE, f"{answer('log_prior')}\n\n{stub_text}")


@edit("recovered")
def answer_at_the_end_with_a_helper_in_a_cell_before_it(notebook):
    stub(notebook, THREE)
    notebook["cells"] += [
        code(
            "SCALE = 1.0\n\ndef centred(scale):\n    return Normal(0.0, SCALE * scale)"
        ),
        code("def log_prior(w, prior_std):\n    return centred(prior_std).log_prob(w)"),
    ]


@edit("recovered")
def answer_at_the_end_with_a_table_that_is_filled_beside_it(notebook):
    stub(notebook, THREE)
    source = "from torch.distributions import Normal as N\nmade = {}\nmade['n'] = N\n"
    source += "made.update(m=1.0)\n"
    source += "def log_prior(w, prior_std):\n"
    source += "    return made['n'](0.0, made['m'] * prior_std).log_prob(w)\n"
    notebook["cells"].append(code(source + "print(log_prior(torch.ones(2), 1.0))"))


@edit("recovered")
def answer_in_the_checks_cell_before_the_call(notebook):
    stub(notebook, THREE)
    source = f"{answer('log_prior')}\n\n{check('log_prior')}"
    write(notebook, f"{THREE}--check", source)


@edit("recovered")
def answer_in_the_checks_cell_after_the_call(notebook):
    delete(notebook, THREE)
    source = f"{check('log_prior')}\n\n{answer('log_prior')}"
    write(notebook, f"{THREE}--check", source)


@edit("recovered", "check-deleted")
def answer_in_the_place_of_the_check(notebook):
    stub(notebook, THREE)
    write(notebook, f"{THREE}--check", answer("log_prior"))


@edit("recovered", "check-extended")
def answer_and_helper_in_the_checks_cell(notebook):
    stub(notebook, THREE)
    source = "def centred(scale):\n    return Normal(0.0, scale)\n"
    source += (
        "def log_prior(w, prior_std):\n    return centred(prior_std).log_prob(w)\n"
    )
    write(notebook, f"{THREE}--check", source + check("log_prior"))


@edit()
def check_typed_beneath_the_answer(notebook):
    source = f"{answer('log_prior')}\n{check('log_prior')}  # is it right?\n"
    write(notebook, THREE, source + 'check.hint("bayes-by-backprop/log-prior")')


@edit("recovered")
def two_answers_in_one_cell_and_an_empty_one(notebook):
    write(notebook, ONE, f"{answer('reparametrise')}\n\n{answer('log_prior')}")
    write(notebook, THREE, "")


@edit("recovered")
def two_answers_in_one_cell_and_none(notebook):
    write(notebook, ONE, f"{answer('log_prior')}\n\n{answer('reparametrise')}")
    delete(notebook, THREE)


@edit("recovered")
def two_answers_in_one_cell_and_a_stub(notebook):
    helper = "def unit():\n    return 1.0\n"
    second = answer("log_prior").replace("prior_std)", "unit() * prior_std)")
    write(notebook, ONE, f"{helper}{answer('reparametrise')}\n\n{second}")
    stub(notebook, THREE)


@edit("recovered", "missing-answer")
def all_answers_in_one_cell_at_the_end(notebook):
    delete(notebook, *IDS)
    notebook["cells"].append(code("\n\n".join(map(answer, NAMES))))
    delete(notebook, "bayes-by-backprop--predictive-moments")


@edit("recovered")
def answers_that_changed_places(notebook):
    write(notebook, ONE, answer("log_prior"))
    write(notebook, THREE, answer("reparametrise"))


@edit("recovered")
def a_function_in_a_later_tasks_cell_its_own_deleted(notebook):
    delete(notebook, TWO)
    write(notebook, FOUR, f"{answer('log_posterior')}\n\n{answer('log_likelihood')}")


@edit("recovered")
def answer_merged_into_the_imports(notebook):
    delete(notebook, THREE)
    given = cell(notebook, "given--imports")
    given["source"] = "".join(given["source"]) + "\n\n" + answer("log_prior")


@edit("recovered")
def answer_merged_into_a_cell_that_draws(notebook):
    stub(notebook, THREE)
    drawing = cell(notebook, "c008")
    drawing["source"] = "".join(drawing["source"]) + "\n\n" + answer("log_prior")


@edit()
def alias_of_a_function_above(notebook):
    write(notebook, THREE, "log_prior = my_log_prior")
    below(notebook, f"{TWO}--check", renamed("log_prior", "my_log_prior"))


@edit()
def alias_of_a_function_at_the_end(notebook):
    write(notebook, THREE, "log_prior = my_log_prior")
    notebook["cells"].append(code(renamed("log_prior", "my_log_prior")))


@edit("recovered")
def alias_and_function_below(notebook):
    stub(notebook, THREE)
    source = renamed("log_prior", "my_log_prior")
    below(notebook, f"{THREE}--check", source, "log_prior = my_log_prior")


@edit("recovered", "check-edited")
def a_check_of_a_function_with_another_name(notebook):
    stub(notebook, THREE)
    below(notebook, THREE, renamed("log_prior", "mine"))
    write(
        notebook, f"{THREE}--check", check("log_prior").replace(", log_prior", ", mine")
    )


@edit("recovered")
def a_lambda(notebook):
    stub(notebook, THREE)
    source = "log_prior = lambda w, prior_std: Normal(0.0, prior_std).log_prob(w)"
    below(notebook, f"{THREE}--check", source)


@edit("recovered")
def a_partial(notebook):
    stub(notebook, THREE)
    source = "from functools import partial\n"
    source += (
        "def at(mean, w, prior_std):\n    return Normal(mean, prior_std).log_prob(w)\n"
    )
    below(notebook, f"{THREE}--check", source + "log_prior = partial(at, 0.0)")


@edit("recovered")
def a_class_with_another_name(notebook):
    stub(notebook, THREE)
    source = "class Prior:\n    def __call__(self, w, prior_std):\n"
    source += "        return Normal(0.0, prior_std).log_prob(w)\n"
    below(notebook, f"{THREE}--check", source, "log_prior = Prior()")


@edit("redefined")
def mended_in_a_later_cell(notebook):
    write(
        notebook, THREE, answer("log_prior").replace("0.0, prior_std", "1.0, prior_std")
    )
    below(notebook, f"{THREE}--check", answer("log_prior"), check("log_prior"))


@edit("recovered")
def tried_and_mended_in_cells_below_the_stub(notebook):
    stub(notebook, THREE)
    tried = answer("log_prior").replace("0.0, prior_std", "1.0, prior_std")
    below(notebook, THREE, tried, "print(1)", answer("log_prior"))


@edit()
def a_variable_with_the_name_of_an_answer(notebook):
    below(notebook, f"{FIVE}--check", "log_prior = log_prior(torch.ones(3), 1.0)")


@edit()
def another_function_with_the_name_of_an_answer(notebook):
    below(notebook, f"{FIVE}--check", "def log_prior(x):\n    return x")


@edit("recovered")
def an_attempt_that_does_not_compile_and_the_answer_below(notebook):
    write(notebook, THREE, "def log_prior(w, prior_std:\n    return")
    below(notebook, f"{THREE}--check", answer("log_prior"))


@edit("duplicated")
def a_pasted_stub_below_the_answer(notebook):
    again = copy.deepcopy(cell(notebook, THREE)) | {"id": "x", "source": STUBS[THREE]}
    notebook["cells"].insert(index(notebook, f"{THREE}--check"), again)


@edit()
def a_pasted_stub_with_a_note_below_the_answer(notebook):
    below(notebook, THREE, "# as it was\n" + "".join(STUBS[THREE]))


@edit()
def a_helper_at_the_end(notebook):
    source = "def log_prior(w, prior_std):\n    return centred(prior_std).log_prob(w)"
    write(notebook, THREE, source)
    source = "def centred(scale):\n    return Normal(0.0, scale)"
    notebook["cells"].append(code(source))


@edit("recovered")
def statements_on_one_line_and_magics(notebook):
    stub(notebook, THREE)
    source = f"%matplotlib inline\nSCALE = 1.0; {check('log_prior')}\n!ls\n"
    source += "# with the scale\ndef log_prior(w, prior_std):\n"
    source += "    return Normal(0.0, SCALE * prior_std).log_prob(w)\n"
    below(notebook, f"{THREE}--check", source)


@pytest.mark.parametrize("name", EDITS)
def test_a_right_answer_gets_its_points(name):
    edit, flags = EDITS[name]
    notebook = solved()
    edit(notebook)
    answers = read(notebook)
    assert right(answers) == {*TASKS}
    assert problems(answers) == flags
    assert not flags & LOOK - {"check-edited"}
    assert not any("check(" in own.source for own in answers.added)


def test_an_answer_keeps_its_comments_and_decorators():
    notebook = solved()
    stub(notebook, THREE)
    source = "# The prior is centred.\n@staticmethod\ndef log_prior(w, prior_std):\n    # here\n"
    source += "    return 1\n"
    below(notebook, f"{THREE}--check", f"x = 1\n\n{source}\ny = 2\n# end")
    answers = read(notebook)
    assert answers.tasks[TASKS[2]].source == source.rstrip("\n")
    assert [own.source for own in answers.added] == ["x = 1\n\ny = 2\n# end"]


def test_training_code_beside_an_answer_is_not_the_answers():
    notebook = solved()
    training = "".join(cell(notebook, "c008")["source"])
    write(notebook, THREE, f"{training}\n\n{answer('log_prior')}")
    answers = read(notebook)
    assert right(answers) == {*TASKS}
    assert "plots." not in answers.tasks[TASKS[2]].source
    assert problems(answers) == set()


def test_a_changed_copy_of_a_cell_keeps_what_the_original_defines():
    original = "".join(cell(solved(), "c008")["source"])
    notebook = solved()
    below(notebook, "c008", original.replace("\n", "\nmine = 3\n", 1))
    answers = read(notebook)
    assert original in answers.around["c008"]
    assert "mine = 3" in answers.around["c008"]
    assert not read(solved()).around


def test_a_helper_that_went_with_an_answer_stays_for_other_cells():
    notebook = solved()
    stub(notebook, THREE)
    helper = "def scaled(x):\n    return 1.0 * x"
    mine = answer("log_prior").replace("return ", "return scaled(1.0) * ", 1)
    other = "def wrapped(x):\n    return scaled(x)"
    notebook["cells"] += [code(f"{helper}\n\n\n{mine}"), code(other)]
    answers = read(notebook)
    assert answers.tasks[TASKS[2]].source.startswith(helper)
    assert [added.source for added in answers.added] == [helper, other]
