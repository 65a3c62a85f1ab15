// Jobs of a listing that can be read.

import assert from 'node:assert/strict';
import type { SiteJob } from '../../../src/kernel/model/site.ts';
import type { SiteOutput } from '../../../src/wings/sites/adaptors/adaptor.ts';
import type { AdaptorCase } from './case.ts';

export function jobsIn({ adaptor }: AdaptorCase, output: SiteOutput): ReadonlyMap<string, SiteJob> {
  const read = adaptor.jobs.read(output);
  assert.ok(read.ok, read.ok ? '' : read.error.text);
  return new Map(read.value.map((job) => [job.id, job]));
}

export function jobIn(
  of: AdaptorCase,
  { output, id }: { output: SiteOutput; id: string },
): SiteJob {
  return jobsIn(of, output).get(id) ?? assert.fail(`no job ${id}`);
}
