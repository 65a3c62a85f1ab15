// Tasks and the device files of cards, on the real kernel: devices that a program of the operator
// lists, by files that stand in for those of cards.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';
import { GpuCluster, RemountedCluster } from './support/gpu-cluster.ts';
import { until } from './support/hosts.ts';

/** Two devices that no program needs: `/dev/full`, and the kernel's log. */
const NUMBERS = [
  ['1', '7'],
  ['1', '11'],
] as const;

function make(file: string, [major, minor]: readonly [string, string]): boolean {
  return spawnSync('mknod', ['-m', '666', file, 'c', major, minor]).status === 0;
}

/** False: device files can be made here. */
function whyNoFiles(): string | false {
  const folder = mkdtempSync(path.join(tmpdir(), 'weft-devices-'));
  const isMade = make(path.join(folder, 'full'), NUMBERS[0]);
  rmSync(folder, { recursive: true });
  return isMade ? false : 'no device files can be made here';
}

/** Those of version 1 that know devices, where there are some. */
const HIDE_CGROUPS = 'umount /sys/fs/cgroup/devices 2> /dev/null; true';

const WAYS = [
  { name: 'as this machine has it', make: () => new GpuCluster(), words: /\S/ },
  {
    name: 'by a BPF program',
    make: () => new RemountedCluster(HIDE_CGROUPS),
    words: /^BPF program/,
  },
];

for (const { name, make: makeCluster, words } of WAYS) {
  describe(`device files of gpus, ${name}`, { skip: whyNoFiles() }, () => {
    let cluster: GpuCluster;
    let files: string[] = [];

    /** What the operator's program says from now on. */
    const lists = (...all: readonly (readonly [id: string, file: string])[]): string => {
      const rows = all.map(([id, file]) => {
        const name = 'Wormhole n150';
        return { kind: 'gpu', id, name, memory: 12 * 2 ** 30, files: [file] };
      });
      const program = path.join(cluster.directory, 'devices');
      writeFileSync(`${program}.new`, `#!/bin/sh\necho '${JSON.stringify(rows)}'\n`, {
        mode: 0o755,
      });
      renameSync(`${program}.new`, program);
      return program;
    };

    before(async () => {
      cluster = makeCluster();
      files = NUMBERS.map((_, at) => path.join(cluster.directory, `card${at}`));
      assert.ok(NUMBERS.every((numbers, at) => make(files[at] ?? '', numbers)));
      cluster.env['WEFT_NODE_DEVICES'] = lists(['TT-0', files[0] ?? ''], ['TT-1', files[1] ?? '']);
      cluster.write({ nvidia: [] });
      await cluster.up('--listen', 'none', '--cpus', '4', '--memory', '1G', '--gpus', '2');
      await cluster.shows('free free');
    });
    after(() => cluster.close());

    /** What a job says of each file, by whether it can open it. */
    const opened = async (...options: readonly string[]): Promise<string> => {
      const tries = files.map((file) => `(: < ${file}) 2>&1 && echo open || echo shut`).join('; ');
      const said = await cluster.ok('run', '--follow', ...options, '--', tries);
      return said
        .split('\n')
        .filter((line) => /^(open|shut)$/.test(line))
        .join(' ');
    };

    it('[V25] a task opens the cards that it was given and no others, and the node says so', async () => {
      const { gpus } = await cluster.node();
      const shown = await cluster.ok('node', 'show', 'n1');
      if (gpus?.fence?.holds !== true) {
        assert.match(shown, /^Gpu fence: +none: tasks may open all gpus \(/m);
        assert.equal(await opened(), 'open open');
        return;
      }
      assert.match(gpus.fence.words, words);
      assert.match(shown, /^Gpu fence: +tasks open no gpus but their own \(/m);
      const small = ['--cpus', '1', '--memory', '64M'];
      assert.equal(await opened(...small), 'shut shut');
      assert.equal(await opened(...small, '--gpus', '1'), 'open shut');
      assert.equal(await opened(...small, '--gpus', '2'), 'open open');
      const hold = await cluster.ok('run', ...small, '--gpus', '1', '--', 'exec sleep 600');
      await cluster.reaches(hold, 'running');
      assert.equal(await opened(...small, '--gpus', '1'), 'shut open');
      assert.equal(await opened(...small), 'shut shut', 'a group that is used again');
      const tries = `(: < ${files[0]}) && echo open; (: < ${files[1]}) || echo shut`;
      const step = await cluster.ok('exec', hold, '--', 'sh', '-c', tries);
      assert.match(step, /^open\n(.*\n)?shut$/m, 'a step of it');
      await cluster.ok('cancel', hold);
    });

    it('[V25] a file that is none keeps no task from running, and the node says that nothing holds', async () => {
      lists(['TT-0', '/dev/none-such']);
      const fence = await until('it is told', async () => {
        const { gpus } = await cluster.node();
        return gpus?.fence?.holds === false ? gpus.fence.words : undefined;
      });
      assert.match(fence, /the device files of \d gpus? are not known|root|cgroup/);
      assert.match(await opened('--gpus', '1'), /^(open|shut) (open|shut)$/);
    });
  });
}
