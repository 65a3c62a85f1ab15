// The words that say whom to tell, and patterns of the site on them.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  formatTarget,
  hostOf,
  matchesPattern,
  parseTarget,
  shownTarget,
} from '../../../../../src/kernel/model/notification.ts';

const GOOD = [
  ...[
    'matrix:@ann:lab.example',
    'matrix:!a1b2:lab:8448',
    'matrix:!v12only',
    'matrix:#hpc:[::1]:80',
  ],
  ...['webhook:https://ci.example/hook?job=1', 'webhook:http://[::1]:8080', 'webhook:https://a:1/'],
  ...['command:tell.sh', 'mail:ann@lab.example', 'mail:a.b+c@localhost'],
];

const BAD = [
  ...[
    '',
    'ann',
    'matrix',
    'matrix:',
    'matrix:ann',
    'matrix:@ann',
    'matrix:@a b:lab',
    'Matrix:@a:b',
  ],
  ...['matrix:@ann:lab/../x', 'matrix:@ann:lab?x', 'matrix:@ann:lab#x', 'matrix:@ann:lab\n'],
  ...['webhook:ftp://a/', 'webhook:https://', 'webhook:https://a b/', 'webhook:https://a/\r\nx: y'],
  ...['webhook:https://user:word@a/', 'webhook:https://a/#x', 'webhook:https://a\\@b/'],
  ...['command:', 'command:../x', 'command:a b', 'command:-x', `command:${'x'.repeat(65)}`],
  ...['mail:ann', 'mail:-t@lab', 'mail:ann@lab\nBcc: eve@lab', 'mail:ann@lab,eve@lab', 'mail:a @b'],
  ...['mail:"a b"@lab', 'mail:<ann@lab>', `webhook:https://a/${'x'.repeat(2000)}`],
];

test('[T4] targets are read and written back, and nothing else is one', () => {
  for (const text of GOOD) {
    const target = parseTarget(text);
    assert.ok(target.ok, text);
    assert.equal(formatTarget(target.value), text);
  }
  for (const text of BAD) assert.equal(parseTarget(text).ok, false, JSON.stringify(text));
});

test('[T4] the path of a webhook may have any letters, which are sent as bytes', () => {
  const path = '/hook/größe/😀?für=ä%20';
  const target = parseTarget(`webhook:https://ci.example${path}`);
  assert.ok(target.ok);
  assert.equal(target.value.to, new URL(`https://ci.example${path}`).href);
  assert.deepEqual(parseTarget(formatTarget(target.value)), target);
  const long = parseTarget(`webhook:https://a/${'ä'.repeat(400)}`);
  assert.equal(long.ok, false, 'it is the text as sent that may be so long');
  for (const [text, letter] of [
    ['webhook:https://bücher.example/', 'ü'],
    ['webhook:https://a/x y', ' '],
    ['mail:änn@lab', 'ä'],
  ] as const) {
    const refused = parseTarget(text);
    assert.ok(!refused.ok);
    assert.ok(refused.error.includes(`it may not have "${letter}"; write`), refused.error);
  }
});

test('what cannot be read is refused with what can', () => {
  const words = (text: string): string => {
    const target = parseTarget(text);
    return target.ok ? '' : target.error;
  };
  assert.match(words('martix:@ann:lab'), /Did you mean 'matrix'\?/);
  assert.match(words('mail:ann'), /'mail:ann' is not readable; write an address, ann@example.org/);
});

test('the host of a webhook is what its address says, and its path is not shown', () => {
  const host = (text: string) => {
    const target = parseTarget(`webhook:${text}`);
    assert.ok(target.ok, text);
    return hostOf(target.value);
  };
  assert.equal(host('https://Ci.Example:8443/x'), 'ci.example');
  assert.equal(host('https://[FD00::1]:1/x'), '[fd00::1]');
  assert.equal(host('https://a?b'), 'a');
  assert.equal(shownTarget('webhook:https://ci:1/secret?x'), 'webhook:https://ci:1/…');
  assert.equal(shownTarget('webhook:https://ci?x'), 'webhook:https://ci/…');
  assert.equal(shownTarget('mail:ann@lab'), 'mail:ann@lab');
});

test('[T3] a star in a pattern stands for anything, and everything else for itself', () => {
  const rows: [string, string, boolean][] = [
    ['@ann:lab', '@*:lab', true],
    ['@ann:lab.evil', '@*:lab', false],
    ['@ann:LAB', '@*:lab', true],
    ['ci.lab', '*.lab', true],
    ['lab', '*.lab', false],
    ['lab', 'lab', true],
    ['labs', 'lab', false],
    ['aa', 'a*a', true],
    ['a', 'a*a', false],
    ['a.b.c', 'a*b*c', true],
    ['acb', 'a*b*c', false],
    ['abab', 'ab*ab*ab', false],
    ['x', '*', true],
    ['a.b', 'a?b', false],
  ];
  for (const [text, pattern, is] of rows) {
    assert.equal(matchesPattern(text, pattern), is, `${text} ${pattern}`);
  }
});
