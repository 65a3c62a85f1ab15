// J13, judged on the durable record: a task that was cancelled when its processes had ended already
// is done with an exit code, where its nodes have told one.

import type { Event } from '../../src/kernel/machine/declared.ts';
import { formatTaskId } from '../../src/kernel/model/ids.ts';
import { Violation } from '../violation.ts';

export class LateCancels {
  /** Tasks that were cancelled while what they leave was kept, in their current start. */
  readonly #late = new Set<string>();
  /** Those of which some node has lost how its processes ended. */
  readonly #unknown = new Set<string>();

  /** One durable event after the other. */
  learn(event: Event): void {
    switch (event.kind) {
      case 'task_allocated': {
        const taskId = formatTaskId(event.place.jobId, event.place.index);
        this.#late.delete(taskId);
        this.#unknown.delete(taskId);
        return;
      }
      case 'end_asked':
        if (event.hastens) this.#late.add(formatTaskId(event.place.jobId, event.place.index));
        return;
      case 'part_ended':
        if (event.processes.length === 0) this.#unknown.add(event.epochId.replace(/#.*/, ''));
        return;
      case 'task_done':
        return this.#check(formatTaskId(event.place.jobId, event.place.index), event);
      default:
    }
  }

  #check(taskId: string, { outcome, abandoned }: Extract<Event, { kind: 'task_done' }>): void {
    if (!this.#late.delete(taskId) || this.#unknown.has(taskId) || abandoned.length > 0) return;
    if (outcome.kind === 'cancelled' && outcome.exit !== undefined) return;
    const words = `${taskId} had ended when it was cancelled, and is ${JSON.stringify(outcome)}`;
    throw new Violation('belief', words);
  }
}
