"""Where the head is: an address, or the unix socket of a cluster on this machine.

The same rules as those of the command line: what the program says, then variables, then the sockets
of this machine, then `client.yaml`.
"""

from __future__ import annotations

import hashlib
import os
import re
import shlex
import stat
import tempfile
import warnings
from dataclasses import dataclass
from typing import Dict, Mapping, Optional, Tuple
from urllib.parse import urlsplit

from ._errors import WeftError, wrong

SYSTEM_SOCKET = "/run/weft/weft.sock"
_MACHINE_FILE = "/etc/weft/client.yaml"
# sun_path of unix(7) has 108 bytes with the final NUL; the head may add a suffix for a lock.
_SOCKET_PATH_MAX = 100
_LINE = re.compile(r'^(\w+):\s+(?:"([^"]*)"|([^\s"#]\S*))(?:\s+#.*)?\s*$')
_KEYS = ("head", "fingerprint", "socket", "token_file")
_PORT = 5001


@dataclass(frozen=True)
class Place:
    """Where a head is, and how to speak to it: a socket, or a host with what proves both sides."""

    socket: Optional[str] = None
    host: str = ""
    port: int = _PORT
    fingerprint: Optional[str] = None
    token: Optional[str] = None

    @property
    def address(self) -> str:
        """For messages."""
        return self.socket if self.socket is not None else f"{self.host}:{self.port}"


@dataclass(frozen=True)
class Said:
    """What the program says of its head; all of it may be missing."""

    head: Optional[str] = None
    token: Optional[str] = None
    fingerprint: Optional[str] = None
    socket: Optional[str] = None
    directory: Optional[str] = None


def locate(said: Said, environment: Mapping[str, str]) -> Place:
    """The head that `weft` commands would use here, unless the program names another."""
    if said.socket is not None and said.head is not None:
        raise wrong("head and socket name two places; give one of them")
    if said.socket is not None:
        return _local(said, said.socket)
    alone = said.directory is None
    url = said.head or (environment.get("WEFT_HEAD") if alone else None)
    if url:
        return _remote(url, said, environment)
    named = environment.get("WEFT_SOCKET") if alone else None
    if named:
        return _local(said, named)
    own = socket_in(_state_directory(said.directory, environment))
    asked = not alone or bool(environment.get("WEFT_DIR"))
    if asked or os.path.exists(own):
        return _local(said, own)
    if os.path.exists(SYSTEM_SOCKET):
        return _local(said, SYSTEM_SOCKET)
    told = _client_file(environment)
    if "socket" in told:
        return _local(said, told["socket"])
    if "head" in told:
        return _remote(told["head"], said, environment, told)
    # The folder alone is there while the head restarts.
    is_system = os.path.isdir(os.path.dirname(SYSTEM_SOCKET))
    return _local(said, SYSTEM_SOCKET if is_system else own)


def socket_in(directory: str) -> str:
    """The socket of the cluster in a directory; elsewhere when that path is too long for one."""
    inside = os.path.join(directory, "weft.sock")
    if len(os.fsencode(inside)) <= _SOCKET_PATH_MAX:
        return inside
    name = hashlib.sha256(os.fsencode(inside)).hexdigest()[:16]
    return os.path.join(tempfile.gettempdir(), f"weft-{name}.sock")


def _local(said: Said, path: str) -> Place:
    if said.token is not None:
        raise wrong("token: it is for a head with an address; its socket says who you are")
    return Place(socket=path)


def _state_directory(named: Optional[str], environment: Mapping[str, str]) -> str:
    if named == "":
        raise wrong("directory: the name is empty")
    chosen = named or environment.get("WEFT_DIR")
    if chosen:
        return os.path.abspath(chosen)
    state = environment.get("XDG_STATE_HOME") or os.path.join(_home(environment), ".local", "state")
    return os.path.join(state, "weft")


def _home(environment: Mapping[str, str]) -> str:
    return environment.get("HOME") or os.path.expanduser("~")


def _client_file(environment: Mapping[str, str]) -> Dict[str, str]:
    config = environment.get("XDG_CONFIG_HOME") or os.path.join(_home(environment), ".config")
    files = (
        os.path.join(config, "weft", "client.yaml"),
        environment.get("WEFT_CLIENT_FILE") or _MACHINE_FILE,
    )
    for file in files:
        if os.path.exists(file):
            return _parse_client_file(_text_of(file, "client.yaml"), file)
    return {}


def _parse_client_file(text: str, file: str) -> Dict[str, str]:
    found: Dict[str, str] = {}
    for number, line in enumerate(text.split("\n"), 1):
        if re.match(r"^\s*(#.*)?$", line):
            continue
        match = _LINE.match(line)
        if match is None or match.group(1) not in _KEYS:
            form = f"write one of {', '.join(_KEYS)}, a colon, a blank and its value"
            raise wrong(f"{file}, line {number}: '{line.strip()}' says nothing about a head; {form}")
        found[match.group(1)] = match.group(2) if match.group(2) is not None else match.group(3)
    if "head" not in found and "socket" not in found:
        raise wrong(f"{file} names no head; write a line head: https://HOST:{_PORT}")
    return found


def _remote(
    text: str, said: Said, environment: Mapping[str, str], told: Optional[Mapping[str, str]] = None
) -> Place:
    address = _address(text)
    if address is None:
        raise wrong(f"'{text}' is not the address of a head; write https://host:{_PORT}")
    host, port = address
    pinned = said.fingerprint or environment.get("WEFT_FINGERPRINT") or None
    token = said.token or _token(environment)
    if told is None:
        told = {} if token else _told_of(address, pinned, environment)
    fingerprint = pinned or told.get("fingerprint")
    return Place(host=host, port=port, fingerprint=fingerprint, token=token or _token_of(told, environment))


def _address(text: str) -> Optional[Tuple[str, int]]:
    try:
        url = urlsplit(text if "://" in text else f"https://{text}")
        port = url.port
    except ValueError:
        return None
    return (url.hostname, port or _PORT) if url.scheme == "https" and url.hostname else None


def _told_of(
    address: Tuple[str, int], pinned: Optional[str], environment: Mapping[str, str]
) -> Mapping[str, str]:
    """What `client.yaml` says of a head that is named by its address; nothing where it says another, or
    another certificate: the token would go to whoever has that.
    """
    told = _client_file(environment)
    if _address(told.get("head", "")) != address:
        return {}
    is_same = pinned is None or _plain(pinned) == _plain(told.get("fingerprint", ""))
    return told if is_same else {}


def _plain(pin: str) -> str:
    return pin.replace(":", "").lower()


def _token(environment: Mapping[str, str]) -> Optional[str]:
    file = environment.get("WEFT_TOKEN_FILE")
    if file:
        return _token_in(_token_text(file, "WEFT_TOKEN_FILE"), file)
    token = environment.get("WEFT_TOKEN")
    return None if not token else _token_in(token, "WEFT_TOKEN")


def _token_of(told: Mapping[str, str], environment: Mapping[str, str]) -> Optional[str]:
    named = told.get("token_file")
    if named is None:
        return None
    file = re.sub(r"^~(?=/)", lambda _: _home(environment), named)
    # Not everybody of a machine has one yet.
    return None if _is_absent(file) else _token_in(_token_text(file, "token_file"), file)


def _is_absent(file: str) -> bool:
    """False for one that is there and cannot be reached, as in the home of somebody else."""
    try:
        os.stat(file)
    except (FileNotFoundError, NotADirectoryError):
        return True
    except OSError:
        return False
    return False


def _text_of(file: str, what: str) -> str:
    try:
        with open(file, encoding="utf-8") as opened:
            return opened.read()
    except OSError as error:
        raise wrong(f"{what}: cannot read {file}: {error.strerror}") from error


def _token_text(file: str, what: str) -> str:
    text = _text_of(file, what)
    found = os.stat(file)
    # As ssh: of somebody else's file it is not this user's to say.
    if stat.S_ISREG(found.st_mode) and found.st_uid == os.getuid() and found.st_mode & 0o066:
        warnings.warn(
            f"others may read or change {file}, which has your token"
            f" (mode {stat.S_IMODE(found.st_mode):04o}): chmod 600 {shlex.quote(file)}",
            stacklevel=2,
        )
    return text


def _token_in(text: str, where: str) -> str:
    token = text.strip()
    # It is a secret: nothing of it is told.
    if re.fullmatch(r"[\x21-\x7e]+", token):
        return token
    raise WeftError(
        f"{where} holds no token.",
        hint="Expected the one word that begins with wt_, as `weft token create` prints it.",
    )
