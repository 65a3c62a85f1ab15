// What people at a terminal see of words and states: their own clock, whole words, colours.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Invocation, runWeft } from '../../../../src/kernel/cli/main.ts';
import { paintFor } from '../../../../src/kernel/cli/output/paint.ts';
import { byOwnClock, prose } from '../../../../src/kernel/cli/output/prose.ts';
import { displayWidth } from '../../../../src/kernel/cli/output/table.ts';
import { formatInstant } from '../../../../src/kernel/cli/output/words.ts';
import { capture, FakeHead, refusal } from './fake-head.ts';
import { jobView } from './views.ts';

/** The clock of a reader, whatever this machine's is. */
function inZone<T>(zone: string, work: () => T): T {
  const before = process.env['TZ'];
  process.env['TZ'] = zone;
  try {
    return work();
  } finally {
    if (before === undefined) delete process.env['TZ'];
    else process.env['TZ'] = before;
  }
}

const NOW = Date.parse('2026-01-31T10:00:00Z');
const WORDS = "By today's plan it starts at the latest at 2026-01-31T12:30:00Z, in 2h30m on n1.";

test('instants in words are told by the clock of the reader, as tables tell them', () => {
  const told = inZone('Asia/Kolkata', () => byOwnClock(WORDS, NOW));
  assert.equal(told, "By today's plan it starts at the latest at 18:00:00, in 2h30m on n1.");
  const later = inZone('UTC', () => byOwnClock('from 2026-02-03T08:00:00Z', NOW));
  assert.equal(later, 'from Feb 3 08:00');
});

test('lines break between words, at the width of the terminal, and only there', () => {
  const words = `It is pending: ${'n1 is full, '.repeat(12)}n2 too.\nPriority 1.`;
  assert.deepEqual(prose(words, NOW, null), words.split('\n'));
  const lines = prose(words, NOW, 50);
  assert.ok(lines.length > 3 && lines.every((line) => displayWidth(line) <= 50), lines.join('\n'));
  assert.deepEqual([lines[1]?.startsWith('  n1'), lines.at(-1)], [true, 'Priority 1.']);
  assert.equal(lines.map((line) => line.trim()).join(' '), words.replace('\n', ' '));
  assert.deepEqual(prose(`a ${'x'.repeat(60)} b`, NOW, 40), ['a', `  ${'x'.repeat(60)}`, '  b']);
});

test('colours are for terminals, and NO_COLOR is heard', () => {
  assert.equal(paintFor('terminal', {})('failed', 'red'), '\u001b[31mfailed\u001b[39m');
  for (const paint of [
    paintFor('file', {}),
    paintFor('terminal', { NO_COLOR: '1' }),
    paintFor('terminal', { TERM: 'dumb' }),
  ]) {
    assert.equal(paint('failed', 'red'), 'failed');
  }
});

test('states of listings are in colour on a terminal, in columns as before, never in pipes', async () => {
  await using head = await FakeHead.start({
    'GET /v1/jobs': () => ({ json: { jobs: [jobView({ id: 7, state: 'running' })], next: null } }),
  });
  const list = (isTerminal: boolean, ...more: string[]) =>
    capture(
      head.directory,
      { program: 'weft', argv: ['jobs', ...more] },
      (invocation: Invocation) => {
        const terminal = { ...invocation.terminal, outIsTerminal: isTerminal };
        return runWeft({ ...invocation, terminal });
      },
    );
  const piped = await list(false);
  const seen = await list(true);
  assert.match(seen.out, /\u001b\[32mrunning *\u001b\[39m/);
  assert.doesNotMatch(piped.out, /\u001b/);
  assert.equal(seen.out.replace(/\u001b\[\d+m/g, ''), piped.out);
  assert.doesNotMatch((await list(true, '-o', 'json')).out, /\u001b/);
});

test('times in refusals of the head are told by the clock of the reader', async () => {
  const message = 'Node n1 is reserved for x from 2026-01-31T12:30:00Z to 2026-01-31T13:30:00Z.';
  await using head = await FakeHead.start({
    'POST /v1/nodes/n1/drain': () => ({
      status: 409,
      json: refusal('reservation.conflict', 'failed_precondition', message),
    }),
  });
  const said = await head.weft('node', 'drain', 'n1', '--reason', 'x');
  assert.match(said.error, /^weft: Node n1 is reserved for x from \S.* to \S.*\.\n/);
  assert.doesNotMatch(said.error, /T12:30:00Z/);
});

test('a table tells the hour of what is to come, also next year, and of long ago only the day', () => {
  const told = (text: string) => inZone('UTC', () => formatInstant(Date.parse(text), NOW));
  assert.equal(told('2026-01-31T12:30:05Z'), '12:30:05');
  assert.equal(told('2026-02-03T08:05:00Z'), 'Feb 3 08:05');
  assert.equal(told('2027-03-01T08:05:00Z'), '2027-03-01 08:05');
  assert.equal(told('2025-01-02T08:05:00Z'), '2025-01-02');
});

test('the hour that comes twice when the clock is put back is told with its zone', () => {
  const told = (text: string) =>
    inZone('Europe/Berlin', () => formatInstant(Date.parse(text), Date.parse('2026-10-24T18:00Z')));
  assert.equal(told('2026-10-25T00:30:00Z'), 'Oct 25 02:30+02:00');
  assert.equal(told('2026-10-25T01:00:00Z'), 'Oct 25 02:00+01:00');
  assert.equal(told('2026-10-25T02:00:00Z'), 'Oct 25 03:00');
  assert.equal(told('2026-10-24T23:59:00Z'), 'Oct 25 01:59');
});

test('a recurring reservation without a time zone is refused where TZ names none', async (t) => {
  await using head = await FakeHead.start({});
  const argv = ['reserve', 'create', '--cron', '0 9 * * 1', '-t', '1h'];
  const before = process.env['TZ'];
  t.after(() => {
    if (before === undefined) delete process.env['TZ'];
    else process.env['TZ'] = before;
  });
  process.env['TZ'] = 'Nonsense';
  const said = await head.weft(...argv);
  assert.deepEqual(
    [said.code, said.error],
    [2, "weft: TZ names no time zone: 'Nonsense'\n  Give one with --zone, or set TZ.\n"],
  );
  assert.deepEqual(head.work, []);
});
