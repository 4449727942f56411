"""A command that another program carries is restricted as if it stood there; nothing is granted."""

from __future__ import annotations

from pathlib import Path

import pytest

from gatewright.permissions.decision import Allow, Ask, Deny
from gatewright.permissions.rulebook.rules import RuleTexts
from tests.permissions.test_git_writes import decided

CARRIED = """
uv run {}
uv run --with requests {}
poetry run {}
hatch run {}
conda run -n env {}
bundle exec {}
npm exec -- {}
npx {}
npx -c '{}'
pnpm dlx {}
pyenv exec {}
rustup run stable {}
direnv exec . {}
nix develop -c {}
nix-shell --run '{}'
perf stat -e cycles {}
gdb -ex run --args {}
eatmydata {}
bwrap --dev-bind / / {}
tmux new-session -d '{}'
tmux new -d {}
screen -dmS x {}
xterm -e {}
ssh host {}
ssh -p 22 host '{}'
hyperfine '{}'
watchexec -e py -- {}
cross-env A=b {}
parallel ::: '{}'
env --split='{}'
env --split-str '{}'
awk 'BEGIN {{ system("{}") }}'
awk 'BEGIN {{ "{}" | getline }}'
sed '1e {}' a
sqlite3 a.db '.shell {}'
sqlite3 a.db <<< '.system {}'
psql -c '\\! {}'
vim '+!{}' a
ed <<< '!{}'
make --eval='x:; {}' x
make -f - <<< 'x:; {}'
perl -e 'system("{}")'
ruby -e '`{}`'
node -e 'require("child_process").execSync("{}")'
python3.11 -c "import os; os.system('{}')"
expect -c 'spawn {}'
GIT_PAGER='{}' git log
env PAGER='{}' git -p log
EDITOR='{}' git commit
LESSOPEN='|{}' less a
""".strip().splitlines()


@pytest.mark.parametrize("line", CARRIED)
def test_a_denied_command_is_denied_in_every_carrier(line: str, tmp_path: Path) -> None:
    rules = RuleTexts(("Bash(*)",), deny=("Bash(curl:*)",))
    assert isinstance(decided(tmp_path, line.format("curl x"), rules), Deny)


@pytest.mark.parametrize("line", CARRIED)
def test_the_floor_holds_in_every_carrier(line: str, tmp_path: Path) -> None:
    found = decided(tmp_path, line.format("rm -rf /"), RuleTexts(("Bash(*)",)))
    assert isinstance(found, Ask)
    assert not found.grants


@pytest.mark.parametrize(
    "line",
    ["subprocess.run(['rm', '-rf', '/'])", 'os.execvp("rm", ["rm", "-rf", "/"])'],
)
def test_a_list_of_words_is_a_command(line: str, tmp_path: Path) -> None:
    command = "python3 -c '" + line.replace("'", '"') + "'"
    assert isinstance(decided(tmp_path, command, RuleTexts(("Bash(*)",))), Ask)


@pytest.mark.parametrize(
    "line",
    [
        "npm run test", "npm install curl", "uv add curl", "uv run pytest test", "pip install curl",
        "uv run --with curl pytest", "npx jest test", "poetry run pytest -k curl",
        "python3 -c 'print(\"test\")'", "awk '{ print $1 }' a", "sed 's/test/curl/' a",
        "ssh host", "docker run --rm image test", "node -e 'console.log(\"curl\")'",
        "git commit -m 'curl is gone: rm -rf /'", "gh pr create --body 'curl x and rm -rf /'",
    ],
)  # fmt: skip
def test_what_only_looks_like_a_command_is_left_alone(line: str, tmp_path: Path) -> None:
    rules = RuleTexts(("Bash(*)",), deny=("Bash(curl x:*)", "Bash(test:*)"))
    assert isinstance(decided(tmp_path, line, rules), Allow)


def test_nothing_is_asked_about_what_a_runner_carries(tmp_path: Path) -> None:
    assert isinstance(decided(tmp_path, "uv run pytest -q", RuleTexts(("Bash(uv run:*)",))), Allow)
