// Which nodes vouch for their users: a machine is trusted, and nothing that has only its name.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { HEAD_MACHINE } from '../../../../sim/head-machine.ts';
import { exportState, importState } from '../../../../src/kernel/machine/snapshot.ts';
import type { NodeName } from '../../../../src/kernel/model/ids.ts';
import { whyNotTrusted } from '../../../../src/wings/logins/machine/trusted-nodes.ts';
import { ANN, OPERATOR, TestHead } from '../../../support/controller.ts';
import type { NodeOptions } from '../../../support/nodes.ts';

const N1 = 'n1' as NodeName;
const TRUST = { kind: 'trust_node', node: N1 } as const;
const END = { kind: 'distrust_node', node: N1 } as const;
const ROOTED: NodeOptions = { switchesUser: true, machine: { id: 'm1', board: 'b1' } };

function trusting(options: NodeOptions = {}): TestHead {
  const head = new TestHead();
  head.connect('n1', { ...ROOTED, ...options });
  head.command(TRUST);
  assert.equal(why(head), null);
  return head;
}

const why = ({ state }: TestHead): string | null => whyNotTrusted(state, N1);

test('[Y18] a node vouches for nobody until an admin has trusted it, and after that has ended', () => {
  const head = new TestHead();
  head.connect('n1', ROOTED);
  assert.equal(why(head), 'no admin has trusted it');
  for (const actor of [ANN, OPERATOR]) assert.equal(head.refused(TRUST, actor), 'auth.role_needed');
  head.command(TRUST);
  assert.equal(why(head), null);
  head.crash();
  assert.equal(why(head), null, 'it is in the journal');
  assert.deepEqual(head.command(TRUST), { kind: 'changed', count: 0 });
  assert.equal(head.refused(END, OPERATOR), 'auth.role_needed');
  assert.deepEqual(head.command(END), { kind: 'changed', count: 1 });
  assert.equal(why(head), 'no admin has trusted it');
  assert.equal(head.refused({ ...TRUST, node: 'n9' as NodeName }), 'node.not_found');
  head.finish();
});

test('[Y18] a node where users are not told apart, or that nothing tells from a copy, is not trusted', () => {
  for (const unfit of [
    { switchesUser: false },
    { machine: {} },
    { machine: { folder: '1/2' } },
    { site: 'n1' },
  ] satisfies NodeOptions[]) {
    const head = new TestHead();
    head.connect('n1', { ...ROOTED, ...unfit });
    assert.equal(head.refused(TRUST), 'node.not_trusted', JSON.stringify(unfit));
  }
  const head = new TestHead();
  head.enroll('n1');
  assert.equal(head.refused(TRUST), 'node.not_trusted');
});

test('[Y18] another machine under the name of a trusted node is not trusted', () => {
  const head = trusting();
  head.disconnect('n1');
  head.connect('n1', { ...ROOTED, bootId: 'other', machine: { id: 'm1', board: 'b2' } });
  assert.equal(why(head), 'it is another machine than the one that an admin trusted');
  head.command(TRUST);
  assert.equal(why(head), null, 'an admin has looked');
});

test('[Y18] a machine that no longer says which it is is not taken for the trusted one', () => {
  const head = trusting();
  head.disconnect('n1');
  head.connect('n1', { switchesUser: true, bootId: 'other' });
  assert.match(why(head) ?? '', /another machine/);
});

test('[Y18] while a copy of a trusted node is about, neither is trusted', () => {
  const head = trusting();
  const copy = { ...ROOTED, bootId: 'copy', machine: { id: 'm2', board: 'b2' } };
  head.connect('n1', copy);
  assert.equal(head.node('n1').clones.length, 1);
  assert.equal(why(head), 'another machine uses its identity');
});

test('[Y18] a node that is let in anew has to be trusted anew', () => {
  const head = trusting();
  head.disconnect('n1');
  head.command({ kind: 'remove_node', node: N1 });
  assert.equal(why(head), 'there is no such node');
  const again = { node: N1, secretHash: 'another', resources: null, labels: [], replace: false };
  head.command({ kind: 'enroll_node', ...again });
  head.connect('n1', ROOTED);
  assert.equal(why(head), 'it was let in anew since an admin trusted it');
});

test('[Y18] a head that was put back from a copy trusts nobody until an admin has looked', () => {
  const head = trusting();
  const { nextJobId, nextReservationId } = head.state;
  const given = { nextJobId: nextJobId + 2, nextReservationId, epochMax: 2 };
  head.once({ kind: 'loss', loss: { lastSeq: 1, promisedSeq: 4, given } });
  assert.match(why(head) ?? '', /put back from a copy/);
  head.command(TRUST);
  assert.equal(why(head), null);
});

test('[Y18] a snapshot of a release that trusted none is read', () => {
  const head = trusting();
  const { trustedNodes: _, ...older } = exportState(head.state) as unknown as {
    trustedNodes: unknown;
  };
  const state = importState(HEAD_MACHINE, older as ReturnType<typeof exportState>);
  assert.equal(state.trustedNodes.size, 0);
  const saved = exportState(head.state);
  assert.equal(importState(HEAD_MACHINE, saved).trustedNodes.size, 1);
});
