"""Who is who between two requests: signed tokens in cookies, and the tokens that forms carry."""

from __future__ import annotations

__all__ = ["Session", "Sessions", "platform_hash"]

import base64
import hmac
import json
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from sfumato.collect.secret_file import Secrets

_MAC_BYTES = 16
_DAY = 24 * 3600 * 1000
_LONGEST = 3800


@dataclass(frozen=True, slots=True)
class Session:
    """A visit: the person's id, when it began, and, before anything is stored of them, how they arrived."""

    person: str
    issued: int
    arrival: Mapping[str, Any] = field(default_factory=dict)


class Sessions:
    """Makes and checks the tokens of one study; nothing about them is kept on the server.

    >>> sessions = Sessions(Secrets("00" * 32, "", ""))
    >>> token = sessions.token(Session("ann", 5))
    >>> sessions.session(token, now=6), sessions.session(token + "x", now=6)
    (Session(person='ann', issued=5, arrival={}), None)
    """

    def __init__(self, secrets: Secrets, *, days: int = 60) -> None:
        self._session, self._csrf, self._admin = (secrets.key(each) for each in ("session", "csrf", "admin"))
        # A new admin secret ends the visits that were opened with the one before.
        self._admin += secrets.admin_hash.encode()
        self._life = days * _DAY
        # Browsers keep the cookies of a host for all of its ports: each study needs names of its own.
        digest = secrets.key("cookies")[:4].hex()
        self.cookie, self.admin_cookie = f"sfumato_{digest}", f"sfumato_admin_{digest}"

    @staticmethod
    def new_person() -> str:
        """Return an id that nobody can guess."""
        return secrets.token_hex(8)

    def token(self, session: Session) -> str:
        """Return the signed text of a session, for a cookie."""
        told: list[Any] = [session.person, session.issued]
        if session.arrival:
            told.append(dict(session.arrival))
        data = base64.urlsafe_b64encode(json.dumps(told, separators=(",", ":")).encode()).rstrip(b"=")
        return f"{data.decode()}.{_mac(self._session, data)}"

    def session(self, token: str, *, now: int) -> Session | None:
        """Return what was signed; None where it was not signed here, or too long ago."""
        data, _, mac = token.partition(".")
        if len(token) > _LONGEST or not _same(mac, self._session, data):
            return None
        session = Session(*json.loads(base64.urlsafe_b64decode(data + "=" * (-len(data) % 4))))
        return session if 0 <= now - session.issued + _DAY <= self._life + _DAY else None

    def csrf(self, person: str) -> str:
        """Return the token that the forms of this person carry."""
        return _mac(self._csrf, person.encode())

    def csrf_holds(self, person: str, token: str) -> bool:
        """Return whether a form came from a page that was made for this person."""
        return _same(token, self._csrf, person)

    def admin_token(self, now: int) -> str:
        """Return the signed text for the cookie of somebody who knew the admin secret."""
        return f"{now}.{_mac(self._admin, str(now).encode())}"

    def is_admin(self, token: str, *, now: int) -> bool:
        """Return whether the admin's cookie is good."""
        issued, _, mac = token.partition(".")
        return _same(mac, self._admin, issued) and now - int(issued) <= self._life


def platform_hash(secrets: Secrets, platform: str, platform_id: str) -> str:
    """Return the keyed hash under which a person of a platform is known in the study file."""
    return hmac.digest(secrets.key("visitor"), f"{platform}\0{platform_id}".encode(), "sha256").hex()[:32]


def _mac(key: bytes, data: bytes) -> str:
    return base64.urlsafe_b64encode(hmac.digest(key, data, "sha256")[:_MAC_BYTES]).rstrip(b"=").decode()


def _same(mac: str, key: bytes, data: str) -> bool:
    # As bytes: compare_digest refuses text beyond ASCII, and anybody may send anything.
    told = data.encode("utf-8", "surrogatepass")
    return hmac.compare_digest(_mac(key, told).encode(), mac.encode("utf-8", "surrogatepass"))
