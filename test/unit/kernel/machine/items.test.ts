// Jobs with one task for each item of a list.

import assert from 'node:assert/strict';
import { outstanding } from '../../../../src/kernel/machine/outstanding.ts';
import { formatRefusal } from '../../../../src/kernel/model/errors.ts';
import { ARRAY_TASKS_MAX } from '../../../../src/kernel/model/limits.ts';
import type { Submission } from '../../../../src/kernel/model/submission.ts';
import { ANN, scenario, type TestHead } from '../../../support/controller.ts';

function refusal(head: TestHead, submission: Submission): string {
  const command = { kind: 'submit_job', submission, key: null, retired: {} } as const;
  const { result } = head.perform({ kind: 'command', command, actor: ANN });
  assert.ok(!result.ok, 'it was accepted');
  return formatRefusal(result.error);
}

const CAT = { kind: 'argv', argv: ['cat', '{}', '{n}'] } as const;

scenario('[J6] a job with items has a task for each, with the item in its command', (head) => {
  head.connect('n1', { cpus: 8 });
  head.submit({ program: CAT, each: ['a', 'b c'] });
  assert.deepEqual(head.schedule(), ['1[0]#1@n1', '1[1]#1@n1']);
  const programs = outstanding(head.state, head.node('n1'), head.settings).map(
    (order) => order.kind === 'launch' && order.program,
  );
  assert.deepEqual(programs, [
    { kind: 'argv', argv: ['cat', 'a', '0'] },
    { kind: 'argv', argv: ['cat', 'b c', '1'] },
  ]);
});

scenario('[J6] indices pick items by their numbers, and one without an item is refused', (head) => {
  head.connect('n1', { cpus: 8 });
  head.submit({ program: CAT, each: ['a', 'b', 'c'], array: { indices: '0,2', runningMax: 1 } });
  assert.deepEqual(head.schedule(), ['1[0]#1@n1']);
  head.ended('1[0]#1');
  assert.deepEqual(head.schedule(), ['1[2]#1@n1']);
  const refused = refusal(head, { program: CAT, each: ['a'], array: { indices: '0-1' } });
  assert.match(refused, /index 1 has no item; there are 0-0/);
});

scenario('items with NUL, too many fields or none at all are refused', (head) => {
  const fields = Object.fromEntries(Array.from({ length: 101 }, (_, at) => [`f${at}`, '']));
  assert.match(refusal(head, { program: CAT, each: ['a', 'b\0'] }), /item 1 has a NUL character/);
  assert.match(refusal(head, { program: CAT, each: [fields] }), /more than 100 fields/);
  assert.match(refusal(head, { program: CAT, each: [] }), /no item/);
  const many = Array.from({ length: ARRAY_TASKS_MAX + 1 }, () => '');
  assert.match(refusal(head, { program: CAT, each: many }), /more than the 1000000 tasks/);
});

scenario('[J6] a field that the command names is in every item or in none', (head) => {
  head.connect('n1');
  const program = { kind: 'shell', line: 'echo {a} {b}' } as const;
  const lacking = refusal(head, { program, each: [{ a: '1' }, { a: '2' }, { c: '3' }] });
  assert.match(lacking, /item 2 has no field 'a', which the command names/);
  head.submit({ program, each: [{ a: '1' }, { a: '2' }] });
});

scenario(
  'a placeholder in quotes, where the shell would run what an item says, is refused',
  (head) => {
    const program = { kind: 'shell', line: 'echo "{}"' } as const;
    assert.match(
      refusal(head, { program, each: ['$(touch /tmp/x)'] }),
      /\{\} stands inside quotes/,
    );
  },
);

scenario('a command that an item makes too long to start is refused', (head) => {
  const long = 'x'.repeat(200_000);
  assert.match(refusal(head, { program: CAT, each: ['a', long] }), /argument of the command/);
});
