// The file of a site's filters: what it may say, and what is wrong with it, each with its line.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseFilters } from '../../../../../src/wings/sites/config/read-filters.ts';

const parse = (text: string) => parseFilters(text, '/etc/weft/filters.yaml');
const problems = (text: string): string[] =>
  parse(text).problems.map(({ where, what }) => `${where.split('/').at(-1)} ${what}`);

test('rules and sources are read, with what is left out', () => {
  const { filters, problems: wrong } = parse(`
sources:
  monitoring: {file: hot.json, every: 30s}
rules:
  hot: {data: monitoring, when: temp=hot, hide: true}
  big: {over: jobs, when: [user=ann, queue=long], set: {partition: big}, add: gpu}
  main: {over: queues, when: queue=batch, rename: main}
  short: {rename: {from: '*.example.org', to: 'big-*'}}
`);
  assert.deepEqual(wrong, []);
  assert.deepEqual(filters.sources, [
    {
      name: 'monitoring',
      everyMs: 30_000,
      timeoutMs: 10_000,
      from: { kind: 'file', path: '/etc/weft/hot.json' },
    },
  ]);
  assert.deepEqual(filters.rules[0], {
    name: 'hot',
    over: 'nodes',
    when: ['temp=hot'],
    hide: true,
    add: [],
    queue: null,
    data: 'monitoring',
  });
  assert.deepEqual(filters.rules[1], {
    name: 'big',
    over: 'jobs',
    when: ['user=ann', 'queue=long'],
    hide: false,
    add: ['gpu'],
    queue: null,
    partition: 'big',
  });
  assert.deepEqual(
    filters.rules.slice(2).map(({ rename }) => rename),
    [
      { from: '*', to: 'main' },
      { from: '*.example.org', to: 'big-*' },
    ],
  );
});

test('what is wrong is told whole, with its place', () => {
  const text = `
sources:
  none: {every: 30s}
  late: {url: 'ftp://x/', timeout: 1}
rules:
  idle: {when: old}
  bad: {when: 'old &', hide: true}
  node: {over: nodes, set: {partition: x}}
  typo: {hid: true}
  jobs: {over: jobs, rename: x}
  star: {rename: {from: n1, to: '*x'}}
  stars: {rename: 'a**'}
  name: {rename: 'a=*'}
  form: {rename: {form: n1, to: x}}
`;
  const all = problems(text).join('\n');
  for (const words of [
    /filters.yaml:3:9 sources.none: give one of file, command and url/,
    /sources.late.url: Invalid URL/,
    /filters.yaml:6:9 rules.idle: does nothing; give hide, add, data, set or rename/,
    /rules.bad.when: column \d+: /,
    /rules.node: set.partition is for jobs only/,
    /unknown key 'rules.typo.hid'. Did you mean 'hide'\?/,
    /rules.jobs: rename is for nodes and queues only/,
    /rules.star: rename: to has a \*, and from has none/,
    /rules.stars.rename: letters, digits and . _ = \/ -, and at most one \*/,
    /rules.name: rename: 'a=n' is not a node name/,
    /rules.form.rename: /,
  ]) {
    assert.match(all, words);
  }
});

test('a source that is not there is named', () => {
  assert.deepEqual(problems('rules: {x: {data: mon}}\nsources: {moni: {file: a}}'), [
    "filters.yaml:1:19 rules.x.data: there is no source 'mon'. Did you mean 'moni'?",
  ]);
});

test('a password in an address is refused, and not repeated', () => {
  for (const url of ['https://ann:secret@x.org/', 'http://secret@x.org/']) {
    const [what = ''] = problems(`sources: {mon: {url: '${url}'}}`);
    assert.match(what, /sources\.mon\.url: leave out the user name and the password/);
    assert.doesNotMatch(what, /secret/);
  }
});
