// Packed values into values: the other side of packing. Runs the code that a packed value holds, so
// it is for workers, whose owner sent it; results are read without functions.

import { createRequire } from 'node:module';
import { constants, Script } from 'node:vm';
import { builtinNamed } from './builtins.ts';
import { classNamed, nameClass } from './classes.ts';
import { call } from './context.ts';
import { emptyError, fillError } from './errors.ts';
import { readGraph } from './graph-bytes.ts';
import { packageValue } from './load-packages.ts';
import {
  type Cell,
  type Graph,
  type Member,
  PLAIN,
  type Ref,
  type SentFunction,
  type SentGroup,
  SMALL,
  type Step,
  SUPER,
  type Table,
  WITH_GROUPS,
  WITH_TABLE,
  WITH_VARIABLES,
} from './packed-value.ts';
import { Shared } from './shared.ts';
import { readSmall } from './small.ts';
import { mappedStack } from './stacks.ts';
import type { Variables } from './variables.ts';

export interface UnpackOptions {
  /** Whether code in it may become functions. */
  readonly withFunctions: boolean;
  /** The value of a shared packed value that has come before. */
  readonly sharedValue?: (sha256: string) => unknown;
}

/**
 * The value of a packed value. Throws when the bytes are none, or what they name does not exist
 * here.
 */
export function unpack(bytes: Uint8Array, options: UnpackOptions): unknown {
  return unpackWhole(bytes, options).value;
}

/** A value, and whether functions of it assign variables that they captured. */
export interface Unpacked {
  readonly value: unknown;
  readonly assigns: boolean;
  /** Makes the function of a call from what the call brings; null: the value is that function. */
  readonly made: ((variables: Variables) => unknown) | null;
}

export function unpackWhole(bytes: Uint8Array, options: UnpackOptions): Unpacked {
  if (bytes[0] === SMALL) return dataOf(readSmall(textOf(bytes.subarray(1))));
  if (bytes[0] === PLAIN) return dataOf(readGraph(bytes.subarray(1)));
  const isTable = TABLES.has(bytes[0]);
  if (!isTable || bytes.length < 5) throw new RangeError('not a packed value');
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const headEnd = 5 + view.getUint32(1, true);
  const table = readGraph(bytes.subarray(5, headEnd)) as Table;
  if (!options.withFunctions && table.functions.length > 0)
    throw new RangeError('functions are not part of results');
  return new Reviver(table, options).read(bytes.subarray(headEnd));
}

const TABLES: ReadonlySet<number | undefined> = new Set([WITH_TABLE, WITH_GROUPS, WITH_VARIABLES]);

function dataOf(value: unknown): Unpacked {
  return { value, assigns: false, made: null };
}

function textOf(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8');
}

/** What stands for values that are made anew, and for nothing that is here already. */
const DATA: ReadonlySet<Ref['is']> = new Set(['symbol', 'error', 'url', 'shared']);

type Setter = (values: readonly unknown[]) => void;

interface Made {
  readonly fn: unknown;
  readonly set: Setter;
}

interface MadeGroup {
  readonly set: Setter;
  readonly factories: readonly Factory[];
}

class Reviver {
  readonly #table: Table;
  readonly #options: UnpackOptions;
  readonly #values: unknown[] = [];
  readonly #made: (Made | undefined)[] = [];
  readonly #groups: (MadeGroup | undefined)[] = [];
  /** The group of each function that is in one. */
  readonly #groupOf = new Map<number, number>();

  constructor(table: Table, options: UnpackOptions) {
    this.#table = table;
    this.#options = options;
    for (const [nth, { members }] of (table.groups ?? []).entries())
      for (const at of members) this.#groupOf.set(at, nth);
  }

  read(bytes: Uint8Array): Unpacked {
    const { functions, groups = [] } = this.#table;
    for (let at = 0; at < functions.length; at += 1) this.#make(at);
    const graph = readGraph(bytes, (stub) => this.#value(stub)) as Graph;
    const fill = (set: Setter | undefined, cells: readonly Cell[]): void =>
      set?.(cells.map((cell) => this.#cell(cell, graph)));
    for (const [at, { cells }] of functions.entries()) fill(this.#made[at]?.set, cells);
    for (const [nth, { cells }] of groups.entries()) fill(this.#groups[nth]?.set, cells);
    const assigns = groups.length > 0 || functions.some(({ resets }) => resets === true);
    const value = this.#assemble(graph);
    return { value, assigns, made: this.#makerOfRoot(graph) };
  }

  /** Only the function of the call is made anew: what it captured beside its variables stays. */
  #makerOfRoot(graph: Graph): Unpacked['made'] {
    const { variables: count, functions } = this.#table;
    const [root] = functions;
    if (count === undefined || root === undefined) return null;
    const factory = compiled(root);
    const cells = root.cells.map((cell) => this.#cell(cell, graph));
    return (variables) => {
      if (variables.length !== count)
        throw new RangeError(
          `the call brings ${variables.length} values, its function has ${count}`,
        );
      const own = root.cells.map((cell, at) =>
        'variable' in cell ? variables[cell.variable] : cells[at],
      );
      const { fn } = factory(own, null);
      named(fn as object, root.name);
      return fn;
    };
  }

  #assemble(graph: Graph): unknown {
    const { members = [], frozen = [], closed = [] } = graph;
    let { root } = graph;
    // First, as what they complete is copied further.
    for (const [owner, key, ref] of graph.patches) {
      const value = this.#value(ref);
      if (owner === null) root = value;
      else define(owner, { [key]: value });
    }
    for (const [owner, key, member] of members) {
      const name = typeof key === 'number' ? (this.#value(key) as symbol) : key;
      defineOne(owner as object, name, member);
    }
    for (const [owner, properties] of graph.properties) define(owner as object, properties);
    for (const [owner, properties] of graph.prototypes)
      define((owner as { prototype: object }).prototype, properties);
    const { withFunctions } = this.#options;
    for (const [error, parts] of graph.errors) {
      const { stack } = parts;
      const isMapped = stack !== null && !withFunctions;
      fillError(error as Error, isMapped ? { ...parts, stack: mappedStack(stack) } : parts);
    }
    for (const [object, ofClass] of graph.instances)
      Object.setPrototypeOf(object, (ofClass as { prototype: object } | null)?.prototype ?? null);
    for (const [object, id] of graph.named ?? []) {
      const found = this.#options.withFunctions ? undefined : classNamed(id);
      if (found !== undefined) Object.setPrototypeOf(object, found.prototype);
    }
    for (const one of frozen) Object.freeze(one);
    for (const one of closed) Object.preventExtensions(one);
    return root;
  }

  /** Functions need what they captured only when they are called; classes need their parents. */
  #make(at: number): unknown {
    const known = this.#made[at];
    if (known !== undefined) return known.fn;
    const sent = this.#table.functions[at];
    if (sent === undefined) throw new RangeError(`no function ${at} in the packed value`);
    const { parent } = sent;
    const made = this.#factoryOf(at, sent)(
      this.#earlies(sent.cells),
      parent === null || parent === undefined ? null : this.#value(parent),
    );
    this.#made[at] = made;
    named(made.fn as object, sent.name);
    if (sent.id !== undefined) nameClass(made.fn as object, sent.id);
    return made.fn;
  }

  #factoryOf(at: number, sent: SentFunction): Factory {
    const nth = this.#groupOf.get(at);
    const group = nth === undefined ? undefined : this.#table.groups?.[nth];
    if (nth === undefined || group === undefined) return compiled(sent);
    this.#groups[nth] ??= this.#makeGroup(group);
    return this.#groups[nth].factories[group.members.indexOf(at)] as Factory;
  }

  #makeGroup(group: SentGroup): MadeGroup {
    const members = group.members.map((at) => this.#table.functions[at] as SentFunction);
    return compiledGroup(group, members)(this.#earlies(group.cells));
  }

  #earlies(cells: readonly Cell[]): unknown[] {
    return cells.map((cell) => ('value' in cell ? cell.value : this.#early(cell)));
  }

  /** What a computed key of a class may need: a symbol, a built-in. */
  #early(cell: Cell): unknown {
    if (!('ref' in cell)) return undefined;
    const ref = this.#table.refs[cell.ref];
    return ref?.is === 'function' ? this.#made[ref.at]?.fn : this.#value(cell.ref);
  }

  #cell(cell: Cell, graph: Graph): unknown {
    if ('value' in cell) return cell.value;
    if ('variable' in cell) return undefined;
    return 'ref' in cell ? this.#value(cell.ref) : graph.cells[cell.inGraph];
  }

  #value(stub: number): unknown {
    const ref = this.#table.refs[stub];
    if (ref === undefined) throw new RangeError(`no value ${stub} in the packed value`);
    if (ref.is === 'function') return this.#make(ref.at);
    if (!(stub in this.#values)) this.#values[stub] = this.#revived(ref);
    return this.#values[stub];
  }

  #revived(ref: Exclude<Ref, { is: 'function' }>): unknown {
    // What this process has must not be in reach of data: that could change it.
    if (!this.#options.withFunctions && !DATA.has(ref.is))
      throw new RangeError(`'${ref.is}' is not part of results`);
    switch (ref.is) {
      case 'builtin':
        return builtin(ref.module, ref.path);
      case 'symbol':
        return ref.isWellKnown ? wellKnown(ref.key) : Symbol.for(ref.key);
      case 'error':
        return emptyError(ref.kind);
      case 'url':
        return new URL(ref.href);
      case 'require':
        return createRequire(ref.base ?? `${process.cwd()}/`);
      case 'package':
        return packageValue(ref);
      case 'global':
        return globalThis;
      case 'context':
        return call;
      case 'shared': {
        const value = this.#options.sharedValue?.(ref.sha256);
        return ref.asHandle ? new Shared(value, ref.sha256) : value;
      }
    }
  }
}

function builtin(module: string | null, steps: readonly Step[]): unknown {
  const path = steps.map((step) => (typeof step === 'string' ? step : wellKnown(step.symbol)));
  const value = builtinNamed({ module, path });
  if (value !== undefined) return value;
  const from = module === null ? 'the global object' : `node:${module}`;
  throw new TypeError(
    `${path.map(String).join('.')} of ${from} does not exist in Node ${process.version}`,
  );
}

function wellKnown(name: string): symbol {
  const known = (Symbol as unknown as Record<string, unknown>)[name];
  return typeof known === 'symbol' ? known : Symbol.for(name);
}

type Factory = (early: readonly unknown[], parent: unknown) => Made;

/** A function's expression in a scope of its own, which holds what it captured. */
function factoryText(sent: SentFunction, gap = ''): string {
  return [
    `${factoryHead(sent)}${gap}${sent.expression};`,
    `return { fn: $weftFunction, set: ${setterText(sent.names)} };`,
    '})',
  ].join(' ');
}

function factoryHead({ names, isStrict }: SentFunction): string {
  return [
    `(function ($weftEarly, ${SUPER}) {`,
    isStrict ? '"use strict";' : '',
    names.length > 0 ? `let [${names.join(', ')}] = $weftEarly;` : '',
    'const $weftFunction = ',
  ].join(' ');
}

function setterText(names: readonly string[]): string {
  return names.length > 0
    ? `($weftCells) => { [${names.join(', ')}] = $weftCells; }`
    : '() => undefined';
}

/** Stacks name the place in the program's own file. */
function compiled(sent: SentFunction): Factory {
  const { place, base, name } = sent;
  const filename = place?.url ?? base ?? `weft:${name || 'function'}`;
  const { line: lineOffset = 0, column } = place ?? {};
  const columnOffset = column === undefined ? 0 : column - factoryHead(sent).length;
  return run(factoryText(sent), { filename, lineOffset, columnOffset }) as Factory;
}

/** The same of functions that have variables in common: those stand in a scope around theirs. */
function compiledGroup(
  { names }: SentGroup,
  members: readonly SentFunction[],
): (early: readonly unknown[]) => MadeGroup {
  const url = commonUrl(members);
  const lineOf = (at: number): number => (url === null ? 0 : (members[at]?.place?.line ?? 0));
  const order = [...members.keys()].sort((one, other) => lineOf(one) - lineOf(other));
  // One line earlier, so that the first has its columns, too.
  const lineOffset = lineOf(order[0] ?? 0) - 1;
  let line = lineOffset;
  const texts = order.map((at) => {
    const member = members[at] as SentFunction;
    const newlines = '\n'.repeat(Math.max(0, lineOf(at) - line));
    const column = newlines === '' ? 0 : Math.max(0, member.place?.column ?? 0);
    line += newlines.length + (member.expression.match(/\n/g)?.length ?? 0);
    return `$weftFactories[${at}] = ${factoryText(member, newlines + ' '.repeat(column))};`;
  });
  const source = [
    `(function ($weftEarly) { let [${names.join(', ')}] = $weftEarly;`,
    `const $weftFactories = []; ${texts.join(' ')}`,
    `return { set: ${setterText(names)}, factories: $weftFactories }; })`,
  ].join(' ');
  const base = members.find((one) => one.base !== undefined)?.base;
  const filename = url ?? base ?? `weft:${members[0]?.name || 'function'}`;
  return run(source, { filename, lineOffset }) as (early: readonly unknown[]) => MadeGroup;
}

/** Returns null when they are of several files, of which no line can be told. */
function commonUrl(members: readonly SentFunction[]): string | null {
  const urls = new Set(members.map(({ place }) => place?.url ?? null));
  const [only] = urls;
  return urls.size === 1 && only !== undefined ? only : null;
}

function run(
  source: string,
  place: { filename: string; lineOffset: number; columnOffset?: number },
): unknown {
  const script = /\bimport\b/.test(source)
    ? quietly(() => new Script(source, { ...place, importModuleDynamically: LOADER }))
    : new Script(source, place);
  return script.runInThisContext();
}

const LOADER = constants.USE_MAIN_CONTEXT_DEFAULT_LOADER;

/** The first use of this loader prints that it is experimental, which is no concern of callers. */
function quietly<T>(act: () => T): T {
  const { emitWarning } = process;
  process.emitWarning = () => undefined;
  try {
    return act();
  } finally {
    process.emitWarning = emitWarning;
  }
}

function named(fn: object, name: string): void {
  if ((fn as { name: unknown }).name === name) return;
  Object.defineProperty(fn, 'name', { value: name, configurable: true });
}

/** The properties of one object become those of another, getters as what they are. */
function define(owner: object, properties: object): void {
  for (const key of Reflect.ownKeys(properties))
    defineOne(owner, key, Object.getOwnPropertyDescriptor(properties, key) ?? {});
}

function defineOne(owner: object, key: string | symbol, member: Member): void {
  const { value, get, set, enumerable = true, configurable = true, writable = true } = member;
  const isAccessor = get !== undefined || set !== undefined;
  const said = isAccessor ? { get, set } : { value, writable };
  const all = { ...said, enumerable, configurable };
  Object.defineProperty(owner, key, all as PropertyDescriptor);
}
