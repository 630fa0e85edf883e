// Options and methods that only the Agent SDK for TypeScript has: plays every scenario, prints what it saw.
// SDK_MODULE names the module; the plan has the CLI and per scenario the directory, home and model address.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { play } from './playing.mjs';

const sdk = await import(process.env.SDK_MODULE);
const plan = JSON.parse(readFileSync(process.argv[2], 'utf8'));
const SCHEMA = { type: 'object', properties: { n: { type: 'integer' } } };
const uuid = (digit) => `${String(digit).repeat(8)}-1111-4111-8111-111111111111`;

function write(path, text) {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}

function options(place, more = {}) {
  const own = { HOME: place.home, ANTHROPIC_BASE_URL: place.url, ANTHROPIC_API_KEY: 'dummy' };
  const start = { pathToClaudeCodeExecutable: plan.cli, cwd: place.cwd, model: 'claude-sonnet-4-5' };
  return { ...start, env: { ...process.env, ...own }, ...more };
}

async function ask(prompt, wanted) {
  const seen = [];
  for await (const message of sdk.query({ prompt, options: wanted })) seen.push(message);
  return seen;
}

// A host that says the next thing when the turn before is over.
function conversation(wanted) {
  const waiting = [];
  let wake = () => {};
  let closed = false;
  async function* prompts() {
    while (true) {
      while (waiting.length) yield waiting.shift();
      if (closed) return;
      await new Promise((resolve) => { wake = resolve; });
    }
  }
  const running = sdk.query({ prompt: prompts(), options: wanted });
  return {
    running,
    async say(content, more = {}) {
      const message = { role: 'user', content };
      waiting.push({ type: 'user', message, parent_tool_use_id: null, session_id: '', ...more });
      wake();
      while (true) {
        const { value, done } = await running.next();
        if (done || value.type === 'result') return value;
      }
    },
    close() { closed = true; wake(); },
  };
}

const ended = (seen) => seen.filter((m) => m.type === 'result').at(-1);
const results = (seen) =>
  seen
    .filter((m) => m.type === 'user' && Array.isArray(m.message.content))
    .flatMap((m) => m.message.content.filter((b) => b.type === 'tool_result'))
    .map((b) => b.content);
const refused = (promise) => promise.then(() => '', (error) => error.message);
const withPlugin = (place) => {
  const path = join(place.other, 'plug');
  write(join(path, '.claude-plugin', 'plugin.json'), JSON.stringify({ name: 'plug', version: '1.0.0' }));
  write(join(path, 'commands', 'hello.md'), '---\ndescription: says hello\n---\nSay hello.');
  return [{ type: 'local', path }];
};

const scenarios = {
  async structured_turns(p) {
    const c = conversation(options(p, { outputFormat: { type: 'json_schema', schema: SCHEMA } }));
    const values = [(await c.say('one')).structured_output, (await c.say('two')).structured_output];
    c.close();
    return { values };
  },
  async chosen_skills(p) {
    for (const name of ['one', 'two']) {
      write(join(p.cwd, '.claude', 'skills', name, 'SKILL.md'), `---\nname: ${name}\ndescription: d\n---\nBody.`);
    }
    return { results: results(await ask('go', options(p, { skills: ['one'] }))) };
  },
  async aliases(p) {
    const asked = [];
    const canUseTool = async (tool, input) => {
      asked.push(tool);
      return { behavior: 'allow', updatedInput: input, decisionClassification: 'user_permanent' };
    };
    const seen = await ask('go', options(p, { toolAliases: { Shell: 'Bash' }, canUseTool }));
    const sources = seen.flatMap((m) => m.tool_result_meta ?? []).map((m) => m.permission_decision.source);
    return { asked, sources };
  },
  async opening(p) {
    const boss = { description: 'b', prompt: 'You are the boss.', initialPrompt: 'Start here.' };
    const seen = await ask('go', options(p, { agent: 'boss', agents: { boss } }));
    return { results: seen.filter((m) => m.type === 'result').map((m) => m.result) };
  },
  async late_plugin(p) {
    const wanted = { pluginDelivery: 'initialize', plugins: withPlugin(p) };
    const c = conversation(options(p, wanted));
    await c.say('/plug:hello');
    const { plugins_applied: applied } = await c.running.initializationResult();
    const commands = (await c.running.supportedCommands()).filter((row) => row.name === 'plug:hello');
    c.close();
    return { applied, commands };
  },
  async settings(p) {
    const c = conversation(options(p));
    await c.say('one');
    const facts = {
      refused: await refused(c.running.applyFlagSettings({ permissions: 7, model: 'haiku' })),
      style: (await c.running.updateSettings('localSettings', { outputStyle: 'Concise' })) === undefined,
      other: await refused(c.running.updateSettings('localSettings', { model: 'haiku' })),
    };
    write(join(p.cwd, '.claude', 'skills', 'new', 'SKILL.md'), '---\nname: new\ndescription: d\n---\nBody.');
    facts.skills = (await c.running.reloadSkills()).skills;
    facts.values = (await c.running.supportedModels()).slice(0, 5).map((m) => m.value);
    await c.say('two');
    c.close();
    return facts;
  },
  async dropped_turn(p) {
    const c = conversation(options(p));
    const { session_id: resume } = await c.say('one', { uuid: uuid(1) });
    await c.say('two', { uuid: uuid(2) });
    c.close();
    const text = readFileSync(join(p.home, '.claude', 'projects', p.cwd.replace(/[^a-zA-Z0-9]/g, '-'), `${resume}.jsonl`), 'utf8');
    const records = text.trim().split('\n').map((line) => JSON.parse(line));
    const resumeSessionAt = records.find((r) => r.type === 'assistant').uuid;
    const again = (turn) => ask('three', options(p, { resume, resumeSessionAt, resumeDropsTurn: turn }));
    const why = await refused(again(uuid(9)));
    return { refused: why.includes('Resume rejected by --resume-drops-turn:'), result: ended(await again(uuid(2))).result };
  },
  async config_root(p) {
    const deny = (rule) => JSON.stringify({ permissions: { deny: [rule] } });
    write(join(p.cwd, '.claude', 'settings.json'), deny('Bash(echo *)'));
    write(join(p.other, '.claude', 'settings.json'), deny('Bash(touch *)'));
    write(join(p.other, '.claude', 'commands', 'good.md'), 'Good.');
    const seen = await ask('go', options(p, { projectConfigRoot: p.other, allowedTools: ['Bash'] }));
    const good = seen.find((m) => m.subtype === 'init').slash_commands.includes('good');
    return { results: results(seen), good };
  },
  async inner_agents(p) {
    const wanted = { allowedTools: ['Bash'], forwardSubagentText: true };
    const seen = (await ask('MAIN', options(p, wanted))).filter((m) => m.parent_tool_use_id && m.type === 'assistant');
    return { texts: seen.flatMap((m) => m.message.content).filter((b) => b.type === 'text').map((b) => b.text) };
  },
  async again(p) {
    let fired = 0;
    const hooks = { PreToolUse: [{ hooks: [async () => { fired += 1; return {}; }] }] };
    const c = conversation(options(p, { hooks, allowedTools: ['Bash'] }));
    await c.say('one');
    const { hooks_applied: applied } = await c.running.reinitialize();
    await c.say('two');
    c.close();
    return { applied, fired };
  },
  async plain_request(p) {
    const systemPrompt = ['Static.', sdk.SYSTEM_PROMPT_DYNAMIC_BOUNDARY, 'Dynamic.'];
    const extraArgs = { 'append-system-prompt': 'Appended.' };
    const wanted = { systemPrompt, extraArgs, permissionMode: 'plan', planModeInstructions: 'Plan my way.' };
    return { result: ended(await ask('go', options(p, wanted))).result };
  },
};

await play(plan, scenarios);
