"""What has the person's own scheduler run due jobs: a systemd timer, launchd, or a cron line."""

from __future__ import annotations

import hashlib
import shlex
from collections.abc import Sequence
from pathlib import Path
from xml.sax.saxutils import escape

import msgspec

from gatewright.agent.autonomy.schedules.timing import ScheduleError

KINDS = ("systemd", "launchd", "cron")


class Installation(msgspec.Struct, frozen=True):
    """Files to write, a cron line to add, and the commands that make it count, or undo it."""

    name: str
    files: tuple[tuple[Path, str], ...] = ()
    line: str = ""
    on: tuple[tuple[str, ...], ...] = ()
    off: tuple[tuple[str, ...], ...] = ()

    def shown(self) -> str:
        """All of it, as the person is asked about it."""
        parts = [f"{path}:\n{text}" for path, text in self.files]
        parts += [f"crontab line:\n{self.line}\n"] if self.line else []
        return "\n".join([*parts, *(shlex.join(command) for command in self.on)])


def installation(kind: str, root: Path, home: Path, argv: Sequence[str]) -> Installation:
    """For a project. `argv` is what runs its due jobs, once a minute. Raises ScheduleError."""
    digest = hashlib.blake2b(str(root).encode(), digest_size=4).hexdigest()
    name = f"gatewright-schedule-{digest}"
    if any(not text.isprintable() for text in (str(root), *argv)):
        raise ScheduleError("A path with control characters fits into no scheduler's file.")
    match kind:
        case "systemd":
            return _systemd(name, root, home, argv)
        case "launchd":
            return _launchd(name, root, home, argv)
        case "cron":
            command = f"cd {shlex.quote(str(root))} && {shlex.join(argv)}".replace("%", r"\%")
            return Installation(name, line=f"* * * * * {command} # {name}")
        case _:
            raise ScheduleError(f"'{kind}' is none of {', '.join(KINDS)}.")


def with_line(table: str, made: Installation, *, there: bool) -> str:
    """A crontab with the line of this installation, once, or without it."""
    rest = [each for each in table.splitlines() if not each.endswith(f"# {made.name}")]
    return "".join(f"{each}\n" for each in [*rest, *([made.line] if there else [])])


def _systemd(name: str, root: Path, home: Path, argv: Sequence[str]) -> Installation:
    folder = home / ".config" / "systemd" / "user"
    words = " ".join(_systemd_word(each) for each in argv)
    service = (
        f"[Unit]\nDescription=Due jobs of {_plain(str(root))}\n\n[Service]\nType=oneshot\n"
        f"WorkingDirectory={_plain(str(root))}\nExecStart={words}\n"
    )
    timer = (
        f"[Unit]\nDescription=Looks once a minute for due jobs of {_plain(str(root))}\n\n"
        "[Timer]\nOnCalendar=*:0/1\nAccuracySec=1s\n\n[Install]\nWantedBy=timers.target\n"
    )
    reload = ("systemctl", "--user", "daemon-reload")
    return Installation(
        name,
        files=((folder / f"{name}.service", service), (folder / f"{name}.timer", timer)),
        on=(reload, ("systemctl", "--user", "enable", "--now", f"{name}.timer")),
        off=(("systemctl", "--user", "disable", "--now", f"{name}.timer"), reload),
    )


def _plain(text: str) -> str:
    return text.replace("%", "%%")


def _systemd_word(text: str) -> str:
    quoted = text.replace("\\", "\\\\").replace('"', '\\"').replace("$", "$$")
    return f'"{_plain(quoted)}"'


def _launchd(name: str, root: Path, home: Path, argv: Sequence[str]) -> Installation:
    words = "".join(f"    <string>{escape(each)}</string>\n" for each in argv)
    text = (
        '<?xml version="1.0" encoding="UTF-8"?>\n<plist version="1.0"><dict>\n'
        f"  <key>Label</key><string>{name}</string>\n"
        f"  <key>WorkingDirectory</key><string>{escape(str(root))}</string>\n"
        f"  <key>ProgramArguments</key><array>\n{words}  </array>\n"
        "  <key>StartInterval</key><integer>60</integer>\n</dict></plist>\n"
    )
    path = home / "Library" / "LaunchAgents" / f"{name}.plist"
    return Installation(
        name,
        files=((path, text),),
        on=(("launchctl", "load", "-w", str(path)),),
        off=(("launchctl", "unload", "-w", str(path)),),
    )
