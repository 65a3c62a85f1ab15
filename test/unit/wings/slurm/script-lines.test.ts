// Scripts that were written for Slurm, given to `weft submit`.

import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import type { Submission } from '../../../../src/kernel/model/submission.ts';
import { FakeHead } from '../../kernel/cli/fake-head.ts';

const ACCEPTS = {
  'POST /v1/jobs': () => ({ json: { jobId: 42, taskCount: 1, directory: '/work', again: false } }),
};

test('[X6] submit reads lines of Slurm alone, and says which it honours', async () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'weft-script-'));
  try {
    const script = path.join(folder, 'run.sh');
    const directives = ['-N 2', '--ntasks=3', '--time=10', '-A lab'];
    const lines = directives.map((line) => `#SBATCH ${line}\n`).join('');
    writeFileSync(script, `#!/bin/sh\n${lines}./md\n`);
    await using head = await FakeHead.start(ACCEPTS);
    const { code, error } = await head.weft('submit', '--cpus', '4', script);
    assert.equal(code, 0, error);
    assert.deepEqual(error.replaceAll(script, 'run.sh').split('\n'), [
      'weft: warning: --account is ignored: there are no accounts here',
      'weft: run.sh has no #WEFT lines; of its #SBATCH lines are honoured: --nodes, --ntasks, --time',
      '',
    ]);
    const [{ body }] = head.work as unknown as [{ body: Submission }];
    const { nodeCount, cpuCount, mpi, walltimeMs, files, environment } = body;
    const asked = { nodeCount, cpuCount, mpi, walltimeMs, files };
    const ranks = { ranksPerNode: 2, ranks: 3 };
    const wanted = { nodeCount: 2, cpuCount: 4, mpi: ranks, walltimeMs: 600_000, files: undefined };
    assert.deepEqual(asked, wanted);
    assert.equal(environment?.['WEFT_SLURM'], '1');
    writeFileSync(script, '#!/bin/sh\n#SBATCH --tiem=1\n./md\n');
    const wrong = await head.weft('submit', script);
    assert.equal(wrong.code, 2);
    assert.match(wrong.error, /run\.sh:2: .*tiem/);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
