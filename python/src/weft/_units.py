"""Durations and sizes as people write them: `90s`, `1h30m`, `2-12:00:00`; `512M`, `4GiB`."""

from __future__ import annotations

import datetime
import re
from typing import Optional, Union

from ._errors import wrong

Duration = Union[int, float, str, datetime.timedelta]
Size = Union[int, str]

_UNIT_MS = {"ms": 1, "s": 1000, "m": 60_000, "h": 3_600_000, "d": 86_400_000, "w": 604_800_000}
_PARTS = re.compile(r"(?:\d+(?:\.\d+)?(?:ms|s|m|h|d|w))+")
_PART = re.compile(r"(\d+(?:\.\d+)?)(ms|s|m|h|d|w)")
_CLOCK = re.compile(r"(?:(\d+)-)?(\d{1,3}):(\d{2})(?::(\d{2}))?")
_SIZE = re.compile(r"(\d+(?:\.\d+)?)\s*(?:([kmgtp])(i?b)?|b)?", re.IGNORECASE)
_POWER = {"": 0, "k": 1, "m": 2, "g": 3, "t": 4, "p": 5}
_LONGEST_MS = 100 * 365 * _UNIT_MS["d"]


def duration_ms(name: str, value: Duration) -> int:
    """Whole milliseconds; numbers are seconds, as everywhere in Python."""
    if isinstance(value, datetime.timedelta):
        value = value.total_seconds()
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        if not 0 <= value * 1000 <= _LONGEST_MS:
            raise wrong(f"{name}: {value} is not a span; give seconds or text as '90s'")
        return round(value * 1000)
    text = str(value).strip()
    found = _parse_duration(text)
    if found is None or found > _LONGEST_MS:
        forms = "90s, 15m, 1h30m, 2d, 01:30:00 or 2-12:00:00"
        raise wrong(f"{name}: '{value}' is not a duration; write {forms}")
    return found


def _parse_duration(text: str) -> Optional[int]:
    if _PARTS.fullmatch(text):
        return round(sum(float(amount) * _UNIT_MS[unit] for amount, unit in _PART.findall(text)))
    clock = _CLOCK.fullmatch(text)
    if clock is None:
        return None
    days, hours, minutes, seconds = (int(part or 0) for part in clock.groups())
    # `1:30` may be minutes as well as hours: nobody knows which was meant.
    if (clock.group(1) is None and clock.group(4) is None) or minutes > 59 or seconds > 59:
        return None
    return (((days * 24 + hours) * 60 + minutes) * 60 + seconds) * 1000


def size_bytes(name: str, value: Size) -> int:
    """Whole bytes; text needs a unit, as a bare number would be a guess."""
    if isinstance(value, int) and not isinstance(value, bool) and value >= 0:
        return value
    text = str(value).strip()
    match = _SIZE.fullmatch(text) if isinstance(value, str) else None
    if match is None:
        raise wrong(f"{name}: {value!r} is not a size; write 512M or 4G, or a number of bytes")
    if re.fullmatch(r"[1-9]\d*", text):
        raise wrong(f"{name}: '{text}' has no unit; write {text}M or {text}G")
    base = 1000 if (match.group(3) or "").lower() == "b" else 1024
    power: int = base ** _POWER[(match.group(2) or "").lower()]
    return round(float(match.group(1)) * power)


def whole(name: str, value: int, least: int, most: int) -> int:
    """A whole number within bounds, both included."""
    if isinstance(value, int) and not isinstance(value, bool) and least <= value <= most:
        return value
    raise wrong(f"{name}: {value!r} is not a whole number from {least} to {most}")


def format_size(count: float) -> str:
    """`1.2G`, for people."""
    for unit in ("", "K", "M", "G", "T"):
        if count < 1024 or unit == "T":
            return f"{count:.3g}{unit}"
        count /= 1024
    raise AssertionError("unreachable")
