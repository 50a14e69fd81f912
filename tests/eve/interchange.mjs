// The real eve's fileMemory over a folder that evelab writes too. Usage: node interchange.mjs <folder of the eve package>
//
// One JSON request a line, {folder, key, slot, maxCharacters, op, text | index}, and one reply a line, as bridge.mjs.
// eve brings the document and its rules; the backend is the plainest one that keeps eve's contract on files.

import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { openPackage } from "../../evelab/eve/package.mjs";

const signal = new AbortController().signal;
const turn = { id: "turn_0", input: [], sequence: 0 };
const say = (reply) => process.stdout.write(`${JSON.stringify(reply)}\n`);

const eve = await openPackage(process.argv[2]);

function backendIn(folder) {
  const pathOf = (key) => join(folder, "eve/memory/file", key, "MEMORY.md");
  const read = ({ key }) => {
    let bytes;
    try {
      bytes = readFileSync(pathOf(key));
    } catch (error) {
      if (error.code === "ENOENT") return null;
      throw error;
    }
    return { content: bytes.toString("utf8"), version: createHash("sha256").update(bytes).digest("hex") };
  };
  return {
    read: async (input) => read(input),
    write: async ({ key, content, expectedVersion }) => {
      if ((read({ key })?.version ?? null) !== expectedVersion) throw new eve.MemoryDocumentConflictError(key);
      const path = pathOf(key);
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(`${path}.eve`, content, "utf8");
      renameSync(`${path}.eve`, path);
      return read({ key });
    },
  };
}

async function answer({ folder, key, slot, maxCharacters, op, text, index }) {
  const provider = eve.fileMemory({ backend: backendIn(folder), maxCharacters });
  const memory = { scope: { key, namespace: "n", value: "s" }, slot };
  const context = { abortSignal: signal, memory, messages: [], operationId: "op", session: {}, turn };
  if (op === "recall") return (await provider.recall["turn.started"](context))?.messages[0].content ?? null;
  const tools = await provider.tools(context);
  await (op === "save" ? tools.save_memory.execute({ text }, { abortSignal: signal }) : tools.remove_memory.execute({ index }, { abortSignal: signal }));
  return null;
}

say({ ok: true, value: { eve: eve.version, node: process.version } });
process.stdin.setEncoding("utf8");
for await (const line of createInterface({ input: process.stdin, crlfDelay: Infinity })) {
  try {
    say({ ok: true, value: await answer(JSON.parse(line)) });
  } catch (error) {
    say({ ok: false, error: { name: error.name, message: error.message } });
  }
}
