"""Makes the language servers of a conversation from what its plugins bring."""

from __future__ import annotations

import os

import msgspec

from forge.agent.session import Session
from forge.core.components.kinds import LspServer
from forge.core.lsp.connection import Launch
from forge.core.lsp.servers import LanguageServers
from forge.core.plugins.variables import expand, plugin_environment
from forge.core.registry import Component


def language_servers(s: Session) -> LanguageServers:
    """The servers; which there are is looked up anew each time one is needed."""
    servers, catalog = LanguageServers(), s.parts.catalog

    def components() -> list[Component[LspServer]]:
        brought = [c for contribution in catalog.contributions for c in contribution.languages]
        return [c for c in brought if catalog.languages.get(c.name) is c.value]

    servers.components = components
    servers.prepare = lambda component: prepare(component, s)
    return servers


def prepare(component: Component[LspServer], s: Session) -> Launch:
    """How a server is started: variables replaced, in the project, with the environment of its plugin."""
    config, project = component.value, s.situation.start_dir
    env = {**s.parts.env, "CLAUDECODE": "1", "CLAUDE_PROJECT_DIR": project, "FORGE_PROJECT_DIR": project}
    plugin = config.plugin
    if plugin is not None:
        env |= plugin_environment(plugin, project)
        if plugin.data:
            os.makedirs(plugin.data, mode=0o700, exist_ok=True)
        config = msgspec.structs.replace(
            config,
            command=str(expand(config.command, plugin, project)),
            args=[str(arg) for arg in expand(config.args, plugin, project)],
            env={key: str(value) for key, value in expand(config.env, plugin, project).items()},
            workspace_folder=str(expand(config.workspace_folder, plugin, project)),
        )
    return Launch(component.name, config, {**env, **config.env}, project)
