// Where tasks run whose gpus are near one part of the machine's memory: on the real kernel, with
// pretended gpus and pretended parts.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { after, before, describe, it } from 'node:test';
import { parseCpuList } from '../../src/kernel/base/cpu-list.ts';
import { RemountedCluster } from './support/gpu-cluster.ts';

const STATUS = readFileSync('/proc/self/status', 'utf8');
const CPUS = parseCpuList(/Cpus_allowed_list:\t(.*)/.exec(STATUS)?.[1] ?? '');
/** All cpus but one, and that one. */
const PARTS = [CPUS.slice(0, -1).join(), CPUS.slice(-1).join()];
const FOLDER = '/sys/devices/system/node';
const TRY = `mount -t tmpfs none ${FOLDER}`;
const MOUNT = [
  TRY,
  ...PARTS.map(
    (cpus, at) => `mkdir ${FOLDER}/node${at} && echo ${cpus} > ${FOLDER}/node${at}/cpulist`,
  ),
].join(' && ');
const CARDS = [1, 1, 0].map((numa, index) => {
  const name = 'AMD Instinct MI210';
  return { index, uuid: `GPU-000${index}`, bus: `0${index}:00.0`, name, memory: 65_000, numa };
});
/** To which cpus a process is bound, and what it is told of that. */
const SAY = 'echo cpus=$WEFT_CPUSET; grep -o "Cpus_allowed_list:.*" /proc/self/status | cut -f 2';

/** False: it can be tried here. */
function whyNot(): string | false {
  if (CPUS.length < 2) return 'needs two cpus';
  const { status } = spawnSync('unshare', ['-m', 'sh', '-c', TRY]);
  return status === 0 ? false : 'nothing can be mounted here';
}

describe('tasks near their gpus', { skip: whyNot() }, () => {
  let cluster: RemountedCluster;

  before(async () => {
    cluster = new RemountedCluster(MOUNT);
    cluster.write({ amd: CARDS, links: [[0, 2]] });
    await cluster.up('--listen', 'none', '--cpus', String(CPUS.length), '--memory', '1G');
    await cluster.shows('free free free');
  });
  after(() => cluster.close());

  const said = async (...options: readonly string[]): Promise<string> => {
    const small = ['--memory', '64M', '--follow', ...options];
    const lines = (await cluster.ok('run', ...small, '--', SAY)).trim().split('\n');
    return lines.slice(-2).join(' ');
  };

  it('[V32] a task with a gpu runs on cpus near it, and so do its steps', async () => {
    const [, near = ''] = PARTS;
    assert.equal(await said('--gpus', '1', '--cpus', '1'), `cpus=${near} ${near}`);
    const hold = await cluster.ok('run', '--gpus', '1', '--memory', '64M', '--', 'exec sleep 600');
    await cluster.reaches(hold, 'running');
    const step = await cluster.ok('exec', hold, '--', 'sh', '-c', SAY);
    assert.equal(step.trim().replace('\n', ' '), `cpus=${near} ${near}`);
    await cluster.ok('cancel', hold);
    await cluster.reaches(hold, 'done');
  });

  it('[V23] cards of AMD that are joined are told, with the version of ROCm', async () => {
    const shown = await cluster.ok('node', 'show', 'n1');
    assert.match(shown, /^Gpu links: +.*0.*2/m);
    assert.match(shown, /^Gpu driver: +amd 6\.14\.5 \(ROCm 7\.0\)/m);
  });

  it('[V32] one that needs more cpus than are near, or has no gpu, runs on any', async () => {
    const all = /Cpus_allowed_list:\t(.*)/.exec(STATUS)?.[1];
    const most = String(CPUS.length);
    assert.equal(await said('--gpus', '1', '--cpus', most), `cpus= ${all}`);
    assert.equal(await said('--gpus', '3'), `cpus= ${all}`, 'gpus of all parts');
    assert.equal(await said(), `cpus= ${all}`);
  });
});
