// What the parts that make a packed value share: where each finds, and leaves, what goes into it.

import type { CellUse } from './cells.ts';
import type { Stub } from './graph-bytes.ts';
import type { PackedUse } from './groups.ts';
import type { Trail } from './not-sendable.ts';
import type { Graph, Member, Ref, SentFunction } from './packed-value.ts';

export interface PackOptions {
  /** What refusals call the whole value: `args`, `result`. */
  readonly root: string;
  /**
   * Whether functions and classes travel with the value. A client sends them to workers; what comes
   * back is data, so that a client runs nothing that it did not write.
   */
  readonly withFunctions: boolean;
  /** Whether the value is the function of a call, which may be neither class nor generator. */
  readonly isCallee?: boolean;
  /** Whether primitives that this function captured go with its calls. */
  readonly withVariables?: boolean;
  /** What the function captured that these values are for. */
  readonly beside?: readonly CellUse[];
}

/** Whether a property is no matter of copying. */
export type Leaves = (key: string | symbol, known: PropertyDescriptor) => boolean;

/** The lists of a graph while it grows. */
export interface GrowingGraph {
  readonly cells: unknown[];
  readonly properties: Graph['properties'][number][];
  readonly prototypes: Graph['prototypes'][number][];
  readonly instances: Graph['instances'][number][];
  readonly errors: Graph['errors'][number][];
  readonly patches: Graph['patches'][number][];
  readonly members: (readonly [owner: unknown, key: string | number, member: Member])[];
  readonly frozen: unknown[];
  readonly closed: unknown[];
  readonly named: (readonly [object: unknown, id: string])[];
}

/** Grows while one packed value is made. */
export interface Packer {
  readonly options: PackOptions;
  readonly functions: SentFunction[];
  readonly graph: GrowingGraph;
  /** What each object became: a copy, a stub, or itself. */
  readonly became: Map<object, unknown>;
  /** The variables of the functions. */
  readonly uses: PackedUse[];
  /** How deep within what functions captured the walk is: 0 in arguments and results. */
  captures: number;
  /** Objects that functions captured, by the numbers of `identityOf`. */
  readonly identities: number[];
  stub(ref: Ref): Stub;
  nameClassOf(value: object, copy: unknown): void;
  packageStub(ref: Extract<Ref, { is: 'package' }>): Stub;
  /** The ref that a value became; undefined when it is no stub. */
  refOf(value: unknown): number | undefined;
  /** What goes into the graph in place of a value. Throws NotSendable. */
  sent(value: unknown, trail: Trail): unknown;
  /** Copies own properties, but those that are left. */
  fill(copy: object, value: object, trail: Trail, isLeft?: Leaves): void;
  /** What a function captured goes on taking no new properties. */
  keepClosed(copy: unknown, value: object): void;
}
