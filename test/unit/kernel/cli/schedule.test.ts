// `weft schedule`: what is asked, the bars, the picture, and the file it is written to.

import assert from 'node:assert/strict';
import {
  chmodSync,
  lstatSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import fc from 'fast-check';
import type { ScheduleBar } from '../../../../src/kernel/api/schedule.ts';
import { PLAIN } from '../../../../src/kernel/cli/output/paint.ts';
import { displayWidth } from '../../../../src/kernel/cli/output/table.ts';
import { writeWhole } from '../../../../src/kernel/cli/output/write-whole.ts';
import { rowsOf, sightOf } from '../../../../src/kernel/cli/schedule/picture.ts';
import { scheduleSvg } from '../../../../src/kernel/cli/schedule/svg.ts';
import { textBars } from '../../../../src/kernel/cli/schedule/text-bars.ts';
import { FakeHead } from './fake-head.ts';
import { nodeView } from './views.ts';

const AT = Date.UTC(2026, 0, 31, 12, 0, 0);
const S = 1000;

function bar(jobId: number, fields: Partial<ScheduleBar> = {}): ScheduleBar {
  return {
    kind: 'past',
    id: String(jobId),
    jobId,
    name: 'prep',
    owner: 'alice',
    nodes: ['n1'],
    from: AT - 40 * S,
    until: AT - 20 * S,
    word: 'completed',
    ...fields,
  };
}

const BARS = [
  bar(1),
  bar(2, { word: 'failed', name: 'bad', nodes: ['n2'] }),
  bar(3, {
    kind: 'running',
    word: 'running',
    name: 'train',
    from: AT - 20 * S,
    until: AT + 20 * S,
  }),
  bar(4, { kind: 'planned', word: 'pending', name: 'next', from: AT + 20 * S, until: AT + 40 * S }),
];

function answers(bars: readonly ScheduleBar[] = BARS, whole: object = {}) {
  const json = {
    at: AT,
    bars,
    isWhole: true,
    isPastWhole: true,
    isRunningWhole: true,
    ...whole,
  };
  return {
    'GET /v1/schedule': () => ({ json }),
    'GET /v1/nodes': () => ({
      json: { nodes: ['n10', 'n1', 'n2'].map((name) => nodeView({ name })) },
    }),
  };
}

const pictureOf = (bars: readonly ScheduleBar[], nodes = ['n1', 'n2']) => {
  const sight = sightOf(bars, AT, { sinceDefault: AT - 3_600_000 });
  return { at: AT, sight, rows: rowsOf(bars, nodes, sight) };
};

test('bars say who, how it ended, what is planned, and where now is, without colours', () => {
  // Forty seconds to either side in 60 columns.
  const lines = textBars(pictureOf(BARS), { width: 64, paint: PLAIN });
  assert.deepEqual(lines, [
    '           11:59:30               12:00                 12:00:30',
    'n1  ▒1 prep▒▒▒▒▒▒▒ █3 train████████───────────── ░4 next░░░░░░░░',
    'n2  ▒2 bad▒▒▒▒▒▒▒▒×               │',
    '▒ past (× failed)  █ running, ─ until its limit',
    '░ planned  │ now  UTC',
  ]);
});

test('what goes on beyond the picture says so, and crowds are counted', () => {
  const endless = bar(7, { kind: 'running', word: 'running', from: AT - 9 * S, until: null });
  const crowd = Array.from({ length: 12 }, (_, at) => bar(20 + at, { nodes: ['n2'] }));
  const sight = { from: AT - 30 * S, until: AT + 10 * S };
  const rows = rowsOf([endless, ...crowd], ['n1', 'n2'], sight);
  const lines = textBars({ at: AT, sight, rows }, { width: 44, paint: PLAIN });
  assert.match(lines[1] ?? '', /^n1 {2,}█7 prep█+─+›$/);
  assert.match(lines[2] ?? '', /^n2 {2}‹20 prep▒+ +│$/);
  assert.equal(lines[10], '    … 4 more side by side');
});

test('whatever the names and times, no line is wider than the terminal', () => {
  const any = fc.record({
    jobId: fc.nat(99999),
    name: fc.string({ unit: 'grapheme' }),
    from: fc.integer({ min: -60, max: 90 }),
    length: fc.option(fc.nat(99)),
    kind: fc.constantFrom('past', 'running', 'planned'),
    node: fc.constantFrom('n1', 'n2', '計算機計算機計算機計算機'),
  });
  const property = fc.property(fc.array(any), fc.integer({ min: 47, max: 200 }), (list, width) => {
    const bars = list.map(({ jobId, name, from, length, kind, node }) => {
      const begin = AT + from * S;
      const until = length === null ? null : begin + length * S;
      return bar(jobId, { name, kind: kind as 'past', nodes: [node], from: begin, until });
    });
    const picture = pictureOf(bars, ['n1', 'n2', '計算機計算機計算機計算機']);
    for (const line of textBars(picture, { width, paint: PLAIN })) {
      assert.ok(displayWidth(line) <= width, `${displayWidth(line)} > ${width}: ${line}`);
    }
  });
  fc.assert(property);
});

test('the time shown is the one asked for, else what is known, not far ahead', () => {
  const open = { sinceDefault: AT - 3_600_000 };
  assert.deepEqual(sightOf(BARS, AT, open), { from: AT - 40 * S, until: AT + 40 * S });
  const week = bar(9, { kind: 'running', until: AT + 7 * 86_400_000 });
  assert.equal(sightOf([week], AT, open).until, AT + 120 * S);
  const old = bar(9, { from: AT - 86_400_000 });
  assert.equal(sightOf([old], AT, open).from, AT - 3_600_000);
  assert.deepEqual(sightOf([], AT, { ...open, since: 5, until: 99_999 }), {
    from: 5,
    until: 99_999,
  });
});

test('an array is a line for each state of its tasks, unless each is asked for', async () => {
  const tasks = Array.from({ length: 6 }, (_, at) =>
    bar(9, { id: `9[${at}]`, from: AT - (60 - at) * S, nodes: [at % 2 ? 'n2' : 'n1'] }),
  );
  const failed = { ...tasks[4], word: 'failed' } as ScheduleBar;
  const one = bar(8, { from: AT - 70 * S });
  await using head = await FakeHead.start(answers([...tasks.with(4, failed), one]));
  const rows = async (...more: string[]) =>
    (await head.weft('schedule', ...more)).out.trimEnd().split('\n').slice(1);
  const [first = '', whole = '', bad = '', ...none] = await rows();
  assert.match(first, /^8 /);
  assert.match(whole, /^9\[0-3,5\] +prep +alice +completed .* n1,n2$/);
  assert.match(bad, /^9\[4\] .* failed /);
  assert.deepEqual(none, []);
  assert.equal((await rows('-o', 'wide')).length, 7);
});

test('a table where there is no terminal, and what programs read', async () => {
  await using head = await FakeHead.start(answers());
  const { out, code } = await head.weft('schedule');
  assert.equal(code, 0);
  const [title, ...rows] = out.trimEnd().split('\n');
  assert.match(title ?? '', /^TASK +NAME +USER +STATE +FROM +UNTIL +NODES$/);
  assert.deepEqual(
    rows.map((row) => row.split(/ +/)[3]),
    ['completed', 'failed', 'running', 'planned'],
  );
  const json = JSON.parse((await head.weft('schedule', '-o', 'json', '--node', 'n2')).out);
  assert.deepEqual(json, [BARS[1]]);
  assert.equal(head.work.at(-2)?.query['node'] ?? head.work.at(-1)?.query['node'], 'n2');
});

test('bars and a picture of the nodes of a partition, and notes of what is not shown', async () => {
  const partition = { 'GET /v1/partitions/gpu': () => ({ json: { nodes: ['n2'] } }) };
  await using head = await FakeHead.start({
    ...answers(BARS, { isWhole: false, isPastWhole: false, isRunningWhole: false }),
    ...partition,
  });
  const { out, error } = await head.weft('schedule', '--plot', '-p', 'gpu');
  assert.match(out, /^n2 {2}▒2 bad▒+×/m);
  assert.doesNotMatch(out, /n1/);
  assert.match(error, /only the last 5000 are shown[\s\S]*--node chooses[\s\S]*more tasks wait/);
  const few = await head.weft('schedule', '--plot', '--limit', '1');
  assert.match(few.out, /^n1 {2}/m);
  assert.match(few.error, /2 more nodes; --node and --partition choose/);
  const svg = await head.weft('schedule', '--svg', '-');
  assert.match(svg.out, /^<svg [\s\S]*<\/svg>\n$/);
});

test('starts that a site decides are told apart, with the age of what they are guessed from', async () => {
  const guess = { site: 'hpc', waitMs: 60 * S, listedAt: AT - 12 * S };
  const planned = bar(5, { kind: 'planned', word: 'pending', from: AT, until: null, guess });
  await using head = await FakeHead.start(answers([planned, { ...planned, id: '6', jobId: 6 }]));
  const { out, error } = await head.weft('schedule');
  assert.deepEqual(out.match(/planned|guessed/g), ['guessed', 'guessed']);
  assert.deepEqual(error.trimEnd().split('\n'), [
    'weft: when hpc starts what is planned there is guessed from its listing 12s ago',
  ]);
});

test('what cannot be meant is refused', async () => {
  await using head = await FakeHead.start(answers());
  for (const [argv, words] of [
    [['--node', 'n3'], /there is no node 'n3'\. Did you mean 'n1'\?/],
    [['--node', 'n1,,'], /--node: /],
    [['--since', '1h', '--until', '2020-01-01'], /--since: that is not before --until/],
    [['--svg', '-', '-o', 'json'], /--output: leave it out with --plot and --svg/],
    [['--until', 'soon'], /--until: 'soon' is not a time/],
    [['--svg', '/nowhere/x.svg'], /--svg: cannot write \/nowhere\/x\.svg: no such file/],
  ] as const) {
    const said = await head.weft('schedule', ...argv);
    assert.deepEqual([said.code, said.out], [2, ''], argv.join(' '));
    assert.match(said.error, words);
  }
});

const HOSTILE = '</text><script>alert(1)</script>"\'&\u0000\u202e\ud800]]>';

test('names cannot get out of the text of a picture', () => {
  const bars = BARS.map((one) => ({ ...one, name: HOSTILE, owner: HOSTILE, nodes: [HOSTILE] }));
  const svg = scheduleSvg(pictureOf(bars, [HOSTILE]));
  const tags = new Set([...svg.matchAll(/<\/?([a-z]*)/g)].map(([, tag]) => tag));
  assert.deepEqual([...tags].sort(), ['path', 'rect', 'style', 'svg', 'text', 'title']);
  assert.doesNotMatch(svg, /&(?!(amp|lt|gt|quot|#39);)/);
  assert.doesNotMatch(svg, /[\u0000-\u0009\u202e\ufffe]/);
  assert.ok(svg.isWellFormed());
  assert.match(svg, /prefers-color-scheme: dark/);
  assert.match(svg, /Schedule at 2026-01-31 12:00:00 UTC/);
});

test('a file is replaced whole or stays as it was', () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'weft-whole-'));
  try {
    const file = path.join(folder, 'a.svg');
    const link = path.join(folder, 'link.svg');
    writeFileSync(file, 'old');
    symlinkSync('a.svg', link);
    const { ino } = statSync(file);
    writeWhole(folder, { flag: '--svg', file: 'link.svg' }, 'new');
    assert.equal(readFileSync(file, 'utf8'), 'new');
    // Another file in its place: a reader of the old one still has all of it.
    assert.notEqual(statSync(file).ino, ino);
    assert.deepEqual(readdirSync(folder).sort(), ['a.svg', 'link.svg']);
    writeWhole(folder, { flag: '--svg', file: '/dev/null' }, 'nothing');
    assert.ok(statSync('/dev/null').isCharacterDevice());
    const broken = () => writeWhole(folder, { flag: '--svg', file: '.' }, 'x');
    assert.throws(broken, /--svg: cannot write \.: it is a directory/);
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test('a file keeps its mode, its place behind a link, and what others have put beside it', () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'weft-whole-'));
  const before = process.umask(0o077);
  try {
    const write = (file: string) => writeWhole(folder, { flag: '--svg', file }, 'new');
    const at = (file: string) => path.join(folder, file);
    writeFileSync(at('shared'), 'old');
    chmodSync(at('shared'), 0o664);
    write('shared');
    assert.equal(statSync(at('shared')).mode & 0o777, 0o664);
    symlinkSync('to-come', at('link'));
    write('link');
    assert.equal(readFileSync(at('to-come'), 'utf8'), 'new');
    assert.ok(lstatSync(at('link')).isSymbolicLink());
    const theirs = `shared.${process.pid}.part`;
    writeFileSync(at(theirs), 'theirs');
    assert.throws(() => write('shared'), /cannot write shared: .*\.part is in the way/);
    assert.equal(readFileSync(at(theirs), 'utf8'), 'theirs');
    // No longer name has room beside it.
    const long = 'x'.repeat(255);
    writeFileSync(at(long), 'old');
    write(long);
    assert.equal(readFileSync(at(long), 'utf8'), 'new');
  } finally {
    process.umask(before);
    rmSync(folder, { recursive: true });
  }
});

test('a job that was started more than once has a line for each start', async () => {
  const again = bar(1, { from: AT - 10 * S, until: AT - 5 * S });
  const task = (index: number) => bar(2, { id: `2[${index}]` });
  const bars = [bar(1, { word: 'failed' }), bar(1, { word: 'failed' }), again, task(0), task(1)];
  await using head = await FakeHead.start(answers(bars));
  const { code, out, error } = await head.weft('schedule');
  const rows = out.split('\n').slice(1, -1);
  const words = rows.map((row) => row.replace(/^(\S+) +prep +alice +(\S+).*$/, '$1 $2'));
  const wanted = ['1 failed', '1 failed', '2[0-1] completed', '1 completed'];
  assert.deepEqual([code, error, words], [0, '', wanted]);
});
