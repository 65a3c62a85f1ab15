// What jobs name, on contents that the test makes come and go.

import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Readable } from 'node:stream';
import { type TestContext, test } from 'node:test';
import { err, ok } from '../../../../../src/kernel/base/result.ts';
import { References } from '../../../../../src/kernel/files/blobs/references.ts';
import { formatFileSet } from '../../../../../src/kernel/files/file-set.ts';
import type { Committed } from '../../../../../src/kernel/head/engine-options.ts';
import { JobFiles, type JobFilesOptions } from '../../../../../src/kernel/head/files/job-files.ts';
import type { BlobHash } from '../../../../../src/kernel/model/blob.ts';
import { refuse } from '../../../../../src/kernel/model/errors.ts';
import type { JobId } from '../../../../../src/kernel/model/ids.ts';
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

const NEVER_STREAMED = {
  stream: () => Readable.from([]),
  close: () => Promise.resolve(),
};

/** One list of one file, and one job of alice that names it; `failures`: its first opens fail. */
async function bench(t: TestContext, { failures = 0 } = {}) {
  const directory = await mkdtemp(path.join(tmpdir(), 'weft-job-files-'));
  t.after(() => rm(directory, { recursive: true }));
  const file = path.join(directory, 'list');
  await writeFile(file, LIST);
  const sizes = new Map([
    [INPUTS, LIST.length],
    [ONE, 3],
  ]);
  let opens = 0;
  const blobs: JobFilesOptions['blobs'] = {
    mayRead: () => true,
    sizeOf: (hash) => sizes.get(hash) ?? null,
    async open(hash) {
      opens += 1;
      if (opens <= failures) throw new Error('EMFILE: too many open files');
      const size = sizes.get(hash);
      if (size === undefined) return err(refuse('blob.not_found', { hash }));
      return ok({ ...NEVER_STREAMED, size, readAll: () => readFile(file) });
    },
  };
  const names = new References();
  const job = {
    id: 1,
    owner: 'alice',
    outcome: null,
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

test('nothing counts as named while the list of a live job cannot be read, and it is tried again', async (t) => {
  const { jobFiles, names } = await bench(t, { failures: 3 });
  await assert.rejects(jobFiles.filled(), /list of files .* of alice cannot be read/);
  await assert.rejects(jobFiles.namingOf(1 as JobId), /cannot be read/);
  assert.equal(names.isNamed(ONE), false);
  await jobFiles.filled();
  assert.ok(names.isNamed(ONE));
});

test('a list that is gone, or that only done jobs name, keeps nobody waiting', async (t) => {
  const gone = await bench(t);
  gone.sizes.clear();
  await gone.jobFiles.filled();
  const done = await bench(t, { failures: 9 });
  done.end();
  await done.jobFiles.filled();
});
