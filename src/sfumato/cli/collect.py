"""``sfumato collect``: ask people. Starting a study, and how it stands; what comes of it is in the files beside."""

from __future__ import annotations

__all__ = ["app", "demo", "new", "start", "status"]

import os
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sfumato.cli import collect_files, collect_people, screen
from sfumato.cli.collect_study import StudyPath, check_address, counted, opened
from sfumato.errors import InputError, OptionError

if TYPE_CHECKING:
    from sfumato.collect.server import Addresses
    from sfumato.collect.study import Study

app = typer.Typer(help="Ask people: a study server, and all that comes of it.", no_args_is_help=True)

Classes = Annotated[str | None, typer.Option(help="The classes in their order, separated by commas.")]
Title = Annotated[str | None, typer.Option(help="What the study is called; people see it.")]
Mode = Annotated[str | None, typer.Option(help="How people answer: hard, top1, top2, chips or sliders.")]
Language = Annotated[str | None, typer.Option(help="The language of the pages: en, de, or a file of phrases.")]
BatchSize = Annotated[int | None, typer.Option(help="How many items each person gets.")]
Panel = Annotated[int | None, typer.Option(help="How many people judge each item.")]
Host = Annotated[str, typer.Option(help="The address to listen on; 0.0.0.0 for other machines.")]
Port = Annotated[int, typer.Option(help="The port; 0 takes a free one.", min=0, max=65535)]
PublicUrl = Annotated[
    str, typer.Option(help="What the addresses begin with for others, e.g. https://study.example.org")
]
BehindProxy = Annotated[
    bool, typer.Option("--behind-proxy", help="A proxy stands before the server, and says who comes in its headers.")
]
NewSecret = Annotated[
    bool, typer.Option("--new-admin-secret", help="Make another admin secret; the one before is good for nothing then.")
]

_HINTS = {
    "prolific": "Give Prolific the address as it stands, {{%…%}} included; it fills these in.",
    "mturk": "Put the address into an ExternalQuestion. MTurk shows it in a frame, so it must begin with https://.",
    "invitation": "Personal links alone lead in; make them with: sfumato collect invite",
}


@app.command("start", epilog="Example: sfumato collect start photos/ --classes deer,horse,dog")
def start(
    target: Annotated[
        Path,
        typer.Argument(
            metavar="FOLDER_OR_FILE",
            help="A folder of pictures, sounds, films or .txt, a table of texts, or a study that is there already.",
        ),
    ],
    classes: Classes = None,
    study: Annotated[
        Path | None, typer.Option(help="The folder of a new study; NAME-study where you are if not told.")
    ] = None,
    title: Title = None,
    mode: Mode = None,
    language: Language = None,
    batch_size: BatchSize = None,
    panel: Panel = None,
    host: Host = "127.0.0.1",
    port: Port = 8000,
    public_url: PublicUrl = "",
    behind_proxy: BehindProxy = False,
    new_admin_secret: NewSecret = False,
) -> None:
    """Start the server of a study, new or not, and print its addresses. Stop it with Ctrl-C.

    The same command again goes on with the same study.
    """
    from sfumato.collect.server import check_installed

    check_installed()
    design = {"title": title, "mode": mode, "language": language, "batch-size": batch_size, "panel": panel}
    known = _study_at(target)
    folder = known if known is not None else (study or Path(f"{_stem(target)}-study"))
    if known is not None and study is not None:
        raise OptionError(f"{target} is a study already; --study is for a new one.")
    if not (folder / "study.toml").exists():
        _make(folder, source=target, classes=classes, design=design)
    else:
        _refuse_design(folder, target if known is None else None, classes, design)
    _serve(folder, host, port, public_url, behind_proxy, new_admin_secret)


@app.command("demo", epilog="Example: sfumato collect demo --port 8080")
def demo(
    study: Annotated[Path, typer.Option(help="The folder of the study.")] = Path("shapes-study"),
    mode: Mode = None,
    language: Language = None,
    host: Host = "127.0.0.1",
    port: Port = 8000,
) -> None:
    """Start a study of drawn shapes, some of which could be one thing or another."""
    from sfumato.collect.demo_items import CLASSES, draw_items
    from sfumato.collect.server import check_installed

    check_installed()
    if not (study / "study.toml").exists():
        try:
            draw_items(study / "items")
        except OSError as error:
            raise OptionError(
                f"{study} cannot be made a folder ({error.strerror}). Name another with --study."
            ) from None
        design = {"title": "Shapes", "mode": mode, "language": language, "batch-size": 12, "panel": 3}
        _make(study, source=study / "items", classes=",".join(CLASSES), design=design)
    elif mode is not None or language is not None:
        _refuse_design(study, None, None, {"mode": mode, "language": language})
    _serve(study, host, port, "", False, False)


@app.command("new", epilog="Example: sfumato collect new animals --items photos/ --classes deer,horse,dog")
def new(
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="The folder of the study; it is made.")],
    classes: Classes = None,
    items: Annotated[
        Path | None, typer.Option(help="The items: a folder or a table of texts; FOLDER/items if not told.")
    ] = None,
    title: Title = None,
    mode: Mode = None,
    language: Language = None,
    batch_size: BatchSize = None,
    panel: Panel = None,
) -> None:
    """Write a study.toml with every setting explained, to be changed before the study starts."""
    if (folder / "study.toml").exists():
        raise InputError(f"{folder / 'study.toml'} exists; change it with an editor, or name another folder.")
    title = title or _stem(folder)
    design = {"title": title, "mode": mode, "language": language, "batch-size": batch_size, "panel": panel}
    _write(folder, source=items or folder / "items", classes=classes or "yes,no", design=design)
    screen.say(f"→ {folder / 'study.toml'}")
    if classes is None:
        screen.note("The classes are yes and no; write your own into [study].")
    source = items or folder / "items"
    if not source.exists():
        screen.note(f"{source} does not exist yet: put the items there, a folder of files or a table of texts.")
    screen.say(f"Start it with: sfumato collect start {folder}")


@app.command("status", epilog="Example: sfumato collect status photos-study")
def status(
    study: StudyPath,
    json: Annotated[bool, typer.Option("--json", help="Print as JSON.")] = False,
) -> None:
    """Say how a study stands, whether its server runs or not."""
    from sfumato.collect.items import asked_of, read_items
    from sfumato.collect.overview import Overview

    with opened(study) as (declared, store):
        view = Overview(declared, store, asked_of(declared, read_items(declared.items, folder=declared.folder)))
        told = {**view.overview(), **view.people()}
        divided = view.items(n=5)["items"]
    if json:
        screen.say_json({**told, "divided": divided})
        return
    _tell(told, divided)


def _tell(told: dict[str, Any], divided: list[dict[str, Any]]) -> None:
    answers, per_item, out = told["answers"], told["per_item"], told["exclusions"]
    came = told["people"]
    handed_in = sum(each["state"] in ("finished", "done") for each in came)
    screen.say(f"{told['title']} · {told['state']} · {told['n_items']:,} items · {told['mode']}")
    screen.say(
        f"{answers['usable']:,} of {answers['needed']:,} answers · {per_item['least']} to {per_item['most']} per item, "
        f"{told['panel']} wanted · {counted(len(came))}, {handed_in:,} handed in"
    )
    numbers = [
        ("agreement", told["agreement"], ".3f"), ("entropy", told["entropy"], ".3f"),
        ("seconds per item", told["seconds"], ".1f"), ("repeats changed", told["repeat_change"], ".1%"),
    ]  # fmt: skip
    known = [f"{name} {value:{form}}" for name, value, form in numbers if value is not None]
    if told["checks"]["asked"]:
        known.append(f"checks wrong {told['checks']['wrong']} of {told['checks']['asked']}")
    if known:
        screen.say(" · ".join(known))
    if out["run"] is not None:
        screen.say(f"Exclusion run {out['run']}: {out['leave_out']} left out, {out['do_not_pay']} not to be paid")
    shown = [each for each in divided if each["answers"] > 1]
    if shown:
        screen.say("")
        screen.table(
            ["items that split people", "most probable", "answers", "entropy"],
            [
                [each["id"], _most_probable(each["distribution"]), str(each["answers"]), f"{each['entropy']:.2f}"]
                for each in shown
            ],
            left=2,
        )


def _most_probable(distribution: dict[str, float]) -> str:
    first = sorted(distribution.items(), key=lambda pair: -pair[1])[:3]
    return ", ".join(f"{name} {p:.0%}" for name, p in first)


def _serve(folder: Path, host: str, port: int, public_url: str, behind_proxy: bool, new_admin_secret: bool) -> None:
    from sfumato.collect.exclusions import reference_of
    from sfumato.collect.server import serve
    from sfumato.collect.study_file import read_study

    if public_url:
        check_address(public_url, "--public-url")
    declared = read_study(folder)
    # Read when somebody hands in, long after the start: told now where it cannot be.
    reference_of(declared)
    serve(
        declared, folder=declared.folder, host=host, port=port, public_url=public_url, behind_proxy=behind_proxy,
        new_admin_secret=new_admin_secret, announce=lambda addresses: _announce(declared, addresses),
    )  # fmt: skip
    with _to_whoever_reads():
        screen.note(f"Stopped. Write what was said with: sfumato collect export {folder} -o votes.csv")


@contextmanager
def _to_whoever_reads() -> Iterator[None]:
    """Go on where nobody reads the output any more, as after ``… | head``: people who answer need the server.

    rich leaves by SystemExit when the pipe it prints to is closed.
    """
    try:
        yield
    except (SystemExit, BrokenPipeError):
        return


def _announce(declared: Study, addresses: Addresses) -> None:
    from sfumato.collect.platforms import address_of

    with _to_whoever_reads():
        _tell_addresses(declared, addresses, address_of(declared, addresses.study))


def _tell_addresses(declared: Study, addresses: Addresses, study: str) -> None:
    screen.say(f"{declared.title} · {len(declared.classes)} classes · {declared.folder}\n")
    screen.say(f"Study            {study}")
    screen.say(f"Admin            {addresses.admin}")
    screen.say(f"Completion code  {addresses.completion_code}\n")
    if declared.platform.kind in _HINTS:
        screen.note(_HINTS[declared.platform.kind])
    if addresses.admin_is_new:
        screen.note("The admin address is shown once. Keep it; --new-admin-secret makes another.")
    else:
        screen.note("The admin secret was shown at the first start; --new-admin-secret makes another.")
    screen.note("Stop with Ctrl-C. What was answered is safe in any case.")


def _study_at(target: Path) -> Path | None:
    """Return the folder of the study that the argument means, or None where it means items."""
    if target.name == "study.toml":
        return target.parent
    if (target / "study.toml").exists():
        return target
    if not target.exists():
        raise InputError(f"{target} does not exist. Name a folder of items, a table of texts, or a study.")
    return None


def _stem(target: Path) -> str:
    resolved = target.resolve()
    return resolved.stem if resolved.is_file() else resolved.name or "items"


def _make(folder: Path, *, source: Path, classes: str | None, design: dict[str, Any]) -> None:
    """Write a study over the items at *source*; nothing is written where they cannot be used."""
    from sfumato.collect.items import read_items
    from sfumato.collect.study import Items

    if classes is None:
        raise OptionError(f"{source} is no study yet. Name the classes: --classes deer,horse,dog")
    items = read_items(Items(source=str(source.resolve())), folder=Path())
    if design.get("batch-size") is None and len(items) < 25:
        design = {**design, "batch-size": len(items)}
    _write(folder, source=source, classes=classes, design=design)
    kinds = Counter(item.kind for item in items.values())
    mixed = f" ({', '.join(f'{n:,} {kind}' for kind, n in kinds.items())}; kind under [items] takes one of them)"
    screen.note(
        f"{len(items):,} items{mixed if len(kinds) > 1 else ''}. "
        f"Everything else can be set in {folder / 'study.toml'}, such as the title that people see."
    )


def _write(folder: Path, *, source: Path, classes: str, design: dict[str, Any]) -> None:
    from sfumato.collect.study_file import commented, read_study

    names = [name.strip() for name in classes.split(",") if name.strip()]
    if len(names) < 2:
        raise OptionError(f"A study needs two classes or more, separated by commas. Got {classes!r}.")
    places = {"mode": ("study", "mode"), "batch-size": ("batches", "size"), "panel": ("batches", "panel")}
    language = design.get("language") or "en"
    text = commented(
        title=design.get("title") or _stem(source),
        classes=names,
        source=Path(os.path.relpath(source.resolve(), folder.resolve())).as_posix(),
        language=language,
        settings={place: design[name] for name, place in places.items() if design.get(name) is not None},
    )
    there = folder.exists()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "study.toml").write_text(text, encoding="utf-8")
    except OSError as error:
        raise OptionError(f"{folder} cannot be written to ({error.strerror}). Name another folder.") from None
    try:
        read_study(folder)
    except Exception:
        (folder / "study.toml").unlink()
        if not there:
            folder.rmdir()
        raise


def _refuse_design(folder: Path, source: Path | None, classes: str | None, design: dict[str, Any]) -> None:
    """Refuse what is told beside a study that says it already, unless it says the same."""
    from sfumato.collect.study_file import read_study

    declared = read_study(folder)
    said = {
        "title": declared.title, "mode": declared.mode, "language": declared.language,
        "batch-size": declared.batches.size, "panel": declared.batches.panel,
    }  # fmt: skip
    for name, value in design.items():
        if value is not None and value != said[name]:
            raise OptionError(f"{folder / 'study.toml'} is there, and its {name} is {said[name]!r}. Change it there.")
    if classes is not None and tuple(name.strip() for name in classes.split(",")) != declared.class_names:
        raise OptionError(
            f"{folder / 'study.toml'} is there, and its classes are {', '.join(declared.class_names)}. "
            "Change them there, or name another folder with --study."
        )
    if source is not None and (declared.folder / declared.items.source).resolve() != source.resolve():
        raise OptionError(
            f"{folder / 'study.toml'} is there, for the items {declared.items.source}. "
            "Name another folder with --study."
        )


collect_files.register(app)
collect_people.register(app)
