"""What a rule does, in a sentence for whoever wrote it."""

from __future__ import annotations

from gatewright.permissions.paths import Place
from gatewright.permissions.rulebook import servers, tools_table
from gatewright.permissions.rulebook.rules import (
    Bare,
    Behavior,
    DomainForm,
    NameForm,
    ParamForm,
    PathForm,
    Rule,
    ShellForm,
    SlashForm,
)

VERBS: dict[Behavior, str] = {"allow": "Allows", "ask": "Asks before", "deny": "Forbids"}


def meaning(rule: Rule, place: Place) -> str:
    return f"{VERBS[rule.behavior]} {_about(rule, place)}."


def _about(rule: Rule, place: Place) -> str:
    form = rule.form
    match form:
        case Bare():
            return _whole(rule.tool)
        case ShellForm():
            return _commands(form)
        case PathForm(pattern=pattern):
            return f"{_doing(rule.tool)} {based(pattern, place)}"
        case DomainForm():
            return _pages(form)
        case NameForm(name=name):
            return f"the skill {name}" if rule.tool == "Skill" else f"agents of the kind {name}"
        case SlashForm(name=name, arguments=arguments):
            return f"{name}, with any arguments" if arguments else f"{name}, without arguments"
        case ParamForm(name=name, value=value):
            return f"calls of {rule.tool} whose {name} is {value}"


def based(pattern: str, place: Place) -> str:
    """A path pattern with the directory it starts at."""
    if pattern.startswith("//"):
        return pattern[1:]
    if pattern.startswith("~/"):
        return place.home + pattern[1:]
    if pattern.startswith("/"):
        return place.root + pattern
    if "/" not in pattern.rstrip("/"):
        return f"{pattern} in whatever directory"
    if pattern.startswith("**/"):
        return pattern
    return f"{place.start}/{pattern.removeprefix('./')}"


def _commands(form: ShellForm) -> str:
    if form.kind == "exact":
        return f"the command {form.text}, exactly so"
    if form.kind == "prefix":
        return f"{form.text}, alone or with anything behind it"
    return f"commands that look like {form.text}, where * is anything"


def _whole(tool: str) -> str:
    if tool == "*":
        return "every call of every tool"
    parts = servers.parts(tool)
    if parts is not None and parts[1] != "*":
        return f"the tool {parts[1]} of the server {parts[0]}"
    if servers.names_server(tool):
        server = parts[0] if parts is not None else tool[5:].removesuffix("__*")
        return f"every tool of the server {server}"
    also = sorted(tools_table.COVERS.get(tool, frozenset()) - {tool})
    return f"every call of {tool}" + (f", also of {', '.join(also)}" if also else "")


def _doing(tool: str) -> str:
    if tool == "Read":
        return "reading and searching"
    return "changing" if tool == "Edit" else f"{tool} of"


def _pages(form: DomainForm) -> str:
    if not form.host:
        return "pages of every host"
    return f"pages {'below' if form.subdomains else 'of'} {form.host}" + (
        "" if form.subdomains else " and of what is below it"
    )
