// Ids of sites' jobs as operands, and a gateway without a site.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Command } from 'commander';
import type { Context } from '../../../src/cli/context.ts';
import { withOwnIds } from '../../../src/cli/site-jobs.ts';

/** A head that knows one job of a site. */
function contextOf(asked: string[]): Context {
  const call = (_: string, { query }: { query: { siteJob: string } }) => {
    asked.push(query.siteJob);
    return Promise.resolve({ jobs: query.siteJob === 'hpc/4711' ? [{ id: 7 }] : [] });
  };
  return { api: () => Promise.resolve({ call }) } as unknown as Context;
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

test('an id of a site that nobody knows is an error that names it', async () => {
  const command = parsed('<job>', 'hpc/4712');
  await assert.rejects(withOwnIds(command, contextOf([])), /no job of ours stands for hpc\/4712/);
});

test('what is no job is left as it is, and the head is not asked', async () => {
  const asked: string[] = [];
  const command = parsed('<file...>', 'dir/file');
  assert.deepEqual(await withOwnIds(command, contextOf(asked)), ['dir/file']);
  assert.deepEqual(asked, []);
});
