// Who uses the machine of a node, as people read it.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { formatNode } from '../../../../src/kernel/cli/commands/node.ts';
import { remark } from '../../../../src/kernel/cli/nodes/columns.ts';
import { PLAIN } from '../../../../src/kernel/cli/output/paint.ts';
import type { Presence } from '../../../../src/kernel/model/presence.ts';
import { nodeView } from './views.ts';

const NOW = 1_000_000_000;
const PAUSED = {
  kind: 'yield',
  why: 'keyboard on tty2',
  since: NOW - 120_000,
  requeue: false,
} as const;

function seen(fields: Partial<Presence>): Presence {
  return {
    by: 'terminals',
    what: 'keyboard on tty2',
    at: NOW - 12_000,
    state: 'in_use',
    ...fields,
  };
}

function said(...presence: Presence[]): string {
  return remark(nodeView({ paused: PAUSED, presence }), NOW);
}

test('[O7] a listing says what shows that the owner is there, and how long ago', () => {
  const logged = seen({ by: 'logind', what: 'alice on tty2', at: null });
  assert.equal(said(seen({})), 'paused: owner active (keyboard on tty2, 12s ago)');
  assert.equal(said(logged, seen({})), 'paused: owner active (keyboard on tty2, 12s ago)');
  assert.equal(said(logged), 'paused: owner active (alice on tty2)');
  const quiet = seen({ at: NOW - 400_000, state: 'quiet' });
  assert.equal(said(quiet), 'paused: owner was active (keyboard on tty2, 6m40s ago)');
  assert.match(said(), /^paused: owner active since .* \(keyboard on tty2\)$/);
  // An hour by the node's clock may be ahead of this one.
  assert.equal(said(seen({ at: NOW + 5000 })), 'paused: owner active (keyboard on tty2, 0s ago)');
});

test('[O7] a node in full shows each detector, and what cannot be detected', () => {
  const blind = seen({ by: 'utmp', what: '/run/utmp cannot be read', at: null, state: 'blind' });
  const lines = formatNode(nodeView({ presence: [seen({ at: null }), blind] }), undefined, PLAIN);
  assert.deepEqual(
    lines.filter((line) => line.startsWith('Owner')).map((line) => line.replace(/\s+/g, ' ')),
    [
      'Owner: terminals: in use: keyboard on tty2',
      'Owner: utmp: cannot be detected: /run/utmp cannot be read',
    ],
  );
});

test('a listing has times of the head by the clock of whoever reads it', () => {
  const reason = 'unreachable since 2026-01-01T10:00:00Z';
  const words = remark(nodeView({ reason }), NOW);
  assert.match(words, /^unreachable since \S/);
  assert.doesNotMatch(words, /\dT\d/);
});
