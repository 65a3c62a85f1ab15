// Variables of a batch are never those of the scripts that start its jobs.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { compileBatch } from '../../../../../src/wings/batches/core/compile.ts';
import { buildScript, jobScript } from '../../../../../src/wings/batches/core/slurm/scripts.ts';
import { taskScript } from '../../../../../src/wings/batches/core/task-script.ts';
import type { WrittenBatch } from '../../../../../src/wings/batches/core/written.ts';

const SOLVERS: readonly WrittenBatch['solver'][] = [
  ...[undefined, { build: 'b.py' }, { image: 'a.sif', mounts: ['/a'], gpu: true }],
  ...[
    { docker: 'a:1', gpu: true },
    { docker: 'a.tar', mounts: ['/a'] },
  ],
  ...[{ podman: 'a:1', gpu: true }, { podman: 'a.tar' }],
];

/** Where a command may begin, in which a variable is given a value. */
const SET = /(?:^|[;&|({]|\b(?:then|else|do|if)\s)\s*([A-Za-z_]\w*)=/gm;
const EACH = /\b(?:for|read -r) (\w+)/g;
/** Not the scripts' alone: jobs are given them, and may change some. */
const SHARED = /^(WEFT_\w+|OMP_NUM_THREADS|PATH)$/;

function compiled(solver: WrittenBatch['solver'], env: Record<string, string> = {}) {
  const isBuilt = solver === undefined || 'build' in solver;
  const job = { name: 'a', ...(isBuilt ? { run: 'x.py' } : {}) };
  const written = { namespace: 'lab', name: 'one', env, jobs: [job] };
  return compileBatch(solver === undefined ? written : { ...written, solver }, 'weft');
}

test('[B11] a name that the scripts use is refused as that of a variable', () => {
  const names = new Set<string>();
  for (const solver of SOLVERS) {
    const { batch, problems } = compiled(solver);
    assert.deepEqual(problems, []);
    const [job] = batch.jobs;
    assert.ok(job !== undefined);
    for (const text of [taskScript(batch), jobScript(batch, job, 'i'), buildScript(batch, 'i')]) {
      for (const [, name = ''] of [...(text ?? '').matchAll(SET), ...(text ?? '').matchAll(EACH)])
        if (!SHARED.test(name)) names.add(name);
    }
  }
  assert.ok(names.has('work') && names.has('memory') && names.has('gpu'), [...names].join(' '));
  for (const name of names) {
    const [problem] = compiled(undefined, { [name]: '/home/alice' }).problems;
    assert.match(problem?.what ?? `'${name}' is accepted`, /variable of the script/);
  }
});
