// Places of steps on the nodes of a job.

import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { type TestContext, test } from 'node:test';
import { Places } from '../../../../src/wings/slurm/cli/places.ts';

function inFolder(t: TestContext): string {
  const before = process.env['TMPDIR'];
  const folder = mkdtempSync(path.join(tmpdir(), 'weft-places-'));
  process.env['TMPDIR'] = folder;
  t.after(() => {
    if (before === undefined) delete process.env['TMPDIR'];
    else process.env['TMPDIR'] = before;
    rmSync(folder, { recursive: true });
  });
  return folder;
}

test('what a dead step has left is free, and nobody gives back the place of another', (t) => {
  const folder = inFolder(t);
  const places = Places.of('42.0', { nodes: 1, room: 1 });
  const release = places?.claim(new Map([[0, 1]]));
  assert.ok(places != null && release != null);
  const place = path.join(folder, readdirSync(folder)[0] ?? '', '42.0', '0.0');
  // As if it had been taken for dead, and the place been taken by another.
  writeFileSync(place, '1');
  release();
  assert.equal(readFileSync(place, 'utf8'), '1');
  assert.deepEqual(places.taken(), [0]);
  assert.ok(places.claim(new Map([[0, 1]])) !== null);
});

test('places are taken whole, and none where no file can be made', (t) => {
  const folder = inFolder(t);
  const places = Places.of('42.0', { nodes: 2, room: 2 });
  assert.ok(places !== null);
  const release = places.claim(new Map([[0, 2]]));
  assert.ok(release !== null);
  const own = path.join(folder, readdirSync(folder)[0] ?? '', '42.0');
  const both = new Map([
    [1, 1],
    [0, 1],
  ]);
  assert.equal(places.claim(both), null);
  assert.deepEqual(readdirSync(own).sort(), ['0.0', '0.1']);
  release();
  writeFileSync(own, '');
  assert.throws(() => places.claim(both), { code: 'ENOTDIR' });
  rmSync(own);
  // The folder is made anew.
  assert.ok(places.claim(both) !== null);
});
