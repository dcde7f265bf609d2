"""How often one sender may ask: buckets that fill at a steady rate and are emptied by requests."""

from __future__ import annotations

__all__ = ["Bucket", "Limits", "sender_of"]

import ipaddress
from collections import OrderedDict
from dataclasses import dataclass

_MOST_SENDERS = 20_000


@dataclass(frozen=True, slots=True)
class Limits:
    """Requests a second, in the long run, and how many may come at once.

    *requests* of any kind and *arrivals* of new people are counted per address, *answers* (drafts and signs of life
    too) per person, *tries* of the admin secret per address. Many people share one address in a class or an office.
    """

    requests: tuple[float, int] = (400.0, 2000)
    arrivals: tuple[float, int] = (2.0, 200)
    answers: tuple[float, int] = (20.0, 100)
    tries: tuple[float, int] = (0.2, 10)


class Bucket:
    """Lets each sender take *burst* at once and *rate* a second afterwards.

    >>> bucket = Bucket(1.0, 2)
    >>> [bucket.wait("ann", now) for now in (0.0, 0.0, 0.5, 1.5)]
    [0.0, 0.0, 0.5, 0.0]
    """

    def __init__(self, rate: float, burst: int) -> None:
        self._rate, self._burst = rate, burst
        self._levels: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def wait(self, sender: str, now: float) -> float:
        """Take one, or return the seconds until there is one to take."""
        left, at = self._levels.get(sender, (float(self._burst), now))
        left = min(self._burst, left + (now - at) * self._rate)
        allowed = left >= 1
        self._levels[sender] = (left - 1 if allowed else left, now)
        self._levels.move_to_end(sender)
        if len(self._levels) > _MOST_SENDERS:
            self._levels.popitem(last=False)
        return 0.0 if allowed else (1 - left) / self._rate


def sender_of(address: str) -> str:
    """Return what counts as one sender: an IPv4 address, or the /64 of an IPv6 address, which is one household's.

    >>> sender_of("2001:db8:1:2:3:4:5:6")
    '2001:db8:1:2::/64'
    """
    if ":" not in address:
        return address
    try:
        return str(ipaddress.ip_network((address.partition("%")[0], 64), strict=False))
    except ValueError:
        return address
