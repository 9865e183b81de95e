"""One source file, opened: gzip undone, encoding found, text as a stream of lines in bounded memory."""

from __future__ import annotations

import codecs
import gzip
import io
import re
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, TextIO

from rag.errors import InputError
from rag.text import printable

HEAD = 65_536  # bytes that decide encoding and format
LINE_LIMIT = 8_000_000  # characters of one line that are read; what follows on that line is passed over
CHUNK = 1_000_000  # characters read at a time where lines mean nothing
GZIP_FREE = 64 * 2**20  # bytes a compressed file may always unfold to
GZIP_RATIO = 100  # beyond that: times its own size (abstracts reach 3 to 6)
GZIP_LIMIT = 4 * 2**30  # and never more than this

_BOMS = (  # the longer first: UTF-32's begins like UTF-16's
    (b"\xef\xbb\xbf", "utf-8-sig"),
    (b"\xff\xfe\x00\x00", "utf-32"),
    (b"\x00\x00\xfe\xff", "utf-32"),
    (b"\xff\xfe", "utf-16"),
    (b"\xfe\xff", "utf-16"),
)
_MAGIC = (
    (b"\x89PNG", "a PNG image"),
    (b"\xff\xd8\xff", "a JPEG image"),
    (b"GIF8", "a GIF image"),
    (b"%PDF", "a PDF"),
    (b"PK\x03\x04", "a ZIP archive (Word and Excel files are such)"),
    (b"SQLite format 3", "an SQLite database"),
    (b"BZh", "a bzip2 archive"),
    (b"\xfd7zXZ", "an xz archive"),
    (b"\x28\xb5\x2f\xfd", "a Zstandard archive"),
    (b"7z\xbc\xaf", "a 7-Zip archive"),
    (b"\xd0\xcf\x11\xe0", "an old Word or Excel file"),
)
_DECLARED = re.compile(rb"""\A\s*<\?xml\b[^>]*?\bencoding\s*=\s*["']([a-zA-Z0-9_.-]{1,40})["']""")
_OLDER = re.compile(r"iso8859|cp12\d\d|koi8|gb|big5|euc|shift_jis")  # as Python names them
_TEXT_CONTROLS = frozenset(b"\t\n\v\f\r\x1a\x1b\0")  # a stray NUL does not make a text binary
_ESCAPED = re.compile("[\udc80-\udcff]")  # what `surrogateescape` makes of a byte that is not UTF-8


class Unreadable(Exception):
    """Ends the reading of a source; what was read before it stands."""

    def __init__(self, cause: str, remedy: str) -> None:
        super().__init__(cause)
        self.cause = cause
        self.remedy = remedy


class Source:
    """A text file and what its beginning tells.

    Raises `InputError` where the file cannot be opened, `Unreadable` where it is empty or no text.
    """

    def __init__(self, path: Path, columns: Mapping[str, str] | None = None, name: str = "") -> None:
        self.path = path
        self.name = name or printable(path.name)
        self.kind = ""  # what `mixed` takes all its lines for
        self.columns = columns or {}  # of tables: field to name of column
        self.misread: int | None = None  # first line with bytes that are not of its encoding
        self.cut: int | None = None  # first line that was too long to be read to its end
        self.damage = ""  # why a gzip stream ends before its end; what stands before it is read
        with self._opened() as raw:
            head = raw.peek()
        if not head:
            cause = f"the gzip file is damaged: {self.damage}" if self.damage else "the file is empty"
            raise Unreadable(cause, "Fetch or export it again")
        self.encoding, self.guessed = _encoding(head)
        if not self.encoding:
            raise Unreadable(f"not text but {_kind(head)}", "Give a file of abstracts as text")
        decoded = head.decode(self.encoding, self._errors)
        self.head = re.sub(r"\r\n?", "\n", decoded.removeprefix("\ufeff"))

    @property
    def _errors(self) -> str:
        return "surrogateescape" if self.encoding == "utf-8-sig" else "replace"

    def lines(self, limit: int = 0) -> Iterator[tuple[int, str]]:
        """Number (from 1) and text of each line, with its line end; of a longer one its first `limit` characters.

        Only lines that are cut at the ordinary limit (0) are told as cut.
        """
        most = limit or LINE_LIMIT
        with self._stream() as stream:
            number = 0
            while line := stream.readline(most):
                number += 1
                yield number, self._mended(line, number)
                while len(line) == most and not line.endswith("\n"):
                    line = stream.readline(most)
                    self.cut = self.cut or (None if limit else number)

    def chunks(self) -> Iterator[str]:
        """The whole text in pieces, for formats whose lines may be as long as the file."""
        with self._stream() as stream:
            number = 1
            while piece := stream.read(CHUNK):
                yield self._mended(piece, number)
                number += piece.count("\n")

    def _mended(self, text: str, number: int) -> str:
        bad = _ESCAPED.search(text)
        if not bad:
            return text
        if self.misread is None:
            self.misread = number + text.count("\n", 0, bad.start())
        return _ESCAPED.sub(lambda m: bytes([ord(m[0]) - 0xDC00]).decode("cp1252", "replace"), text)

    @contextmanager
    def _stream(self) -> Iterator[TextIO]:
        with self._opened() as raw, io.TextIOWrapper(raw, self.encoding, self._errors) as stream:
            yield stream

    @contextmanager
    def _opened(self) -> Iterator[io.BufferedReader[Any]]:
        try:
            with io.BufferedReader(io.FileIO(str(self.path)), HEAD) as file:
                if file.peek(2)[:2] != b"\x1f\x8b":
                    yield file
                    return
                with gzip.GzipFile(fileobj=file) as packed:
                    unfolded = _Unfolded(packed, self.path.stat().st_size)
                    yield io.BufferedReader(unfolded, HEAD)
                    self.damage = unfolded.damage or self.damage
        except OSError as error:
            raise _unopened(self.path, error) from error


def first_bytes(path: Path) -> bytes:
    """The first bytes of a file as it lies on disk; raises `InputError` where it cannot be opened."""
    try:
        if path.exists() and not path.is_file():
            raise InputError(f"{path} is not a file. Name a file, or let a folder be searched for files.")
        with path.open("rb") as file:
            return file.read(8)
    except OSError as error:
        raise _unopened(path, error) from error


def _unopened(path: Path, error: OSError) -> InputError:
    return InputError(f"Cannot read {path}: {error.strerror or error}. Check the path and rights.")


class _Unfolded(io.RawIOBase):
    """A gzip stream as plain bytes, up to what its size allows; a damaged one ends at its damage."""

    def __init__(self, file: gzip.GzipFile, size: int) -> None:
        self._file = file
        self._left = min(max(GZIP_FREE, GZIP_RATIO * size), GZIP_LIMIT)
        self.damage = ""

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        try:
            found = self._file.read1(len(buffer))  # what stands before a damage is still read
        except (EOFError, zlib.error, gzip.BadGzipFile) as error:
            self.damage = str(error)
            return 0
        self._left -= len(found)
        if self._left < 0:
            limit = f"{GZIP_FREE // 2**20} MB and {GZIP_RATIO} times its size, or {GZIP_LIMIT // 2**30} GB"
            cause = f"the gzip file unfolds to more than {limit}"
            raise Unreadable(cause, "Unpack it yourself if you trust it")
        buffer[: len(found)] = found
        return len(found)


def _encoding(head: bytes) -> tuple[str, bool]:
    """The encoding's name (empty: no text), and whether it is a guess."""
    for bom, name in _BOMS:
        if head.startswith(bom):
            return name, False
    even, odd = head[::2].count(0), head[1::2].count(0)
    if even + odd > len(head) / 4 and min(even, odd) < len(head) / 100:  # Latin letters beside zero bytes
        return ("utf-16-be" if even > odd else "utf-16-le"), True
    if _binary(head):
        return "", False
    declared = _declared(head)
    if declared:
        return declared, False
    strange = len(_ESCAPED.findall(head.decode("utf-8", "surrogateescape")))
    if strange > len(head) / 10:  # no Western text has that many accents
        import charset_normalizer

        best = charset_normalizer.from_bytes(head.rpartition(b"\n")[0] or head).best()
        if best is not None:
            return best.encoding, True
    return "utf-8-sig", False


def _declared(head: bytes) -> str:
    """The encoding that an XML declaration states, if it is one of the older ones."""
    found = _DECLARED.match(head)
    with suppress(LookupError):
        name = codecs.lookup(found[1].decode("ascii")).name if found else ""
        return name if _OLDER.match(name) else ""
    return ""


def _binary(head: bytes) -> bool:
    controls = sum(byte < 32 and byte not in _TEXT_CONTROLS for byte in head)
    known = any(head.startswith(magic) for magic, _ in _MAGIC)
    return known or controls > len(head) / 50 or head.count(0) > len(head) / 50 + 1


def _kind(head: bytes) -> str:
    if head[257:262] == b"ustar":
        return "a tar archive"
    return next((name for magic, name in _MAGIC if head.startswith(magic)), "binary data")
