"""From what a call of Workflow says to what is run: found, checked, and laid out for a person.

Nothing of a script has run when this is done, and what was shown is what is run.
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable, Collection, Sequence
from pathlib import Path
from typing import Any

import msgspec
from msgspec import UNSET, UnsetType

from gatewright.agent.context.readable import Readable
from gatewright.agent.errors import GatewrightError
from gatewright.agent.text.money import dollars
from gatewright.agent.text.printable import visible
from gatewright.agent.turn.structured_answer import Shape
from gatewright.agent.workflows.runs.journal import IN_USE, InUse, lives
from gatewright.agent.workflows.runs.looked_up import folder_of
from gatewright.agent.workflows.runs.past import (
    SCRIPT,
    Chosen,
    Past,
    RunFile,
    hash_of_text,
    known_rerun,
    read_past,
    read_run,
)
from gatewright.agent.workflows.runs.rehearsal import Foreseen
from gatewright.agent.workflows.saved.saved_book import Saved, SavedBook, text_of
from gatewright.agent.workflows.script.check import check
from gatewright.agent.workflows.script.checked import MOST_BYTES, Checked
from gatewright.tools.access import Where
from gatewright.tools.blocks import Block, Code, Table, Text
from gatewright.tools.protocol import ToolFailure

ONE = "Give one of script, name and scriptPath, or resumeFromRunId."
SHOWN = 4_000
STRICT = ("deny", "ask")
NAMED = 10  # calls that run again
MOST_FIELDS = 12  # of args, told to whoever gave others


class BudgetAsked(msgspec.Struct, frozen=True):
    usd: float | None = None
    tokens: int | None = None


class Asked(msgspec.Struct, frozen=True, rename="camel"):
    script: str = ""
    name: str = ""
    script_path: str = ""
    args: Any | UnsetType = UNSET
    title: str = ""
    budget: BudgetAsked | None = None
    resume_from_run_id: str = ""
    rerun: str = ""


class Plan(msgspec.Struct, frozen=True, kw_only=True):
    """A launch that can be made."""

    asked: Asked
    id: str
    checked: Checked
    args: Any | UnsetType
    file: RunFile | None = None  # of the run that goes on
    folder: Path | None = None
    past: Past | None = None
    source: str = ""  # where the script comes from, for people
    allows: tuple[str, ...] = ()

    @property
    def budget(self) -> BudgetAsked:
        """What the call says, else what that said which began the run."""
        if self.asked.budget is not None or self.file is None:
            return self.asked.budget or BudgetAsked()
        return BudgetAsked(self.file.budget_usd, self.file.budget_tokens)

    @property
    def chosen(self) -> Chosen | None:
        return Chosen(self.past, self.asked.rerun) if self.past is not None else None


class Planning:
    """`places` are the folders of runs, the own ones first; `over` are its own that have ended."""

    def __init__(
        self,
        saved: SavedBook | None,
        readable: Readable,
        places: Sequence[Path],
        over: Collection[str],
        held: Callable[[Callable[[], str]], str],
        restricts: Callable[[Collection[str], Collection[str]], str],
    ) -> None:
        self._saved, self._readable, self._places, self._over = saved, readable, places, over
        self._held = held  # has a schema of somebody judge where that can be stopped
        self._restricts = restricts  # the rule that denies one of these names, or asks about it

    def plan(self, asked: Asked, where: Where) -> Plan:
        """Raises ToolFailure: what is wrong, for the model."""
        given = [each for each in (asked.script, asked.name, asked.script_path) if each]
        if len(given) > 1 or (not given and not asked.resume_from_run_id):
            raise ToolFailure(ONE)
        if asked.rerun and not asked.resume_from_run_id:
            raise ToolFailure("rerun goes with resumeFromRunId.")
        try:
            return self._planned(asked, where)
        except GatewrightError as error:
            raise ToolFailure(str(error)) from None

    def _planned(self, asked: Asked, where: Where) -> Plan:
        folder, file, past = self._before(asked)
        checked, source, allows = self._script(asked, where, folder, file)
        if asked.name and file is not None and file.name != checked.meta.name:
            raise GatewrightError(
                f"The run {file.id} is one of {file.name}, and not of {asked.name}: resume it "
                "without a name."
            )
        self._let(checked, ("deny",) if asked.name else STRICT)  # the gate knew what it says
        args = asked.args
        if args is UNSET and file is not None and file.has_args:
            args = file.args
        if wrong := self._held(lambda: args_problem(checked, args)):
            raise GatewrightError(f"args do not fit the script: {wrong}.{taken(checked.meta.args)}")
        return Plan(
            asked=asked,
            id=asked.resume_from_run_id or f"wf_{secrets.token_hex(6)}",
            checked=checked,
            args=args,
            file=file,
            folder=folder,
            past=past,
            source=source,
            allows=allows,
        )

    def _before(self, asked: Asked) -> tuple[Path | None, RunFile | None, Past | None]:
        id = asked.resume_from_run_id
        if not id:
            return None, None, None
        if (folder := folder_of(self._places, id)) is None:
            raise GatewrightError(f"There is no run {id}. Start it anew, without resumeFromRunId.")
        if id not in self._over and lives(folder):
            raise InUse(IN_USE)
        file, past = read_run(folder), read_past(folder)
        if not past.slots:
            raise GatewrightError(f"Nothing of the run {id} was done. Start it anew.")
        if wrong := known_rerun(past, asked.rerun):
            raise GatewrightError(wrong)
        return folder, file, past

    def _script(
        self, asked: Asked, where: Where, folder: Path | None, file: RunFile | None
    ) -> tuple[Checked, str, tuple[str, ...]]:
        if asked.script:
            return check(asked.script), "", ()
        if asked.name:
            saved = self.saved(asked.name)
            assert self._saved is not None
            allows = saved.allows if saved.source == "builtin" else ()
            return self._saved.script(saved), str(saved.path), allows
        if asked.script_path:
            path = where.resolve(asked.script_path)
            return check(self._read(path, agreed=True)), str(path), ()
        assert folder is not None  # the run's own record, of whichever session
        checked = check(text_of(folder / SCRIPT))
        allows = self._still_allows(file, checked)
        return checked, file.source if file and allows else str(folder / SCRIPT), allows

    def _still_allows(self, file: RunFile | None, checked: Checked) -> tuple[str, ...]:
        """What a built-in one brings, as long as it is word for word the same."""
        if file is None or self._saved is None:
            return ()
        built_in = (each for each in self._saved.now() if each.source == "builtin")
        same = (each for each in built_in if str(each.path) == file.source)
        found = next(same, None)
        return found.allows if found is not None and text_of(found.path) == checked.source else ()

    def saved(self, name: str) -> Saved:
        """Raises GatewrightError."""
        if self._saved is None:
            raise GatewrightError("There are no saved workflows here.")
        if refusal := self._saved.refusal(name):
            raise GatewrightError(refusal)
        saved = self._saved.find(name)
        assert saved is not None
        return saved

    def nested(self, name: str, script_path: str, where: Where) -> Checked:
        """Of a workflow within one: a saved one, or what the model may read unasked."""
        if name:
            saved = self.saved(name)
            assert self._saved is not None
            checked = self._saved.script(saved)
        else:
            checked = check(self._read(where.resolve(script_path), agreed=False))
        self._let(checked, STRICT)
        return checked

    def _let(self, checked: Checked, behaviors: Collection[str]) -> None:
        """No rule is about a workflow that calls itself so. Raises GatewrightError."""
        name = checked.meta.name
        names = {name}
        for each in self._saved.last().every if self._saved is not None else ():
            if each.name == name:
                names |= each.names
        if rule := self._restricts(names, behaviors):
            raise GatewrightError(f"{rule} is about {name}: it is not run.")

    def _read(self, path: Path, *, agreed: bool) -> str:
        try:
            data = self._readable.head(path, MOST_BYTES + 1, agreed=agreed)
            return data.decode("utf-8")
        except OSError as error:
            why = error.strerror or error
            raise GatewrightError(f"The script {path} cannot be read: {why}.") from error
        except UnicodeDecodeError as error:
            raise GatewrightError(f"The script {path} cannot be read: it is not UTF-8.") from error


def args_problem(checked: Checked, args: Any | UnsetType) -> str:
    schema = checked.meta.args
    if schema is None:
        return ""
    shape = Shape(msgspec.json.encode(schema).decode())
    if fault := shape.fault():
        return f"the schema of meta.args is wrong, {fault}"
    value: Any = {} if args is UNSET else args
    return shape.problem(msgspec.json.encode(value).decode()).removeprefix("$: ")


class _Field(msgspec.Struct):
    type: Any = None


class _Fields(msgspec.Struct):
    properties: dict[str, Any] = {}


def taken(schema: Any) -> str:
    """What a schema asks for, as a sentence somebody can type from; empty where it is no object."""
    try:
        kinds = {
            name: msgspec.convert(field, _Field).type
            for name, field in msgspec.convert(schema, _Fields).properties.items()
        }
    except msgspec.ValidationError:
        return ""
    told = [
        f"{msgspec.json.encode(name).decode()}: {kind if isinstance(kind, str) else '...'}"
        for name, kind in [*kinds.items()][:MOST_FIELDS]
    ]
    more = ", ..." if len(kinds) > MOST_FIELDS else ""
    return f" It takes {{{', '.join(told)[:500]}{more}}}." if told else ""


def run_file(plan: Plan, *, mode: str, model: str, session: str) -> RunFile:
    meta, args = plan.checked.meta, plan.args
    given = args is not UNSET
    return RunFile(
        id=plan.id,
        name=meta.name,
        description=meta.description,
        script_hash=hash_of_text(plan.checked.source),
        title=plan.asked.title or (plan.file.title if plan.file is not None else ""),
        args=args if given else None,
        has_args=given,
        mode=mode,
        model=model,
        budget_usd=plan.budget.usd,
        budget_tokens=plan.budget.tokens,
        session=session,
        began=time.time(),
        source=plan.source,
    )


def shown(
    plan: Plan, foreseen: Foreseen | None, *, mode: str, model: str, budget: str
) -> Sequence[Block]:
    """All that a person agrees to; the script is the last, and whole."""
    meta = plan.checked.meta
    # what the script and the model say of it stays in a line of its own, and means nothing else
    said = f"{_line(plan.asked.title or meta.name)}: {_line(meta.description)}"
    blocks: list[Block] = [Text(said)]
    if plan.past is not None and foreseen is not None:  # what it is about comes first
        blocks += foretold(foreseen, plan.past)
    if meta.phases:
        rows = tuple((_line(phase.title), _line(phase.detail)) for phase in meta.phases)
        blocks.append(Table(("Phase", "What"), rows))
    allows = f", {' and '.join(plan.allows)} unasked" if plan.allows else ""
    blocks.append(Text(f"Agents: mode {mode}, tools of their types{allows}, model {model}"))
    blocks.append(Text(f"Budget: {budget or 'none'}"))
    if plan.args is not UNSET:
        args = msgspec.json.encode(plan.args).decode()
        blocks.append(Text(f"Args: {args[:SHOWN]}{'…' if len(args) > SHOWN else ''}"))
    blocks += [Text(each, "warning") for each in plan.checked.warnings]
    path = plan.source or f"{meta.name}.js"
    return (*blocks, Code(plan.checked.source, "javascript", path, folded=True))


def _line(text: str) -> str:
    return " ".join(visible(text, strict=True).split())


def foretold(found: Foreseen, past: Past) -> Sequence[Block]:
    """What is not done again, what is and why, and what that is likely to cost."""
    paid = [slot.settled.cost for slot in past.slots.values() if slot.settled is not None]
    cost = sum(paid) / len(paid) * len(found.live) if paid else 0.0
    more = "" if found.over else ", and what follows from new answers"
    blocks = [Text(f"{found.words}, about {dollars(cost)}{more}")]
    if found.problem:
        blocks.append(Text(_line(found.problem), "warning"))
    lines = [
        f"- {_line(label)}: {fate.kind}{f': {_line(fate.why)}' if fate.why else ''}"
        for label, fate in found.live[:NAMED]
    ]
    if (rest := len(found.live) - NAMED) > 0:
        lines.append(f"- and {rest} more")
    return [*blocks, Text("\n".join(lines), "dim")] if lines else blocks
