// Whole sessions on the package's own harness: turns, model steps, tools, compaction and clear, with a scripted
// model. The host's part is played here, and no more than it: published events go to memory first and to dynamic
// tools next, a step that throws is thrown away whole and tried again, and the model says what it is told.

import { decode, encode, errorOf } from "./values.mjs";

const SHOWN = 60; // a longer list is shown by its first two and last two items
const LOGS = ["memory", "dynamic-tools", "harness.tool-loop", "harness.step"];
const STORES = new Map(); // backends that requests name, shared by the sessions of this process

const sleep = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));

// ------------------------------------------------------------------------------------------ what a reply shows

const ends = (items) => (items.length <= SHOWN ? items : [...items.slice(0, 2), { $omitted: items.length - 4 }, ...items.slice(-2)]);

const shorten = (items, show) => ends(items).map((item) => (item.$omitted === undefined ? show(item) : item));

/** The content as one text; the random ids of approval requests are masked. */
const textOf = (content) => plainText(content).replace(/aitxt-[A-Za-z0-9]+/g, "aitxt-<id>");

function plainText(content) {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return JSON.stringify(content);
  return content.map((part) => {
    if (part.text !== undefined) return part.text;
    if (part.type === "tool-call") return `<call ${part.toolName} ${JSON.stringify(part.input)}>`;
    if (part.type === "tool-result") return `<result ${JSON.stringify(part.output)}>`;
    return `<${part.type}>`;
  }).join("");
}

const brief = (messages) =>
  shorten(messages, ({ role, content, kind }) => (kind === undefined ? [role, textOf(content)] : [role, textOf(content), kind]));

function viewOfMemory(state) {
  const memory = state?.["eve.memory"];
  if (memory === undefined) return null;
  const view = ({ namespaceKey, scopeKey, scope, slot, visibility, turn }) =>
    ({ namespaceKey, scopeKey, key: scope.key, namespace: scope.namespace, value: scope.value, slot, visibility, turn });
  return {
    locks: Object.fromEntries(Object.entries(memory.locks).map(([slot, lock]) => [slot, view(lock)])),
    operationDigests: memory.operationDigests,
  };
}

// ------------------------------------------------------------------------------------------ scripted parts

/** A function that gives one entry a call; the last one repeats. An entry may wait, cancel the turn, throw or return. */
function scripted(entries, session) {
  let calls = 0;
  return async () => {
    const entry = entries[Math.min(calls++, entries.length - 1)];
    if (entry === null || typeof entry !== "object" || Array.isArray(entry)) return decode(entry);
    if (entry.delay) await sleep(entry.delay);
    if (entry.abort) session.abort.abort();
    if ("throw" in entry) throw new Error(entry.throw);
    if ("return" in entry) return decode(entry.return);
    if ("value" in entry) return decode(entry.value);
    return decode(entry);
  };
}

function scopeOf(eve, scope, session) {
  if (scope === null || typeof scope === "string") return scope;
  const caller = (context) => context.session.auth.current;
  const tenant = (context) => caller(context)?.attributes.tenantId;
  const resolvers = {
    by_principal: () => eve.byPrincipal,
    tenant: () => (context) => (typeof tenant(context) === "string" ? [tenant(context)] : null),
    tenant_principal: () => (context) =>
      caller(context)?.principalType === "user" && typeof tenant(context) === "string" ? [tenant(context), caller(context).principalId] : null,
    principal_id: () => (context) => caller(context)?.principalId ?? null,
    script: () => scripted(scope.values, session),
  };
  return resolvers[scope.kind]();
}

function namespaceOf(namespace, session) {
  if (namespace === null || typeof namespace === "string") return namespace;
  return namespace.kind === "context" ? (context) => JSON.stringify(context) : scripted(namespace.values, session);
}

async function fileProvider(eve, { backend, documents = {}, maxCharacters }) {
  const options = maxCharacters === undefined ? {} : { maxCharacters };
  if (backend === "default") return eve.fileMemory(options);
  let store = STORES.get(backend);
  if (store === undefined) store = eve.inMemory();
  if (backend !== undefined) STORES.set(backend, store);
  for (const [key, content] of Object.entries(documents)) {
    await store.write({ key, content: decode(content), expectedVersion: null, signal: new AbortController().signal });
  }
  return eve.fileMemory({ ...options, backend: store });
}

function scriptedProvider(eve, slot, provider, session) {
  const handler = (phase, entries) => {
    const play = scripted(entries, session);
    return async (context) => {
      const { operationId, memory, turn, messages, compaction } = context;
      session.trace.push({
        call: phase, slot, operationId, key: memory.scope.key, value: memory.scope.value,
        turn: turn && { id: turn.id, sequence: turn.sequence, input: brief(turn.input) },
        messages: brief(messages),
        ...(compaction ? { compaction } : {}),
      });
      try {
        const result = await play();
        session.trace.push({ done: phase, slot });
        return result;
      } catch (error) {
        session.trace.push({ failed: phase, slot, message: error.message });
        throw error;
      }
    };
  };
  const made = { recall: { "turn.started": handler("recall turn.started", provider.recall ?? [{ return: null }]) } };
  if (provider.compaction_recall) made.recall["compaction.completed"] = handler("recall compaction.completed", provider.compaction_recall);
  if (provider.capture || provider.requested) made.capture = {};
  if (provider.capture) made.capture["turn.completed"] = handler("capture turn.completed", provider.capture);
  if (provider.requested) made.capture["compaction.requested"] = handler("capture compaction.requested", provider.requested);
  if (provider.tools !== undefined) made.tools = toolsOf(eve, slot, provider.tools, session);
  return made;
}

function toolsOf(eve, slot, spec, session) {
  const sequence = spec !== null && Array.isArray(spec.$sequence) ? spec.$sequence : [spec];
  let calls = 0;
  return async ({ memory, turn, messages }) => {
    session.trace.push({ call: "tools", slot, key: memory.scope.key, turn: turn.id, messages: brief(messages) });
    const tools = decode(sequence[Math.min(calls++, sequence.length - 1)]);
    if (tools === null || typeof tools !== "object" || Array.isArray(tools)) return tools;
    if (typeof tools.throw === "string") throw new Error(tools.throw);
    const define = ([key, { description, inputSchema, returns, throws, approval, unbranded }]) => {
      const tool = {
        description,
        inputSchema: inputSchema ?? { type: "object", properties: {} },
        async execute(input) {
          session.trace.push({ tool: key, slot, key: memory.scope.key, input });
          if (throws) throw new Error(throws);
          return returns ?? null;
        },
        ...(approval ? { approval: () => approval } : {}),
      };
      return [key, unbranded ? tool : eve.defineTool(tool)];
    };
    return Object.fromEntries(Object.entries(tools).map(define));
  };
}

function modelOf(eve, session, describeTools) {
  let calls = 0;
  return new eve.MockLanguageModelV4({
    provider: "mock",
    modelId: "m1",
    doStream: async ({ prompt, tools = [] }) => {
      calls += 1;
      session.trace.push({
        model: calls,
        prompt: shorten(prompt, ({ role, content }) => [role, textOf(content)]),
        tools: tools.map(({ name, description }) => (describeTools ? [name, description] : name)),
      });
      const said = session.script.shift() ?? { text: "ok" };
      if (said.throw) throw new Error(said.throw);
      const wanted = said.tools ?? (said.tool ? [said.tool] : []);
      const chunks = [{ type: "stream-start", warnings: [] }];
      if (said.text !== undefined) chunks.push({ type: "text-start", id: "t" }, { type: "text-delta", id: "t", delta: said.text }, { type: "text-end", id: "t" });
      for (const [index, [toolName, input]] of wanted.entries()) {
        chunks.push({ type: "tool-call", toolCallId: `call_${calls}_${index}`, toolName, input: JSON.stringify(decode(input)) });
      }
      const tokens = said.inputTokens ?? 10;
      chunks.push({
        type: "finish",
        finishReason: { unified: wanted.length ? "tool-calls" : "stop", raw: "x" },
        usage: {
          inputTokens: { total: tokens, noCache: tokens, cacheRead: 0, cacheWrite: 0 },
          outputTokens: { total: 5, text: 5, reasoning: 0 },
        },
      });
      return { stream: eve.simulateReadableStream({ chunks, initialDelayInMs: null, chunkDelayInMs: null }) };
    },
  });
}

// ------------------------------------------------------------------------------------------ the session

/** A session that can be stepped: step(step) gives what the step showed. */
export async function openSession(eve, request) {
  const { nodeId = "__root__", appRoot = "/app", sessionId = "sess" } = request;
  const session = { abort: new AbortController(), trace: [], events: [], logs: [], script: [] };
  eve.setLogRecordSubscriber((record) => session.logs.push(record));

  const memories = [];
  const resolvers = [];
  for (const spec of request.slots) {
    const { slot, logicalPath = `memory/${slot}.ts` } = spec;
    const provider = spec.provider.kind === "file" ? await fileProvider(eve, spec.provider) : scriptedProvider(eve, slot, spec.provider, session);
    const fields = { provider, scope: scopeOf(eve, spec.scope, session) };
    if (spec.description !== undefined) fields.description = spec.description;
    if ("namespace" in spec) fields.namespace = namespaceOf(spec.namespace, session);
    if (spec.visibility !== undefined) fields.visibility = spec.visibility;
    const memory = eve.normalizeMemoryDefinition(eve.defineMemory(fields), "The memory of a bridge request is wrong.");
    memories.push({ ...memory, slot, logicalPath, sourceId: logicalPath, sourceKind: "module", visibility: memory.visibility ?? "scope" });
    if (spec.override !== true) {
      const { events } = eve.createMemoryToolDynamicDefinition(memory, slot);
      resolvers.push({ slug: slot, logicalPath: `tools/${slot}.ts`, eventNames: ["turn.started"], events, rebindMissingCallbacks: true });
    }
  }
  memories.sort((a, b) => `memory/${a.slot}`.localeCompare(`memory/${b.slot}`)); // the order of a compiled agent
  resolvers.sort((a, b) => `tools/${a.slug}`.localeCompare(`tools/${b.slug}`));

  const model = modelOf(eve, session, request.describeTools);
  const opener = request.auth === undefined ? null : decode(request.auth);
  let context = new eve.ContextContainer();
  context.set(eve.AuthKey, opener);
  context.set(eve.InitiatorAuthKey, opener);
  context.set(eve.SessionIdKey, sessionId);
  let durable = {
    agent: { system: "sys", tools: [], modelReference: { id: "mock/m1" } },
    compaction: { recentWindowSize: 10, threshold: 100000, thresholdPercent: 0.9, ...request.compaction },
    continuationToken: "",
    history: decode(request.history ?? []),
    sessionId,
  };
  eve.enterSessionProjection(context, durable.state);

  const handleEvent = async (event, messages) => {
    session.events.push(event.data?.turnId === undefined ? event.type : `${event.type} ${event.data.turnId}`);
    eve.recordPublishedEvent(context, eve.stampMessageStreamEvent(event));
    const seen = await eve.dispatchMemoryLifecycleEvent({ abortSignal: session.abort.signal, appRoot, ctx: context, event, memories, messages, nodeId });
    if (event.type === "turn.started") {
      for (const [name, value] of Object.entries(request.stateHooks ?? {})) eve.defineState(name, () => null).update(() => decode(value));
    }
    await eve.dispatchDynamicToolEvent({ ctx: context, resolvers, event, messages: seen });
  };

  const run = async (input, mode) => {
    context.clearVirtualContext();
    const view = eve.createExecutionHistoryView(durable);
    context.setVirtualContext(eve.SessionKey, (await eve.sessionProvider.create(context, durable)).value);
    const harness = eve.createToolLoopHarness({
      tools: new Map(),
      abortSignal: session.abort.signal,
      resolveModel: async () => model,
      handleEvent,
      historyProjector: view.projector,
      historyView: view.prepare(durable),
      capabilities: { requestInput: true },
      runtimeIdentity: { agentId: "a" },
      ...mode,
    });
    const result = await eve.contextStorage.run(context, () => harness(durable, input));
    durable = eve.saveSessionProjection(result.session, context);
    return result;
  };

  const perform = async (step) => {
    if ("auth" in step) context.set(eve.AuthKey, decode(step.auth));
    if (step.type === "clear") return run(undefined, { clearOnly: true });
    if (step.type === "compact") return run(undefined, { compactOnly: true });
    if (step.type === "state") {
      const state = eve.defineState(step.name, () => null);
      return eve.contextStorage.run(context, () => {
        if ("set" in step) state.update(() => decode(step.set));
        return { value: state.get() };
      });
    }
    let result = await run({ message: decode(step.input) });
    while (typeof result.next === "function") result = await run(undefined);
    return result;
  };

  const copyOfContext = () => {
    const copy = new eve.ContextContainer();
    for (const [key, value] of context._durableValues) copy._durableValues.set(key, value);
    return copy;
  };

  /** One step as the workflow runs it: what a throwing attempt changed is gone before the next one. */
  return async (step) => {
    session.trace = [];
    session.events = [];
    session.logs = [];
    const attempts = [];
    let result;
    for (let count = 0; count < (step.attempts ?? 1); count += 1) {
      const before = { context: copyOfContext(), durable };
      session.abort = new AbortController();
      if (step.abortBefore) session.abort.abort();
      session.script = [...(step.model ?? [])];
      try {
        result = await perform(step);
        attempts.push({ outcome: "committed" });
        break;
      } catch (error) {
        attempts.push({ outcome: "thrown", error: errorOf(error) });
        ({ context, durable } = before);
        eve.enterSessionProjection(context, durable.state);
        result = undefined;
      }
    }
    const { trace, events } = session;
    return {
      type: step.type,
      attempts,
      settled: result?.settledTurn,
      held: result?.held,
      value: result?.value === undefined ? undefined : encode(result.value),
      trace,
      events,
      logs: session.logs.filter(({ namespace }) => LOGS.includes(namespace)).map(viewOfLog),
      history: shorten(durable.history, ({ role, content, kind, metadata }) => {
        const mark = metadata?.["eve.memory"];
        return mark === undefined ? [role, textOf(content), kind ?? null] : [role, textOf(content), kind ?? null, mark];
      }),
      memory: viewOfMemory(durable.state),
      turnLocks: Object.fromEntries(
        Object.entries(context.get(eve.TurnMemoryLocksKey) ?? {}).map(([slot, { scope, turn }]) => [slot, { key: scope.key, turn: turn.id, value: scope.value }]),
      ),
    };
  };
}

function viewOfLog({ level, namespace, message, fields }) {
  const error = fields?.error?.message ?? fields?.error;
  return { level, namespace, message, error, fields: namespace === "memory" && level === "info" ? fields : undefined };
}

/** Every step of a request, one after the other. */
export async function runSession(eve, request) {
  const step = await openSession(eve, request);
  const shown = [];
  for (const one of request.steps) shown.push(await step(one));
  return shown;
}
