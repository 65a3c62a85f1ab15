// What jobs name, on contents that the test makes come and go.

import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { mkdtemp, open, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { type TestContext, test } from 'node:test';
import { err, ok } from '../../../../src/core/base/result.ts';
import { References } from '../../../../src/core/blobs/references.ts';
import { formatFileSet } from '../../../../src/core/files/file-set.ts';
import type { BlobHash } from '../../../../src/core/model/blob.ts';
import { refuse } from '../../../../src/core/model/errors.ts';
import type { Committed } from '../../../../src/head/engine-options.ts';
import { JobFiles, type JobFilesOptions } from '../../../../src/head/files/job-files.ts';
import { KeptLog } from '../http/fixture.ts';

function hashOf(content: string): BlobHash {
  return createHash('sha256').update(content).digest('hex') as BlobHash;
}

const ONE = hashOf('one');
const LIST = formatFileSet({
  version: 1,
  common: [{ path: 'a', kind: 'file', size: 3, mode: 0o644, sha256: ONE }],
});
const INPUTS = hashOf(LIST);

/** One list of one file, and one job of alice that names it. */
async function bench(t: TestContext) {
  const directory = await mkdtemp(path.join(tmpdir(), 'weft-job-files-'));
  t.after(() => rm(directory, { recursive: true }));
  const file = path.join(directory, 'list');
  await writeFile(file, LIST);
  const sizes = new Map([
    [INPUTS, LIST.length],
    [ONE, 3],
  ]);
  const blobs: JobFilesOptions['blobs'] = {
    mayRead: () => true,
    sizeOf: (hash) => sizes.get(hash) ?? null,
    async open(hash) {
      const size = sizes.get(hash);
      if (size === undefined) return err(refuse('blob.not_found', { hash }));
      return ok({ file: await open(file), size });
    },
  };
  const names = new References();
  const job = {
    ...{ id: 1, owner: 'alice', outcome: null },
    spec: { staging: { inputs: INPUTS } },
  };
  let follow: (committed: Committed) => void = () => undefined;
  const jobFiles = new JobFiles({ blobs, names, log: new KeptLog() });
  jobFiles.attach({
    state: { jobs: new Map([[1, job]]) },
    onCommitted: (then: typeof follow) => {
      follow = then;
    },
  } as never);
  const end = () => follow({ events: [{ kind: 'job_done', jobId: 1 }] } as never);
  return { jobFiles, names, sizes, end };
}

test('what only jobs that are done name is looked at again before another may name it', async (t) => {
  const { jobFiles, sizes, end } = await bench(t);
  await jobFiles.filled();
  assert.ok((await jobFiles.check('alice', INPUTS)).ok);
  end();
  sizes.delete(ONE);
  const checked = await jobFiles.check('alice', INPUTS);
  assert.equal(!checked.ok && checked.error.code, 'files.lacking');
});
