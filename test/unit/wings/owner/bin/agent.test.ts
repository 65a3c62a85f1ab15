// Whose machine an owner's rules are about.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { AgentOptions } from '../../../../../src/kernel/config/daemon-options.ts';
import { ownOptions } from '../../../../../src/wings/owner/bin/agent.ts';

const PAUSE = { maxMs: 1000, owners: ['ann'], door: '/run/door' };

test("the owner of a gateway's machine has no say over the nodes of its site", () => {
  const member = { name: 'n1', site: { member: 'n1' }, pause: PAUSE } as unknown as AgentOptions;
  assert.deepEqual(ownOptions(member), { name: 'n1', site: { member: 'n1' } });
  const gateway = { name: 'hpc', site: {}, pause: PAUSE } as unknown as AgentOptions;
  assert.equal(ownOptions(gateway), gateway);
});
