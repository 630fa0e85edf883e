# Starts forgecmd: the installed one, else that of the checkout this plugin lies in.
# A guard that cannot be found asks about every command instead of letting everything pass.
if command -v forgecmd >/dev/null 2>&1; then
  exec forgecmd "$@"
fi
own="${0%/*}/../../../.venv/bin/forgecmd"
if [ -x "$own" ]; then
  exec "$own" "$@"
fi
if [ "$1" = hook ]; then
  printf '%s\n' '{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"ask","permissionDecisionReason":"forgecmd is not installed, so nobody has judged this command. Install it (pip install forgecode), or disable the forgecmd plugin."}}'
  exit 0
fi
echo 'forgecmd is not installed: pip install forgecode' >&2
exit 127
