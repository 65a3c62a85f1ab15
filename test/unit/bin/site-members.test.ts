// Members of a gateway that was started again.

import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { instancesOfMembers, jobPrefix } from '../../../src/bin/site-members.ts';

const folder = mkdtempSync(join(tmpdir(), 'weft-members-'));
after(() => rmSync(folder, { recursive: true }));

test('[G6] jobs of members are known before these are back, those of others are not', () => {
  for (const [name, instance] of Object.entries({ hpc: 'a', 'n1.hpc': 'b', 'n1.other': 'c' })) {
    mkdirSync(join(folder, name));
    writeFileSync(join(folder, name, 'instance'), `${instance}\n`);
  }
  mkdirSync(join(folder, 'n2.hpc'));
  const gateway = { name: 'hpc', stateDir: join(folder, 'hpc') };
  const found = instancesOfMembers(gateway as Parameters<typeof instancesOfMembers>[0]);
  assert.deepEqual(found.map(jobPrefix), ['weft-b']);
});
