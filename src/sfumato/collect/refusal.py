"""Why a request is refused, for whoever sent it: scripts get one JSON envelope, people a page."""

from __future__ import annotations

__all__ = ["Refusal"]

from collections.abc import Mapping, Sequence
from typing import Any


class Refusal(Exception):
    """A request that is answered with a reason; *code* is for scripts, *message* for people."""

    def __init__(
        self,
        status: int,
        code: str,
        message: str,
        *,
        details: Sequence[Mapping[str, Any]] = (),
        next_page: str = "",
        retry_after: int = 0,
    ) -> None:
        super().__init__(message)
        self.status, self.code, self.message = status, code, message
        self.details, self.next_page, self.retry_after = details, next_page, retry_after

    def envelope(self) -> dict[str, Any]:
        """Return the body of the answer to a script."""
        error: dict[str, Any] = {"code": self.code, "message": self.message, "details": list(self.details)}
        if self.next_page:
            error["next"] = self.next_page
        return {"error": error}
