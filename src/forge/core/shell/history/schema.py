"""The tables of the command history, oldest version first."""

from __future__ import annotations

_FIRST = """
CREATE TABLE sessions (
    id TEXT PRIMARY KEY,
    started_at INTEGER NOT NULL,
    cwd TEXT NOT NULL DEFAULT ''
);
CREATE TABLE forgecmd_history (
    id INTEGER PRIMARY KEY,
    session_id TEXT NOT NULL REFERENCES sessions(id) ON DELETE CASCADE,
    pty_session_id TEXT,
    command TEXT NOT NULL,
    cwd TEXT NOT NULL,
    started_at INTEGER NOT NULL,
    ended_at INTEGER,
    duration_ms INTEGER,
    exit_code INTEGER,
    stdout BLOB,
    stderr BLOB,
    stdout_bytes INTEGER NOT NULL DEFAULT 0,
    stderr_bytes INTEGER NOT NULL DEFAULT 0,
    stdout_tail TEXT NOT NULL DEFAULT '',
    output_truncated INTEGER NOT NULL DEFAULT 0,
    output_path TEXT NOT NULL DEFAULT '',
    permission_status TEXT NOT NULL CHECK (permission_status IN ('granted', 'denied', 'auto_approved')),
    permission_scope TEXT CHECK (permission_scope IN ('once', 'session', 'permanent')),
    risk_score INTEGER NOT NULL,
    category TEXT NOT NULL DEFAULT '',
    decision TEXT NOT NULL DEFAULT '',
    reasons TEXT NOT NULL DEFAULT '[]',
    profile TEXT NOT NULL DEFAULT '',
    agent TEXT NOT NULL DEFAULT '',
    call_id TEXT NOT NULL DEFAULT '',
    status TEXT NOT NULL DEFAULT 'pending'
        CHECK (status IN ('pending', 'success', 'error', 'timeout', 'cancelled', 'denied')),
    error TEXT NOT NULL DEFAULT '',
    command_hash TEXT NOT NULL,
    env_snapshot TEXT NOT NULL DEFAULT '{}'
);
CREATE INDEX forgecmd_history_session ON forgecmd_history (session_id, started_at);
CREATE INDEX forgecmd_history_command ON forgecmd_history (command);
CREATE INDEX forgecmd_history_started ON forgecmd_history (started_at);
CREATE VIRTUAL TABLE forgecmd_words USING fts5(
    command, content='forgecmd_history', content_rowid='id', tokenize='unicode61'
);
CREATE TRIGGER forgecmd_words_added AFTER INSERT ON forgecmd_history BEGIN
    INSERT INTO forgecmd_words (rowid, command) VALUES (new.id, new.command);
END;
CREATE TRIGGER forgecmd_words_removed AFTER DELETE ON forgecmd_history BEGIN
    INSERT INTO forgecmd_words (forgecmd_words, rowid, command) VALUES ('delete', old.id, old.command);
END;
CREATE VIEW forgecmd_history_text AS
SELECT id, session_id, pty_session_id, command, cwd,
    strftime('%Y-%m-%dT%H:%M:%fZ', started_at / 1e6, 'unixepoch') AS started_at,
    strftime('%Y-%m-%dT%H:%M:%fZ', ended_at / 1e6, 'unixepoch') AS ended_at,
    duration_ms, exit_code, output_truncated, permission_status, permission_scope, risk_score, env_snapshot
FROM forgecmd_history;
CREATE VIEW tool_log AS
SELECT id, session_id, 'forgecmd' AS tool_name, call_id,
    json_object('command', command, 'working_dir', cwd) AS input, stdout_tail AS output, status, error,
    duration_ms, started_at, ended_at
FROM forgecmd_history;
"""

MIGRATIONS = (_FIRST,)
