// A program that uses the official Agent SDK for TypeScript: plays every scenario, prints what it saw.
// SDK_MODULE names the module; the plan has the CLI and per scenario the directory, home and model address.
import { existsSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { play } from './playing.mjs';

const { query, createSdkMcpServer, getSessionMessages, InMemorySessionStore, listSessions, tool } = await import(
  process.env.SDK_MODULE
);
const { z } = createRequire(process.env.SDK_MODULE)('zod');
const plan = JSON.parse(readFileSync(process.argv[2], 'utf8'));
const PIXEL = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const SCHEMA = { type: 'object', properties: { name: { type: 'string' }, n: { type: 'integer' } } };

function options(place, more = {}) {
  const { env, ...rest } = more;
  const own = { HOME: place.home, ANTHROPIC_BASE_URL: place.url, ANTHROPIC_API_KEY: 'dummy' };
  return {
    pathToClaudeCodeExecutable: plan.cli,
    cwd: place.cwd,
    model: 'claude-sonnet-4-5',
    env: { ...process.env, ...own, ...env },
    ...rest,
  };
}

async function ask(prompt, wanted) {
  const seen = [];
  for await (const message of query({ prompt, options: wanted })) seen.push(message);
  return seen;
}

async function failing(prompt, wanted) {
  const seen = [];
  try {
    for await (const message of query({ prompt, options: wanted })) seen.push(message);
  } catch (error) {
    return { seen, failed: true, words: error.message };
  }
  return { seen, failed: false, words: '' };
}

const user = (content) => ({
  type: 'user',
  message: { role: 'user', content },
  parent_tool_use_id: null,
  session_id: '',
});
async function* said(...contents) {
  for (const content of contents) yield user(content);
}

// A host that says the next thing when the turn before is over.
function conversation(wanted) {
  const waiting = [];
  let wake = () => {};
  let closed = false;
  async function* prompts() {
    while (true) {
      while (waiting.length) yield user(waiting.shift());
      if (closed) return;
      await new Promise((resolve) => { wake = resolve; });
    }
  }
  const running = query({ prompt: prompts(), options: wanted });
  return {
    running,
    say(content) { waiting.push(content); wake(); },
    close() { closed = true; wake(); },
    async turn(each = async () => {}) {
      const seen = [];
      while (true) {
        const { value, done } = await running.next();
        if (done) return seen;
        seen.push(value);
        await each(value);
        if (value.type === 'result') return seen;
      }
    },
  };
}

const kind = (m) => (m.type === 'system' ? m.subtype : m.type);
const ended = (seen) => seen.filter((m) => m.type === 'result').at(-1);
const begun = (seen) => seen.find((m) => m.subtype === 'init');
const toolResults = (seen) =>
  seen
    .filter((m) => m.type === 'user' && Array.isArray(m.message.content))
    .flatMap((m) => m.message.content.filter((b) => b.type === 'tool_result'))
    .map((b) => [b.is_error ?? null, b.content]);
const errors = (seen) => toolResults(seen).map(([error]) => error);
const files = (place) => readdirSync(place.cwd).filter((n) => !n.startsWith('.')).sort();
const refusedWith = (promise) => promise.then(() => '', (error) => error.message);

const scenarios = {
  async query(p) {
    const seen = await ask('hi', options(p));
    return {
      kinds: seen.map(kind),
      result: ended(seen).result,
      text: seen.filter((m) => m.type === 'assistant').flatMap((m) => m.message.content.map((b) => b.text)),
      'one session': begun(seen).session_id === ended(seen).session_id,
      cwd: begun(seen).cwd === p.cwd,
    };
  },
  async stream(p) {
    const seen = await ask(said('m1', [{ type: 'text', text: 'm2' }]), options(p));
    return { results: seen.filter((m) => m.type === 'result').map((m) => m.result) };
  },
  async turns(p) {
    const c = conversation(options(p));
    c.say('q1');
    const seen = await c.turn();
    await c.running.setPermissionMode('acceptEdits');
    c.say('q2');
    seen.push(...(await c.turn()));
    await c.running.setModel('claude-haiku-4-5');
    c.say('q3');
    seen.push(...(await c.turn()));
    const info = await c.running.initializationResult();
    c.close();
    const inits = seen.filter((m) => m.subtype === 'init');
    return {
      results: seen.filter((m) => m.type === 'result').map((m) => m.result),
      modes: inits.map((m) => m.permissionMode),
      models: inits.map((m) => m.model),
      sessions: new Set(inits.map((m) => m.session_id)).size,
      info: ['account', 'agents', 'commands', 'models', 'output_style'].filter((k) => k in info),
    };
  },
  async permission(p) {
    const asked = [];
    const canUseTool = async (tool, input, { suggestions }) => {
      asked.push([tool, input.command, suggestions.map((s) => s.type)]);
      const name = input.command.split(' ').at(-1);
      if (name === 'a.txt') return { behavior: 'allow', updatedInput: { command: 'touch changed.txt' } };
      if (name === 'b.txt') return { behavior: 'deny', message: 'not this one' };
      const rules = [{ toolName: 'Bash', ruleContent: 'touch *' }];
      const update = { type: 'addRules', rules, behavior: 'allow', destination: 'session' };
      return { behavior: 'allow', updatedInput: input, updatedPermissions: [update] };
    };
    const env = { CLAUDE_CODE_EMIT_SESSION_STATE_EVENTS: '1' };
    const seen = await ask('go', options(p, { canUseTool, env }));
    return {
      asked,
      results: toolResults(seen),
      files: files(p),
      denials: ended(seen).permission_denials.map((d) => d.tool_input),
      states: seen.filter((m) => m.subtype === 'session_state_changed').map((m) => m.state),
    };
  },
  async refusal(p) {
    const canUseTool = async () => ({ behavior: 'deny', message: 'stop it', interrupt: true });
    const end = await failing('go', options(p, { canUseTool }));
    return { subtype: ended(end.seen).subtype, files: files(p), failed: end.failed };
  },
  async raising(p) {
    const canUseTool = async () => { throw new Error('boom'); };
    return { results: toolResults(await ask('go', options(p, { canUseTool }))) };
  },
  async stop_tool(p) {
    const c = conversation(options(p, { allowedTools: ['Bash'] }));
    c.say('go');
    const first = c.turn();
    while (!existsSync(join(p.cwd, 'started'))) await sleep(20);
    await c.running.interrupt();
    const seen = await first;
    c.say('again');
    const next = ended(await c.turn()).result;
    c.close();
    return { subtype: ended(seen).subtype, errors: errors(seen), next };
  },
  async stop_stream(p) {
    const c = conversation(options(p, { includePartialMessages: true }));
    c.say('go');
    let stopped;
    const seen = await c.turn(async (m) => {
      if (m.event?.type === 'content_block_delta') stopped ??= c.running.interrupt();
    });
    await stopped;
    c.say('again');
    const next = ended(await c.turn()).result;
    c.close();
    return { subtype: ended(seen).subtype, next };
  },
  async partial(p) {
    const seen = await ask('hi', options(p, { includePartialMessages: true }));
    const deltas = seen.filter((m) => m.event?.type === 'content_block_delta').map((m) => m.event.delta.text);
    return { text: deltas.join(''), several: deltas.length > 1, result: ended(seen).result };
  },
  async structured(p) {
    const outputFormat = { type: 'json_schema', schema: SCHEMA };
    return { value: ended(await ask('go', options(p, { outputFormat }))).structured_output };
  },
  async past(p) {
    const first = ended(await ask('q1', options(p))).session_id;
    const second = ended(await ask('q2', options(p, { resume: first })));
    const third = ended(await ask('q3', options(p, { resume: first, forkSession: true })));
    const fourth = ended(await ask('q4', options(p, { continue: true, forkSession: true })));
    return {
      results: [second.result, third.result],
      same: second.session_id === first,
      forked: third.session_id !== first,
      continued: ![first, third.session_id].includes(fourth.session_id),
    };
  },
  async own_id(p) {
    const sessionId = 'aaaaaaaa-0000-4000-8000-00000000000a';
    return { kept: ended(await ask('q', options(p, { sessionId }))).session_id === sessionId };
  },
  async agents(p) {
    const tester = { description: 'Runs tests', prompt: 'Run the tests.', tools: ['Read'], model: 'haiku' };
    const agents = { tester };
    const seen = await ask('go', options(p, { agents }));
    return {
      result: ended(seen).result,
      known: begun(seen).agents.includes('tester'),
      inner: seen.some((m) => m.parent_tool_use_id),
      told: seen.map(kind).filter((k) => k === 'task_started'),
    };
  },
  async no_sources(p) {
    return { errors: errors(await ask('go', options(p, { settingSources: [], allowedTools: ['Bash'] }))) };
  },
  async sources(p) {
    const wanted = { settingSources: ['project'], allowedTools: ['Bash'] };
    return { errors: errors(await ask('go', options(p, wanted))) };
  },
  async prompt_text(p) {
    return { result: ended(await ask('go', options(p, { systemPrompt: 'You are a pirate.' }))).result };
  },
  async prompt_preset(p) {
    const systemPrompt = { type: 'preset', preset: 'claude_code', append: 'Be brief as a pirate.' };
    return { result: ended(await ask('go', options(p, { systemPrompt }))).result };
  },
  async prompt_file(p) {
    const file = join(p.other, 'prompt.md');
    writeFileSync(file, 'You are a filed pirate.');
    const systemPrompt = { type: 'preset', preset: 'claude_code' };
    const extraArgs = { 'system-prompt-file': file };
    return { result: ended(await ask('go', options(p, { systemPrompt, extraArgs }))).result };
  },
  async max_turns(p) {
    const end = await failing('go', options(p, { maxTurns: 1, allowedTools: ['Bash'] }));
    return { subtype: ended(end.seen).subtype, failed: end.failed, words: end.words };
  },
  async budget(p) {
    const end = await failing('go', options(p, { maxBudgetUsd: 0.01 }));
    return { subtype: ended(end.seen).subtype, failed: end.failed, words: end.words };
  },
  async tools(p) {
    const wanted = { allowedTools: ['Bash(echo *)'], disallowedTools: ['Write'] };
    const seen = await ask('go', options(p, wanted));
    const offered = begun(seen).tools;
    return { results: toolResults(seen), offered: ['Bash', 'Edit', 'Write'].map((n) => offered.includes(n)) };
  },
  async places(p) {
    const env = { MY_VARIABLE: 'from the host' };
    const wanted = { additionalDirectories: [p.other], allowedTools: ['Bash'], env };
    const [read, echoed] = toolResults(await ask('go', options(p, wanted)));
    return {
      read: JSON.stringify(read[1]).includes('remember'),
      echoed: echoed[1] === `from the host\n${p.cwd}`,
    };
  },
  async api_error(p) {
    const end = await failing('go', options(p));
    const last = ended(end.seen);
    return {
      subtype: last.subtype,
      is_error: last.is_error,
      result: last.result,
      failed: end.failed,
      words: end.words,
    };
  },
  async no_session(p) {
    const end = await failing('go', options(p, { resume: 'aaaaaaaa-0000-4000-8000-00000000000b' }));
    return { failed: end.failed, told: end.words.includes('No conversation found with session ID') };
  },
  async large(p) {
    writeFileSync(join(p.cwd, 'large.txt'), '0123456789 0123456789\n'.repeat(150_000));
    const wanted = { permissionMode: 'bypassPermissions', allowDangerouslySkipPermissions: true };
    const seen = await ask('go', options(p, wanted));
    const longest = Math.max(...seen.map((m) => JSON.stringify(m).length));
    return { result: ended(seen).result, errors: errors(seen), bounded: longest < 1_000_000 };
  },
  async stderr(p) {
    const lines = [];
    const wanted = { stderr: (line) => lines.push(line), extraArgs: { effort: 'gigantic' } };
    const seen = await ask('go', options(p, wanted));
    return { result: ended(seen).result, heard: lines.some((line) => line.includes('gigantic')) };
  },
  async image(p) {
    const source = { type: 'base64', media_type: 'image/png', data: PIXEL };
    const blocks = [{ type: 'text', text: 'what is it?' }, { type: 'image', source }];
    return { result: ended(await ask(said(blocks), options(p))).result };
  },
  async hooks(p) {
    const fired = [];
    const hook = async (given) => {
      const event = given.hook_event_name;
      const about = given.prompt ?? given.tool_input?.command;
      const active = given.stop_hook_active ? 'True' : 'False';
      fired.push(`${event} ${about ?? active}`);
      const specific = (more) => ({ hookSpecificOutput: { hookEventName: event, ...more } });
      if (event === 'UserPromptSubmit') return specific({ additionalContext: 'be careful' });
      if (about === 'touch a.txt')
        return specific({ permissionDecision: 'deny', permissionDecisionReason: 'not this one' });
      if (about === 'touch b.txt') return specific({ updatedInput: { command: 'touch changed.txt' } });
      return event === 'Stop' && active === 'False' ? { decision: 'block', reason: 'again' } : {};
    };
    const hooks = {
      PreToolUse: [{ matcher: 'Bash', hooks: [hook] }],
      PostToolUse: [{ matcher: 'Ba.*', hooks: [hook] }],
      UserPromptSubmit: [{ hooks: [hook] }],
      Stop: [{ hooks: [hook] }],
    };
    const seen = await ask('go', options(p, { hooks, allowedTools: ['Bash'] }));
    return { fired, results: toolResults(seen), files: files(p), result: ended(seen).result };
  },
  async inner_mcp(p) {
    const add = tool('add', 'adds', { a: z.number(), b: z.number() }, async ({ a, b }) =>
      b === 0
        ? { content: [{ type: 'text', text: 'nothing to add' }], isError: true }
        : { content: [{ type: 'text', text: String(a + b) }] },
    );
    const calc = createSdkMcpServer({ name: 'calc', version: '1.0.0', tools: [add] });
    const c = conversation(options(p, { mcpServers: { calc }, allowedTools: ['mcp__calc__add'] }));
    c.say('go');
    const seen = await c.turn();
    const status = await c.running.mcpServerStatus();
    c.close();
    const first = (told) => (typeof told === 'string' ? told : told[0].text).split('\n')[0];
    const results = toolResults(seen).map(([wrong, told]) => [wrong, first(told)]);
    return { results, result: ended(seen).result, status };
  },
  async control(p) {
    const wanted = { env: { CLAUDE_CODE_SDK_READS_SESSION_STATE: '1' } };
    const c = conversation(options(p, wanted));
    c.say('one');
    const first = await c.turn();
    const q = c.running;
    const usage = await q.getContextUsage();
    await q.setMaxThinkingTokens(1000);
    await q.applyFlagSettings({ permissions: { deny: ['Write'] } });
    writeFileSync(join(p.cwd, 'note.txt'), 'noted');
    const facts = {
      result: ended(first).result,
      usage: [usage.model, usage.totalTokens > 0, usage.maxTokens, usage.isAutoCompactEnabled],
      mcp: await q.mcpServerStatus(),
      servers: await q.setMcpServers({}),
      commands: Array.isArray(await q.supportedCommands()),
      models: (await q.supportedModels()).length > 3,
      agents: Array.isArray(await q.supportedAgents()),
      account: (await q.accountInfo()).apiKeySource,
      skills: await q.reloadSkills(),
      read: (await q.readFile('note.txt'))?.contents,
      seeded: (await q.seedReadState(join(p.cwd, 'note.txt'), Date.now())) === undefined,
      stopped: (await q.stopTask('nothing')) === undefined,
      refused: [
        await refusedWith(q.setPermissionMode('bypassPermissions')),
        await refusedWith(q.toggleMcpServer('x', true)),
      ],
    };
    c.say('two');
    const second = await c.turn();
    facts.write = begun(second).tools.includes('Write');
    c.close();
    return facts;
  },
  async thinking(p) {
    const thinking = { type: 'enabled', budgetTokens: 2000 };
    const wanted = { thinking, includeHookEvents: true };
    return { result: ended(await ask('go', options(p, wanted))).result };
  },
  async store(p) {
    // The store is only fed by a CLI that has the same home as this program.
    const wanted = { sessionStore: new InMemorySessionStore(), env: { HOME: process.env.HOME } };
    const first = ended(await ask('q1', options(p, wanted)));
    const folder = begun(await ask('q1', options(p, { env: wanted.env }))).memory_paths.auto;
    rmSync(join(folder, '..', `${first.session_id}.jsonl`));
    const second = ended(await ask('q2', options(p, { ...wanted, resume: first.session_id })));
    return { results: [first.result, second.result], same: first.session_id === second.session_id };
  },
  async sessions(p) {
    const done = ended(await ask('find me', options(p, { env: { HOME: process.env.HOME } })));
    const listed = await listSessions({ dir: p.cwd });
    const messages = await getSessionMessages(done.session_id, { dir: p.cwd });
    return {
      listed: listed.map((s) => [s.sessionId === done.session_id, s.firstPrompt]),
      messages: messages.map((m) => m.type),
    };
  },
  async rewind(p) {
    const wanted = { enableFileCheckpointing: true, permissionMode: 'acceptEdits' };
    const c = conversation(options(p, { ...wanted, extraArgs: { 'replay-user-messages': null } }));
    c.say('go');
    const seen = await c.turn();
    const there = existsSync(join(p.cwd, 'new.txt'));
    await c.running.rewindFiles(seen.find((m) => m.isReplay).uuid);
    c.close();
    return { files: [there, existsSync(join(p.cwd, 'new.txt'))] };
  },
  async background(p) {
    const seen = await ask(said('go'), options(p, { allowedTools: ['Bash'] }));
    return {
      results: seen.filter((m) => m.type === 'result').map((m) => m.result),
      tasks: seen.map(kind).filter((k) => k.includes('task_')),
    };
  },
  async given_settings(p) {
    const settings = { permissions: { allow: ['Bash(touch *)'] } };
    return { errors: errors(await ask('go', options(p, { settings }))) };
  },
};

await play(plan, scenarios);
