// The real package's side of the benchmark. Usage: node eves.mjs <folder of the eve package>
//
// One request a line, {work, count, seed}; the reply is {ok, value: {seconds}}: what `count` rounds took, without
// making their inputs. The inputs are new for every seed.

import { openPackage } from "../../evelab/eve/package.mjs";
import { openSession } from "../../evelab/eve/sessions.mjs";

for (const level of ["log", "info", "warn", "error", "debug"]) console[level] = () => {};

const SIGNAL = new AbortController().signal;
const TURN = Object.freeze({ id: "turn_0", input: [], sequence: 0 });
const NAMESPACE = "acme-support-v1";

const each = (count, make) => Array.from({ length: count }, (_, index) => make(index));

function documentOf(entries, seed) {
  const lines = each(entries, (index) => `${index}: ${entryText(seed, index)}\n`);
  return `<!-- eve-memory-file-v1 lastAllocatedIndex=${entries - 1} -->\n${lines.join("")}`;
}

const entryText = (seed, index) => `user ${seed} only watches service number ${index} and wants short answers in Chinese`;

async function timed(call) {
  const started = process.hrtime.bigint();
  await call();
  return Number(process.hrtime.bigint() - started) / 1e9;
}

function works(eve) {
  const lockOf = (scope) => eve.createMemoryLock({ namespace: NAMESPACE, scope, slot: "profile", turn: TURN, visibility: "scope" });

  const fileMemory = (contents) => {
    let reads = 0;
    const backend = {
      read: async () => ({ content: contents[reads++], version: "v" }),
      write: async ({ content }) => ({ content, version: "w" }),
    };
    const context = { abortSignal: SIGNAL, memory: { scope: lockOf("acme").scope, slot: "profile" }, messages: [], operationId: "op", session: {}, turn: TURN };
    return { provider: eve.fileMemory({ backend, maxCharacters: 20000 }), context };
  };

  const recalled = (seed, version) =>
    eve.validateMemoryRecallResult({ messages: each(200, (index) => ({ id: `k${index}`, content: `${seed} ${index} ${version}` })) }, "profile");

  const commit = (versions) => async ({ count, seed }) => {
    const lock = lockOf("acme");
    const rounds = each(count, (round) => {
      const first = versions.length === 1 ? { history: [], state: undefined } : eve.applyMemoryRecallBatches({ batches: [{ lock, messages: recalled(`${seed}.${round}`, versions[0]), operationId: "first" }], history: [], state: undefined });
      return { first, messages: recalled(`${seed}.${round}`, versions.at(-1)), operationId: `op ${seed} ${round}` };
    });
    return timed(() => {
      for (const { first, messages, operationId } of rounds) {
        const { history } = eve.applyMemoryRecallBatches({ batches: [{ lock, messages, operationId }], history: first.history, state: first.state });
        eve.projectMemoryHistory({ locks: { profile: lock }, messages: history });
      }
    });
  };

  return {
    keys: ({ count, seed }) => {
      const scopes = each(count, (index) => [`tenant_${seed}_${index % 97}`, `user_${index}`]);
      return timed(() => {
        for (const scope of scopes) lockOf(scope);
      });
    },
    save: async ({ count, seed }) => {
      const { provider, context } = fileMemory(each(count, (round) => documentOf(19, seed + round)));
      const { save_memory } = await provider.tools(context);
      const texts = each(count, (round) => `a new fact, number ${seed} ${round}`);
      return timed(async () => {
        for (const text of texts) await save_memory.execute({ text }, { abortSignal: SIGNAL });
      });
    },
    recall: ({ count, seed }) => {
      const { provider, context } = fileMemory(each(count, (round) => documentOf(20, seed + round)));
      return timed(async () => {
        for (let round = 0; round < count; round += 1) await provider.recall["turn.started"](context);
      });
    },
    "commit new": commit(["v1"]),
    "commit unchanged": commit(["v1", "v1"]),
    "commit changed": commit(["v1", "v2"]),
    turn: async ({ count, seed, length }) => {
      const key = lockOf("acme").scope.key;
      const history = each(length, (index) => ({ content: `message ${index} of ${seed}`, ...(index % 2 === 0 ? { role: "user", kind: "user" } : { role: "assistant" }) }));
      const provider = { kind: "file", documents: { [key]: documentOf(20, seed) } };
      const slots = [{ slot: "profile", scope: "acme", namespace: NAMESPACE, provider }];
      const step = await openSession(eve, { slots, history, compaction: { threshold: 1e12 } });
      await step({ type: "turn", input: "warm up", model: [{ text: "ok" }] });
      return timed(async () => {
        for (let round = 0; round < count; round += 1) {
          const { attempts } = await step({ type: "turn", input: `hello ${seed} ${round}`, model: [{ text: "ok" }] });
          if (attempts.at(-1).outcome !== "committed") throw new Error(JSON.stringify(attempts));
        }
      });
    },
  };
}

const eve = await openPackage(process.argv[2]);
const work = works(eve);
const say = (reply) => process.stdout.write(`${JSON.stringify(reply)}\n`);
say({ ok: true, value: { eve: eve.version, node: process.version } });
let rest = "";
process.stdin.setEncoding("utf8");
for await (const chunk of process.stdin) {
  const lines = (rest + chunk).split("\n");
  rest = lines.pop();
  for (const line of lines) {
    const request = JSON.parse(line);
    say({ ok: true, value: { seconds: await work[request.work](request) } });
  }
}
process.exit(0);
