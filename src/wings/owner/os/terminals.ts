// Input times of consoles and pseudo terminals: when a program last read what was typed there,
// which the kernel notes every eight seconds. What is typed into windows without a terminal is
// not seen.

import { readdirSync, statSync } from 'node:fs';
import type { Sign } from '../ports/presence.ts';
import { type Detector, type Instant, isContainer, reasonOf } from './detector.ts';

const BY = 'terminals';
/** The kernel rounds, and the last look was a while ago. */
const LATE_MS = 30_000;
const CONSOLE = /^(tty([1-9]\d*|S\d+|AMA\d+|USB\d+)|hvc\d+)$/;

interface Terminal {
  readonly inputMs: number;
  readonly last: Instant | null;
}

export interface TerminalWorld {
  readonly directory: string;
  /** Devices of the terminals of tasks; costs a look at all processes. */
  readonly ours: () => ReadonlySet<number>;
}

export function terminals({ directory, ours }: TerminalWorld): Detector {
  let known = new Map<string, Terminal>();
  return {
    of: 'input',
    look(now) {
      const { names, blind } = list(directory);
      const next = new Map<string, Terminal>();
      const isOurs = once(ours);
      for (const name of names) {
        const one = lookAt(`${directory}/${name}`, known.get(name), {
          now,
          isOurs: (device) => isOurs().has(device),
        });
        if (one !== null) next.set(name, one);
      }
      known = next;
      return [newest(next), ...blind];
    },
  };
}

function newest(known: ReadonlyMap<string, Terminal>): Sign {
  let what = 'keyboards of consoles and terminals';
  let last: Instant | null = null;
  for (const [name, terminal] of known) {
    if (terminal.last === null || (last !== null && terminal.last.monotonic <= last.monotonic))
      continue;
    last = terminal.last;
    what = `keyboard on ${name}`;
  }
  return { kind: 'input', by: BY, what, last };
}

/** Returns null when it has gone meanwhile. */
function lookAt(
  path: string,
  known: Terminal | undefined,
  { now, isOurs }: { now: Instant; isOurs: (device: number) => boolean },
): Terminal | null {
  try {
    const { atimeMs, rdev } = statSync(path);
    if (known?.inputMs === atimeMs) return known;
    if (isOurs(rdev)) return { inputMs: atimeMs, last: known?.last ?? null };
    return { inputMs: atimeMs, last: instantOf(atimeMs, known !== undefined, now) };
  } catch {
    return null;
  }
}

/** What changed since the last look came a moment ago, whatever the clock was set to meanwhile. */
function instantOf(inputMs: number, isNew: boolean, now: Instant): Instant | null {
  const agoMs = now.at - inputMs;
  if (isNew && (agoMs < 0 || agoMs > LATE_MS)) return now;
  return agoMs < 0 ? null : { at: inputMs, monotonic: now.monotonic - agoMs };
}

function list(directory: string): { names: string[]; blind: Sign[] } {
  const blind = (why: string): Sign => ({ kind: 'blind', by: BY, of: 'input', why });
  const inside = isContainer() ? [blind('in a container only its own terminals can be seen')] : [];
  const consoles = namesOf(directory).names.filter((name) => CONSOLE.test(name));
  const { names, problem } = namesOf(`${directory}/pts`);
  const pts = names.filter((name) => /^\d+$/.test(name)).map((name) => `pts/${name}`);
  return { names: [...consoles, ...pts], blind: [...inside, ...problem.map(blind)] };
}

function namesOf(directory: string): { names: string[]; problem: string[] } {
  try {
    return { names: readdirSync(directory), problem: [] };
  } catch (error) {
    return { names: [], problem: [`${directory} cannot be read: ${reasonOf(error)}`] };
  }
}

function once<T>(make: () => T): () => T {
  let made: { readonly value: T } | null = null;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}
