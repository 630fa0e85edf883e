"""Which sandbox a judged command runs in. The model never chooses it."""

from __future__ import annotations

from forge.core.shell.analysis.record import RANK
from forge.core.shell.sandbox.profile import Profile
from forge.foundation.permissions.syntax import word_set

TYPE_CHECKING = False
if TYPE_CHECKING:
    from forge.core.shell.analysis.record import Step, Verdict

# They speak to services with credentials or sockets that every other profile hides.
_OUTSIDE = word_set(
    """aws az docker docker-compose flyctl gcloud gh glab helm heroku kubectl podman pulumi rsync scp sftp ssh
    sudo systemctl terraform vercel"""
)
_ONLINE = word_set("curl wget ping dig nslookup host nc ncat http https apt apt-get brew")
_ONLINE_PARTS = {
    "git": "clone fetch ls-remote pull push remote submodule lfs",
    "npm": "add audit ci create exec i info init install outdated search update view",
    "pnpm": "add audit create dlx exec fetch i import install outdated up update",
    "yarn": "add audit create dlx install outdated up upgrade",
    "bun": "add create install update x",
    "pip": "download index install search wheel",
    "uv": "add lock pip run sync tool",
    "poetry": "add install lock update",
    "pipenv": "install lock sync update",
    "cargo": "add bench build check clippy doc fetch install publish run search test update",
    "go": "build generate get install list mod run test vet",
    "gem": "install search update",
    "bundle": "install update",
    "composer": "create-project install require update",
    "conda": "create env install update",
    "dotnet": "add build publish restore run test tool",
}
_BUILDERS = word_set("mvn gradle gradlew mvnw sbt lein mix stack cabal npx yarn")


def profile_for(verdict: Verdict) -> Profile:
    """Read for what only reads, workspace for safe changes, build where a registry is needed, else full."""
    # Whoever approved something that needs care wanted it to happen.
    if RANK.get(verdict.category, 0) >= RANK["caution"]:
        return Profile.FULL
    steps = verdict.steps
    if any(_name(step) in _OUTSIDE for step in steps):
        return Profile.FULL
    if any(_is_online(step) for step in steps) or any(f.effect == "network" for f in verdict.findings):
        return Profile.BUILD
    return Profile.READ if verdict.category == "read_only" else Profile.WORKSPACE


def _is_online(step: Step) -> bool:
    name = _name(step)
    if name in _ONLINE or (name in _BUILDERS and len(step.words) != 1):
        return True
    parts = _ONLINE_PARTS.get("pip" if name == "pip3" else name)
    if parts is None:
        return False
    word = next((word for word in step.words[1:] if not word.startswith("-")), "")
    # Without a sub-command these install what the project needs.
    return word in parts.split() or (not word and name in ("yarn", "bundle"))


def _name(step: Step) -> str:
    return step.program.rpartition("/")[2]
