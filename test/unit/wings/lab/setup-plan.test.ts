// What is to be done to a machine that gets a part in a cluster.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Result } from '../../../../src/kernel/base/result.ts';
import {
  type HeadSeen,
  type NodeSeen,
  type Problem,
  planClient,
  planHead,
  planNode,
  planRemoval,
  type Step,
} from '../../../../src/wings/lab/core/setup/plan.ts';
import { agentUnit, headUnit } from '../../../../src/wings/lab/core/setup/user-units.ts';

const MACHINE = {
  whose: 'machine' as const,
  isRoot: true,
  hasSudo: true,
  hasSystemd: true,
  state: '/var/lib/weft/head',
  freeBytes: 2 ** 30,
  hasUnit: false,
  lasts: { isRunning: false, lingers: false },
};
const HEAD: HeadSeen = { ...MACHINE, hasUser: false, hasFolder: false, hasConfig: false };
const NODE: NodeSeen = { ...MACHINE, state: '/var/lib/weft/node', member: null, hasClient: false };

const head = (more: Partial<HeadSeen>) => said(planHead({ ...HEAD, ...more }));
const node = (more: Partial<NodeSeen>, fingerprint: string | null = null) =>
  said(planNode({ ...NODE, ...more }, fingerprint));

/** Names of the steps, or the problem with its way out. */
function said(plan: Result<readonly Step[], Problem>): string {
  if (plan.ok) return plan.value.map(({ name }) => name).join(' ');
  return `${plan.error.what}: ${plan.error.remedy}`;
}

const RUNS = { isRunning: true, lingers: false };

test('[Y11] what is there is not done again, and the rest in its order', () => {
  assert.equal(head({}), 'user folder config unit start');
  assert.equal(head({ hasUser: true, hasUnit: true, hasFolder: true }), 'config start');
  const all = { hasUser: true, hasFolder: true, hasConfig: true, hasUnit: true, lasts: RUNS };
  assert.equal(head(all), '');
});

test('[Y11] where it cannot be, it says what can', () => {
  assert.match(head({ isRoot: false }), /root: Type it with sudo; .*--user/);
  assert.match(head({ isRoot: false, hasSudo: false }), /There is no sudo here: log in as root/);
  assert.match(head({ hasSystemd: false }), /no systemd.*docs\/install\.md/);
  assert.match(head({ freeBytes: 2 ** 20 }), /1M are free.*256M are needed: Make room/);
  assert.match(node({ isRoot: false }), /a node of a machine is set up by root/);
});

test('[Y12] a node joins, has units and runs; what an earlier run did stays', () => {
  const member = { name: 'lab1', fingerprint: 'aa' };
  assert.equal(node({}), 'join unit start');
  assert.equal(node({ member }, 'aa'), 'client unit start');
  assert.equal(node({ member, hasClient: true, hasUnit: true }), 'start');
  assert.equal(node({ member, hasClient: true, hasUnit: true, lasts: RUNS }), '');
  assert.match(node({ member }, 'bb'), /node lab1 of another cluster: Take it out there first/);
});

test('[Y14] without root both are services of the user, who may be logged out', () => {
  const own = { whose: 'user', isRoot: false } as const;
  assert.equal(head(own), 'config unit linger start');
  assert.equal(node(own), 'join unit linger start');
  assert.equal(node({ ...own, lasts: { isRunning: false, lingers: true } }), 'join unit start');
  assert.match(head({ ...own, isRoot: true }), /--user is for who is not root/);
  assert.match(head({ ...own, hasSystemd: false }), /no systemd here for services of yours/);
});

test('[Y13] users are told of a head once, and of another one only when the file is removed', () => {
  const wanted = { head: 'https://head:5001', fingerprint: 'aa' };
  const none = { file: '/etc/c', head: null, fingerprint: null, hasHead: false };
  assert.deepEqual(planClient(none, wanted), { ok: true, value: true });
  assert.deepEqual(planClient({ ...none, ...wanted }, wanted), { ok: true, value: false });
  const refused = (more: Partial<typeof none> | typeof wanted) => {
    const plan = planClient({ ...none, ...more }, wanted);
    return plan.ok ? '' : `${plan.error.what}: ${plan.error.remedy}`;
  };
  const other = { ...wanted, head: 'https://other:5001' };
  assert.match(refused(other), /names another head, https:\/\/other:5001: Remove it first.*rm/);
  assert.match(refused({ ...wanted, fingerprint: 'bb' }), /names another certificate/);
  assert.match(refused({ hasHead: true }), /has a head of its own/);
});

test('[Y14] units of a user say where its state is, whatever is in the name', () => {
  const service = { weft: '/opt of/$weft', state: '/a "b" 100% $x' };
  assert.match(headUnit(service), /^Environment="WEFT_DIR=\/a \\"b\\" 100%% \$x"$/m);
  assert.match(headUnit(service), /^ExecStart="\/opt of\/\$\$weft" head$/m);
  assert.match(agentUnit(service), /^KillMode=process$/m);
});

test('[Y17] what is removed is said, and where nothing is nothing is done', () => {
  const none = { whose: 'machine', isRoot: true, hasSudo: true, units: [], folders: [] } as const;
  const removal = (more: object) => {
    const plan = planRemoval({ ...none, files: [], hasUser: false, ...more });
    return plan.ok
      ? plan.value.map(({ words }) => words)
      : `${plan.error.what}: ${plan.error.remedy}`;
  };
  assert.deepEqual(removal({}), []);
  const all = { units: ['weft-head'], folders: ['/var/lib/weft'], files: ['/c'], hasUser: true };
  assert.deepEqual(removal(all), [
    'stop weft-head; what runs by them ends',
    'remove /var/lib/weft: jobs, history, keys, results that nobody has pulled',
    'remove /c',
    'remove the user weft',
  ]);
  assert.match(String(removal({ whose: 'user' })), /--user is for who is not root/);
  assert.match(String(removal({ isRoot: false })), /removed by root: Type it with sudo; .*--user/);
});
