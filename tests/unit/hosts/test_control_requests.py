from __future__ import annotations

from importlib import import_module

from forge.hosts.control_requests import ROUTES


def test_every_route_leads_to_a_documented_function() -> None:
    functions = {}
    for subtype, name in ROUTES.items():
        module, _, function = name.partition(":")
        functions[subtype] = getattr(import_module(f"forge.hosts.{module}"), function)
    assert [subtype for subtype, function in functions.items() if not function.__doc__] == []
