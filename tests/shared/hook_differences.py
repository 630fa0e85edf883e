"""Recorded hook cases in which Forge does something else than the reference, and why."""

# Also in loose mode.
DECIDED = {
    "pr_updated_permissions_local": "Forge writes local settings to .forge/settings.local.json",
}

HAND_BACK = "the report of a sub-agent is introduced in Forge's own words"

# Only in strict mode, which compares every word.
WORDS = {
    "sub_start_context": HAND_BACK,
    "sub_start_exit2": HAND_BACK,
    "sub_start_matcher": HAND_BACK,
    "sub_stop_exit2": HAND_BACK,
    "sub_pre_deny": HAND_BACK,
    "sub_order": HAND_BACK,
    "sub_matcher_alias": HAND_BACK,
    "postfail_mcp": "how to load the schema of a tool is explained in Forge's own words",
}

# Whether the hook of the last call still starts before the session ends depends on how busy the machine is.
RACE = "async_context"
RACE_LOST = 'hooks_fired: want ["a:PostToolUse"], got ["a:PostToolUse", "a:PostToolUse"]'
