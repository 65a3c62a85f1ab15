// The map of a job's tasks as the page keeps it: a letter for each, changed where the head says so.

import type { TaskMapReply } from '../../api/task-map.ts';

export class TaskMap {
  readonly version: string;
  readonly isDone: boolean;
  readonly letters: Uint8Array;
  /** Indices, as the head wrote them. */
  readonly indices: string;
  readonly #legend: Readonly<Record<string, string>>;
  /** First index of each stretch, with its place. */
  readonly #stretches: readonly { readonly index: number; readonly place: number }[];

  constructor({ version, isDone, indices, legend }: TaskMapReply, letters: Uint8Array) {
    this.version = version;
    this.isDone = isDone;
    this.letters = letters;
    this.indices = indices;
    this.#legend = legend;
    let place = 0;
    this.#stretches = stretchesOf(indices).map(([from, to]) => {
      const stretch = { index: from, place };
      place += to - from + 1;
      return stretch;
    });
  }

  get size(): number {
    return this.letters.length;
  }

  wordAt(place: number): string {
    const letter = String.fromCharCode(this.letters[place] ?? 0);
    return this.#legend[letter] ?? 'unknown';
  }

  indexAt(place: number): number | null {
    if (place < 0 || place >= this.size) return null;
    const stretch = this.#stretches.findLast((one) => one.place <= place);
    return stretch === undefined ? null : stretch.index + place - stretch.place;
  }

  /** Returns null when no task has this index. */
  placeOf(index: number): number | null {
    const stretch = this.#stretches.findLast((one) => one.index <= index);
    if (stretch === undefined) return null;
    const place = stretch.place + index - stretch.index;
    return this.indexAt(place) === index ? place : null;
  }
}

/** What is known now. `before`: what was known when it was asked; null: nothing. */
export function applyMap(before: TaskMap | null, reply: TaskMapReply): TaskMap {
  if (reply.states !== null) return new TaskMap(reply, codesOf(reply.states));
  const letters = before?.letters.slice() ?? new Uint8Array();
  for (const { from, states } of reply.changes) letters.set(codesOf(states), from);
  return new TaskMap(reply, letters);
}

function codesOf(text: string): Uint8Array {
  return Uint8Array.from(text, (letter) => letter.charCodeAt(0));
}

/** `0-9,12` as pairs of first and last. */
function stretchesOf(indices: string): [number, number][] {
  return indices.split(',').flatMap((part): [number, number][] => {
    const [from = Number.NaN, to = from] = part.split('-').map(Number);
    return Number.isInteger(from) && Number.isInteger(to) ? [[from, to]] : [];
  });
}
