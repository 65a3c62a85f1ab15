// What operators and admins ask: nodes, users, tokens. And what leaves memory.

import assert from 'node:assert/strict';
import type { Command } from '../../../../src/kernel/machine/declared.ts';
import type { CreateToken } from '../../../../src/kernel/machine/users/commands.ts';
import type { NodeName, UserName } from '../../../../src/kernel/model/ids.ts';
import {
  ADMIN,
  ANN,
  BOB,
  OPERATOR,
  START_AT,
  scenario,
  submission,
} from '../../../support/controller.ts';

const N1 = 'n1' as NodeName;
const drain: Command = { kind: 'drain_node', node: N1, reason: 'new fan' };
const undrain: Command = { kind: 'undrain_node', node: N1 };
const remove: Command = { kind: 'remove_node', node: N1 };
const enroll = (more: object = {}): Command => ({
  kind: 'enroll_node',
  node: N1,
  secretHash: 'hash',
  resources: null,
  labels: [],
  replace: false,
  ...more,
});

scenario('[N4] a drained node runs on and gets nothing new', (head) => {
  head.connect('n1');
  head.running();
  head.command(drain, OPERATOR);
  assert.equal(head.refused(drain), 'node.drained');
  head.submit();
  assert.deepEqual(head.schedule(), []);
  head.ended('1#1');
  assert.equal(head.outcome(1), 'completed');
  assert.deepEqual(head.schedule(), []);
  head.connect('n1');
  assert.deepEqual(head.schedule(), [], 'also after a new hello');
  head.command(undrain, OPERATOR);
  assert.deepEqual(head.schedule(), ['2#1@n1']);
  assert.equal(head.refused(undrain), 'node.not_drained');
});

scenario('[N13] a node is given another size while it works', (head) => {
  head.connect('n1');
  const modify = (resources: object): Command => ({ kind: 'modify_node', node: N1, resources });
  assert.equal(head.refused(modify({ cpuCount: 1 }), OPERATOR), 'auth.role_needed');
  assert.equal(head.refused(modify({ cpuCount: -1 })), 'argument.invalid');
  assert.equal(
    head.refused({ ...modify({}), node: 'n7' as NodeName } as Command),
    'node.not_found',
  );
  head.command(modify({ cpuCount: 1, gpuCount: 2 }), ADMIN);
  head.submit({ cpuCount: 1 });
  head.submit({ cpuCount: 1 });
  assert.deepEqual(head.schedule(), ['1#1@n1']);
  head.command(modify({ cpuCount: 2 }), ADMIN);
  assert.deepEqual(head.schedule(), ['2#1@n1']);
  head.command(modify({ cpuCount: 1 }), ADMIN);
  assert.equal(head.state.nodes.get(N1)?.free.cpuCount, -1);
  head.connect('n1');
  const { total } = head.state.nodes.get(N1) ?? {};
  assert.deepEqual([total?.cpuCount, total?.gpuCount], [1, 2], 'also after a new hello');
});

scenario('[J18] nodes are for operators, enrolment and users for admins', (head) => {
  head.connect('n1');
  const label: Command = { kind: 'label_node', node: N1, add: ['fast'], remove: [] };
  for (const command of [drain, undrain, remove, label]) {
    assert.equal(head.refused(command, ANN), 'auth.role_needed', command.kind);
  }
  const set: Command = { kind: 'set_user', user: 'eve' as UserName, role: 'admin', mode: 'either' };
  const gone: Command = { kind: 'remove_user', user: 'ann' as UserName };
  for (const command of [enroll({ replace: true }), set, gone]) {
    assert.equal(head.refused(command, OPERATOR), 'auth.role_needed', command.kind);
  }
  const node = { kind: 'node', name: N1 } as const;
  assert.equal(head.refused(drain, node), 'auth.role_needed');
});

scenario('what is asked of a node must make sense', (head) => {
  assert.equal(head.refused(drain), 'node.not_found');
  head.connect('n1');
  assert.equal(head.refused({ ...drain, reason: ' ' } as Command), 'argument.invalid');
  const label: Command = { kind: 'label_node', node: N1, add: ['a b'], remove: [] };
  assert.equal(head.refused(label), 'argument.invalid');
  assert.equal(head.refused(enroll()), 'node.name_taken');
  assert.equal(head.refused(enroll({ node: '../n' })), 'argument.invalid');
  assert.equal(head.refused(enroll({ replace: true, labels: [''] })), 'argument.invalid');
  const none = { cpuCount: 0, memoryBytes: 0, gpuCount: 0, counted: {} };
  for (const wrong of [{ cpuCount: -1 }, { gpuCount: 1e12 }, { counted: { licence: 1e13 } }]) {
    const resources = { ...none, ...wrong };
    assert.equal(head.refused(enroll({ replace: true, resources })), 'argument.invalid');
  }
});

scenario('[N12] a node that holds something cannot be removed', (head) => {
  head.connect('n1');
  head.running();
  assert.equal(head.refused(remove), 'node.busy');
  head.ended('1#1');
  head.command(remove, OPERATOR);
  assert.equal(head.refused(remove), 'node.not_found');
  assert.equal(head.refused(submission(), ANN), 'resources.unsatisfiable');
});

scenario('[N13] declared resources win over found ones, on every hello', (head) => {
  head.enroll('n1', { declared: { cpus: 2 } });
  head.connect('n1', { cpus: 64 });
  assert.equal(head.node('n1').total.cpuCount, 2);
  head.connect('n1', { cpus: 32 });
  assert.equal(head.node('n1').total.cpuCount, 2);
  head.command(enroll({ replace: true }));
  assert.equal(head.node('n1').declared?.cpuCount, 2);
});

scenario(
  '[A5] a node that comes back with other labels is known by those, and by none before',
  (head) => {
    head.connect('n1', { labels: ['old'], shared: ['/data'] });
    assert.equal(head.refused(submission({ labels: ['new'] }), ANN), 'label.unknown');
    head.connect('n1', { labels: ['new'], shared: ['/projects'] });
    assert.equal(head.refused(submission({ labels: ['old'] }), ANN), 'label.unknown');
    assert.equal(head.refused(submission({ labels: ['shared=/data'] }), ANN), 'label.unknown');
    head.submit({ labels: ['new', 'shared=/projects'] });
    assert.deepEqual(head.schedule(), ['1#1@n1']);
  },
);

scenario('[A5] enrolled again, a node keeps its labels and gets the new ones', (head) => {
  head.connect('n1', { labels: ['linux'] });
  assert.equal(head.refused(submission({ labels: ['big'] }), ANN), 'label.unknown');
  head.command(enroll({ replace: true, labels: ['big'] }), ADMIN);
  head.submit({ labels: ['linux', 'big'] });
});

scenario('[A5] labels of operators and agents count alike, and can be taken away', (head) => {
  head.connect('n1', { labels: ['linux'], given: ['old'] });
  head.connect('n2');
  head.command({ kind: 'label_node', node: 'n2' as NodeName, add: ['fast'], remove: [] });
  head.submit({ labels: ['fast'] });
  head.submit({ labels: ['linux', 'old'] });
  assert.deepEqual(head.schedule(), ['1#1@n2', '2#1@n1']);
  head.submit({ labels: ['fast'] });
  head.command({ kind: 'label_node', node: 'n2' as NodeName, add: [], remove: ['fast'] });
  assert.deepEqual(head.schedule(), []);
});

scenario('users are made, changed and removed, and their tokens go with them', (head) => {
  const user = 'eve' as UserName;
  const set = (mode: 'create' | 'modify' | 'either', role = 'user', name = user) =>
    ({ kind: 'set_user', user: name, role, mode }) as Command;
  assert.equal(head.refused(set('modify')), 'user.not_found');
  head.command(set('create'));
  assert.equal(head.refused(set('create')), 'user.exists');
  head.command(set('modify', 'operator'));
  assert.equal(head.state.users.get(user)?.role, 'operator');
  assert.equal(head.refused(set('either', 'king')), 'argument.invalid');
  assert.equal(head.refused(set('either', 'user', 'a b' as UserName)), 'argument.invalid');
  head.command(token({ user }), ADMIN);
  head.command({ kind: 'remove_user', user });
  assert.equal(head.state.tokens.size, 0);
  assert.equal(head.refused({ kind: 'remove_user', user }), 'user.not_found');
});

scenario(
  'tokens of a removed user stay gone when the user is put back and the head starts again',
  (head) => {
    const user = 'eve' as UserName;
    head.command({ kind: 'set_user', user, mode: 'create' });
    head.command(token({ user }), ADMIN);
    head.command({ kind: 'remove_user', user });
    head.command({ kind: 'set_user', user, mode: 'create' });
    head.crash();
    assert.equal(head.state.tokens.size, 0);
    head.command({ kind: 'remove_user', user });
    // Whoever was only given a token is removed with it.
    head.command(token({ user, tokenId: 't2' }), ADMIN);
    head.command({ kind: 'remove_user', user });
    head.crash();
    assert.equal(head.state.tokens.size, 0);
    assert.equal(head.refused({ kind: 'remove_user', user }), 'user.not_found');
  },
);

function token(more: Partial<CreateToken> = {}): CreateToken {
  return {
    kind: 'create_token',
    tokenId: 't1',
    hash: 'hash',
    purpose: 'user',
    user: 'ann' as UserName,
    label: 'laptop',
    expiresAt: null,
    ...more,
  };
}

scenario('[J18] users make and revoke tokens of their own, admins anybody’s', (head) => {
  head.command(token(), ANN);
  assert.equal(head.refused(token({ tokenId: 't2' }), BOB), 'auth.role_needed');
  const join = token({ tokenId: 't3', purpose: 'join', expiresAt: START_AT + 1 });
  assert.equal(head.refused(join, ANN), 'auth.role_needed');
  head.command(join, ADMIN);
  assert.equal(head.refused({ ...join, expiresAt: null }), 'argument.invalid');
  assert.equal(head.refused(token({ expiresAt: START_AT }), ANN), 'argument.invalid');
  const revoke: Command = { kind: 'revoke_token', tokenId: 't1' };
  assert.equal(head.refused(revoke, BOB), 'token.not_found');
  head.command(revoke, ANN);
  assert.equal(head.refused(revoke, ANN), 'token.not_found');
  head.command({ kind: 'revoke_token', tokenId: 't3' }, ADMIN);
});

scenario(
  '[J19] finished jobs beyond the retained number leave memory, oldest first',
  (head) => {
    head.connect('n1', { cpus: 32 });
    const environment = { A: 'b' };
    for (let id = 1; id <= 12; id += 1) head.submit({ environment }, { key: `k${id}` });
    head.submit({ environment: { C: 'd' }, held: true });
    head.schedule();
    head.ended('2#1');
    for (const id of [1, 3, 4, 5, 6, 7, 8, 9, 10, 11]) head.ended(`${id}#1`);
    assert.deepEqual(head.tick(), [], 'not for every single one');
    head.ended('12#1');
    head.tick();
    assert.deepEqual(head.state.finished, [3, 4, 5, 6, 7, 8, 9, 10, 11, 12]);
    assert.equal(
      head.refused({ kind: 'hold_job', jobId: head.job(3).id }, ANN),
      'job.already_done',
    );
    assert.deepEqual(head.command(submission({}, { key: 'k1' }), ANN), {
      kind: 'submitted',
      jobId: 1,
      again: true,
    });
    assert.equal(head.submit(), 14);
    assert.equal(head.state.environments.size, 3);
  },
  { retainedJobsMax: 10 },
);

scenario('[J18] nobody becomes the cluster itself by its name', (head) => {
  const set: Command = {
    kind: 'set_user',
    user: 'system' as UserName,
    role: 'user',
    mode: 'either',
  };
  assert.equal(head.refused(set, ADMIN), 'argument.invalid');
});
