"""``sfumato demo``: the whole path on images that come with scikit-learn, in a minute."""

from __future__ import annotations

__all__ = ["demo", "register"]

import math
import sys
from importlib.util import find_spec
from pathlib import Path
from shutil import which
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sfumato.cli import screen
from sfumato.cli.votes import Seed

if TYPE_CHECKING:
    from sfumato.cli.demo_study import Study
    from sfumato.core.predictions import Predictions
    from sfumato.core.soft_labels import SoftLabels

_VIEWS = ("majority", "standard", "softmax", "dawid_skene", "mace")
_JOINED = ("standard", "softmax", "dawid_skene", "mace")
_N_TRAIN = 1000
_FILES = ("votes.csv", "soft.parquet", "predictions.parquet", "report.html")
# Tells a folder that a demo may write to again from one with a user's own files of these names.
_MARK = ".sfumato-demo"


def register(app: typer.Typer) -> None:
    """Add the command to the application."""
    app.command(name="demo", epilog="Example: sfumato demo --out /tmp/demo --seed 1")(demo)


def demo(
    out: Annotated[Path, typer.Option(help="The folder to write to.")] = Path("demo"),
    seed: Seed = 0,
    json: Annotated[bool, typer.Option("--json", help="Print what was found as JSON.")] = False,
) -> None:
    """Simulated annotators judge real images → soft labels → a small model → a report with pictures."""
    import numpy as np

    from sfumato.aggregate import centroid, dawid_skene, views
    from sfumato.cli.demo_study import N_CARELESS, fit_and_predict, simulate_study
    from sfumato.errors import OptionError
    from sfumato.tables.write import write_whole

    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OptionError(f"{out} cannot be made a folder ({error.strerror}). Name another with --out.") from None
    theirs = [name for name in _FILES if (out / name).exists()]
    if theirs and not (out / _MARK).exists():
        raise OptionError(f"{out} holds {', '.join(theirs)} that no demo wrote. Name another folder with --out.")
    say, table = (_silent, _silent) if json else (screen.say, screen.table)
    with screen.working("Annotators are judging 1,797 images"):
        study = simulate_study(seed=seed)
        write_whole(out / _MARK, "What this demo writes here, the next one writes over.\n")
        study.votes.save(out / "votes.csv")
    say(f"1. {study.votes!r} → {out / 'votes.csv'}")

    with screen.working("Making soft labels"):
        made = views(study.votes, list(_VIEWS), seed=seed)
        made["centroid"] = centroid([made[name] for name in _JOINED]).soft_labels
        skills = dawid_skene(study.votes, seed=seed).annotators
        made["centroid"].save(out / "soft.parquet")
    say(f"2. Soft labels by {len(made)} methods; the centroid of {', '.join(_JOINED)} → {out / 'soft.parquet'}")
    table(*_view_table(study, made))
    if skills.competence is not None:
        weakest = [skills.annotators[j] for j in np.argsort(skills.competence, kind="stable")[:N_CARELESS]]
        found = len(study.careless.intersection(weakest))
        say(f"   {found} of the {N_CARELESS} annotators who did not look are the {N_CARELESS} least competent.\n")

    order = np.random.default_rng(seed).permutation(study.people.n_items)
    names = [study.people.items[row] for row in order]
    train, test = names[:_N_TRAIN], names[_N_TRAIN:]
    with screen.working("Training a small model on hard and on soft labels"):
        models = {
            "hard labels": fit_and_predict(study, made["majority"], train, test),
            "soft labels": fit_and_predict(study, made["centroid"], train, test),
        }
        models["soft labels"].save(out / "predictions.parquet")
    say(f"3. A linear model, trained on {len(train):,} images, tested on {len(test)}")
    table(*_model_table(study, models))

    write_whole(out / "report.html", _page(study, made, models, seed=seed))
    say(f"4. The report with pictures: {out / 'report.html'}\n")
    if json:
        told = {"views": _as_data(*_view_table(study, made)), "models": _as_data(*_model_table(study, models))}
        screen.say_json({"seed": seed, "files": {name: str(out / name) for name in _FILES}, **told})
    program = _program()
    say(f"Next: {program} aggregate {out / 'votes.csv'} --method dawid_skene --out labels.csv")
    if find_spec("starlette") and find_spec("uvicorn"):
        say(f"Ask people yourself: {program} collect demo")
    else:
        say(f'Ask people yourself: pip install "sfumato[collect]", then {program} collect demo')


def _program() -> str:
    """Return how this command line can be called again, whether or not its environment was activated."""
    if which("sfumato"):
        return "sfumato"
    called = Path(sys.argv[0])
    return str(called) if called.stem == "sfumato" else f"{sys.executable} -m sfumato"


def _as_data(head: list[str], rows: list[list[str]]) -> list[dict[str, str | float | None]]:
    """Return the rows of a table with their numbers as numbers, for machines."""
    return [
        {
            head[0]: row[0],
            **{name: None if cell == "–" else float(cell) for name, cell in zip(head[1:], row[1:], strict=True)},
        }
        for row in rows
    ]


def _silent(*_: Any, **__: Any) -> None:
    pass


def _view_table(study: Study, made: dict[str, SoftLabels]) -> tuple[list[str], list[list[str]]]:
    from sfumato import evaluate

    rows = [
        [
            name,
            f"{evaluate.accuracy_score(soft, study.gold):.3f}",
            f"{evaluate.soft_cross_entropy_loss(soft, study.people):.3f}",
            f"{evaluate.jensen_shannon_divergence(soft, study.people):.4f}",
            # Labels that are all certain have no entropy to correlate.
            "–" if math.isnan(r := evaluate.entropy_correlation_score(soft, study.people)) else f"{r:.3f}",
        ]
        for name, soft in made.items()
    ]
    return ["view", "accuracy", "soft cross-entropy", "JSD to people", "entropy correlation"], rows


def _model_table(study: Study, models: dict[str, Predictions]) -> tuple[list[str], list[list[str]]]:
    from sfumato import evaluate

    people = study.people.take(next(iter(models.values())).items)
    rows = [
        [
            name,
            f"{evaluate.accuracy_score(predicted, study.gold):.3f}",
            f"{evaluate.soft_cross_entropy_loss(predicted, people):.3f}",
            f"{evaluate.entropy_correlation_score(predicted, people):.3f}",
            f"{evaluate.expected_calibration_error(predicted, study.gold):.3f}",
        ]
        for name, predicted in models.items()
    ]
    return ["trained on", "accuracy", "soft cross-entropy", "entropy correlation", "calibration error"], rows


def _page(study: Study, made: dict[str, SoftLabels], models: dict[str, Predictions], *, seed: int) -> str:
    """Return the report: tables of both comparisons, and the pictures that explain them."""
    import numpy as np

    from sfumato import evaluate
    from sfumato.core.origin import Origin
    from sfumato.core.simplex import entropy
    from sfumato.evaluate.expected_calibration import reliability
    from sfumato.evaluate.report import Panel, Section, figures, html_page, html_table, png_uri

    row = {name: place for place, name in enumerate(study.people.items)}
    shown = ("standard", "dawid_skene", "centroid")
    soft = made["centroid"]
    disputed = [soft.items[place] for place in np.argsort(-entropy(soft.probs), kind="stable")[:8]]
    panels = [
        Panel(
            caption=f"{name} (drawn as {study.gold.classes[study.gold.labels[row[name]]]})",
            rows=[(view, made[view][name]) for view in shown] + [("people", study.people[name])],
            picture=png_uri(study.images[row[name]]),
        )
        for name in disputed
    ]
    names = list(made)
    between = np.array([[evaluate.jensen_shannon_divergence(made[a], made[b]) for b in names] for a in names])
    test = study.people.take(models["soft labels"].items)
    unsure = [
        (name, entropy(test.probs, normalised=True), entropy(predicted.probs, normalised=True))
        for name, predicted in models.items()
    ]
    reliabilities = [(name, reliability(predicted, study.gold)) for name, predicted in models.items()]
    sections = [
        Section(
            "Soft labels against what people would say",
            "The annotators are simulated, so what people at large would say of each image is known. Lower is better "
            "for soft cross-entropy and the Jensen–Shannon divergence, higher for the others.",
            (html_table(*_view_table(study, made), name="Views against people"),),
        ),
        Section(
            "The images that split the crowd",
            "The eight images whose joined soft label is least certain, each beside what three views make of it.",
            (
                figures.distributions(
                    panels, study.people.classes, name="disputed", title="Disputed images",
                    caption="Each bar is one distribution.",
                ),
            ),
        ),
        Section(
            "How far the views are apart",
            "Views that see the same votes can still disagree; joining them keeps what each of them sees.",
            (
                figures.heat_map(
                    between, names, name="views", title="Jensen–Shannon divergence between views",
                    caption="Mean over items, in nats.",
                ),
            ),
        ),
        Section(
            "A model that learnt the disagreement",
            f"The same linear model, trained on {_N_TRAIN:,} images with the majority's label and with the joined "
            f"soft label, predicts {test.n_items} other images.",
            (
                html_table(*_model_table(study, models), name="Models against people"),
                (
                    figures.reliability_diagram(
                        reliabilities, name="reliability", title="Is it right as often as it is sure?",
                        caption="Larger dots hold more images; on the dashed line confidence is deserved.",
                    ),
                    figures.scatter(
                        unsure, x_name="uncertainty of people", y_name="uncertainty of the model", name="entropy",
                        title="Is it unsure where people disagree?", caption="Normalised entropy; a dot is an image.",
                    ),
                ),
            ),
        ),
    ]  # fmt: skip
    return html_page(
        "A crowd, its soft labels, and a model",
        f"{study.votes.n_annotations:,} simulated judgements of {study.votes.n_items:,} handwritten digits by "
        f"{study.votes.n_annotators} annotators, six of whom did not look.",
        sections,
        origin=Origin("demo", options={"views": list(_VIEWS)}, seed=seed, fingerprint=study.votes.fingerprint),
    )
