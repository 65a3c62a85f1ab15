// Processes of MPI that are started as a step: this command answers what they ask of each other,
// and ends the others when one is gone that they would wait for.

import { constants } from 'node:os';
import { PmiSpace } from '../core/pmi.ts';
import type { StepClient } from '../sdk/step-client.ts';

const { SIGTERM, SIGKILL } = constants.signals;
/** For the others to end in by themselves. */
const GRACE_MS = 5_000;
const BUILT =
  'none of its processes spoke PMI: they ran side by side, each for itself. ' +
  'It is for MPICH and what is built with it; for a program of Open MPI say --pmix';

export class PmiRanks {
  readonly #space: PmiSpace;
  readonly #clients: StepClient[] = [];
  readonly #note: (line: string) => void;
  /** With which the first one ended that the others would have waited for. */
  #code: number | null = null;

  constructor(step: string, nodes: readonly string[], note: (line: string) => void) {
    this.#space = new PmiSpace(`weft_${step.replaceAll(/[^0-9]/g, '_')}`, nodes);
    this.#note = note;
  }

  add(client: StepClient): void {
    const rank = this.#clients.length;
    this.#clients.push(client);
    void client.done.then(({ code }) => {
      this.#space.end(rank, code);
      this.#look();
    });
  }

  hear(rank: number, bytes: Buffer): void {
    for (const answer of this.#space.hear(rank, bytes.toString('latin1')))
      this.#clients[answer.rank]?.answerPmi(answer.text);
    this.#look();
  }

  #look(): void {
    const { aborted, missed } = this.#space;
    if (aborted !== null)
      this.#endAll(`process ${aborted.rank} asked for the end of all`, aborted.code);
    else if (missed !== null)
      this.#endAll(`process ${missed.rank} ended before it was done`, missed.code);
  }

  /** The exit code of the whole; null: that of its processes. */
  get code(): number | null {
    return this.#code;
  }

  /** Null: they have found each other, or there is nobody to be found. */
  get unmet(): string | null {
    return this.#space.isUnused && this.#clients.length > 1 ? BUILT : null;
  }

  #endAll(why: string, code: number): void {
    if (this.#code !== null || this.#clients.length < 2) return;
    this.#code = code === 0 ? 1 : code & 0xff;
    this.#note(`${why}; the others are ended`);
    for (const client of this.#clients) client.signal(SIGTERM);
    const timer = setTimeout(() => {
      for (const client of this.#clients) client.signal(SIGKILL);
    }, GRACE_MS);
    void Promise.all(this.#clients.map(({ done }) => done)).then(() => clearTimeout(timer));
  }
}
