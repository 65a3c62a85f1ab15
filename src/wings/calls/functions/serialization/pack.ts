// Values into packed values: what structured clone carries goes as it is; functions, errors,
// instances and built-ins become stubs. What cannot travel is refused, by its path.

import { randomUUID } from 'node:crypto';
import { types } from 'node:util';
import { packFunction, refusalWithin } from './capture-function.ts';
import { type CellUse, refuseAcross } from './cells.ts';
import { classNameOf } from './classes.ts';
import { restDebugger } from './entered.ts';
import { packError } from './errors.ts';
import { type GraphOptions, type Stub, writeGraph } from './graph-bytes.ts';
import { groupFunctions, type PackedUse } from './groups.ts';
import { NotSendable, stepTo, type Trail, trailTextOf } from './not-sendable.ts';
import { exportOfPackage, type PackageRef } from './packages.ts';
import {
  checkSize,
  type Graph,
  type Member,
  PLAIN,
  type Ref,
  SMALL,
  type Table,
  WITH_GROUPS,
  WITH_TABLE,
  WITH_VARIABLES,
} from './packed-value.ts';
import type { Leaves, Packer, PackOptions } from './packer.ts';
import { isPlain } from './plain.ts';
import { builtinRef, refOfSymbol } from './refs.ts';
import {
  isCarried,
  refuseForeign,
  refuseLiving,
  refusePrivate,
  refuseStrange,
  refuseUnlike,
} from './refusals.ts';
import { Shared, usesOf } from './shared.ts';
import { smallText } from './small.ts';
import { splitVariables, type Variables } from './variables.ts';

/** A packed value, and the shared values that it refers to. */
export interface Packed {
  readonly bytes: Buffer;
  readonly shared: readonly string[];
  /** The variables of functions in it, and in the shared values that it refers to. */
  readonly uses?: readonly CellUse[];
  /** What each call of the function has to bring; null: nothing. */
  readonly variables?: Variables | null;
}

/** Numbers of objects mean something within one process. */
const PROCESS = randomUUID();

/** The bytes of a value. Throws NotSendable. */
export function pack(value: unknown, options: PackOptions): Packed {
  const text = smallText(value);
  if (text !== null) return { bytes: withTag(text), shared: NONE };
  const weight = { bytes: 0 };
  if (isPlain(value, weight)) {
    checkSize(weight.bytes, options.root);
    const bytes = clonePlain(value);
    if (bytes !== undefined) return { bytes, shared: [] };
  }
  const packer = new ValuePacker(options);
  try {
    return packer.packRoot(value);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw new NotSendable(options.root, 'it is nested too deeply', { cause: error });
  } finally {
    restDebugger();
  }
}

function withTag(text: string): Buffer {
  const bytes = Buffer.from(`\0${text}`);
  bytes[0] = SMALL;
  return bytes;
}

const NONE: readonly string[] = [];

/** Undefined when V8 refuses it after all (a Proxy): the walk says where. */
function clonePlain(value: unknown): Buffer | undefined {
  try {
    return writeGraph(value, { prefix: Uint8Array.of(PLAIN) });
  } catch {
    return undefined; // The caller goes on with the walk, which refuses with a path.
  }
}

function clone(value: unknown, what: string, options: GraphOptions): Buffer {
  try {
    return writeGraph(value, options);
  } catch (error) {
    throw new NotSendable(what, (error as Error).message, { cause: error });
  }
}

class ValuePacker implements Packer {
  readonly options: PackOptions;
  readonly functions: Table['functions'][number][] = [];
  readonly graph = {
    cells: [] as unknown[],
    properties: [] as (readonly [unknown, object])[],
    prototypes: [] as (readonly [unknown, object])[],
    instances: [] as (readonly [unknown, unknown])[],
    errors: [] as Graph['errors'][number][],
    patches: [] as Graph['patches'][number][],
    members: [] as (readonly [unknown, string | number, Member])[],
    frozen: [] as unknown[],
    closed: [] as unknown[],
    named: [] as (readonly [unknown, string])[],
  };
  /** What each object became: a copy, a stub, or itself. */
  readonly became = new Map<object, unknown>();
  readonly uses: PackedUse[] = [];
  readonly identities: number[] = [];
  captures = 0;
  readonly #refs: Ref[] = [];
  readonly #stubs = new Map<unknown, number>();
  readonly #shared = new Set<string>();
  readonly #sharedUses = new Set<CellUse>();
  readonly #views = new Map<ArrayBufferLike, { from: number; until: number }[]>();
  readonly #packages = new Map<string, Stub>();
  #bytes = 0;
  /** Whether something in the packed value refers to its root. */
  #isRootUsed = false;

  constructor(options: PackOptions) {
    this.options = options;
  }

  packRoot(value: unknown): Packed {
    const root = this.#part(null, 'root', value, { step: this.options.root, up: null });
    const shared = [...this.#sharedUses];
    if (shared.length > 0) refuseAcross(this.uses, shared);
    const uses = [...this.uses, ...shared];
    if (this.options.beside !== undefined) refuseAcross(uses, this.options.beside);
    const groups = groupFunctions(this.functions, this.uses);
    const variables = groups.length === 0 ? this.#splitRoot() : null;
    const table: Table = {
      functions: this.functions,
      refs: this.#refs,
      ...(groups.length > 0 ? { groups } : {}),
      ...(this.identities.length > 0 ? { identity: `${PROCESS} ${this.identities}` } : {}),
      ...(variables === null ? {} : { variables: variables.length }),
    };
    const head = writeGraph(table);
    const graph: Graph = { root, ...this.graph };
    const isOlder = groups.length + this.#packages.size === 0 && !this.#hasNew();
    const tag = variables !== null ? WITH_VARIABLES : isOlder ? WITH_TABLE : WITH_GROUPS;
    const prefix = Buffer.concat([Uint8Array.of(tag, 0, 0, 0, 0), head]);
    prefix.writeUInt32LE(head.length, 1);
    const bytes = clone(graph, this.options.root, { stubs: this.#stubs, prefix });
    return { bytes, shared: [...this.#shared], uses, variables };
  }

  /**
   * Takes the values out of the function of a call. One that others refer to, or that captured
   * objects, which stay from call to call, is made once with all that it has.
   */
  #splitRoot(): Variables | null {
    const [root] = this.functions;
    if (this.options.withVariables !== true || root === undefined) return null;
    if (this.#isRootUsed || this.#hasGraph()) return null;
    if (this.functions.some(({ resets }) => resets === true)) return null;
    const split = splitVariables(root);
    if (split === null) return null;
    this.functions[0] = split.sent;
    return split.variables;
  }

  #hasGraph(): boolean {
    return Object.values(this.graph).some(({ length }) => length > 0);
  }

  /** Whether there is in it what older readers would pass over. */
  #hasNew(): boolean {
    const { members, frozen, closed, instances } = this.graph;
    return (
      members.length + frozen.length + closed.length > 0 ||
      instances.some(([, ofClass]) => ofClass === null) ||
      this.functions.some(({ resets }) => resets === true)
    );
  }

  stub(ref: Ref): Stub {
    const stub: Stub = new Uint8Array(0);
    this.#stubs.set(stub, this.#refs.push(ref) - 1);
    return stub;
  }

  /** What a worker gives back may be an instance of a class that came from there. */
  nameClassOf(value: object, copy: unknown): void {
    const id = this.options.withFunctions ? undefined : classNameOf(value);
    if (id !== undefined) this.graph.named.push([copy, id]);
  }

  /** One for each export, however often it is met. */
  packageStub(ref: PackageRef): Stub {
    const key = `${ref.base} ${ref.from} ${ref.name}`;
    const stub = this.#packages.get(key) ?? this.stub(ref);
    this.#packages.set(key, stub);
    return stub;
  }

  /** The ref that a value became; undefined when it is no stub. */
  refOf(value: unknown): number | undefined {
    return this.#stubs.get(value);
  }

  /** What goes into the graph in place of a value. */
  sent(value: unknown, trail: Trail): unknown {
    if (typeof value === 'string') this.#weigh(value.length);
    if (typeof value === 'symbol') return this.stub(refOfSymbol(value, trail));
    if ((typeof value !== 'object' && typeof value !== 'function') || value === null) return value;
    const known = this.became.get(value);
    if (known !== undefined) {
      this.#isRootUsed ||= this.refOf(known) === 0;
      return known;
    }
    return typeof value === 'function'
      ? this.#sentFunction(value, trail)
      : this.#sentObject(value, trail);
  }

  #sentFunction(fn: object, trail: Trail): unknown {
    if (types.isProxy(fn)) throw new NotSendable(trailTextOf(trail), 'a Proxy does not travel');
    const { withFunctions } = this.options;
    if (!withFunctions)
      throw new NotSendable(trailTextOf(trail), 'functions are not part of results; return data');
    return packFunction(this, fn as (...args: unknown[]) => unknown, trail);
  }

  #sentObject(value: object, trail: Trail): unknown {
    refuseLiving(value, trail);
    const keep = <T>(made: T): T => {
      this.became.set(value, made);
      return made;
    };
    if (value instanceof Shared) {
      this.#shared.add(value.sha256);
      for (const use of usesOf(value)) this.#sharedUses.add(use);
      const asHandle = this.options.isCallee === true;
      return keep(this.stub({ is: 'shared', sha256: value.sha256, asHandle }));
    }
    if (types.isNativeError(value) || value instanceof Error) {
      this.keepClosed(packError(this, value, trail), value);
      return this.became.get(value);
    }
    if (value instanceof URL) return keep(this.stub({ is: 'url', href: value.href }));
    const ref = this.options.withFunctions ? builtinRef(value) : undefined;
    if (ref !== undefined) return keep(this.stub(ref));
    const exported = this.options.withFunctions ? exportOfPackage(value) : undefined;
    if (exported !== undefined) return keep(this.packageStub(exported));
    if (ArrayBuffer.isView(value) || types.isAnyArrayBuffer(value)) {
      this.#weigh(value.byteLength);
      this.#refuseOverlap(value, trail);
      this.keepClosed(value, value);
      return keep(value);
    }
    if (types.isDate(value) || types.isRegExp(value) || types.isBoxedPrimitive(value)) {
      if (this.captures > 0) refuseUnlike(value, trail);
      this.keepClosed(value, value);
      return keep(value);
    }
    return this.#sentContainer(value, trail);
  }

  #sentContainer(value: object, trail: Trail): unknown {
    const ofClass = this.#classOf(value, trail);
    const copy = emptyLike(value);
    this.became.set(value, copy);
    if (types.isMap(value)) {
      let at = 0;
      for (const [key, one] of value) {
        const step = `.get(${typeof key === 'string' ? JSON.stringify(key) : at})`;
        (copy as Map<unknown, unknown>).set(
          this.sent(key, { step: `.keys()[${at}]`, up: trail }),
          this.sent(one, { step, up: trail }),
        );
        at += 1;
      }
    } else if (types.isSet(value)) {
      let at = 0;
      for (const one of value) {
        (copy as Set<unknown>).add(this.sent(one, { step: `.values()[${at}]`, up: trail }));
        at += 1;
      }
    }
    this.fill(copy, value, trail, listLeaves(value));
    this.keepClosed(copy, value);
    if (ofClass !== undefined) this.graph.instances.push([copy, ofClass]);
    this.nameClassOf(value, copy);
    return copy;
  }

  /**
   * Copies own properties. In arguments those that can be enumerated, and what getters give, as
   * structured clone does; what a function captured keeps all, as they are.
   */
  fill(copy: object, value: object, trail: Trail, isLeft: Leaves = leavesNone): void {
    const isExact = this.captures > 0 && !types.isModuleNamespaceObject(value);
    for (const key of isExact ? Reflect.ownKeys(value) : Object.keys(value)) {
      const known = Object.getOwnPropertyDescriptor(value, key);
      if (known === undefined || isLeft(key, known)) continue;
      const inside = { step: stepInto(value, key), up: trail };
      if (isExact && !(typeof key === 'string' && isOpen(value, known)))
        this.#fillMember(copy, { key, known, isFrozen: Object.isFrozen(value) }, inside);
      else {
        const name = key as string;
        const part = this.#part(copy, name, read(value, name, inside), inside);
        Object.defineProperty(copy, name, { value: part, ...OPEN });
      }
    }
  }

  /** A property that is more than a name and a value. */
  #fillMember(copy: object, { key, known, isFrozen }: OwnProperty, trail: Trail): void {
    const { get, set, enumerable, writable, configurable } = known;
    const name = typeof key === 'string' ? key : (this.refOf(this.sent(key, trail)) ?? 0);
    const isAccessor = get !== undefined || set !== undefined;
    const member = {
      ...(isAccessor ? { get: this.sent(get, trail), set: this.sent(set, trail) } : {}),
      ...(enumerable === true ? {} : { enumerable: false }),
      ...(isFrozen || configurable === true ? {} : { configurable: false }),
      ...(isFrozen || isAccessor || writable === true ? {} : { writable: false }),
    };
    if (!isAccessor)
      Object.assign(member, { value: this.#part(member, 'value', known.value, trail) });
    this.graph.members.push([copy, name, member]);
  }

  /** What a function captured goes on taking no new properties. */
  keepClosed(copy: unknown, value: object): void {
    if (this.captures === 0 || Object.isExtensible(value) || types.isModuleNamespaceObject(value))
      return;
    (Object.isFrozen(value) ? this.graph.frozen : this.graph.closed).push(copy);
  }

  /** What goes into a property; what a stub cannot stand for there is put in after the reading. */
  #part(owner: object | null, key: string, value: unknown, trail: Trail): unknown {
    if (typeof value !== 'symbol' && !(value instanceof Shared)) return this.sent(value, trail);
    const ref = this.refOf(this.sent(value, trail)) ?? 0;
    this.graph.patches.push([owner, key, ref]);
    return undefined;
  }

  /** The stub of a class of the user's whose instance this is. */
  #classOf(value: object, trail: Trail): unknown {
    for (let at = prototypeOf(value); at !== null; at = prototypeOf(at)) {
      const maker: unknown = Object.getOwnPropertyDescriptor(at, 'constructor')?.value;
      if (typeof maker !== 'function') continue;
      try {
        refuseForeign(maker, at === prototypeOf(value), trail);
        refusePrivate(maker, trail);
      } catch (error) {
        throw refusalWithin(maker, error, trail);
      }
    }
    const prototype = prototypeOf(value);
    const maker: unknown = Object.getOwnPropertyDescriptor(prototype ?? {}, 'constructor')?.value;
    if (!this.options.withFunctions) return undefined;
    if (this.captures > 0) refuseStrange(value, maker, trail);
    if (prototype === null && this.captures > 0) return null;
    if (typeof maker !== 'function' || isCarried(maker)) return undefined;
    return this.sent(maker, { step: `.constructor`, up: trail });
  }

  /** Two views of the same bytes would become two copies of them. */
  #refuseOverlap(value: ArrayBufferView | ArrayBufferLike, trail: Trail): void {
    const isView = ArrayBuffer.isView(value);
    const buffer = isView ? value.buffer : value;
    const from = isView ? value.byteOffset : 0;
    const until = from + value.byteLength;
    const others = this.#views.get(buffer) ?? [];
    if (others.some((one) => one.from < until && from < one.until)) {
      const words = 'it shares its bytes with another array that is sent along; copy one of them';
      throw new NotSendable(trailTextOf(trail), words);
    }
    this.#views.set(buffer, [...others, { from, until }]);
  }

  #weigh(bytes: number): void {
    this.#bytes += bytes;
    checkSize(this.#bytes, this.options.root);
  }
}

const OPEN = { writable: true, enumerable: true, configurable: true };

interface OwnProperty {
  readonly key: string | symbol;
  readonly known: PropertyDescriptor;
  readonly isFrozen: boolean;
}

const leavesNone: Leaves = () => false;

/** Whether a plain copy of a property is all of it. */
function isOpen(value: object, { get, set, ...known }: PropertyDescriptor): boolean {
  if (get !== undefined || set !== undefined || types.isMap(value) || types.isSet(value))
    return false;
  const isChangeable = known.writable === true && known.configurable === true;
  return known.enumerable === true && (isChangeable || Object.isFrozen(value));
}

function stepInto(value: object, key: string | symbol): string {
  if (typeof key === 'symbol') return `[${String(key)}]`;
  return stepTo(Array.isArray(value) && /^\d+$/.test(key) ? Number(key) : key);
}

/** The length of a list is made with it. */
function listLeaves(value: object): Leaves {
  if (!Array.isArray(value)) return leavesNone;
  const isKept = !Object.isFrozen(value);
  return (key, { writable }) => key === 'length' && !(isKept && writable === false);
}

function prototypeOf(value: object): object | null {
  return Object.getPrototypeOf(value) as object | null;
}

function emptyLike(value: object): object {
  if (Array.isArray(value)) return new Array(value.length);
  return types.isMap(value) ? new Map() : types.isSet(value) ? new Set() : {};
}

function read(value: object, key: string, trail: Trail): unknown {
  try {
    return (value as Record<string, unknown>)[key];
  } catch (error) {
    const words = error instanceof Error ? error.message : String(error);
    throw new NotSendable(trailTextOf(trail), `its getter threw: ${words}`, { cause: error });
  }
}
