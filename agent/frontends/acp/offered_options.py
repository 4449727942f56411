"""What a client can choose of a session: its mode, and mode, model, effort and style as options.

All of it is asked of the commands that people choose it with, so nothing is offered that they lack.
"""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from gatewright.agent.commands.outcome import Change, Outcome, Pick, Problem, Say, SetModel
from gatewright.agent.commands.registry import Front
from gatewright.agent.extensions.styles.style_session import OutputStyles
from gatewright.agent.frontends.acp.jsonrpc import BAD_PARAMS, RpcError
from gatewright.agent.models.choices import ModelBook
from gatewright.agent.session.session import Session
from gatewright.agent.settings.overview import SettingsBook
from gatewright.tools.access import MAIN
from gatewright.tools.blocks import plain
from gatewright.tools.system.untyped_json import Json

FRONT = Front(panels=True, asks=True)
MODE, MODEL, EFFORT, STYLE = "mode", "model", "effort", "output_style"
FULL_ACCESS = "fullAccess"
BYPASS, AUTO = "bypassPermissions", "auto"

# By id: what people read. The first is where a session begins that nobody said anything of.
MODES: Mapping[str, tuple[str, str]] = {
    "default": ("Default", "Reads inside the project and safe commands run; the rest asks"),
    "acceptEdits": ("Accept edits", "Edits inside the project run, too"),
    "autoInProject": ("Auto in project", "Edits and commands contained in the project run"),
    "plan": ("Plan", "Only reading; writes nothing but the plan"),
    AUTO: ("Auto", "A judge answers what would be asked"),
    "dontAsk": ("Don't ask", "What nothing allows is refused without a question"),
    "work": ("Work", "Reads anywhere run; the rest asks"),
    FULL_ACCESS: ("Full access", "Everything runs except what is dangerous"),
}
DEAR = 300  # models in a list that people look through


class Row(msgspec.Struct, frozen=True):
    id: str
    name: str
    about: str = ""


class Options:
    """`models` are those that could be used when somebody looked last."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._models: tuple[Row, ...] = ()
        self._levels: tuple[Row, ...] = ()
        self._styles: tuple[Row, ...] = ()
        self._style = ""
        self._modes: tuple[str, ...] = ()

    async def look(self) -> None:
        """What there is to choose now, without a word to any server."""
        await self._look_at_modes()
        levels = await self._pick("effort")
        self._levels = tuple(Row(c.id, c.label, c.detail) for c in levels.choices) if levels else ()
        styles = await self._pick("output-style")
        if styles is not None:
            self._styles = tuple(Row(c.id, c.label, c.detail) for c in styles.choices)
            self._style = styles.choices[styles.at].id if styles.choices else ""

    async def look_at_models(self) -> bool:
        """Servers are asked what they have; whether that is news."""
        book, before = self._session.part(ModelBook), self._models
        if book is not None:
            found = await book.usable()
            self._models = tuple(Row(one.name, one.name, one.why) for one in found[:DEAR])
        return self._models != before

    # modes

    @property
    def modes(self) -> Json:
        return {
            "currentModeId": self._session.mode,
            "availableModes": [_told(row) for row in self._mode_rows()],
        }

    async def set_mode(self, id: str) -> None:
        """Raises RpcError for one that is not offered here."""
        await self._look_at_modes()
        if id not in self._modes:
            names = ", ".join(self._modes)
            raise RpcError(BAD_PARAMS, f"There is no mode {id[:60]!r} here; there are {names}.")
        try:
            self._session.set_mode(id)
        except ValueError as error:
            raise RpcError(BAD_PARAMS, str(error)) from error

    async def _look_at_modes(self) -> None:
        picked = await self._pick("mode")
        there = {choice.id for choice in picked.choices} if picked is not None else set[str]()
        offered = [id for id in MODES if id not in (AUTO, FULL_ACCESS) or id in there]
        if BYPASS in there and full_access(self._session):
            offered.append(FULL_ACCESS)
        self._modes = tuple(offered)

    def _mode_rows(self) -> list[Row]:
        ids = list(self._modes)
        if (now := self._session.mode) not in ids:
            ids.append(now)  # the settings chose it
        return [Row(id, *MODES.get(id, (id, ""))) for id in ids]

    # all of it as options

    def told(self) -> list[Json]:
        session = self._session
        found = [_option(MODE, "Mode", session.mode, self._mode_rows(), category="mode")]
        model = self._model()
        if model:
            rows = list(self._models)
            if model not in [row.id for row in rows]:
                rows.insert(0, Row(model, model, "in use"))
            found.append(_option(MODEL, "Model", model, rows, category="model"))
        if self._levels:
            level = self._level()
            found.append(_option(EFFORT, "Effort", level, self._levels, category="thought_level"))
        if self._style:
            found.append(_option(STYLE, "Output style", self._style, self._styles))
        return found

    async def choose(self, id: str, value: str | bool) -> None:
        """Raises RpcError."""
        if not isinstance(value, str) or id not in {one["id"] for one in self.told()}:
            raise RpcError(BAD_PARAMS, f"There is no option {id[:60]!r} with such a value here.")
        if id == MODE:
            await self.set_mode(value)
            return
        if id == MODEL:
            if value not in {row.id for row in self._models} and not await self._there(value):
                raise RpcError(BAD_PARAMS, f"There is no model {value[:60]!r} to be used here.")
            done = await self._session.apply(Change(SetModel(value)), FRONT)
        elif id == STYLE:
            if value not in {row.id for row in self._styles}:
                raise RpcError(BAD_PARAMS, f"There is no output style {value[:60]!r} here.")
            done = self._styled(value)
        else:
            done = await self._chosen(value)
        if isinstance(done, Problem):
            raise RpcError(BAD_PARAMS, "\n".join(map(plain, done.blocks)))
        await self.look()

    def _styled(self, name: str) -> Outcome:
        """For this session alone: what people choose with the command is kept in their settings."""
        if (styles := self._session.part(OutputStyles)) is not None:
            styles.use(name)
        return Say(())

    async def _chosen(self, value: str) -> Outcome:
        picked = await self._pick("effort")
        if picked is None or value not in {choice.id for choice in picked.choices}:
            raise RpcError(BAD_PARAMS, f"There is no effort {value[:60]!r} here.")
        return await self._session.apply(await picked.choose(value), FRONT)

    async def _there(self, model: str) -> bool:
        await self.look_at_models()
        return model == self._model() or model in {row.id for row in self._models}

    def _model(self) -> str:
        book = self._session.part(ModelBook)
        name = self._session.model
        return book.resolved(name) if book is not None and name else name

    def _level(self) -> str:
        book = self._session.part(ModelBook)
        agent = self._session.agent(MAIN)
        if book is None or agent is None:
            return self._levels[0].id
        level = book.effort(self._session.model, agent.models.effort)
        return level if level in [row.id for row in self._levels] else self._levels[0].id

    async def _pick(self, name: str) -> Pick | None:
        """What the command of that name offers, where it offers anything."""
        if self._session.commands.find(name) is None:
            return None
        outcome = await self._session.commands.call(name, front=FRONT)
        return outcome if isinstance(outcome, Pick) else None


def full_access(session: Session) -> bool:
    """Whether the person's own settings offer the mode that asks nothing."""
    book = session.part(SettingsBook)
    return book is not None and book.around.settings.acp.full_access


def own_terminal(session: Session) -> bool:
    """Whether the person wants commands that nothing confines in the client's terminal."""
    book = session.part(SettingsBook)
    return book is not None and book.around.settings.acp.terminal


def _told(row: Row) -> Json:
    about = {"description": row.about} if row.about else {}
    return {"id": row.id, "name": row.name, **about}


def _option(
    id: str, name: str, value: str, rows: list[Row] | tuple[Row, ...], *, category: str = ""
) -> Json:
    options = [
        {"value": r.id, "name": r.name, **({"description": r.about} if r.about else {})}
        for r in rows
    ]
    told: Json = {"type": "select", "id": id, "name": name, "currentValue": value}
    return {**told, "options": options, **({"category": category} if category else {})}
