"""What plugins cost: an install beside copying and hashing it, a start with twenty of them.

`python tests/bench/plugins.py [--runs N] [--check]`. Ratios within one run; CPU seconds where a
process is ours alone. `--check` fails when a limit is exceeded.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import shutil
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from gatewright.agent.plugins.consent import Consent
from gatewright.agent.plugins.installing import install_path
from gatewright.agent.plugins.store import Store
from gatewright.agent.plugins.switching import switch
from gatewright.agent.settings.paths import Places
from gatewright.agent.settings.traits import Source
from tests.e2e.program import Program
from tests.fakes.plugin_trees import full_plugin, write

INSTALL, PAINT = 1.5, 1.03
FILES, PLUGINS = 100, 20
READY = "\u276f"  # the sign before our own prompt


def hundred(root: Path, name: str) -> Path:
    full_plugin(root, name)
    there = sum(1 for path in root.rglob("*") if path.is_file())
    for number in range(FILES - there):
        write(root / "references" / f"{number}.md", f"{number} {'text ' * 4_000}\n")
    return root


def copied(source: Path, into: Path) -> None:
    """The least that an install must do."""
    shutil.copytree(source, into)
    for folder, _, names in os.walk(into):
        for name in names:
            with open(os.path.join(folder, name), "rb") as file:  # noqa: PTH118, PTH123
                hashlib.file_digest(file, "sha256").hexdigest()


def agreed(about: Consent) -> bool:
    del about
    return True


def timed(work: Callable[[], object]) -> float:
    began = time.process_time()
    work()
    return time.process_time() - began


def install_ratio(folder: Path, runs: int) -> float:
    source = hundred(folder / "source", "hundred")
    plain: list[float] = []
    ours: list[float] = []
    for number in range(runs):
        store = Store(folder / f"home{number}")
        ours.append(timed(partial(install_path, store, source, agreed)))
        into = folder / f"copy{number}"
        plain.append(timed(partial(copied, source, into)))
    return statistics.median(ours) / statistics.median(plain)


def painted(program: Program) -> float:
    """Seconds until the prompt is there."""
    began = time.perf_counter()
    with program.terminal("--model", "demo") as terminal:
        terminal.wait_for(READY)
        return time.perf_counter() - began


def paint_ratio(folder: Path, runs: int) -> float:
    for each in ("none", "twenty"):
        (folder / each).mkdir()
    none, twenty = Program.prepare(folder / "none"), Program.prepare(folder / "twenty")
    places = Places(home=twenty.home / ".gatewright", root=twenty.project)
    store = Store(places.home)
    for number in range(PLUGINS):
        source = hundred(folder / "sources" / f"plug-{number}", f"plug-{number}")
        record = install_path(store, source, agreed).record
        switch(places, record.id, Source.USER, on=True)
    painted(none), painted(twenty)
    pairs = [(painted(none), painted(twenty)) for _ in range(runs)]
    return statistics.median(b for _, b in pairs) / statistics.median(a for a, _ in pairs)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=9)
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        install = install_ratio(Path(name), options.runs)
        paint = paint_ratio(Path(name), options.runs)
    print(f"install of {FILES} files / copying and hashing: {install:.2f} (<= {INSTALL})")
    print(f"first paint, {PLUGINS} plugins / none: {paint:.3f} (<= {PAINT})")
    print(f"load: {os.getloadavg()[0]:.1f}")
    return int(options.check and (install > INSTALL or paint > PAINT))


if __name__ == "__main__":
    sys.exit(main())
