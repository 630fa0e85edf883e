"""Whether output is no text, and what it looks like."""

from __future__ import annotations

_SAMPLE = 8192
_MARKS = {
    b"\x89PNG\r\n\x1a\n": "PNG image",
    b"\xff\xd8\xff": "JPEG image",
    b"GIF8": "GIF image",
    b"%PDF-": "PDF document",
    b"PK\x03\x04": "ZIP archive",
    b"\x1f\x8b": "gzip data",
    b"BZh": "bzip2 data",
    b"\xfd7zXZ\x00": "xz data",
    b"\x28\xb5\x2f\xfd": "zstd data",
    b"7z\xbc\xaf\x27\x1c": "7-Zip archive",
    b"\x7fELF": "ELF program",
    b"MZ": "Windows program",
    b"\xca\xfe\xba\xbe": "Java class or Mach-O program",
    b"SQLite format 3\x00": "SQLite database",
    b"\x00asm": "WebAssembly module",
    b"RIFF": "RIFF media",
    b"OggS": "Ogg media",
    b"ID3": "MP3 audio",
}


def kind_of_binary(head: bytes) -> str:
    """A guess at the kind of data; "" for text: no NUL, and hardly anything that cannot be decoded."""
    sample = head[:_SAMPLE]
    if b"\0" not in sample:
        bad = sample.decode("utf-8", "replace").count("\ufffd") - sample.count(b"\xef\xbf\xbd")
        if bad * 10 <= len(sample):
            return ""
    return next((kind for mark, kind in _MARKS.items() if sample.startswith(mark)), "binary data")
