"""A process that works on a run of sixty agents and is killed in it: `python -m ... FOLDER STEP`.

The script plays in its real worker. Agents are functions that keep a log as real ones keep their
transcripts: one that goes on where its log says that it was done only says so again.
"""

from __future__ import annotations

import asyncio
import os
import random
import signal
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path

from msgspec.structs import replace

from gatewright.agent.workflows.engine.engine import Engine
from gatewright.agent.workflows.engine.script_limits import Limits
from gatewright.agent.workflows.runs.journal import AnyLine, Journal
from gatewright.agent.workflows.runs.launched import Launched
from gatewright.agent.workflows.runs.past import Chosen, RunFile, read_past, write_run
from gatewright.agent.workflows.runs.run_port import Outcome, Work
from gatewright.agent.workflows.script.check import check
from gatewright.agent.workflows.script.checked import Checked
from gatewright.tools.system.processes import spawn
from tests.workflows.runs.fakes import ID, Stage, said

SCRIPT = """\
export const meta = {name: 'sixty', description: 'Thirty items in two steps.'};
const items = Array.from({length: 30}, (_, n) => n);
const found = await pipeline(items,
  (previous, n) => agent(`find ${n}`, {phase: 'Find'}),
  (found, n) => agent(`check ${n}: ${found}`, {phase: 'Check'}));
return found.join(',');
"""
AGENTS = "agents.log"


class Killing:
    """Counts what happens, and ends this process at a step: before, within or after a line."""

    def __init__(self, step: int) -> None:
        self.left, self._how = step, random.Random(step).choice(("before", "within", "after"))

    def passes(self, write: Callable[[bytes], object], data: bytes) -> None:
        self.left -= 1
        if self.left == 0:
            if self._how == "within":
                write(data[: len(data) // 2])
            elif self._how == "after":
                write(data)
            os.kill(os.getpid(), signal.SIGKILL)
        write(data)


class KilledJournal(Journal):
    def __init__(self, folder: Path, killing: Killing) -> None:
        super().__init__(folder)
        self._killing = killing

    def add(self, line: AnyLine) -> None:
        self._killing.passes(lambda _: Journal.add(self, line), b"")


def agents(folder: Path, killing: Killing) -> Callable[[Work], Awaitable[Outcome]]:
    file = os.open(folder / AGENTS, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    before = (folder / AGENTS).read_text(encoding="utf-8").splitlines()
    dice = random.Random(killing.left)

    def noted(*words: str) -> None:
        killing.passes(lambda data: os.write(file, data), ("\t".join(words) + "\n").encode())

    async def answered(work: Work) -> Outcome:
        answer = f"<{work.prompt}>"
        if work.goes_on and f"done\t{work.agent}\t{work.prompt}" in before:
            return said(answer)
        noted("goes on" if work.goes_on else "begins", work.agent, work.prompt)
        for _ in range(dice.randrange(6)):
            await asyncio.sleep(0)
        noted("done", work.agent, work.prompt)
        return said(answer)

    return answered


async def work(folder: Path, step: int) -> None:
    killing = Killing(step)
    folder.mkdir(parents=True, exist_ok=True)
    stage = Stage(folder, agents(folder, killing))
    stage.agents.new_id = lambda: f"a{os.urandom(6).hex()}"  # type: ignore[method-assign]
    checked = check(SCRIPT)
    home = folder / ID
    chosen = Chosen(read_past(home)) if (home / "run.json").exists() else None
    journal = KilledJournal(home, killing)
    file = RunFile(id=ID, name="sixty", session="s")
    write_run(home, file, checked.source)

    async def engine(checked: Checked) -> Engine:
        return await Engine.start(checked, Limits(), spawn)

    ports = replace(stage.ports(nothing), engine=engine)
    order = Launched(
        file=file, checked=checked, folder=home, script=home / "script.js", chosen=chosen
    )
    run = stage.book.launch(order, journal, ports)
    await run.gone.wait()
    await stage.close()
    ok, replayed = (sum(c.state == state for c in run.calls) for state in ("done", "replayed"))
    sys.stdout.write(f"{run.stands}\t{ok}\t{replayed}\t{run.result}\n")


async def nothing(globals: object) -> None:
    del globals


if __name__ == "__main__":
    asyncio.run(work(Path(sys.argv[1]), int(sys.argv[2])))
