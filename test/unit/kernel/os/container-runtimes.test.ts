// What a machine can run containers with, asked of programs that stand for the runtimes.

import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { type TestContext, test } from 'node:test';
import { runtimeLabels, runtimeWords } from '../../../../src/kernel/model/container-runtime.ts';
import { findContainerRuntimes, isOnPath } from '../../../../src/kernel/os/container-runtimes.ts';

const MACHINE_PATH = process.env['PATH'];

/** Only these are on the PATH. */
function withPrograms(t: TestContext, programs: Readonly<Record<string, string>>): void {
  const folder = mkdtempSync(path.join(tmpdir(), 'weft-runtimes-'));
  for (const [name, text] of Object.entries(programs)) {
    writeFileSync(path.join(folder, name), `#!/bin/sh\n${text}\n`, { mode: 0o755 });
  }
  process.env['PATH'] = folder;
  t.after(() => {
    process.env['PATH'] = MACHINE_PATH;
    rmSync(folder, { recursive: true });
  });
}

test('a runtime whose daemon answers is a label, and one that does not says why', async (t) => {
  withPrograms(t, {
    docker: 'echo "$*" >&2; echo "permission denied at the socket" >&2; exit 1',
    podman: 'echo "WARN: an odd mount" >&2; [ "$1" = version ] && echo 4.3.1',
    apptainer: 'exit 1',
  });
  const found = await findContainerRuntimes(null);
  assert.deepEqual(found, [
    { name: 'apptainer', version: '', problem: null },
    { name: 'docker', version: '', problem: 'permission denied at the socket' },
    { name: 'podman', version: '4.3.1', problem: null },
  ]);
  assert.deepEqual(runtimeLabels(found), ['apptainer', 'podman']);
  const words = 'apptainer; docker cannot be used: permission denied at the socket; podman 4.3.1';
  assert.equal(runtimeWords(found), words);
});

test('a runtime that says nothing is told by how it ended, and none is a word', async (t) => {
  withPrograms(t, { docker: 'exit 3' });
  assert.equal(
    runtimeWords(await findContainerRuntimes(null)),
    'docker cannot be used: exit code 3',
  );
  withPrograms(t, {});
  assert.equal(runtimeWords(await findContainerRuntimes(null)), 'none');
});

test('tasks have other variables than the agent, and may find other engines', async (t) => {
  withPrograms(t, {
    docker: 'echo "$DOCKER_HOST at $HOME" >&2; exit 1',
    env: 'exec /usr/bin/env "$@"',
  });
  process.env['DOCKER_HOST'] = 'unix:///elsewhere';
  t.after(() => {
    delete process.env['DOCKER_HOST'];
  });
  const PATH = process.env['PATH'] ?? '';
  const [docker, ...others] = await findContainerRuntimes({ PATH, HOME: '/agent' });
  assert.deepEqual([docker?.problem, others], ['at /agent', []]);
  assert.deepEqual(await findContainerRuntimes({ PATH: '/nowhere', HOME: '/' }), []);
});

const skip = isOnPath('podman') ? false : 'needs podman';

/** Configurations of this machine's podman with which it runs nothing. */
const FAULTS = [
  {
    of: 'its storage',
    variable: 'CONTAINERS_STORAGE_CONF',
    text: '[storage]\ndriver = "nosuch"\ngraphroot = "/g"\nrunroot = "/r"\n',
  },
  {
    of: 'what runs its containers',
    variable: 'CONTAINERS_CONF',
    text: '[engine]\nruntime = "nosuch"\n',
  },
];

for (const { of, variable, text } of FAULTS) {
  test(`a podman that cannot use ${of} says so`, { skip }, async (t) => {
    const folder = mkdtempSync(path.join(tmpdir(), 'weft-podman-'));
    const file = path.join(folder, 'podman.conf');
    writeFileSync(file, text);
    process.env[variable] = file;
    t.after(() => {
      delete process.env[variable];
      rmSync(folder, { recursive: true });
    });
    const podman = (await findContainerRuntimes(null)).find(({ name }) => name === 'podman');
    assert.ok(podman?.problem, `it says ${podman?.version}`);
  });
}
