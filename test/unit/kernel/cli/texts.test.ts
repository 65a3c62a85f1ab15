// Values of options, words, tables, templates and names: text in, values out.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { nearest } from '../../../../src/kernel/base/nearest-word.ts';
import { quoteWord } from '../../../../src/kernel/base/shell-word.ts';
import { formatNode } from '../../../../src/kernel/cli/commands/node.ts';
import { LineLabeller } from '../../../../src/kernel/cli/jobs/line-labeller.ts';
import { decodeTicket, encodeTicket } from '../../../../src/kernel/cli/join-string.ts';
import { clockWords } from '../../../../src/kernel/cli/nodes/clock-words.ts';
import { formatListing, parseFormat } from '../../../../src/kernel/cli/output/listing.ts';
import { PLAIN } from '../../../../src/kernel/cli/output/paint.ts';
import { displayWidth, formatTable } from '../../../../src/kernel/cli/output/table.ts';
import { fillTemplate, templateFields } from '../../../../src/kernel/cli/output/template.ts';
import { formatSpan } from '../../../../src/kernel/cli/output/words.ts';
import { splitWords } from '../../../../src/kernel/cli/submit/words.ts';
import { directoryOption } from '../../../../src/kernel/connect/locate.ts';
import type { Failure } from '../../../../src/kernel/model/failure.ts';
import * as values from '../../../../src/kernel/model/submission-values.ts';
import { nodeView } from './views.ts';

test('arrays are ranges, lists and steps, with a bound on how many run at once', () => {
  const read = (text: string) => {
    const parsed = values.parseArray(text);
    return parsed.ok ? parsed.value : null;
  };
  assert.deepEqual(read('0-99%10'), { indices: '0-99', runningMax: 10 });
  assert.deepEqual(read('5,1-3,2'), { indices: '1-3,5' });
  assert.deepEqual(read('0-6:3'), { indices: '0,3,6' });
  for (const bad of ['', 'a', '3-1', '1-', '0-9%0', '0-9%2%3', '-1', '0-5:0']) {
    assert.equal(read(bad), null, bad);
  }
});

test('dependencies, node loss, time limits, umasks and resources say what they expect', () => {
  assert.ok(values.parseDependency('42:fail').ok);
  const warning = (text: string) => {
    const parsed = values.parseWarning(text);
    return parsed.ok ? parsed.value : null;
  };
  assert.deepEqual(warning('USR2@90'), { signal: 12, leadMs: 90_000 });
  assert.deepEqual(warning('sigterm@5m'), { signal: 15, leadMs: 300_000 });
  assert.deepEqual(warning('10'), { signal: 10, leadMs: 60_000 });
  for (const wrong of ['@90', 'USR9@90', 'USR1@', 'USR1@0', 'USR1@1@2', 'B:USR1@90']) {
    assert.equal(warning(wrong), null, wrong);
  }
  assert.ok(!values.parseDependency('42:maybe').ok);
  assert.ok(!values.parseDependency('42[1]').ok);
  assert.deepEqual(values.parseOnNodeLoss('lease=90s'), {
    ok: true,
    value: { kind: 'lease', leaseMs: 90_000 },
  });
  assert.ok(!values.parseOnNodeLoss('lease').ok);
  assert.deepEqual(values.parseWalltime('none'), { ok: true, value: null });
  assert.ok(!values.parseWalltime('0s').ok);
  const bare = values.parseWalltime('60');
  assert.ok(!bare.ok && /'60' has no unit; write 60s, 60m for minutes, or 60h/.test(bare.error));
  assert.deepEqual(values.parseUmask('027'), { ok: true, value: 0o27 });
  assert.ok(!values.parseUmask('9').ok);
  assert.deepEqual(values.parseCounted('lic=2'), { ok: true, value: ['lic', 2] });
  assert.ok(!values.parseCounted('lic').ok);
});

test('words are split as a shell does, with their columns', () => {
  const split = splitWords(`  a 'b c' "d \\"e" f\\ g # rest`);
  assert.ok(split.ok);
  assert.deepEqual(
    split.value.map(({ text, column }) => [text, column]),
    [
      ['a', 3],
      ['b c', 5],
      ['d "e', 11],
      ['f g', 19],
    ],
  );
  assert.deepEqual(splitWords('a "b'), {
    ok: false,
    error: { column: 3, what: 'the quote " is never closed' },
  });
  const odd = `it's $HOME "x"`;
  const back = splitWords(quoteWord(odd));
  assert.deepEqual(back.ok && back.value.map(({ text }) => text), [odd]);
});

test('tables are as wide as their content and cannot drive a terminal', () => {
  const columns = [
    { title: 'NAME', value: (row: string[]) => row[0] ?? '' },
    { title: 'N', value: (row: string[]) => row[1] ?? '', align: 'right' as const },
    { title: 'MORE', value: () => 'x', wide: true },
  ];
  const rows = [
    ['日本', '10'],
    ['a\u001b[31m', '7'],
  ];
  assert.deepEqual(formatTable(columns, rows), ['NAME     N', '日本    10', 'a?[31m   7']);
  assert.equal(formatTable(columns, rows, 'all')[0], 'NAME     N  MORE');
  assert.equal(displayWidth('e\u0301日'), 3);
});

test('a line of a table fits its terminal; in a pipe and with -o wide nothing is cut', () => {
  const columns = [
    { title: 'ID', value: () => '1' },
    { title: 'NODES', value: () => 'n'.repeat(40), least: 6 },
    { title: 'REMARK', value: () => `waits for ${'日'.repeat(60)}`, least: 12 },
  ];
  const look = (width: number | null) => ({ paint: PLAIN, width });
  const [title = '', line = ''] = formatTable(columns, [0], 'main', look(80));
  assert.ok(displayWidth(line) <= 80 && displayWidth(title) <= 80, line);
  assert.match(line, /^1 {3}n{40} {2}waits for 日+…$/);
  assert.match(
    formatTable(columns, [0], 'main', look(60))[1] ?? '',
    /^1 {3}n{40} {2}waits for 日…$/,
  );
  const whole = [look(null), look(200)].map((one) => formatTable(columns, [0], 'main', one)[1]);
  whole.push(formatTable(columns, [0], 'all', look(80))[1]);
  assert.deepEqual(
    whole.map((words) => words?.replace(/^.* /, '')),
    Array.from({ length: 3 }, () => '日'.repeat(60)),
  );
});

test('a line that comes in many pieces is labelled once, in a time that grows with its length', () => {
  const written: string[] = [];
  const labeller = new LineLabeller('7: ', (bytes) => written.push(String(bytes)));
  labeller.write(Buffer.from('a\nb\nc'));
  labeller.write(Buffer.from('d'));
  labeller.write(Buffer.from('e\n'));
  labeller.end();
  assert.deepEqual(written, ['7: a\n7: b\n', '7: cde\n']);
  // As a quadratic matter this is 40 GB of copying.
  const piece = Buffer.alloc(1000, 'x');
  for (let count = 0; count < 10_000; count += 1) labeller.write(piece);
  const begun = performance.now();
  labeller.end();
  assert.ok(performance.now() - begun < 5000);
  assert.equal(written[2]?.length, 10_000_000 + 4);
});

test('the directory in a command to type next is one word for the shell', () => {
  assert.equal(directoryOption("/tmp/it's here", {}), " --dir '/tmp/it'\\''s here'");
  assert.equal(directoryOption('/tmp/x', {}), ' --dir /tmp/x');
});

test('templates take fields, inner fields and escapes, and know the nearest field', () => {
  const row = { id: 42, exit: { code: 3 }, outcome: null, nodes: ['n1'] };
  assert.equal(fillTemplate('{{id}}\\t{{ exit.code }} {{nodes}}', row), '42\t3 ["n1"]');
  assert.equal(fillTemplate('[{{outcome.kind}}{{exit.signal}}]', row), '[]');
  assert.throws(() => fillTemplate('{{ouctome}}', row), /no field 'ouctome'.*'outcome'/);
  const hint = (error: unknown) => /id, exit, outcome, nodes/.test((error as Failure).hint ?? '');
  assert.throws(() => fillTemplate('{{x}}', row), hint, 'the fields are listed');
  assert.deepEqual(templateFields([row]), ['id', 'exit.code', 'outcome', 'nodes']);
});

test('listings come as table, names, JSON or by template', () => {
  const listing = {
    rows: [{ id: 1 }, { id: 2 }],
    columns: [{ title: 'ID', value: (row: { id: number }) => String(row.id) }],
    name: (row: { id: number }) => `#${row.id}`,
    empty: 'Nothing.',
  };
  const list = (output?: string) => formatListing(listing, parseFormat(output));
  assert.deepEqual(list(), ['ID', '1', '2']);
  assert.deepEqual(list('name'), ['#1', '#2']);
  assert.deepEqual(JSON.parse(list('json').join('')), listing.rows);
  assert.deepEqual(list('template=<{{id}}>'), ['<1>', '<2>']);
  assert.deepEqual(list('template'), ['id']);
  assert.deepEqual(formatListing({ ...listing, rows: [] }, { kind: 'table' }), ['Nothing.']);
  assert.deepEqual(formatListing({ ...listing, rows: [] }, { kind: 'json' }), ['[]']);
  assert.throws(() => parseFormat('yaml'), /not a format/);
});

test('spans have two units at most', () => {
  const spans = [0, 340, 9_990, 42_000, 3_900_000, 183_600_000, 86_400_000].map(formatSpan);
  assert.deepEqual(spans, ['0s', '0.3s', '9.9s', '42s', '1h5m', '2d3h', '1d']);
});

test('the nearest word is a slip away, never far', () => {
  const words = ['jobs', 'job', 'node', 'history'];
  assert.equal(nearest('jbos', words), 'jobs');
  assert.equal(nearest('histroy', words), 'history');
  assert.equal(nearest('frobnicate', words), null);
});

test('a join token comes back as it was, and says so when it is cut off', () => {
  const ticket = { addresses: ['h:5001'], fingerprint: 'a'.repeat(64), token: 'wj_1_x' };
  const text = encodeTicket(ticket);
  assert.deepEqual(decodeTicket(text), { ok: true, value: ticket });
  assert.ok(!decodeTicket(text.slice(0, -9)).ok);
  assert.ok(!decodeTicket('wj_1_x').ok);
});

test('a clock is remarked upon when it is off by more than two seconds, either way', () => {
  assert.equal(clockWords(nodeView()), '');
  assert.equal(clockWords(nodeView({ clockOffsetMs: -2000 })), '');
  assert.equal(clockWords(nodeView({ clockOffsetMs: 2001 })), "2s ahead of the head's");
  assert.equal(clockWords(nodeView({ clockOffsetMs: -90_000 })), "1m30s behind the head's");
  const shown = formatNode(nodeView({ clockOffsetMs: 5000 }), undefined, PLAIN);
  assert.ok(
    shown.some((line) => /^Clock: +5s ahead of the head's$/.test(line)),
    shown.join('\n'),
  );
});

test('a count beyond what the head takes is refused with its bounds, before anything is sent', () => {
  assert.deepEqual(values.parseCount('4096', 1, 4096), { ok: true, value: 4096 });
  const bad = ['0', '4097', '1'.repeat(20), '1.5', '1e3', ''].map((text) => {
    const count = values.parseCount(text, 1, 4096);
    return count.ok ? null : count.error.replace(/^'.*' /, '');
  });
  const whole = 'is not a whole number';
  const much = 'is more than 4096';
  assert.deepEqual(bad, ['is less than 1', much, much, whole, whole, whole]);
});
