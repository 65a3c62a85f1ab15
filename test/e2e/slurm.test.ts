// An exported batch on a real Slurm: munged, slurmctld and two slurmd on this machine.

import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { type Slurm, startSlurm } from '../../bench/mix/slurm.ts';
import { ROOT } from '../../tools/tree.ts';
import { endNow, whenKilled } from '../support/when-killed.ts';
import { until } from './support/hosts.ts';

const isThere = spawnSync('slurmctld-wlm', ['-V']).status === 0;
const isRoot = process.getuid?.() === 0;
const skip = isThere && isRoot ? false : 'needs root, and slurm-wlm and munge';

/** Plans at once what is submitted, and looks again every second. */
const SCHEDULER = 'batch_sched_delay=0,sched_interval=1,bf_interval=1,defer_batch';

const BATCH = `namespace: lab
name: heat
solver: {build: build.py}
files: [heat.c, rod.json]
sweep: {alpha: [0.1, 1.0]}
defaults: {cpus: 1, memory: 100M, time: 5m}
jobs:
  - {name: "alpha{{alpha}}", run: job.py, args: ["{{alpha}}", 64]}
  - {name: "moody{{alpha}}", run: moody.sh, args: ["{{cpus}}"], slurm: {ntasks: 2, time: "00:01:00"}}
slurm: {partition: main, mem_per_cpu: 50M}
`;
/** Fails until somebody mends it, and says what Slurm gave it. */
const MOODY = `#!/bin/sh
echo "$1 of $SLURM_JOB_PARTITION" > distribute_save/said
scontrol show job "$SLURM_JOB_ID" | tr ' ' '\\n' | grep -E '^(TimeLimit|NumCPUs)=' | sort > distribute_save/limits
[ -e "$MENDED" ]
`;
const APPTAINER = `#!/bin/sh
printf '%s\\n' "$@" > "$WEFT_SAVE/words"
`;

describe('an exported batch on a real Slurm', { skip }, () => {
  const directory = mkdtempSync(join(tmpdir(), 'weft-slurm-test-'));
  const at = (...names: string[]): string => join(directory, ...names);
  let slurm: Slurm;
  let forget = (): void => undefined;

  const exportTo = (folder: string, file: string): string =>
    execFileSync(
      process.execPath,
      [join(ROOT, 'bin/weft.mjs'), 'batch', 'export', 'slurm', at(folder), at(file)],
      { cwd: directory, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] },
    );
  const submit = (folder: string): string[] => {
    const env = {
      ...slurm.environment,
      PATH: `${at('bin')}:${process.env['PATH']}`,
      MENDED: at('mended'),
    };
    const said = execFileSync('bash', [at(folder, 'submit.sh')], { env, encoding: 'utf8' });
    return said
      .trimEnd()
      .split('\n')
      .map((line) => line.replace(/ as \d+$/, ''));
  };
  const allOver = (): Promise<true> =>
    until('the queue is empty', async () => {
      return (await slurm.command('squeue', '-h')).trim() === '' || undefined;
    });
  const read = (...names: string[]): string => readFileSync(at(...names), 'utf8');

  before(async () => {
    cpSync(join(ROOT, 'examples/batch'), directory, { recursive: true });
    writeFileSync(at('b.yaml'), BATCH);
    writeFileSync(at('moody.sh'), MOODY, { mode: 0o755 });
    slurm = await startSlurm(2, 2, SCHEDULER);
    forget = whenKilled(() => {
      for (const pid of slurm.pids) endNow(pid, 'SIGTERM');
    });
  });
  after(async () => {
    await slurm?.stop();
    forget();
    rmSync(directory, { recursive: true, force: true });
  });

  it('is built once, runs with its own fields, and is submitted again where it failed', async () => {
    exportTo('out', 'b.yaml');
    const names = ['alpha0.1', 'alpha1.0', 'moody0.1', 'moody1.0'].map((name) => `jobs/${name}`);
    const first = submit('out');
    assert.deepEqual(
      first,
      ['build', ...names].map((name) => `${name}: submitted`),
    );
    const again = submit('out').filter((line) => line.startsWith('jobs/alpha'));
    for (const line of again) assert.match(line, /: (queued|done)$/);
    await allOver();
    execFileSync('cc', ['-O2', '-o', at('heat'), at('heat.c')]);
    for (const alpha of ['0.1', '1.0']) {
      const byHand = execFileSync(at('heat'), [alpha, '64', '0.05'], { encoding: 'utf8' });
      assert.equal(read('out/jobs', `alpha${alpha}`, 'results/profile.csv'), byHand);
      assert.equal(read('out/jobs', `alpha${alpha}`, 'stdout'), `alpha ${alpha}, 64 cells: done\n`);
      const moody = `out/jobs/moody${alpha}`;
      assert.equal(read(moody, 'results/said'), '2 of main\n');
      assert.equal(read(moody, 'results/limits'), 'NumCPUs=2\nTimeLimit=00:01:00\n');
      assert.equal(read(moody, 'exit_code'), '1\n');
    }
    writeFileSync(at('mended'), '');
    exportTo('out', 'b.yaml');
    assert.deepEqual(submit('out'), [
      ...['jobs/alpha0.1: done', 'jobs/alpha1.0: done'],
      ...['jobs/moody0.1: submitted', 'jobs/moody1.0: submitted'],
    ]);
    await allOver();
    assert.deepEqual(
      submit('out'),
      names.map((name) => `${name}: done`),
    );
  });

  it('starts no job when the build fails', async () => {
    writeFileSync(at('b.yaml'), BATCH.replace('name: heat', 'name: broken'));
    writeFileSync(at('build.py'), 'raise SystemExit("no compiler")\n');
    exportTo('broken', 'b.yaml');
    submit('broken');
    await allOver();
    assert.match(read('broken/build/stderr'), /no compiler/);
    assert.equal(existsSync(at('broken/jobs/alpha0.1/stdout')), false);
  });

  it('starts a container by the words of a node', async () => {
    execFileSync('mkdir', [at('bin')]);
    writeFileSync(at('bin/apptainer'), APPTAINER, { mode: 0o755 });
    writeFileSync(at('wing.sif'), 'image');
    const seed = 'meta: {batch_name: wing, namespace: lab, capabilities: []}\n';
    const part =
      'apptainer: {initialize: {sif: wing.sif}, jobs: [{name: one}]}\nslurm: {ntasks: 2}\n';
    writeFileSync(at('d.yaml'), `${seed}${part}`);
    exportTo('wing', 'd.yaml');
    assert.deepEqual(submit('wing'), ['jobs/one: submitted']);
    await allOver();
    const job = at('wing/jobs/one');
    assert.deepEqual(read('wing/jobs/one/results/words').trimEnd().split('\n'), [
      ...['run', '--nv', '--app', 'distribute', '--bind'],
      `${job}/results:/distribute_save:rw,${job}/work/input:/input:rw`,
      ...[`${job}/../../files/image`, '2'],
    ]);
  });
});
