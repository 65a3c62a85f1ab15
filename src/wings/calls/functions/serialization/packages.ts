// What a program has from packages: it goes by module and name, for a worker to import it. A copy
// of a package's inside would be large, and have a state of its own.

import { createRequire } from 'node:module';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { types } from 'node:util';
import { parse } from 'acorn';
import { scriptNamed, scriptText } from './entered.ts';
import { knownHere } from './known-here.ts';
import type { Tree } from './names.ts';
import { NotSendable, type Trail, trailTextOf } from './not-sendable.ts';
import type { Ref } from './packed-value.ts';

export type PackageRef = Extract<Ref, { is: 'package' }>;

/** What a variable of a module was imported as from a package; undefined: it was not. */
export function importOf(scriptId: string | null, variable: string): PackageRef | undefined {
  const found = scriptId === null ? undefined : importsOf(scriptId).get(variable);
  if (found === undefined || !isBare(found.from)) return undefined;
  const base = scriptNamed(scriptId)?.url;
  return base === undefined ? undefined : { is: 'package', base, ...found };
}

/** Whether a variable of a module is one of another. */
export function isImported(scriptId: string | null, variable: string): boolean {
  return scriptId !== null && importsOf(scriptId).has(variable);
}

interface Import {
  readonly from: string;
  /** `*`: all that the module exports. */
  readonly name: string;
}

const imports = new Map<string, ReadonlyMap<string, Import>>();

function importsOf(scriptId: string): ReadonlyMap<string, Import> {
  const known = imports.get(scriptId) ?? readImports(scriptText(scriptId));
  imports.set(scriptId, known);
  return known;
}

function readImports(text: string): Map<string, Import> {
  const found = new Map<string, Import>();
  let body: readonly unknown[] = [];
  try {
    ({ body } = parse(text, { ecmaVersion: 'latest', sourceType: 'module' }));
  } catch {
    return found; // It is no module, and imports nothing in this way.
  }
  for (const one of body as Tree[]) {
    if (one.type !== 'ImportDeclaration') continue;
    const from = String((one['source'] as Tree)['value']);
    for (const specifier of one['specifiers'] as Tree[]) {
      const local = (specifier['local'] as Tree)['name'] as string;
      found.set(local, { from, name: exportOf(specifier) });
    }
  }
  return found;
}

function exportOf(specifier: Tree): string {
  if (specifier.type === 'ImportNamespaceSpecifier') return '*';
  if (specifier.type === 'ImportDefaultSpecifier') return 'default';
  const { name, value } = specifier['imported'] as Tree;
  return String(name ?? value);
}

/** The name of a package, not a path, a URL or a module of Node. */
function isBare(specifier: string): boolean {
  return !/^(?:[./#]|[a-z]+:)/.test(specifier);
}

const INSIDE = '/node_modules/';

/** A file of a package. */
export function isOfPackage(url: string | null | undefined): boolean {
  return url?.includes(INSIDE) === true;
}

/** A refusal of something inside of a package, with the way out. */
export function withWayOut(error: NotSendable, url: string, trail: Trail): NotSendable {
  if (error.reason.includes(WAY_OUT)) return new NotSendable(trailTextOf(trail), error.reason);
  const [, name = 'it'] = /^.*\/node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(url) ?? [];
  const path = trailTextOf(trail);
  const inside = error.path === path ? error.reason : `${error.path}: ${error.reason}`;
  const words = `it holds the inside of the package ${name} (${inside})`;
  const remedy = `${WAY_OUT}: \`const … = await import('${name}')\``;
  return new NotSendable(path, `${words}; ${remedy}`, { cause: error });
}

const WAY_OUT = 'import it and make it in the function';

/** What the CommonJS modules of packages export, which Node keeps by file. */
const exported = new Map<unknown, PackageRef>();
const filesRead = new Set<string>();

/**
 * This value came here as that export, and goes on as the same: a function may send it once more.
 */
export function noteImport(value: unknown, ref: PackageRef): void {
  const isObject = typeof value === 'function' || (typeof value === 'object' && value !== null);
  if (isObject && !knownHere.imports.has(value)) knownHere.imports.set(value, ref);
}

/** The export that a value is, of a package that was loaded as CommonJS or came with a function. */
export function exportOfPackage(value: object): PackageRef | undefined {
  if (!isRead) readLoaded();
  return knownHere.imports.get(value) ?? exported.get(value);
}

/** Looking through all that is loaded costs more than a small function: once a turn is enough. */
let isRead = false;
const { cache } = createRequire(import.meta.url);

function readLoaded(): void {
  isRead = true;
  setImmediate(() => {
    isRead = false;
  }).unref();
  for (const file in cache) {
    if (filesRead.has(file) || cache[file]?.loaded !== true) continue;
    filesRead.add(file);
    if (file.includes(INSIDE)) readExports(file, cache[file].exports);
  }
}

function readExports(file: string, all: unknown): void {
  const from = pathToFileURL(file).href;
  const keep = (value: unknown, name: string): void => {
    const isObject = typeof value === 'function' || (typeof value === 'object' && value !== null);
    if (isObject && !exported.has(value))
      exported.set(value, { is: 'package', base: from, from, name });
  };
  // What was given to `require` though it is a module of the language is found by its file.
  if (types.isModuleNamespaceObject(all)) return;
  keep(all, 'default');
  if (typeof all !== 'object' && typeof all !== 'function') return;
  for (const [key, one] of Object.entries(Object.getOwnPropertyDescriptors(all ?? {})))
    if (typeof one.value === 'function') keep(one.value, `default.${key}`);
}

/** The export that a function is of the module that holds its text. */
export function exportOfModule(fn: object, url: string): PackageRef | undefined {
  if (!isOfPackage(url)) return undefined;
  // It may have been loaded in this turn.
  if (!url.startsWith('file:')) {
    readLoaded();
    return exported.get(fn);
  }
  let all: Record<string, unknown>;
  try {
    // It is loaded: this gives what Node has, and runs nothing.
    all = createRequire(url)(fileURLToPath(url)) as Record<string, unknown>;
  } catch {
    return undefined; // Of an older Node, or a module that waits while it is loaded.
  }
  const name = Object.keys(all).find((key) => all[key] === fn);
  return name === undefined ? undefined : { is: 'package', base: url, from: url, name };
}
