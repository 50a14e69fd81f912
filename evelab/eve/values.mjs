// Values on the wire. JSON has no undefined, no NaN, no Date: such a value travels as an object with one
// key that starts with "$", both ways. Long strings come back as a digest: {"$long": {length, utf8, sha256}}.

import { createHash } from "node:crypto";

const LONG = 3000; // UTF-16 units; a longer string of a reply is replaced by its digest

const READ = {
  $undefined: () => undefined,
  $number: (text) => Number(text),
  $bigint: (text) => BigInt(text),
  $date: (time) => new Date(time),
  $map: (pairs) => new Map(decode(pairs)),
  $set: (items) => new Set(decode(items)),
  $bytes: (bytes) => Uint8Array.from(bytes),
  $fn: () => () => "fn",
  $class: (fields) => Object.assign(new Instance(), decode(fields)),
  $repeat: ([text, times]) => text.repeat(times),
  $concat: (parts) => parts.map(decode).join(""),
  $range: range,
};

/** An object of a class of its own: not a plain object. */
class Instance {}

/** Many recall messages at once: {n, content, id?, from?}; "{i}" becomes the number. */
function range({ n, content, id, from = 0 }) {
  const fill = (text, index) => text.replaceAll("{i}", String(index + from));
  return Array.from({ length: n }, (_, index) =>
    id === undefined
      ? { content: fill(decode(content), index) }
      : { content: fill(decode(content), index), id: fill(id, index) },
  );
}

/** The value that a request means. */
export function decode(value) {
  if (Array.isArray(value)) return value.map(decode);
  if (value === null || typeof value !== "object") return value;
  const keys = Object.keys(value);
  const read = keys.length === 1 ? READ[keys[0]] : undefined;
  if (read !== undefined) return read(value[keys[0]]);
  return Object.fromEntries(keys.map((key) => [key, decode(value[key])]));
}

/** The value as a reply carries it. Fields that are undefined are left out. */
export function encode(value, above = []) {
  switch (typeof value) {
    case "undefined": return { $undefined: true };
    case "function": return { $fn: true };
    case "symbol": return { $symbol: true };
    case "bigint": return { $bigint: String(value) };
    case "boolean": return value;
    case "string": return value.length > LONG ? digestOf(value) : value;
    case "number": return Number.isFinite(value) && !Object.is(value, -0) ? value : { $number: Object.is(value, -0) ? "-0" : String(value) };
  }
  if (value === null) return null;
  if (above.includes(value)) return { $cycle: true };
  const path = [...above, value];
  if (value instanceof Date) return { $date: value.getTime() };
  if (value instanceof Map) return { $map: [...value].map((pair) => pair.map((item) => encode(item, path))) };
  if (value instanceof Set) return { $set: [...value].map((item) => encode(item, path)) };
  if (value instanceof Promise) return { $promise: true };
  if (value instanceof Error) return errorOf(value);
  if (ArrayBuffer.isView(value)) return { $bytes: [...value] };
  if (Array.isArray(value)) return value.map((item) => encode(item, path));
  if (value instanceof Instance) return { $class: { ...value } };
  return Object.fromEntries(
    Object.entries(value).filter(([, item]) => item !== undefined).map(([key, item]) => [key, encode(item, path)]),
  );
}

function digestOf(text) {
  const sha256 = createHash("sha256").update(text, "utf8").digest("hex");
  return { $long: { length: text.length, utf8: Buffer.byteLength(text, "utf8"), sha256 } };
}

/** An error as a reply carries it. */
export function errorOf(error) {
  if (!(error instanceof Error)) return { name: typeof error, class: typeof error, message: String(error?.message ?? error) };
  const about = { name: error.name, class: error.constructor.name, message: error.message };
  return error.key === undefined ? about : { ...about, key: error.key };
}

/** What a call gave: {ok: true, value} or {ok: false, error}. */
export async function attempt(call) {
  try {
    return { ok: true, value: encode(await call()) };
  } catch (error) {
    return { ok: false, error: errorOf(error) };
  }
}
