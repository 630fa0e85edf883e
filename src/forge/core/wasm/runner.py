"""A program, not a module of Forge: runs one WebAssembly command in this process and reports how it ended.

Standard input and output belong to the WebAssembly command. The report goes to the descriptor that is the
second argument; the first describes the job.
"""

from __future__ import annotations

import os
import sys

import msgspec
import wasmtime


class Job(msgspec.Struct, frozen=True):
    """What to run and with what rights: directories as (path, may be changed), variables, limits."""

    module: str
    arguments: list[str]
    directories: list[tuple[str, bool]]
    variables: dict[str, str]
    fuel: int
    memory: int


class Report(msgspec.Struct, frozen=True):
    """`end` is exit, fuel, trap or invalid; `fuel` is what was used."""

    end: str
    code: int = 0
    reason: str = ""
    fuel: int = 0


def main(described: str, descriptor: str) -> None:
    """Runs the job of the command line."""
    report = run(msgspec.json.decode(described, type=Job))
    os.write(int(descriptor), msgspec.json.encode(report))


def run(job: Job) -> Report:
    """Runs a module to its end, whatever that is."""
    with open(job.module, "rb") as file:
        raw = file.read()
    if not raw.startswith(b"\0asm"):
        return Report("invalid", reason="it is not a WebAssembly module")
    config = wasmtime.Config()
    config.consume_fuel = True
    config.wasm_threads = False
    store = wasmtime.Store(wasmtime.Engine(config))
    store.set_fuel(job.fuel)
    store.set_limits(memory_size=job.memory, table_elements=1_000_000, instances=1, tables=16, memories=1)
    try:
        store.set_wasi(_rights(job))
        linker = wasmtime.Linker(store.engine)
        linker.define_wasi()
        instance = linker.instantiate(store, wasmtime.Module(store.engine, raw))
        start = instance.exports(store).get("_start")
        if not isinstance(start, wasmtime.Func):
            return Report("invalid", reason="it exports no function _start; build it as a WASI command")
        start(store)
    except wasmtime.ExitTrap as end:
        return Report("exit", end.code, fuel=_used(job, store))
    except wasmtime.Trap as trap:
        out = trap.trap_code is wasmtime.TrapCode.OUT_OF_FUEL
        return Report("fuel" if out else "trap", reason=_last_line(trap.message), fuel=_used(job, store))
    except wasmtime.WasmtimeError as error:
        return Report("invalid", reason=_one_line(str(error)))
    return Report("exit", fuel=_used(job, store))


def _rights(job: Job) -> wasmtime.WasiConfig:
    """Nothing but the three streams and what was granted."""
    rights = wasmtime.WasiConfig()
    rights.argv = job.arguments
    rights.inherit_stdin()
    rights.inherit_stdout()
    rights.inherit_stderr()
    rights.env = list(job.variables.items())
    for path, mutable in job.directories:
        rights.preopen_dir(path, path, mutable)
    return rights


def _used(job: Job, store: wasmtime.Store) -> int:
    return job.fuel - int(store.get_fuel())


def _last_line(text: str) -> str:
    """What the trap was; the lines before it say where."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1].removeprefix("wasm trap: ") if lines else ""


def _one_line(text: str) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip() and line.strip() != "Caused by:"]
    return ": ".join(lines)[:500]


if __name__ == "__main__":
    main(*sys.argv[1:])
