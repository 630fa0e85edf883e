"""Recorded hook cases in which Forge does something else than the reference, and why.

`LATER` wait for a part of Forge that does not exist yet; the others differ in words or by decision.
"""

MCP = "needs MCP servers"

LATER = {
    "matcher_mcp": MCP,
    "post_updated_mcp": MCP,
    "postfail_mcp": MCP,
    "mcp_tool_deny": MCP,
    "elicitation_none": MCP,
    "elicitation_accept": MCP,
}

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
    "post_block_old_model": "the reference tells older models a token budget that Forge does not have",
}
