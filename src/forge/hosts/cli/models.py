"""`forge models`: providers and models, which of them can be used now, and which one is the default."""

from __future__ import annotations

import asyncio
import os
from typing import Any

import msgspec

from forge.core.http.url import split_url
from forge.core.model import ModelCard
from forge.core.models.catalog import find_installed, known_models, login_problem
from forge.core.models.keys import base_url, find_key
from forge.core.models.probe import Probe, probe
from forge.core.models.providers import Provider, read_providers
from forge.foundation.errors import ForgeError
from forge.hosts.cli.command import JSON, NO_COLOR, Arguments, Command, print_json, read_arguments, take_words
from forge.hosts.cli.flags import SWITCH, Flag
from forge.hosts.cli.masking import masked
from forge.hosts.cli.model_choice import Chosen, choose, key_words
from forge.hosts.cli.model_switch import SWITCHES, switch
from forge.hosts.cli.parse import CommandLine
from forge.hosts.cli.screen import Screen, open_screen
from forge.hosts.configuration import Configuration, load_configuration
from forge.hosts.options import read_options

LOCAL_SECONDS, REMOTE_SECONDS = 1.0, 5.0
LISTED_PER_SERVER = 12

COMMAND = Command(
    name="models",
    usage=("models [--all] [--check] [--json]", "models enable PROVIDER", "models disable PROVIDER"),
    about=(
        "Lists the providers Forge knows, whether each can be used now, and the models of those that can, "
        "with context window and price (US dollars per million tokens). Servers on this machine are asked "
        "whether they run; others only with --check. Keys are never shown. A provider that is a program on "
        "this machine is off until you enable it."
    ),
    flags=(
        Flag("--all", SWITCH, "", "also list models of providers that have no key yet"),
        Flag("--check", SWITCH, "", "ask every provider that has a key, also over the network"),
        JSON,
        NO_COLOR,
    ),
    examples=(
        ("forge models", "what can be used now"),
        ("forge models --check", "and does it really answer?"),
        ("forge models enable claude-code", "let Forge use the installed `claude`"),
        ("forge --model ollama/qwen3 models", "check one choice"),
    ),
)

OWN_ROW = (
    "forge config set providers.mine '"
    '{"protocol": "openai_chat", "baseUrl": "http://127.0.0.1:9000/v1", "models": {"my-model": {}}}\''
)


class Server(msgspec.Struct, frozen=True):
    """A provider as it is now. `found` is None when it was not asked."""

    provider: Provider
    url: str
    local: bool
    key: str
    problem: str
    found: Probe | None = None

    @property
    def usable(self) -> bool:
        """Ready as far as is known: a key where one is needed; on this machine, a server that runs."""
        if self.found is not None:
            return self.found.reachable and not self.problem
        return not self.problem


def run(line: CommandLine, env: dict[str, str]) -> int:
    """Prints the list; 1 when a provider in the settings cannot be used as it is written."""
    given = read_arguments(COMMAND, line)
    if given is None:
        return 0
    if given.words and given.words[0] in SWITCHES:
        word, name = take_words(COMMAND, given.words, ("enable or disable", "PROVIDER"))
        return switch(word, name, load_configuration(read_options(line), env, os.getcwd()))
    take_words(COMMAND, given.words, ())
    screen = open_screen(env, plain=given.on("no_color"))
    o = read_options(line)
    c = load_configuration(o, env, os.getcwd())
    providers, problems = read_providers(c.settings.get)
    chosen = choose(o, c)
    servers = [_server(p, c) for p in providers.values()]
    if c.settings.get("airGap", False) is True:
        servers = [_behind_gap(server, chosen) for server in servers]
    servers = asyncio.run(_ask(servers, c, everyone=given.on("check")))
    if given.on("json"):
        print_json(_summary(c, servers, chosen))
    else:
        _show_choice(chosen, screen)
        _show_servers(servers, screen)
        _show_models(c, servers, (given, screen))
        _show_hints(servers, (given, screen))
    for problem in problems:
        screen.say(str(problem), "red")
    return 1 if problems else 0


def _server(provider: Provider, c: Configuration) -> Server:
    url, key, problem = provider.base_url, "", ""
    if provider.program:
        return _program(provider, c)
    try:
        url = base_url(provider, c.env)
        key = find_key(provider, c.env, c.settings.get).source
        local = split_url(url).local
    except ForgeError as error:
        local = False
        problem = error.message
    return Server(provider, str(masked(url)), local, key, problem)


def _behind_gap(server: Server, chosen: Chosen) -> Server:
    """Nobody but the provider of the configured model is asked anything."""
    if chosen.choice is not None and server.provider == chosen.choice.provider:
        return server
    return msgspec.structs.replace(server, problem=server.problem or "out of reach: airGap is on")


def _program(provider: Provider, c: Configuration) -> Server:
    """A provider that is a program: what was found, and whether it may be used."""
    try:
        found, problem = find_installed(provider, c.env), ""
    except ForgeError as error:
        found, problem = "", error.message
    if found and not provider.enabled:
        problem = f"off ({found}): forge models enable {provider.name}"
    return Server(provider, found or provider.program, local=False, key="none", problem=problem)


async def _ask(servers: list[Server], c: Configuration, *, everyone: bool) -> list[Server]:
    """Asks the servers of this machine, or everyone who can be asked, all at the same time."""

    async def one(server: Server) -> Server:
        # A key command may ask the user for something; it is run only on demand.
        if server.problem or (server.provider.program and not everyone):
            return server
        if server.provider.program:
            said = await asyncio.to_thread(login_problem, server.provider, c.env)
            return msgspec.structs.replace(server, problem=said)
        if not (everyone or (server.local and server.key != "apiKeyHelper")):
            return server
        seconds = REMOTE_SECONDS if everyone and not server.local else LOCAL_SECONDS
        found = await probe(server.provider, c.env, c.settings.get, seconds)
        return msgspec.structs.replace(server, found=found)

    return list(await asyncio.gather(*(one(server) for server in servers)))


def _show_choice(chosen: Chosen, screen: Screen) -> None:
    if chosen.choice is None:
        screen.say(chosen.problem, "red" if chosen.named else "yellow")
        return
    card = chosen.choice.card
    screen.line(f"Default: {card.ref}" + (f" ({card.label})" if card.label else ""), "bold")
    screen.say(f"because {chosen.why}; {key_words(chosen.choice.key_source)}", first="  ")


def _show_servers(servers: list[Server], screen: Screen) -> None:
    screen.heading("Providers")
    ready, not_ready = screen.paint(screen.signs["ok"], "green"), screen.paint(screen.signs["no"], "dim")
    rows = [(ready if s.usable else not_ready, s.provider.name, _state(s)) for s in servers]
    screen.table(rows, styles={1: "bold"})


def _state(server: Server) -> str:
    found = server.found
    where = "" if server.url == server.provider.base_url and not server.local else f" at {server.url}"
    if server.problem:
        missing = server.provider.key_env
        return f"no key: set {missing}" if missing else server.problem
    if server.provider.program:
        return f"ready: {server.url}, on its own account"
    if found is None:
        return f"{key_words(server.key)}{where}"
    if found.reachable and not found.problem:
        return f"answers{where}: {len(found.models)} models, {key_words(server.key)}"
    if server.local and not found.reachable:
        return f"no server{where}"
    return found.problem


def _show_models(c: Configuration, servers: list[Server], how: tuple[Arguments, Screen]) -> None:
    given, screen = how
    for server in servers:
        if not (server.usable or given.on("all")):
            continue
        cards = _cards(c, server)
        if not cards:
            continue
        searches = " (searches the web)" if server.provider.web_search else ""
        screen.heading(f"{server.provider.name}{searches}")
        shown = cards if given.on("all") else cards[: max(LISTED_PER_SERVER, len(_known(c, server)))]
        rows = [(card.id, card.label, _size(card.context_window), _price(card)) for card in shown]
        screen.table([("model", "", "context", "price in / out"), *rows])
        if len(shown) < len(cards):
            screen.line(f"  and {len(cards) - len(shown)} more; --all shows them", "dim")


def _known(c: Configuration, server: Server) -> list[ModelCard]:
    return [card for card in known_models(c.settings.get) if card.provider == server.provider.name]


def _cards(c: Configuration, server: Server) -> list[ModelCard]:
    """The models of a provider: the ones in the table, then what the server itself lists."""
    known = _known(c, server)
    names = {card.id for card in known}
    listed = server.found.models if server.found is not None else []
    protocol = server.provider.protocol
    unlisted = [ModelCard(name, server.provider.name, protocol, context_window=0) for name in listed]
    return known + [card for card in unlisted if card.id not in names]


def _show_hints(servers: list[Server], how: tuple[Arguments, Screen]) -> None:
    given, screen = how
    screen.heading("How to")
    rows = [
        ("use a model once", 'forge -p --model PROVIDER/MODEL "your question"'),
        ("use it from now on", "forge config set model PROVIDER/MODEL"),
    ]
    if not given.on("all") and any(not server.usable for server in servers):
        rows.append(("see all models", "forge models --all"))
    screen.table(rows, styles={0: "dim"})
    screen.line("  add a provider of your own (then use it as mine/my-model)", "dim")
    # Not wrapped, so that it can be copied.
    screen.line(f"    {OWN_ROW}")


def _size(tokens: int) -> str:
    if not tokens:
        return "-"
    return f"{tokens / 1_000_000:.3g}M" if tokens >= 1_000_000 else f"{tokens // 1000}k"


def _price(card: ModelCard) -> str:
    price = card.price
    return "-" if price is None else f"${price.input:g} / ${price.output:g}"


def _summary(c: Configuration, servers: list[Server], chosen: Chosen) -> dict[str, Any]:
    choice = chosen.choice
    default = None
    if choice is not None:
        default = {"model": choice.card.ref, "key_source": choice.key_source}
    return {
        "default": default,
        "why": chosen.why,
        "problem": chosen.problem,
        "providers": [
            {
                "name": server.provider.name,
                "protocol": server.provider.protocol,
                "url": server.url,
                "key_source": server.key,
                "usable": server.usable,
                "web_search": server.provider.web_search,
                "asked": server.found is not None,
                "problem": server.problem or (server.found.problem if server.found else ""),
                "models": [
                    {
                        "id": card.id,
                        "ref": card.ref,
                        "label": card.label,
                        "context_window": card.context_window,
                        "max_output": card.max_output,
                        "price": card.price,
                    }
                    for card in _cards(c, server)
                ],
            }
            for server in servers
        ],
    }
