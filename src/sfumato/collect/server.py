"""Run the server of one study until it is told to stop."""

from __future__ import annotations

__all__ = ["Addresses", "check_installed", "serve"]

import contextlib
import logging
import logging.handlers
import signal
import socket
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import FrameType

from sfumato.collect.limits import Limits
from sfumato.collect.secret_file import read_secrets, with_new_admin, write_secrets
from sfumato.collect.sqlite_store import SqliteStore
from sfumato.collect.study import Study
from sfumato.errors import InputError, MissingExtraError

_LOG_BYTES, _LOGS = 10_000_000, 3
_SECONDS_TO_END = 10
# More connections than this are answered with 503 before they take memory; a study has some hundred people at once.
_MOST_AT_ONCE = 5000
# h11 refuses longer heads of requests; the faster parser that uvicorn would take where it is installed has no limit.
_LONGEST_HEAD = 32 * 1024


@dataclass(frozen=True, slots=True)
class Addresses:
    """Where a study is to be found. *admin* holds the secret where *admin_is_new*; later only its hash is known."""

    study: str
    admin: str
    completion_code: str
    admin_is_new: bool


def check_installed() -> None:
    """Refuse to go on where what the server stands on is not installed."""
    try:
        import uvicorn  # noqa: F401

        import sfumato.collect.app  # noqa: F401
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] in ("uvicorn", "starlette", "jinja2", "markupsafe", "anyio"):
            raise MissingExtraError("The study server", "collect") from None
        raise


def serve(
    study: Study,
    *,
    folder: Path | None = None,
    host: str = "127.0.0.1",
    port: int = 8000,
    public_url: str = "",
    behind_proxy: bool = False,
    new_admin_secret: bool = False,
    limits: Limits | None = None,
    announce: Callable[[Addresses], None] | None = None,
) -> None:
    """Serve a study until SIGINT or SIGTERM, then answer what has come, write it down, and return.

    *folder* is where its files are (that of the study). *announce* is called when the server listens; *public_url* is
    what the addresses begin with where it is not this machine's; *new_admin_secret* makes a new admin secret.
    """
    check_installed()
    import uvicorn

    from sfumato.collect.app import make_app

    kept = folder or study.folder
    listening = _listen(host, port)
    try:
        secrets, secret = read_secrets(kept), ""
        if new_admin_secret or not secrets.admin_hash:
            secrets, secret = with_new_admin(secrets)
        store = SqliteStore(kept / "study.sqlite", serving=True)
        try:
            app = make_app(study, store, folder=kept, secrets=secrets, behind_proxy=behind_proxy, limits=limits)
            _log_to(kept / "server.log")
            begin = (public_url or _address(listening)).rstrip("/")
            told = Addresses(
                study=f"{begin}/",
                admin=f"{begin}/admin/enter?secret={secret}" if secret else f"{begin}/admin",
                completion_code=study.platform.completion_code or secrets.completion_code,
                admin_is_new=bool(secret),
            )

            class Server(uvicorn.Server):
                """Says where it listens, and ends without an error when it is told to."""

                async def startup(self, sockets: list[socket.socket] | None = None) -> None:
                    await super().startup(sockets)
                    if not self.started:
                        return
                    if secret:
                        # Only now, since a secret that was never shown would lock everybody out.
                        write_secrets(kept, secrets)
                    if announce is not None:
                        announce(told)

                def handle_exit(self, sig: int, frame: FrameType | None) -> None:
                    """End in order, also when Ctrl-C is pressed twice: it takes no longer than its limit."""
                    self.should_exit = True

                @contextlib.contextmanager
                def capture_signals(self) -> Iterator[None]:
                    before = {each: signal.signal(each, self.handle_exit) for each in (signal.SIGINT, signal.SIGTERM)}
                    try:
                        yield
                    finally:
                        for each, handler in before.items():
                            signal.signal(each, handler)

            config = uvicorn.Config(
                app, lifespan="on", log_config=None, access_log=False, proxy_headers=False, server_header=False,
                timeout_graceful_shutdown=_SECONDS_TO_END, timeout_keep_alive=30, limit_concurrency=_MOST_AT_ONCE,
                ws="none", http="h11", h11_max_incomplete_event_size=_LONGEST_HEAD,
            )  # fmt: skip
            Server(config).run(sockets=[listening])
        finally:
            store.close()
    finally:
        listening.close()


def _listen(host: str, port: int) -> socket.socket:
    listening = None
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        listening = socket.socket(family, kind, protocol)
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind(address)
    except OSError as error:
        if listening is not None:
            listening.close()
        reason = error.strerror or str(error)
        raise InputError(f"Port {port} of {host} cannot be had: {reason}. Take another one with --port.") from None
    return listening


def _address(listening: socket.socket) -> str:
    host, port = listening.getsockname()[:2]
    host = {"0.0.0.0": socket.gethostname(), "::": socket.gethostname()}.get(host, host)
    return f"http://{f'[{host}]' if ':' in host else host}:{port}"


def _log_to(path: Path) -> None:
    """Write one JSON object a line: the time, and what the guard tells, which names nobody."""
    log = logging.getLogger("sfumato.collect")
    log.setLevel(logging.INFO)
    log.propagate = False
    for old in log.handlers[:]:
        log.removeHandler(old)
        old.close()
    handler = logging.handlers.RotatingFileHandler(path, maxBytes=_LOG_BYTES, backupCount=_LOGS, delay=True)
    handler.setFormatter(logging.Formatter('{"at": "%(asctime)s", "level": "%(levelname)s", "told": %(message)s}'))
    log.addHandler(handler)
