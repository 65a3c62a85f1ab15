// PMI-1 as processes of MPICH speak it: who has which key, when a barrier opens, and what is
// refused.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PmiSpace } from '../../../../../src/wings/steps/core/pmi.ts';

/** Each answer as `rank: text`. */
function ask(space: PmiSpace, rank: number, text: string): string[] {
  return space.hear(rank, text).map((one) => `${one.rank}: ${one.text.trimEnd()}`);
}

test('[Z11] processes put their addresses, wait for each other, and read them', () => {
  const space = new PmiSpace('job', ['n1', 'n2']);
  assert.equal(space.isUnused, true);
  for (const rank of [0, 1]) {
    assert.deepEqual(ask(space, rank, 'cmd=init pmi_version=1 pmi_subversion=1\n'), [
      `${rank}: cmd=response_to_init pmi_version=1 pmi_subversion=1 rc=0`,
    ]);
    ask(space, rank, `cmd=put kvsname=job key=at-${rank} value=addr#${rank}=x\n`);
  }
  assert.deepEqual(ask(space, 0, 'cmd=get_my_kvsname\n'), ['0: cmd=my_kvsname kvsname=job']);
  assert.deepEqual(ask(space, 0, 'cmd=barrier_in\n'), []);
  assert.deepEqual(ask(space, 1, 'cmd=barr'), []);
  assert.deepEqual(ask(space, 1, 'ier_in\n'), [
    '0: cmd=barrier_out rc=0',
    '1: cmd=barrier_out rc=0',
  ]);
  assert.deepEqual(ask(space, 0, 'cmd=get kvsname=job key=at-1\n'), [
    '0: cmd=get_result rc=0 msg=success value=addr#1=x',
  ]);
  assert.deepEqual([space.isUnused, space.missed], [false, null]);
  ask(space, 0, 'cmd=finalize\n');
  space.end(0, 0);
  assert.equal(space.missed, null);
  space.end(1, 7);
  assert.deepEqual(space.missed, { rank: 1, code: 7 });
});

test('[Z11] one that ended before it began is missed as soon as another has begun', () => {
  const space = new PmiSpace('job', ['n1', 'n2']);
  space.end(1, 127);
  assert.equal(space.missed, null);
  ask(space, 0, 'cmd=init pmi_version=1 pmi_subversion=1\n');
  assert.deepEqual(space.missed, { rank: 1, code: 127 });
});

test('[Z11] which processes share a node is told as MPICH reads it', () => {
  const mapping = (...nodes: string[]): string => {
    const [said = ''] = ask(new PmiSpace('job', nodes), 0, 'cmd=get key=PMI_process_mapping\n');
    return said.slice(said.indexOf('value=') + 6);
  };
  assert.equal(mapping('n1'), '(vector,(0,1,1))');
  assert.equal(mapping('n1', 'n1', 'n2', 'n2', 'n3'), '(vector,(0,2,2),(2,1,1))');
});

test('[Z11] an end of all is heard once, and what cannot be is refused and harms nobody', () => {
  const space = new PmiSpace('job', ['n1', 'n1']);
  const refused = [
    `cmd=put kvsname=job key=${'k'.repeat(65)} value=x\n`,
    `cmd=put kvsname=job key=k value=${'v'.repeat(1025)}\n`,
    'cmd=get kvsname=job key=nothing\n',
    'mcmd=spawn\n',
    'cmd=getbyidx idx=0\n',
    'nonsense\n',
  ];
  for (const line of refused) assert.match(ask(space, 0, line)[0] ?? '', / rc=-1 /, line);
  assert.deepEqual(ask(space, 0, 'x'.repeat(100_000)), []);
  ask(space, 1, 'cmd=abort exitcode=9\n');
  ask(space, 1, 'cmd=abort exitcode=4\n');
  assert.deepEqual(space.aborted, { rank: 1, code: 9 });
});
