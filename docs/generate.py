"""Write the generated pages of docs/reference/: the commands, and every public name with its first line.

`make docs` runs this; a test fails when a page is not what this would write.
"""

from __future__ import annotations

import inspect
from dataclasses import fields
from importlib import import_module
from pathlib import Path
from typing import Any

import typer

REFERENCE = Path(__file__).parent / "reference"
ROOMS = (
    "sfumato",
    "sfumato.aggregate",
    "sfumato.data",
    "sfumato.evaluate",
    "sfumato.train",
    "sfumato.reproduce",
    "sfumato.errors",
)
HEAD = "<!-- Written by docs/generate.py; change the docstring or the help text, then run: make docs -->\n\n"


def pages() -> dict[str, str]:
    """Return the generated pages: file name → text."""
    return {
        "commands.md": HEAD + commands_page(),
        "names.md": HEAD + names_page(),
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
            lines.append(f"| `{name}{signature}` | {_one_line(inspect.getdoc(value)).replace('|', chr(92) + '|')} |")
    return "\n".join(lines) + "\n"


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
