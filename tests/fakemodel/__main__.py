"""`python -m fakemodel scenario.json [--port N] [--log FILE]`: prints the port, serves until killed."""

from __future__ import annotations

import argparse
import json
import sys
import threading

from fakemodel.scenario import load
from fakemodel.server import Manner, Recorded, Server


def main() -> None:
    parser = argparse.ArgumentParser(prog="fakemodel")
    parser.add_argument("scenario")
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--log", default="", help="append each request to this file as one JSON line")
    options = parser.parse_args()

    def write(request: Recorded) -> None:
        with open(options.log, "a", encoding="utf-8") as file:
            file.write(json.dumps(request._asdict()) + "\n")

    server = Server(load(options.scenario), Manner(), None)
    if options.log:
        server.observe = write
    thread = threading.Thread(target=server.run, args=(options.port,), daemon=True)
    thread.start()
    server.wait_ready()
    sys.stdout.write(f"{server.port}\n")
    sys.stdout.flush()
    thread.join()


main()
