"""The git commands that run unprompted, as data: sub-commands with the options that keep them so."""

# ruff: noqa: E501

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class GitRow:
    """Allowed options of one read-only sub-command; a listing one takes no free operand.

    `operands`: "any" revisions and paths, "none", or "pattern" only behind a listing option.
    """

    flags: str = ""
    values: str = ""
    long: str = ""
    operands: Literal["any", "none", "listing", "one"] = "any"
    listing: tuple[str, ...] = ()
    words: tuple[tuple[str, ...], ...] = ()  # allowed leading words, () = none needed
    digits: bool = False
    yes: tuple[str, ...] = ()
    no: tuple[str, ...] = ()


_DIFF_LONG = (
    "stat=? shortstat numstat name-only name-status patch no-patch raw summary unified= "
    "color=? no-color color-words=? word-diff=? cached staged merge-base check full-index "
    "binary abbrev=? find-renames=? find-copies=? no-renames diff-filter= ignore-all-space "
    "ignore-space-change ignore-space-at-eol ignore-blank-lines ignore-cr-at-eol "
    "inter-hunk-context= function-context exit-code quiet relative=? no-relative minimal patience "
    "histogram diff-algorithm= compact-summary dirstat=? no-ext-diff no-textconv "
    "submodule=? ignore-submodules=? no-prefix src-prefix= dst-prefix= text pickaxe-regex "
    "pickaxe-all word-diff-regex= patch-with-stat patch-with-raw color-moved=? indent-heuristic "
    "no-indent-heuristic ws-error-highlight= output-indicator-new= no-color-moved"
)
_LOG_LONG = (
    "oneline graph all branches=? tags=? remotes=? decorate=? no-decorate author= committer= grep= "
    "all-match invert-grep regexp-ignore-case extended-regexp fixed-strings perl-regexp since= "
    "after= until= before= max-count= skip= merges no-merges first-parent reverse format=G pretty=?G "
    "abbrev-commit no-abbrev-commit follow date= date-order topo-order author-date-order "
    "left-right cherry-pick cherry-mark cherry boundary simplify-by-decoration full-history "
    "ancestry-path=? show-pulls walk-reflogs relative-date no-walk=? source notes=? no-notes "
    "stdin-none count min-parents= max-parents= not children parents log-size use-mailmap mailmap "
    "no-mailmap decorate-refs= decorate-refs-exclude= exclude= glob= left-only right-only "
    "encoding= expand-tabs=? no-expand-tabs show-linear-break=? no-graph cc diff-merges= remerge-diff"
)
GIT: Mapping[str, GitRow] = {
    "status": GitRow(
        "sbvzuU", "", "short branch porcelain=? long untracked-files=? ignored=? verbose "
        "show-stash no-renames find-renames=? column=? no-column ahead-behind no-ahead-behind "
        "ignore-submodules=? renames", yes=("git status -sb", "git --no-pager status"),
        no=("git -c a=b status", "git -C x status", "git --git-dir=x status"),
    ),
    "diff": GitRow(
        "pusWwbBCDMRaz", "USG", _DIFF_LONG + " no-color-moved-ws ours theirs base",
        digits=False, yes=("git diff --stat HEAD~1", "git diff --cached -- a", "git diff a..b"),
        no=("git diff --output=x", "git diff --ext-diff", "git diff --textconv", "git diff --no-index a b",
            "git diff -Ox", "git diff --outp=x", "git diff *"),
    ),
    "log": GitRow(
        "pusWwbBCDMRaziEFPgmcqt", "USGnL", _LOG_LONG + " " + _DIFF_LONG, digits=True,
        yes=("git log --oneline -5", "git log -n 3 --format='%h %s' -- src", "git log -S x"),
        no=("git log --output=x", "git log --show-signature", "git log --format=%G?",
            "git log --pretty=format:%GK", "git log --ext-diff", "git log --textconv",
            "git log --format=%+GK", "git log --pretty='%-G?'", "git log --pretty=mine", "git log --format=*"),
    ),
    "show": GitRow(
        "pusWwbBCDMRazqmct", "USG", _LOG_LONG + " " + _DIFF_LONG,
        yes=("git show HEAD", "git show HEAD:a.py", "git show --stat"),
        no=("git show --textconv HEAD:a", "git show --show-signature", "git show --format=%G?", "git show --pretty=%+GT"),
    ),
    "branch": GitRow(
        "alrvi", "", "all list remotes verbose show-current color=? no-color column=? no-column "
        "ignore-case abbrev=? no-abbrev sort=K format=R contains=? no-contains=? merged=? no-merged=? "
        "points-at=", operands="listing",
        listing=("-l", "--list", "--contains", "--no-contains", "--merged", "--no-merged",
                 "--points-at"),
        yes=("git branch", "git branch -a", "git branch -vv", "git branch --show-current",
             "git branch --list 'a*'", "git branch --merged main"),
        no=("git branch x", "git branch -v x", "git branch -D x", "git branch -d x", "git branch -m x",
            "git branch --edit-description", "git branch --set-upstream-to=x", "git branch -f x",
            "git branch -c a b", "git branch --format='%(signature)'", "git branch --sort=signature",
            "git branch --sort signature"),
    ),
    "rev-parse": GitRow(
        "q", "", "abbrev-ref=? short=? verify show-toplevel show-prefix show-cdup git-dir "
        "git-common-dir is-inside-work-tree is-inside-git-dir is-bare-repository symbolic "
        "symbolic-full-name all branches=? tags=? remotes=? show-superproject-working-tree "
        "absolute-git-dir quiet revs-only no-revs flags no-flags default= end-of-options "
        "is-shallow-repository show-object-format=? local-env-vars",
        yes=("git rev-parse --abbrev-ref HEAD", "git rev-parse --show-toplevel"),
    ),
    "ls-files": GitRow(
        "cdmosutvfkzi", "x", "cached deleted modified others ignored stage unmerged killed "
        "exclude= exclude-standard error-unmatch full-name recurse-submodules abbrev=? debug eol "
        "deduplicate directory no-empty-directory format=L sparse",
        yes=("git ls-files -m", "git ls-files --others --exclude-standard"),
        no=("git ls-files -X a", "git ls-files --exclude-from=a"),
    ),
    "blame": GitRow(
        "bltfnsewcpMC", "L", "root show-stats porcelain line-porcelain incremental show-name "
        "show-number show-email date= abbrev= since= color-lines color-by-age minimal "
        "ignore-rev=", yes=("git blame -L 1,5 a",), no=("git blame --contents x a", "git blame -S x a",
                                                      "git blame --ignore-revs-file=x a"),
    ),
    "describe": GitRow(
        "", "", "all tags contains abbrev= candidates= exact-match long match= exclude= always "
        "first-parent dirty=? broken=?", yes=("git describe --tags --always",),
    ),
    "remote": GitRow(
        "v", "", "verbose all push", operands="none", words=((), ("get-url",), ("-v",)),
        yes=("git remote -v", "git remote", "git remote get-url origin"),
        no=("git remote add a b", "git remote show origin", "git remote update",
            "git remote set-url a b", "git remote remove a"),
    ),
    "stash": GitRow(
        "pu", "", "oneline stat=? patch name-only name-status format=G include-untracked "
        "only-untracked", words=(("list",), ("show",)), digits=True,
        yes=("git stash list", "git stash show -p"),
        no=("git stash", "git stash pop", "git stash drop", "git stash -u", "git stash push list",
            "git stash show --ext-diff", "git stash list --format=%GG"),
    ),
    "tag": GitRow(
        "lin", "", "list sort=K contains=? no-contains=? merged=? no-merged=? points-at=? "
        "column=? no-column ignore-case color=? format=R", operands="listing", digits=False,
        listing=("-l", "--list", "--contains", "--no-contains", "--merged", "--no-merged",
                 "--points-at"),
        yes=("git tag", "git tag -l", "git tag --list 'v*'", "git tag -n"),
        no=("git tag v1", "git tag -d v1", "git tag -a v1 -m x", "git tag -v v1", "git tag -f v1",
            "git tag --format='%(signature)'", "git tag -l --sort=-signature"),
    ),
    "shortlog": GitRow(
        "nsec", "w", "numbered summary email group=U format=G no-merges merges since= until= "
        "author= committer all", yes=("git shortlog -sn HEAD", "git shortlog --group=trailer:acked-by"),
        no=("git shortlog --group=format:%G?", "git shortlog --group=%GS", "git shortlog --format=%GK"),
    ),
    "cat-file": GitRow(
        "tspe", "", "batch-all-objects unordered mailmap use-mailmap",
        yes=("git cat-file -p HEAD",),
        no=("git cat-file --textconv HEAD:a", "git cat-file --filters HEAD:a", "git cat-file --batch"),
    ),
    "config": GitRow(
        "lz", "", "get get-all list name-only show-origin show-scope null global local system "
        "worktree type= bool int path default= get-urlmatch includes no-includes", operands="one",
        words=((),), yes=("git config --get user.name", "git config --local --list",
                          "git config --worktree -l", "git config --local --get http.extraheader"),
        no=("git config user.name x", "git config --global user.name x", "git config --unset a",
            "git config --edit", "git config -f x --get a", "git config --get-color a",
            "git config --file=x --get a", "git config core.fsmonitor", "git config --list",
            "git config -l", "git config --global -l", "git config --local --includes -l",
            "git config --get http.extraheader", "git config --get-urlmatch http https://x"),
    ),
    "grep": GitRow(
        "EFGPiwvnlLchHoqazIWp", "ABCem", "cached untracked no-recursive recursive ignore-case "
        "word-regexp invert-match line-number files-with-matches name-only files-without-match "
        "count only-matching color=? no-color break heading show-function function-context "
        "after-context= before-context= context= extended-regexp basic-regexp fixed-strings "
        "perl-regexp and or not all-match quiet max-depth= full-name column max-count= text "
        "exclude-standard no-exclude-standard no-textconv threads= null", digits=True,
        yes=("git grep -n foo", "git grep -e a --and -e b -- src"),
        no=("git grep -O x", "git grep -Oless x", "git grep --open-files-in-pager=x y",
            "git grep --op=x y", "git grep -f a", "git grep --no-index x", "git grep --textconv x"),
    ),
    "merge-base": GitRow("a", "", "all octopus independent is-ancestor fork-point"),
    "ls-tree": GitRow(
        "drtlz", "", "name-only name-status long full-name full-tree abbrev=? object-only "
        "format=L", yes=("git ls-tree -r HEAD",),
    ),
    "rev-list": GitRow("g", "n", _LOG_LONG + " objects quiet disk-usage=? header timestamp",
                       digits=True, yes=("git rev-list --count HEAD",),
                       no=("git rev-list --format=%-GF HEAD",)),
    "reflog": GitRow(
        "pq", "n", _LOG_LONG, words=((), ("show",), ("list",), ("exists",)), operands="any", digits=True,
        yes=("git reflog", "git reflog -5", "git reflog show HEAD"),
        no=("git reflog expire --all", "git reflog delete x", "git reflog --format=%+GK"),
    ),
    "worktree": GitRow(
        "vz", "", "porcelain verbose", operands="none", words=(("list",),), yes=("git worktree list",),
        no=("git worktree add x", "git worktree remove x"),
    ),
    "for-each-ref": GitRow(
        "spt", "", "count= format=R sort=K points-at= merged=? no-merged=? contains=? "
        "no-contains=? ignore-case color=? omit-empty exclude= include-root-refs",
        yes=("git for-each-ref --sort=-committerdate refs/heads",),
        no=("git for-each-ref --format='%(signature)'", "git for-each-ref --sort=signature"),
    ),
    "check-ignore": GitRow("qvzn", "", "quiet verbose non-matching no-index", yes=("git check-ignore -v a",)),
}  # fmt: skip
GIT_GLOBAL = frozenset({"--no-pager", "-P", "--no-optional-locks", "--literal-pathspecs"})
