"""Which programs may serve which files, by family: all that is looked at before one is needed.

Standard library only, because every session that changes a file of such a kind reads it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

_TS: Final = {
    ".ts": "typescript", ".mts": "typescript", ".cts": "typescript", ".tsx": "typescriptreact",
    ".js": "javascript", ".mjs": "javascript", ".cjs": "javascript", ".jsx": "javascriptreact",
}  # fmt: skip
_C: Final = {
    ".c": "c", ".h": "c", ".cc": "cpp", ".cpp": "cpp", ".cxx": "cpp", ".hpp": "cpp", ".hh": "cpp",
    ".hxx": "cpp", ".m": "objective-c", ".mm": "objective-cpp",
}  # fmt: skip

LANGUAGES: Final[Mapping[str, Mapping[str, str]]] = {
    "python": {".py": "python", ".pyi": "python"},
    "typescript": _TS,
    "go": {".go": "go"},
    "rust": {".rs": "rust"},
    "c": _C,
    "zig": {".zig": "zig", ".zon": "zig"},
    "ruby": {".rb": "ruby", ".rake": "ruby"},
    "java": {".java": "java"},
    "lua": {".lua": "lua"},
    "bash": {".sh": "shellscript", ".bash": "shellscript"},
}
FAMILY: Final = {suffix: family for family, each in LANGUAGES.items() for suffix in each}


def kinds_of(path: str) -> Sequence[str]:
    """What may be said of such files, the most specific first: `a.d.ts`, `.d.ts`, `.ts`."""
    name = path.rpartition("/")[2].lower()
    return (name, *(name[at:] for at, character in enumerate(name) if character == "."))


# In the order in which they are preferred.
PROGRAMS: Final[Mapping[str, Sequence[str]]] = {
    "python": ("basedpyright-langserver", "pyright-langserver", "ty", "pylsp"),
    "typescript": ("tsc", "typescript-language-server"),
    "go": ("gopls",),
    "rust": ("rust-analyzer",),
    "c": ("clangd",),
    "zig": ("zls",),
    "ruby": ("ruby-lsp",),
    "java": ("jdtls",),
    "lua": ("lua-language-server",),
    "bash": ("bash-language-server",),
}
# Where a trusted project keeps programs of its own, below its root.
PROJECT_BINS: Final = (".venv/bin", "venv/bin", "node_modules/.bin")
