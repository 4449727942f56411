"""/project: the list of a project's features as the person makes, sees and works through it."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from msgspec.structs import replace

from gatewright.agent.autonomy.project.feature_prompts import plan_prompt
from gatewright.agent.autonomy.project.features import Feature, FeatureList, ProjectError
from gatewright.agent.autonomy.project.project_file import FILE, ProjectFile
from gatewright.agent.autonomy.project.project_run import RunOver, Wanted
from gatewright.agent.commands.outcome import Outcome, Problem, Say
from gatewright.agent.commands.registry import CommandContext
from gatewright.agent.extensions.host import Host
from gatewright.agent.extensions.project.answer_shapes import PLAN, list_of
from gatewright.agent.extensions.project.project_session import (
    BUSY,
    RUNNING,
    ProjectSession,
)
from gatewright.agent.extensions.project.typed_agents import NONE
from gatewright.agent.record.events import Noticed
from gatewright.tools.access import MAIN
from gatewright.tools.blocks import Block, Table, Text
from gatewright.tools.interact import Ask, Option

FORMS = {
    "init": "/project init GOAL",
    "add": "/project add TITLE [| what has to be true [| a command that shows it]]",
    "auto": "/project auto [--confirm] [--max N] [--budget USD]",
    "retry": "/project retry ID",
}
NOTHING_WAITS = "Nothing of the list waits to be done."
SIGNS = {"pending": "waits", "doing": "begun", "done": "done", "blocked": "blocked"}


async def run(context: CommandContext, host: Host, session: ProjectSession) -> Outcome:
    verb, _, rest = context.args.strip().partition(" ")
    rest = rest.strip()
    try:
        if verb in ("next", "auto"):
            return _begin(verb, rest, session)
        return _init(rest, host, session) if verb == "init" else _looked(verb, rest, session)
    except ProjectError as error:
        return Problem.of(str(error))


def _looked(verb: str, rest: str, session: ProjectSession) -> Outcome:
    match verb:
        case "add":
            return _add(rest, session)
        case "" | "list":
            return _list(session)
        case "status":
            return _status(session)
        case "retry":
            return _retry(rest, session)
        case "stop":
            return _stop(session)
        case _:
            return Problem.of(f"There is no /project {verb}. {_forms()}")


def _forms() -> str:
    every = "\n  ".join([*FORMS.values(), "/project list | next | status | stop"])
    return f"What there is:\n  {every}"


# the list


def _list(session: ProjectSession) -> Outcome:
    listed = session.file.read()
    return Say((*_shown(listed), Text(_counted(listed), "dim")))


def _shown(listed: FeatureList) -> Sequence[Block]:
    rows = [
        (each.id, SIGNS[each.state], each.title, each.check, _last(each.note))
        for each in listed.features
    ]
    head = [Text(listed.goal)] if listed.goal else []
    return (*head, Table(("Id", "State", "Feature", "Check", "Note"), tuple(rows)))


def _last(note: str) -> str:
    line = note.rstrip().rpartition("\n")[2]
    return line if len(line) <= 100 else f"{line[:99]}…"


def _counted(listed: FeatureList) -> str:
    counts = [(SIGNS[s], listed.count(s)) for s in ("done", "blocked", "doing", "pending")]
    told = ", ".join(f"{count} {sign}" for sign, count in counts if count)
    return f"{told or 'Nothing in it'} · {FILE}"


def _add(rest: str, session: ProjectSession) -> Outcome:
    """The person's own words: nobody is asked."""
    parts = [part.strip() for part in rest.split("|", 2)]
    title, acceptance, check = (*parts, "", "")[:3]
    if not title:
        raise ProjectError(f"Say what is to be done: {FORMS['add']}")
    file = session.file
    listed = file.read() if file.there else FeatureList(goal=session.root.name)
    feature = Feature(id=listed.free_id(), title=title, acceptance=acceptance, check=check)
    file.write(listed.with_more(feature))
    count = len(listed.features) + 1
    return Say.text(f"{feature.id}: {title}. {count} in the list; /project next does what is next.")


def _retry(id: str, session: ProjectSession) -> Outcome:
    if not id:
        raise ProjectError(f"Say which one: {FORMS['retry']}. /project list shows them.")
    if session.running:
        raise ProjectError(RUNNING)
    feature = session.file.read().find(id)
    session.file.put(replace(feature, state="pending"))
    return Say.text(f"{id} waits to be done again.")


# runs


def _begin(verb: str, rest: str, session: ProjectSession) -> Outcome:
    wanted = wanted_of(rest) if verb == "auto" else Wanted()
    if verb == "next" and rest:
        raise ProjectError("/project next takes nothing more: it does the first that waits.")
    listed = session.file.read()
    feature = listed.next
    if feature is None:
        more = " /project retry ID has a blocked one done again." if listed.count("blocked") else ""
        return Say.text(f"{NOTHING_WAITS} /project add TITLE adds to it.{more}")
    session.begin(wanted)
    return Say.text(f"Begins with {feature.id}, {feature.title}. Esc or /project stop ends it.")


def wanted_of(rest: str) -> Wanted:
    """Raises ProjectError that says how it is written."""
    confirm, most, budget = False, 0, 0.0
    words = rest.replace("=", " ").split()
    while words:
        word = words.pop(0)
        try:
            if word == "--confirm":
                confirm = True
            elif word == "--max":
                most = int(_above_zero(int(_value(words))))
            elif word == "--budget":
                budget = _above_zero(float(_value(words).removeprefix("$")))
            else:
                raise ProjectError(f"{word} means nothing here: {FORMS['auto']}")
        except ValueError:
            raise ProjectError(f"{word} takes a number above 0: {FORMS['auto']}") from None
    return Wanted(auto=True, confirm=confirm, most=most, budget=budget)


def _value(words: list[str]) -> str:
    """What follows a flag; nothing is no number either."""
    return words.pop(0) if words else ""


def _above_zero(number: float) -> float:
    if not 0 < number < 1e9:
        raise ValueError(number)
    return number


def _status(session: ProjectSession) -> Outcome:
    lines: list[str] = []
    run = session.run
    if run is not None and session.running:
        lines.append(f"Under way: {run.state()}. /project stop ends it.")
    elif run is not None and run.ended is not None:
        lines.append(f"The last run: {run.ended.text}")
    else:
        lines.append("No run is under way.")
    listed = session.file.read()
    lines.append(_counted(listed))
    if not session.running and (feature := listed.next) is not None:
        lines.append(f"Next: {feature.id}, {feature.title} (/project next, /project auto)")
    return Say.text("\n".join(lines))


def _stop(session: ProjectSession) -> Outcome:
    if session.stop():
        return Say.text("It ends. What it was at goes on with the next /project next or auto.")
    return Say.text("No run is under way.")


# drawing up a list


def _init(goal: str, host: Host, session: ProjectSession) -> Outcome:
    if not goal:
        raise ProjectError(f"Say what it is all for: {FORMS['init']}")
    file = session.file
    if file.there:
        raise ProjectError(
            f"There is a list already: /project list shows it. Remove {FILE} to begin anew."
        )
    if session.running:
        raise ProjectError(RUNNING)
    if host.session.busy:
        raise ProjectError(BUSY)
    if not session.agents.there:
        raise ProjectError(NONE)
    task = asyncio.create_task(_drawn_up(goal, host, session, file), name="project init")
    host.session.jobs_of(MAIN).all.preparing(task, "project")
    session.keep(task)
    return Say.text("A planning agent looks at the project and draws up the list. Esc stops it.")


async def _drawn_up(goal: str, host: Host, session: ProjectSession, file: ProjectFile) -> None:
    """Planned, shown, and written once the person has said yes."""

    def told(text: str, *, good: bool = False) -> None:
        host.publish(Noticed(text=text, tone="good" if good else "warning"))

    try:
        listed = await session.turns.alone(lambda: _planned(goal, session))
        answer = await host.session.ask(_question(listed))
        if answer.choice != "write":
            told("The list was not written. /project init says the goal in other words.")
            return
        if file.there:
            raise ProjectError(f"{FILE} is there by now, and stays as it is.")
        file.write(listed)
    except (ProjectError, RunOver) as error:
        told(f"No list was written. {error}")
        return
    told(
        f"{FILE}: {_features(listed)}. /project next does the first, /project auto all.", good=True
    )


async def _planned(goal: str, session: ProjectSession) -> FeatureList:
    value = await session.agents.ask("Plan", plan_prompt(goal), PLAN, "draws up the features")
    return list_of(goal, value)


def _features(listed: FeatureList) -> str:
    count = len(listed.features)
    return "1 feature" if count == 1 else f"{count} features"


def _question(listed: FeatureList) -> Ask:
    """All of it, with each command that is to be run: what the person sees is what is written."""
    lines = [
        "\n  ".join(
            filter(
                None,
                (
                    f"{each.id}. {each.title}",
                    each.acceptance.replace("\n", "\n  "),
                    f"Check: {each.check}" if each.check else "",
                ),
            )
        )
        for each in listed.features
    ]
    return Ask(
        kind="question",
        title=f"Write this list of {_features(listed)}?",
        body=(Text("\n".join(lines)),),
        options=(Option("write", "Write it", "y"), Option("no", "No", "n")),
        reason=f"It becomes {FILE}, which you can change at any time.",
    )
