// What is expected of submissions, of cancelling, and of switching nodes.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { SiteCommand } from '../../../src/wings/sites/adaptors/adaptor.ts';
import { type AdaptorCase, isMissing } from './case.ts';
import { SUBMISSION } from './shape.ts';

export function orders(of: AdaptorCase): void {
  submissions(of);
  changes(of);
  reasons(of);
}

function submissions(of: AdaptorCase): void {
  const { system, adaptor, submitted, refused, accounts = true, options = true } = of;
  test(`${system}: a submission is answered by an id, or by the system's own words`, () => {
    const { read } = adaptor.submit(SUBMISSION);
    assert.deepEqual(read(submitted.output), { ok: true, value: submitted.id });
    assert.ok(refused.length > 0);
    for (const { output, words } of refused) {
      const answer = read(output);
      assert.ok(!answer.ok && answer.error.kind === 'refused');
      assert.match(answer.error.text, words);
    }
  });

  test(`${system}: a submission says its name, its files and options, and no word of its script`, () => {
    const { argv, input = '' } = adaptor.submit(SUBMISSION).command;
    const said = [...argv, input];
    for (const part of [SUBMISSION.name, SUBMISSION.stdout, SUBMISSION.stderr]) {
      assert.ok(
        said.some((word) => word.includes(part)),
        part,
      );
    }
    for (const option of options ? SUBMISSION.options : []) {
      assert.ok(argv.includes(option) || input.includes(JSON.stringify(option)), option);
    }
    assert.ok(argv.every((word) => word !== '' && !/[\n\0]/.test(word)));
    // Everybody may see the words of a command.
    assert.ok(!argv.join(' ').includes('SECRET'));
    assert.ok(input.includes(SUBMISSION.script) || said.join(' ').includes('script-file'));
    assert.deepEqual(adaptor.submit(SUBMISSION).command, adaptor.submit(SUBMISSION).command);
  });

  test(`${system}: a limit, a queue and an account are asked for where they are set`, () => {
    const of = (change: Partial<typeof SUBMISSION>): string => {
      const { argv, input } = adaptor.submit({ ...SUBMISSION, ...change }).command;
      return JSON.stringify([argv, input]);
    };
    const plain = of({});
    for (const change of [{ walltimeMs: 61_000 }, { queue: 'long' }]) {
      assert.notEqual(of(change), plain, JSON.stringify(change));
    }
    assert.match(of({ queue: 'longer-queue' }), /longer-queue/);
    if (accounts) assert.match(of({ account: 'wing-account' }), /wing-account/);
  });
}

function changes(of: AdaptorCase): void {
  const { system, adaptor } = of;
  test(`${system}: a job is cancelled by its id, an element apart from its array`, () => {
    const whole = toldBy(adaptor.cancel('4711').command);
    assert.match(whole, /4711/);
    const refused = adaptor.cancel('4711').read(of.cancelRefused);
    assert.ok(!refused.ok && refused.error.kind === 'refused');
    if (isMissing(of.array)) return;
    const element = toldBy(adaptor.cancel(adaptor.element('4711', 3)).command);
    assert.notEqual(element, whole);
    assert.ok(element.includes('4711') && /\b3\b|_3\b/.test(element));
  });

  test(`${system}: a node is stopped and restored by different commands that name it`, () => {
    const reason = `it's "broken"; reboot | now`;
    const stop = adaptor.setNode({ node: 'n3', kind: 'stop', reason });
    const restore = adaptor.setNode({ node: 'n3', kind: 'restore' });
    assert.notDeepEqual(stop, restore);
    for (const command of [...stop, ...restore]) {
      const { argv } = command;
      assert.match(toldBy(command), /\bn3\b/);
      // An empty one takes back what was said.
      assert.ok(argv.every((word, at) => word !== '' || argv[at - 1] === '-C'));
      assert.ok(argv.every((word) => !word.includes('\n')));
      // Whole in one word, or not at all.
      const pieces = argv.filter((word) => word.includes('broken'));
      assert.ok(pieces.every((word) => word.includes('reboot')));
    }
  });
}

function reasons({ system, adaptor, keepsReason }: AdaptorCase): void {
  const skip = keepsReason === true ? {} : { skip: 'it says nothing of nodes that take jobs' };
  test(`${system}: a node is restored with what was said of it before, not with ours`, skip, () => {
    const told = (reason?: string) =>
      adaptor.setNode({ node: 'n3', kind: 'restore', ...(reason === undefined ? {} : { reason }) });
    assert.ok(told('old disk').some((command) => toldBy(command).includes('old disk')));
    assert.notDeepEqual(told('old disk'), told());
  });
}

/** Words of a command, and what it reads. */
function toldBy({ argv, input = '' }: SiteCommand): string {
  return [...argv, input].join(' ');
}
