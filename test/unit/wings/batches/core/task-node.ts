// Tasks of batches as a node lays them out, and their scripts run for real.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { TestContext } from 'node:test';
import type { BatchFile } from '../../../../../src/wings/batches/core/batch.ts';
import { compileBatch } from '../../../../../src/wings/batches/core/compile.ts';
import { taskLine, taskScript } from '../../../../../src/wings/batches/core/task-script.ts';
import type { WrittenBatch } from '../../../../../src/wings/batches/core/written.ts';

export function batchOf(
  written: Partial<WrittenBatch>,
  origin: 'weft' | 'distribute' = 'weft',
): BatchFile {
  const whole = {
    namespace: 'lab',
    name: 'heat',
    jobs: [{ name: 'a', run: 'job.sh' }],
    ...written,
  };
  const { batch, problems } = compileBatch(whole, origin);
  assert.deepEqual(problems, []);
  return batch;
}

export /** A task's directory on a node, with the files of a batch in it. */
class Node {
  readonly folder = mkdtempSync(path.join(tmpdir(), 'weft-task-'));

  constructor(t: TestContext) {
    t.after(() => rmSync(this.folder, { recursive: true, force: true }));
  }

  task(name: string, files: Readonly<Record<string, string>>): string {
    const work = path.join(this.folder, name);
    mkdirSync(work);
    for (const [file, text] of Object.entries(files)) {
      const full = path.join(work, '_weft', file);
      mkdirSync(path.dirname(full), { recursive: true });
      writeFileSync(full, text);
      chmodSync(full, 0o755);
    }
    return work;
  }

  /** Where builds are kept. */
  get builds(): string {
    return path.join(this.folder, 'builds');
  }

  get environment() {
    return {
      PATH: process.env['PATH'],
      WEFT_CPUS: '3',
      WEFT_BUILDS: this.builds,
      WEFT_BUILD: 'key',
      WEFT_BATCH: 'lab/heat',
    };
  }

  start(work: string, batch: BatchFile, more: Record<string, string> = {}) {
    const [job] = batch.jobs;
    assert.ok(job !== undefined);
    const args = ['-c', taskScript(batch), 'script', job.name, taskLine(batch, job)];
    return { command: 'sh', args, options: { cwd: work, env: { ...this.environment, ...more } } };
  }

  run(work: string, batch: BatchFile, more: Record<string, string> = {}) {
    const { command, args, options } = this.start(work, batch, more);
    return spawnSync(command, args, { ...options, encoding: 'utf8' });
  }
}
