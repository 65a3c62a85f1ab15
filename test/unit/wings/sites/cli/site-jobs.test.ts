// Ids of sites' jobs as operands, and a gateway without a site.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Command } from 'commander';
import type { Context } from '../../../../../src/kernel/cli/context.ts';
import { withOwnIds } from '../../../../../src/kernel/cli/main.ts';
import { sites } from '../../../../../src/wings/sites/wing.ts';

const ARRAY = { id: 8, array: { indices: '0-9' }, siteJob: 'hpc/16' };

/** A head that knows one job of a site, and of another why it is none of ours. */
function contextOf(asked: string[]): Context {
  const call = (name: string, options: { query?: { siteJob: string } } = {}) => {
    const siteJob = options.query?.siteJob ?? '';
    if (name === 'listSites') return Promise.resolve({ sites: [{ name: 'hpc' }] });
    const hidden = { id: '4713', reason: 'rule secret of its site hides it' };
    if (name === 'getSite') return Promise.resolve({ jobs: [hidden] });
    asked.push(siteJob);
    const known = [{ id: 7, array: null, siteJob: 'hpc/4711' }, ARRAY].filter(
      (one) => one.siteJob === siteJob,
    );
    return Promise.resolve({ jobs: known });
  };
  return { api: () => Promise.resolve({ call }), wings: [sites] } as unknown as Context;
}

function parsed(form: string, ...words: string[]): Command {
  const command = new Command().argument(form).action(() => undefined);
  command.parse(words, { from: 'user' });
  return command;
}

test('an id of a site is that of the job that stands for it', async () => {
  const asked: string[] = [];
  const command = parsed('<job...>', '3', 'hpc/4711', '5[2]');
  assert.deepEqual(await withOwnIds(command, contextOf(asked)), ['3', '7', '5[2]']);
  assert.deepEqual(asked, ['hpc/4711']);
});

test('an element of an array at a site is the task of ours', async () => {
  const command = parsed('<job...>', 'hpc/16_2', 'hpc/16[3]', 'hpc/16');
  assert.deepEqual(await withOwnIds(command, contextOf([])), ['8[2]', '8[3]', '8']);
  const none = parsed('<job>', 'hpc/4711_2');
  await assert.rejects(withOwnIds(none, contextOf([])), /no job of ours stands for hpc\/4711_2/);
});

test('an id of a site that nobody knows is an error that names it', async () => {
  const command = parsed('<job>', 'hpc/4712');
  await assert.rejects(withOwnIds(command, contextOf([])), /no job of ours stands for hpc\/4712/);
});

test('[G8] a job that a rule keeps out says which', async () => {
  const command = parsed('<job>', 'hpc/4713');
  const words = /no job of ours stands for hpc\/4713: rule secret of its site hides it/;
  await assert.rejects(withOwnIds(command, contextOf([])), words);
});

test('what is no job is left as it is, and the head is not asked', async () => {
  const asked: string[] = [];
  const command = parsed('<file...>', 'dir/file');
  assert.deepEqual(await withOwnIds(command, contextOf(asked)), ['dir/file']);
  assert.deepEqual(asked, []);
});
