"""The public conformance suite, both sides, where it is installed: all that revisions require.

`npm install @modelcontextprotocol/conformance@0.2.0-alpha.12` was run in the folder that
GATEWRIGHT_TEST_NPM names; it wants node 22, which GATEWRIGHT_TEST_NODE may name.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

NPM = Path(os.environ.get("GATEWRIGHT_TEST_NPM", "/nowhere"))  # before tests hide what is ours
NODE = os.environ.get("GATEWRIGHT_TEST_NODE") or shutil.which("node") or ""
SUITE = NPM / "node_modules" / "@modelcontextprotocol" / "conformance" / "dist" / "index.js"
HERE = Path(__file__)
# Not offered, each for the reason that docs/mcp.md says.
OTHERS = {
    "auth/client-credentials-jwt", "auth/client-credentials-basic", "auth/dpop", "auth/dpop-nonce",
    "auth/enterprise-managed-authorization", "auth/wif-jwt-bearer",
    "json-schema-2020-12-preservation",
}  # fmt: skip
# What our server has: its tools, and questions in the middle of their calls. The rest is about
# resources, prompts and other questions, which it does not offer.
BOTH = {
    "tools-list", "tools-call-simple-text", "tools-call-image", "tools-call-error",
    "tools-call-embedded-resource", "tools-call-mixed-content", "tools-call-with-progress",
    "server-sse-multiple-streams", "dns-rebinding-protection", "json-schema-2020-12",
}  # fmt: skip
SERVES = {
    "2025-11-25": BOTH | {"server-initialize", "server-session-lifecycle", "ping"},
    "2026-07-28": BOTH
    | {"sep-2164-resource-not-found", "http-header-validation"}
    | {
        f"input-required-result-{what}"
        for what in (
            "request-state", "tampered-state", "missing-input-response", "result-type",
            "unsupported-methods", "ignore-extra-params", "validate-input",
        )
    },
}  # fmt: skip
# One check of many is about something that is not offered.
PARTLY = {"server-stateless": 2, "caching": 3}
_RESULT = re.compile(r"^\S* ?([\u2713\u2717]) (\S+): (\d+) passed, (\d+) failed", re.MULTILINE)


@pytest.mark.proof
@pytest.mark.timeout(900)
@pytest.mark.skipif(not SUITE.exists() or not NODE, reason="the suite is not installed")
@pytest.mark.parametrize("revision", ["2025-11-25", "2026-07-28"])
def test_what_a_revision_requires(revision: str, tmp_path: Path) -> None:
    client = f"{sys.executable} {HERE.with_name('conformance_client.py')}"
    done = subprocess.run(
        [NODE, str(SUITE), "client", "--requirements", revision, "--timeout", "60000",
         "-o", str(tmp_path), "--command", client],
        cwd=tmp_path, env={**os.environ, "PYTHONPATH": str(HERE.parents[2])},
        capture_output=True, text=True, encoding="utf-8", check=False, timeout=800,
    )  # fmt: skip
    results = {name: mark for mark, name, _, _ in _RESULT.findall(done.stdout)}
    assert len(results) > 20, done.stdout + done.stderr
    assert {name for name, mark in results.items() if mark == "\u2717"} <= OTHERS


@pytest.mark.proof
@pytest.mark.timeout(900)
@pytest.mark.skipif(not SUITE.exists() or not NODE, reason="the suite is not installed")
@pytest.mark.parametrize("revision", ["2025-11-25", "2026-07-28"])
def test_what_a_revision_requires_of_our_server(revision: str, tmp_path: Path) -> None:
    env = {**os.environ, "PYTHONPATH": str(HERE.parents[2])}
    server = [sys.executable, str(HERE.with_name("conformance_server.py"))]
    with subprocess.Popen(
        server, env=env, stdout=subprocess.PIPE, text=True, encoding="utf-8"
    ) as serving:
        assert serving.stdout is not None
        url = serving.stdout.readline().strip()
        done = subprocess.run(
            [NODE, str(SUITE), "server", "--requirements", revision, "--url", url,
             "-o", str(tmp_path)],
            cwd=tmp_path, capture_output=True, text=True, encoding="utf-8", check=False,
            timeout=800,
        )  # fmt: skip
        serving.terminate()
    results = {name: (mark, int(bad)) for mark, name, _, bad in _RESULT.findall(done.stdout)}
    assert len(results) > 20, done.stdout + done.stderr
    passed = {name for name, (mark, _) in results.items() if mark == "\u2713"}
    assert passed >= SERVES[revision], SERVES[revision] - passed
    for name, most in PARTLY.items():
        assert name not in results or results[name][1] <= most, done.stdout
