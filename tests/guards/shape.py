"""Size and style rules that ruff does not have, each with its reason."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Sequence

from tests.guards.sources import Source

FILE_LINES = 400
TEST_LINES = 600
FUNCTION_LINES = 60
PARAMETERS = 6

# Data tables may be long: file -> why.
LONG_FILES: dict[str, str] = {
    "permissions/shell/safe/safe_table.py": "one row for each command that may run unprompted",
}

VAGUE_ENDS = ("Manager", "Helper", "Utils")
VAGUE = frozenset({"Beside", "Parts"})  # of what, only who wrote it knows

# Words of the trade that only sound vague: class -> why.
NAMES: dict[str, str] = {"KeyHelper": "settings call a program that prints a key a helper"}

# Where any exception must be caught because a stranger's code runs inside: file -> function.
BROAD_EXCEPTS: dict[str, set[str]] = {
    "tools/executor.py": {"prepare", "foresee", "run"},
    "tui/app.py": {"_take"},
    "tui/work.py": {"told"},
}

# Names that arrive as data, where an attribute can only be looked up dynamically: file -> why.
DYNAMIC_ATTRIBUTES: dict[str, str] = {
    "tools/registry.py": "tools are named by text, so that none is imported before its first use",
    "tui/style/theme.py": "roles of the colour table name fields of a palette",
}

Function = ast.FunctionDef | ast.AsyncFunctionDef
Check = Callable[[Source], Iterator[str]]


def run(check: Check, sources: Sequence[Source]) -> list[str]:
    return [found for source in sources for found in check(source)]


def long_files(source: Source) -> Iterator[str]:
    limit = TEST_LINES if source.folder == "tests" else FILE_LINES
    lines = source.text.count("\n")
    if lines > limit and source.path not in LONG_FILES:
        yield f"{source.path} has {lines} lines, {limit} at most: split it by idea"


def long_functions(source: Source) -> Iterator[str]:
    for node in _functions(source):
        lines = (node.end_lineno or node.lineno) - node.lineno + 1
        if lines > FUNCTION_LINES:
            yield (
                f"{source.path}:{node.lineno} {node.name} has {lines} lines, {FUNCTION_LINES} at"
                " most: name its steps"
            )


def many_parameters(source: Source) -> Iterator[str]:
    for node in _functions(source):
        spec = node.args
        names = [a.arg for a in (*spec.posonlyargs, *spec.args, *spec.kwonlyargs)]
        count = len([name for name in names if name not in {"self", "cls"}])
        if count > PARAMETERS and not any(map(_is_command, node.decorator_list)):
            yield (
                f"{source.path}:{node.lineno} {node.name} takes {count} parameters, {PARAMETERS} at"
                " most: a type is missing"
            )


def _is_command(decorator: ast.expr) -> bool:
    """`@group.command(...)`: the parameters of such a function are the flags of a command line."""
    called = decorator.func if isinstance(decorator, ast.Call) else decorator
    return isinstance(called, ast.Attribute) and called.attr == "command"


def broad_excepts(source: Source) -> Iterator[str]:
    allowed = BROAD_EXCEPTS.get(source.path, set())
    for function, node in _caught(source):
        if _is_broad(node.type) and not _reraises(node) and function not in allowed:
            yield (
                f"{source.path}:{node.lineno} in {function or 'the module'} catches everything: a"
                " defect would look like a result; name the exception"
            )


def silent_excepts(source: Source) -> Iterator[str]:
    for function, node in _caught(source):
        if len(node.body) == 1 and (
            isinstance(node.body[0], ast.Pass)
            or (isinstance(node.body[0], ast.Expr) and isinstance(node.body[0].value, ast.Constant))
        ):
            yield (
                f"{source.path}:{node.lineno} in {function or 'the module'} swallows an exception:"
                " write contextlib.suppress with the narrow type"
            )


def relative_imports(source: Source) -> Iterator[str]:
    for node in source.of(ast.ImportFrom):
        if node.level:
            yield f"{source.path}:{node.lineno} imports relatively: say gatewright.*"


def missing_future(source: Source) -> Iterator[str]:
    has = any(
        isinstance(node, ast.ImportFrom)
        and node.module == "__future__"
        and any(alias.name == "annotations" for alias in node.names)
        for node in source.tree.body
    )
    if not has:
        yield f"{source.path} lacks `from __future__ import annotations`: annotations cost start-up"


def missing_docstring(source: Source) -> Iterator[str]:
    if ast.get_docstring(source.tree) is None:
        yield f"{source.path} has no module docstring: say what it is and what always holds"


def dynamic_attributes(source: Source) -> Iterator[str]:
    if source.path in DYNAMIC_ATTRIBUTES:
        return
    for node in source.of(ast.Call):
        if isinstance(node.func, ast.Name) and node.func.id in {"getattr", "hasattr", "setattr"}:
            yield (
                f"{source.path}:{node.lineno} uses {node.func.id}: the type checker cannot see"
                " through it; use a protocol, or list the file with a reason"
            )


def missing_encoding(source: Source) -> Iterator[str]:
    for node in source.of(ast.Call):
        if _is_text_io(node):
            keywords = {keyword.arg for keyword in node.keywords}
            if "encoding" not in keywords and None not in keywords:
                yield f"{source.path}:{node.lineno} opens text without encoding: say utf-8"


def vague_names(source: Source) -> Iterator[str]:
    for line, name in _types(source):
        vague = name.endswith(VAGUE_ENDS) or name.lstrip("_") in VAGUE
        if vague and name not in NAMES:
            yield f"{source.path}:{line} type {name}: name it after what it is"


def _types(source: Source) -> Iterator[tuple[int, str]]:
    """Classes, and names of other types: what is assigned to a name that begins like a class."""
    for node in source.of(ast.ClassDef):
        yield node.lineno, node.name
    targets = [target for node in source.of(ast.Assign) for target in node.targets]
    targets += [node.target for node in source.of(ast.AnnAssign)]
    for target in targets:
        if isinstance(target, ast.Name) and not target.id.islower():
            yield target.lineno, target.id


CHECKS: tuple[Check, ...] = (
    long_files,
    long_functions,
    many_parameters,
    broad_excepts,
    silent_excepts,
    relative_imports,
    missing_future,
    missing_docstring,
    dynamic_attributes,
    missing_encoding,
    vague_names,
)

# Tests take fixtures as parameters and poke at what has no type.
TEST_CHECKS: tuple[Check, ...] = (
    long_files,
    long_functions,
    silent_excepts,
    relative_imports,
    missing_future,
    missing_encoding,
)


def _functions(source: Source) -> Iterator[Function]:
    yield from source.of(ast.FunctionDef)
    yield from source.of(ast.AsyncFunctionDef)


def _caught(source: Source) -> Iterator[tuple[str, ast.ExceptHandler]]:
    """With the name of the function that it stands in."""
    for node in source.of(ast.ExceptHandler):
        around = [
            (each.lineno, each.name)
            for each in _functions(source)
            if each.lineno <= node.lineno <= (each.end_lineno or each.lineno)
        ]
        yield max(around, default=(0, ""))[1], node


def _is_broad(caught: ast.expr | None) -> bool:
    match caught:
        case None:
            return True
        case ast.Name(id=name):
            return name in {"Exception", "BaseException"}
        case ast.Tuple(elts=parts):
            return any(_is_broad(part) for part in parts)
        case _:
            return False


def _reraises(node: ast.ExceptHandler) -> bool:
    last = node.body[-1]
    return isinstance(last, ast.Raise) and last.exc is None


def _is_text_io(node: ast.Call) -> bool:
    match node.func:
        case ast.Attribute(attr="read_text"):
            return not node.args
        case ast.Attribute(attr="write_text"):
            return len(node.args) < 2
        case ast.Name(id="open"):
            mode = node.args[1] if len(node.args) > 1 else None
            return not (isinstance(mode, ast.Constant) and "b" in str(mode.value))
        case ast.Attribute(attr="open", value=value):
            if isinstance(value, ast.Name) and value.id in {"os", "webbrowser", "Image", "tarfile"}:
                return False
            mode = node.args[0] if node.args else None
            return isinstance(mode, ast.Constant) and mode.value in {"r", "w", "a", "x", "r+", "w+"}
        case _:
            return False
