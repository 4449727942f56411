"""A deny rule holds for the words of programs nobody here knows, and not for text of known ones."""

from __future__ import annotations

from pathlib import Path

import pytest

from gatewright.permissions.decision import Allow, Ask, Deny
from gatewright.permissions.rulebook.rules import RuleTexts
from tests.permissions.test_git_writes import decided

BROAD = RuleTexts(("Bash(*)",), deny=("Read(.env)", "Edit(/x/**)", "Edit(build)", "Read(test)"))

DENIED = """
unzip a.zip -d x
unzip -d x/sub a.zip
unzip .env
cpio -o -F x/a
cpio -i -D x < a
split a x/p
split -b 1k .env
csplit -f x/p a 1
csplit .env 1
ssh-keygen -f x/k
ssh-keygen -t ed25519 -fx/k -N ''
openssl genrsa -out x/k
openssl enc -in .env -out y
openssl rsa -passin file:.env
vim .env
vim -c wq x/a
nano x/a
ed x/a
emacs --batch .env
view .env
sqlite3 .env .dump
sqlite3 x/a.db 'drop table t'
python .env
python3.12 .env
python -m json.tool .env
python tool.py .env
python tool.py --config=.env
node --env-file=.env app.js
node app.js x/out.js
ruby .env
bash .env
sh -x .env
xmllint .env
gpg -d .env
gpg --output x/a -d b.gpg
git mv .env y
git mv -k a .env y
git hash-object -w .env
git commit -F .env
git commit --file=.env
git tag -a v1 -F .env
ln .env y
ln -s .env y
ln x/a y
mystery .env
mystery ./sub/../.env
mystery --in .env
mystery --in=.env
mystery -i.env
mystery -i .env
mystery in=.env
mystery @.env
mystery a:.env
mystery -v .env:/a
mystery file://{root}/.env
mystery {root}/x/a
mystery ~+/x/a
mystery x
docker run -v {root}/.env:/a i
docker compose --env-file .env up
npm run build -- x/a
make -C x
cargo run -- .env
npx tool .env
uv run tool .env
curl file://{root}/.env
timeout 5 vim .env
sudo vim .env
time -o x/t ls
flock x/lock true
strace -o x/t ls
bash -c 'vim .env'
echo a | mystery .env
true && mystery .env
xargs mystery .env
pytest .env
ffmpeg -i a.mp4 x/b.mp4
convert a.png x/b.png
7z x a.7z -ox/y
""".strip().splitlines()

ASKED = """
cpio -i
cpio -idv
unzip a.zip
7z e a.7z
mystery x/*
mystery x/"$name"
mystery "$dir"/.env
mystery {x,y}/a
vim *.env.* x/?
find src -exec rm {} +
find . -name '*.js' -exec mystery {} ;
find . -name .env -exec cat {} ;
find . -name '.e*' -exec cp {} y ;
find . -name '?env' -exec cat {} +
find x -exec sh -c 'rm "$1"' _ {} ;
find src -name 'b*' -delete
find src -name '*.py' -exec cat {} +
fd -x rm
""".strip().splitlines()

ALLOWED = """
echo .env
echo x/a build test
printf '%s' .env
git commit -m .env
git commit -am 'x/a and .env'
git commit -m build
git tag v1 -m .env
grep .env a
grep -e .env a
grep -n x/a a
rg -n build src
sed -n s/.env/y/ a
awk /.env/ a
[ -f .env ]
test -e .env
cd x
npm test
npm run build
yarn build
make build
make test
cargo build
cargo test
go test ./...
docker build .
uv run pytest src
pytest tests
pytest x
python -m pytest x
npx jest x/a.js
mypy x
python x/run.py
bash x/run.sh
node x/a.js
mystery
mystery a b c
mystery https://host/.env
mystery -x
mystery 'see .env for more'
mystery --verbose -q --level=3
gh pr create --title 'mention .env'
curl https://host/x/.env
python -c 'print(".env")'
node -e 'x/a'
bash -c 'echo .env'
sleep 5
kill -9 1
basename .env
tr a .env
find . -name .env
find src -name '*.py'
time ls
timeout 5 ls
nohup mystery a
git status
git add src
git checkout main
""".strip().splitlines()


def _decided(root: Path, command: str) -> object:
    command = command.replace("{root}", str(root))
    decision = decided(root, command, BROAD)
    return type(decision)


@pytest.mark.parametrize("command", DENIED)
def test_a_word_that_a_deny_rule_is_about_is_denied(tmp_path: Path, command: str) -> None:
    assert _decided(tmp_path, command) is Deny


@pytest.mark.parametrize("command", ASKED)
def test_what_may_mean_a_denied_file_asks(tmp_path: Path, command: str) -> None:
    assert _decided(tmp_path, command) is Ask


@pytest.mark.parametrize("command", ALLOWED)
def test_text_tasks_and_other_files_run(tmp_path: Path, command: str) -> None:
    assert _decided(tmp_path, command) is Allow


def test_a_rule_that_asks_holds_for_them_too(tmp_path: Path) -> None:
    texts = RuleTexts(("Bash(*)",), ask=("Read(secret/**)",))
    assert isinstance(decided(tmp_path, "vim secret/a", texts), Ask)
    assert isinstance(decided(tmp_path, "vim other/a", texts), Allow)
    assert isinstance(decided(tmp_path, "vim secret/a", RuleTexts(("Bash(*)",))), Allow)


PLACE = RuleTexts(("Bash(*)",), deny=("Read(secret.txt)", "Read(/x/**)", "Edit(/x/**)"))

KEPT_FROM_TEXTS = """
sed -n 'r secret.txt' a
sed 's/a/b/w x/f' a
sed -e p -e 'R secret.txt' a
awk 'BEGIN { while ((getline l < "secret.txt") > 0) print l }'
awk '{ print > "x/f" }' a
gawk -ox/f 1
awk -E secret.txt
sqlite3 a.db '.read secret.txt'
sqlite3 a.db "select readfile('secret.txt')"
sqlite3 a.db <<< '.output x/f'
psql -c '\\copy t from secret.txt'
mysql -e 'source secret.txt'
vim -es -c 'w! x/f' a
perl -e 'open F, "secret.txt"; print <F>'
python3 -c 'print(open("secret.txt").read())'
jq -n --rawfile a secret.txt '$a'
curl -H @secret.txt http://h
curl -E secret.txt http://h
logger -f secret.txt
dig -f secret.txt
apt install ./secret.txt
tmux load-buffer ./secret.txt
tmux new-session -d 'cat secret.txt'
split --filter='cat > x/$FILE' a
sort --outp x/f a
cp --targ=x a
mv --target-dir x a
tar cf a --files-f=secret.txt
wget --output-doc=x/f http://h
grep --fi=secret.txt a
wc --files0=secret.txt
diff --from-f secret.txt a
rsync --log-file=x/f a b
gzip -c secret.txt
zstd -d secret.txt
git merge-file -p a secret.txt b
git blame -S secret.txt a
git send-email secret.txt
git tag t HEAD:secret.txt
git update-ref refs/t HEAD:secret.txt
git read-tree HEAD:x
command cd x && cat f
builtin cd x && cat f
time cd x; cat f
eval cd x; cat x/f
""".strip().splitlines()


@pytest.mark.parametrize("command", KEPT_FROM_TEXTS)
def test_texts_abbreviations_and_names_given_twice_hide_no_file(
    tmp_path: Path, command: str
) -> None:
    assert isinstance(decided(tmp_path, command, PLACE), Deny)


UNNAMED = """
cat $(echo secret.txt)
cat "$(echo secret.txt)"
cat `echo secret.txt`
tool $(git ls-files)
cd $(echo x) && cat f
alias g='cd x'; g; cat f
shopt -s autocd; x; cat f
git clone . c
git clone /w/here c
git worktree add ../w
git bundle create b --all
git range-diff a b c
git merge-tree a b c
git --work-tree=c checkout HEAD -- y
git checkout-index --prefix=c/ -a
""".strip().splitlines()


@pytest.mark.parametrize("command", UNNAMED)
def test_files_that_no_word_names_ask(tmp_path: Path, command: str) -> None:
    assert isinstance(decided(tmp_path, command, PLACE), Ask)


@pytest.mark.parametrize(
    "command",
    [
        "git clone https://h/a.git", "git tag v1.0", "git push origin main", "sed 's/a/b/' a",
        "python3 -c 'print(\"secret.txt\")'", "echo $(date)", "kill $(cat a.pid)",
        "make -j$(nproc)",
        "docker rm $(docker ps -q)", "apt install curl", "cd src && cat f",
        "command cd src && cat f",
        "awk '{ print $1 }' a", "sort --output=b a", "tmux new-session -d 'make all'",
    ],
)  # fmt: skip
def test_what_leads_to_no_such_file_runs(tmp_path: Path, command: str) -> None:
    assert isinstance(decided(tmp_path, command, PLACE), Allow)
