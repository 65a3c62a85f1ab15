// What lines of clients and of workers have in common: how one is cut.

import { toAway } from './presence.ts';
import type { ClientLine, WorkerLine } from './records.ts';
import type { RouterState } from './state.ts';
import { closeLine } from './streams.ts';

/** The line is no more: what only it knew is forgotten, what it served waits for its return. */
export function lineGone(state: RouterState, line: ClientLine | WorkerLine): void {
  if (!line.isOpen) return;
  line.isOpen = false;
  state.clientLines.delete(line as ClientLine);
  state.workerLines.delete(line as WorkerLine);
  if ('worker' in line) {
    if (line.worker?.line === line) {
      toAway(line.worker, state.now);
      state.loads.refresh(line.worker);
    }
  } else if (line.session?.line === line) {
    line.session.line = null;
    line.session.awayAt = state.now;
  }
  closeLine(state, line);
}

export interface Cut {
  readonly detail: string;
  /** The peer should not come back. */
  readonly isFinal: boolean;
}

/** The router ends a line. */
export function cut(state: RouterState, line: ClientLine | WorkerLine, how: Cut): void {
  if (!line.isOpen) return;
  line.peer.send({ kind: 'closing', ...how });
  line.peer.close();
  lineGone(state, line);
}
