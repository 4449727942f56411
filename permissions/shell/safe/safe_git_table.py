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
        "ignore-submodules=? renames",
    ),
    "diff": GitRow(
        "pusWwbBCDMRaz", "USG", _DIFF_LONG + " no-color-moved-ws ours theirs base",
        digits=False,
    ),
    "log": GitRow(
        "pusWwbBCDMRaziEFPgmcqt", "USGnL", _LOG_LONG + " " + _DIFF_LONG, digits=True,
    ),
    "show": GitRow(
        "pusWwbBCDMRazqmct", "USG", _LOG_LONG + " " + _DIFF_LONG,
    ),
    "branch": GitRow(
        "alrvi", "", "all list remotes verbose show-current color=? no-color column=? no-column "
        "ignore-case abbrev=? no-abbrev sort=K format=R contains=? no-contains=? merged=? no-merged=? "
        "points-at=", operands="listing",
        listing=("-l", "--list", "--contains", "--no-contains", "--merged", "--no-merged",
                 "--points-at"),
    ),
    "rev-parse": GitRow(
        "q", "", "abbrev-ref=? short=? verify show-toplevel show-prefix show-cdup git-dir "
        "git-common-dir is-inside-work-tree is-inside-git-dir is-bare-repository symbolic "
        "symbolic-full-name all branches=? tags=? remotes=? show-superproject-working-tree "
        "absolute-git-dir quiet revs-only no-revs flags no-flags default= end-of-options "
        "is-shallow-repository show-object-format=? local-env-vars",
    ),
    "ls-files": GitRow(
        "cdmosutvfkzi", "x", "cached deleted modified others ignored stage unmerged killed "
        "exclude= exclude-standard error-unmatch full-name recurse-submodules abbrev=? debug eol "
        "deduplicate directory no-empty-directory format=L sparse",
    ),
    "blame": GitRow(
        "bltfnsewcpMC", "L", "root show-stats porcelain line-porcelain incremental show-name "
        "show-number show-email date= abbrev= since= color-lines color-by-age minimal "
        "ignore-rev=",
    ),
    "describe": GitRow(
        "", "", "all tags contains abbrev= candidates= exact-match long match= exclude= always "
        "first-parent dirty=? broken=?",
    ),
    "remote": GitRow(
        "v", "", "verbose all push", operands="none", words=((), ("get-url",), ("-v",)),
    ),
    "stash": GitRow(
        "pu", "", "oneline stat=? patch name-only name-status format=G include-untracked "
        "only-untracked", words=(("list",), ("show",)), digits=True,
    ),
    "tag": GitRow(
        "lin", "", "list sort=K contains=? no-contains=? merged=? no-merged=? points-at=? "
        "column=? no-column ignore-case color=? format=R", operands="listing", digits=False,
        listing=("-l", "--list", "--contains", "--no-contains", "--merged", "--no-merged",
                 "--points-at"),
    ),
    "shortlog": GitRow(
        "nsec", "w", "numbered summary email group=U format=G no-merges merges since= until= "
        "author= committer all",
    ),
    "cat-file": GitRow(
        "tspe", "", "batch-all-objects unordered mailmap use-mailmap",
    ),
    "config": GitRow(
        "lz", "", "get get-all list name-only show-origin show-scope null global local system "
        "worktree type= bool int path default= get-urlmatch includes no-includes", operands="one",
        words=((),),
    ),
    "grep": GitRow(
        "EFGPiwvnlLchHoqazIWp", "ABCem", "cached untracked no-recursive recursive ignore-case "
        "word-regexp invert-match line-number files-with-matches name-only files-without-match "
        "count only-matching color=? no-color break heading show-function function-context "
        "after-context= before-context= context= extended-regexp basic-regexp fixed-strings "
        "perl-regexp and or not all-match quiet max-depth= full-name column max-count= text "
        "exclude-standard no-exclude-standard no-textconv threads= null", digits=True,
    ),
    "merge-base": GitRow("a", "", "all octopus independent is-ancestor fork-point"),
    "ls-tree": GitRow(
        "drtlz", "", "name-only name-status long full-name full-tree abbrev=? object-only "
        "format=L",
    ),
    "rev-list": GitRow("g", "n", _LOG_LONG + " objects quiet disk-usage=? header timestamp",
                       digits=True),
    "reflog": GitRow(
        "pq", "n", _LOG_LONG, words=((), ("show",), ("list",), ("exists",)), operands="any", digits=True,
    ),
    "worktree": GitRow(
        "vz", "", "porcelain verbose", operands="none", words=(("list",),),
    ),
    "for-each-ref": GitRow(
        "spt", "", "count= format=R sort=K points-at= merged=? no-merged=? contains=? "
        "no-contains=? ignore-case color=? omit-empty exclude= include-root-refs",
    ),
    "check-ignore": GitRow("qvzn", "", "quiet verbose non-matching no-index"),
}  # fmt: skip
GIT_GLOBAL = frozenset({"--no-pager", "-P", "--no-optional-locks", "--literal-pathspecs"})
