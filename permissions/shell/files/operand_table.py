"""Which words of which program are files it reads or writes; generous, because it restricts.

A program that is not listed touches nothing the gate knows of.
"""

# ruff: noqa: E501

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

from gatewright.permissions.shell.files.grep_walks import GREP_LONG

Role: TypeAlias = Literal[
    "read", "write", "none", "skip1-read", "skip1-write", "copy", "move", "link", "zip"
]  # fmt: skip
# skip1: the first operand is a pattern, script or mode; copy, move, link: the last is the target


@dataclass(frozen=True, slots=True)
class OperandRow:
    """`values`/`long` take a value that is no file; `reads`/`writes` options whose value is one.

    `skips` are options that make the first operand a file after all; `walks` options with which
    directories are read through (empty: always walks, None: never).
    """

    role: Role
    values: str = ""
    long: tuple[str, ...] = ()
    reads: tuple[str, ...] = ()
    writes: tuple[str, ...] = ()
    skips: tuple[str, ...] = ()
    walks: tuple[str, ...] | None = None
    edits: tuple[str, ...] = ()  # options that turn what is read into what is written
    implicit: bool = False  # walks the current directory without an operand


def _reader(values: str = "", long: tuple[str, ...] = (), **more: tuple[str, ...]) -> OperandRow:
    return OperandRow("read", values, long, **more)  # type: ignore[arg-type]


_GREP = OperandRow(
    "skip1-read",
    "ABCemdDf",
    GREP_LONG,
    reads=("-f", "--file", "--exclude-from"),
    skips=("-e", "--regexp", "-f", "--file"),
    walks=("-r",),  # in all its spellings: `grep_walks`
    implicit=True,
)
_SED = OperandRow(
    "skip1-read",
    "efl",
    ("expression", "file", "line-length"),
    reads=("-f", "--file"),
    skips=("-e", "--expression", "-f", "--file"),
    edits=("-i", "--in-place"),
)
_AWK = OperandRow(
    "skip1-read", "Ffvi", ("file", "assign", "field-separator", "include"),
    reads=("-f", "--file"), skips=("-f", "--file"),
)  # fmt: skip
_CHANGES = OperandRow("skip1-write", long=("reference", "from"), walks=("-R", "--recursive"))
_SUMS = _reader()

OPERANDS: Mapping[str, OperandRow] = {
    **dict.fromkeys(
        ("cat", "tac", "rev", "less", "more", "zcat", "bat", "batcat", "most", "cmp", "comm",
         "paste", "join", "expand", "unexpand", "fmt", "pr", "readlink", "realpath", "zless",
         "gzcat", "bzcat", "xzcat", "view", "hexdump", "hd", "look", "source", ".", "nano"),
        _reader()),
    **dict.fromkeys(
        ("md5sum", "sha1sum", "sha224sum", "sha256sum", "sha384sum", "sha512sum", "b2sum", "cksum",
         "sum", "shasum"), _SUMS),
    "head": _reader("nc", ("lines", "bytes")),
    "tail": _reader("ncs", ("lines", "bytes", "pid", "sleep-interval")),
    "nl": _reader("bdfhilnsvw"),
    "wc": _reader(long=("total",), reads=("--files0-from",)),
    "cut": _reader("bcdf", ("bytes", "characters", "delimiter", "fields", "output-delimiter")),
    "fold": _reader("w", ("width",)),
    "column": _reader("cosNRTHEWO", ("separator", "output-separator", "table-columns")),
    "od": _reader("ANjtwS", ("format", "address-radix", "skip-bytes", "read-bytes")),
    "xxd": _reader("csglobRn"),
    "strings": _reader("neto", ("bytes", "encoding", "radix")),
    "base64": _reader("w", ("wrap",)),
    "base32": _reader("w", ("wrap",)),
    "file": _reader("FmfeP", ("magic-file", "files-from"), reads=("-f", "-m", "--files-from")),
    "stat": _reader("c", ("format", "printf", "cached")),
    "ls": OperandRow("read", "ITw", ("ignore", "hide", "width", "sort", "time"), implicit=True),
    "tree": OperandRow("read", "LPIoH", writes=("-o",), implicit=True),
    "du": OperandRow("read", "dtBX", ("max-depth", "threshold", "exclude"),
                     reads=("-X", "--files0-from", "--exclude-from"), implicit=True),
    "dir": OperandRow("read", implicit=True),
    "vdir": OperandRow("read", implicit=True),
    "diff": OperandRow("read", "CUIFWxXS", ("label", "exclude", "exclude-from", "width"),
                       reads=("--from-file", "--to-file", "-X"), walks=()),
    "sdiff": _reader(),
    "diff3": _reader(),
    "vimdiff": _reader(),
    "sort": _reader("ktSTo", ("key", "field-separator", "buffer-size", "temporary-directory",
                              "compress-program", "output", "files0-from"),
                    reads=("--files0-from",), writes=("-o", "--output")),
    "uniq": OperandRow("copy", "fsw", ("skip-fields", "skip-chars", "check-chars")),
    "grep": _GREP, "egrep": _GREP, "fgrep": _GREP, "zgrep": _GREP, "ggrep": _GREP,
    "rg": OperandRow(
        "skip1-read", "ABCEegjMmtTrdf",
        ("regexp", "glob", "iglob", "type", "type-not", "file", "after-context", "before-context",
         "context", "max-count", "replace", "max-depth", "sort", "color", "colors", "pre",
         "pre-glob", "ignore-file", "threads", "max-columns", "hostname-bin"),
        reads=("-f", "--file", "--ignore-file"),
        skips=("-e", "--regexp", "-f", "--file", "--files"), walks=(), implicit=True),
    "ag": OperandRow("skip1-read", "ABCGm", walks=(), implicit=True),
    "ack": OperandRow("skip1-read", "ABCm", walks=(), implicit=True),
    "sed": _SED, "gsed": _SED,
    "awk": _AWK, "gawk": _AWK, "mawk": _AWK, "nawk": _AWK,
    "perl": OperandRow("skip1-read", "eEIMmCx", skips=("-e", "-E"), edits=("-i",)),
    "jq": OperandRow("skip1-read", "fL", ("arg", "argjson", "indent"),
                     reads=("-f", "--from-file", "--slurpfile", "--rawfile")),
    "yq": OperandRow("skip1-read", edits=("-i",)),
    "find": OperandRow("none"),
    "tee": OperandRow("write"),
    "touch": OperandRow("write", "dtr", ("date", "reference", "time"), reads=("-r", "--reference")),
    "truncate": OperandRow("write", "sr", ("size", "reference")),
    "shred": OperandRow("write", "ns", ("iterations", "size", "random-source")),
    "rm": OperandRow("write"), "unlink": OperandRow("write"), "rmdir": OperandRow("write"),
    "trash": OperandRow("write"),
    "mkdir": OperandRow("write", "mZ", ("mode", "context")),
    "mkfifo": OperandRow("write", "m"), "mknod": OperandRow("write", "m"),
    "chmod": _CHANGES, "chown": _CHANGES, "chgrp": _CHANGES, "chattr": _CHANGES,
    "setfacl": OperandRow("write", "mxMX", walks=("-R", "--recursive")),
    "cp": OperandRow("copy", "tS", ("target-directory", "suffix"),
                     writes=("-t", "--target-directory"),
                     walks=("-r", "-R", "-a", "--recursive", "--archive")),
    "install": OperandRow("copy", "tSmogZ", ("target-directory", "mode", "owner", "group"),
                          writes=("-t", "--target-directory")),
    "mv": OperandRow("move", "tS", ("target-directory", "suffix"),
                     writes=("-t", "--target-directory")),
    "ln": OperandRow("link", "tS", ("target-directory", "suffix"),
                     writes=("-t", "--target-directory")),
    "rsync": OperandRow("copy", "efTBM", ("rsh", "filter", "exclude", "include", "exclude-from",
                                          "files-from", "temp-dir"),
                        reads=("--exclude-from", "--files-from"), walks=()),
    "scp": OperandRow("copy", "iPoFcSl", reads=("-i", "-F"), walks=("-r",)),
    "ditto": OperandRow("copy", walks=()),
    "tar": OperandRow("none"), "bsdtar": OperandRow("none"), "gtar": OperandRow("none"),
    "zip": OperandRow("zip", walks=("-r", "-R")),
    "gzip": OperandRow("write", "S"), "gunzip": OperandRow("write"), "bzip2": OperandRow("write"),
    "xz": OperandRow("write"), "zstd": OperandRow("write", writes=("-o",)),
    "dd": OperandRow("none"),
    "curl": OperandRow("none", "oKTdFHAebcuUxXwmrCEty", ("output", "output-dir"),
                       reads=("-T", "--upload-file", "-K", "--config", "-b"),
                       writes=("-o", "--output", "-c", "--cookie-jar", "-D", "--dump-header",
                               "--output-dir", "--trace", "--trace-ascii", "--stderr")),
    "wget": OperandRow("none", "OoaPiUQtTwe", ("output-document",),
                       reads=("-i", "--input-file", "--post-file", "--body-file"),
                       writes=("-O", "--output-document", "-o", "--output-file", "-a", "-P",
                               "--directory-prefix")),
    "patch": OperandRow("write", "ipdBoryDF", reads=("-i", "--input"), writes=("-o", "--output")),
    "split": OperandRow("read", "abClnt"),
    "csplit": _reader("fbn"),
    "vim": _reader("c"), "vi": _reader("c"), "emacs": _reader(), "ed": _reader(), "ex": _reader("c"),
    "unzip": OperandRow("read", "dPxO", writes=("-d",)),
    "git": OperandRow("none"),
}  # fmt: skip
