"""What is decided about the people of a study: invitations, exclusions, payments, and forgetting somebody."""

from __future__ import annotations

__all__ = ["delete_person", "exclude", "invite", "payments", "register"]

import csv
import io
import time
from collections.abc import Sequence
from dataclasses import asdict, fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sfumato.cli import screen
from sfumato.cli.collect_study import StudyPath, check_address, counted, note_old_rules, opened
from sfumato.errors import InputError, OptionError, check_choice

if TYPE_CHECKING:
    from sfumato.collect.payments import Payment

Json = Annotated[bool, typer.Option("--json", help="Print as JSON.")]
Names = Annotated[Path | None, typer.Option(help="A file with a name per line, such as e-mail addresses.")]


def register(app: typer.Typer) -> None:
    """Add the commands to the application."""
    app.command("invite", epilog="Example: sfumato collect invite photos-study --names people.txt -o links.csv")(invite)
    app.command("exclude", epilog="Example: sfumato collect exclude photos-study")(exclude)
    app.command("payments", epilog="Example: sfumato collect payments photos-study -o payments.csv")(payments)
    app.command("delete-person", epilog="Example: sfumato collect delete-person photos-study 5f1a…")(delete_person)


def invite(
    study: StudyPath,
    people: Annotated[list[str] | None, typer.Argument(metavar="[NAME]…", help="Whom to invite.")] = None,
    names: Names = None,
    url: Annotated[str, typer.Option(help="What the address of the study begins with.")] = "http://127.0.0.1:8000",
    out: Annotated[Path | None, typer.Option("--out", "-o", help="A CSV file for the links.")] = None,
) -> None:
    """Make a personal link for each name; the same name has the same link.

    A link does not hold the name, and the study does not store it: keep the list, payments name people by their
    invitation.
    """
    from sfumato.collect.secret_file import read_secrets
    from sfumato.collect.study_file import read_study

    declared = read_study(study)
    if declared.platform.kind != "invitation":
        raise OptionError(
            f'The study takes people from {declared.platform.kind!r}. Set kind = "invitation" under [platform] of '
            f"{declared.folder / 'study.toml'}."
        )
    told = [*(people or []), *_names_in(names)]
    if not told:
        raise OptionError("Say whom to invite: names, or --names with a file of them.")
    check_address(url, "--url")
    secrets = read_secrets(declared.folder)
    invited = {name: _invitation_of(secrets.key("invitation name"), name) for name in told}
    rows = [[name, known, f"{url.rstrip('/')}/i/{secrets.invitation(known)}"] for name, known in invited.items()]
    if out is not None:
        _give(["name", "invitation", "link"], rows, out)
        return
    for row in rows:
        # Not as a table: a link that is broken into lines leads nowhere.
        screen.say("  ".join(row))


def exclude(study: StudyPath, json: Json = False) -> None:
    """Apply the exclusion rules as study.toml declares them now, and keep what they say.

    Nothing that a person said is touched, and a run with other rules takes this one back. A run that would say what the
    last one said is that one.
    """
    from sfumato.collect.exclusions import run_exclusions

    with opened(study) as (declared, store):
        number = run_exclusions(declared, store, at=time.time_ns() // 1_000_000)
        run = next(run for run in store.exclusion_runs() if run.number == number)
        n_people = len(store.people())
    if json:
        screen.say_json(
            {"run": run.number, "rules": dict(run.rules), "verdicts": [asdict(each) for each in run.verdicts]}
        )
        return
    out, unpaid = (sum(getattr(each, name) for each in run.verdicts) for name in ("leave_out", "do_not_pay"))
    screen.say(f"Run {number}: of {counted(n_people)}, {out} left out of the labels, {unpaid} not to be paid")
    if run.verdicts:
        screen.table(["annotator", "why"], [[each.person, "; ".join(each.reasons)] for each in run.verdicts], left=2)


def payments(
    study: StudyPath,
    out: Annotated[Path | None, typer.Option("--out", "-o", help="A CSV file for the list.")] = None,
    layout: Annotated[
        str, typer.Option(help="csv: everything; prolific: id,bonus lines for its bulk payments.")
    ] = "csv",
    names: Names = None,
    json: Json = False,
) -> None:
    """List who is to be paid and what bonus they earned. It holds platform ids: it is no export, and not to be shared.

    With --names, people who were invited are listed by name. The names may be ids of a platform, too: these are found
    by their keyed hash when the list of payments is gone.
    """
    from sfumato.collect.payments import Payment, payment_list
    from sfumato.collect.secret_file import read_secrets
    from sfumato.collect.sessions import platform_hash

    check_choice(layout, ("csv", "prolific"), option="layout")
    with opened(study) as (declared, store):
        note_old_rules(declared, store)
        told = payment_list(declared, store)
        secrets = read_secrets(declared.folder)
        visitors = {person.id: person.visitor for person in store.people()}
    found: dict[str, str] = {}
    for name in _names_in(names):
        known = _invitation_of(secrets.key("invitation name"), name)
        found |= {platform_hash(secrets, "invitation", known): name}
        found |= {platform_hash(secrets, platform, name): name for platform in ("prolific", "mturk")}
    named = {each.annotator: found.get(visitors[each.annotator], "") for each in told}
    if json:
        screen.say_json([{"name": named[each.annotator], **asdict(each)} for each in told])
        return
    if layout == "prolific":
        bonuses = [[each.platform_id, f"{each.bonus:.2f}"] for each in told if each.bonus and each.platform_id]
        _give(None, bonuses, out, left=1)
        return
    head, rows = [each.name for each in fields(Payment)], [_cells(each) for each in told]
    if found:
        head = ["name", *head]
        rows = [[named[each.annotator], *row] for each, row in zip(told, rows, strict=True)]
    if out is None:
        shown = [*(["name"] if found else []), "platform_id", "annotator", "pay", "minutes", "bonus", "reason"]
        screen.table(shown, [[row[head.index(name)] for name in shown] for row in rows], left=len(shown) - 3)
    else:
        _give(head, rows, out)
    _sum_up(told)


def _cells(payment: Payment) -> list[str]:
    plain = {True: "yes", False: "no", None: ""}
    values = {**asdict(payment), "bonus": f"{payment.bonus:.2f}"}.values()
    return [plain[value] if value is None or isinstance(value, bool) else str(value) for value in values]


def _sum_up(told: Sequence[Payment]) -> None:
    currency = next((each.currency for each in told if each.currency), "")
    bonus = f", bonuses of {sum(each.bonus for each in told):.2f} {currency} in all" if currency else ""
    screen.say(f"{counted(len(told))}, {sum(each.pay for each in told):,} to be paid{bonus}")


def delete_person(
    study: StudyPath,
    person: Annotated[
        str, typer.Argument(metavar="ID", help="The annotator of the export, a platform's id, or an invited name.")
    ],
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
) -> None:
    """Delete a person and all that they said, down to the last byte in the files of the study.

    The server may run. Backups and exports that were made before are not touched.
    """
    from sfumato.collect.erasure import erase_person, person_of
    from sfumato.collect.secret_file import read_secrets

    with opened(study) as (declared, store):
        secrets = read_secrets(declared.folder)
        known = [person, _invitation_of(secrets.key("invitation name"), person)]
        found = person_of(store, known, secrets)
        if not yes:
            typer.confirm(f"Delete everything of {found} for good?", abort=True)
        gone = erase_person(store, known, secrets)
    paid = " and the entry in the list of payments" if gone.was_to_be_paid else ""
    screen.say(
        f"Deleted: {gone.person}, {counted(gone.n_responses, 'answer', 'answers')}, "
        f"{counted(gone.n_exit_answers, 'answer', 'answers')} at the end{paid}. "
        "The files were written anew."
    )
    screen.note("Their items are asked of others again, where the study is open.")
    screen.note("Backups and exports from before still hold them; delete these too, or make them again.")
    named = declared.folder / "study.toml"
    if gone.person in named.read_text(encoding="utf-8-sig"):
        screen.note(f"{named} names {gone.person}; take it out there.")


def _invitation_of(key: bytes, name: str) -> str:
    """Return the invitation of a name: always the same, and without the key nobody finds the name from it."""
    import hmac

    return hmac.digest(key, name.strip().encode(), "sha256").hex()[:12]


def _names_in(path: Path | None) -> list[str]:
    if path is None:
        return []
    try:
        lines = path.read_text(encoding="utf-8-sig").splitlines()
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}.") from None
    except UnicodeDecodeError:
        raise InputError(f"{path} is not UTF-8 text.") from None
    return list(dict.fromkeys(line.strip() for line in lines if line.strip()))


def _give(head: Sequence[str] | None, rows: Sequence[Sequence[str]], out: Path | None, *, left: int = 1) -> None:
    """Print rows, or write them to a file that only its owner may read."""
    if out is None:
        if head is not None:
            screen.table(head, rows, left=left)
        else:
            for row in rows:
                screen.say(",".join(row))
        return
    from sfumato.tables.write import check_writable, write_whole

    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerows([*([head] if head is not None else []), *rows])
    check_writable(out)
    write_whole(out, text.getvalue())
    out.chmod(0o600)
    screen.say(f"{counted(len(rows), 'line', 'lines')} → {out}")
