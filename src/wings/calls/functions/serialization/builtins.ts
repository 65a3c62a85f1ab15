// The identities of what every process has anyway: global functions and objects, and what Node's
// own modules export. They travel by name.

import { builtinModules, createRequire } from 'node:module';

/** `path` leads from the global object, or from a module's exports when `module` is given. */
export interface BuiltinName {
  readonly module: string | null;
  readonly path: readonly (string | symbol)[];
}

const require = createRequire(import.meta.url);

let globals: Map<object, BuiltinName> | undefined;
const modules = new Map<object, BuiltinName>();
const modulesRead = new Set<string>();
/** Lines of Node's list of what is loaded, which only grows. */
let linesRead = 0;

/** The name of a built-in function or object; undefined when it is none that has a name. */
export function nameOfBuiltin(value: object): BuiltinName | undefined {
  globals ??= readGlobals();
  const known = globals.get(value) ?? modules.get(value);
  if (known !== undefined) return known;
  readModules();
  return modules.get(value);
}

/** The built-in of a name; undefined when this process has none. */
export function builtinNamed({ module, path }: BuiltinName): unknown {
  let at: unknown = globalThis;
  if (module !== null) {
    if (!isPublic(module)) return undefined;
    at = require(`node:${module}`);
  }
  for (const step of path) at = (at as Record<string | symbol, unknown> | undefined)?.[step];
  return at;
}

/** Words for messages: `Math.max`, `readFile of node:fs/promises`. */
export function wordsOfBuiltin({ module, path }: BuiltinName): string {
  const words = path.map((step) => (typeof step === 'symbol' ? `[${step.description}]` : step));
  if (module === null) return words.join('.');
  return words.length === 0 ? `node:${module}` : `${words.join('.')} of node:${module}`;
}

/** Objects that hold functions but are no functions themselves, and may be captured whole. */
const NAMESPACES = ['Math', 'JSON', 'Reflect', 'Atomics', 'Intl', 'console', 'performance'];

function readGlobals(): Map<object, BuiltinName> {
  const found = new Map<object, BuiltinName>();
  const keep = (value: unknown, path: readonly (string | symbol)[]): void => {
    if ((typeof value === 'function' || isNamespace(path)) && !found.has(value as object))
      found.set(value as object, { module: null, path });
  };
  keep(globalThis, []);
  for (const name of Object.getOwnPropertyNames(globalThis)) {
    const value = dataOf(globalThis, name);
    if (typeof value !== 'function' && !(NAMESPACES.includes(name) && value)) continue;
    // A function that a program has put there is its own.
    if (typeof value === 'function' && !isNodes(value)) continue;
    keep(value, [name]);
    readMembers(value as object, [name], keep);
    const prototype = typeof value === 'function' && dataOf(value, 'prototype');
    if (prototype) readMembers(prototype as object, [name, 'prototype'], keep);
  }
  return found;
}

function isNamespace(path: readonly (string | symbol)[]): boolean {
  return path.length === 0 || (path.length === 1 && NAMESPACES.includes(path[0] as string));
}

/** Native, or one of Node's JavaScript: those are never in the module that the program wrote. */
function isNodes(fn: unknown): boolean {
  return NODE_GLOBALS.has((fn as { name: string }).name) || isNative(fn as object);
}

/** Globals of Node that are written in JavaScript. */
const NODE_GLOBALS = new Set([
  ...['setTimeout', 'setInterval', 'setImmediate', 'clearTimeout', 'clearInterval'],
  ...['clearImmediate', 'queueMicrotask', 'structuredClone', 'fetch', 'atob', 'btoa', 'Buffer'],
  ...['URL', 'URLSearchParams', 'TextEncoder', 'TextDecoder', 'AbortController', 'AbortSignal'],
  ...['Event', 'EventTarget', 'Blob', 'File', 'FormData', 'Headers', 'Request', 'Response'],
  ...['ReadableStream', 'WritableStream', 'TransformStream', 'MessageChannel', 'MessagePort'],
  ...['Performance', 'DOMException', 'BroadcastChannel', 'WebSocket', 'MessageEvent'],
]);

/** Whether its source is not JavaScript: built in, bound, or a Proxy. */
export function isNative(fn: object): boolean {
  return /\{\s*\[native code\]\s*\}\s*$/.test(Function.prototype.toString.call(fn));
}

function readMembers(
  owner: object,
  path: readonly string[],
  keep: (value: unknown, path: readonly (string | symbol)[]) => void,
): void {
  for (const key of Reflect.ownKeys(owner)) {
    if (key !== 'prototype' && key !== 'constructor') keep(dataOf(owner, key), [...path, key]);
  }
}

/** The value of a property that is no getter: some of Node's getters warn, or load what is rare. */
function dataOf(owner: object, key: string | symbol): unknown {
  return Object.getOwnPropertyDescriptor(owner, key)?.value;
}

/** Only modules that are loaded can have given something away. */
function readModules(): void {
  const loaded = (process as { moduleLoadList?: readonly string[] }).moduleLoadList ?? [];
  const fresh = loaded.slice(linesRead);
  linesRead = loaded.length;
  for (const line of fresh) {
    const name = /^NativeModule (.+)$/.exec(line)?.[1] ?? '';
    if (modulesRead.has(name) || !isPublic(name)) continue;
    modulesRead.add(name);
    readModule(name, require(`node:${name}`));
  }
}

function readModule(name: string, exports: unknown): void {
  const keep = (value: unknown, path: readonly (string | symbol)[]): void => {
    if (typeof value === 'function' && !modules.has(value) && !globals?.has(value))
      modules.set(value, { module: name, path });
  };
  keep(exports, []);
  if (typeof exports !== 'object' && typeof exports !== 'function') return;
  const owner = exports as object;
  if (!modules.has(owner)) modules.set(owner, { module: name, path: [] });
  for (const key of Object.keys(owner)) {
    const value = dataOf(owner, key) ?? lazyOf(name, owner, key);
    keep(value, [key]);
    // Such as `path.posix`. What `process` holds is of this process: its arguments, its
    // environment.
    if (value !== null && typeof value === 'object' && !modules.has(value) && name !== 'process')
      modules.set(value, { module: name, path: [key] });
  }
}

/** `fs.promises` and `crypto.webcrypto` are getters. */
function lazyOf(module: string, owner: object, key: string): unknown {
  const wanted = ['fs.promises', 'crypto.webcrypto', 'crypto.subtle'].includes(`${module}.${key}`);
  return wanted ? (owner as Record<string, unknown>)[key] : undefined;
}

function isPublic(name: string): boolean {
  return builtinModules.includes(name) && !name.startsWith('_') && !NOISY.has(name);
}

/** Deprecated or experimental: looking at them prints a warning. */
const NOISY = new Set(['punycode', 'sys', 'sqlite', 'wasi', 'trace_events']);
