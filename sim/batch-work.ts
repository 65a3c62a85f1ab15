// What users do with batches during a run: submit them, resume them from files that have changed,
// submit them beside the one that is there, retry, cancel, build anew, remove.

import type { BatchRef } from '../src/kernel/model/batch.ts';
import type { BlobHash } from '../src/kernel/model/blob.ts';
import type { Submission } from '../src/kernel/model/submission.ts';
import type { BatchPartRequest, SubmitBatch } from '../src/wings/batches/machine/commands.ts';
import type { BatchesTruth } from './batch-truth.ts';
import type { Dice, Streams } from './chance.ts';
import { type Client, operator } from './client.ts';
import type { Time } from './clock.ts';
import type { Machine } from './machine.ts';
import { type Plan, programOf, QUIET } from './plan.ts';
import { Recurring, times } from './recurring.ts';
import type { Weather } from './weather.ts';

export interface BatchWorkWorld {
  readonly time: Time;
  readonly streams: Streams;
  readonly client: Client;
  readonly machines: readonly Machine[];
  readonly truth: BatchesTruth;
  readonly weather: Weather;
  readonly note: (text: string) => void;
  /** Wishes about who is told of the end of a batch. */
  readonly wishes: () => Partial<Submission>;
}

/** Each kind of wish is so many times rarer than the weather's `batchMs`. */
const RETRY_EVERY = 1.5;
const RESUME_EVERY = 3;
const CANCEL_EVERY = 4;
const REBUILD_EVERY = 4;
const REMOVE_EVERY = 4;
/** Few, so that batches share what is built. */
const SOLVERS = ['a', 'b', 'c'];
const RECENT = 6;
const GIB = 1024 ** 3;

/** A file of a batch as its owner has it. */
interface File {
  readonly owner: string;
  readonly name: string;
  /** Sizes of its parts. */
  readonly counts: readonly number[];
  readonly solver: string | null;
  readonly after: readonly BatchRef[];
  /** Those of all its parts. */
  readonly wishes: Partial<Submission>;
  /** Others have gone into it since. */
  readonly edition: number;
}

export class BatchWork {
  /** Batches that are not answered yet. */
  readonly unanswered = new Set<string>();
  readonly #world: BatchWorkWorld;
  readonly #recurring: Recurring;
  readonly #files: File[] = [];
  #count = 0;

  constructor(world: BatchWorkWorld) {
    this.#world = world;
    this.#recurring = new Recurring(world.time, world.streams);
  }

  start(): void {
    const { batchMs } = this.#world.weather;
    const every = this.#recurring.every.bind(this.#recurring);
    every('submit', batchMs, (dice) => this.#submitNew(dice));
    every('resume', times(RESUME_EVERY, batchMs), (dice) => this.#submitAgain(dice));
    const wishes = {
      retry_batch: RETRY_EVERY,
      cancel_batch: CANCEL_EVERY,
      rebuild_batch: REBUILD_EVERY,
      remove_batch: REMOVE_EVERY,
    } as const;
    for (const [kind, count] of Object.entries(wishes) as [keyof typeof wishes, number][]) {
      every(kind, times(count, batchMs), (dice) => this.#wish(kind, dice));
    }
  }

  stop(): void {
    this.#recurring.stop();
  }

  #submitNew(dice: Dice): void {
    this.#count += 1;
    const counts = Array.from({ length: dice.whole(1, 2) }, () => dice.whole(1, 4));
    const solver = dice.happens(0.75) ? dice.pick(SOLVERS) : null;
    const owner = dice.pick(['alice', 'bob']);
    const after = this.#drawAfter(owner, dice);
    const wishes = this.#world.wishes();
    const file = { owner, name: `b${this.#count}`, counts, solver, after, wishes, edition: 0 };
    this.#files.push(file);
    this.#submit(file, 'new', dice);
  }

  /** What completed must not have changed: some of these are refused. */
  #submitAgain(dice: Dice): void {
    const at = this.#files.length - 1 - dice.whole(0, RECENT);
    const file = this.#files[at];
    if (file === undefined) return;
    const solver = file.solver === null || dice.happens(0.5) ? file.solver : dice.pick(SOLVERS);
    const again = { ...file, solver, edition: file.edition + 1 };
    this.#files[at] = again;
    this.#submit(again, dice.pick(['resume', 'resume', 'new_version', 'new'] as const), dice);
  }

  #submit(file: File, mode: SubmitBatch['mode'], dice: Dice): void {
    const { client, note } = this.#world;
    const key = `${file.name}.${file.edition}`;
    const command: SubmitBatch = {
      kind: 'submit_batch',
      namespace: file.owner,
      name: file.name,
      origin: 'weft',
      mode,
      key,
      after: file.after,
      build: file.solver === null ? null : `solver-${file.solver}`,
      parts: this.#parts(file, key, dice),
    };
    this.unanswered.add(key);
    client.ask(command, operator(file.owner), (result) => {
      this.unanswered.delete(key);
      note(`batch ${key}: ${result.ok ? JSON.stringify(result.value) : result.error.code}`);
    });
  }

  #drawAfter(owner: string, dice: Dice): BatchRef[] {
    const last = this.#files.filter((one) => one.owner === owner).at(-1);
    if (last === undefined || !dice.happens(0.2)) return [];
    return [{ namespace: owner, name: last.name, version: 1 }];
  }

  #parts(file: File, key: string, dice: Dice): BatchPartRequest[] {
    let from = 0;
    return file.counts.map((count, at) => {
      const numbers = Array.from({ length: count }, (_, item) => from + item);
      from += count;
      return {
        submission: this.#drawPart(file, { name: `${key}.${at}`, numbers }, dice),
        numbers,
        prints: numbers.map(() => (dice.happens(0.05) ? key : file.name)),
      };
    });
  }

  #drawPart(
    { solver, wishes }: File,
    { name, numbers }: { readonly name: string; readonly numbers: readonly number[] },
    dice: Dice,
  ): Submission {
    const { weather } = this.#world;
    const hasFiles = weather.files !== null && dice.happens(0.5);
    const inputs = Buffer.from(dice.bytes(32)).toString('hex') as BlobHash;
    const plan: Plan = {
      ...QUIET,
      runMs: dice.waitMs(dice.pick([50, 2000, 8000])),
      code: dice.happens(0.2) ? 1 : 0,
      ignoresTerm: dice.happens(0.2),
      ...(hasFiles ? { outputs: dice.whole(0, 3) } : {}),
      ...(solver === null ? {} : { build: this.#buildOf(solver) }),
    };
    return {
      program: programOf(plan),
      name,
      directory: { kind: 'private' },
      each: numbers.map((number) => ({ name: `j${number}` })),
      ...(dice.happens(0.3) ? { array: { indices: '0', runningMax: 2 } } : {}),
      ...(hasFiles ? { staging: { inputs } } : {}),
      cpuCount: dice.pick([0, 1, 1, 2]),
      memoryBytes: dice.pick([0, 0, GIB]),
      walltimeMs: dice.happens(0.3) ? dice.span(2000, 20_000) : null,
      retriesMax: dice.pick([0, 0, 1]),
      requeue: !dice.happens(0.15),
      ...wishes,
    };
  }

  /** Drawn for each submission: whether a build works is a matter of circumstances too. */
  #buildOf(solver: string): NonNullable<Plan['build']> {
    const { streams, machines } = this.#world;
    const own = streams.under(`solver ${solver}`);
    const failsOn = machines.filter(({ name }) => own.of(`first ${name}`).happens(0.35));
    return { ms: own.of('ms').pick([300, 3000, 12_000]), failsOn: failsOn.map(({ name }) => name) };
  }

  #wish(kind: 'retry_batch' | 'cancel_batch' | 'rebuild_batch' | 'remove_batch', dice: Dice): void {
    const { client, truth } = this.#world;
    const titles = [...truth.batches.values()].slice(-RECENT);
    const found = dice.pick([undefined, ...titles]);
    if (found === undefined) return;
    const [namespace = '', rest = ''] = found.title.split('/');
    const [name = '', version] = rest.split('@');
    const batch = { namespace, name, version: version === undefined ? 1 : Number(version) };
    client.once({ kind, batch }, operator(dice.happens(0.9) ? found.owner : 'carol'));
  }
}
