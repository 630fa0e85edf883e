"""The Read tool: text with line numbers, images, notebooks and PDF files."""

from __future__ import annotations

import asyncio
import errno
import importlib
import os
import re
import stat
from typing import Any

import msgspec

from forge.core.amount import human_size
from forge.core.pictures import image_type
from forge.core.seen import stamp
from forge.core.tool import Action, ToolContext, ToolError, ToolOutput
from forge.core.tools.excerpt import Excerpt, read_lines, token_error, whole_or_page
from forge.core.tools.location import missing, refuse_null_bytes, resolve, system_error, visible
from forge.core.tools.textfile import decode
from forge.core.written import Written

MAX_BYTES = 256 * 1024
# What `allow_large` may load: about a million tokens of text would not fit anywhere.
LARGE_BYTES = 1_400_000
MAX_PAGES = 20


class Args(msgspec.Struct, frozen=True):
    file_path: str
    offset: int | None = None
    limit: int | None = None
    pages: str = ""
    allow_large: bool = False


async def check(args: Args, ctx: ToolContext) -> None:
    """Refuses what can never be read: devices, binary formats, impossible page ranges."""
    refuse_null_bytes("Read", args.file_path)
    if args.pages:
        page_range(args.pages)
    path = resolve(args.file_path, ctx)
    if _is_device(path):
        raise _device(args.file_path)
    extension = os.path.splitext(path)[1].lower()
    if extension in BINARY_EXTENSIONS:
        raise ToolError(
            f"This tool cannot read binary files. The file appears to be a binary {extension} file. Use a "
            "skill for this file type if one is available, or a shell command or script that can read the "
            "format."
        )


async def run(args: Args, ctx: ToolContext) -> ToolOutput:
    """Reads one file."""
    path = resolve(args.file_path, ctx)
    status, head = _examine(args.file_path, path, ctx)
    kind = _kind(path, head)
    if kind:
        reader = importlib.import_module(f"forge.core.tools.{kind}")
        shown = args.file_path if kind == "read_notebook" else visible(path)
        content, data = await asyncio.to_thread(reader.read, shown, path, args.pages)
        if kind == "read_notebook":
            ctx.seen[path] = stamp(status, _load(path, status.st_size))
        return ToolOutput(content, data)
    return await _read_text(args, path, status, ctx)


def _examine(shown: str, path: str, ctx: ToolContext) -> tuple[os.stat_result, bytes]:
    try:
        status = os.stat(path)
        if stat.S_ISDIR(status.st_mode):
            raise IsADirectoryError(errno.EISDIR, "")
        if not stat.S_ISREG(status.st_mode) and path != os.devnull:
            raise _device(shown)
        with open(path, "rb") as file:
            return status, file.read(16)
    except FileNotFoundError:
        raise missing(path, ctx) from None
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise ToolError(
                f"Refusing to read {visible(path)}: where it leads on disk could not be determined (a link "
                "on the way could not be examined, or the links do not resolve)."
            ) from None
        call = "read" if isinstance(error, IsADirectoryError) else "open"
        raise system_error(error, call, path) from None


def _kind(path: str, head: bytes) -> str:
    extension = os.path.splitext(path)[1].lower()
    if extension == ".ipynb":
        return "read_notebook"
    if extension == ".pdf":
        return "read_pdf"
    # What is called text is read as text; a name that says nothing leaves it to the content.
    if extension in IMAGE_EXTENSIONS or (not extension and image_type(head)):
        return "read_image"
    return ""


async def _read_text(args: Args, path: str, status: os.stat_result, ctx: ToolContext) -> ToolOutput:
    largest = LARGE_BYTES if args.allow_large else MAX_BYTES
    cap = LARGE_BYTES // 4 if args.allow_large else token_limit(ctx)
    if args.limit is None or status.st_size <= MAX_BYTES:
        raw = _load(path, largest + 1) if status.st_size <= largest else b""
        size = max(status.st_size, len(raw))
        if size > largest:
            raise _too_large(size, largest, large=args.allow_large)
        text = decode(raw)
        excerpt = whole_or_page(text.text.removeprefix("\ufeff"), args, cap)
        flaw = f"\n\n{text.note}" if text.flaw and not excerpt.past_end else ""
    else:
        # Only a range of a large file is wanted: it is streamed, never loaded.
        excerpt = await asyncio.to_thread(read_lines, path, args.offset, args.limit, cap)
        raw, flaw = b"", ""
    if not excerpt.page:
        partial = (
            status.st_size > len(raw)
            or excerpt.start > 1
            or (args.limit is not None and excerpt.count >= args.limit)
        )
        ctx.seen[path] = stamp(status, None if partial else raw, partial=partial)
        # From here on a change makes it stale, also for somebody who wrote it before.
        ctx.keep(Written).texts.pop(path, None)
    return ToolOutput(_numbered(excerpt, path) + flaw, _data(args.file_path, excerpt))


def _load(path: str, most: int) -> bytes:
    with open(path, "rb") as file:
        return file.read(most)


def token_limit(ctx: ToolContext) -> int:
    """The most tokens a read may return."""
    for name in ("FORGE_FILE_READ_MAX_OUTPUT_TOKENS", "CLAUDE_CODE_FILE_READ_MAX_OUTPUT_TOKENS"):
        value = ctx.env.get(name, "")
        if value.isdecimal() and int(value) > 0:
            return int(value)
    return 25_000


def _numbered(excerpt: Excerpt, path: str) -> str:
    if excerpt.past_end:
        return (
            "<system-reminder>Warning: the file exists but is shorter than the provided offset "
            f"({excerpt.start}). The file has {excerpt.total} lines.</system-reminder>"
        )
    if not excerpt.text and excerpt.total == 1:
        return "<system-reminder>Warning: the file exists but the contents are empty.</system-reminder>"
    lines = excerpt.text.split("\n")
    numbered = "\n".join([f"{n}\t{line}" for n, line in enumerate(lines, excerpt.start)])
    return f"{numbered}\n\n{excerpt.reminder(visible(path))}" if excerpt.page else numbered


def _data(shown: str, excerpt: Excerpt) -> dict[str, Any]:
    file = {
        "filePath": shown,
        "content": excerpt.text,
        "numLines": excerpt.count,
        "startLine": excerpt.start,
        "totalLines": excerpt.total,
    }
    if excerpt.page:
        file["truncatedByTokenCap"] = True
    return {"type": "text", "file": file}


def _too_large(size: int, largest: int, *, large: bool) -> ToolError:
    return token_error(f"{human_size(size)}", f"size ({human_size(largest)})", large=large)


def page_range(pages: str) -> tuple[int, int]:
    """First and last page of `3` or `1-5`; an open end counts as too many."""
    match = re.fullmatch(r"\s*(\d+)\s*(?:(-)\s*(\d*)\s*)?", pages)
    first = int(match[1]) if match else 0
    open_ended = match is not None and match[2] is not None and not match[3]
    last = int(match[3]) if match and match[3] else first
    if first < 1 or last < first:
        raise ToolError(
            f'Invalid pages parameter: "{pages}". Give one page ("3") or one range ("1-5"), not a list. To '
            "read several pages or ranges, read each one separately. Pages are 1-indexed."
        )
    if open_ended or last - first >= MAX_PAGES:
        raise ToolError(
            f'Page range "{pages}" exceeds maximum of {MAX_PAGES} pages per request. '
            "Please use a smaller range."
        )
    return first, last


def _device(shown: str) -> ToolError:
    return ToolError(
        f"Cannot read '{shown}': this path names a device or process file that this tool does not read."
    )


def _is_device(path: str) -> bool:
    return _is_device_path(path) or _is_device_path(os.path.realpath(path))


def _is_device_path(path: str) -> bool:
    if path.startswith("/dev/"):
        return path != os.devnull
    return re.match(r"/proc/(\d+|self|thread-self)(/|$)", path) is not None


IMAGE_EXTENSIONS = frozenset((".png", ".jpg", ".jpeg", ".gif", ".webp"))
_BINARY = """
    .zip .tar .gz .tgz .bz2 .xz .7z .rar .zst .lz4 .so .dll .dylib .o .a .lib .obj .class .jar .war .ear
    .pyc .pyo .wasm .mp3 .mp4 .avi .mov .mkv .webm .flac .wav .ogg .m4a .aac .wma .wmv .flv .mpg .mpeg
    .doc .docx .xls .xlsx .ppt .pptx .odt .ods .odp .sqlite .sqlite3 .db .mdb .dat .bin .exe .msi .app
    .dmg .iso .ttf .otf .woff .woff2 .eot .ico .bmp .tiff .tif .heic .heif .avif .psd .ai .eps .sketch
    .fig .blend .3ds .max .swf .fla .pickle .npy .npz .parquet .feather .deb .rpm .apk .idx .node .rlib
    .whl .epub .data
"""
BINARY_EXTENSIONS = frozenset(_BINARY.split())

ACTION: Action[Args] = Action(Args, run, check)
