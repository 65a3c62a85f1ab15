// Accounts under which nodes run jobs: root's, where some of them switch users.

import assert from 'node:assert/strict';
import { viewLookAhead } from '../../../../src/kernel/head/answers/prospect-view.ts';
import { lookAhead, pendingOf } from '../../../../src/kernel/machine/answers/explain.ts';
import type { NodeName } from '../../../../src/kernel/model/ids.ts';
import {
  ANN,
  BOB,
  scenario,
  submission,
  type TestHead,
  user,
} from '../../../support/controller.ts';
import { why } from '../../../support/why.ts';

scenario('[A34] jobs of root go to nodes that do not switch users, whatever joins', (head) => {
  const root = user('root', 'admin', 0);
  head.connect('n1', { cpus: 2 });
  head.connect('n2', { cpus: 8, switchesUser: true });
  head.submit({ cpuCount: 1 }, { by: root });
  head.submit({ cpuCount: 2 }, { by: root });
  head.submit({ cpuCount: 2 }, { by: user('root', 'admin', null) });
  assert.deepEqual(head.schedule(), ['1#1@n1']);
  assert.match(
    whyWords(head, 2),
    /n2 switches users and runs nothing as root: this job is not for it\.$/m,
  );
  head.submit({ cpuCount: 8 });
  assert.deepEqual(head.schedule(), ['4#1@n2']);
});

scenario(
  '[A34] a job of root that only nodes which switch users hold is refused by name',
  (head) => {
    const root = user('root', 'admin', 0);
    head.connect('n1', { cpus: 2 });
    head.connect('n2', { cpus: 8, switchesUser: true });
    const command = submission({ cpuCount: 4 });
    const { result } = head.perform({ kind: 'command', command, actor: root });
    assert.ok(!result.ok);
    assert.equal(result.error.code, 'auth.root_refused');
    assert.deepEqual(result.error.details, { nodes: 'n2' });
    head.disconnect('n1');
    assert.equal(head.submit({ cpuCount: 2 }, { by: root }), 1, 'n1 is away, and could take it');
    head.command({ kind: 'remove_node', node: 'n2' as NodeName });
    assert.equal(head.refused(command, root), 'resources.unsatisfiable');
  },
);

scenario('[O10] a node takes jobs of whom its owner names, whatever waits by then', (head) => {
  head.connect('n1', { cpus: 2 });
  head.submit({ cpuCount: 2 }, { by: ANN });
  assert.deepEqual(head.schedule(), ['1#1@n1']);
  head.submit({ cpuCount: 1 }, { by: BOB });
  head.submit({ cpuCount: 1 }, { by: ANN });
  head.ended('1#1', {}, 'n1');
  head.connect('n1', { cpus: 2, takesFrom: ['ann'] });
  assert.deepEqual(head.schedule(), ['3#1@n1']);
  assert.match(why(head, 2), /no node that takes jobs of bob is large enough/);
  assert.equal(head.refused(submission({ cpuCount: 1 }), BOB), 'resources.unsatisfiable');
  head.ended('3#1', {}, 'n1');
  head.connect('n1', { cpus: 2 });
  assert.deepEqual(head.schedule(), ['2#1@n1']);
});

scenario('[O10] whose jobs no node takes is told so, and by which', (head) => {
  head.connect('n1', { cpus: 2, takesFrom: [] });
  const { result } = head.perform({
    kind: 'command',
    command: submission({ cpuCount: 2 }),
    actor: ANN,
  });
  assert.ok(!result.ok);
  assert.match(
    String(result.error.details['nearest']),
    /n1 takes no jobs of ann, as its owner says/,
  );
  head.connect('n2', { cpus: 1 });
  head.command({ kind: 'remove_node', node: 'n1' as NodeName });
  head.submit({ cpuCount: 1 }, { by: ANN });
  assert.deepEqual(head.schedule(), ['1#1@n2']);
});

function whyWords(head: TestHead, id: number): string {
  const ahead = lookAhead(head.state, head.settings, pendingOf(head.job(id), 0), head.at);
  return viewLookAhead(ahead, 'task').words;
}
