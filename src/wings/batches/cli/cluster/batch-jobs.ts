// The jobs of a batch, page by page.

import { didYouMean } from '../../../../kernel/base/nearest-word.ts';
import type { Api } from '../../../../kernel/connect/api.ts';
import { usage } from '../../../../kernel/model/failure.ts';
import type { BatchJobView } from '../../api/batches.ts';
import type { BatchParams } from './batch-name.ts';

const PAGE_JOBS = 1000;

/** In the order of the file, at most this many. */
export async function batchJobs(
  api: Api,
  params: BatchParams,
  most: number,
): Promise<BatchJobView[]> {
  const found: BatchJobView[] = [];
  let after: number | undefined;
  while (found.length < most) {
    const limit = Math.min(PAGE_JOBS, most - found.length);
    const page = await api.call('listBatchJobs', { params, query: { after, limit } });
    found.push(...page.jobs);
    if (page.next === null) break;
    after = page.next;
  }
  return found;
}

/** The job of this name; refused with the nearest one where there is none. */
export async function batchJob(api: Api, params: BatchParams, name: string): Promise<BatchJobView> {
  const { jobs } = await api.call('listBatchJobs', { params, query: { name, limit: 1 } });
  const [job] = jobs;
  if (job !== undefined) return job;
  const names = (await batchJobs(api, params, PAGE_JOBS)).map((one) => one.name);
  const batch = `${params.namespace}/${params.name}`;
  throw usage(`${batch} has no job '${name}'.${didYouMean(name, names)}`);
}
