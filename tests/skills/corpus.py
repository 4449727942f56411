"""Shapes that SKILL.md files have in the wild, each with what is read of it.

The directory is `demo`. `valid` is the verdict on the six standard fields.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

OK = "name: demo\ndescription: Does it."


class Shape(NamedTuple):
    """`said` is None where the file cannot be used; `told` occurs in what is said of it."""

    label: str
    data: bytes
    said: Mapping[str, Any] | None
    told: str = ""
    valid: bool = False


def front(
    label: str,
    text: str,
    said: Mapping[str, Any] | None,
    told: str = "",
    *,
    valid: bool = False,
    body: str = "Do it.\n",
) -> Shape:
    return Shape(label, f"---\n{text}\n---\n{body}".encode(), said, told, valid)


def more(
    label: str, text: str, said: Mapping[str, Any], told: str = "", *, valid: bool = True
) -> Shape:
    """Behind a name and a description."""
    return front(label, f"{OK}\n{text}", said, told, valid=valid)


def described(label: str, text: str, said: str, told: str = "", *, valid: bool = True) -> Shape:
    """With such a description."""
    return front(
        label, f"name: demo\ndescription: {text}", {"description": said}, told, valid=valid
    )


def raw(
    label: str,
    data: bytes | str,
    said: Mapping[str, Any] | None,
    told: str = "",
    *,
    valid: bool = False,
) -> Shape:
    return Shape(label, data.encode() if isinstance(data, str) else data, said, told, valid)


WHOLE = {"description": "Does it."}
FIRST = {"description": "Do it.", "described": False}

DESCRIPTIONS = (
    described("plain", "Does it.", "Does it."),
    described("a colon inside", "Use it: always", "Use it: always", "no YAML", valid=False),
    described("two colons", "a: b: c", "a: b: c", "no YAML", valid=False),
    described("a colon at the end", "Use it when:", "Use it when:", "no YAML", valid=False),
    described("a time", "At 12:30 sharp", "At 12:30 sharp"),
    described("an address", "See https://example.com/a", "See https://example.com/a"),
    described("double quotes", '"Use it: always"', "Use it: always"),
    described("single quotes", "'It''s: so'", "It's: so"),
    described("a quote inside", 'Say "yes" now', 'Say "yes" now'),
    described("quoted, then more", '"Say" it', '"Say" it', "no YAML", valid=False),
    described("an apostrophe", "Don't stop", "Don't stop"),
    described("a hash behind a blank", "Does it # not this", "Does it"),
    described("a hash in a word", "Does c#", "Does c#"),
    described("a dash first", "- does it", "- does it", "no YAML", valid=False),
    described("a star first", "* does it", "* does it", "no YAML", valid=False),
    described("stars in bold", "**Does** it", "**Does** it", "no YAML", valid=False),
    described("an at first", "@file does it", "@file does it", "no YAML", valid=False),
    described("a backtick first", "`code` does it", "`code` does it", "no YAML", valid=False),
    described("a percent first", "%d does it", "%d does it", "no YAML", valid=False),
    described("an exclamation mark first", "!important", "!important", "no YAML", valid=False),
    described("a question mark first", "?maybe", "?maybe"),
    described("a bracket first", "[beta] Does it", "[beta] Does it", "no YAML", valid=False),
    described("a brace first", "{x} does it", "{x} does it", "no YAML", valid=False),
    described("a greater-than sign", "> 5 things", "> 5 things", "no YAML", valid=False),
    described("a comma first", ", does it", ", does it", "no YAML", valid=False),
    described("literal block", "|\n  One: a\n  two", "One: a two"),
    described("literal, no end", "|-\n  One\n  two", "One two"),
    described("folded block", ">\n  One: a\n  two", "One: a two"),
    described("folded, no end", ">-\n  One\n\n  two", "One two"),
    described("folded, kept end", ">+\n  One\n\n", "One"),
    described("block with deeper lines", "|\n  One\n    two\n  three", "One two three"),
    described("over lines", "One\n  two\n  three", "One two three"),
    described("over lines with a colon", "One\n  two: three", "One two: three", "no", valid=False),
    described("on the next line", "\n  Does it.", "Does it."),
    described("escapes", r'"a\nb\tc"', "a b c"),
    described("escapes without quotes", r"a\nb", "a b"),
    described("Unicode", "Prüft Größe, schnell ✓", "Prüft Größe, schnell ✓"),
    described("Chinese", "处理表格文件", "处理表格文件"),
    described("Arabic", "يعالج الملفات", "يعالج الملفات"),
    described("emoji", "🚀 Ships it", "🚀 Ships it"),
    described("an escape in quotes", r'"\u00e9t\u00e9"', "été"),
    described("blanks around", "   Does it.   ", "Does it."),
    described("a number", "42", "42"),
    described("a word that is true", "yes", "yes"),
    described("null written out", "null", "Do it.", valid=True),
    described("a tilde", "~", "Do it.", valid=True),
    described("nothing", "", "Do it.", valid=False),
    described("empty quotes", '""', "Do it.", valid=False),
    described("blanks in quotes", '"  "', "Do it.", valid=False),
    described("a list", "\n  - a\n  - b", "Do it.", "no text", valid=False),
    described("a flow list", "[a, b]", "Do it.", "no text", valid=False),
    described("a map", "\n  a: b", "Do it.", "no text", valid=False),
    described("an anchor", "&a Does it", "Does it", valid=False),
    described("a tag", "!!str 5", "5", valid=False),
    described("at the limit", "x" * 1_024, "x" * 1_024),
    described("over the limit of others", "x" * 1_025, "x" * 1_025, valid=False),
    described("over ours", "x" * 1_537, "x" * 1_537, "1,536 are listed", valid=False),
    described("angle brackets", "Does <b>it</b>", "Does <b>it</b>"),
    described("an ampersand", "R & D", "R & D"),
    described("a pipe inside", "a | b", "a | b"),
    described("three dashes inside", "a --- b", "a --- b"),
    described("dollar and braces", "${X} and $1", "${X} and $1"),
    described("a tab inside", "a\tb", "a b", valid=False),
    described("a backslash", r"C:\dir", r"C:\dir"),
)

NAMES = (
    front("a name alone", "name: demo", FIRST),
    front("a description alone", "description: Does it.", WHOLE),
    front("another name", "name: other\ndescription: Does it.", WHOLE, "its directory demo"),
    front("capitals", "name: Demo\ndescription: Does it.", WHOLE, "calls itself 'Demo'"),
    front("blanks", "name: My Demo\ndescription: Does it.", WHOLE, "calls itself"),
    front("underscores", "name: de_mo\ndescription: Does it.", WHOLE, "calls itself"),
    front("a hyphen first", "name: -demo\ndescription: Does it.", WHOLE, "calls itself"),
    front("two hyphens", "name: de--mo\ndescription: Does it.", WHOLE, "calls itself"),
    front("too long", f"name: {'a' * 65}\ndescription: Does it.", WHOLE, "calls itself"),
    front("in quotes", 'name: "demo"\ndescription: Does it.', WHOLE, valid=True),
    front("with a comment", "name: demo # it\ndescription: Does it.", WHOLE, valid=True),
    front("nothing", "name:\ndescription: Does it.", WHOLE),
    front("a list", "name: [demo]\ndescription: Does it.", WHOLE),
    front("a map", "name:\n  a: demo\ndescription: Does it.", WHOLE),
    front("a path", "name: ../demo\ndescription: Does it.", WHOLE, "calls itself"),
    front("a look-alike", "name: d\u0435mo\ndescription: Does it.", WHOLE, "calls itself"),
    front(
        "full width",
        "name: \uff44\uff45\uff4d\uff4f\ndescription: Does it.",
        WHOLE,
        "calls itself",
        valid=True,
    ),
    front("spelled Name", "Name: demo\ndescription: Does it.", WHOLE),
    front("twice", "name: other\nname: demo\ndescription: Does it.", WHOLE),
)

FIELDS = (
    more("licence", "license: MIT", {"license": "MIT"}),
    more(
        "licence with a colon",
        "license: See: LICENSE",
        {"license": "See: LICENSE"},
        "no YAML",
        valid=False,
    ),
    more("compatibility", "compatibility: Needs git.", {"compatibility": "Needs git."}),
    more("compatibility, nothing", "compatibility:", {"compatibility": ""}),
    more("compatibility, list", "compatibility:\n  - a", {}, "no text", valid=False),
    more(
        "compatibility, too long",
        f"compatibility: {'x' * 501}",
        {"compatibility": "x" * 500},
        "more than 500",
        valid=False,
    ),
    more(
        "metadata",
        "metadata:\n  author: a\n  version: 1",
        {"metadata": {"author": "a", "version": 1}},
    ),
    more("metadata, deeper", "metadata:\n  a:\n    b: c", {"metadata": {"a": {"b": "c"}}}),
    more("metadata, no map", "metadata: x", {"metadata": {}}, "no table"),
    more("metadata, flow", "metadata: {a: b}", {"metadata": {"a": "b"}}, valid=False),
    more("tools with blanks", "allowed-tools: Read Grep", {"allowed_tools": ("Read", "Grep")}),
    more("tools with commas", "allowed-tools: Read, Grep", {"allowed_tools": ("Read", "Grep")}),
    more(
        "tools with rules",
        "allowed-tools: Bash(git add:*), Bash(git status:*) Read",
        {"allowed_tools": ("Bash(git add:*)", "Bash(git status:*)", "Read")},
    ),
    more(
        "tools in a list",
        "allowed-tools:\n  - Read\n  - Bash(npm test:*)",
        {"allowed_tools": ("Read", "Bash(npm test:*)")},
    ),
    more(
        "tools in brackets",
        "allowed-tools: [Read, Grep]",
        {"allowed_tools": ("Read", "Grep")},
        valid=False,
    ),
    more("tools in quotes", 'allowed-tools: "Read, Grep"', {"allowed_tools": ("Read", "Grep")}),
    more("tools, nothing", "allowed-tools:", {"allowed_tools": ()}),
    more("tools, a map", "allowed-tools:\n  a: b", {"allowed_tools": ()}, "is no list"),
    more("tools, true", "allowed-tools: true", {"allowed_tools": ()}, "is no list"),
    more("tools twice", "allowed-tools: Read Read", {"allowed_tools": ("Read",)}),
    more("tools, other spelling", "allowedTools: Read", {"allowed_tools": ("Read",)}),
    more("tools, underscore", "allowed_tools: Read", {"allowed_tools": ("Read",)}),
    more("tools, a star", "allowed-tools: *", {"allowed_tools": ("*",)}, "no YAML", valid=False),
    more("not these tools", "disallowed-tools: Bash", {"disallowed_tools": ("Bash",)}),
    front("not these, a map", f"{OK}\ndisallowed-tools:\n  a: b", None, "is no list", valid=True),
    more("enforced", "enforce-allowed-tools: true", {"enforce_allowed_tools": True}),
    more(
        "enforced, unclear",
        "enforce-allowed-tools: maybe",
        {"enforce_allowed_tools": True},
        "neither",
    ),
    more("for people", "disable-model-invocation: true", {"model_invocable": False}),
    more("for people: yes", "disable-model-invocation: yes", {"model_invocable": False}),
    more("for people: on", "disable-model-invocation: on", {"model_invocable": False}),
    more("for people: 1", "disable-model-invocation: 1", {"model_invocable": False}),
    more("for people: quoted", 'disable-model-invocation: "True"', {"model_invocable": False}),
    more("for people: off", "disable-model-invocation: off", {"model_invocable": True}),
    more("for people: 0", "disable-model-invocation: 0", {"model_invocable": True}),
    more("for people: nothing", "disable-model-invocation:", {"model_invocable": True}),
    more(
        "for people: unclear",
        "disable-model-invocation: perhaps",
        {"model_invocable": False},
        "neither",
    ),
    more("for the model", "user-invocable: false", {"user_invocable": False}),
    more("for the model: no", "user-invocable: no", {"user_invocable": False}),
    more("for the model: unclear", "user-invocable: hm", {"user_invocable": True}, "neither"),
    more("a hint", "argument-hint: <file> [line]", {"argument_hint": "<file> [line]"}),
    more("a hint in brackets", "argument-hint: [file]", {"argument_hint": "[file]"}, valid=False),
    more(
        "two in brackets",
        "argument-hint: [a] [b]",
        {"argument_hint": "[a] [b]"},
        valid=False,
    ),
    more(
        "a bracket and words",
        "argument-hint: [a]: what",
        {"argument_hint": "[a]: what"},
        valid=False,
    ),
    more("a hint in quotes", 'argument-hint: "[a] [b]"', {"argument_hint": "[a] [b]"}),
    more("a hint with a bar", "argument-hint: add|remove", {"argument_hint": "add|remove"}),
    more("named arguments", "arguments: file line", {"arguments": ("file", "line")}),
    more("named in a list", "arguments:\n  - file\n  - line", {"arguments": ("file", "line")}),
    more("named with commas", "arguments: file, line", {"arguments": ("file", "line")}),
    more("no name", "arguments: file 2nd", {"arguments": ("file",)}, "no name of an argument"),
    more("named by a map", "arguments:\n  file: x", {"arguments": ()}, "is no list"),
    more("a model", "model: sonnet", {"model": "sonnet"}),
    more("the session's model", "model: inherit", {"model": ""}),
    more("effort", "effort: high", {"effort": "high"}),
    more("effort in capitals", "effort: High", {"effort": "high"}),
    more("no effort", "effort: huge", {"effort": ""}, "is none of"),
    more("fork", "context: fork\nagent: Explore", {"fork": True, "agent": "Explore"}),
    more("no fork", "context: inline", {"fork": False}, "can only be fork"),
    more("background", "context: fork\nbackground: true", {"background": True}),
    more("paths", "paths: src/**/*.ts, *.md", {"paths": ("src/**/*.ts", "*.md")}),
    more("paths in a list", "paths:\n  - src/**\n  - docs/**", {"paths": ("src/**", "docs/**")}),
    more("paths with braces", "paths: '**/*.{ts,tsx}'", {"paths": ("**/*.{ts,tsx}",)}),
    more("paths, a star first", "paths: *.py", {"paths": ("*.py",)}, "no YAML", valid=False),
    more("paths, two stars first", "paths: **/*.py", {"paths": ("**/*.py",)}, "no", valid=False),
    more("when to use", "when_to_use: Always.", {"when_to_use": "Always."}),
    more("when to use, hyphens", "when-to-use: Always.", {"when_to_use": "Always."}),
    more("hooks", "hooks:\n  Stop:\n    - hooks: []", {}, valid=False),
    more("hooks as text", "hooks: stop", {"hooks": {}}, "no table"),
    more("shell", "shell: bash", {"shell": "bash"}),
    more("another shell", "shell: powershell", {"shell": "powershell"}, "Only bash"),
    more("an unknown key", "colour: red", {}, "there is no field 'colour'"),
    more("a misspelt key", "descripton: x", {}, "did you mean description"),
    more("keys of others", "version: 1.0\nauthor: me", {}),
)

FILES = (
    raw("nothing at all", "", None, "neither a description nor a text"),
    raw("white space", " \n\t\n", None, "neither a description nor a text"),
    raw(
        "a text alone", "Does it.\nWell.\n\nMore.\n", {"description": "Does it. Well."}, "no front"
    ),
    raw("a heading, then text", "# Title\n\nDoes it.\n", WHOLE, "no front matter"),
    raw("a heading alone", "# Title\n", {"description": "Title"}, "no front matter"),
    raw("front matter alone", f"---\n{OK}\n---", WHOLE, valid=True),
    raw("empty front matter", "---\n---\nDo it.\n", FIRST),
    raw("empty, and no text", "---\n---\n", None, "neither"),
    raw("never closed", f"---\n{OK}\nDo it.\n", None, "--- that ends its front matter is missing"),
    raw("a name and no text", "---\nname: demo\n---\n", None, "neither"),
    raw("a mark", f"\ufeff---\n{OK}\n---\nDo it.\n", WHOLE),
    raw("CRLF", f"---\n{OK}\n---\nDo it.\n".replace("\n", "\r\n"), WHOLE, valid=True),
    raw("CR alone", f"---\n{OK}\n---\nDo it.\n".replace("\n", "\r"), WHOLE, valid=True),
    raw("UTF-16", f"---\n{OK}\n---\nDo it.\n".encode("utf-16"), WHOLE),
    raw("Latin-1", "---\nname: demo\ndescription: Gr\xf6\xdfe\n---\n".encode("latin-1"), {}),
    raw("blank lines first", f"\n\n---\n{OK}\n---\nDo it.\n", WHOLE),
    raw("blanks behind the dashes", f"---  \n{OK}\n---\t\nDo it.\n", WHOLE, valid=True),
    raw("four dashes", f"----\n{OK}\n----\nDo it.\n", {}, "no front matter"),
    raw("a rule in the text", f"---\n{OK}\n---\nOne.\n\n---\n\nTwo.\n", WHOLE, valid=True),
    raw("dots at the end", f"---\n{OK}\n...\nDo it.\n", None, "is missing"),
    raw("in a code fence", f"```\n---\n{OK}\n---\n```\n", {}, "no front matter"),
    raw("tabs for blanks", "---\nname: demo\ndescription:\tDoes it.\n---\n", WHOLE),
    raw(
        "a tab in front",
        "---\nname: demo\ndescription: Does it.\nmetadata:\n\ta: b\n---\n",
        {},
        "no YAML",
    ),
    raw("a NUL", f"---\n{OK}\x00\n---\nDo it.\n", WHOLE, "no YAML"),
    raw("a control character", f"---\n{OK}\x1b[31m\n---\n", {}, "no YAML"),
    raw("a list at the top", "---\n- a\n- b\n---\nDo it.\n", None, "no YAML"),
    raw("a text at the top", "---\nhello\n---\nDo it.\n", None, "no YAML"),
    raw("two documents", f"---\n{OK}\n--- \nmore: x\n---\nx\n", WHOLE, valid=True),
    raw("a comment first", f"---\n# mine\n{OK}\n---\n", WHOLE, valid=True),
    raw("an HTML comment below", f"---\n{OK}\n---\n<!-- x -->\nDo it.\n", WHOLE, valid=True),
    raw(
        "keys without a blank",
        "---\nname:demo\ndescription:Does it.\n---\nDo it.\n",
        None,
        "no YAML",
    ),
    raw("a key twice", f"---\n{OK}\ndescription: Again.\n---\n", {"description": "Again."}),
    raw("alias", f"---\n{OK}\nlicense: &l MIT\ncompatibility: *l\n---\n", {"compatibility": "MIT"}),
    raw(
        "aliases that grow",
        f"---\n{OK}\na: &a [x,x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a]\n"
        "c: &c [*b,*b,*b,*b,*b,*b,*b,*b,*b]\nd: [*c,*c,*c,*c,*c,*c,*c,*c]\n---\n",
        {},
        "says too much",
    ),
    raw("nested deeply", f"---\n{OK}\na: {'[' * 200}{']' * 200}\n---\n", {}, "too deeply"),
    raw("an object of Python", f"---\n{OK}\na: !!python/object:os.system x\n---\n", {}, "the tag"),
    raw(
        "a merge",
        f"---\n{OK}\nbase: &b\n  a: c\nmetadata:\n  <<: *b\n---\n",
        {"metadata": {"a": "c"}},
        "no field 'base'",
    ),
    raw("JSON", '---\n{"name": "demo", "description": "Does it."}\n---\n', WHOLE),
    raw(
        "JSON over lines", '---\n{\n  "name": "demo",\n  "description": "Does it."\n}\n---\n', WHOLE
    ),
    raw("keys in quotes", '---\n"name": demo\n"description": "Does it."\n---\n', WHOLE, valid=True),
    raw("indented", "---\n  name: demo\n  description: Does it.\n---\n", WHOLE, valid=True),
    raw("a long text", f"---\n{OK}\n---\n{'Line.' * 1_000}\n", WHOLE, valid=True),
    raw(
        "more than 1 MiB",
        f"---\n{OK}\n---\n{'x' * 1_048_576}\n",
        None,
        "larger than 1 MiB",
        valid=True,
    ),
    raw(
        "front matter too long", f"---\n{OK}\n# {'x' * 140_000}\n---\n", None, "128 kB", valid=True
    ),
)

SHAPES = (*DESCRIPTIONS, *NAMES, *FIELDS, *FILES)
