// Starts of a site's jobs come one after the other, whatever becomes of each.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { executionQueue } from '../../../../src/adaptors/slurm/steer.ts';
import { Steerer } from '../../../../src/fabric/site/steerer.ts';
import { KeptLog } from '../../head/http/fixture.ts';
import { FakeSlurm } from './fake-slurm.ts';

test('a start that fails is logged, and those behind it have their turn', async () => {
  const site = new FakeSlurm();
  const log = new KeptLog();
  const steerer = new Steerer({
    ...{ commands: site, log, steering: executionQueue({ main: 'main', execution: 'steer' }) },
    settings: { timeoutMs: 1000, before: [] },
  });
  site.run = async () => {
    throw new Error('no more processes');
  };
  const first = steerer.start({ id: '101', handle: null }, ['n1']);
  await assert.rejects(first, /no more processes/);
  site.run = FakeSlurm.prototype.run;
  const second = await steerer.start({ id: '102', handle: null }, ['n1']);
  assert.ok(second.ok);
  assert.deepEqual(
    log.lines.map(({ level, fields }) => [level, fields['job'], String(fields['error'])]),
    [['error', '101', 'Error: no more processes']],
  );
});
