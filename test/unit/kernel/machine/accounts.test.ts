// Accounts under which nodes run jobs: root's, where some of them switch users.

import assert from 'node:assert/strict';
import { viewLookAhead } from '../../../../src/kernel/head/answers/prospect-view.ts';
import { lookAhead, pendingOf } from '../../../../src/kernel/machine/answers/explain.ts';
import type { NodeName } from '../../../../src/kernel/model/ids.ts';
import { scenario, submission, type TestHead, user } from '../../../support/controller.ts';

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

function whyWords(head: TestHead, id: number): string {
  const ahead = lookAhead(head.state, head.settings, pendingOf(head.job(id), 0), head.at);
  return viewLookAhead(ahead, 'task').words;
}
