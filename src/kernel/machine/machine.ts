// The machine of a head, put together from the kernel's nouns and the parts of its wings.

import { assert } from '../base/assert.ts';
import type { AnyNoun } from './noun.ts';
import type { Hooks, InputTable, MachinePart } from './part.ts';

/** Answers to each hook, in the order of the wings. */
export type Asked = { readonly [K in keyof Hooks]-?: readonly NonNullable<Hooks[K]>[] };

export interface Machine {
  /** In the order in which they are loaded and in which time moves them. */
  readonly nouns: readonly AnyNoun[];
  readonly commands: object;
  readonly events: object;
  readonly parts: readonly MachinePart[];
  readonly inputs: InputTable;
  readonly hooks: Asked;
  /** Kinds of commands of wings that give ids out. */
  readonly givingIds: ReadonlySet<string>;
  /** Kinds of inputs of wings that make jobs. */
  readonly makingJobs: ReadonlySet<string>;
}

declare module './state.ts' {
  interface State {
    /** What works on it. */
    readonly machine: Machine;
  }
}

const NO_ANSWERS: Asked = {
  onJobAdded: [],
  onJobDone: [],
  onTasksEnded: [],
  onBuilt: [],
  timeBefore: [],
  afterJob: [],
  afterEnrolment: [],
  onMaintenance: [],
  startsAgain: [],
  failedBefore: [],
  afterFailedBefore: [],
  refuseNode: [],
  isSentAway: [],
  narrow: [],
  offers: [],
  sharedPaths: [],
  windows: [],
  awaited: [],
  hint: [],
  launch: [],
  prepared: [],
};

/** @param own nouns of the kernel, which come first */
export function assembled(own: readonly AnyNoun[], parts: readonly MachinePart[]): Machine {
  const nouns = [...own, ...parts.flatMap((part) => part.nouns ?? [])];
  return {
    nouns,
    commands: merged(nouns.map((noun) => noun.commands)),
    events: merged(nouns.map((noun) => noun.events)),
    parts,
    inputs: merged(parts.map(({ inputs = {} }) => inputs)) as InputTable,
    hooks: hooksOf(parts),
    givingIds: new Set(parts.flatMap((part) => part.givingIds ?? [])),
    makingJobs: new Set(parts.flatMap((part) => part.makingJobs ?? [])),
  };
}

function hooksOf(parts: readonly MachinePart[]): Asked {
  const names = Object.keys(NO_ANSWERS) as (keyof Hooks)[];
  const answers = names.map((name) => [name, parts.flatMap(({ hooks }) => hooks?.[name] ?? [])]);
  return Object.fromEntries(answers) as Asked;
}

/** All of them in one. Two of one name would hide one another: that is a mistake of a wing. */
export function merged(parts: readonly object[]): object {
  const all: Record<string, unknown> = {};
  for (const [name, value] of parts.flatMap((part) => Object.entries(part))) {
    assert(!Object.hasOwn(all, name), `only one wing, or the kernel, has '${name}'`);
    all[name] = value;
  }
  return all;
}

/** The first answer that says something. */
export function firstOf<T>(answers: Iterable<T | null | undefined>): T | null {
  for (const answer of answers) if (answer !== null && answer !== undefined) return answer;
  return null;
}
