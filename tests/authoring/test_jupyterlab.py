"""A student's work on an exercise in JupyterLab or Notebook, from the first check to the last."""

import ast
import json
import os
import re
import shutil
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import nbformat
import pytest
from conftest import ROOT
from labs import LABS

from authoring.exercises import generate

PATIENCE = 1200  # seconds; starting, training and plotting are slow on a busy machine
# The module to start, its name in the configuration, and where a notebook opens.
JUPYTERLAB = ("jupyterlab", "LabApp", "lab/tree")
NOTEBOOK = ("notebook", "JupyterNotebookApp", "notebooks")
# Keep all cells in the page, visible or not, and show no notifications over the notebook.
SETTINGS = {
    "notebook-extension/tracker": {"windowingMode": "none"},
    "apputils-extension/notification": {"fetchNews": "false", "checkForUpdates": False},
}

# JavaScript helpers that act on the open notebook.
TOOLS = """
() => {
  const panel = () => jupyterapp.shell.currentWidget;
  const cells = () => panel().content.widgets;
  window.course = {
    ready: () => panel()?.context?.isReady && panel().sessionContext.isReady
      && panel().sessionContext.session?.kernel?.status === "idle",
    ids: () => cells().map(cell => cell.model.id),
    select: id => {
      panel().content.activeCellIndex = course.ids().indexOf(id);
      panel().content.mode = "command";
      panel().activate();
    },
    cell: id => cells()[course.ids().indexOf(id)],
    source: id => course.cell(id).model.sharedModel.getSource(),
    write: (id, source) => course.cell(id).model.sharedModel.setSource(source),
    // A cell has no number until it runs; with a number it may still be running.
    forget: id => { course.cell(id).model.executionCount = null },
    done: id => course.cell(id).model.executionCount !== null
      && course.cell(id).model.executionState !== "running",
    shown: id => course.cell(id).outputArea.node.innerText,
    outputs: () => Object.fromEntries(cells().filter(cell => cell.model.type === "code")
      .map(cell => [cell.model.id, cell.model.outputs.toJSON()])),
    start: command => {
      window.finished = false;
      jupyterapp.commands.execute(command).finally(() => { window.finished = true });
    },
    ask: async code => {
      let answer = "";
      const future = panel().sessionContext.session.kernel.requestExecute({code});
      future.onIOPub = message => { answer += message.content.text ?? "" };
      await future.done;
      return answer.trim();
    },
  };
}
"""


@contextmanager
def jupyter(folder, home, module, app):
    """Start a front end that uses no settings of this machine; yields its address."""
    for name, settings in SETTINGS.items():
        path = home / "settings" / "@jupyterlab" / f"{name}.jupyterlab-settings"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(settings))
    environment = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("JUPYTER", "IPYTHON", "XDG_"))
    } | {
        "HOME": str(home),
        "JUPYTER_CONFIG_DIR": str(home / "config"),
        "JUPYTER_DATA_DIR": str(home / "data"),
        "JUPYTER_RUNTIME_DIR": str(home / "runtime"),
        "JUPYTERLAB_SETTINGS_DIR": str(home / "settings"),
        "JUPYTERLAB_WORKSPACES_DIR": str(home / "workspaces"),
        "PYTHONPATH": str(ROOT),
    }
    with open(home / "log", "w") as log:
        process = subprocess.Popen(
            [
                *(sys.executable, "-m", module, "--no-browser", "--allow-root"),
                "--ServerApp.ip=127.0.0.1",
                "--ServerApp.port=0",
                f"--ServerApp.root_dir={folder}",
                "--IdentityProvider.token=a-student",
                f"--{app}.expose_app_in_browser=True",
                "--LabApp.extension_manager=readonly",
                "--LabApp.news_url=None",
            ],
            cwd=folder,
            env=environment,
            stdout=log,
            stderr=subprocess.STDOUT,
        )
        try:
            yield address_of(process, home)
        finally:
            process.terminate()  # shuts down the kernels as well
            try:
                process.wait(timeout=30)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def address_of(process, home):
    """Return the server's address, which it writes to a file once it listens."""
    path = home / "runtime" / f"jpserver-{process.pid}.json"
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end and process.poll() is None:
        try:
            return json.loads(path.read_text())["url"]
        except (FileNotFoundError, json.JSONDecodeError):
            time.sleep(0.1)
    log = (home / "log").read_text()[-3000:]
    pytest.fail(f"Jupyter does not start:\n{log}", pytrace=False)


def wait(page, condition, argument=None):
    """Wait until a condition holds in the page."""
    page.wait_for_function(
        condition, arg=argument, timeout=PATIENCE * 1000, polling=100
    )


def run(page, cell_id):
    """Run a cell by keyboard, and return the text of its output."""
    page.evaluate("id => course.forget(id)", cell_id)
    page.evaluate("id => course.select(id)", cell_id)
    page.keyboard.press("Shift+Enter")
    wait(page, "id => course.done(id)", cell_id)
    return page.evaluate("id => course.shown(id)", cell_id)


def imports(notebook):
    """Yield the packages that a notebook imports."""
    for cell in notebook.cells:
        if cell.cell_type == "code":
            for node in ast.walk(ast.parse(cell.source)):
                if isinstance(node, ast.ImportFrom):
                    yield node.module.partition(".")[0]
                elif isinstance(node, ast.Import):
                    yield from (alias.name.partition(".")[0] for alias in node.names)


@pytest.mark.browser
@pytest.mark.parametrize(
    ("front_end", "first"),
    [
        (JUPYTERLAB, "warm-up--kl-categorical"),
        pytest.param(
            NOTEBOOK,
            "acting-on-uncertainty--conformal-quantile",
            marks=pytest.mark.long,
        ),
    ],
    ids=lambda value: value[0] if isinstance(value, tuple) else "",
)
def test_a_student_completes_the_exercise(
    browser, tmp_path, front_end, first, optimised
):
    module, app, opens = front_end
    lab = next(lab for lab in LABS if first.replace("--", "/") in lab.tasks())
    folder, home = tmp_path / "work", tmp_path / "home"
    folder.mkdir()
    home.mkdir()
    exercise = Path(shutil.copy(lab.exercise, folder))
    assert "solutions" not in set(imports(nbformat.read(exercise, as_version=4)))
    solved = nbformat.reads(generate(lab, solved=True), as_version=4)
    roles = {"task": {}, "check": {}}
    for cell in solved.cells:
        course = cell.metadata.get("course", {})
        if course.get("role") in roles:
            roles[course["role"]][cell.id] = course["task"], cell.source
    answers, checks = roles["task"], roles["check"]
    assert answers.keys() == {check.removesuffix("--check") for check in checks}

    with jupyter(folder, home, module, app) as address:
        context = browser.new_context(viewport={"width": 1300, "height": 900})
        context.set_default_timeout(PATIENCE * 1000)
        page = context.new_page()
        hosts = set()
        page.on("request", lambda request: hosts.add(urlsplit(request.url).netloc))
        page.goto(f"{address}{opens}/{exercise.name}?token=a-student")
        wait(page, "() => window.jupyterapp?.shell?.currentWidget?.content?.widgets")
        page.evaluate(TOOLS)
        wait(page, "() => course.ready()")

        # Before anything is written, the first check says so without a traceback.
        ids = page.evaluate("() => course.ids()")
        code = page.evaluate("() => Object.keys(course.outputs())")
        assert ids == [cell.id for cell in solved.cells]
        for cell_id in code[: code.index(f"{first}--check")]:
            assert "Traceback" not in run(page, cell_id)
        said = run(page, f"{first}--check")
        assert f"✗ {first.replace('--', '/')}" in said
        assert "not written yet" in said
        assert "Traceback" not in said

        # A wrong answer is shown beside what is expected, once, with the difference marked.
        wrong = re.sub("    return (.+)", r"    return 2 * (\1)", answers[first][1])
        page.evaluate("([id, source]) => course.write(id, source)", [first, wrong])
        assert run(page, first) == ""
        said = run(page, f"{first}--check")
        assert said.count("twice what is expected, on every input") == 1
        assert said.count("\nexpected\n") == said.count("✗") == 1
        marked = "id => course.cell(id).node.querySelectorAll('mark').length"
        assert page.evaluate(marked, f"{first}--check") == 2

        # A right answer typed into its cell is ticked.
        page.evaluate("id => course.select(id)", first)
        page.keyboard.press("Enter")
        page.keyboard.press("Control+A")
        page.keyboard.insert_text(answers[first][1])
        assert page.evaluate("id => course.source(id)", first) == answers[first][1]
        page.keyboard.press("Escape")
        assert run(page, first) == ""
        said = run(page, f"{first}--check")
        assert said.startswith(f"✓ {first.replace('--', '/')} ·")

        # With all answers, the notebook runs from top to bottom and all checks are ticked.
        for cell_id, (_, source) in answers.items():
            page.evaluate(
                "([id, source]) => course.write(id, source)", [cell_id, source]
            )
        page.evaluate("() => course.start('notebook:run-all-cells')")
        wait(page, "() => window.finished")
        outputs = page.evaluate("() => course.outputs()")
        for cell_id, shown in outputs.items():
            for output in shown:
                assert output["output_type"] != "error", f"{cell_id}: {output}"
                assert output.get("name") != "stderr", f"{cell_id}: {output}"
        for cell_id, (task, _) in checks.items():
            shown = page.evaluate("id => course.shown(id)", cell_id)
            assert shown.startswith(f"✓ {task} ·"), f"{cell_id}: {shown}"

        loaded = (
            "import sys; print('course' in sys.modules, 'solutions' in sys.modules)"
        )
        assert page.evaluate("code => course.ask(code)", loaded) == "True False"
        assert hosts <= {"", urlsplit(address).netloc}
        page.screenshot(path=tmp_path / f"{module}.png")
        context.close()
