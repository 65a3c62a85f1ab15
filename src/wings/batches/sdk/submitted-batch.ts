// A batch on the cluster, by its title: what can be asked of it and done to it.

import { freshKey } from '../../../kernel/connect/fresh-key.ts';
import { parseBatch } from '../../../kernel/model/batch.ts';
import { wrongArgument } from '../../../kernel/sdk/errors.ts';
import type { HeadConnection } from '../../../kernel/sdk/line.ts';
import type { WaitOptions } from '../../../kernel/sdk/options.ts';
import { waitForJob } from '../../../kernel/sdk/wait.ts';
import '../api/paths.ts';
import type { BatchInfo } from './info.ts';

/** A handle of a batch on the cluster. All methods throw `WeftError`. */
export class SubmittedBatch {
  /** `namespace/name`, or with `@version` behind. */
  readonly title: string;
  readonly #line: HeadConnection;
  readonly #params: Readonly<Record<'namespace' | 'name', string>>;

  /** Not for programs: `cluster.batch` and `cluster.findBatch` make one. */
  constructor(line: object, title: string) {
    const parsed = parseBatch(title);
    if (!parsed.ok) throw wrongArgument(parsed.error);
    const { namespace, name, version } = parsed.value;
    this.title = title;
    this.#line = line as HeadConnection;
    this.#params = { namespace, name: version === null ? name : `${name}@${version}` };
  }

  /** The batch as it stands. */
  async info(): Promise<BatchInfo> {
    return this.#line.call('getBatch', { params: this.#params });
  }

  /** Resolves when it is over; whether all jobs completed, `outcome` says. */
  async wait({
    signal,
    timeout,
  }: Pick<WaitOptions, 'signal' | 'timeout'> = {}): Promise<BatchInfo> {
    const waited = new Set<number>();
    for (;;) {
      const batch = await this.info();
      const jobId = batch.jobIds.find((id) => !waited.has(id));
      if (batch.state === 'done' || jobId === undefined) return batch;
      const options = { ...(signal && { signal }), ...(timeout !== undefined && { timeout }) };
      await waitForJob(this.#line, String(jobId), options);
      waited.add(jobId);
    }
  }

  /** Ends what waits and runs of it. Resolves with how many jobs that changed. */
  async cancel(): Promise<number> {
    return (await this.#line.call('cancelBatch', { params: this.#params })).count;
  }

  /** Runs again what did not complete. Resolves with how many jobs run. */
  async retry(): Promise<number> {
    const sent = { params: this.#params, key: freshKey() };
    return (await this.#line.call('retryBatch', sent)).jobCount;
  }
}
