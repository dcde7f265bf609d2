"""What a study keeps to itself: the key of all its signatures, the hash of the admin secret, the completion code."""

from __future__ import annotations

__all__ = ["Secrets", "read_secrets", "with_new_admin", "write_secrets"]

import base64
import binascii
import hashlib
import hmac
import json
import os
import secrets
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from sfumato.errors import FormatError

_NAME = "secret.json"
_MAC_BYTES = 16
# Without characters that are mistaken for others, since people copy it by hand.
_CODE_LETTERS = "ABCDEFGHJKLMNPQRSTUVWXYZ23456789"


@dataclass(frozen=True, slots=True)
class Secrets:
    """The secrets of one study; whoever has its file can be anybody in the study."""

    master: str
    admin_hash: str
    completion_code: str

    def key(self, purpose: str) -> bytes:
        """Return the key for one purpose; keys of different purposes say nothing about each other."""
        return hmac.digest(bytes.fromhex(self.master), purpose.encode(), "sha256")

    def admits(self, secret: str) -> bool:
        """Return whether this is the admin secret."""
        # The secret is random and long, so that a slow hash would add nothing.
        told = hashlib.sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()
        return bool(self.admin_hash) and hmac.compare_digest(told, self.admin_hash)

    def invitation(self, name: str) -> str:
        """Return the token of the personal link of *name*; the same name has the same link."""
        data = name.encode()
        mac = hmac.digest(self.key("invitation"), data, "sha256")[:_MAC_BYTES]
        return base64.urlsafe_b64encode(mac + data).rstrip(b"=").decode()

    def invited(self, token: str) -> str | None:
        """Return the name that a personal link was made for, or None where the link was made by somebody else."""
        try:
            told = base64.b64decode(token + "=" * (-len(token) % 4), altchars=b"-_", validate=True)
            name = told[_MAC_BYTES:].decode()
        except (binascii.Error, ValueError):
            return None
        mac = hmac.digest(self.key("invitation"), told[_MAC_BYTES:], "sha256")[:_MAC_BYTES]
        return name if hmac.compare_digest(mac, told[:_MAC_BYTES]) else None


def read_secrets(folder: Path) -> Secrets:
    """Return the secrets of the study in *folder*, and make them where there are none; nobody else may read them."""
    path = folder / _NAME
    try:
        told = json.loads(path.read_text(encoding="utf-8"))
        return Secrets(**{name: str(told[name]) for name in ("master", "admin_hash", "completion_code")})
    except FileNotFoundError:
        code = "".join(secrets.choice(_CODE_LETTERS) for _ in range(8))
        made = Secrets(secrets.token_hex(32), "", code)
        write_secrets(folder, made)
        return made
    except (ValueError, KeyError, TypeError):
        raise FormatError(
            f"{path} is damaged. Restore it from a backup: without it no link that was sent works."
        ) from None


def with_new_admin(before: Secrets) -> tuple[Secrets, str]:
    """Return the secrets with another admin secret, and that secret itself, which is kept nowhere."""
    secret = secrets.token_urlsafe(24)
    return replace(before, admin_hash=hashlib.sha256(secret.encode()).hexdigest()), secret


def write_secrets(folder: Path, told: Secrets) -> None:
    """Write the file whole or not at all."""
    path = folder / _NAME
    fresh = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    with os.fdopen(os.open(fresh, os.O_CREAT | os.O_WRONLY | os.O_EXCL, 0o600), "w", encoding="utf-8") as file:
        json.dump(asdict(told), file, indent=1)
        file.flush()
        os.fsync(file.fileno())
    fresh.replace(path)
