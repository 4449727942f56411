"""The commands that run unprompted, as data: which options keep them harmless.

Everything is a positive list. An option that is not here makes the command an ordinary one, and
so does an abbreviation: only full names count. Examples for each row are in
`tests/tables/shell_tables.toml`.
"""

# ruff: noqa: E501

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

Operands: TypeAlias = Literal["read", "text", "none", "pattern"]
# read: every operand is a path; pattern: the first is not, unless -e or --regexp gave it


@dataclass(frozen=True, slots=True)
class SafeRow:
    """`flags` and `values` are short options without and with a value, `long` the long ones
    (`name=` needs a value, `name=?` may have one). `closed_*` take a value but are not allowed.

    `globs`: "any" operand may be a pattern, "tail" only one that cannot expand to an option, "none"
    at all.
    """

    flags: str = ""
    values: str = ""
    long: str = ""
    closed: str = ""
    operands: Operands = "read"
    most: int = 99
    digits: bool = False
    globs: Literal["any", "tail", "none"] = "any"
    implicit: bool = False  # without an operand it reads the current directory
    files: bool = False  # it reads what lies in an operand that is a directory


_SUM = SafeRow("btz", long="binary text tag zero")
_GREP = SafeRow(
    "EFGPiwxvchHlLnoqrsaIUZybT",
    "ABCem",
    "extended-regexp fixed-strings basic-regexp perl-regexp ignore-case no-ignore-case word-regexp "
    "line-regexp invert-match count color=? colour=? files-with-matches files-without-match "
    "only-matching quiet silent no-messages byte-offset with-filename no-filename label= "
    "line-number initial-tab null after-context= before-context= context= text binary-files= "
    "exclude= exclude-dir= include= recursive line-buffered max-count= regexp= binary help version",
    closed="fdD",
    operands="pattern",
    digits=True,
    implicit=True,
)

SAFE: Mapping[str, SafeRow] = {
    "ls": SafeRow(
        "1AaBbCcdFfGgHhiklLmNnopQqRrSstUuvXxZ",
        "ITw",
        "all almost-all author escape ignore-backups directory classify=? file-type full-time "
        "human-readable si inode kibibytes dereference dereference-command-line numeric-uid-gid "
        "literal no-group group-directories-first hide-control-chars show-control-chars quote-name "
        "reverse recursive size sort= time= time-style= width= color=? format= indicator-style= "
        "ignore= hide= block-size= zero context hyperlink=? help version tabsize= quoting-style=",
        implicit=True,
    ),
    "pwd": SafeRow("LP", operands="none"),
    "tree": SafeRow(
        "adfipsugDFhCnNqvtrcUxJXAS",
        "LPIHT",
        "dirsfirst filesfirst gitignore noreport prune charset= filelimit= sort=? du si inodes "
        "device matchdirs ignore-case metafirst timefmt= help version",
        closed="o",
        globs="tail",
        implicit=True,
    ),
    "which": SafeRow("as", long="all", operands="text"),
    "grep": _GREP,
    "egrep": _GREP,
    "fgrep": _GREP,
    "rg": SafeRow(
        "iSsFvwxnNHIlcoqpU.uPa0hV",
        "ABCEegjMmtTrd",
        "ignore-case smart-case case-sensitive fixed-strings invert-match word-regexp line-regexp "
        "line-number no-line-number with-filename no-filename files-with-matches "
        "files-without-match count count-matches only-matching quiet pretty multiline hidden "
        "no-ignore no-ignore-vcs no-ignore-parent no-ignore-dot no-ignore-global unrestricted pcre2 "
        "text null heading no-heading column no-column json vimgrep trim stats files type-list "
        "after-context= before-context= context= regexp= glob= iglob= max-columns= max-count= type= "
        "type-not= replace= max-depth= sort= sortr= color= colors= encoding= threads= "
        "max-filesize= no-messages passthru no-config multiline-dotall crlf byte-offset "
        "path-separator= context-separator= engine= glob-case-insensitive one-file-system "
        "max-columns-preview help version",
        closed="f",
        operands="pattern",
        digits=False,
        globs="tail",
        implicit=True,
    ),
    "head": SafeRow(
        "qvz", "nc", "lines= bytes= quiet silent verbose zero-terminated", digits=True,
    ),
    "tail": SafeRow(
        "qvz", "nc", "lines= bytes= quiet silent verbose zero-terminated", closed="s", digits=True,
    ),
    "cat": SafeRow(
        "AbeEnstTuv", long="show-all number-nonblank show-ends number squeeze-blank show-tabs "
        "show-nonprinting help version",
    ),
    "du": SafeRow(
        "0aAbcDhHklmPsSx", "dtB", "all apparent-size bytes total human-readable kilobytes "
        "max-depth= summarize separate-dirs one-file-system threshold= time=? si null exclude= "
        "block-size= inodes count-links", closed="X", globs="tail", implicit=True,
    ),
    "wc": SafeRow(
        "clmLw", long="bytes chars lines max-line-length words total=",
    ),
    "true": SafeRow(operands="text"),
    "false": SafeRow(operands="text"),
    "stat": SafeRow("fLt", "c", "format= printf= terse file-system dereference"),
    "file": SafeRow(
        "bhiLNrk0", "F", "brief mime mime-type mime-encoding no-dereference dereference separator=",
        closed="fmePM", globs="tail",
    ),
    "basename": SafeRow("az", "s", "multiple suffix= zero", operands="text"),
    "dirname": SafeRow("z", long="zero", operands="text"),
    "realpath": SafeRow("eLmPqsz", long="canonicalize-existing canonicalize-missing strip zero quiet"),
    "readlink": SafeRow("femnqsvz", long="canonicalize canonicalize-existing canonicalize-missing"),
    "nl": SafeRow("p", "bdfhilnsvw"),
    "tac": SafeRow("br", "s", "before regex separator="),
    "rev": SafeRow(),
    "cut": SafeRow(
        "nsz", "bcdf", "bytes= characters= delimiter= fields= complement only-delimited "
        "output-delimiter= zero-terminated",
    ),
    "paste": SafeRow("sz", "d", "serial delimiters= zero-terminated"),
    "comm": SafeRow("123z", long="output-delimiter= check-order nocheck-order total zero-terminated"),
    "sort": SafeRow(
        "bdfghiMnRrVcCmsuz", "ktS", "ignore-leading-blanks dictionary-order ignore-case "
        "general-numeric-sort ignore-nonprinting month-sort human-numeric-sort numeric-sort "
        "random-sort reverse sort= version-sort check=? key= field-separator= merge stable unique "
        "zero-terminated parallel= buffer-size= batch-size= debug", closed="oT", globs="none",
    ),
    "uniq": SafeRow(
        "cdDiuz", "fsw", "count repeated all-repeated=? skip-fields= group=? ignore-case "
        "skip-chars= unique zero-terminated check-chars=", most=1, globs="none",
    ),
    "tr": SafeRow("cCdst", long="complement delete squeeze-repeats truncate-set1", operands="text"),
    "diff": SafeRow(
        "abBcdeEfHilnNpqstTuvwyZ", "CUIFWx", "brief unified=? context=? ed normal side-by-side "
        "width= left-column suppress-common-lines ignore-case ignore-tab-expansion "
        "ignore-trailing-space ignore-space-change ignore-all-space ignore-blank-lines "
        "ignore-matching-lines= text strip-trailing-cr color=? minimal report-identical-files "
        "show-c-function expand-tabs initial-tab label= new-file exclude= no-dereference",
        closed="XS", digits=True, files=True,
    ),
    "cmp": SafeRow("bls", "in", "print-bytes verbose quiet silent bytes= ignore-initial="),
    "id": SafeRow("agGnruzZ", long="group groups name real user zero", operands="text"),
    "whoami": SafeRow(operands="none"),
    "uname": SafeRow("asnrvmpio", long="all kernel-name nodename machine", operands="none"),
    "hostname": SafeRow(
        "fsiIdAy", long="fqdn short ip-address all-ip-addresses domain", operands="none",
    ),
    "nproc": SafeRow(long="all ignore=", operands="none"),
    "seq": SafeRow("w", "fs", "format= separator= equal-width", operands="text"),
    "df": SafeRow(
        "ahHiklPT", "Btx", "all human-readable si inodes local portability print-type total type= "
        "exclude-type= block-size= output=?",
    ),
    "uptime": SafeRow("ps", long="pretty since", operands="none"),
    "type": SafeRow("aftpP", operands="text"),
    "printenv": SafeRow("0", long="null", operands="text"),
    "md5sum": _SUM,
    "sha1sum": _SUM,
    "sha224sum": _SUM,
    "sha256sum": _SUM,
    "sha384sum": _SUM,
    "sha512sum": _SUM,
    "echo": SafeRow(operands="text"),
}  # fmt: skip

# Programs that are safe with exactly this one argument.
VERSIONS: Mapping[str, tuple[str, ...]] = {
    "node": ("--version",),
    "python3": ("--version",),
    "npm": ("--version",),
    "git": ("--version",),
}

# find: predicates that keep it a reader, with the number of words each takes.
FIND: Mapping[str, int] = {
    **dict.fromkeys(
        ("-print", "-print0", "-ls", "-prune", "-depth", "-d", "-mount", "-xdev", "-not", "-a",
         "-and", "-o", "-or", "!", "(", ")", ",", "-true", "-false", "-quit", "-daystart", "-empty",
         "-readable", "-writable", "-executable", "-nouser", "-nogroup", "-noleaf", "-warn",
         "-nowarn", "-ignore_readdir_race", "-help", "--help", "-version", "--version"), 0),
    **dict.fromkeys(
        ("-name", "-iname", "-path", "-ipath", "-wholename", "-iwholename", "-regex", "-iregex",
         "-type", "-xtype", "-maxdepth", "-mindepth", "-size", "-mtime", "-mmin", "-atime", "-amin",
         "-ctime", "-cmin", "-perm", "-user", "-group", "-uid", "-gid", "-links", "-inum", "-lname",
         "-ilname", "-printf", "-regextype", "-fstype", "-used", "-newermt"), 1),
}  # fmt: skip
FIND_PATHS = frozenset({"-newer", "-anewer", "-cnewer", "-samefile"})
