"""Write the generated pages of docs/reference/: commands, settings, studies, and every public name with its first line.

`make docs` runs this; a test fails when a page is not what this would write.
"""

from __future__ import annotations

import inspect
import json
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from importlib import import_module
from pathlib import Path
from types import UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

import typer

REFERENCE = Path(__file__).parent / "reference"
ROOMS = (
    "sfumato",
    "sfumato.aggregate",
    "sfumato.data",
    "sfumato.evaluate",
    "sfumato.train",
    "sfumato.train.losses",
    "sfumato.reproduce",
    "sfumato.errors",
)
HEAD = "<!-- Written by docs/generate.py; change the docstring or the help text, then run: make docs -->\n\n"


def pages() -> dict[str, str]:
    """Return the generated pages: file name → text."""
    return {
        "commands.md": HEAD + commands_page(),
        "names.md": HEAD + names_page(),
        "settings.md": HEAD + settings_page(),
        "studies.md": HEAD + studies_page(),
    }


def commands_page() -> str:
    from sfumato.cli.app import app

    lines = ["# Commands", "", "What `--help` says of each command, on one page."]
    for path, command in _walk(typer.main.get_command(app), "sfumato"):
        if getattr(command, "commands", None):
            continue
        lines += ["", f"## `{path}`", "", _one_line(command.help), ""]
        usage = " ".join([path, *filter(None, map(_in_usage, command.params)), "[OPTIONS]"])
        lines += ["```", usage, "```", "", "| | | default |", "|---|---|---|"]
        for parameter in command.params:
            if parameter.name != "help":
                lines.append(f"| `{_spelling(parameter)}` | {_one_line(parameter.help)} | {_default(parameter)} |")
        if command.epilog:
            lines += ["", f"`{command.epilog.removeprefix('Example: ')}`"]
    return "\n".join(lines) + "\n"


def names_page() -> str:
    lines = ["# Public names", "", "Everything that `__all__` of a room lists; `help(name)` in Python says the rest."]
    for room in ROOMS:
        module = import_module(room)
        lines += ["", f"## `{room}`", "", "| name | what it is |", "|---|---|"]
        for name in sorted(module.__all__, key=str.lower):
            if name.startswith("__"):
                continue
            value = getattr(module, name)
            signature = f"({', '.join(_parameters(value))})" if inspect.isfunction(value) else ""
            lines.append(f"| `{name}{signature}` | {_about(value).replace('|', chr(92) + '|')} |")
    return "\n".join(lines) + "\n"


def settings_page() -> str:
    from sfumato.data import places
    from sfumato.train.config import Config

    lines = [
        "# Settings",
        "",
        "What a configuration of `sfumato train` may set (in TOML, or as `--set loop.epochs=3`), and the environment.",
    ]
    tables = [("", Config()), *((each.name, getattr(Config(), each.name)) for each in fields(Config))]
    for name, table in tables:
        if not is_dataclass(table):
            continue
        said = (inspect.getdoc(type(table)) or "").partition("\n\n>>>")[0].split("\n\n")
        lines += ["", f"## `[{name}]`" if name else "## At the top", "", *_paragraphs(said)]
        lines += ["| setting | takes | default |", "|---|---|---|"]
        hints = get_type_hints(type(table))
        for each in fields(table):
            value = getattr(table, each.name)
            if not is_dataclass(value):
                path = f"{name}.{each.name}" if name else each.name
                lines.append(f"| `{path}` | {_takes(hints[each.name])} | {_as_toml(value)} |")
    lines += ["", "## Environment", "", *_paragraphs((inspect.getdoc(places) or "").split("\n\n"))]
    return "\n".join(lines).rstrip("\n") + "\n"


def _takes(hint: Any) -> str:
    """Return in words what a setting of this type takes."""
    origin, inner = get_origin(hint), get_args(hint)
    if origin is Literal:
        return ", ".join(f"`{each}`" for each in inner)
    if origin is tuple:
        return f"a list of: {_takes(inner[0])}"
    if origin in (Union, UnionType):
        return " or ".join(_takes(each) for each in inner if each is not type(None)) + ", or nothing"
    if origin is not None:
        return "a table of settings"
    return {str: "text", int: "a whole number", float: "a number", bool: "`true` or `false`"}[hint]


def _as_toml(value: Any) -> str:
    if value is None or value == {}:
        return ""
    return f"`{json.dumps(list(value) if isinstance(value, tuple) else value)}`"


def _about(value: Any) -> str:
    if isinstance(value, Mapping):  # a registry, whose own documentation would be that of any dict
        return f"By name: {', '.join(f'`{key}`' for key in value)}."
    return _one_line(inspect.getdoc(value))


def studies_page() -> str:
    from sfumato.reproduce.studies import STUDIES

    lines = ["# Studies", "", "What an experiment may name as its `study`, with the settings that it may change."]
    for name, study in STUDIES.items():
        default = study.default
        about = (inspect.getdoc(import_module(f"sfumato.reproduce.studies.{study.module}")) or "").split("\n\n")
        said = (inspect.getdoc(type(default)) or "").split("\n\n")
        lines += ["", f"## `{name}`", "", *_paragraphs([*about, *said]), "| setting | default | |", "|---|---|---|"]
        for field in fields(default):
            shown = repr(getattr(default, field.name)).replace("|", chr(92) + "|")
            by_size = "a size may change it" if field.metadata.get("size") else ""
            lines.append(f"| `{field.name}` | `{shown}` | {by_size} |")
    return "\n".join(lines) + "\n"


def _paragraphs(texts: list[str]) -> list[str]:
    return [line for text in texts for line in (" ".join(text.replace("``", "`").split()), "")]


def _walk(command: Any, path: str) -> list[tuple[str, Any]]:
    inner = getattr(command, "commands", None) or {}
    return [(path, command), *(pair for name in inner for pair in _walk(inner[name], f"{path} {name}"))]


def _parameters(function: Any) -> list[str]:
    shown, starred = [], False
    for parameter in inspect.signature(function).parameters.values():
        if parameter.kind is parameter.KEYWORD_ONLY and not starred:
            shown.append("*")
            starred = True
        default = "" if parameter.default is parameter.empty else f"={parameter.default!r}"
        shown.append(f"{parameter.name}{default}")
    return shown


def _in_usage(parameter: Any) -> str:
    if parameter.param_type_name == "argument":
        return parameter.metavar or parameter.name.upper()
    return f"{parameter.opts[0]} …" if parameter.required else ""


def _spelling(parameter: Any) -> str:
    if parameter.param_type_name == "argument":
        return parameter.metavar or parameter.name.upper()
    return ", ".join(parameter.opts)


def _default(parameter: Any) -> str:
    if parameter.required:
        return "needed"
    if parameter.default is None or parameter.default is False or parameter.default == ():
        return ""
    return f"`{parameter.default}`"


def _one_line(text: str | None) -> str:
    return " ".join((text or "").split("\n\n")[0].split())


if __name__ == "__main__":
    REFERENCE.mkdir(exist_ok=True)
    for name, text in pages().items():
        (REFERENCE / name).write_text(text, encoding="utf-8")
