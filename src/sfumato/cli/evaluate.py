"""``sfumato evaluate``: predictions against people and gold, with intervals, baselines and tests."""

from __future__ import annotations

__all__ = ["evaluate", "register"]

import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sfumato.cli import screen
from sfumato.errors import OptionError

if TYPE_CHECKING:
    from sfumato.core.predictions import Predictions
    from sfumato.core.report import Number, Report
    from sfumato.core.soft_labels import SoftLabels

_ENDINGS = (".html", ".json", ".md", ".tex")


def register(app: typer.Typer) -> None:
    """Add the command to the application."""
    example = "Example: sfumato evaluate predictions.parquet --labels soft.parquet --gold gold.csv --report report.html"
    app.command(name="evaluate", epilog=example)(evaluate)


def evaluate(
    predictions: Annotated[
        Path, typer.Argument(metavar="PREDICTIONS", help="A file of predictions: item, one column per class.")
    ],
    labels: Annotated[Path | None, typer.Option(help="The soft labels of people: item, one column per class.")] = None,
    gold: Annotated[Path | None, typer.Option(help="A file of reference classes: item, label.")] = None,
    compare: Annotated[
        list[Path] | None, typer.Option(help="Predictions of another system; may be given several times.")
    ] = None,
    votes: Annotated[
        Path | None, typer.Option(help="The votes behind the labels: shows what people reach among themselves.")
    ] = None,
    metric: Annotated[
        list[str] | None, typer.Option(help="A metric (accuracy_score, …) in place of the usual ones; repeatable.")
    ] = None,
    missing: Annotated[str, typer.Option(help="When tables hold different items: error, or drop.")] = "error",
    resamples: Annotated[int, typer.Option(help="How many bootstrap samples the intervals are made of.")] = 1000,
    level: Annotated[float, typer.Option(help="The level of the intervals.")] = 0.95,
    seed: Annotated[int, typer.Option(help="The seed of everything that is random.")] = 0,
    report: Annotated[
        list[Path] | None,
        typer.Option(help="A report to write: .html (with pictures), .json, .md or .tex; repeatable."),
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print as JSON.")] = False,
) -> None:
    """Measure predictions against people and gold, each number with its interval, and test systems against each other.

    Baselines stand beside the systems, so that no score looks good by accident.
    """
    from sfumato.core.predictions import Predictions
    from sfumato.core.soft_labels import SoftLabels
    from sfumato.evaluate.compare_systems import evaluate as measure
    from sfumato.tables.doors import load
    from sfumato.tables.read import read_annotations
    from sfumato.tables.read_gold import read_gold
    from sfumato.tables.write import check_writable

    for target in report or []:
        if target.suffix.lower() not in _ENDINGS:
            raise OptionError(f"A report ends in {', '.join(_ENDINGS)}. Got {target} instead.")
        check_writable(target)
    paths = [predictions, *(compare or [])]
    with screen.working("Reading"):
        systems: dict[str, Predictions] = {
            name: load(Predictions, path) for name, path in zip(_names(paths), paths, strict=True)
        }
        people = None if labels is None else load(SoftLabels, labels)
        reference = None if gold is None else read_gold(gold)
        said = None if votes is None else read_annotations(votes)
    with screen.working("Evaluating"):
        found = measure(
            systems, labels=people, gold=reference, annotations=said, metrics=metric,
            missing=missing,  # type: ignore[arg-type]  # the function checks it and lists the choices
            resamples=resamples, level=level, seed=seed,
        )  # fmt: skip
    for target in report or []:
        _write(found, target, systems, people, reference, missing)
    if json:
        # Through the report's own JSON, in which a number that is not finite is text.
        screen.say_json(_plain(found))
        return
    _tell(found, list(systems))
    for target in report or []:
        screen.say(f"→ {target}")


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


def _plain(report: Report) -> Any:
    import json

    return json.loads(report.to_json())


def _write(
    found: Report, target: Path, systems: dict[str, Predictions], people: SoftLabels | None, gold: Any, missing: str
) -> None:
    from sfumato.core import storage
    from sfumato.evaluate.report.evaluation_page import evaluation_page
    from sfumato.evaluate.report.latex import latex_table
    from sfumato.evaluate.systems import line_up
    from sfumato.tables.write import write_whole

    ending = target.suffix.lower()
    if ending == ".html":
        lined = line_up(systems, labels=people, gold=gold, missing=missing)  # type: ignore[arg-type]  # checked before
        write_whole(target, evaluation_page(found, lined))
    elif ending == ".tex":
        write_whole(target, latex_table(found) + "\n")
    else:
        storage.save(found, target)


def _tell(report: Report, systems: list[str]) -> None:
    """Print systems, then baselines and people, then the tests; a star marks the best system."""
    rows = report.rows()
    higher = report.details["higher_is_better"]
    shown = {name: f"{name.replace('_', ' ')} {'↑' if higher[name] else '↓'}" for name in report.names()}
    lines = []
    for name, words in shown.items():
        numbers = [rows[system].get(name) for system in systems]
        best = _best(numbers, higher[name]) if len(systems) > 1 else None
        cells = [("* " if number is not None and number is best else "") + _cell(number) for number in numbers]
        lines.append([words, *cells])
    screen.table(["", *systems], lines)
    beside = [of for of in rows if of not in systems]
    if beside:
        screen.say("")
        screen.table(
            ["for comparison", *(of.partition(": ")[2] for of in beside)],
            [[words, *(_value(rows[of].get(name)) for of in beside)] for name, words in shown.items()],
        )
    tests = report.details["comparisons"]
    for a, b in dict.fromkeys((row["a"], row["b"]) for row in tests):
        screen.say("")
        screen.table(
            [f"{a} − {b}", "difference", "p", "p (Holm)", "d_z"],
            [
                [
                    shown[row["metric"]],
                    f"{row['difference']:+.3f} [{row['low']:+.3f}, {row['high']:+.3f}]",
                    _p(row["p_value"]),
                    _p(row["p_holm"]),
                    "" if math.isnan(row["effect_size"]) else f"{row['effect_size']:+.2f}",
                ]
                for row in tests
                if (row["a"], row["b"]) == (a, b)
            ],
        )
    screen.say("")
    n_items, n_gold = report.details["n_items"], report.details["n_gold"]
    with_gold = f", {n_gold:,} with gold" if n_gold else ""
    level, resamples = (report.origin.options[name] for name in ("level", "resamples"))
    best_of = " *: the best." if len(systems) > 1 else ""
    screen.say(
        f"{n_items:,} items{with_gold}. ↑: higher is better, ↓: lower.{best_of} "
        f"Intervals of {level * 100:g} %, from {resamples:,} resamples."
    )
    for line in report.notes:
        screen.say(line)


def _best(numbers: list[Number | None], higher: bool) -> Number | None:
    known = [number for number in numbers if number is not None and not math.isnan(number.value)]
    if not known:
        return None
    return (max if higher else min)(known, key=lambda number: number.value)


def _cell(number: Number | None) -> str:
    if number is None:
        return ""
    interval = "" if number.low is None or number.high is None else f" [{number.low:.3f}, {number.high:.3f}]"
    return f"{number.value:.3f}{interval}"


def _value(number: Number | None) -> str:
    return "" if number is None else f"{number.value:.3f}"


def _p(value: float) -> str:
    return "" if math.isnan(value) else "<0.001" if value < 0.001 else f"{value:.3f}"
