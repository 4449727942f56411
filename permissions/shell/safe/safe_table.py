"""The commands that run unprompted, as data: which options keep them harmless.

Everything is a positive list. An option that is not here makes the command an ordinary one, and
so does an abbreviation: only full names count. Each row carries its own examples.
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

    `paths` are allowed options whose value is a path. `globs`: "any" operand may be a pattern,
    "tail" only one that cannot expand to an option, "none" at all.
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
    paths: tuple[str, ...] = ()
    yes: tuple[str, ...] = ()
    no: tuple[str, ...] = ()


_SUM = SafeRow("btz", long="binary text tag zero", yes=("sha256sum a",), no=("md5sum -c a",))
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
    yes=("grep -rn foo src", "grep -A3 -e x --include='*.py' -r .", "grep -5 x a"),
    no=(
        "grep -f a b",
        "grep -d recurse x .",
        "grep -drec x",
        "grep --directories=recurse x .",
        "grep -fa b",
        "grep --file=a b",
        "grep -R x .",
        "grep -z x a",
        "grep --inc=x",
    ),
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
        yes=("ls -la", "ls --color=auto src", "ls -- a"),
        no=("ls --frobnicate", "ls --colo"),
    ),
    "pwd": SafeRow("LP", operands="none", yes=("pwd -P",), no=("pwd x",)),
    "tree": SafeRow(
        "adfipsugDFhCnNqvtrcUxJXAS",
        "LPIHT",
        "dirsfirst filesfirst gitignore noreport prune charset= filelimit= sort=? du si inodes "
        "device matchdirs ignore-case metafirst timefmt= help version",
        closed="o",
        globs="tail",
        implicit=True,
        yes=("tree -L 2", "tree -a -I node_modules src"),
        no=("tree -o x", "tree -R", "tree -aR", "tree -l", "tree --fromfile a", "tree *"),
    ),
    "which": SafeRow("as", long="all", operands="text", yes=("which -a python",)),
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
        yes=("rg -n foo", "rg --files", "rg -tpy -g '!x' foo src", "rg foo src/*.py"),
        no=("rg --pre cat x", "rg --pre=cat x", "rg -z x", "rg --search-zip x", "rg -f p x", "rg x *",
            "rg --hostname-bin=x y", "rg -L x", "rg -nz x"),
    ),
    "head": SafeRow(
        "qvz", "nc", "lines= bytes= quiet silent verbose zero-terminated", digits=True,
        yes=("head -5 a", "head -n5 a b", "head -c 10 a"), no=("head -x a",),
    ),
    "tail": SafeRow(
        "qvz", "nc", "lines= bytes= quiet silent verbose zero-terminated", closed="s", digits=True,
        yes=("tail -n 5 a", "tail -20 a", "tail -n +3 a"), no=("tail -f a", "tail -nF a -F", "tail --follow a"),
    ),
    "cat": SafeRow(
        "AbeEnstTuv", long="show-all number-nonblank show-ends number squeeze-blank show-tabs "
        "show-nonprinting help version", yes=("cat -n a", "cat *.py"), no=("cat --files a",),
    ),
    "du": SafeRow(
        "0aAbcDhHklmPsSx", "dtB", "all apparent-size bytes total human-readable kilobytes "
        "max-depth= summarize separate-dirs one-file-system threshold= time=? si null exclude= "
        "block-size= inodes count-links", closed="X", globs="tail", implicit=True,
        yes=("du -sh .", "du -d 1 src"), no=("du --files0-from=a", "du -X a", "du *", "du -L a"),
    ),
    "wc": SafeRow(
        "clmLw", long="bytes chars lines max-line-length words total=",
        yes=("wc -l a", "wc *.py"), no=("wc --files0-from=a",),
    ),
    "true": SafeRow(operands="text"),
    "false": SafeRow(operands="text"),
    "stat": SafeRow("fLt", "c", "format= printf= terse file-system dereference", yes=("stat -c %s a",)),
    "file": SafeRow(
        "bhiLNrk0", "F", "brief mime mime-type mime-encoding no-dereference dereference separator=",
        closed="fmePM", globs="tail", yes=("file -b a",),
        no=("file -f a", "file -m a b", "file -C -m a", "file -z a", "file -bf a", "file *"),
    ),
    "basename": SafeRow("az", "s", "multiple suffix= zero", operands="text", yes=("basename /a/b",)),
    "dirname": SafeRow("z", long="zero", operands="text", yes=("dirname /a/b",)),
    "realpath": SafeRow("eLmPqsz", long="canonicalize-existing canonicalize-missing strip zero quiet"),
    "readlink": SafeRow("femnqsvz", long="canonicalize canonicalize-existing canonicalize-missing"),
    "nl": SafeRow("p", "bdfhilnsvw", yes=("nl -ba a",)),
    "tac": SafeRow("br", "s", "before regex separator="),
    "rev": SafeRow(),
    "cut": SafeRow(
        "nsz", "bcdf", "bytes= characters= delimiter= fields= complement only-delimited "
        "output-delimiter= zero-terminated", yes=("cut -d: -f1 a", "cut -c1-3"),
    ),
    "paste": SafeRow("sz", "d", "serial delimiters= zero-terminated"),
    "comm": SafeRow("123z", long="output-delimiter= check-order nocheck-order total zero-terminated"),
    "sort": SafeRow(
        "bdfghiMnRrVcCmsuz", "ktS", "ignore-leading-blanks dictionary-order ignore-case "
        "general-numeric-sort ignore-nonprinting month-sort human-numeric-sort numeric-sort "
        "random-sort reverse sort= version-sort check=? key= field-separator= merge stable unique "
        "zero-terminated parallel= buffer-size= batch-size= debug", closed="oT", globs="none",
        yes=("sort -u a", "sort -t, -k2,2n a", "sort -rn"),
        no=("sort -ox a", "sort -o x a", "sort -uox a", "sort --output=x a", "sort --outp=x a",
            "sort --compress-program=sh a", "sort --co=sh a", "sort -T /tmp a", "sort *",
            "sort --files0-from=a", "sort a -o a", "sort --random-source=a"),
    ),
    "uniq": SafeRow(
        "cdDiuz", "fsw", "count repeated all-repeated=? skip-fields= group=? ignore-case "
        "skip-chars= unique zero-terminated check-chars=", most=1, globs="none",
        yes=("uniq -c a", "uniq -f 1"), no=("uniq a b", "uniq -c a b", "uniq -- a b"),
    ),
    "tr": SafeRow("cCdst", long="complement delete squeeze-repeats truncate-set1", operands="text"),
    "diff": SafeRow(
        "abBcdeEfHilnNpqstTuvwyZ", "CUIFWx", "brief unified=? context=? ed normal side-by-side "
        "width= left-column suppress-common-lines ignore-case ignore-tab-expansion "
        "ignore-trailing-space ignore-space-change ignore-all-space ignore-blank-lines "
        "ignore-matching-lines= text strip-trailing-cr color=? minimal report-identical-files "
        "show-c-function expand-tabs initial-tab label= new-file exclude= no-dereference",
        closed="XS", digits=True, files=True, yes=("diff -u a b", "diff -U5 a b"),
        no=("diff --to-file=a b", "diff --from-file a b", "diff -r a b", "diff -X a b c"),
    ),
    "cmp": SafeRow("bls", "in", "print-bytes verbose quiet silent bytes= ignore-initial="),
    "id": SafeRow("agGnruzZ", long="group groups name real user zero", operands="text"),
    "whoami": SafeRow(operands="none"),
    "uname": SafeRow("asnrvmpio", long="all kernel-name nodename machine", operands="none"),
    "hostname": SafeRow(
        "fsiIdAy", long="fqdn short ip-address all-ip-addresses domain", operands="none",
        yes=("hostname", "hostname -f"), no=("hostname x", "hostname -F a", "hostname -b x"),
    ),
    "nproc": SafeRow(long="all ignore=", operands="none", yes=("nproc --all",)),
    "seq": SafeRow("w", "fs", "format= separator= equal-width", operands="text", yes=("seq 1 3",)),
    "df": SafeRow(
        "ahHiklPT", "Btx", "all human-readable si inodes local portability print-type total type= "
        "exclude-type= block-size= output=?", yes=("df -h",),
    ),
    "uptime": SafeRow("ps", long="pretty since", operands="none"),
    "type": SafeRow("aftpP", operands="text", yes=("type -a ls",)),
    "printenv": SafeRow("0", long="null", operands="text", yes=("printenv", "printenv PATH")),
    "md5sum": _SUM,
    "sha1sum": _SUM,
    "sha224sum": _SUM,
    "sha256sum": _SUM,
    "sha384sum": _SUM,
    "sha512sum": _SUM,
    "echo": SafeRow(operands="text", yes=("echo a", "echo -n $(date)", "echo --outp=x", "echo *")),
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
FIND_YES: tuple[str, ...] = (
    "find . -name '*.py'", "find src -type f -not -path './x/*' -maxdepth 2", "find . -name -delete",
    "find . \\( -name a -o -name b \\) -print", "find", "find . -newer a",
)  # fmt: skip
FIND_NO: tuple[str, ...] = (
    "find . -delete", "find . -name x -delete", "find . -exec cat {} ;", "find . -fprint x",
    "find . -fls x", "find . -ok rm {} ;", "find -L . -name x", "find . -name *.py", "find /etc",
    "find . -files0-from a", "find . -fprintf x y", "find . -execdir ls ;", "find . -name",
)  # fmt: skip
