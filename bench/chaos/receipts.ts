// Receipts as workers write them, gathered into lives.

import type { Life, Span } from './evidence.ts';

/** Longer between two receipts than of a process that runs; on a busy machine they come late. */
export const PAUSE_MS = 250;

const WHATS = new Set(['start', 'beat', 'end']);

/**
 * From the files of all hosts. A last line that is not whole was cut off with its host; one that a
 * full disk cut off runs on into the next one, and neither says anything.
 */
export function livesOf(files: readonly string[]): Life[] {
  const all: Growing[] = [];
  const newest = new Map<string, Growing>();
  for (const line of files.flatMap((text) => text.split('\n').slice(0, -1))) {
    const [task = '', epoch, host = '', nodeRank, rank, pid, at, what, work = ''] = line.split(' ');
    if (!WHATS.has(what ?? '')) continue;
    const key = line.split(' ', 6).join(' ');
    const now = Number(at);
    const life = newest.get(key);
    // The number of a process comes again after a restart of its host.
    if (life === undefined || what === 'start') {
      const ranks = { nodeRank: Number(nodeRank), rank: Number(rank), pid: Number(pid) };
      const times = { from: now, until: now, runs: [{ from: now, until: now }] };
      const of = { task, key: work, epoch: Number(epoch), host };
      const born = { ...of, ...ranks, ...times, ended: what === 'end' };
      newest.set(key, born);
      all.push(born);
    } else {
      lengthen(life.runs, now);
      life.until = now;
      life.ended = what === 'end';
    }
  }
  return all;
}

interface Growing extends Omit<Life, 'runs'> {
  until: number;
  ended: boolean;
  readonly runs: Span[];
}

function lengthen(runs: Span[], now: number): void {
  const last = runs.at(-1) as Span;
  if (now - last.until > PAUSE_MS) runs.push({ from: now, until: now });
  else runs[runs.length - 1] = { from: last.from, until: now };
}
