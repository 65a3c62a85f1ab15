"""What the head says of jobs, tasks and nodes: a dict whose fields are attributes as well."""

from __future__ import annotations

import html
import re
from typing import Any, Iterable, Mapping, Sequence


class View(dict):  # type: ignore[type-arg]
    """A reply of the head: `view["taskCount"]` and `view.task_count` are the same."""

    def __getattr__(self, name: str) -> Any:
        key = re.sub(r"_([a-z])", lambda match: match.group(1).upper(), name)
        if key in self:
            return self[key]
        raise AttributeError(f"the head says nothing called {key!r}; it says {', '.join(self)}")

    def __dir__(self) -> Iterable[str]:
        names = [re.sub(r"[A-Z]", lambda match: f"_{match.group(0).lower()}", str(key)) for key in self]
        return [*super().__dir__(), *names]


def view(value: Any) -> Any:
    """The same with all dicts in it as views."""
    if isinstance(value, dict):
        return View({key: view(inner) for key, inner in value.items()})
    if isinstance(value, list):
        return [view(inner) for inner in value]
    return value


def table(titles: Sequence[str], rows: Iterable[Sequence[Any]], caption: str = "") -> str:
    """HTML for notebooks."""
    head = "".join(f"<th>{html.escape(title)}</th>" for title in titles)
    lines = [f"<tr>{''.join(f'<td>{html.escape(str(cell))}</td>' for cell in row)}</tr>" for row in rows]
    above = f"<caption>{html.escape(caption)}</caption>" if caption else ""
    return f"<table>{above}<thead><tr>{head}</tr></thead><tbody>{''.join(lines)}</tbody></table>"


def outcome_words(info: Mapping[str, Any]) -> str:
    """`failed (exit code 3 on n1)`, `cancelled: by alice`."""
    outcome = info.get("outcome")
    if outcome is None:
        return "not done"
    process, done = outcome.get("process"), outcome.get("exit") or {}
    where = "" if process is None else f" on {process['node']}"
    for field, name in (("code", "exit code"), ("signal", "signal")):
        if field in done:
            return f"{outcome['kind']} ({name} {done[field]}{where})"
    detail = outcome.get("detail")
    return str(outcome["kind"]) if detail is None else f"{outcome['kind']}: {in_python(detail)}"


def in_python(words: str) -> str:
    """Advice of the head as this library writes it: `--memory` of the command line is `memory=` here."""
    return re.sub(r"\bwith --([a-z]+)\b", r"with \1=", words)
