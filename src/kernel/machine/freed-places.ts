// Places that tasks have given up: the next tasks of their jobs on the same nodes may have them.

import type { JobId, NodeName } from '../model/ids.ts';

export class FreedPlaces {
  readonly #byNode = new Map<NodeName, Map<JobId, number>>();

  note(node: NodeName, jobId: JobId): void {
    const jobs = this.#byNode.get(node);
    if (jobs === undefined) this.#byNode.set(node, new Map([[jobId, 1]]));
    else jobs.set(jobId, (jobs.get(jobId) ?? 0) + 1);
  }

  /** One of them has been taken. */
  taken(node: NodeName, jobId: JobId): void {
    const jobs = this.#byNode.get(node);
    const count = jobs?.get(jobId);
    if (count !== undefined) jobs?.set(jobId, Math.max(0, count - 1));
  }

  clear(): void {
    this.#byNode.clear();
  }

  /**
   * Each node and job of which a task has ended, with how many places are free. Empties the book.
   */
  *takeAll(): Generator<{ node: NodeName; jobId: JobId; count: number }> {
    const all = [...this.#byNode];
    this.clear();
    for (const [node, jobs] of all) {
      for (const [jobId, count] of jobs) yield { node, jobId, count };
    }
  }
}
