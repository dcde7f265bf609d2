"""``sfumato evaluate``: predictions against people and gold, with intervals, baselines and tests."""

from __future__ import annotations

__all__ = ["evaluate", "register"]

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from sfumato.cli import screen
from sfumato.cli.shown import check_reports, read_history, read_items
from sfumato.cli.votes import Seed, check_given
from sfumato.errors import InputError, OptionError

if TYPE_CHECKING:
    from sfumato.core.predictions import Predictions
    from sfumato.core.report import Report
    from sfumato.evaluate.report.page import Section
    from sfumato.evaluate.systems import Systems

_ENDINGS = (".html", ".json", ".md", ".tex")
# What the files of a folder of runs end in.
_TABLES = (".parquet", ".arrow", ".csv", ".tsv", ".jsonl")


def register(app: typer.Typer) -> None:
    """Add the command to the application."""
    example = "Example: sfumato evaluate predictions.parquet --labels soft.parquet --gold gold.csv --report report.html"
    app.command(name="evaluate", epilog=example)(evaluate)


def evaluate(
    predictions: Annotated[
        Path,
        typer.Argument(
            metavar="PREDICTIONS",
            help="A file of predictions (item, one column per class), the folder of a `sfumato train`, or a folder of "
            "such files: the runs of one system.",
        ),
    ],
    labels: Annotated[Path | None, typer.Option(help="The soft labels of people: item, one column per class.")] = None,
    gold: Annotated[Path | None, typer.Option(help="A file of reference classes: item, label.")] = None,
    compare: Annotated[
        list[Path] | None,
        typer.Option(help="Predictions of another system, a file or a folder of its runs; repeatable."),
    ] = None,
    votes: Annotated[
        Path | None,
        typer.Option(help="The votes of people: their shares where there are no labels, and what people reach."),
    ] = None,
    items: Annotated[
        Path | None, typer.Option(help="What to show of an item in the report: item, and text or image (a path).")
    ] = None,
    history: Annotated[
        list[Path] | None,
        typer.Option(help="The records of a training, for its curves: a run's folder, .jsonl or .json; repeatable."),
    ] = None,
    metric: Annotated[
        list[str] | None, typer.Option(help="A metric (accuracy_score, …) in place of the usual ones; repeatable.")
    ] = None,
    positions: Annotated[
        str | None,
        typer.Option(
            help="Where the classes lie on a scale, for the Wasserstein distance: a number for each, as in 1,2,5, or "
            "'classes' where they are called by their numbers."
        ),
    ] = None,
    per_class: Annotated[
        bool, typer.Option("--per-class", help="Print precision, recall and F1 of each class, too.")
    ] = False,
    missing: Annotated[str, typer.Option(help="When tables hold different items: error, or drop.")] = "error",
    resamples: Annotated[int, typer.Option(min=1, help="How many bootstrap samples the intervals are made of.")] = 1000,
    level: Annotated[float, typer.Option(help="The level of the intervals.")] = 0.95,
    seed: Seed = 0,
    report: Annotated[
        list[Path] | None,
        typer.Option(
            "--report", "-o", help="A report to write: .html (with pictures), .json, .md or .tex; repeatable."
        ),
    ] = None,
    figures: Annotated[
        Path | None, typer.Option(help="A folder for the pictures of the report, each as .svg and .pdf.")
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print as JSON.")] = False,
) -> None:
    """Measure predictions against people and gold, each number with its interval, and test systems against each other.

    Baselines stand beside the systems, so that no score looks good by accident.
    """
    from sfumato.core.soft_labels import SoftLabels
    from sfumato.evaluate.compare_systems import evaluate as measure
    from sfumato.evaluate.systems import line_up
    from sfumato.tables.doors import load
    from sfumato.tables.read import read_annotations
    from sfumato.tables.read_gold import read_gold

    check_reports(report or [], _ENDINGS)
    if figures is not None:
        _check_folder(figures)
    pictured = figures is not None or any(target.suffix.lower() == ".html" for target in report or [])
    unseen = [name for name, given in (("--items", items), ("--history", history)) if given]
    if unseen and not pictured:
        raise OptionError(
            f"What {' and '.join(unseen)} {'names' if len(unseen) == 1 else 'name'} is shown on the page alone. "
            "Ask for it (-o report.html), or for its pictures (--figures FOLDER)."
        )
    places = _positions(positions)
    check_given(labels, gold, votes, items)
    paths = [predictions, *(compare or [])]
    with screen.working("Reading"):
        systems = {name: _runs(path) for name, path in zip(_names(paths), paths, strict=True)}
        people = None if labels is None else load(SoftLabels, labels)
        reference = None if gold is None else read_gold(gold)
        said = None if votes is None else read_annotations(votes)
        shown, curves = read_items(items), read_history(history or [])
    for line in said.notes if said is not None else ():
        screen.note(line)
    with screen.working("Evaluating"):
        found = measure(
            systems, labels=people, gold=reference, annotations=said, metrics=metric,
            missing=missing,  # type: ignore[arg-type]  # the function checks it and lists the choices
            positions=places, resamples=resamples, level=level, seed=seed,
        )  # fmt: skip
    drawn: list[Section] = []
    if pictured:
        from sfumato.evaluate.report.evaluation_page import evaluation_sections

        with screen.working("Drawing"):
            lined = line_up(
                systems, labels=people, gold=reference, annotations=said,
                missing=missing,  # type: ignore[arg-type]  # checked before
            )  # fmt: skip
            drawn = evaluation_sections(
                found, lined, annotations=said, texts=shown.texts, pictures=shown.pictures, history=curves or None
            )
            _write_figures(drawn, figures)
    for target in report or []:
        _write(found, target, lined if drawn else None, drawn)
    if json:
        # Through the report's own JSON, in which a number that is not finite is text.
        screen.say_json(_plain(found))
        return
    _tell(found, list(systems), per_class=per_class)
    for target in [*(report or []), *([figures] if figures is not None else [])]:
        screen.say(f"→ {target}")


def _check_folder(folder: Path) -> None:
    """Refuse a folder that cannot be made or written into, before the work for it begins."""
    from tempfile import TemporaryDirectory

    try:
        there = folder
        while not there.exists():
            there = there.parent
        if not there.is_dir():
            raise OptionError(f"{there} is a file; the pictures need a folder.")
        # Whether a folder takes new ones is known for certain only by making one.
        with TemporaryDirectory(prefix=".sfumato-", dir=there):
            pass
    except OSError as error:
        raise OptionError(f"The folder {folder} cannot be written: {error.strerror}. Name another.") from None


def _positions(given: str | None) -> list[float] | Literal["classes"] | None:
    """Return the numbers of ``1,2,5``."""
    if given is None:
        return None
    if given == "classes":
        return "classes"
    try:
        return [float(part) for part in given.split(",")]
    except ValueError:
        raise OptionError(
            f"--positions takes a number for each class, as in 1,2,5, or 'classes'. Got {given!r} instead."
        ) from None


def _names(paths: list[Path]) -> list[str]:
    """Return a name for each file: its own without the ending, or as much of its path as tells it from the others."""
    for parts in range(1, max(len(path.parts) for path in paths) + 1):
        names = ["/".join(path.with_suffix("").parts[-parts:]) for path in paths]
        if len(set(names)) == len(names):
            return names
    whole = [str(path) for path in paths]
    twice = next((name for name in whole if whole.count(name) > 1), None)
    if twice is not None:
        raise OptionError(f"The predictions {twice} were given twice; a system is compared with others.")
    return whole


def _runs(path: Path) -> list[Predictions]:
    """Read the predictions of one system: a file, or each file of a folder as one of its runs."""
    from sfumato.core.predictions import Predictions
    from sfumato.tables.doors import load

    if not path.is_dir():
        return [load(Predictions, path)]
    of_a_run = path / "predictions.parquet"
    if (path / "model.json").exists() and of_a_run.exists():  # what `sfumato train` wrote: its history is no table
        return [load(Predictions, of_a_run)]
    if (path / "checkpoint.pt").exists():
        raise InputError(f"{path} is the folder of a run that has not ended. Go on with it: the same `sfumato train`.")
    files = sorted(file for file in path.iterdir() if file.is_file() and file.suffix.lower() in _TABLES)
    if not files:
        raise InputError(f"The folder {path} holds no predictions; it needs a file for each run: {', '.join(_TABLES)}.")
    return [load(Predictions, file) for file in files]


def _plain(report: Report) -> Any:
    import json

    return json.loads(report.to_json())


def _write_figures(drawn: list[Section], folder: Path | None) -> None:
    if folder is None:
        return
    from sfumato.evaluate.report.figure_files import save_figures

    save_figures([figure for part in drawn for figure in part.figures], folder, formats=("svg", "pdf"))


def _write(found: Report, target: Path, lined: Systems | None, drawn: list[Section]) -> None:
    from sfumato.core import storage
    from sfumato.evaluate.report.evaluation_page import whole_page
    from sfumato.evaluate.report.latex import latex_table
    from sfumato.evaluate.report.markdown import markdown_report
    from sfumato.tables.write import write_whole

    ending = target.suffix.lower()
    if ending == ".html" and lined is not None:
        write_whole(target, whole_page(found, lined, drawn))
    elif ending == ".tex":
        write_whole(target, latex_table(found) + "\n")
    elif ending == ".md":
        write_whole(target, markdown_report(found) + "\n")
    else:
        storage.save(found, target)


def _tell(report: Report, systems: list[str], *, per_class: bool) -> None:
    """Print systems, then baselines and people, then the tests, and the classes; » marks the best system."""
    from sfumato.core.vocabulary import counted
    from sfumato.evaluate.report import cells
    from sfumato.evaluate.report.tables import class_tables

    rows = report.rows()
    higher = report.details["higher_is_better"]
    shown = {name: f"{cells.words(name)} {cells.arrow(higher[name])}" for name in report.names()}
    lines = []
    for name, words in shown.items():
        numbers = [rows[system].get(name) for system in systems]
        best = cells.leading(numbers, higher=higher[name])
        made = [("» " if place in best else "") + _ascii(cells.cell(one)) for place, one in enumerate(numbers)]
        lines.append([words, *made])
    screen.table(["metric", *systems], lines)
    beside = [of for of in rows if of not in systems]
    if beside:
        screen.say("")
        screen.table(
            ["for comparison", *(of.partition(": ")[2] for of in beside)],
            [
                [
                    words,
                    *("" if (one := rows[of].get(name)) is None else _ascii(cells.number(one.value)) for of in beside),
                ]
                for name, words in shown.items()
            ],
        )
    tests = report.details["comparisons"]
    for a, b in dict.fromkeys((row["a"], row["b"]) for row in tests):
        screen.say("")
        screen.table(
            [f"{a} − {b}", "difference", "p", "p (Holm)", "d_z"],
            [
                [
                    shown[row["metric"]],
                    _ascii(cells.difference(row, 3)),
                    cells.p_value(row["p_value"]),
                    cells.p_value(row["p_holm"]),
                    _ascii(cells.d_z(row["effect_size"])),
                ]
                for row in tests
                if (row["a"], row["b"]) == (a, b)
            ],
        )
    for table in class_tables(report.details["classes"]) if per_class else ():
        screen.say("")
        screen.table(table.head, table.rows, title=table.title)
    if per_class and not report.details["classes"]:
        screen.note("Without gold (--gold) no class has a precision or a recall.")
    screen.say("")
    n_items, n_gold = report.details["n_items"], report.details["n_gold"]
    with_gold = f", {n_gold:,} with gold" if n_gold else ""
    runs = ", ".join(f"{name} {n}" for name, n in report.details["runs"].items() if n > 1)
    of_runs = f" Runs: {runs}." if runs else ""
    level, resamples = (report.origin.options[name] for name in ("level", "resamples"))
    best_of = " »: the best." if len(systems) > 1 else ""
    screen.say(
        f"{counted(n_items, 'item')}{with_gold}.{of_runs} ↑: higher is better, ↓: lower.{best_of} "
        f"Intervals of {cells.level_words(level)}, from {counted(resamples, 'resample')}."
    )
    for line in report.notes:
        screen.say(line)


def _ascii(text: str) -> str:
    """Return numbers with the minus of a keyboard, so that they can be copied from a terminal as numbers."""
    return text.replace("−", "-")
