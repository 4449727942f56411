"""What a member of a team reads and does next: its mail, what it began, then what nobody has."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import msgspec

from gatewright.agent.agents.inert_text import in_line, told_as_data
from gatewright.agent.teams.team import Mail, TeamFolder
from gatewright.tools.tasks.tasklist import Holder, Task, opened_in

NUDGES: Final = 3  # ends of its turn that leave a task as it was, before others may have it
TASK = (
    "Task #{id} of your team is yours: {subject}\n{description}\n"
    'When it is done, call TaskUpdate with taskId "{id}" and status completed. If you cannot do '
    "it, set it to pending and say why."
)
AGAIN = "You have not completed task #{id} yet: {subject}\nGo on with it, or set it to pending."


# By the form of a message; only what the sender worded follows, and that is data.
HEADS = {
    "": "Message from {sender}:",
    "shutdown_request": (
        "The lead of your team asks you to end. Answer with SendMessage to main, message "
        '{{"type": "shutdown_response", "request_id": "{request}", "approve": true}}, if nothing '
        'of yours would be lost; else with "approve": false and a "reason", and go on.'
    ),
    "plan_approved": "The lead approves your plan: plan mode is over, do it now.",
    "plan_refused": (
        "The lead does not approve your plan: plan mode goes on. Mend the plan and ask again."
    ),
}


class Next(msgspec.Struct, frozen=True):
    """Empty text: there is nothing, and it stays idle."""

    text: str = ""
    task: str = ""
    gave_up: str = ""  # the task that it did not get done


def said_in(mail: Sequence[Mail]) -> str:
    """As the member reads it."""
    found: list[str] = []
    for each in mail:
        head = HEADS.get(each.form, HEADS[""])
        told = head.format(sender=in_line(f"by {each.sender}")[3:], request=in_line(each.request))
        found.append("\n".join(filter(None, (told, told_as_data(each.text)))))
    return "\n\n".join(found)


def next_for(folder: TeamFolder, name: str, who: Holder, nudged: dict[str, int]) -> Next:
    """Claims what it gives. `nudged` counts by task how often that was tried already."""
    gave_up = ""
    with opened_in(folder.path) as tasks:
        for own in list(tasks.held_by(who)):
            nudged[own.id] = nudged.get(own.id, 0) + 1
            if nudged[own.id] <= NUDGES:
                return Next(AGAIN.format(id=own.id, subject=in_line(own.subject)), own.id)
            tasks.give_back(own)
            gave_up = own.id
        free = tasks.next_free()
        if free is None or nudged.get(free.id, 0) > NUDGES:
            return Next(gave_up=gave_up)
        tasks.claim(free, who, name)
        return Next(_asked(free), free.id, gave_up)


def _asked(task: Task) -> str:
    subject, description = in_line(task.subject), told_as_data(task.description)
    text = TASK.format(id=task.id, subject=subject, description=description)
    return text.replace("\n\n", "\n")


def let_go(folder: TeamFolder, agents: frozenset[str]) -> list[str]:
    """What those agents of this process held is free again."""
    with opened_in(folder.path) as tasks:
        held = [t for t in tasks.tasks.values() if t.holder and t.holder.agent in agents]
        held = [task for task in held if task.holder and task.holder.life.is_us()]
        for task in held:
            tasks.give_back(task)
        return [task.id for task in held]


def free_of_the_dead(folder: TeamFolder) -> None:
    """Opening the list does it; nothing where there is no team any more."""
    if folder.roll is not None:
        with opened_in(folder.path):
            pass
