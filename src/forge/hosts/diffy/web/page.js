"use strict";
// The page shows a listing and sends every decision at once; the program keeps the draft. Content of files is
// put in as text only, never as markup.

const $ = (id) => document.getElementById(id);
const opened = Date.now();
let review = null;      // {root, guard_ms, listing, states, rules, comments}
let order = [];         // hunk ids from top to bottom
let fileOf = new Map(); // hunk id → index of its file
let here = "";
let ended = false;

const VISIBLE = { "\x7f": "␡" };
const HIDDEN = /[\u00ad\u061c\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]/;
const ODD = /[\x00-\x08\x0b-\x1f\x7f\u00ad\u061c\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff\ud800-\udfff]/gu;

function make(tag, text, name) {
  const element = document.createElement(tag);
  if (text !== undefined) element.textContent = text;
  if (name) element.className = name;
  return element;
}

// Control characters are shown, and what would hide or turn text around is named.
function shown(cell, text) {
  let at = 0;
  for (const match of text.matchAll(ODD)) {
    cell.append(text.slice(at, match.index));
    const char = match[0];
    const code = char.codePointAt(0);
    const picture = VISIBLE[char] || (code < 32 ? String.fromCodePoint(0x2400 + code) : null);
    const label = HIDDEN.test(char) ? `<U+${code.toString(16).toUpperCase().padStart(4, "0")}>` : "�";
    cell.append(make("mark", picture || label));
    at = match.index + char.length;
  }
  cell.append(text.slice(at));
}

async function send(name, body) {
  const answer = await fetch(name, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify(body || {}),
  });
  const reply = await answer.json();
  if (!answer.ok) throw new Error(reply.error || answer.statusText);
  return reply;
}

async function change(name, body) {
  if (ended) return;
  try {
    const reply = await send(name, body);
    review.states = reply.states;
    review.comments = reply.comments;
    review.rules = reply.rules;
    paint();
    if (reply.at) go(reply.at);
  } catch (error) {
    say(String(error.message || error), true);
  }
}

function say(text, gone) {
  $("agent").textContent = text;
  $("agent").className = gone ? "gone" : "";
}

function state(hunk) { return review.states[hunk] || "pending"; }
function commentsOn(hunk) { return review.comments.filter((c) => (c.hunk || "") === hunk); }

function decide(hunk, verdict) {
  if (!hunk) return;
  change("decide", { hunks: [hunk], verdict });
  const next = pendingAfter(hunk);
  if (verdict && next) go(next);
}

function pendingAfter(hunk) {
  const at = order.indexOf(hunk);
  const turned = [...order.slice(at + 1), ...order.slice(0, at)];
  return turned.find((id) => state(id) === "pending") || order[at + 1];
}

function toggle() { if (here) decideInPlace(here, state(here) === "accepted" ? "reject" : "accept"); }
function decideInPlace(hunk, verdict) { change("decide", { hunks: [hunk], verdict }); }

function go(hunk) {
  if (!hunk) return;
  if (here) $(`h-${here}`)?.classList.remove("here");
  here = hunk;
  const article = $(`h-${hunk}`);
  article.classList.add("here");
  article.scrollIntoView({ block: "nearest" });
  for (const button of $("files").children)
    button.classList.toggle("here", button.dataset.file === String(fileOf.get(hunk)));
}

function step(by) {
  const at = order.indexOf(here) + by;
  go(order[Math.max(0, Math.min(order.length - 1, at))]);
}

function stepFile(by) {
  const file = fileOf.get(here) + by;
  go(order.find((id) => fileOf.get(id) === file));
}

async function comment(hunk) {
  const file = hunk ? review.listing.files[fileOf.get(hunk)] : null;
  $("about").textContent = hunk ? `Comment on ${file.path}` : "Comment on the whole review";
  $("text").value = commentsOn(hunk)[0]?.text || "";
  const dialog = $("comment");
  dialog.returnValue = "cancel";
  dialog.showModal();
  $("text").focus();
  await new Promise((done) => dialog.addEventListener("close", done, { once: true }));
  if (dialog.returnValue === "keep")
    await change("comment", { path: file ? file.path : "", hunk, text: $("text").value });
}

function ask(question, answers) {
  const dialog = $("ask");
  $("question").textContent = question;
  $("answers").replaceChildren(...answers.map(([value, text], at) => {
    const button = make("button", text, at ? "" : "primary");
    button.value = value;
    return button;
  }));
  dialog.returnValue = "";
  dialog.showModal();
  return new Promise((done) => dialog.addEventListener("close", () => done(dialog.returnValue), { once: true }));
}

async function all(verdict) {
  const open = order.filter((id) => state(id) === "pending");
  if (!open.length) return;
  const what = verdict === "accept" ? "Accept" : "Reject";
  if ((await ask(`${what} ${open.length} open hunks?`, [["yes", what], ["", "Cancel"]])) === "yes")
    await change("decide", { hunks: open, verdict });
}

async function finish() {
  const open = order.filter((id) => state(id) === "pending").length;
  const rejected = order.filter((id) => ["rejected", "mixed"].includes(state(id))).length;
  const question = `${rejected} of ${order.length} hunks rejected, ${open} without a verdict.`;
  const answers = open
    ? [["pending", "Finish, keep the rest for later"], ["accept", "Finish, accept the rest"], ["", "Cancel"]]
    : [["pending", "Finish"], ["", "Cancel"]];
  const rest = await ask(question, answers);
  if (!rest || ended) return;
  try {
    const reply = await send("finish", { rest });
    ended = true;
    document.body.dataset.ended = "yes";
    say(reply.said, false);
  } catch (error) {
    say(String(error.message || error), true);
  }
}

function paint() {
  const counts = {};
  const comments = new Map();
  for (const c of review.comments)
    comments.set(c.hunk || "", [...(comments.get(c.hunk || "") || []), `comment: ${c.text}`]);
  for (const id of order) {
    const now = state(id);
    counts[now] = (counts[now] || 0) + 1;
    const article = $(`h-${id}`);
    article.className = now + (id === here ? " here" : "");
    article.querySelector(".state").textContent = review.rules[id] ? `${now} by the rule ${review.rules[id]}` : now;
    const notes = article.querySelector("p");
    notes.textContent = (comments.get(id) || []).join("\n");
    notes.hidden = !notes.textContent;
  }
  const words = ["accepted", "rejected", "mixed", "asked", "pending"];
  $("counts").textContent = words.filter((w) => counts[w]).map((w) => `${counts[w]} ${w}`).join(", ");
  const signs = { accepted: "✓", rejected: "✗", mixed: "~", asked: "?", pending: "·" };
  const byFile = new Map();
  for (const id of order) byFile.set(fileOf.get(id), (byFile.get(fileOf.get(id)) || new Set()).add(state(id)));
  for (const button of $("files").children) {
    const states = byFile.get(Number(button.dataset.file)) || new Set();
    const sign = states.size === 1 ? signs[[...states][0]] : states.has("pending") ? "·" : "~";
    button.textContent = `${sign} ${button.dataset.path}`;
  }
}

// Rows are made when they come into sight, and of a long hunk only the first ones: a diff may have 150,000.
const FIRST_ROWS = 400;
const ROW_HEIGHT = 18;
const hunks = new Map();
const sight = new IntersectionObserver((entries) => {
  for (const entry of entries) {
    if (!entry.isIntersecting) continue;
    sight.unobserve(entry.target);
    entry.target.replaceWith(rows(hunks.get(entry.target.dataset.hunk), FIRST_ROWS));
  }
}, { rootMargin: "1500px" });

function later(hunk) {
  const place = make("div", undefined, "later");
  place.dataset.hunk = hunk.id;
  place.style.height = `${Math.min((hunk.lines || []).length, FIRST_ROWS) * ROW_HEIGHT}px`;
  hunks.set(hunk.id, hunk);
  sight.observe(place);
  return place;
}

function rows(hunk, most) {
  const table = make("table");
  const body = table.appendChild(make("tbody"));
  let [old, now] = [hunk.old_start, hunk.new_start];
  if (!hunk.old_count) old += 1;
  if (!hunk.new_count) now += 1;
  const lines = hunk.lines || [];
  for (const line of lines.slice(0, most)) {
    const row = make("tr", undefined, { "+": "added", "-": "removed" }[line.t] || "");
    row.append(make("td", line.t === "+" ? "" : String(old), "number"));
    row.append(make("td", line.t === "-" ? "" : String(now), "number"));
    row.append(make("td", line.t, "number"));
    shown(row.appendChild(make("td")), line.text);
    if (line.t !== "+") old += 1;
    if (line.t !== "-") now += 1;
    body.append(row);
  }
  if (lines.length <= most) return table;
  const more = make("button", `show ${lines.length - most} more lines`);
  more.addEventListener("click", () => table.replaceWith(rows(hunk, lines.length)));
  body.appendChild(make("tr")).appendChild(make("td")).appendChild(more).parentElement.colSpan = 4;
  return table;
}

function title(hunk, file) {
  if (hunk.kind === "text") return `lines ${hunk.new_start}–${hunk.new_start + Math.max(hunk.new_count, 1) - 1}`;
  if (hunk.kind === "mode") return `mode ${file.old_mode} → ${file.new_mode}`;
  if (hunk.kind === "rename") return `renamed from ${file.old_path}`;
  if (hunk.kind === "content") return "binary content";
  return { A: "new file", D: "deleted file", T: "other type" }[file.status] || "whole path";
}

function card(hunk, file) {
  const article = make("article");
  article.id = `h-${hunk.id}`;
  article.dataset.hunk = hunk.id;
  const bar = article.appendChild(make("div"));
  for (const [name, action] of [
    ["Accept", () => decide(hunk.id, "accept")],
    ["Reject", () => decide(hunk.id, "reject")],
    ["Comment", () => comment(hunk.id)],
    ["Question", () => change("question", { hunk: hunk.id })],
  ]) {
    const button = bar.appendChild(make("button", name));
    button.addEventListener("click", (event) => { event.stopPropagation(); go(hunk.id); action(); });
  }
  bar.append(make("span", title(hunk, file)), make("span", "pending", "state"));
  article.append(make("p"), later(hunk));
  article.addEventListener("click", () => go(hunk.id));
  return article;
}

function build() {
  $("tree").textContent = review.root;
  document.title = `diffy ${review.root}`;
  review.listing.files.forEach((file, index) => {
    const link = make("button");
    link.dataset.file = String(index);
    link.dataset.path = file.path;
    link.addEventListener("click", () => go(file.hunks[0]?.id));
    $("files").append(link);
    const head = $("hunks").appendChild(make("h2"));
    shown(head, file.path);
    for (const hunk of file.hunks) {
      order.push(hunk.id);
      fileOf.set(hunk.id, index);
      $("hunks").append(card(hunk, file));
    }
  });
  paint();
  go(order[0]);
}

const KEYS = {
  j: () => step(1), k: () => step(-1), n: () => stepFile(1), N: () => stepFile(-1),
  a: () => decide(here, "accept"), r: () => decide(here, "reject"), " ": toggle,
  x: () => change("question", { hunk: here }), c: () => comment(here), C: () => comment(""),
  A: () => all("accept"), R: () => all("reject"), u: () => change("undo"), Enter: finish,
  Tab: () => go(pendingAfter(here)), "?": () => $("keys").showModal(),
};

document.addEventListener("keydown", (event) => {
  const dialog = document.querySelector("dialog[open]");
  if (dialog) {
    if (dialog.id === "comment" && event.key === "Enter" && (event.ctrlKey || event.metaKey)) dialog.close("keep");
    return;
  }
  if (!review || ended || event.altKey || event.metaKey) return;
  // What somebody was typing when the page came up is no verdict.
  if (Date.now() - opened < review.guard_ms) return;
  if (event.ctrlKey) {
    if (event.key === "r") { event.preventDefault(); change("redo"); }
    return;
  }
  const action = KEYS[event.key];
  if (!action) return;
  event.preventDefault();
  action();
});

for (const [id, action] of Object.entries({
  undo: () => change("undo"), redo: () => change("redo"), finish, remark: () => comment(""),
  "accept-all": () => all("accept"), "reject-all": () => all("reject"), help: () => $("keys").showModal(),
})) $(id).addEventListener("click", (event) => { event.currentTarget.blur(); action(); });

async function look() {
  if (ended) return;
  try {
    const now = await (await fetch("state")).json();
    if (now.closed) { ended = true; say(now.closed, true); return; }
    say(now.waiting ? "the agent waits" : "the agent no longer waits; the result goes with your next prompt", !now.waiting);
  } catch {
    say("diffy has ended; the draft is kept", true);
    return;
  }
  setTimeout(look, 1000);
}

(async () => {
  review = await (await fetch("review")).json();
  build();
  document.body.dataset.ready = "yes";
  look();
})();
