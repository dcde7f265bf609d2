"""Who is to be paid, and what: from the list that is kept apart from the study file and from every export."""

from __future__ import annotations

__all__ = ["Payment", "payment_list"]

from dataclasses import dataclass

from sfumato.collect.bonus import bonus_of, bonuses
from sfumato.collect.exclusions import NOT_PAID
from sfumato.collect.store import Store
from sfumato.collect.study import Study


@dataclass(frozen=True, slots=True, kw_only=True)
class Payment:
    """One line of the list: who they are to the platform, whether they handed in, whether to pay, and the bonus.

    *reason* says why not; *submission* is what the platform calls what is approved (a session, an assignment).
    """

    platform: str
    platform_id: str
    submission: str
    annotator: str
    complete: bool
    pay: bool
    reason: str
    minutes: float
    agreement: float | None
    bonus: float
    currency: str


def payment_list(study: Study, store: Store) -> list[Payment]:
    """Return a line for everybody who came from a platform or began, in order of arrival.

    Paid is who handed in, unless the rules of ``[exclusions.do_not_pay]`` said otherwise at their last run; who is left
    out of the labels is paid all the same, bonus included. Nobody earns a bonus who is not paid.
    """
    rule = bonus_of(study)
    earned = bonuses(study, store) if rule.amount else {}
    runs = store.exclusion_runs()
    verdicts = {verdict.person: verdict for verdict in runs[-1].verdicts} if runs else {}
    contacts = {contact.person: contact for contact in store.payments()}
    told = []
    for person in store.people():
        contact, verdict, bonus = contacts.get(person.id), verdicts.get(person.id), earned.get(person.id)
        if contact is None and person.assigned_at is None:
            continue
        complete = person.finished_at is not None and person.screened_at is None
        refused = verdict is not None and verdict.do_not_pay
        reasons = verdict.reasons if verdict is not None else ()
        why = [each.removeprefix(NOT_PAID) for each in reasons if each.startswith(NOT_PAID)]
        pay = complete and not refused
        until = person.finished_at or person.seen_at
        told.append(
            Payment(
                platform=person.platform,
                platform_id=contact.platform_id if contact else "",
                submission=contact.submission if contact else "",
                annotator=person.id,
                complete=complete,
                pay=pay,
                reason="" if pay else "; ".join(why) or f"not handed in ({person.state})",
                minutes=round(max(until - person.arrived_at, 0) / 60_000, 1),
                agreement=None if bonus is None else round(bonus.agreement, 4),
                bonus=bonus.amount if bonus is not None and pay else 0.0,
                currency=rule.currency if rule.amount else "",
            )
        )
    return told
