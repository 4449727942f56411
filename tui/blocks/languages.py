"""What the highlighter knows of each language: comments, quotes and words. Data only."""

from __future__ import annotations

from typing import NamedTuple


class Language(NamedTuple):
    keywords: str
    line_comments: tuple[str, ...] = ()  # patterns
    block_comments: tuple[tuple[str, str], ...] = ()
    quotes: str = "\"'"
    long_strings: tuple[str, ...] = ()
    ignore_case: bool = False
    dashes: bool = False  # words may hold dashes


_C_BLOCK = (("/*", "*/"),)
_C_LINE = (r"//",)
_HASH = (r"#",)
_SHELL_HASH = (r"(?:(?<=\s)|^)#",)

LANGUAGES: dict[str, Language] = {
    "python": Language(
        "and as assert async await break case class continue def del elif else except False "
        "finally for from global if import in is lambda match None nonlocal not or pass raise "
        "return True try while with yield",
        _HASH,
        long_strings=('"""', "'''"),
    ),
    "javascript": Language(
        "async await break case catch class const continue debugger default delete do else export "
        "extends false finally for from function if import in instanceof let new null of return "
        "static super switch this throw true try typeof undefined var void while yield",
        _C_LINE,
        _C_BLOCK,
        long_strings=("`",),
    ),
    "typescript": Language(
        "abstract any as async await boolean break case catch class const continue declare default "
        "delete do else enum export extends false finally for from function if implements import "
        "in infer instanceof interface is keyof let namespace never new null number of private "
        "protected public readonly return static string super switch this throw true try type "
        "typeof undefined unknown var void while yield",
        _C_LINE,
        _C_BLOCK,
        long_strings=("`",),
    ),
    "rust": Language(
        "as async await break const continue crate dyn else enum extern false fn for if impl in "
        "let loop match mod move mut pub ref return self Self static struct super trait true type "
        "unsafe use where while",
        _C_LINE,
        _C_BLOCK,
        quotes='"',
    ),
    "go": Language(
        "break case chan const continue default defer else fallthrough false for func go goto if "
        "import interface map nil package range return select struct switch true type var",
        _C_LINE,
        _C_BLOCK,
        long_strings=("`",),
    ),
    "c": Language(
        "auto bool break case catch char class const constexpr continue default delete do double "
        "else enum extern false float for goto if inline int long namespace new nullptr NULL "
        "override private protected public register return short signed sizeof static struct "
        "switch template this throw true try typedef typename union unsigned using virtual void "
        "volatile while include define ifdef ifndef endif",
        _C_LINE,
        _C_BLOCK,
    ),
    "java": Language(
        "abstract boolean break byte case catch char class const continue default do double else "
        "enum extends false final finally float for fun if implements import in instanceof int "
        "interface is let long new null object override package private protected public return "
        "short static string super switch this throw throws true try val var void volatile when "
        "while using namespace foreach",
        _C_LINE,
        _C_BLOCK,
        long_strings=('"""',),
    ),
    "ruby": Language(
        "alias and begin break case class def defined? do else elsif end ensure false for if in "
        "module next nil not or redo require rescue retry return self super then true undef "
        "unless until when while yield",
        _HASH,
    ),
    "php": Language(
        "abstract and array as break case catch class const continue default do echo else elseif "
        "extends false final finally fn for foreach function if implements interface match "
        "namespace new null or private protected public return static switch throw true try use "
        "var while",
        (r"//", r"#"),
        _C_BLOCK,
    ),
    "bash": Language(
        "case do done elif else esac exit export fi for function if in local read return set then "
        "until while",
        _SHELL_HASH,
    ),
    "sql": Language(
        "add all alter and as asc begin between by case commit constraint create default delete "
        "desc distinct drop else end exists foreign from full group having if in index inner "
        "insert into is join key left like limit not null offset on or order outer primary "
        "references right rollback select set table then union unique update values view when "
        "where with",
        (r"--",),
        _C_BLOCK,
        ignore_case=True,
    ),
    "json": Language("true false null", quotes='"'),
    "yaml": Language("true false null yes no", _SHELL_HASH),
    "toml": Language("true false", _HASH, long_strings=('"""', "'''")),
    "ini": Language("true false", (r"^\s*[#;]",)),
    "css": Language("important media import supports keyframes", (), _C_BLOCK, dashes=True),
    "html": Language("", (), (("<!--", "-->"),)),
    "dockerfile": Language(
        "ADD ARG CMD COPY ENTRYPOINT ENV EXPOSE FROM HEALTHCHECK LABEL RUN SHELL USER VOLUME "
        "WORKDIR AS",
        _HASH,
    ),
    "make": Language("ifeq ifneq else endif include define endef export", _HASH),
    "lua": Language(
        "and break do else elseif end false for function goto if in local nil not or repeat return "
        "then true until while",
        (r"--(?!\[\[)",),
        (("--[[", "]]"),),
    ),
    "haskell": Language(
        "case class data deriving do else if import in infix instance let module newtype of then "
        "type where",
        (r"--",),
        (("{-", "-}"),),
        quotes='"',
    ),
    "elixir": Language(
        "after and case catch cond def defmodule defp do else end false fn for if import in nil "
        "not or raise receive rescue true try unless use when with",
        _HASH,
        long_strings=('"""',),
    ),
    "diff": Language(""),
}

ALIASES: dict[str, str] = {
    "py": "python", "pyi": "python", "python3": "python",
    "js": "javascript", "jsx": "javascript", "mjs": "javascript", "cjs": "javascript",
    "ts": "typescript", "tsx": "typescript",
    "rs": "rust", "golang": "go",
    "h": "c", "cc": "c", "cpp": "c", "hpp": "c", "cxx": "c", "c++": "c",
    "kt": "java", "kts": "java", "kotlin": "java", "cs": "java", "csharp": "java",
    "scala": "java", "swift": "java", "dart": "java", "groovy": "java",
    "rb": "ruby", "sh": "bash", "shell": "bash", "zsh": "bash", "console": "bash", "fish": "bash",
    "yml": "yaml", "jsonc": "javascript", "json5": "javascript", "jsonl": "json",
    "cfg": "ini", "conf": "ini", "properties": "ini", "env": "ini",
    "scss": "css", "less": "css", "xml": "html", "svg": "html", "htm": "html", "vue": "html",
    "makefile": "make", "mk": "make", "hs": "haskell", "ex": "elixir", "exs": "elixir",
    "psql": "sql", "mysql": "sql", "tf": "ruby",
}  # fmt: skip
