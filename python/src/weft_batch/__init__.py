"""Writes batch files (distribute-jobs.yaml) from Python; `weft batch` reads them.

Every mistake is a ValueError that says what was expected. Nothing but Python is needed.
"""

import collections
import itertools
import json
import os
import re

__all__ = [
    "metadata", "file", "initialize", "job", "description", "slurm", "apptainer_config",
    "python_config", "write_config_to_file", "sweep", "sweep_name",
]

_NAME_BYTES_MAX = 200
_HIDDEN = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
_NUMBER = re.compile(r"[-+]?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?", re.IGNORECASE)


class _Part(dict):
    """What one of the functions below has made; `kind` is the function's name."""

    def __init__(self, kind, **values):
        super().__init__(values)
        self.kind = kind


def metadata(namespace, batch_name, capabilities, matrix_username=None):
    """Who the batch belongs to, what it is called, and what its nodes must be capable of."""
    if matrix_username is not None and not re.fullmatch(r"@[^\s:]+:\S+", str(matrix_username)):
        raise ValueError(f"matrix_username: expected @user:server, got {matrix_username!r}")
    name = _name(batch_name, "batch_name")
    if "@" in name:
        raise ValueError(f"batch_name: {name!r} has an '@', which stands before a version")
    return _Part(
        "metadata",
        batch_name=name,
        namespace=_name(namespace, "namespace"),
        matrix=matrix_username,
        capabilities=_texts(capabilities, "capabilities"),
    )


def file(path, relative=False, alias=None):
    """A file, under its own name or an alias. Unless it is relative it must exist."""
    path = os.fspath(path)
    if path == "" or "\0" in path:
        raise ValueError(f"path: expected the path of a file, got {path!r}")
    if not relative:
        path = os.path.abspath(path)
        if not os.path.exists(path):
            raise ValueError(f"path: {path} does not exist; relative=True leaves that to later")
    name = alias if alias is not None else os.path.basename(path.rstrip("/"))
    _file_name(name, "alias" if alias is not None else "path")
    return _Part("file", path=path, alias=alias)


def initialize(sif=None, required_files=(), required_mounts=(), build_file=None, sif_path=None):
    """The solver: an image file for apptainer_config, or a build_file for python_config.

    A path alone stands for file(path, relative=True). `sif_path` is an older name of `sif`.
    """
    if sif is not None and sif_path is not None:
        raise ValueError("initialize: sif and sif_path are the same thing; give one")
    sif = sif_path if sif is None else sif
    if (sif is None) == (build_file is None):
        raise ValueError("initialize: give either sif or build_file")
    mounts = _texts(required_mounts, "required_mounts")
    for mount in mounts:
        if not re.fullmatch(r"/[^\0,:\n]+", mount) or ".." in mount.split("/"):
            raise ValueError(f"required_mounts: expected a path in the container, got {mount!r}")
    if build_file is not None and mounts:
        raise ValueError("required_mounts: only a container has mounts")
    return _Part(
        "initialize",
        sif=None if sif is None else _file(sif, "sif"),
        build_file=None if build_file is None else _file(build_file, "build_file"),
        required_files=_files(required_files),
        required_mounts=mounts,
    )


def job(name, required_files=(), slurm=None, file=None):
    """One job; `file` is its program, which only python_config takes."""
    return _Part(
        "job",
        name=_name(name, "name"),
        file=None if file is None else _file(file, "file"),
        required_files=_files(required_files),
        slurm=_optional(slurm, "slurm"),
    )


def description(initialize, jobs):
    """A solver and its jobs: at least one, each with a name of its own."""
    jobs = [_part(one, "job") for one in jobs]
    if not jobs:
        raise ValueError("jobs: a batch needs at least one job")
    counts = collections.Counter(one["name"] for one in jobs)
    twice = sorted(name for name, count in counts.items() if count > 1)
    if twice:
        raise ValueError(f"jobs: more than one is called {', '.join(twice)}")
    return _Part("description", initialize=_part(initialize, "initialize"), jobs=jobs)


def slurm(job_name=None, output=None, nodes=None, ntasks=None, cpus_per_task=None,
          mem_per_cpu=None, hint=None, time=None, partition=None, account=None,
          mail_user=None, mail_type=None):
    """Header fields for an export to Slurm."""
    values = dict(locals())
    for key, value in values.items():
        if value is None:
            continue
        if isinstance(value, bool) or not isinstance(value, (str, int)):
            raise ValueError(f"{key}: expected a text or a whole number, got {value!r}")
        if isinstance(value, str) and (not value.strip() or _HIDDEN.search(value)):
            raise ValueError(f"{key}: expected a text on one line, got {value!r}")
        if key in ("ntasks", "cpus_per_task") and not re.fullmatch(r"[1-9]\d*", str(value)):
            raise ValueError(f"{key}: expected a whole number, at least 1, got {value!r}")
    return _Part("slurm", **values)


def apptainer_config(meta, description, slurm=None):
    """A batch whose jobs run an image."""
    _part(description, "description")
    if description["initialize"]["sif"] is None:
        raise ValueError("apptainer_config: initialize needs sif")
    for one in description["jobs"]:
        if one["file"] is not None:
            raise ValueError(f"apptainer_config: job {one['name']} has a file; the image is run")
    return _config("apptainer", meta, description, slurm, ["sif", "required_files", "required_mounts"],
                   ["name", "required_files", "slurm"])


def python_config(meta, description, slurm=None):
    """A batch whose solver is built by a script, and whose jobs are scripts."""
    _part(description, "description")
    if description["initialize"]["build_file"] is None:
        raise ValueError("python_config: initialize needs build_file")
    for one in description["jobs"]:
        if one["file"] is None:
            raise ValueError(f"python_config: job {one['name']} needs file")
    return _config("python", meta, description, slurm, ["build_file", "required_files"],
                   ["name", "file", "required_files", "slurm"])


def write_config_to_file(config, path):
    """Writes the batch file."""
    _part(config, "config")
    with open(path, "w", encoding="utf-8") as target:
        target.write("\n".join(_yaml(config, 0)) + "\n")


def sweep(**values):
    """Every combination of the values as a dict; the last key changes fastest."""
    for key, several in values.items():
        if isinstance(several, (str, bytes)):
            raise ValueError(f"{key}: expected a list of values, got {several!r}")
    lists = {key: list(several) for key, several in values.items()}
    for key, several in lists.items():
        if not several:
            raise ValueError(f"{key}: has no values")
    for combination in itertools.product(*lists.values()):
        yield dict(zip(lists, combination))


def sweep_name(values):
    """`re100-a`: a number says of what it is, a word says it by itself."""
    words = [(key, str(value)) for key, value in values.items()]
    return "-".join(key + text if _NUMBER.fullmatch(text) else text for key, text in words)


def _config(kind, meta, description, slurm, initialize_keys, job_keys):
    initialize = description["initialize"]
    return _Part("config", **{
        "meta": _part(meta, "metadata"),
        kind: {
            "initialize": {key: initialize[key] for key in initialize_keys},
            "jobs": [{key: one[key] for key in job_keys} for one in description["jobs"]],
        },
        "slurm": _optional(slurm, "slurm"),
    })


def _part(value, kind):
    if not isinstance(value, _Part) or value.kind != kind:
        raise ValueError(f"expected what {kind}() gives, got {value!r}")
    return value


def _optional(value, kind):
    return None if value is None else _part(value, kind)


def _file(value, key):
    try:
        if isinstance(value, (str, os.PathLike)):
            return file(value, relative=True)
        return _part(value, "file")
    except ValueError as error:
        raise ValueError(f"{key}: {error}") from None


def _files(values):
    files = [_file(one, "required_files") for one in values]
    names = set()
    for one in files:
        name = one["alias"] or os.path.basename(one["path"].rstrip("/"))
        if name in names:
            raise ValueError(f"required_files: two are called {name!r}; give one an alias")
        names.add(name)
    return files


def _texts(values, key):
    if isinstance(values, (str, bytes)) or not all(isinstance(one, str) for one in values):
        raise ValueError(f"{key}: expected a list of texts, got {values!r}")
    return list(values)


def _name(name, key):
    _file_name(name, key, _NAME_BYTES_MAX)
    if name[0] in "-.":
        raise ValueError(f"{key}: {name!r} begins with {name[0]!r}")
    if name != name.strip():
        raise ValueError(f"{key}: {name!r} begins or ends with a blank")
    return name


def _file_name(name, key, most=255):
    if not isinstance(name, str) or name in ("", ".", ".."):
        raise ValueError(f"{key}: expected a name, got {name!r}")
    if _HIDDEN.search(name):
        raise ValueError(f"{key}: {name!r} has control characters")
    if "/" in name or "\\" in name:
        raise ValueError(f"{key}: {name!r} has a separator; write one name")
    if len(name.encode("utf-8")) > most:
        raise ValueError(f"{key}: the name has more than {most} bytes")


def _yaml(value, depth):
    """Lines of a mapping or a list; texts are quoted as in JSON, which YAML reads."""
    blanks = "  " * depth
    if isinstance(value, dict):
        for key, inner in value.items():
            if inner is not None:
                yield from _entry(f"{blanks}{key}:", inner, depth)
    else:
        for inner in value:
            if isinstance(inner, dict):
                lines = list(_yaml(inner, depth + 1))
                yield f"{blanks}- {lines[0].lstrip()}"
                yield from lines[1:]
            else:
                yield f"{blanks}- {_scalar(inner)}"


def _entry(start, inner, depth):
    if isinstance(inner, (dict, list)) and inner:
        yield start
        yield from _yaml(inner, depth + 1)
    else:
        yield f"{start} {_scalar(inner)}"


def _scalar(value):
    return json.dumps(value, ensure_ascii=False)
