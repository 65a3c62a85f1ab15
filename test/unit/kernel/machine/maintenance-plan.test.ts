// Planning maintenance: of which nodes, when, and what is refused.

import assert from 'node:assert/strict';
import type { NodeName } from '../../../../src/kernel/model/ids.ts';
import { ADMIN, ANN, OPERATOR, START_AT, scenario } from '../../../support/controller.ts';
import {
  cancel,
  MINUTE,
  type Plan,
  PROGRAM,
  plan,
  planned,
  shown,
} from '../../../support/maintenance.ts';
import { reserve } from '../../../support/reservations.ts';

scenario('[M8] with a choice of time it begins when tasks and others are through', (head) => {
  head.connect('n1', { cpus: 4 });
  head.running({ walltimeMs: 30 * MINUTE });
  head.running();
  const first = planned(head, { time: { kind: 'fixed', from: START_AT + 40 * MINUTE } });
  const within = { kind: 'flexible', notBefore: 0, until: START_AT + 24 * 60 * MINUTE } as const;
  const short = planned(head, { time: within, durationMs: 10 * MINUTE });
  const long = planned(head, { time: within });
  const from = (id: string): number => (shown(head, id).from - START_AT) / MINUTE;
  assert.deepEqual([first, short, long].map(from), [40, 30, 100]);
  const narrow = { ...within, until: START_AT + 70 * MINUTE };
  assert.equal(head.refused(plan({ time: narrow })), 'reservation.no_slot');
});

scenario('[M8] what cannot be is refused with one clear word', (head) => {
  head.connect('n1');
  planned(head);
  const wrong = (wish: Partial<Plan>, by = ADMIN): string => head.refused(plan(wish), by);
  assert.equal(wrong({}), 'reservation.conflict');
  assert.equal(wrong({ nodes: ['n9' as NodeName] }), 'node.not_found');
  const slip = ['n1', 'n9'] as NodeName[];
  assert.equal(wrong({ nodes: slip, labels: ['!old'] }), 'node.not_found');
  assert.equal(wrong({ nodes: [] }), 'argument.invalid');
  assert.equal(wrong({ nodes: [], labels: ['rack=9'] }), 'label.unknown');
  assert.equal(wrong({ nodes: [], labels: ['gpu &'] }), 'label.invalid');
  assert.equal(wrong({ nodes: [], labels: ['gpu & old'] }), 'label.unmet');
  assert.equal(wrong({ nodes: ['n1', 'n1'] as NodeName[] }), 'argument.invalid');
  assert.equal(wrong({ durationMs: 0 }), 'argument.invalid');
  assert.equal(wrong({ reason: ' ' }), 'argument.invalid');
  assert.equal(wrong({ warning: { leadMs: MINUTE, signal: 65 } }), 'argument.invalid');
  assert.equal(wrong({ warning: { leadMs: 0, signal: 15 } }), 'argument.invalid');
  const now = { kind: 'now' } as const;
  assert.equal(wrong({ time: now, warning: { leadMs: MINUTE, signal: 15 } }), 'argument.invalid');
  assert.equal(wrong({ time: { kind: 'fixed', from: START_AT - 1 } }), 'reservation.past');
  const over = { kind: 'flexible', notBefore: 0, until: START_AT } as const;
  assert.equal(wrong({ time: over }), 'reservation.past');
  const empty = { ...PROGRAM, program: { kind: 'shell', line: ' ' } } as const;
  assert.equal(wrong({ program: empty }), 'argument.invalid');
  assert.equal(wrong({ program: PROGRAM }, OPERATOR), 'auth.role_needed');
  assert.equal(wrong({}, ANN), 'auth.role_needed');
  assert.equal(head.refused(cancel('m9')), 'maintenance.not_found');
  assert.equal(head.refused(cancel('m1'), ANN), 'auth.role_needed');
});

scenario('a repair of goals never takes the last node that works', (head) => {
  head.connect('n1');
  head.connect('n2');
  const goal = { class: 'all', attempt: 1 };
  head.disconnect('n2');
  assert.equal(head.refused(plan({ nodes: ['n1'] as NodeName[], goal })), 'argument.invalid');
  head.connect('n2');
  const id = planned(head, { nodes: ['n1'] as NodeName[], goal });
  assert.equal(head.refused(plan({ nodes: ['n2'] as NodeName[], goal })), 'argument.invalid');
  head.command(cancel(id), ADMIN);
  planned(head, { nodes: ['n2'] as NodeName[] });
});

scenario('[M3] a warning is refused where it cannot come in time, and chosen for', (head) => {
  head.connect('n1');
  const warning = { leadMs: 15 * MINUTE, signal: 15 };
  assert.equal(head.refused(plan({ warning })), 'argument.invalid');
  const time = { kind: 'flexible', notBefore: 0, until: START_AT + 120 * MINUTE } as const;
  assert.equal(shown(head, planned(head, { warning, time })).from, START_AT + 15 * MINUTE);
});

scenario(
  '[M8] a choice as long as warning and maintenance is long enough, however short its way',
  (head) => {
    head.connect('n1');
    const warning = { leadMs: 15 * MINUTE, signal: 15 };
    const until = head.at + 75 * MINUTE;
    const time = { kind: 'flexible', notBefore: head.at, until } as const;
    head.tick(200);
    const id = planned(head, { warning, time, durationMs: 60 * MINUTE });
    assert.equal(shown(head, id).from, START_AT + 200 + 15 * MINUTE);
  },
);

scenario('[M3] a warning that was due while the command was on its way goes at once', (head) => {
  head.connect('n1');
  const warning = { leadMs: 10 * MINUTE, signal: 15 };
  const from = START_AT + 10 * MINUTE - 5;
  const id = planned(head, { warning, time: { kind: 'fixed', from } });
  assert.equal(shown(head, id).phase, 'warned');
});

scenario('[M8] nodes chosen by labels are those that meet them when it is planned', (head) => {
  const labelled = { n1: ['gpu'], n2: ['gpu', 'old'], n3: [] };
  for (const [name, add] of Object.entries(labelled)) {
    head.connect(name);
    head.command({ kind: 'label_node', node: name as NodeName, add, remove: [] });
  }
  const id = planned(head, { nodes: [], labels: ['gpu & !old'] });
  head.command({ kind: 'label_node', node: 'n3' as NodeName, add: ['gpu'], remove: [] });
  assert.deepEqual(shown(head, id).nodes, ['n1']);
  const named = ['n2', 'n3'] as NodeName[];
  const other = planned(head, { nodes: named, labels: ['old | rack=7'] });
  assert.deepEqual(shown(head, other).nodes, ['n2']);
});

scenario('[M8] a node that has never been there can be maintained, not reserved', (head) => {
  head.enroll('n1');
  const nodes = ['n1' as NodeName];
  const within = { kind: 'flexible', notBefore: 0, until: START_AT + 90 * MINUTE } as const;
  assert.equal(head.refused(reserve({ nodes: ['n1'] })), 'reservation.unsatisfiable');
  const id = planned(head, { nodes, time: within });
  assert.equal(shown(head, id).from, START_AT);
  assert.equal(head.refused(plan({ nodes, time: within })), 'reservation.no_slot');
  assert.equal(head.refused(plan({ nodes })), 'reservation.conflict');
});
