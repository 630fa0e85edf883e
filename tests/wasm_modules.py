"""Small WebAssembly commands as text; wasmtime turns them into modules."""

from __future__ import annotations

from pathlib import Path

import wasmtime

_WASI = "wasi_snapshot_preview1"
IMPORTS = f"""
  (import "{_WASI}" "fd_read" (func $read (param i32 i32 i32 i32) (result i32)))
  (import "{_WASI}" "fd_write" (func $write (param i32 i32 i32 i32) (result i32)))
  (import "{_WASI}" "fd_prestat_get" (func $prestat (param i32 i32) (result i32)))
  (import "{_WASI}" "path_open"
    (func $open (param i32 i32 i32 i32 i32 i64 i64 i32 i32) (result i32)))
  (import "{_WASI}" "environ_sizes_get" (func $environment (param i32 i32) (result i32)))
  (import "{_WASI}" "environ_get" (func $variables (param i32 i32) (result i32)))
  (import "{_WASI}" "sock_accept" (func $accept (param i32 i32 i32) (result i32)))
  (import "{_WASI}" "proc_exit" (func $exit (param i32)))
  (memory (export "memory") 4)
"""

# Prints the text that starts at 1024 and is $length long.
PRINT = """
  (func $print (param $length i32)
    (i32.store (i32.const 0) (i32.const 1024))
    (i32.store (i32.const 4) (local.get $length))
    (drop (call $write (i32.const 1) (i32.const 0) (i32.const 1) (i32.const 8))))
  (func $number (param $n i32)
    (i32.store8 (i32.const 1024) (i32.add (i32.const 48) (i32.div_u (local.get $n) (i32.const 10))))
    (i32.store8 (i32.const 1025) (i32.add (i32.const 48) (i32.rem_u (local.get $n) (i32.const 10))))
    (call $print (i32.const 2)))
"""

# Opens the file whose name follows; $1 are its flags (O_CREAT is 1), $2 the rights. Prints the error number.
OPEN = """
  (data (i32.const 2048) "{path}")
  (func (export "_start")
    (call $number
      (call $open (i32.const {at}) (i32.const 1) (i32.const 2048) (i32.const {length})
        (i32.const {flags}) (i64.const {rights}) (i64.const 0) (i32.const 0) (i32.const 16))))
"""

MODULES = {
    # Gives back its input.
    "echo": """(func (export "_start")
        (i32.store (i32.const 0) (i32.const 1024))
        (i32.store (i32.const 4) (i32.const 60000))
        (drop (call $read (i32.const 0) (i32.const 0) (i32.const 1) (i32.const 8)))
        (call $print (i32.load (i32.const 8))))""",
    "spin": '(func (export "_start") (loop $on (br $on)))',
    "flood": '(func (export "_start") (loop $on (call $print (i32.const 60000)) (br $on)))',
    "trap": '(func (export "_start") unreachable)',
    "deep": '(func $f (export "_start") (call $f) (call $f))',
    "quiet": '(func (export "_start"))',
    "fail": '(func (export "_start") (call $number (i32.const 7)) (call $exit (i32.const 3)))',
    "library": '(func (export "run"))',
    "foreign": "",
    # Grows its memory page by page; prints how many pages of 1 MB it got, at most 99.
    "grow": """(func (export "_start") (local $n i32)
        (block $full (loop $more
          (br_if $full (i32.eq (memory.grow (i32.const 16)) (i32.const -1)))
          (local.set $n (i32.add (local.get $n) (i32.const 1)))
          (br_if $more (i32.lt_u (local.get $n) (i32.const 99)))))
        (call $number (local.get $n)))""",
    # How many variables it sees.
    "environment": """(func (export "_start")
        (drop (call $environment (i32.const 16) (i32.const 20)))
        (call $number (i32.load (i32.const 16))))""",
    # The variables themselves.
    "variables": """(func (export "_start")
        (drop (call $environment (i32.const 16) (i32.const 20)))
        (drop (call $variables (i32.const 512) (i32.const 1024)))
        (call $print (i32.load (i32.const 20))))""",
    # What asking for the first directory it was given says: 8 means there is none.
    "directories": """(func (export "_start")
        (call $number (call $prestat (i32.const 3) (i32.const 16))))""",
    # What accepting a connection on any of its descriptors says.
    "network": """(func (export "_start")
        (call $number (call $accept (i32.const 3) (i32.const 0) (i32.const 16))))""",
}


def build(directory: Path, name: str) -> str:
    """Writes one of MODULES as a binary file and returns its path."""
    text = f"(module {IMPORTS}{PRINT}{MODULES[name]})"
    if name == "foreign":
        text = '(module (import "env" "open_anything" (func)) (func (export "_start")))'
    return write(directory / f"{name}.wasm", text)


def opener(directory: Path, path: str, *, at: int = 3, flags: int = 0, rights: int = 2) -> str:
    """A module that opens `path` in the directory it has as descriptor `at` and prints the error number."""
    body = OPEN.format(path=path, length=len(path), at=at, flags=flags, rights=rights)
    return write(directory / "opener.wasm", f"(module {IMPORTS}{PRINT}{body})")


def write(path: Path, text: str) -> str:
    """Writes a module given as text."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(wasmtime.wat2wasm(text))
    return str(path)
