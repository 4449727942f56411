"""A process that claims what is due in a store until it is killed; what it won stands in a log.

Before each try it says so: a job that was deleted before must not be won then.
"""

from __future__ import annotations

import os
import random
import sys
import time
from pathlib import Path

from gatewright.agent.autonomy.schedules.runs import RunRecord
from gatewright.agent.autonomy.schedules.store import Store
from gatewright.tools.system.lifetimes import ours


def main(store_path: str, log: str, rounds: int, seed: int) -> None:
    store, drawn = Store(Path(store_path), Path("/project")), random.Random(seed)
    said = os.open(log, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    for number in range(rounds):
        jobs = list(store.jobs().values())
        if not jobs:
            break
        job = drawn.choice(jobs)
        slot = float(drawn.randrange(1, 40))
        os.write(said, f"tries {job.id} {os.getpid()} {number}\n".encode())
        run = RunRecord(
            run=f"run_{os.getpid()}_{number}",
            job=job.id,
            slot=slot,
            state="queued",
            owner=ours(),
            at=time.time(),
        )
        if store.claim(job.id, slot, run) is not None:
            os.write(said, f"won {job.id} {os.getpid()} {number} {slot}\n".encode())
        if drawn.random() < 0.02 and store.remove(job.id):
            os.write(said, f"deleted {job.id} {os.getpid()} {number}\n".encode())


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4]))
