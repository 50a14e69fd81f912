// The parts of an installed eve that the bridge drives, imported by their place inside the package.
// They are no public API: a version that has moved one of them cannot be checked, and says so here.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const PARTS = {
  "shared/memory-state.js": [
    "createMemoryLock", "validateMemoryRecallResult", "applyMemoryRecallBatches", "projectMemoryHistory",
    "projectMemoryHistoryFromSessionState", "canonicalizeMemoryRecords", "shouldCanonicalizeMemory",
    "clearMemorySessionState",
  ],
  "public/memory/index.js": ["defineMemory", "defaultNamespace"],
  "public/memory/scope.js": ["byPrincipal"],
  "public/memory/file/index.js": ["fileMemory", "inMemory", "MemoryDocumentConflictError"],
  "public/definitions/state.js": ["defineState"],
  "internal/authored-definition/memory.js": ["normalizeMemoryDefinition"],
  "internal/logging.js": ["setLogRecordSubscriber"],
  "context/container.js": ["ContextContainer", "contextStorage"],
  "context/keys.js": ["AuthKey", "InitiatorAuthKey", "SessionIdKey", "SessionKey", "TurnMemoryLocksKey"],
  "context/memory-event-lifecycle.js": ["dispatchMemoryLifecycleEvent"],
  "context/dynamic-tool-lifecycle.js": ["dispatchDynamicToolEvent"],
  "context/memory-tools.js": ["createMemoryToolDynamicDefinition"],
  "context/providers/session.js": ["sessionProvider"],
  "harness/tool-loop.js": ["createToolLoopHarness"],
  "harness/session-machine/current.js": ["enterSessionProjection", "recordPublishedEvent", "saveSessionProjection"],
  "protocol/message.js": ["stampMessageStreamEvent"],
  "execution/history-view.js": ["createExecutionHistoryView"],
  "tools/definition.js": ["defineTool"],
};

/** A part that is not where this bridge expects it. */
export class Moved extends Error {}

/** Everything in PARTS under its own name, with the package's version and the mock model of the AI SDK beside it. */
export async function openPackage(folder) {
  const { version } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  const eve = { version };
  const take = async (place, file, names) => {
    let part;
    try {
      part = await import(pathToFileURL(file).href);
    } catch (error) {
      throw new Moved(`${place} cannot be imported (${error.code ?? error.message})`);
    }
    for (const name of names) {
      if (part[name] === undefined) throw new Moved(`${place} has no ${name}`);
      eve[name] = part[name];
    }
  };
  for (const [place, names] of Object.entries(PARTS)) await take(place, join(folder, "dist", "src", place), names);
  await take("ai/test", join(folder, "..", "ai", "dist", "test", "index.js"), ["MockLanguageModelV4", "simulateReadableStream"]);
  return eve;
}
