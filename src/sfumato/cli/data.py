"""``sfumato data``: public data sets, and simulated votes."""

from __future__ import annotations

__all__ = ["app", "describe", "get", "list_sets", "path", "simulate"]

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sfumato.cli import screen
from sfumato.cli.votes import Seed, keep_apart

if TYPE_CHECKING:
    from sfumato.data.dataset import DataFile

app = typer.Typer(help="Public data sets, and simulated votes.", no_args_is_help=True)

Name = Annotated[
    str, typer.Argument(metavar="NAME", help="A name that `sfumato data list` shows: rte, snow2008/temp, …")
]
Json = Annotated[bool, typer.Option("--json", help="Print as JSON.")]


@app.command("list", epilog="Example: sfumato data list")
def list_sets(json: Json = False) -> None:
    """List the public data sets, and which of them are on this machine."""
    from sfumato import data
    from sfumato.errors import MissingDataError

    places: dict[str, str | None] = {}
    for name in data.names():
        try:
            places[name] = str(data.path(name))
        except MissingDataError:
            places[name] = None
    known = {name: data.entry(name) for name in places}
    if json:
        screen.say_json(
            [
                {"name": name, "title": entry.title, "parts": list(entry.parts), "size": entry.size, "at": places[name]}
                for name, entry in known.items()
            ]
        )
        return
    screen.table(
        ["name", "what", "here", "parts", "MB"],
        [
            [
                name,
                entry.title,
                "yes" if places[name] else "no",
                str(len(entry.parts) or ""),
                f"{entry.size / 1e6:.1f}",
            ]
            for name, entry in known.items()
        ],
        left=3,
    )


@app.command("describe", epilog="Example: sfumato data describe rte")
def describe(name: Name, json: Json = False) -> None:
    """Say what a data set is, where it comes from, and what loading it gives."""
    from sfumato import data

    known = data.entry(name)
    about: dict[str, Any] = {
        "name": known.name,
        "title": known.title,
        "summary": known.summary,
        "gives": list(known.gives),
        "parts": list(known.parts),
        "citation": known.citation,
        "licence": known.licence,
        "homepage": known.homepage,
        "notes": list(known.notes),
        "files": [
            {
                "path": file.path,
                "source": file.source,
                "size": file.size,
                "sha256": file.sha256,
                "git_blob": file.git_blob,
            }
            for file in known.files
        ],
    }
    if json:
        screen.say_json(about)
        return
    screen.say(f"{known.title} ({known.name})\n{known.summary}\n")
    for word in ("gives", "parts"):
        if about[word]:
            screen.say(f"{word}: {', '.join(about[word])}")
    for word in ("citation", "licence", "homepage"):
        screen.say(f"{word}: {about[word]}")
    for line in known.notes:
        screen.say(f"note: {line}")
    screen.say("")
    for file in known.files:
        known_by = f"sha256 {file.sha256}" if file.sha256 else "sha256 not known"
        if file.git_blob is not None:
            known_by = f"git blob {file.git_blob} (upstream's, before personal data are taken out)"
        screen.say(f"{file.path} · {file.size:,} bytes · {known_by}\n    {_source(file, known.homepage)}")


def _source(file: DataFile, homepage: str) -> str:
    if file.source is None:
        return f"by hand, see {homepage}"
    return file.source if file.archive is None else f"{file.address} in {file.source}"


@app.command("path", epilog="Example: cd $(sfumato data path rte)")
def path(name: Name, json: Json = False) -> None:
    """Print the folder that holds the files of a data set."""
    from sfumato import data

    _say_folder(name, data.path(name), json)


def _say_folder(name: str, folder: Path, json: bool) -> None:
    if json:
        screen.say_json({"name": name, "at": str(folder)})
    else:
        screen.say(str(folder))


@app.command("get", epilog="Example: sfumato data get rte")
def get(name: Name, json: Json = False) -> None:
    """Fetch the files of a data set from upstream into the cache; a broken download is taken up again."""
    from sfumato import data

    with screen.working(f"Fetching {name}") as advance:
        folder = data.get(name, progress=lambda _, done, total: advance(done, total))
    _say_folder(name, folder, json)


@app.command("simulate", epilog="Example: sfumato data simulate votes.csv --items 500 --annotators 30 --spammers 0.1")
def simulate(
    out: Annotated[Path, typer.Argument(metavar="OUT", help="The file of votes to write: .csv, .parquet, .jsonl, …")],
    items: Annotated[int, typer.Option(min=1, help="How many items.")] = 1000,
    annotators: Annotated[int, typer.Option(min=1, help="How many annotators.")] = 20,
    classes: Annotated[int, typer.Option(min=2, help="How many classes.")] = 3,
    per_item: Annotated[float, typer.Option(help="How many annotators judge an item, on average.")] = 5,
    spammers: Annotated[float, typer.Option(help="The share of annotators who do not look.")] = 0.0,
    soft: Annotated[bool, typer.Option("--soft", help="Let annotators answer with distributions.")] = False,
    gold_out: Annotated[Path | None, typer.Option(help="A file for the planted classes.")] = None,
    seed: Seed = 0,
    json: Annotated[bool, typer.Option("--json", help="Print a summary as JSON.")] = False,
) -> None:
    """Write simulated votes, of which the truth is known."""
    from sfumato import data
    from sfumato.tables.doors import check_target

    keep_apart((out, gold_out), ())
    for target in (out, gold_out):
        if target is not None:
            check_target(target)
    with screen.working("Simulating"):
        simulation = data.simulate(
            n_items=items,
            n_annotators=annotators,
            n_classes=classes,
            per_item=int(per_item) if per_item.is_integer() else per_item,
            spammers=spammers,
            soft=soft,
            seed=seed,
        )
        simulation.annotations.save(out)
        if gold_out is not None:
            simulation.gold.save(gold_out)
    said = simulation.annotations
    if json:
        screen.say_json(
            {
                "n_items": said.n_items,
                "n_annotators": said.n_annotators,
                "n_annotations": said.n_annotations,
                "classes": list(said.classes),
                "seed": seed,
                "out": str(out),
                "gold_out": None if gold_out is None else str(gold_out),
            }
        )
        return
    screen.say(f"{said!r} → {out}")
    if gold_out is not None:
        screen.say(f"the planted classes → {gold_out}")
