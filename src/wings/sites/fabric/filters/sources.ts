// What sources of labels said last: read again and again, the last good reading kept with its age.

import type { FilterSource, SourceState } from '../../../../kernel/model/filter-rule.ts';
import type { Clock } from '../../../../kernel/ports/clock.ts';
import type { DataReader } from '../../../../kernel/ports/data-source.ts';

/** One that never answered is asked sooner: a site may wait for it. */
const FIRST_MS = 10_000;
const LABEL = /^[A-Za-z0-9][A-Za-z0-9._=/-]{0,62}$/;

interface Kept {
  readonly source: FilterSource;
  /** By name of a node, job or queue. */
  labels: ReadonlyMap<string, readonly string[]>;
  /** By the clock that never jumps; null: never. */
  readAt: number | null;
  triedAt: number | null;
  problem: string | null;
  isReading: boolean;
}

export class DataSources {
  readonly #reader: DataReader;
  readonly #clock: Clock;
  #all = new Map<string, Kept>();

  constructor(reader: DataReader, clock: Clock) {
    this.#reader = reader;
    this.#clock = clock;
  }

  /** A source that is as it was keeps what it has said. */
  set(sources: readonly FilterSource[]): void {
    const before = this.#all;
    this.#all = new Map(
      sources.map((source) => {
        const known = before.get(source.name);
        if (JSON.stringify(known?.source) === JSON.stringify(source) && known) {
          return [source.name, known];
        }
        const labels = new Map<string, readonly string[]>();
        const fresh = { source, labels, readAt: null, triedAt: null, problem: null };
        return [source.name, { ...fresh, isReading: false }];
      }),
    );
  }

  /** Reads those that are due. Resolves when all of these have been read, or have failed. */
  async look(): Promise<void> {
    const now = this.#clock.monotonic();
    const due = [...this.#all.values()].filter(
      ({ isReading, triedAt, readAt, source: { everyMs } }) =>
        !isReading &&
        (triedAt === null ||
          now - triedAt >= (readAt === null ? Math.min(everyMs, FIRST_MS) : everyMs)),
    );
    await Promise.all(due.map((one) => this.#read(one)));
  }

  labelsOf(source: string, name: string): readonly string[] {
    return this.#all.get(source)?.labels.get(name) ?? [];
  }

  get states(): SourceState[] {
    const now = this.#clock.monotonic();
    return [...this.#all.values()].map(({ source, readAt, problem }) => {
      return { name: source.name, ageMs: readAt === null ? null : now - readAt, problem };
    });
  }

  async #read(one: Kept): Promise<void> {
    one.isReading = true;
    one.triedAt = this.#clock.monotonic();
    try {
      one.labels = parseLabelData(await this.#reader.read(one.source));
      one.readAt = this.#clock.monotonic();
      one.problem = null;
    } catch (error) {
      one.problem = error instanceof Error ? error.message : String(error);
    } finally {
      one.isReading = false;
    }
  }
}

/** `{"n1": ["gpu", "rack=3"], "n2": {"rack": 4, "gpu": true}}`; throws words. */
export function parseLabelData(text: string): Map<string, readonly string[]> {
  let data: unknown;
  try {
    data = JSON.parse(text);
  } catch {
    throw new Error('it is no JSON');
  }
  if (!isRecord(data)) throw new Error('it is no object of names');
  return new Map(Object.entries(data).map(([name, value]) => [name, labelsFrom(name, value)]));
}

function labelsFrom(name: string, value: unknown): string[] {
  const words = Array.isArray(value) ? value : isRecord(value) ? pairsOf(value) : null;
  if (words === null) throw new Error(`what it has for ${name} is neither a list nor an object`);
  return words.map((word) => {
    if (typeof word === 'string' && LABEL.test(word)) return word;
    throw new Error(`what it has for ${name} has no label in ${JSON.stringify(word)}`);
  });
}

/** True is the name alone, false and null are nothing. */
function pairsOf(value: Record<string, unknown>): string[] {
  return Object.entries(value).flatMap(([key, one]) => {
    if (one === false || one === null) return [];
    return one === true ? [key] : [`${key}=${String(one)}`];
  });
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
