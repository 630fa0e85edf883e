"""Marketplaces: add, list, update, remove. A copy that cannot be refreshed stays as it is and usable."""

from __future__ import annotations

import os
from typing import Any

from forge.core.installing.caching import mark_orphans
from forge.core.installing.copying import discard
from forge.core.installing.download import download
from forge.core.installing.fetch import forbid_when_air_gapped
from forge.core.installing.git import clone
from forge.core.installing.request import Request, failure, pretty, success
from forge.core.installing.switches import (
    SCOPES,
    change_settings,
    declare_market,
    declared_market,
    section_of,
    shared_file,
)
from forge.core.installing.uninstall import drop
from forge.core.plugins.context import Context, Outcome, PluginFailure
from forge.core.plugins.installed import read_installed
from forge.core.plugins.known import MARKET_FILE, Known, forget_known, read_known, record_known
from forge.core.plugins.market import (
    Market,
    check_catalogue,
    check_name,
    parse_catalogue,
    read_catalogue,
    read_market,
)
from forge.core.plugins.source import Source, describe, git_url, read_argument, without_login
from forge.foundation.atomic import update_text
from forge.foundation.inside import is_really_inside
from forge.foundation.jsonpatch import delete

_NEEDED = {"directory": "path", "file": "path", "github": "repo", "git": "url", "url": "url"}
_LABELS = {"directory": "Folder", "file": "File", "github": "GitHub", "git": "Git", "url": "URL"}


def add(request: Request, context: Context) -> Outcome:
    """`marketplace add SOURCE`."""
    fields = {"command": "marketplace-add"}
    scope = request.scope("user")
    try:
        source = read_argument(request.word("source"), context.places.cwd, context.places.home)
    except PluginFailure as error:
        return failure(request, fields, error, "")
    if request.texts("--sparse"):
        source["sparsePaths"] = request.texts("--sparse")
    if not request.json:
        context.say("Adding marketplace…")
    try:
        name, message = add_source(source, scope, context)
    except PluginFailure as error:
        return failure(request, fields, error, "Failed to add marketplace: ")
    return success(request, {**fields, "outcome": "ok", "marketplace": name}, message)


def add_source(source: Source, scope: str, context: Context) -> tuple[str, str]:
    """Adds a marketplace and declares it in a scope's settings; returns its name and what to say."""
    _check_policy(source, context)
    before = read_known(context.layout)
    same = next((known for known in before.values() if known.source == source and _usable(known)), None)
    if same is not None and not same.in_place:
        declare_market(context.places, scope, same.name, source)
        return same.name, f"Marketplace '{same.name}' already on disk — declared in {scope} settings"
    market, location = _obtain(source, context, before)
    name = market.name
    old = before.get(name)
    record_known(context.layout, Known(name, source, location), context.now())
    declare_market(context.places, scope, name, source)
    if old is None:
        return name, f"Successfully added marketplace: {name} (declared in {scope} settings)"
    if old.source == source:
        return name, f"Marketplace '{name}' already on disk — declared in {scope} settings"
    return name, (
        f"Successfully added marketplace: {name} (declared in {scope} settings)\n"
        f"  Marketplace '{name}' was already added from {describe(old.source)} and now points at "
        f"{describe(source)}.\n"
        "  Plugins already installed from it now update from the new source. To undo, add the "
        "previous source again."
    )


def list_markets(request: Request, context: Context) -> Outcome:
    """`marketplace list`."""
    known = dict(sorted(read_known(context.layout).items()))
    if request.json:
        return Outcome(pretty([_row(one) for one in known.values()]))
    if not known:
        return Outcome("No marketplaces configured. Add one with `forge plugin marketplace add`.\n")
    lines = ["Configured marketplaces:", ""]
    for one in known.values():
        place = next(iter(_place(one.source).values()), "")
        lines += [f"  ❯ {one.name}", f"    Source: {_LABELS.get(one.kind, one.kind)} ({place})", ""]
    return Outcome("\n".join(lines) + "\n")


def update(request: Request, context: Context) -> Outcome:
    """`marketplace update [NAME]`; without a name every one."""
    known = read_known(context.layout)
    lead = "Failed to update marketplace(s): "
    if not request.words:
        return _update_all(request, known, context)
    name = request.words[0]
    fields = {"command": "marketplace-update", "marketplace": name}
    if not request.json:
        context.say(f"Updating marketplace: {name}...")
    if name not in known:
        text = f"Marketplace '{name}' not found. Available marketplaces: {', '.join(known)}"
        return failure(request, fields, PluginFailure(text, "not_configured"), lead)
    try:
        refresh(known[name], context)
    except PluginFailure as error:
        wrapped = PluginFailure(f"Failed to refresh marketplace '{name}': {error.message}", error.code)
        return failure(request, fields, wrapped, lead)
    message = f"Successfully updated marketplace: {name}"
    if request.json and known[name].in_place:
        message = f"Validating local marketplace\n{message}"
    return success(request, {**fields, "outcome": "ok"}, message)


def refresh(known: Known, context: Context) -> Market:
    """Brings the copy of a marketplace up to date; on failure the old copy stays."""
    _check_policy(known.source, context)
    market, location = _obtain(known.source, context, {known.name: known})
    if market.name != known.name:
        raise PluginFailure(f"it is called '{market.name}' now; remove it and add it again", "renamed")
    record_known(context.layout, Known(known.name, known.source, location), context.now())
    return market


def remove(request: Request, context: Context) -> Outcome:
    """`marketplace remove NAME`: the marketplace with everything installed from it."""
    name = request.word("name")
    fields: dict[str, Any] = {"command": "marketplace-remove", "marketplace": name}
    known = read_known(context.layout).get(name)
    scope = request.scope()
    lead = "Failed to remove marketplace: "
    declared = [s for s in SCOPES if declared_market(context.places, s, name) is not None]
    if known is None and not declared:
        return failure(
            request, fields, PluginFailure(f"Marketplace '{name}' not found", "not_configured"), lead
        )
    if scope and scope not in declared:
        text = f"Marketplace '{name}' is not declared in {scope} settings"
        return failure(request, fields, PluginFailure(text, "not_configured"), lead)
    for each in [scope] if scope else declared:
        path = shared_file(context.places, each)
        if name in section_of(path, "extraKnownMarketplaces"):
            change_settings(path, each, [delete(("extraKnownMarketplaces", name))])
    if scope and declared != [scope]:
        return success(
            request, {**fields, "outcome": "ok"}, f"Removed marketplace '{name}' from {scope} settings"
        )
    gone = _forget(name, known, context)
    message = f"Successfully removed marketplace: {name}"
    if gone:
        count = f"{len(gone)} plugin{'s' if len(gone) > 1 else ''}"
        message += (
            f"\nAlso uninstalled {count} from this marketplace:\n"
            + "".join(f"  {plugin}\n" for plugin in gone)
            + "The removal also deletes their saved options, secrets and data where it can.\n"
            "To use a plugin again, add the marketplace back and reinstall the plugin."
        )
    return success(request, {**fields, "outcome": "ok"}, message)


def _forget(name: str, known: Known | None, context: Context) -> list[str]:
    gone = list(dict.fromkeys(one.id for one in read_installed(context.layout) if one.market == name))
    for plugin_id in gone:
        drop(plugin_id, "", context)
    mark_orphans(context.layout, context.now())
    if known is not None:
        forget_known(context.layout, name)
        # Only what was fetched is ours to delete, never the user's own folder.
        ours = context.layout.markets
        if is_really_inside(known.location, ours) and known.location != ours:
            discard(known.location)
    return gone


def _update_all(request: Request, known: dict[str, Known], context: Context) -> Outcome:
    context.say("" if request.json else "Updating marketplaces...")
    failed = []
    for one in known.values():
        try:
            refresh(one, context)
        except PluginFailure as error:
            failed.append(f"{one.name}: {error.message}")
    done = len(known) - len(failed)
    problems = "".join(f"{text} (the copy from before stays in use)\n" for text in failed)
    if known and not done:
        return Outcome("", f"{problems}✘ No marketplaces were updated\n", 1)
    return Outcome(
        f"✔ Successfully updated {done} marketplace{'' if done == 1 else 's'}\n", problems, 0, True
    )


def _obtain(source: Source, context: Context, before: dict[str, Known]) -> tuple[Market, str]:
    """Reads a marketplace, fetching it if need be; returns the catalogue and where it is."""
    kind = source.get("source")
    field = _NEEDED.get(str(kind), "source")
    if not isinstance(source.get(field), str):
        raise PluginFailure(f"The source of this marketplace has no usable '{field}'.", "invalid_source")
    if kind == "directory":
        root = str(source["path"])
        market, location = read_catalogue(os.path.join(root, MARKET_FILE), root), root
    elif kind == "file":
        path = str(source["path"])
        parent = os.path.dirname(path)
        # The file is taken to be in a folder like `.claude-plugin`, whatever that is called.
        location = os.path.dirname(parent)
        market = read_catalogue(path, location)
    elif kind in ("git", "github"):
        return _cloned(source, context, before)
    elif kind == "url":
        return _downloaded(source, context, before)
    else:
        raise PluginFailure(f"Marketplace sources of type '{kind}' are not supported.", "unsupported_source")
    _admit(market, source, before)
    return market, location


def _cloned(source: Source, context: Context, before: dict[str, Known]) -> tuple[Market, str]:
    forbid_when_air_gapped("git", context)
    markets = context.layout.markets
    scratch = os.path.join(markets, f"temp_git_{os.urandom(6).hex()}")
    try:
        clone(git_url(source), scratch, context.env, ref=str(source.get("ref") or ""))
        market = read_market(Known("", source, scratch))
        _admit(market, source, before)
        location = os.path.join(markets, market.name)
        aside = f"{scratch}.old"
        if os.path.lexists(location):
            os.rename(location, aside)
        os.rename(scratch, location)
        discard(aside)
    except PluginFailure as error:
        message = error.message.replace(scratch, os.path.join(markets, "temp"))
        message = message.replace("clone repository", "clone marketplace repository", 1)
        raise PluginFailure(message, error.code) from None
    finally:
        discard(scratch)
    return read_market(Known(market.name, source, location)), location


def _downloaded(source: Source, context: Context, before: dict[str, Known]) -> tuple[Market, str]:
    forbid_when_air_gapped("url", context)
    url = str(source["url"])
    headers = source.get("headers")
    data = download(url, context.env, headers=headers if isinstance(headers, dict) else None, most=8 << 20)
    market = check_catalogue(parse_catalogue(data, url), url, "")
    _admit(market, source, before)
    location = os.path.join(context.layout.markets, market.name)
    if os.path.isdir(location):
        discard(location)
    update_text(location, lambda _: data.decode("utf-8", "replace"))
    return market, location


def _admit(market: Market, source: Source, before: dict[str, Known]) -> None:
    """Refuses reserved names, and to replace a fetched marketplace by another of the same name."""
    check_name(market.name, source)
    old = before.get(market.name)
    if old is not None and not old.in_place and old.source != source:
        raise PluginFailure(
            f'Cannot add marketplace "{market.name}": its source doesn\'t match its '
            "extraKnownMarketplaces entry in "
            "user or managed settings; add it from the source that entry lists, or change the entry.",
            "declared",
        )


def _check_policy(source: Source, context: Context) -> None:
    """Managed settings may list the only marketplaces that are allowed, or some that are not."""
    allowed = context.setting("strictKnownMarketplaces", None)
    blocked = context.setting("blockedMarketplaces", None)
    if isinstance(allowed, list) and not any(_matches(source, pattern) for pattern in allowed):
        raise PluginFailure("Your organization's settings do not allow this marketplace.", "policy")
    if isinstance(blocked, list) and any(_matches(source, pattern) for pattern in blocked):
        raise PluginFailure("Your organization's settings block this marketplace.", "policy")


def _matches(source: Source, pattern: Any) -> bool:
    return isinstance(pattern, dict) and bool(pattern) and all(source.get(k) == v for k, v in pattern.items())


def _usable(known: Known) -> bool:
    return os.path.exists(known.catalogue)


def _row(known: Known) -> dict[str, Any]:
    return {
        "name": known.name,
        "source": known.kind,
        **_place(known.source),
        "installLocation": known.location,
    }


def _place(source: Source) -> dict[str, Any]:
    keys = ("path",) if source.get("source") in ("directory", "file") else ("repo", "url", "ref", "path")
    return {key: without_login(str(source[key])) for key in keys if key in source}
