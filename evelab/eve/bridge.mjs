// Asks an installed eve what it does. Usage: node bridge.mjs <folder of the eve package>
//
// One JSON request a line on stdin, one JSON reply a line on stdout, pure ASCII, in the same order. The first
// line says hello: {"ok": true, "value": {eve, node}}, or {"ok": false, "moved": "..."} when a part of this
// version is not where it was. Everything that a reply holds came out of the package's own functions; this
// program only carries values in and out (values.mjs) and plays the host of a session (sessions.mjs).

import { Moved, openPackage } from "./package.mjs";
import { runSession } from "./sessions.mjs";
import { attempt, decode, encode } from "./values.mjs";

const SIGNAL = new AbortController().signal;
const TURN = Object.freeze({ id: "turn_0", input: [], sequence: 0 });
const ENVIRONMENT = /^(VERCEL|EVE_|BLOB)/;

for (const level of ["log", "info", "warn", "error", "debug"]) console[level] = () => {}; // stdout is for replies

const write = (reply) => {
  const ascii = JSON.stringify(reply).replace(/[\u007f-\uffff]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);
  return process.stdout.write(`${ascii}\n`) || new Promise((resolve) => process.stdout.once("drain", resolve));
};

// ------------------------------------------------------------------------------------------ operations

function operations(eve) {
  const lockOf = ({ namespace, scope, slot = "profile", visibility = "scope" }) =>
    eve.createMemoryLock({ namespace: decode(namespace), scope: decode(scope), slot, turn: TURN, visibility });

  return {
    key: (request) => {
      const lock = lockOf(request);
      return { ...viewOfLock(lock), frozen: [Object.isFrozen(lock), Object.isFrozen(lock.scope), Array.isArray(lock.scope.value) ? Object.isFrozen(lock.scope.value) : null] };
    },

    by_principal: ({ current }) => eve.byPrincipal({ session: { auth: { current: decode(current), initiator: null } } }),

    default_namespace: ({ env, appRoot, node = "__root__", slot }) =>
      withEnvironment(env, () => eve.defaultNamespace({ appRoot: decode(appRoot), node, slot })),

    validate_recall: ({ result, slot = "profile" }) => eve.validateMemoryRecallResult(decode(result), slot),

    batches: (request) => batches(eve, lockOf, request),

    file_memory: (request) => fileMemory(eve, request),

    in_memory: (request) => inMemory(eve, request),

    session: (request) => withEnvironment(request.env, () => runSession(eve, request)),
  };
}

function viewOfLock({ namespaceKey, scopeKey, scope, slot, visibility }) {
  return { namespaceKey, scopeKey, key: scope.key, namespace: scope.namespace, value: scope.value, slot, visibility };
}

/** Run with exactly these variables among those that eve reads. */
async function withEnvironment(wanted, call) {
  const before = { ...process.env };
  for (const name of Object.keys(before)) if (ENVIRONMENT.test(name)) delete process.env[name];
  Object.assign(process.env, wanted ?? {});
  try {
    return await call();
  } finally {
    for (const name of Object.keys(process.env)) if (!(name in before)) delete process.env[name];
    Object.assign(process.env, before);
  }
}

/** A history and its memory state, step by step. */
async function batches(eve, lockOf, request) {
  let history = decode(request.history ?? []);
  let state = request.state === undefined ? undefined : decode(request.state);
  const steps = {
    apply: (step) => {
      const made = step.batches.map(({ lock, operationId, result }) => ({
        lock: lockOf(lock), operationId, messages: eve.validateMemoryRecallResult(decode(result), lock.slot ?? "profile"),
      }));
      const done = eve.applyMemoryRecallBatches({ batches: made, history, state });
      ({ history, state } = done);
      if (!step.quiet) return { recalled: done.recalledMessages };
      const digests = Object.keys(state["eve.memory"].operationDigests).length;
      return { recalled: done.recalledMessages.length, history: history.length, digests };
    },
    append: (step) => {
      history = [...history, ...decode(step.messages)];
      return { history: history.length };
    },
    project: (step) => {
      const locks = Object.fromEntries(step.locks.map((lock) => [lock.slot ?? "profile", lockOf(lock)]));
      const seen = eve.projectMemoryHistory({ locks, messages: history });
      return step.quiet ? seen.length : seen;
    },
    project_state: () => eve.projectMemoryHistoryFromSessionState({ messages: history, state }),
    canonicalize: (step) => {
      const { memory, ordinary } = eve.canonicalizeMemoryRecords(history);
      if (step.adopt) history = [...memory, ...ordinary];
      return step.quiet ? { memory: memory.length, ordinary: ordinary.length } : { memory: memory.map(({ content }) => content), ordinary };
    },
    should_canonicalize: () => eve.shouldCanonicalizeMemory(history),
    record_bytes: () => {
      const records = history.filter(({ metadata }) => metadata?.["eve.memory"]);
      return records.reduce((sum, record) => sum + Buffer.byteLength(JSON.stringify(record)), 0);
    },
    clear: () => {
      state = eve.clearMemorySessionState(state);
      history = [];
      return { state };
    },
    state: () => {
      const memory = state?.["eve.memory"];
      if (memory === undefined) return null;
      const locks = Object.fromEntries(Object.entries(memory.locks).map(([slot, lock]) => [slot, { ...viewOfLock(lock), turn: lock.turn }]));
      return { locks, operationDigests: memory.operationDigests };
    },
    raw_history: () => history,
  };
  const replies = [];
  for (const step of request.steps) replies.push(await attempt(() => steps[step.do](step)));
  return replies;
}

/** The number of a version without the random id of its backend. */
const label = (version) => version?.replace(/^mem_[0-9a-f-]{36}_/, "mem_<uuid>_") ?? version;

/** Saves and removes on one document, with conflicts and other writers put in the way. */
async function fileMemory(eve, request) {
  const key = request.key ?? "memscope1_test";
  const store = eve.inMemory();
  const read = () => store.read({ key, signal: SIGNAL });
  const put = async (content) => void (await store.write({ content, expectedVersion: (await read())?.version ?? null, key, signal: SIGNAL }));
  const count = { reads: 0, writes: 0 };
  let written = [];
  let conflicts = 0; // how many of the next writes are refused
  let rivals = []; // what another writer puts there just before each refusal
  const backend = {
    async read(input) {
      count.reads += 1;
      return "override" in request ? decode(request.override) : store.read(input);
    },
    async write(input) {
      count.writes += 1;
      written.push({ expectedVersion: input.expectedVersion === null ? null : label(input.expectedVersion), content: input.content });
      if (conflicts === 0) return store.write(input);
      conflicts -= 1;
      if (rivals.length > 0) await put(rivals.shift());
      if (request.duckConflict) throw Object.assign(new Error("x"), { name: "MemoryDocumentConflictError", key: input.key });
      throw new eve.MemoryDocumentConflictError(input.key);
    },
  };
  if (request.document !== undefined) await put(decode(request.document));
  const options = request.maxCharacters === undefined ? { backend } : { backend, maxCharacters: decode(request.maxCharacters) };
  const provider = eve.fileMemory(options);
  const memory = { scope: { key, namespace: "n", value: "s" }, slot: request.slot ?? "profile" };
  const context = { abortSignal: SIGNAL, memory, messages: [], operationId: "op", session: {}, turn: TURN };
  const tools = await provider.tools(context);
  const execute = {
    save: ({ text }) => tools.save_memory.execute({ text: decode(text) }, { abortSignal: SIGNAL }),
    remove: ({ index }) => tools.remove_memory.execute({ index: decode(index) }, { abortSignal: SIGNAL }),
    recall: () => provider.recall["turn.started"](context),
    put: ({ content }) => put(decode(content)),
    validate: ({ tool, input }) => tools[tool].inputSchema["~standard"].validate(decode(input)),
    schema: ({ tool }) => tools[tool].inputSchema["~standard"].jsonSchema.input({ target: "draft-2020-12" }),
    tools: () => Object.entries(tools).map(([name, { description }]) => ({ name, description })),
    version: async () => label((await read()).version),
  };
  const replies = [];
  for (const operation of request.ops) {
    const before = { ...count };
    written = [];
    conflicts = operation.conflicts ?? 0;
    rivals = (operation.race ?? []).map(decode);
    const reply = await attempt(() => execute[operation.op](operation));
    const found = await read();
    replies.push({
      ...reply,
      document: found === null ? null : found.content,
      version: found === null ? null : label(found.version),
      reads: count.reads - before.reads,
      writes: count.writes - before.writes,
      ...(request.showWrites ? { writeLog: written } : {}),
    });
  }
  return replies;
}

/** The in-memory backend by itself. A version of a request is one that an earlier reply named. */
async function inMemory(eve, { ops }) {
  const store = eve.inMemory();
  const versions = new Map();
  const shown = (document) => {
    if (document === null) return null;
    versions.set(label(document.version), document.version);
    return { ...document, version: label(document.version) };
  };
  const replies = [];
  for (const { read, write } of ops) {
    replies.push(await attempt(async () => {
      if (read !== undefined) return shown(await store.read({ key: read, signal: SIGNAL }));
      const { key, content, expectedVersion } = write;
      const expected = expectedVersion === null ? null : (versions.get(expectedVersion) ?? expectedVersion);
      return shown(await store.write({ key, content: decode(content), expectedVersion: expected, signal: SIGNAL }));
    }));
  }
  return replies;
}

// ------------------------------------------------------------------------------------------ the program

/** Lines end at LF only: a request may hold U+2028. */
async function* lines() {
  process.stdin.setEncoding("utf8");
  let rest = "";
  for await (const chunk of process.stdin) {
    const parts = (rest + chunk).split("\n");
    rest = parts.pop();
    yield* parts;
  }
  if (rest !== "") yield rest;
}

async function main() {
  let ops;
  try {
    const eve = await openPackage(process.argv[2]);
    ops = operations(eve);
    await write({ ok: true, value: { eve: eve.version, node: process.version } });
  } catch (error) {
    await write({ ok: false, moved: error instanceof Moved ? error.message : String(error) });
    return;
  }
  for await (const line of lines()) {
    const request = JSON.parse(line);
    const known = Object.hasOwn(ops, request.op);
    await write(known ? await attempt(() => ops[request.op](request)) : { ok: false, unsupported: `the bridge has no operation ${request.op}` });
  }
}

await main();
process.stdout.end(() => process.exit(0));
