"""The submission that options of a program make; a wrong option is told before anything is sent."""

from __future__ import annotations

import datetime
import difflib
import os
import re
import signal as signals
import time
from typing import (
    TYPE_CHECKING,
    Any,
    Callable,
    Dict,
    List,
    Mapping,
    Optional,
    Sequence,
    Tuple,
    TypedDict,
    Union,
)

from ._errors import wrong
from ._units import Duration, Size, duration_ms, size_bytes, whole

# What is run: a program with its arguments as they are, one line for the shell, or a script.
Command = Union[str, Sequence[Any], Mapping[str, Any]]
# What stands for `{}` or `{field}` in the command of one task.
Item = Union[str, Mapping[str, Any]]

_PLACEHOLDER = re.compile(r"(?<!\$)\{([A-Za-z_][\w-]*)?\}")
_MANY = 2**31 - 1
_LEAD_MS = 60_000
_TASKS_MAX = 1_000_000


def _count(least: int, most: int = _MANY) -> Callable[[str, Any], int]:
    return lambda name, value: whole(name, value, least, most)


def _flag(name: str, value: Any) -> bool:
    if isinstance(value, bool):
        return value
    raise wrong(f"{name}: {value!r} is neither True nor False")


def _text(name: str, value: Any) -> str:
    if isinstance(value, str) and value:
        return value
    raise wrong(f"{name}: {value!r} is not text")


def _texts(name: str, value: Any) -> List[str]:
    return [_text(name, one) for one in listed(value)]


def _names(name: str, value: Any) -> List[str]:
    found = value.split(",") if isinstance(value, str) else value
    return [_text(name, one.strip()) for one in found]


def _time(name: str, value: Any) -> Optional[int]:
    """A time limit; None: there is none, which is said by the word alone."""
    if value in ("none", "unlimited"):
        return None
    found = duration_ms(name, value)
    if found == 0:
        raise wrong(f"{name}: the time limit is 0; write 'none' for no limit")
    return found


def _instant(name: str, value: Any) -> int:
    if isinstance(value, datetime.datetime):
        return round(value.timestamp() * 1000)
    if isinstance(value, datetime.timedelta):
        return round(time.time() * 1000) + duration_ms(name, value)
    text = str(value)
    if text.startswith("+"):
        return round(time.time() * 1000) + duration_ms(name, text[1:])
    try:
        return round(datetime.datetime.fromisoformat(text).timestamp() * 1000)
    except ValueError:
        raise wrong(f"{name}: '{value}' is not a time; give a datetime, or text as '+2h'") from None


def _array(name: str, value: Any) -> Dict[str, Any]:
    indices, _, at_once = str(value).partition("%")
    if not re.fullmatch(r"\d+(-\d+(:[1-9]\d*)?)?(,\d+(-\d+(:[1-9]\d*)?)?)*", indices):
        raise wrong(f"{name}: '{value}' is not an array; write 0-99, 1,5,7, 0-99:2 or 0-99%10")
    found: Dict[str, Any] = {"indices": _stepped(name, indices)}
    if at_once:
        if not re.fullmatch(r"[1-9]\d{0,8}", at_once):
            raise wrong(f"{name}: '{value}' is not an array; write 0-99%10")
        found["runningMax"] = int(at_once)
    return found


def _stepped(name: str, indices: str) -> str:
    """Steps are written out: a request has ranges alone."""
    parts: List[str] = []
    for part in indices.split(","):
        match = re.fullmatch(r"(\d+)-(\d+):(\d+)", part)
        if match is None:
            parts.append(part)
            continue
        first, last, step = (int(one) for one in match.groups())
        if (last - first) // step > _TASKS_MAX:
            raise wrong(f"{name}: '{part}' has more than {_TASKS_MAX} tasks")
        parts.extend(str(index) for index in range(first, last + 1, step))
    return ",".join(parts)


def _dependencies(name: str, value: Any) -> List[Dict[str, Any]]:
    found = []
    for one in listed(value):
        text = str(getattr(one, "id", one))
        match = re.fullmatch(r"([1-9]\d{0,14})(?::(ok|any|fail|each|start)(?:(?<=start)\+(.+))?)?", text)
        if match is None:
            forms = "42, '42:ok', '42:any', '42:fail', '42:each', '42:start' or '42:start+10m'"
            raise wrong(f"{name}: '{text}' is not a dependency; write {forms}")
        one_found = {"jobId": int(match.group(1)), "condition": match.group(2) or "ok"}
        if match.group(3) is not None:
            one_found["delayMs"] = duration_ms(name, match.group(3))
        found.append(one_found)
    return found


def _node_loss(name: str, value: Any) -> Dict[str, Any]:
    if value in ("requeue", "wait"):
        return {"kind": value}
    if str(value).startswith("lease="):
        return {"kind": "lease", "leaseMs": duration_ms(name, str(value)[6:])}
    raise wrong(f"{name}: '{value}' is no policy; write requeue, wait or lease=30m")


def _warning(name: str, value: Any) -> Dict[str, int]:
    word, _, lead = str(value).partition("@")
    number = getattr(signals, "SIG" + word.upper().replace("SIG", "", 1), None)
    if number is None:
        raise wrong(f"{name}: '{value}' is not a signal and a time; write USR2@90 or TERM@5m")
    if not lead:
        return {"signal": int(number), "leadMs": _LEAD_MS}
    lead_ms = int(lead) * 1000 if lead.isdigit() else duration_ms(name, lead)
    return {"signal": int(number), "leadMs": lead_ms}


def _amounts(name: str, value: Any) -> Dict[str, int]:
    if not isinstance(value, Mapping):
        raise wrong(f"{name}: {value!r} is no dict of names and counts")
    return {str(key): whole(f"{name}.{key}", amount, 0, _MANY) for key, amount in value.items()}


def _gpus(name: str, value: Any) -> Any:
    """A number, or text with a type, 'a100:2', which the head reads."""
    return value if isinstance(value, str) else whole(name, value, 0, _MANY)


def _gpu_types(name: str, value: Any) -> List[str]:
    return [type_ for text in _texts(name, value) for type_ in re.split(r"[|,]", text)]


def _choice(*words: str) -> Callable[[str, Any], str]:
    def take(name: str, value: Any) -> str:
        if value in words:
            return str(value)
        raise wrong(f"{name}: {value!r} is not {' or '.join(words)}")

    return take


# Name of an option, its field in a request, and what reads it.
_FIELDS: Dict[str, Tuple[str, Callable[[str, Any], Any]]] = {
    "name": ("name", _text),
    "comment": ("comment", _text),
    "notify": ("notify", _texts),
    "nodes": ("nodeCount", _count(1)),
    "processes": ("processesPerNode", _count(1)),
    "cpus": ("cpuCount", _count(0)),
    "memory": ("memoryBytes", size_bytes),
    "gpus": ("gpuCount", _gpus),
    "gpu_type": ("gpuTypes", _gpu_types),
    "gpu_memory": ("gpuMemoryBytes", size_bytes),
    "gpu_share": ("gpuShareBytes", size_bytes),
    "gpu_links": ("gpuLinks", _choice("nvlink", "any")),
    "resources": ("counted", _amounts),
    "needs": ("labels", _texts),
    "nodes_named": ("nodeNames", _names),
    "exclusive": ("exclusive", _flag),
    "time": ("walltimeMs", _time),
    "partition": ("partition", _text),
    "qos": ("qos", _text),
    "reservation": ("reservation", _text),
    "after": ("dependencies", _dependencies),
    "singleton": ("singleton", _flag),
    "begin": ("beginAt", _instant),
    "nice": ("nice", _count(-_MANY)),
    "hold": ("held", _flag),
    "warning": ("warning", _warning),
    "on_node_loss": ("onNodeLoss", _node_loss),
    "on_oom": ("onOom", _choice("tell", "end")),
    "requeue": ("requeue", _flag),
    "retries": ("retriesMax", _count(0)),
    "array": ("array", _array),
    "umask": ("umask", _count(0, 0o777)),
}
_OTHERS = ("mpi", "at_once", "env", "directory", "files", "keep", "stdout", "stderr", "stdin", "key")

# Those of workers: what only means something for a job of its own is not among them.
_NOT_OF_WORKERS = frozenset(
    "name comment nodes processes after singleton begin hold warning on_node_loss on_oom requeue retries array".split()
)
WORKER_OPTIONS = frozenset([*(_FIELDS.keys() - _NOT_OF_WORKERS), "env", "directory", "stdout", "stderr"])
JOB_OPTIONS = frozenset([*_FIELDS, *_OTHERS])

if TYPE_CHECKING:
    from ._job import JobReference


class _Worker(TypedDict, total=False):
    cpus: int
    memory: Size
    gpus: Union[int, str]
    gpu_type: Union[str, Sequence[str]]
    gpu_memory: Size
    gpu_share: Size
    gpu_links: str
    resources: Mapping[str, int]
    needs: Union[str, Sequence[str]]
    nodes_named: Union[str, Sequence[str]]
    exclusive: bool
    time: Duration
    partition: str
    qos: str
    reservation: str
    nice: int
    notify: Union[str, Sequence[str]]
    umask: int
    env: Mapping[str, Any]
    directory: str
    stdout: str
    stderr: str


class WorkerOptions(_Worker, total=False):
    """What each worker of an Executor has."""


class JobOptions(_Worker, total=False):
    """What can be said of a job; everything is optional."""

    name: str
    comment: str
    nodes: int
    processes: int
    after: Union[JobReference, Sequence[JobReference]]
    singleton: bool
    begin: Union[datetime.datetime, datetime.timedelta, str]
    hold: bool
    warning: str
    on_node_loss: str
    on_oom: str
    requeue: bool
    retries: int
    array: str
    mpi: bool
    at_once: int
    files: Any
    keep: Union[str, Sequence[str]]
    stdin: str
    key: str


# Where a job may be told that its head is; nothing else of ours goes into one.
_HEAD_VARIABLES = ("WEFT_HEAD", "WEFT_FINGERPRINT", "WEFT_TOKEN_FILE", "WEFT_SOCKET", "WEFT_DIR")


def listed(value: Any) -> List[Any]:
    """One value, or several."""
    return list(value) if isinstance(value, (list, tuple, set, frozenset)) else [value]


def check_names(what: str, options: Mapping[str, Any], known: Sequence[str]) -> None:
    """Raises for the first option that does not exist, with the nearest one that does."""
    for name in options:
        if name in known:
            continue
        near = difflib.get_close_matches(name, known, 1)
        meant = f" Did you mean '{near[0]}'?" if near else ""
        raise wrong(f"'{name}' is not an option of {what}.{meant}")


def submission_of(
    command: Command, options: Mapping[str, Any], each: Optional[Sequence[Item]] = None
) -> Dict[str, Any]:
    """What is sent to have a job run, without its files."""
    check_names("a job", options, sorted(JOB_OPTIONS))
    body = fields_of(options)
    program, items = _with_items(program_of(command), each)
    body["program"] = program
    if items is not None:
        body["each"] = items
        body.setdefault("array", {"indices": "0" if len(items) == 1 else f"0-{len(items) - 1}"})
    if options.get("at_once") is not None:
        if "array" not in body:
            raise wrong("at_once limits the tasks of an array or a map")
        body["array"]["runningMax"] = whole("at_once", options["at_once"], 1, _MANY)
    if options.get("mpi"):
        ranks = body.pop("processesPerNode", None)
        body["mpi"] = {} if ranks is None else {"ranksPerNode": ranks}
    return body


def fields_of(options: Mapping[str, Any]) -> Dict[str, Any]:
    """What is said of jobs and of workers of pools alike."""
    body: Dict[str, Any] = {}
    for name, value in options.items():
        if name in _FIELDS and value is not None:
            field, take = _FIELDS[name]
            body[field] = take(name, value)
    body.setdefault("umask", _umask())
    body["environment"] = _environment(options.get("env") or {})
    body["directory"] = _directory(options)
    files = {name: os.fspath(options[name]) for name in ("stdout", "stderr", "stdin") if options.get(name)}
    if files:
        body["files"] = files
    if is_staged(options):
        body["staging"] = _staging(options)
    return body


def program_of(command: Command) -> Dict[str, Any]:
    """A text is a line for the shell, a list a program with its arguments."""
    if isinstance(command, str):
        if not command.strip():
            raise wrong("there is no command to run")
        if command.startswith("#!"):
            return {"kind": "script", "text": command, "args": []}
        return {"kind": "shell", "line": command}
    if isinstance(command, Mapping):
        check_names("a script", command, ("script", "args"))
        args = [str(one) for one in command.get("args", ())]
        return {"kind": "script", "text": str(command["script"]), "args": args}
    argv = [os.fspath(one) if isinstance(one, os.PathLike) else str(one) for one in command]
    if not argv or not argv[0].strip():
        raise wrong("there is no command to run")
    return {"kind": "argv", "argv": argv}


def _with_items(
    program: Dict[str, Any], each: Optional[Sequence[Item]]
) -> Tuple[Dict[str, Any], Optional[List[Any]]]:
    if each is None:
        return program, None
    items = [
        {str(key): _word(value) for key, value in item.items()} if isinstance(item, Mapping) else _word(item)
        for item in each
    ]
    if not items:
        raise wrong("there is nothing to map over: the list of items is empty")
    key = {"argv": "argv", "script": "args", "shell": "line"}[program["kind"]]
    texts = [program[key]] if key == "line" else program[key]
    names = {name for text in texts for name in _PLACEHOLDER.findall(text)}
    if isinstance(items[0], dict):
        _check_fields(items, names)
    elif "" not in names:
        # As xargs does it.
        placed = f"{program[key]} {{}}" if key == "line" else [*program[key], "{}"]
        return {**program, key: placed}, items
    return program, items


def _check_fields(items: List[Any], names: Any) -> None:
    known = {field for item in items if isinstance(item, dict) for field in item}
    if not (known & names) and "" not in names:
        fields = ", ".join(f"{{{field}}}" for field in sorted(known))
        raise wrong(f"the command says nowhere where a value goes: write {fields} where it belongs")
    for field in sorted(names & known):
        for index, item in enumerate(items):
            if not isinstance(item, dict) or field not in item:
                raise wrong(f"items[{index}]: it has no '{field}', and the command names {{{field}}}")


def _word(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)


def _umask() -> int:
    """Reading it means setting it; `/proc` says it without."""
    try:
        with open("/proc/self/status", encoding="ascii", errors="replace") as status:
            for line in status:
                if line.startswith("Umask:"):
                    return int(line.split()[1], 8)
    except OSError:
        pass
    return 0o022


def _environment(env: Mapping[str, Any]) -> Dict[str, str]:
    """This program's own token must not get into a job by `env=os.environ`."""
    chosen = {}
    for name, value in env.items():
        if value is not None and (not name.startswith("WEFT_") or name in _HEAD_VARIABLES):
            chosen[name] = str(value)
    return chosen


def is_staged(options: Mapping[str, Any]) -> bool:
    """Whether files go with it or come back, which needs a directory of its own."""
    keep = options.get("keep")
    return bool(options.get("files")) or (keep is not None and "none" not in listed(keep))


def _staging(options: Mapping[str, Any]) -> Dict[str, Any]:
    keep = options.get("keep")
    if keep is None:
        return {}
    patterns = [str(one) for one in listed(keep)]
    return {"outputs": [] if "none" in patterns else patterns}


def _directory(options: Mapping[str, Any]) -> Dict[str, str]:
    directory = options.get("directory")
    if is_staged(options):
        if directory not in (None, "private"):
            raise wrong(f"directory: '{directory}' is shared; with files or keep it is a private one")
        return {"kind": "private"}
    if directory == "private":
        return {"kind": "private"}
    if directory is None:
        return {"kind": "auto", "path": os.getcwd()}
    return {"kind": "shared", "path": os.path.abspath(directory)}
