"""What all tests share: where the real data sets lie, and a browser."""

from __future__ import annotations

import os
import shutil
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Browser

# Every test, and every process that a test starts, finds the sets here; a test that needs one that is missing skips.
os.environ.setdefault("SFUMATO_DATA", str(Path(__file__).parents[2] / "shared" / "data"))


# A shell that starts the tests in the background has them ignore Ctrl-C, and so would every process that they start.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


# Of a module, not of the session: while Playwright is there its event loop counts as running, and tests of servers
# in the same process could not run one of their own.
@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Debian's Chromium, driven by Playwright; where it is missing the test is skipped, on CI it fails."""
    chromium = shutil.which("chromium")
    if chromium is None:
        if os.environ.get("SFUMATO_REQUIRE_BROWSER"):
            pytest.fail("chromium is not installed, and SFUMATO_REQUIRE_BROWSER asks for it")
        pytest.skip("chromium is not installed")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        # Quiet and alone: no sandbox as root, and no connection to anywhere.
        quiet = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update"]
        opened = playwright.chromium.launch(executable_path=chromium, args=[*quiet, "--disable-sync", "--no-first-run"])
        yield opened
        opened.close()
