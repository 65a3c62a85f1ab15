"""HTTP to one head: over its unix socket, where a user proves who it is by owning a directory, or
over TLS with a token. Knows nothing of routes.
"""

from __future__ import annotations

import base64
import hashlib
import http.client
import json
import os
import re
import socket
import ssl
import threading
import time
from typing import Any, Callable, Dict, Iterable, List, Mapping, NamedTuple, Optional, Tuple, TypeVar, Union
from urllib.parse import urlencode

from ._errors import WeftError
from ._where import Place

T = TypeVar("T")
Body = Union[bytes, Iterable[bytes], None]

_TIMEOUT_S = 30.0
_IDLE_MAX = 8
_FIRST_PAUSE_S = 0.1
_PAUSE_MAX_S = 2.0
# For a head that this program has not met: its address may be wrong.
_FIRST_MAX_S = 30.0
_NOBODY = (FileNotFoundError, ConnectionRefusedError, NotADirectoryError)


class _Identity(NamedTuple):
    """A socket among all of this machine, and the user who bound it."""

    device: int
    inode: int
    uid: int


class _LocalConnection(http.client.HTTPConnection):
    """Dials the socket that is held, not what lies at its path by then."""

    def __init__(self, path: str, timeout: Optional[float]) -> None:
        super().__init__("weft", timeout=timeout)
        self._path = path
        self.identity: Optional[_Identity] = None

    def connect(self) -> None:
        self.sock, self.identity = _dial_local(self._path, self.timeout)


def _dial_local(path: str, timeout: Optional[float]) -> Tuple[socket.socket, _Identity]:
    held = os.open(path, os.O_PATH)
    try:
        found = os.fstat(held)
        opened = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        opened.settimeout(timeout)
        try:
            opened.connect(f"/proc/self/fd/{held}")
        except BaseException:
            opened.close()
            raise
        return opened, _Identity(found.st_dev, found.st_ino, found.st_uid)
    finally:
        os.close(held)


class _SecureConnection(http.client.HTTPConnection):
    """Nothing is sent before the certificate is the one that was named."""

    identity = None

    def __init__(self, place: Place, timeout: Optional[float]) -> None:
        super().__init__(place.host, place.port, timeout=timeout)
        self._place = place

    def connect(self) -> None:
        self.sock = _dial_secure(self._place, self.timeout)


def _dial_secure(place: Place, timeout: Optional[float]) -> ssl.SSLSocket:
    plain = socket.create_connection((place.host, place.port), timeout)
    plain.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    context = ssl.create_default_context()
    if place.fingerprint is not None:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    try:
        secure = context.wrap_socket(plain, server_hostname=place.host)
    except BaseException:
        plain.close()
        raise
    if place.fingerprint is not None:
        try:
            _check_fingerprint(place, secure)
        except BaseException:
            secure.close()
            raise
    return secure


def _identity_shown(leaf: bytes) -> str:
    """By which fingerprint the head is known: one that has renewed its certificate shows one of
    the same key, which carries the first."""
    # A name that is an address, with a length of two bytes.
    found = re.search(rb"\x86\x82..weft-first:", leaf, re.DOTALL)
    if found is not None:
        try:
            _, _, end = _element(leaf, found.start())
            text = leaf[found.end() : end]
            first = base64.urlsafe_b64decode(text + b"=" * (-len(text) % 4))
            if _public_key(first) == _public_key(leaf):
                return hashlib.sha256(first).hexdigest()
        except (ValueError, IndexError):
            pass
    return hashlib.sha256(leaf).hexdigest()


def _public_key(certificate: bytes) -> bytes:
    """SubjectPublicKeyInfo of a certificate of version 3 (RFC 5280, 4.1)."""
    _, at, _ = _element(certificate, 0)  # Certificate
    _, at, _ = _element(certificate, at)  # TBSCertificate
    # Version, serial number, algorithm, issuer, validity, subject.
    for tag in (0xA0, 0x02, 0x30, 0x30, 0x30, 0x30):
        seen, _, end = _element(certificate, at)
        if seen != tag:
            raise ValueError("no certificate of version 3")
        at = end
    _, _, end = _element(certificate, at)
    return certificate[at:end]


def _element(der: bytes, at: int) -> Tuple[int, int, int]:
    """Tag, begin and end of the content of the element there."""
    tag, length, begin = der[at], der[at + 1], at + 2
    if length >= 0x80:
        size = length - 0x80
        # DER has no other forms, which OpenSSL would read otherwise than this.
        if not 1 <= size <= 3:
            raise ValueError("no length of DER")
        length = int.from_bytes(der[begin : begin + size], "big")
        begin += size
    if begin + length > len(der):
        raise ValueError("cut off")
    return tag, begin, begin + length


def _check_fingerprint(place: Place, secure: ssl.SSLSocket) -> None:
    actual = _identity_shown(secure.getpeercert(True) or b"")
    expected = (place.fingerprint or "").lower().replace(":", "")
    if actual == expected:
        return
    raise WeftError(
        f"{place.address} shows another certificate than the one that was named: {actual}.",
        code="auth.fingerprint_mismatch",
        kind="unauthenticated",
        details={"address": place.address, "actual": actual, "expected": expected},
    )


class Answer:
    """A good answer; its body is read by whoever asked, and its connection used again after that."""

    def __init__(self, line: "Line", connection: Any, response: http.client.HTTPResponse) -> None:
        self._line = line
        self._connection = connection
        self._response = response

    @property
    def headers(self) -> Mapping[str, str]:
        return dict(self._response.headers.items())

    def read(self) -> bytes:
        """All of it."""
        try:
            data = self._response.read()
        except BaseException:
            self.close()
            raise
        self._line._give_back(self._connection)
        return data

    def pieces(self, size: int = 65_536) -> Iterable[bytes]:
        """Pieces as they come. Raises when the connection breaks before the end."""
        while True:
            piece = self._response.read1(size)
            if not piece:
                return
            yield piece

    def lines(self) -> Iterable[bytes]:
        """Line by line."""
        while True:
            line = self._response.readline()
            if not line:
                return
            yield line

    def close(self) -> None:
        """The rest is not wanted."""
        self._response.close()
        self._connection.close()


class Line:
    """Requests to one head, from any thread; tried again while the head is away."""

    def __init__(self, place: Place, patience_s: float) -> None:
        self.place = place
        self.patience_s = patience_s
        self._idle: List[Any] = []
        self._tokens: Dict[_Identity, str] = {}
        self._lock = threading.Lock()
        self._login = threading.Lock()
        self._has_met = False
        self._is_closed = False

    def close(self) -> None:
        with self._lock:
            self._is_closed = True
            idle, self._idle = self._idle, []
        for connection in idle:
            connection.close()

    def call(
        self,
        method: str,
        path: str,
        *,
        body: Any = None,
        query: Optional[Mapping[str, Any]] = None,
        key: Optional[str] = None,
        timeout_s: Optional[float] = _TIMEOUT_S,
        patience_s: Optional[float] = None,
    ) -> Any:
        """The JSON of a good answer. The request may be sent twice."""
        data = None if body is None else json.dumps(body).encode()
        headers = {} if data is None else {"Content-Type": "application/json"}
        if key is not None:
            headers["Idempotency-Key"] = key

        def attempt() -> Any:
            return json.loads(
                self.open(method, path, data, query=query, headers=headers, timeout_s=timeout_s).read()
            )

        return self.patiently(attempt, patience_s)

    def open(
        self,
        method: str,
        path: str,
        body: Body = None,
        *,
        query: Optional[Mapping[str, Any]] = None,
        headers: Optional[Mapping[str, str]] = None,
        timeout_s: Optional[float] = _TIMEOUT_S,
    ) -> Answer:
        """One try; raises WeftError unless the answer is good."""
        target = path + _query_text(query)
        try:
            return self._open(method, target, body, dict(headers or {}), timeout_s)
        except (OSError, http.client.HTTPException) as error:
            raise self.unreachable(error) from error

    def patiently(self, attempt: Callable[[], T], patience_s: Optional[float] = None) -> T:
        """Again and again while the head is away, for as long as there is patience."""
        begun = time.monotonic()
        pause = _FIRST_PAUSE_S
        total = self.patience_s if patience_s is None else patience_s
        while True:
            if self._is_closed:
                raise self._closed()
            try:
                return attempt()
            except OSError as error:
                failure: WeftError = self.unreachable(error)
            except http.client.HTTPException as error:
                failure = self.unreachable(error)
            except WeftError as error:
                failure = error
            is_new = not self._has_met and isinstance(failure.__cause__, _NOBODY)
            most = min(total, _FIRST_MAX_S) if is_new else total
            is_late = time.monotonic() + pause > begun + most
            if not failure.is_passing or is_late or (is_new and not self._is_expected()):
                raise failure
            time.sleep(pause)
            pause = min(2 * pause, _PAUSE_MAX_S)

    def _is_expected(self) -> bool:
        """A head that was killed leaves its socket behind, one that never was has none."""
        return self.place.socket is None or os.path.exists(self.place.socket)

    def dial(self, path: str, headers: Mapping[str, str]) -> Tuple[Any, http.client.HTTPResponse, Any]:
        """A connection of its own, on which this request was answered with 101; its socket, the
        answer, and what was read behind it.
        """
        for is_last in (False, True):
            connection: Any = None
            try:
                connection = self._connect(_TIMEOUT_S)
                token = self._token(connection, renew=is_last)
                connection.putrequest("GET", path, skip_accept_encoding=True)
                for name, value in {**headers, **_bearer(token)}.items():
                    connection.putheader(name, value)
                connection.endheaders()
                response = connection.getresponse()
                self._has_met = True
                if response.status == 101:
                    return connection.sock, response, connection
                failure = _refusal(response.status, response.read())
                if response.status != 401 or self.place.socket is None or is_last:
                    raise failure
            except BaseException as error:
                if connection is not None:
                    connection.close()
                if isinstance(error, (OSError, http.client.HTTPException)):
                    raise self.unreachable(error) from error
                raise
            connection.close()
        raise AssertionError("unreachable")

    def unreachable(self, error: BaseException) -> WeftError:
        """The failure for a head that cannot be reached, or went away."""
        words = getattr(error, "strerror", None) or str(error) or type(error).__name__
        if isinstance(error, FileNotFoundError):
            words = "there is no such socket"
        elif isinstance(error, ssl.SSLCertVerificationError):
            words = "its certificate is not trusted; name its fingerprint"
        failure = WeftError(
            f"The head at {self.place.address} cannot be reached: {words}.",
            code="head.unreachable",
            kind="unavailable",
            details={"address": self.place.address, "cause": words},
            hint="Start a cluster with `weft up`, or name one with `directory` or `head`.",
        )
        failure.__cause__ = error
        if isinstance(error, (PermissionError, ssl.SSLCertVerificationError)):
            failure.kind = "permission_denied"
        return failure

    def _closed(self) -> WeftError:
        return WeftError(
            f"The connection to {self.place.address} was closed by this program.",
            code="cluster.closed",
            kind="failed_precondition",
        )

    def _open(
        self, method: str, target: str, body: Body, headers: Dict[str, str], timeout_s: Optional[float]
    ) -> Answer:
        answer = self._attempt(method, target, body, headers, timeout_s, renew=False)
        if answer is not None:
            return answer
        # A restarted head knows no sessions: who this is, is proven once more.
        again = self._attempt(method, target, body, headers, timeout_s, renew=True)
        assert again is not None
        return again

    def _attempt(
        self,
        method: str,
        target: str,
        body: Body,
        headers: Dict[str, str],
        timeout_s: Optional[float],
        renew: bool,
    ) -> Optional[Answer]:
        """None: the session is not known, and a new one can be had."""
        connection, is_used = self._take(timeout_s)
        try:
            try:
                response = self._ask(connection, method, target, body, headers, renew)
            except (http.client.HTTPException, ConnectionError):
                # The head closes connections that were idle; a body that was begun is not sent twice.
                if not is_used or not (body is None or isinstance(body, bytes)):
                    raise
                connection.close()
                connection = self._connect(timeout_s)
                response = self._ask(connection, method, target, body, headers, renew)
            self._has_met = True
            if response.status in (200, 206):
                return Answer(self, connection, response)
            failure = _refusal(response.status, response.read())
            self._give_back(connection)
        except BaseException:
            connection.close()
            raise
        if response.status == 401 and self.place.socket is not None and not renew:
            return None
        raise failure

    def _ask(
        self, connection: Any, method: str, target: str, body: Body, headers: Dict[str, str], renew: bool
    ) -> http.client.HTTPResponse:
        """The token is that of this very connection's peer."""
        token = self._token(connection, renew)
        connection.request(method, target, body, {**headers, **_bearer(token)})
        response: http.client.HTTPResponse = connection.getresponse()
        return response

    def _take(self, timeout_s: Optional[float]) -> Tuple[Any, bool]:
        now = self._identity_now()
        with self._lock:
            if self._is_closed:
                raise self._closed()
            while self._idle:
                connection = self._idle.pop()
                if connection.identity == now:
                    connection.timeout = timeout_s
                    connection.sock.settimeout(timeout_s)
                    return connection, True
                # It leads to a head that was there before.
                connection.close()
        return self._connect(timeout_s), False

    def _connect(self, timeout_s: Optional[float]) -> Any:
        connection: Any
        if self.place.socket is not None:
            connection = _LocalConnection(self.place.socket, timeout_s)
        else:
            connection = _SecureConnection(self.place, timeout_s)
        connection.connect()
        return connection

    def _give_back(self, connection: Any) -> None:
        with self._lock:
            if connection.sock is not None and not self._is_closed and len(self._idle) < _IDLE_MAX:
                self._idle.append(connection)
                return
        connection.close()

    def _identity_now(self) -> Optional[_Identity]:
        if self.place.socket is None:
            return None
        try:
            found = os.stat(self.place.socket)
        except OSError:
            return None
        return _Identity(found.st_dev, found.st_ino, found.st_uid)

    def _token(self, connection: Any, renew: bool) -> Optional[str]:
        """The session that was got through this socket, and is sent through no other."""
        if self.place.socket is None:
            return self.place.token
        identity = connection.identity
        known = self._tokens.get(identity)
        if known is not None and not renew:
            return known
        with self._login:
            # Another thread may have proven it meanwhile.
            fresh = self._tokens.get(identity)
            if fresh is None or fresh == known:
                fresh = _prove(connection, identity)
                self._tokens = {identity: fresh}
            return fresh


def _prove(connection: Any, identity: _Identity) -> str:
    """Gets a session: the head names a directory, and reads the owner of the one that is made.

    The directory's name says through which socket this program came, and it is made only in a folder
    of the socket's owner: so nobody who relays this can be taken for this program elsewhere.
    """
    begun = _post(connection, "/v1/auth/local/begin", {})
    path = str(begun["path"])
    folder = os.open(os.path.dirname(path), os.O_PATH | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        owner = os.fstat(folder).st_uid
        if owner != identity.uid:
            raise WeftError(
                f"What answers is not the head: its socket belongs to uid {identity.uid}, "
                f"but it asks for proofs in a folder of uid {owner}.",
                code="auth.not_the_head",
                kind="unauthenticated",
            )
        proof = f"{os.path.basename(path)}.{identity.device}-{identity.inode}"
        os.mkdir(proof, 0o700, dir_fd=folder)
        try:
            done = _post(connection, "/v1/auth/local/finish", {"challenge": begun["challenge"]})
        finally:
            try:
                os.rmdir(proof, dir_fd=folder)
            except FileNotFoundError:
                pass  # The head has removed it.
        return str(done["token"])
    finally:
        os.close(folder)


def _post(connection: Any, path: str, body: Any) -> Any:
    headers = {"Content-Type": "application/json"}
    connection.request("POST", path, json.dumps(body).encode(), headers)
    response = connection.getresponse()
    data = response.read()
    if response.status != 200:
        raise _refusal(response.status, data)
    return json.loads(data)


def _bearer(token: Optional[str]) -> Dict[str, str]:
    return {} if token is None else {"Authorization": f"Bearer {token}"}


def _query_text(query: Optional[Mapping[str, Any]]) -> str:
    pairs = [(name, value) for name, value in (query or {}).items() if value is not None]
    if not pairs:
        return ""
    texts = [(name, str(value).lower() if isinstance(value, bool) else str(value)) for name, value in pairs]
    return "?" + urlencode(texts)


_KINDS = {
    401: "unauthenticated",
    403: "permission_denied",
    404: "not_found",
    409: "failed_precondition",
    429: "resource_exhausted",
    503: "unavailable",
    504: "deadline_exceeded",
}


def _refusal(status: int, data: bytes) -> WeftError:
    try:
        error = json.loads(data)["error"]
        return WeftError(
            str(error["message"]),
            code=str(error["code"]),
            kind=str(error["kind"]),
            details=error.get("details"),
            hint=error.get("hint"),
        )
    except (ValueError, KeyError, TypeError):
        text = data[:200].decode("utf-8", "replace")
        message = f"The answer {status} is not the head's: {text}"
        return WeftError(message, code="internal.error", kind=_KINDS.get(status, "internal"))
