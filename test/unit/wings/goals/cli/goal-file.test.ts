// Goal files: what is read, and every mistake with its place.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { parseGoals } from '../../../../../src/wings/goals/config/read-goals.ts';
import { ROOT } from '../../../../../tools/tree.ts';

const GOOD = `classes:
  compute:
    nodes: n[1-2]
    labels: "!old"
    at_once: 2
    within: 12h
    duration: 10m
    running: requeue
    goals:
      kernel: {fact: kernel, is: 6.1.*}
      room: {fact: disk, at_least: 10G}
      data: {check: mountpoint -q /data, repair: mount /data}
      lib: {check: cat /etc/lib, expect: 2}
`;

test('[M20] a goal file says classes of nodes and what they are to be like', () => {
  const { classes, problems } = parseGoals(GOOD, 'goals.yaml');
  assert.deepEqual(problems, []);
  const [compute] = classes;
  const { goals = [], ...rest } = compute ?? {};
  assert.deepEqual(rest, {
    name: 'compute',
    nodes: ['n1', 'n2'],
    labels: ['!old'],
    atOnce: 2,
    withinMs: 43_200_000,
    durationMs: 600_000,
    running: 'requeue',
    restarts: false,
  });
  assert.deepEqual(
    goals.map(({ name, repair }) => `${name} ${repair}`),
    [...['kernel null', 'room null', 'data mount /data', 'lib null']],
  );
  assert.deepEqual(goals[1]?.test, { kind: 'fact', fact: 'disk', atLeast: 10 * 2 ** 30 });
  assert.deepEqual(goals[3]?.test, { kind: 'check', line: 'cat /etc/lib', expect: '2' });
});

test('[M20] the file that the documents show is right', () => {
  const page = readFileSync(path.join(ROOT, 'docs/maintenance.md'), 'utf8');
  const [, , text = ''] = page.split('```yaml\n').map((part) => part.split('```')[0] ?? '');
  const { classes, problems } = parseGoals(text, 'docs/maintenance.md');
  assert.deepEqual(problems, []);
  assert.equal(classes[0]?.goals.length, 5);
});

const WRONG = [
  ['clases: {}', /unknown key 'clases'. Did you mean 'classes'\?/],
  [
    'classes: {a: {goals: {x: {fact: kernel}}}}',
    /g:1:\d+: classes.a.goals.x: give either is or at_least/,
  ],
  ['classes: {a: {goals: {x: {check: "true", fact: os}}}}', /give either fact or check/],
  ['classes: {a: {goals: {x: {check: "true", is: 1}}}}', /a check has expect/],
  ['classes: {a: {goals: {x: {fact: kernal, is: 1}}}}', /classes.a.goals.x.fact/],
  [
    'classes: {a: {goals: {x: {fact: disk, at_least: lots}}}}',
    /'lots' is neither a number nor a size/,
  ],
  ['classes: {a: {within: soon, goals: {}}}', /'soon' is not a duration/],
  ['classes: {a: {at_once: 0, goals: {}}}', /at_once/],
  ['classes: {a: {labels: "gpu &", goals: {}}}', /column 6/],
  ['classes: {"a b": {goals: {}}}', /letters, digits/],
  ['classes: {a: }', /classes.a/],
  ['- a', /the file/],
] as const;

for (const [text, words] of WRONG) {
  test(`[M20] ${text} is refused with its place`, () => {
    const { problems } = parseGoals(text, 'g');
    assert.ok(problems.length > 0, 'no problem found');
    assert.match(problems.map(({ where, what }) => `${where}: ${what}`).join('\n'), words);
  });
}
