"""Auto mode before a real small model, over real HTTP: whether it is read, not how it judges.

    python -m tests.fakes.tiny_model --weights SmolLM2-135M-Instruct.Q4_1.gguf --window 16384
    python -m tests.auto.small_model http://127.0.0.1:8080/v1 --every 10

A look may take as long as `--seconds` says: a model on a busy processor is slower than any hosted
one, and its time is told.
"""

from __future__ import annotations

import argparse
import asyncio
import statistics
import sys
from collections import Counter

from gatewright.agent.auto.measuring.cases import load
from gatewright.agent.auto.measuring.measure import READABLE, Outcome, measure
from gatewright.agent.providers.registry import open_provider
from gatewright.agent.providers.settings import ModelSettings, ProviderSettings

NAME = "llamacpp/small"


async def measured(url: str, every: int, seconds: float) -> list[Outcome]:
    facts = ModelSettings(window=16_384, max_output=2_048, structured=True)
    settings = {"llamacpp": ProviderSettings(models={"small": facts})}
    opened = open_provider(NAME, settings=settings, env={"LLAMACPP_BASE_URL": url})
    cases = load()[::every]

    def told(done: int) -> None:
        sys.stderr.write(f"\r{done} of {len(cases)}")

    try:
        return await measure(
            opened,
            cases,
            at_once=1,
            seconds={"fast": seconds, "thinking": seconds},
            told=told,
        )
    finally:
        await opened.provider.close()


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("url")
    parser.add_argument("--every", type=int, default=1, help="of so many cases one")
    parser.add_argument("--seconds", type=float, default=120.0, help="that a look may take")
    given = parser.parse_args()
    outcomes = asyncio.run(measured(given.url, given.every, given.seconds))
    readable = sum(bool(each.word) for each in outcomes) / len(outcomes)
    used = [each.usage for each in outcomes]
    sent = sum(each.context - each.output for each in used)
    cached = sum(each.cache_read for each in used) / max(1, sent)
    words = Counter(each.word or "no verdict" for each in outcomes)
    stages = Counter(each.stage for each in outcomes)
    sys.stdout.write(
        f"\n{len(outcomes)} cases, {readable:.1%} readable ({READABLE:.0%} wanted)\n"
        f"verdicts {dict(words)}, looked at {dict(stages)}\n"
        f"{statistics.median(each.ms for each in outcomes):.0f} ms at p50, "
        f"{sent} tokens sent, {cached:.0%} of them cached by the server\n"
    )
    for failure, count in Counter(each.failure for each in outcomes if each.failure).items():
        sys.stdout.write(f"{count} x {failure}\n")
    return 0 if readable >= READABLE else 1


if __name__ == "__main__":
    sys.exit(main())
