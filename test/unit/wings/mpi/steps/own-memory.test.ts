// The place of a node's own for memory that the ranks of MPI programs share.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { takeOwnMemory } from '../../../../../src/wings/mpi/steps/own-memory.ts';

const memory = mkdtempSync(join(tmpdir(), 'weft-memory-'));
after(() => rmSync(memory, { recursive: true }));

const VADER = 'OMPI_MCA_btl_vader_backing_directory';

test('[A30] two nodes of one machine get places apart, of which nothing is left', () => {
  const [one, two]: [NodeJS.ProcessEnv, NodeJS.ProcessEnv] = [{}, {}];
  const taken = [takeOwnMemory(one, memory), takeOwnMemory(two, memory)];
  assert.notEqual(one[VADER], two[VADER]);
  for (const [at, environment] of [one, two].entries()) {
    const directory = taken[at]?.directory ?? '';
    assert.equal(environment[VADER], directory);
    assert.equal(statSync(directory).mode & 0o777, 0o700);
    writeFileSync(join(directory, 'vader_segment'), '');
  }
  for (const { directory, remove } of taken) {
    remove();
    assert.equal(existsSync(directory), false);
  }
});

test('[A30] the place that a job names itself is left to it', () => {
  const environment: NodeJS.ProcessEnv = { [VADER]: '/mine' };
  takeOwnMemory(environment, memory);
  assert.equal(environment[VADER], '/mine');
});

test('[A30] what a killed server has left is removed by the next of its user', () => {
  const place = mkdtempSync(join(memory, 'killed-'));
  const alive = takeOwnMemory({}, place).directory;
  const module = new URL('../../../../../src/wings/mpi/steps/own-memory.ts', import.meta.url).href;
  const program = `import { takeOwnMemory } from ${JSON.stringify(module)};
    import { writeFileSync } from 'node:fs';
    const { directory } = takeOwnMemory({}, ${JSON.stringify(place)});
    writeFileSync(directory + '/segment', '');
    process.kill(process.pid, 'SIGKILL');`;
  const { signal } = spawnSync(process.execPath, ['--input-type=module', '-e', program]);
  assert.equal(signal, 'SIGKILL');
  assert.equal(readdirSync(place).length, 2);
  // Of a container whose processes are not to be seen here.
  const elsewhere = join(place, 'weft-mpi-1-999999999-1-abcdef');
  mkdirSync(elsewhere);
  const { directory } = takeOwnMemory({}, place);
  const left = readdirSync(place).map((name) => join(place, name));
  assert.deepEqual(left.sort(), [alive, directory, elsewhere].sort());
});
