"""The known settings keys and their JSON types, in one table. A key that is not listed is kept as it is."""

from __future__ import annotations

from typing import Any

import msgspec


class Type(msgspec.Struct, frozen=True):
    """What a value must look like, and how strictly that is enforced.

    A wrong value of a `lenient` key costs only that key, any other wrong value the whole file. `nullable`
    keys may be null, which means not set.
    """

    kind: str = "any"  # any, boolean, string, number, int, array, object, record, enum
    nullable: bool = False
    lenient: bool = False
    values: tuple[str, ...] = ()
    least: float | None = None
    most: float | None = None
    items: Type | None = None
    keys: dict[str, Type] = {}
    required: tuple[str, ...] = ()
    also: tuple[str, ...] = ()  # other JSON types that are accepted


class Problem(msgspec.Struct, frozen=True):
    """A value that does not fit; `message` has the words of the reference."""

    path: tuple[str, ...]
    message: str


def words(text: str) -> tuple[str, ...]:
    """Names written as one text."""
    return tuple(text.split())


def enum(values: str, *, lenient: bool = False, nullable: bool = False) -> Type:
    """One of a few words."""
    return Type("enum", values=words(values), lenient=lenient, nullable=nullable)


BOOLEAN = Type("boolean")
SWITCH = Type("boolean", nullable=True)
STRING = Type("string")
STRINGS = Type("array", items=STRING)
# Entries of rule lists are judged one by one when the rules are built.
RULES = Type("array", items=Type())
DISABLE = enum("disable")
OBJECTS = Type("array", items=Type("object"))
RECORD = Type("record")
LENIENT_OBJECT = Type("object", lenient=True)
LENIENT_LIST = Type("array", lenient=True)
EFFORTS = "low medium high xhigh"
MODES = ("acceptEdits", "auto", "bypassPermissions", "default", "dontAsk", "plan")


def _group(names: str, kind: Type) -> dict[str, Type]:
    return dict.fromkeys(words(names), kind)


PERMISSIONS = Type(
    "object",
    keys={
        **_group("allow ask deny", RULES),
        **_group("disableBypassPermissionsMode disableAutoMode", DISABLE),
        **_group("blockReadsOutsideWorkingDirectories blockWritesOutsideWorkingDirectories", BOOLEAN),
        "additionalDirectories": STRINGS,
        "defaultMode": Type("enum", values=MODES),
        "denyInsteadOfPrompting": BOOLEAN,
    },
)

SANDBOX = Type(
    "object",
    keys={
        **_group(
            "enabled failIfUnavailable autoAllowBashIfSandboxed allowUnsandboxedCommands allowAppleEvents"
            " enableWeakerNestedSandbox allowNestedUserNamespaces enableWeakerNetworkIsolation",
            BOOLEAN,
        ),
        **_group("network filesystem credentials", Type("object")),
        "excludedCommands": STRINGS,
        "ignoreViolations": Type("record", items=STRINGS),
        "ripgrep": Type("object", keys={"command": STRING}, required=("command",)),
    },
)

COMMAND = Type("object", keys={"type": enum("command"), "command": STRING}, required=("type", "command"))

SCHEMA: dict[str, Type] = {
    "permissions": PERMISSIONS,
    "sandbox": SANDBOX,
    "env": RECORD,
    "hooks": Type(),  # settings_hooks.py judges these
    "fileSuggestion": COMMAND,
    "statusLine": Type(
        "object",
        keys={**COMMAND.keys, "padding": Type("number"), "hideVimModeIndicator": BOOLEAN},
        required=("type", "command"),
    ),
    "attribution": Type(
        "object", keys={"commit": STRING, "pr": STRING, "sessionUrl": BOOLEAN}, also=("boolean",)
    ),
    "worktree": Type(
        "object", keys={"symlinkDirectories": STRINGS, "sparsePaths": STRINGS, "baseRef": enum("fresh head")}
    ),
    "autoMode": Type(
        "object",
        keys={**_group("allow soft_deny hard_deny environment", STRINGS), "classifyAllShell": BOOLEAN},
    ),
    "spinnerVerbs": Type(
        "object", keys={"mode": enum("append replace"), "verbs": STRINGS}, required=("mode", "verbs")
    ),
    "voice": Type("object", keys={"enabled": BOOLEAN}),
    "remote": Type("object", keys={"defaultEnvironmentId": STRING}),
    "modelOverrides": Type("record", items=STRING),
    "skillOverrides": Type("record", items=enum("on name-only user-invocable-only off")),
    "pluginConfigs": Type("record", items=Type("object")),
    "enabledPlugins": Type("record", items=Type("boolean", also=("array",))),
    "cleanupPeriodDays": Type("int", least=1),
    "desktopSessionCleanupPeriodDays": Type("int", least=1),
    "skillListingMaxDescChars": Type("int", least=1),
    **_group("feedbackSurveyRate skillListingBudgetFraction", Type("number", least=0, most=1)),
    **_group("disableAutoMode disableDeepLinkRegistration", enum("disable", nullable=True)),
    "autoUpdatesChannel": enum("latest stable rc"),
    "daemonColdStart": enum("transient ask"),
    "defaultShell": enum("bash powershell"),
    "defaultView": enum("chat transcript"),
    "feedbackDrafts": enum("notify quiet off", nullable=True),
    "managedSourcesBehavior": enum("first-wins merge"),
    "parentSettingsBehavior": enum("first-wins merge"),
    "tui": enum("default fullscreen"),
    "workflowSizeGuideline": enum("unrestricted small medium large"),
    "timeFormat": STRING,
    "forceLoginOrgUUID": Type("string", also=("array",)),
    "promptCacheTtl": enum("5m 1h", lenient=True),
    "subagentPromptCacheTtl": enum("5m 1h", lenient=True),
    "effortLevel": enum(EFFORTS, lenient=True),
    "maxEffortLevel": enum(f"{EFFORTS} max", lenient=True),
    "agentsMd": enum("fallback both off", lenient=True),
    "viewMode": enum("default verbose focus", lenient=True),
    "ultracode": Type("boolean", lenient=True),
    "strictPluginOnlyCustomization": Type("boolean", also=("array",), lenient=True),
    **_group(
        "blockedMarketplaces strictKnownMarketplaces", Type("array", items=Type("object"), nullable=True)
    ),
    **_group("allowedChannelPlugins sshConfigs", OBJECTS),
    **_group("enabledMcpjsonServers disabledMcpjsonServers", STRINGS),
    **_group(
        "allowedHttpHookUrls availableModels claudeMdExcludes companyAnnouncements fallbackModel"
        " httpHookAllowedEnvVars pluginSuggestionMarketplaces",
        STRINGS,
    ),
    **_group(
        "advisorModel agent apiKeyHelper attributionProject autoMemoryDirectory awsAuthRefresh"
        " awsCredentialExport claudeMd gcpAuthRefresh language minimumVersion model otelHeadersHelper"
        " outputStyle plansDirectory pluginTrustMessage prUrlTemplate processWrapper proxyAuthHelper"
        " requiredMaximumVersion requiredMinimumVersion timeZone",
        STRING,
    ),
    **_group(
        "agentPushNotifEnabled allowAllClaudeAiMcps allowClaudeInChromeWithManagedMcp alwaysThinkingEnabled"
        " autoCompactEnabled autoDreamEnabled autoMemoryEnabled autoScrollEnabled bashEditDiffEnabled"
        " disableAllHooks disableReplyCheck emojiCompletionEnabled fastMode fileCheckpointingEnabled"
        " forceRemoteSettingsRefresh idleCompaction includeCoAuthoredBy includeGitInstructions"
        " inputNeededNotifEnabled precomputeCompactionEnabled prefersReducedMotion promptSuggestionEnabled"
        " respectGitignore respondToBashCommands showClearContextOnPlanAccept showMessageTimestamps"
        " showThinkingSummaries showTurnDuration spinnerTipsEnabled switchModelsOnFlag"
        " syntaxHighlightingDisabled terminalProgressBarEnabled terminalTitleFromRename todoFeatureEnabled"
        " verbose voiceEnabled wheelScrollAccelerationEnabled workflowKeywordTriggerEnabled"
        " wslInheritsWindowsSettings",
        BOOLEAN,
    ),
    **_group(
        "allowManagedHooksOnly allowManagedMcpServersOnly allowManagedPermissionRulesOnly"
        " autoContinueAtUsageLimit autoUploadSessions channelsEnabled disableAgentView disableArtifact"
        " disableBundledSkills disableClaudeAiConnectors disableCommandPluginSources disableRemoteControl"
        " disableSideloadFlags disableSkillShellExecution disableWindowsBashCommandSplit disableWorkflows"
        " enableAllProjectMcpServers enableArtifact enableWorkflows enforceAvailableModels"
        " fastModePerSessionOptIn isolatePeerMachines remoteControlAtStartup skipAutoPermissionPrompt"
        " skipDangerousModePermissionPrompt skipWebFetchPreflight syncClaudeAiPlugins syncClaudeAiSkills"
        " useAutoModeDuringPlan",
        SWITCH,
    ),
    **_group(
        "bashOutputMaxChars maxProseWidth taskOutputMaxChars autoCompactWindow", Type("number", lenient=True)
    ),
    **_group(
        "extraKnownMarketplaces modelPicker modelPricing modelSettings policyHelper spellcheck"
        " spinnerTipsOverride vimInsertModeRemaps",
        LENIENT_OBJECT,
    ),
    **_group(
        "allowedMcpServers allowedProviders appendPlugins deniedMcpServers deniedModels footerLinksRegexes"
        " gatewayInternalNetworks prependPlugins",
        LENIENT_LIST,
    ),
    **_group(
        "askUserQuestionTimeout attributionProjectPolicy availableModelsMatch crossSessionInbound"
        " dialogExpiry editorMode forceLoginGatewayUrl forceLoginMethod keybindingFlavor"
        " preferredNotifChannel teammateMode theme",
        Type("string", lenient=True),
    ),
    **_group("managedMcpServers subagentStatusLine sshHostCommands", Type()),
}

_KIND_OF = {bool: "boolean", str: "string", int: "number", float: "number", list: "array", dict: "object"}


def json_type(value: Any) -> str:
    """The JSON name of a value's type."""
    return "null" if value is None else _KIND_OF.get(type(value), type(value).__name__)


def check(data: dict[str, Any]) -> list[Problem]:
    """Everything in a settings object that does not fit the table; only keys that are present cost time."""
    problems: list[Problem] = []
    for key, value in data.items():
        wanted = SCHEMA.get(key)
        if wanted is not None:
            _check(value, wanted, (key,), problems)
    return problems


def check_value(value: Any, wanted: Type, path: tuple[str, ...]) -> list[Problem]:
    """Everything in one value that does not fit its type."""
    problems: list[Problem] = []
    _check(value, wanted, path, problems)
    return problems


def _check(value: Any, wanted: Type, path: tuple[str, ...], problems: list[Problem]) -> None:
    kind = json_type(value)
    if (wanted.nullable and value is None) or kind in wanted.also or wanted.kind == "any":
        return
    message = _mismatch(value, kind, wanted)
    if message:
        problems.append(Problem(path, message))
    elif kind == "object":
        _check_members(value, wanted, path, problems)
    elif wanted.items is not None:
        for index, item in enumerate(value):
            _check(item, wanted.items, (*path, str(index)), problems)


def _check_members(
    value: dict[str, Any], wanted: Type, path: tuple[str, ...], problems: list[Problem]
) -> None:
    for name in wanted.required:
        if name not in value:
            problems.append(Problem((*path, name), _missing(wanted.keys[name])))
    for name, item in value.items():
        member = wanted.keys.get(name) or wanted.items
        if member is not None:
            _check(item, member, (*path, name), problems)


def _mismatch(value: Any, kind: str, wanted: Type) -> str:
    if wanted.kind == "enum":
        return "" if value in wanted.values else _one_of(wanted)
    if wanted.kind in ("number", "int"):
        return _number_mismatch(value, kind, wanted)
    if kind == wanted.kind or (kind == "object" and wanted.kind == "record"):
        return ""
    if wanted.also:
        return f"Expected {wanted.kind} or {', '.join(wanted.also)}, but received {kind}"
    return f"Expected {wanted.kind}, but received {kind}"


def _number_mismatch(value: Any, kind: str, wanted: Type) -> str:
    if kind != "number":
        return f"Expected number, but received {kind}"
    if wanted.kind == "int" and value != int(value):
        return "Expected int, but received number"
    if wanted.least is not None and value < wanted.least:
        return f"Number must be greater than or equal to {wanted.least:g}"
    if wanted.most is not None and value > wanted.most:
        return f"Too big: expected number to be <={wanted.most:g}"
    return ""


def _one_of(wanted: Type) -> str:
    return "Invalid value. Expected one of: " + ", ".join(f'"{value}"' for value in wanted.values)


def _missing(wanted: Type) -> str:
    return _one_of(wanted) if wanted.kind == "enum" else f"Expected {wanted.kind}, but received undefined"
