"""A worker that is none: it says whatever its argument names, after it has said that it compiled.

Runs as a script of its own in place of the real one.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable

MEGA = 1024 * 1024


def say(data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(1, view) :]


def line(messages: str, idle: str = "true") -> None:
    say(f'{{"out":[{messages}],"idle":{idle}}}\n'.encode())


def call(id: object, prompt: str = "x") -> str:
    return f'{{"t":"call","id":{id},"prompt":"{prompt}"}}'


def flood() -> None:
    text = "y" * (4 * MEGA - 200)
    while True:
        line(call(1, text), "false")


def million_calls() -> None:
    for begin in range(1, 1_000_001, 10_000):
        line(",".join(call(n) for n in range(begin, begin + 10_000)), "false")


def many_logs() -> None:
    while True:
        line(",".join(['{"t":"log","text":"x"}'] * 10_000), "false")


def tiny_lines() -> None:
    while True:
        say(b'{"idle":false}\n' * 10_000)


def wide() -> None:
    while True:
        schema = ",".join(f'"k{n}":[]' for n in range(300_000))
        line(
            f'{{"t":"call","id":1,"prompt":"x","options":{{"schema":{{{schema}}}}}}}',
            "false",
        )


def silent() -> None:
    signal.pause()


def shut() -> None:
    os.close(1)
    signal.pause()


DOES: dict[str, Callable[[], None]] = {
    "garbage": lambda: say(os.urandom(MEGA) + b"\n"),
    "text": lambda: say(b"hello\n"),
    "another shape": lambda: say(b'["out"]\n'),
    "not UTF-8": lambda: say(b'{"out":[{"t":"log","text":"\xff\xfe"}],"idle":true}\n'),
    "deep": lambda: say(b"[" * MEGA + b"\n"),
    "deep value": lambda: line('{"t":"end","value":' + "[" * MEGA + "]" * MEGA + "}"),
    "an unknown message": lambda: line('{"t":"run","argv":["sh"]}'),
    "a message of ours": lambda: line('{"t":"settled","id":1,"ok":true}'),
    "an id below 1": lambda: line(call(0)),
    "an id that is huge": lambda: line(call(1 << 40)),
    "an id that is a text": lambda: line(call('"1"')),
    "an id twice": lambda: line(call(1) + "," + call(1)),
    "an id that falls": lambda: line(call(7) + "," + call(3)),
    "an option that is none": lambda: line(
        '{"t":"call","id":1,"prompt":"x","options":{"retries":99}}'
    ),
    "a label of a megabyte": lambda: line(
        f'{{"t":"call","id":1,"prompt":"x","options":{{"label":"{"x" * MEGA}"}}}}'
    ),
    "a log of a megabyte": lambda: line(f'{{"t":"log","text":"{"x" * MEGA}"}}'),
    "it compiles again": lambda: line('{"t":"compiled"}'),
    "it talks unasked": lambda: say(b'{"out":[],"idle":true}\n' * 3),
    "it ends twice": lambda: line('{"t":"end","value":1},{"t":"end","value":2},' + call(1)),
    "it waits for nothing": lambda: line('{"t":"log","text":"x"}'),
    "an endless line": lambda: say(b"x" * (6 * MEGA)),
    "large lines without end": flood,
    "a million calls": million_calls,
    "logs without end": many_logs,
    "lines that say nothing": tiny_lines,
    "wide data": wide,
    "it is silent": silent,
    "it shuts its pipe": shut,
    "it exits": lambda: os._exit(0),
    "it exits with a code": lambda: os._exit(3),
    "it is killed": lambda: os.kill(os.getpid(), signal.SIGKILL),
    "it has used its time": lambda: os.kill(os.getpid(), signal.SIGXCPU),
}


def main() -> None:
    sys.stdin.buffer.readline()
    line('{"t":"compiled"}')
    sys.stdin.buffer.readline()
    DOES[sys.argv[1]]()
    sys.stdin.buffer.read()  # until whoever reads us is gone


if __name__ == "__main__":
    main()
