"""Bytes of a text file to text and back: encoding, byte-order mark and line ends survive an edit."""

from __future__ import annotations

import msgspec

_LEGACY = (
    "is not valid UTF-8: it uses a legacy encoding such as Windows-1252, Shift-JIS or GBK, or it is binary."
)
_NULS = (
    "has NUL bytes in its first 8 KB: binary data, UTF-16/UTF-32 without a byte-order mark, "
    "or text with embedded NULs."
)
_BIG_ENDIAN = "is UTF-16 big-endian (it starts FE FF), which these tools cannot write."


class TextFile(msgspec.Struct, frozen=True):
    """`text` has LF line ends and keeps a byte-order mark; `flaw` says why it cannot be written back."""

    text: str
    encoding: str = "utf-8"
    crlf: bool = False
    flaw: str = ""

    @property
    def note(self) -> str:
        """What a reader must know about a file that cannot be written back."""
        shown = " Its undecodable bytes show above as U+FFFD." if self.flaw == _LEGACY else ""
        return (
            f"[This file {self.flaw}{shown} Edit and Write will refuse it: change it with a shell command "
            "that keeps its encoding, or ask the user whether to convert it to UTF-8.]"
        )

    @property
    def refusal(self) -> str:
        """Why Edit and Write do not touch it."""
        return (
            f"File {self.flaw} These tools write UTF-8 (or UTF-16LE behind its byte-order mark) and never "
            "convert a file's encoding on their own, so nothing was written. If the file is text, make the "
            "change with a shell command that reads and writes it in its own encoding (iconv, or PowerShell "
            "Get-Content/Set-Content -Encoding), or ask the user whether to convert it to UTF-8 first. To "
            "replace the whole file with new UTF-8 text anyway, delete it first, then Write it."
        )


def decode(raw: bytes) -> TextFile:
    """Reads the bytes of a file; never fails."""
    if raw.startswith(b"\xff\xfe"):
        return _text_file(raw.decode("utf-16-le", "replace"), "utf-16-le")
    flaw = _BIG_ENDIAN if raw.startswith(b"\xfe\xff") else _NULS if b"\0" in raw[:8192] else ""
    try:
        return _text_file(raw.decode("utf-8"), "utf-8", flaw)
    except UnicodeDecodeError:
        return _text_file(raw.decode("utf-8", "replace"), "utf-8", flaw or _LEGACY)


def encode(text: str, like: TextFile) -> bytes:
    """The bytes of a text in the encoding and with the line ends of another."""
    if like.crlf:
        text = text.replace("\r\n", "\n").replace("\n", "\r\n")
    return text.encode(like.encoding, "surrogatepass")


def _text_file(text: str, encoding: str, flaw: str = "") -> TextFile:
    pairs = text.count("\r\n")
    if not pairs:
        return TextFile(text, encoding, crlf=False, flaw=flaw)
    crlf = pairs * 2 > text.count("\n")
    return TextFile(text.replace("\r\n", "\n"), encoding, crlf=crlf, flaw=flaw)
