"""From a request to a listing: which trees are compared, and which rules decide beforehand."""

from __future__ import annotations

import msgspec

from forge.core.review.baseline import NAMES, default, resolve
from forge.core.review.exchange import read_review
from forge.core.review.git import GitError
from forge.core.review.listing import list_changes, relist
from forge.core.review.model import Decision, Listing, Review
from forge.core.review.repository import Refused, Repository
from forge.core.review.restore import settle
from forge.core.review.rules import auto_accept, parse_rules
from forge.core.review.snapshot import Snapshot, index_tree, take
from forge.foundation.errors import UsageError
from forge.hosts.diffy.request import Request, below_root


def open_listing(repo: Repository, request: Request) -> tuple[str, Listing]:
    """The name of the baseline, and what differs from it now."""
    settle(repo)
    name, base = base_of(repo, request)
    now = Snapshot(index_tree(repo)) if request.staged else take(repo)
    paths = below_root(request, repo.root)
    try:
        return name, list_changes(repo, base, now.tree, paths, now.large)
    except (GitError, Refused):
        if name not in NAMES or request.base:
            raise
        # Git may have thrown away what a kept state shared with it.
        return "HEAD", list_changes(repo, resolve(repo, "HEAD"), now.tree, paths, now.large)


def base_of(repo: Repository, request: Request) -> tuple[str, str]:
    """Name and tree of the baseline."""
    if request.staged:
        return "HEAD", resolve(repo, "HEAD")
    if request.base:
        return request.base, resolve(repo, request.base, request.session)
    return default(repo, request.session)


def decided(repo: Repository, request: Request, data: bytes) -> tuple[Listing, Review]:
    """Decisions that were made elsewhere, and the listing they are about."""
    review = read_review(data)
    if review.snapshot:
        base_of(repo, request)  # a base that does not exist is a mistake even if it is not needed
        return relist(repo, review.snapshot, below_root(request, repo.root)), review
    return open_listing(repo, request)[1], review


def ruled(listing: Listing, request: Request, review: Review) -> Review:
    """The review with what the rules decide; a decision of the user comes first."""
    known = {decision.hunk for decision in review.decisions}
    by_rule = tuple(one for one in by_rules(listing, request.auto_accept) if one.hunk not in known)
    return msgspec.structs.replace(review, decisions=review.decisions + by_rule)


def read_decisions(path: str, standard_input: bytes | None = None) -> bytes:
    """The content of a file of decisions."""
    if standard_input is not None:
        return standard_input
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError as error:
        raise UsageError(f"{path}: cannot be read: {error.strerror}") from error


def by_rules(listing: Listing, rules: str) -> tuple[Decision, ...]:
    """What the rules in this text, separated by commas, decide."""
    words = [word.strip() for word in rules.split(",") if word.strip()]
    return auto_accept(listing, parse_rules(words)) if words else ()
