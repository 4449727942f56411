"""`agent dream`: what sessions learnt here is gone through, and a proposal is all that is left."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

import typer

from gatewright.agent.autonomy.memory.dream_run import changes, dream_plan
from gatewright.agent.autonomy.memory.dreaming import OUTPUT, SECONDS, Plan
from gatewright.agent.autonomy.memory.learnt_book import OFF, UNTRUSTED
from gatewright.agent.autonomy.memory.memory_place import main_tree, memory_folder
from gatewright.agent.autonomy.memory.memory_store import MemoryStore
from gatewright.agent.errors import GatewrightError
from gatewright.agent.launch.options import LaunchOptions
from gatewright.agent.models.model import OpenModel
from gatewright.agent.models.opener import small_name, wanted_model
from gatewright.agent.models.short_answer import short_answer
from gatewright.agent.providers.registry import open_provider
from gatewright.agent.settings.workspace import Surroundings, survey
from gatewright.agent.subcommands.place import refuse_inside_session
from gatewright.agent.subcommands.tell import tell
from gatewright.agent.text.redact import Redactor
from gatewright.agent.turn.request import RequestFrame
from gatewright.tools.blocks import plain

TIDY = "Nothing is to be tidied in what sessions learnt here."
LEFT = "A proposal, and nothing is changed: /dream in a session here shows it and asks."


def register(app: typer.Typer) -> None:
    app.command(name="dream", help="Propose how to tidy what sessions learnt here.")(dream)


def dream() -> None:
    """Look through what sessions learnt here and write down what /dream would change."""
    refuse_inside_session()
    around = survey(LaunchOptions(), os.environ, interactive=False)
    if not around.trusted:
        raise GatewrightError(UNTRUSTED)
    if around.settings.auto_memory == "off":
        raise GatewrightError(OFF)
    plan, note = asyncio.run(_proposed(around))
    if note:
        tell(note, err=True)
    if plan.empty:
        tell(TIDY)
        return
    for line in plan.why:
        tell(line)
    for block in changes(plan.before, plan.after):
        tell(plain(block))
    tell(LEFT)


async def _proposed(around: Surroundings) -> tuple[Plan, str]:
    folder, problem = memory_folder(around)
    if problem:
        raise GatewrightError(problem)
    store = MemoryStore(folder)
    root = around.where.root
    roots: tuple[Path, ...] = tuple(dict.fromkeys((root, main_tree(root))))

    async def ask(system: str, text: str) -> str:
        model = _small(around)
        try:
            return await short_answer(model, system, text, max_output=OUTPUT, seconds=SECONDS)
        finally:
            await model.provider.close()

    redactor = Redactor(around.env, around.secrets)
    plan, note = await dream_plan(store, roots, ask, redactor)
    if not plan.empty:
        await asyncio.to_thread(store.propose, plan.before, plan.after)
    return plan, note


def _small(around: Surroundings) -> OpenModel:
    """Raises GatewrightError: there is no model, or no key for it."""
    wanted = wanted_model(around, "")
    name = small_name(around, wanted) or wanted
    if not name:
        raise GatewrightError("there is no model: agent login keeps a key")
    opened = open_provider(name, settings=around.providers, env=around.env)
    frame = RequestFrame(model=opened.model, system=(), tools=(), max_output=OUTPUT)
    return OpenModel(
        name=opened.name,
        provider=opened.provider,
        frame=frame,
        window=opened.facts.window,
        price=opened.facts.cost,
    )
