"""The input and the result of a pass, stored in files.

The grader writes the input, nbval runs the pass in a process of its own, and the grader reads
the result. If that process is killed, the files contain the results up to then.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Self

from grading.record import Flag, Verdict
from grading.sandbox.bubblewrap import Limits, Sandbox
from project.files import write_whole

NOTEBOOK, INPUT, RESULT = "graded.ipynb", "input.json", "result.json"
PROGRESS = "progress"  # each cell that was sent and each verdict, one on each line


@dataclass(frozen=True)
class PassInput:
    """The input of a pass.

    Args:
        number: of the pass, from 1.
        expected: the file of the expected values.
        judged: the tasks that are judged.
        sandbox: where the kernel runs.
        seconds: the limit of the time that counts.
    """

    number: int
    expected: Path
    judged: tuple[str, ...]
    sandbox: Sandbox
    seconds: float

    def save(self, folder: Path) -> None:
        """Write it into the folder of the pass."""
        box = self.sandbox
        data = {
            "number": self.number,
            "expected": str(self.expected),
            "judged": self.judged,
            "folder": str(box.folder),
            "library": str(box.library),
            "sandboxed": box.sandboxed,
            "hidden": [str(path) for path in box.hidden],
            "runtime_dirs": box.runtime_dirs and str(box.runtime_dirs),
            "limits": asdict(box.limits),
            "seconds": self.seconds,
        }
        write_whole(folder / INPUT, json.dumps(data))

    @classmethod
    def load(cls, folder: Path) -> Self:
        """The inverse of ``save``."""
        data = json.loads((folder / INPUT).read_text(encoding="utf-8"))
        sandbox = Sandbox(
            folder=Path(data["folder"]),
            library=Path(data["library"]),
            limits=Limits(**data["limits"]),
            sandboxed=data["sandboxed"],
            hidden=tuple(map(Path, data["hidden"])),
            runtime_dirs=data["runtime_dirs"] and Path(data["runtime_dirs"]),
        )
        return cls(
            data["number"],
            Path(data["expected"]),
            tuple(data["judged"]),
            sandbox,
            data["seconds"],
        )


@dataclass
class PassResult:
    """The result of a pass.

    Args:
        verdicts: by task.
        started: whether a kernel started.
        running: the id of the cell that was sent last.
        stopped: the id of the cell in which the kernel ended, or the empty string.
        because: why it ended.
        slow: the ids of the student's own cells that took long.
        flags: what a person should know.
        finished: whether the pass was completed.
        unsure: whether a time limit ended it for which a busy machine may be to blame.
        excused: the seconds that do not count, because others used the processor.
    """

    verdicts: dict[str, Verdict] = field(default_factory=dict)
    started: bool = False
    running: str = ""
    stopped: str = ""
    because: str = ""
    slow: list[str] = field(default_factory=list)
    flags: list[Flag] = field(default_factory=list)
    finished: bool = False
    unsure: bool = False
    excused: float = 0.0

    def send(self, cell: str, folder: Path) -> None:
        """Note which cell is sent, without writing everything before each one."""
        self.running = cell
        _append(folder, {"running": cell})

    def decide(self, verdict: Verdict, excused: float, folder: Path) -> None:
        """Note a verdict and the seconds excused by now, without writing everything."""
        self.verdicts[verdict.task], self.excused = verdict, excused
        _append(folder, {"verdict": vars(verdict), "excused": excused})

    def save(self, folder: Path) -> None:
        """Write it into the folder of the pass."""
        # ``asdict`` would copy every verdict each time.
        write_whole(folder / RESULT, json.dumps(self, default=vars))

    @classmethod
    def load(cls, folder: Path) -> Self:
        """Read what was saved, and noted since; an empty result if there is no file."""
        path = folder / RESULT
        if not path.exists():
            return cls()
        data: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        data["verdicts"] = {
            task: Verdict(**verdict) for task, verdict in data["verdicts"].items()
        }
        data["flags"] = [Flag(**flag) for flag in data["flags"]]
        progress = folder / PROGRESS
        if not data["finished"] and progress.exists():
            for line in progress.read_text("utf-8").splitlines():
                try:
                    noted = json.loads(line)
                except json.JSONDecodeError:  # killed while it was written
                    break
                if verdict := noted.get("verdict"):
                    data["verdicts"][verdict["task"]] = Verdict(**verdict)
                data["running"] = noted.get("running", data["running"])
                data["excused"] = max(data["excused"], noted.get("excused", 0.0))
        return cls(**data)


def _append(folder: Path, noted: dict[str, Any]) -> None:
    with open(folder / PROGRESS, "a", encoding="utf-8") as file:
        file.write(f"{json.dumps(noted)}\n")
