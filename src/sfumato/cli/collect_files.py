"""What goes out of a study and into one: exports, imports, backups."""

from __future__ import annotations

__all__ = ["backup", "export", "import_", "register", "restore"]

import warnings
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sfumato.cli import screen
from sfumato.cli.collect_study import StudyPath, counted, note_old_rules, opened
from sfumato.errors import OptionError, SfumatoWarning, check_choice

if TYPE_CHECKING:
    from sfumato.collect.export import Chosen
    from sfumato.collect.redistribution import Redistribution
    from sfumato.collect.sqlite_store import SqliteStore
    from sfumato.collect.study import Study

_WHAT = ("responses", "votes", "soft", "people", "exit")


def register(app: typer.Typer) -> None:
    """Add the commands to the application."""
    app.command("export", epilog="Example: sfumato collect export photos-study -o soft.parquet")(export)
    app.command("import", epilog="Example: sfumato collect import raw_human_data.csv cifar-study")(import_)
    app.command("backup", epilog="Example: sfumato collect backup photos-study -o backups/monday")(backup)
    app.command("restore", epilog="Example: sfumato collect restore backups/monday photos-again")(restore)


def export(
    study: StudyPath,
    out: Annotated[Path, typer.Option("--out", "-o", help="The file: responses.jsonl, votes.csv, soft.parquet, …")],
    what: Annotated[
        str | None,
        typer.Option(help="responses, votes, soft, people or exit; the name of the file says it where this does not."),
    ] = None,
    use: Annotated[
        str | None,
        typer.Option(help="What of an answer: T1, T2, or top1, top2 for the choice alone; study.toml if not told."),
    ] = None,
    redistribute: Annotated[
        str | None, typer.Option(help="Where the open mass goes: clamp or uniform; study.toml if not told.")
    ] = None,
    gamma: Annotated[
        float | None, typer.Option(help="The share for what was not ruled out; study.toml if not told.")
    ] = None,
    per: Annotated[str, typer.Option(help="Soft labels per item, or per annotator.")] = "item",
    method: Annotated[
        str, typer.Option(help="Soft labels per item: any view or join of sfumato aggregate; standard is the mean.")
    ] = "standard",
    seed: Annotated[int, typer.Option(help="The seed of a method that draws.")] = 0,
    repeats: Annotated[bool, typer.Option("--repeats", help="Take the items that came again as well.")] = False,
    left_out: Annotated[
        bool, typer.Option("--left-out", help="Take the people whom the exclusion rules left out as well.")
    ] = False,
    finished: Annotated[bool, typer.Option("--finished", help="Take only people who have handed in.")] = False,
    as_published: Annotated[
        bool,
        typer.Option("--as-published", help="Count and redistribute as the released code of Collins et al. (2022)."),
    ] = False,
) -> None:
    """Write what was said: raw answers, annotations, soft labels, people, or the answers at the end.

    No export holds an id of a platform.
    """
    from sfumato.collect.export import Chosen
    from sfumato.collect.redistribution import redistribution_of
    from sfumato.tables.write import check_writable

    kind = check_choice(what, _WHAT, option="what") if what is not None else _meant(out)
    check_choice(per, ("item", "annotator"), option="per")
    _check_ending(out, kind)
    check_writable(out)
    chosen = Chosen(left_out=left_out, repeats=repeats, finished=finished, as_published=as_published)
    with opened(study) as (declared, store), screen.working("Writing"):
        if kind != "exit":
            note_old_rules(declared, store)
        rule = redistribution_of(declared, use=use, rule=redistribute, gamma=gamma)
        if kind == "soft":
            told = _write_soft(declared, store, rule, chosen, out, per=per, method=method, seed=seed)
        elif kind == "votes":
            told = _write_votes(declared, store, rule, chosen, out)
        else:
            told = _write_rows(store, kind, out)
    screen.say(told)
    screen.say(f"→ {out}")


def _meant(out: Path) -> str:
    """Return what the name of a file says it is to hold."""
    names = {"annotations": "votes", "annotators": "people", "labels": "soft", **{name: name for name in _WHAT}}
    for name, kind in names.items():
        if out.name.lower().startswith(name):
            return kind
    raise OptionError(f"The name {out.name} does not say what to write. Say --what {', '.join(_WHAT[:-1])} or exit.")


def _check_ending(out: Path, kind: str) -> None:
    endings = {
        "responses": (".jsonl",),
        "people": (".csv", ".jsonl"),
        "exit": (".csv", ".jsonl"),
        "votes": (".csv", ".tsv", ".jsonl", ".parquet", ".arrow"),
        "soft": (".csv", ".tsv", ".jsonl", ".parquet", ".arrow"),
    }[kind]
    if out.suffix.lower() not in endings:
        raise OptionError(f"{out} names no format for {kind}: the name must end in {', '.join(endings)}.")


def _write_soft(
    study: Study,
    store: SqliteStore,
    rule: Redistribution,
    chosen: Chosen,
    out: Path,
    *,
    per: str,
    method: str,
    seed: int,
) -> str:
    from dataclasses import asdict, replace

    import numpy as np

    from sfumato.collect.export import annotations_of_study
    from sfumato.core.storage import save_columns
    from sfumato.errors import InputError

    votes = annotations_of_study(study, store, rule, chosen)
    if per == "annotator":
        if {"item", "annotator"} & set(votes.classes):
            raise InputError("A class is called item or annotator, as a column is. Export votes instead.")
        rows = np.repeat(np.arange(votes.n_annotations), np.diff(votes.starts))
        probs = np.zeros((votes.n_annotations, votes.n_classes))
        probs[rows, votes.label] = votes.weight
        first = votes.starts[:-1]
        columns: dict[str, Any] = {
            "item": [votes.items[code] for code in votes.item[first]],
            "annotator": [votes.annotators[code] for code in votes.annotator[first]],
        }
        save_columns({**columns, **{name: probs[:, k] for k, name in enumerate(votes.classes)}}, out)
        return f"{votes.n_annotations:,} soft labels, one per annotator and item"

    from sfumato.aggregate.methods import METHODS

    known = [name for name, each in METHODS.items() if each.needs != "annotations and model"]
    result = METHODS[check_choice(method, known, option="method")](votes, seed=seed)
    for line in result.notes:
        screen.note(line)
    soft = result.soft_labels
    made = {**asdict(rule), **asdict(chosen)}
    origin = replace(soft.origin, options={**soft.origin.options, "collect": made})
    replace(soft, origin=origin).save(out)
    return (
        f"{soft.n_items:,} soft labels of {votes.n_annotations:,} answers by {counted(votes.n_annotators)} · {method}"
    )


def _write_votes(study: Study, store: SqliteStore, rule: Redistribution, chosen: Chosen, out: Path) -> str:
    from sfumato.collect.export import annotations_of_study
    from sfumato.core.annotations import class_order

    votes = annotations_of_study(study, store, rule, chosen)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SfumatoWarning)  # it is told below, in the words of a study
        votes.save(out)
    said = set(votes.label.tolist())
    unsaid = [name for code, name in enumerate(votes.classes) if code not in said]
    if not unsaid and class_order(votes.classes) != votes.classes and out.suffix.lower() not in (".parquet", ".arrow"):
        screen.note(
            f"{out.suffix} does not keep the order of the classes: tell its reader "
            f"--classes {','.join(votes.classes)!r}, or export .parquet."
        )
    if unsaid and out.suffix.lower() not in (".parquet", ".arrow"):
        named = f"{', '.join(unsaid[:5])}{' …' if len(unsaid) > 5 else ''}"
        screen.note(
            f"Nobody gave any share to {named}, and {out.suffix} keeps only what was said: tell its reader "
            "--classes, in the order of the study, or export .parquet."
        )
    return f"{votes.n_annotations:,} annotations of {votes.n_items:,} items by {counted(votes.n_annotators)}"


def _write_rows(store: SqliteStore, kind: str, out: Path) -> str:
    import csv
    import io
    import json

    from sfumato.collect.export import EXIT_COLUMNS, PEOPLE_COLUMNS, exit_rows, people_rows, response_records
    from sfumato.tables.write import written_whole

    rows = {"responses": response_records, "people": people_rows, "exit": exit_rows}[kind](store)
    number = 0
    with written_whole(out) as file:
        text = io.TextIOWrapper(file, encoding="utf-8", newline="")
        if out.suffix.lower() == ".jsonl":
            for row in rows:
                text.write(json.dumps(row, ensure_ascii=False, separators=(",", ":")) + "\n")
                number += 1
        else:
            writer = csv.DictWriter(text, PEOPLE_COLUMNS if kind == "people" else EXIT_COLUMNS)
            writer.writeheader()
            for row in rows:
                writer.writerow(row)
                number += 1
        # Let go of the file, which is closed by who opened it, after it is flushed to disk.
        text.detach()
    one, many = {
        "responses": ("response", "responses"), "people": ("person", "people"),
        "exit": ("answer at the end", "answers at the end"),
    }[kind]  # fmt: skip
    return counted(number, one, many)


def import_(
    file: Annotated[
        Path,
        typer.Argument(metavar="FILE", help="The paper's raw answers (jsPsych, .csv), or its batches (.js, .json)."),
    ],
    study: Annotated[
        Path,
        typer.Argument(metavar="STUDY", help="The folder of the study: a new one for answers, or that of batches."),
    ],
    classes: Annotated[
        str | None,
        typer.Option(help="The classes that the pages offered, in their order; those that occur if not told."),
    ] = None,
) -> None:
    """Make a study of the answers that Collins et al. (2022) collected, or give a study their batches."""
    if file.suffix.lower() in (".js", ".json"):
        _import_batches(file, study, classes)
        return
    from sfumato.collect.exclusions import run_exclusions
    from sfumato.collect.jspsych_import import import_jspsych

    names = None if classes is None else [name.strip().lower() for name in classes.split(",")]
    with screen.working(f"Reading {file.name}"):
        number = import_jspsych(file, study, classes=names)
    with opened(study) as (declared, store):
        run_exclusions(declared, store, at=_now())
        left_out = len(store.left_out())
        n_people = len(store.people())
    screen.say(f"{number:,} answers by {counted(n_people)}, {left_out} of them left out by the rules of the paper")
    screen.say(f"→ {study}")


def _import_batches(file: Path, study: Path, classes: str | None) -> None:
    import json

    from sfumato.collect.allocation import read_allocation
    from sfumato.collect.items import asked_of, read_items
    from sfumato.collect.study_file import read_study, with_setting
    from sfumato.tables.write import write_whole

    if classes is not None:
        raise OptionError("Batches have no classes; --classes goes with answers.")
    declared = read_study(study)
    items = read_items(declared.items, folder=declared.folder)
    asked = asked_of(declared, items)
    batches = read_allocation(file, asked, explained=items.keys() - asked.keys())
    path = declared.folder / "study.toml"
    text = with_setting(path.read_text(encoding="utf-8-sig"), "batches", "allocation", "batches.json")
    write_whole(declared.folder / "batches.json", json.dumps(batches, ensure_ascii=False, indent=1) + "\n")
    write_whole(path, text)
    screen.say(
        f"{len(batches):,} batches of {min(map(len, batches.values()))} to {max(map(len, batches.values()))} items"
    )
    screen.say(f"→ {declared.folder / 'batches.json'}, and set in {path}")


def backup(
    study: StudyPath,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="The folder to make; STUDY-backup-DATE if not told.")
    ] = None,
) -> None:
    """Copy a study while its server runs; the copy is checked before it counts.

    It holds the answers, the list of payments, the secrets and study.toml, but not the items: keep it as safe as these.
    """
    from sfumato.collect.backup import backup as copy
    from sfumato.collect.languages import LANGUAGES
    from sfumato.collect.study_file import read_study

    declared = read_study(study)
    folder = declared.folder
    language = "" if declared.language in LANGUAGES else declared.language
    told = (declared.batches.allocation, str(declared.exclusions.get("reference", "")), language)
    also = tuple(name for name in told if name and (folder / name).resolve().is_relative_to(folder))
    target = out or folder.with_name(f"{folder.name}-backup-{datetime.now():%Y%m%d-%H%M%S}")
    made = copy(folder, target, also=also)
    screen.say(f"{made.n_responses:,} answers by {counted(made.n_people)}, checked · {', '.join(made.files)}")
    screen.say(f"→ {target}")


def restore(
    source: Annotated[Path, typer.Argument(metavar="BACKUP", help="The folder that sfumato collect backup made.")],
    study: Annotated[Path, typer.Argument(metavar="STUDY", help="The folder to put it into, without a study in it.")],
) -> None:
    """Put a backup back; people who were deleted after it was made are in it again."""
    from sfumato.collect.backup import restore as put_back

    made = put_back(source, study)
    screen.say(f"{made.n_responses:,} answers by {counted(made.n_people)}")
    screen.say(f"→ {study}")
    screen.note("Who asked to be deleted after the backup was made must be deleted again.")


def _now() -> int:
    import time

    return time.time_ns() // 1_000_000
