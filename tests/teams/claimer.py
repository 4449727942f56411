"""A member of a team as a process: claims what is free, works, completes, until all is done.

`python claimer.py LIST LOG`: one line to LOG for each task that it completed, once it has.
"""

from __future__ import annotations

import os
import random
import sys
from pathlib import Path

from gatewright.tools.protocol import ToolFailure
from gatewright.tools.system.lifetimes import ours
from gatewright.tools.tasks.tasklist import Holder, opened_in


def work(folder: Path, log: Path) -> None:
    me = Holder(ours(), f"main/{os.getpid()}")
    chance = random.Random(os.getpid())
    while True:
        with opened_in(folder) as tasks:
            task = next(tasks.held_by(me), None) or tasks.next_free()
            if task is None:
                if all(each.status == "completed" for each in tasks.tasks.values()):
                    return
                continue
            tasks.claim(task, me, me.agent)
            id = task.id
        sum(range(chance.randrange(20_000)))
        try:
            with opened_in(folder) as tasks:
                tasks.finish(tasks.find(id), me)
        except ToolFailure as failure:
            sys.stderr.write(f"{failure}\n")
            raise
        with log.open("ab", buffering=0) as file:
            file.write(f"{id}\n".encode())


if __name__ == "__main__":
    work(Path(sys.argv[1]), Path(sys.argv[2]))
