// Which of the two streams of a process a command shows.

import type { Command } from 'commander';
import { STREAMS, type Stream } from './follow-job.ts';

export interface StreamChoice {
  readonly stdout?: boolean;
  readonly stderr?: boolean;
  readonly all?: boolean;
}

export function defineStreams(command: Command): void {
  command.option('-o, --stdout', 'only standard output');
  command.option('-e, --stderr', 'only standard error, written to standard output here');
  command.option('-a, --all', 'both, each to the stream of the same name here (the default)');
}

/** Both, where none is named or all are. */
export function streamsOf({ stdout = false, stderr = false, all = false }: StreamChoice) {
  const named = STREAMS.filter((stream: Stream) => (stream === 'stdout' ? stdout : stderr));
  return all || named.length === 0 ? STREAMS : named;
}
