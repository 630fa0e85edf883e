"""The compatibility manifest: every requirement the project has taken on, one row each.

A row reads `id state source area: summary`, with an optional `// reason` where Forge does something else on
purpose. `done` rows need a test marked `@pytest.mark.requirement(id)`; `planned` rows must not have one.
Sources: observed (seen in the running reference program), documented, decided (our own choice).
"""

from __future__ import annotations

from typing import NamedTuple

GROUPS = {
    "S0": "Living beside Claude Code",
    "S1": "Plugins, hooks and the session around them",
    "S2": "forgecmd, the guarded shell",
    "S3": "diffy, the hunk review",
    "S4": "The reference CLI as a model provider",
}


class Row(NamedTuple):
    id: str
    state: str
    source: str
    area: str
    summary: str
    divergence: str = ""


TABLE = """
S0-01 done documented extensions: plugins and skills written for Claude Code run without an edit
S0-02 done documented settings: Forge's own files live beside compatible ones and leave those untouched
S0-03 done decided architecture: four layers, imports only point downwards
S0-04 done documented registry: tools and other components come and go while a session runs
S0-05 done observed settings: settings.json survives a change of one key with everything else as it was
S0-06 done documented extensions: SKILL.md is read and written back, unknown keys included
S0-07 done documented hooks: hooks.json is read and written back
S0-08 done documented extensions: plugin.json is read and written back
S0-09 done documented mcp: .mcp.json is read and written back
S0-10 done documented memory: CLAUDE.md reaches the model; writing keeps the user's text
S0-11 done observed conformance: each file format makes the round trip through both programs
S0-12 done decided extensions: WebAssembly plugins run without file or network access unless granted
S0-13 done documented mcp: servers over stdio, HTTP and the older SSE transport
S0-14 done documented extensions: plugin scripts in Node.js run as child processes
S0-15 done documented extensions: all front-matter keys of a skill are understood
S0-16 done decided extensions: allowed-tools may be a comma text or a list
S0-17 done decided extensions: argument-hint may be a text or a list
S0-18 done observed extensions: a skill without a name is called like its directory
S0-19 done documented extensions: a forked skill runs in a subagent of the named kind
S0-20 done documented extensions: a skill may ask for its own model
S0-21 done documented extensions: skills only for the user, or only for the model
S0-22 done observed extensions: $ARGUMENTS becomes what the user typed after the command
S0-23 done documented extensions: the body of a skill is its instruction
S0-24 done observed hooks: hooks in a skill live while it runs // without a fork to the end of the session
S0-25 done documented hooks: relative commands in skill hooks start in the skill's directory
S0-26 done documented extensions: each skill knows the file and the kind of source it came from
S0-27 done observed extensions: skills are looked up managed first, then user, project, plugin
S0-28 done observed extensions: of two skills with one name the right one is loaded
S0-29 done documented hooks: the nested hooks object of settings files is parsed
S0-30 done observed hooks: all hook events of the reference fire // 33, not 12; TeammateIdle waits for teams
S0-31 done observed hooks: matchers are a tool name, a star, an alternative or a regular expression
S0-32 done documented hooks: command hooks with timeout and background mode
S0-33 done documented hooks: a hook without a timeout gets the documented default
S0-34 done documented hooks: prompt hooks ask a model once
S0-35 done documented hooks: agent hooks may take several turns with tools
S0-36 done observed hooks: a hook may allow, deny, ask, change the input or add context
S0-37 done observed hooks: JSON goes in on stdin and comes back on stdout
S0-38 done observed hooks: the input carries the reference's field names
S0-39 done decided hooks: project and plugin directories are environment variables, in both families
S0-40 done documented hooks: blocking, allowing, changing and timing out are each tested
S0-41 done documented extensions: all fields of a plugin manifest are parsed
S0-42 done documented extensions: an odd version text does not stop a plugin
S0-43 done decided extensions: provenance texts show claude.NAME // the key is NAME@SOURCE
S0-44 done documented extensions: paths in a manifest cannot leave the plugin
S0-45 done documented extensions: language servers of plugins are started
S0-46 done observed settings: later files win: user, project, local, in each of the three dialects
S0-47 done documented settings: missing files are no error; the local file is kept out of git
S0-48 done documented mcp: server entries by command or by type and address
S0-49 done documented mcp: servers of an enabled plugin start by themselves
S0-50 done documented mcp: variables in server entries are replaced
S0-51 done observed extensions: everything below .claude is loaded // hooks/hooks.json too, with a note
S0-52 done decided extensions: .forgecode directories are read
S0-53 done decided extensions: plugins inside a project are offered once the workspace is trusted
S0-54 done documented marketplace: marketplaces can be added, listed, updated and removed
S0-55 done documented marketplace: plugins install from git, archives and packages at a fixed version
S0-56 done documented conformance: public plugins and skills are part of the tests
S1-01 done documented extensions: manifest fields in camelCase, unknown ones ignored
S1-02 done documented extensions: a plugin without a name is called like its directory
S1-03 done documented extensions: an author is a text or an object
S1-04 done documented extensions: component paths are one text or a list
S1-05 done documented extensions: hooks of a manifest are a path, an object or both
S1-06 done documented extensions: broken JSON is reported with file and position
S1-07 done documented extensions: the list of plugins shows where each came from
S1-08 done documented extensions: a loaded plugin has absolute paths, its servers and its hooks
S1-09 done decided extensions: user and project plugin directories are independent
S1-10 done decided extensions: four scan roots, the last one wins
S1-11 done decided extensions: scan roots are read in a fixed order // in parallel it would cost more
S1-12 done documented extensions: three places for a manifest, tried in order
S1-13 done documented extensions: components are found in their usual directories
S1-14 done documented mcp: a manifest's servers win over the .mcp.json beside it
S1-15 done documented extensions: a project's copy of a plugin hides the user's
S1-16 done documented extensions: plugins are switched on and off in settings
S1-17 done documented extensions: a broken plugin is skipped; an unreadable root is an error
S1-18 done documented extensions: discovery returns its errors as data
S1-19 done documented extensions: the cached loader can be invalidated and is safe under concurrency
S1-20 done documented extensions: a folder copied out of the reference program works
S1-21 done documented extensions: skills, commands and agents share one loader with provenance
S1-22 done documented extensions: skill keys are accepted with dashes and underscores
S1-23 done documented extensions: one list holds all the user can invoke
S1-24 done documented extensions: the model gets the skill catalogue once, then only changes
S1-25 done documented extensions: equal names in two plugins do not collide
S1-26 done documented hooks: kinds command, http, prompt and agent // and mcp_tool as in the reference
S1-27 done observed hooks: user, project and plugin hooks add up in this order
S1-28 done documented hooks: the same hook from two places runs once
S1-29 done documented hooks: an agent hook ends after fifty turns
S1-30 done documented hooks: http hooks post their input and read the answer like stdout
S1-31 done documented hooks: background hooks never delay a turn
S1-32 done documented hooks: hooks added in a session go with it and share its environment
S1-33 done documented hooks: "once" counts successes, not attempts
S1-34 done documented hooks: stdin is closed after the input
S1-35 done documented hooks: a hook that never reads its input is no error
S1-36 done documented hooks: a timeout ends the whole process group and the turn goes on
S1-37 done documented hooks: a hook that cannot start is reported and does not block
S1-38 done documented hooks: a plugin's hook needs the plugin's directory
S1-39 done observed hooks: exit 0 is fine, 2 blocks, anything else is only reported
S1-40 done observed hooks: session, project and plugin variables in both families
S1-41 done documented hooks: plugin options are filled into commands
S1-42 done decided hooks: several hooks on one event all run; the strictest decision wins
S1-43 done observed hooks: common fields of every input
S1-44 done observed hooks: each event can be triggered // those of the reference; TeammateIdle waits for teams
S1-45 done observed hooks: tool events carry call, result and duration
S1-46 done observed hooks: prompt, session, stop and compaction events carry their fields
S1-47 done observed hooks: notification, setup, subagent and file events carry their fields
S1-48 done documented hooks: each event has its own matcher field
S1-49 done observed hooks: lines a hook writes to the env file reach later shell commands
S1-50 done documented hooks: the core events fire in order in a scripted session
S1-51 done documented hooks: SessionStart may inject a first message
S1-52 done documented hooks: PreToolUse may block, change input and add context
S1-53 done observed hooks: a Stop hook can send the model back to work
S1-54 done documented hooks: StopFailure fires when a turn ends in an error
S1-55 done documented compaction: hooks run before and after a compaction
S1-56 done observed tasks: a resting list is mentioned to the model // with results and prompts, never alone
S1-57 planned documented terminal: a notification precedes each wait for input
S1-58 planned documented terminal: a successful login notifies
S1-59 done documented terminal: the bell rings only on real terminals
S1-60 done documented hooks: notifications cannot block
S1-61 done documented hooks: flags that run set-up and maintenance hooks
S1-62 done documented hooks: set-up hooks run before the prompt and cannot stop it
S1-63 done documented hooks: --init-only ends without a prompt
S1-64 done documented watching: many writes within a second are one event
S1-65 done documented watching: our own writes cause no event
S1-66 done documented watching: replacing a file is a change, not a removal
S1-67 done documented watching: a path rests after an event
S1-68 done documented watching: links are followed for look-up
S1-69 done documented watching: a changed file is assigned to its settings source
S1-70 done documented watching: configuration and plugin directories are watched if they exist
S1-71 done documented hooks: ConfigChange tells source and file // can block, as in the reference
S1-72 done documented watching: a broken watcher does not stop the program
S1-73 done documented watching: every write of ours is announced to the watcher
S1-74 done observed memory: kinds of instruction files and reasons for loading them
S1-75 done documented memory: instruction files from home, repository and directory, in this order
S1-76 done documented memory: front matter with paths and includes
S1-77 done documented memory: an event per loaded instruction file
S1-78 done decided memory: managed instructions come first and stay
S1-79 done observed memory: local instruction files under both names
S1-80 done documented memory: instructions of a subdirectory load when it is first touched
S1-81 done documented memory: rules for certain paths load with those paths
S1-82 done documented memory: includes nest and cycles end
S1-83 done documented compaction: instructions are loaded again after a compaction
S1-84 done documented memory: directories of rules
S1-85 done documented subagents: SubagentStart fires before the child's first request
S1-86 done observed subagents: a blocked subagent costs no request // PreToolUse may block, SubagentStart not
S1-87 done documented subagents: context from hooks precedes the task
S1-88 done observed subagents: hooks hear of the end however the child ends // of an API error by StopFailure
S1-89 done observed subagents: a SubagentStop hook can keep the child working
S1-90 done documented subagents: events inside a child name it
S1-91 done documented subagents: contexts of several hooks add up
S1-92 done observed hooks: answers to PermissionRequest in both spellings
S1-93 done decided hooks: permission answers merge // PreToolUse: the strictest; PermissionRequest: the first
S1-94 done documented hooks: nothing of one event leaks into the next
S1-95 done observed hooks: PermissionRequest comes with suggestions
S1-96 done documented hooks: a retry asks once more and no further
S1-97 done documented hooks: a hook may interrupt the session
S1-98 done documented hooks: permission updates of a hook are remembered
S1-99 done documented hooks: block, allow and ask of a hook meet the rules in the right order
S1-100 done documented hooks: PermissionDenied observes and decides nothing
S1-101 done documented hooks: permission events carry the real call id and reason
S1-102 done documented watching: files added, changed and removed
S1-103 done documented watching: file and configuration watching share their timing
S1-104 done documented watching: the list of watched files is parsed
S1-105 done documented watching: files added later need not exist yet
S1-106 done documented hooks: FileChanged tells path and kind, and only observes
S1-107 done documented watching: SessionStart may add paths to watch
S1-108 done documented watching: FileChanged may add paths to watch
S1-109 done observed hooks: CwdChanged fires when the shell changes directory
S1-110 done documented worktrees: a flag creates or reuses a git worktree
S1-111 done documented worktrees: worktree code never writes to stdout
S1-112 done documented worktrees: a hook may refuse or replace the creation
S1-113 done documented worktrees: of several answers one path counts // the first configured, as observed
S1-114 done observed worktrees: tools to enter and leave a worktree
S1-115 done documented worktrees: removal with its hook
S1-116 done documented elicitation: a server's question and the three answers to it
S1-117 done observed elicitation: the ability is announced on every transport
S1-118 done documented elicitation: a hook may answer before the user is asked
S1-119 done documented elicitation: the result event fires on every path // not if a hook has answered
S1-120 done documented elicitation: failures become a cancel, never a crash
S1-121 planned documented elicitation: address mode opens the browser and asks
S1-122 planned documented elicitation: form mode asks one question per property
S1-123 planned documented elicitation: complete JSON-Schema forms
S1-124 planned documented elicitation: address mode can complete by itself
S1-125 planned documented elicitation: both modes are tested on a terminal
S1-126 done documented extensions: slash commands list, switch, show, reload and install plugins
S1-127 done documented extensions: install paths with spaces; usage text without one
S1-128 done documented extensions: installing checks, asks, copies and registers as disabled
S1-129 done documented extensions: forge plugin offers the same verbs
S1-130 done documented terminal: the zsh integration knows :plugin
S1-131 done documented terminal: completion of verbs and plugin names
S1-132 done documented extensions: reload refreshes everything in a fixed order
S1-133 done observed mcp: a plugin's servers are named after it
S1-134 done documented mcp: three shapes of .mcp.json
S1-135 done documented conformance: a formatter plugin runs after edits only
S1-136 done documented conformance: a logging plugin sees each command
S1-137 done documented conformance: a guard plugin blocks a removal
S1-138 done documented conformance: a plugin of skills
S1-139 done documented conformance: a plugin of commands
S1-140 done documented conformance: a plugin with an agent
S1-141 done documented conformance: a plugin with all kinds of parts
S1-142 done documented conformance: a plugin that watches configuration
S1-143 done documented conformance: discovery of the example plugins
S1-144 done documented conformance: several plugins together, and broken ones
S1-145 done documented speed: twenty plugins are discovered in 200 ms
S1-146 done documented speed: ten empty hooks take less than half a second
S1-147 done documented speed: file changes are noticed within half a second
S1-148 done documented speed: one configuration event per window
S1-149 done documented conformance: no plugin test is skipped and the suite repeats
S1-150 done documented documentation: plugins, hooks and moving over from Claude Code are documented
S1-151 done decided architecture: hosts hear of compactions by internal events // our own, not the original's
S1-152 done documented memory: costly mistakes become instruction rules // by a plugin, plugins/learnings
S2-01 done documented forgecmd: a shell tool of its own for the model
S2-02 done documented forgecmd: interactive programs work through a terminal
S2-03 done documented forgecmd: dangerous commands are blocked, others approved by the user
S2-04 done documented forgecmd: commands and their output are recorded
S2-05 done documented forgecmd: the environment is filtered, paths are limited
S2-06 planned documented forgecmd: Linux, macOS and Windows
S2-07 done documented forgecmd: 24 by 80 by default, resizable
S2-08 done documented forgecmd: large output cannot block input
S2-09 done documented forgecmd: colours for people, plain text for the model
S2-10 done documented forgecmd: the keyboard can be handed to the running program
S2-11 done documented forgecmd: pipes when there is no terminal
S2-12 done observed shell: each command runs in a fresh process; exit code and directory are reported
S2-13 done documented forgecmd: terminal work never holds up the agent
S2-14 done documented forgecmd: sessions start, write, read, resize, wait and end with their children
S2-15 done observed forgecmd: rules for commands in the reference's notation
S2-16 done decided forgecmd: order of rules // forbidden, deny, ask, allow, risk, user
S2-17 done documented forgecmd: a decision can be traced through its stages
S2-18 done documented forgecmd: allow, allow for the session, ask, deny with a reason
S2-19 done documented forgecmd: rules and thresholds in settings
S2-20 done documented forgecmd: four thresholds of risk
S2-21 done documented forgecmd: patterns by prefix, suffix, expression and pipe
S2-22 done documented forgecmd: the initial rules
S2-23 done documented forgecmd: five classes of risk
S2-24 done documented forgecmd: commands that are always blocked
S2-25 done documented forgecmd: safe relatives of blocked commands pass
S2-26 done decided forgecmd: categories are labels // the score decides
S2-27 done decided forgecmd: compound commands are judged by their worst part
S2-28 done documented forgecmd: three permissions with their default risk
S2-29 done documented forgecmd: three errors, one of them carries the question
S2-30 done documented forgecmd: the foundation's list of dangerous commands is extended
S2-31 done documented forgecmd: an unknown permission asks the user
S2-32 done documented forgecmd: the history table
S2-33 done documented forgecmd: how and how long a command was permitted is recorded
S2-34 done decided forgecmd: long output is cut and marked
S2-35 done decided forgecmd: secrets stay out of the history
S2-36 done documented forgecmd: commands appear in the common tool log
S2-37 done documented forgecmd: statistics of a session
S2-38 done documented forgecmd: stored output may be compressed
S2-39 done documented forgecmd: filtered environment and directory limit
S2-40 done documented forgecmd: sandboxing by the operating system
S2-41 done documented forgecmd: the tool's three parameters
S2-42 done documented forgecmd: automatic approval never skips the forbidden list
S2-43 done documented forgecmd: one combined output, failures as tool errors
S2-44 done documented forgecmd: one shared shell, calls in sequence
S2-45 done documented forgecmd: a library interface
S2-46 done documented forgecmd: can be switched off
S2-47 done documented forgecmd: tests for each part
S3-01 done observed diffy: a Stop hook's complaint makes the agent go on
S3-02 done documented diffy: the command line of the hook mode
S3-03 done documented diffy: changes are accepted or rejected hunk by hunk, with comments
S3-04 done documented diffy: all accepted changes nothing
S3-05 done documented diffy: rejected hunks are reverted and reported
S3-06 done documented diffy: as many rounds as the user wants
S3-07 done documented diffy: the screen uses the controlling terminal only
S3-08 done documented diffy: the terminal is given back, even after a crash
S3-09 done decided diffy: without a terminal it ends at once
S3-10 done observed diffy: set-up example // the event is called Stop; other spellings warn
S3-11 done documented diffy: quiet when there is nothing to review
S3-12 done documented diffy: available as a plugin
S3-13 done documented diffy: the layout of the feedback
S3-14 done documented diffy: feedback is plain text
S3-15 done documented diffy: long feedback is cut at a hunk
S3-16 done documented diffy: exit codes
S3-17 done documented diffy: a backup is made before reverting // raw copies: git stash loses new files
S3-18 done documented diffy: only rejected hunks are reverted, all or nothing // spliced: git apply errs
S3-19 done documented diffy: the last revert can be undone
S3-20 done decided diffy: ten backups are kept
S3-21 done documented diffy: without --apply it only reports
S3-22 done decided diffy: its directory stays out of git
S4-01 done documented cli provider: models of the installed CLI are offered
S4-02 done documented cli provider: only when the program is there
S4-03 done documented cli provider: other providers do not notice
S4-04 done documented cli provider: no vendor SDK is needed
S4-05 done observed cli provider: how the program is started
S4-06 done documented cli provider: an abort ends it at once
S4-07 done observed cli provider: when a run counts as a success
S4-08 done documented cli provider: its stderr is part of the message
S4-09 done documented cli provider: a missing result line ends safely
S4-10 done documented cli provider: unreadable lines are skipped up to a limit
S4-11 done documented cli provider: a program that cannot run is explained
S4-12 done documented cli provider: growing text becomes deltas
S4-13 done documented cli provider: text that shrinks starts again
S4-14 done observed cli provider: cost and tokens from the result
S4-15 done documented cli provider: each step has a beginning and an end
S4-16 done documented cli provider: kinds of parts
S4-17 done documented cli provider: unknown output does not break it
S4-18 done documented cli provider: tool calls and results are shown
S4-19 done documented cli provider: thinking, usage, errors and subagents as in other providers
"""


def read(table: str) -> list[Row]:
    """The rows of a manifest; a line that is not one is an error."""
    rows = []
    for line in table.strip().splitlines():
        head, _, text = line.partition(": ")
        identifier, state, source, area = head.split(" ", 3)
        summary, _, divergence = text.partition(" // ")
        rows.append(Row(identifier, state, source, area, summary, divergence))
    return rows


ROWS = read(TABLE)
