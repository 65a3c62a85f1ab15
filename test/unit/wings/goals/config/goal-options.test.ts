// Where goals come from, as the configuration says it, and which addresses are refused.

import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { loadConfig } from '../../../../../src/kernel/config/config.ts';
import { goalOptions } from '../../../../../src/wings/goals/config/goal-options.ts';
import { WINGS } from '../../../../../src/wings.ts';

const directory = mkdtempSync(join(tmpdir(), 'weft-goal-options-'));
after(() => rmSync(directory, { recursive: true }));

async function fromOf(url: string) {
  const flags = new Map([['goals.url', { text: url, flag: '--goals' }]]);
  const config = await loadConfig({ wings: WINGS, flags, environment: {}, file: null, directory });
  return goalOptions(config)?.from;
}

test('[M23] goals come by https, and by http from this machine only', async () => {
  for (const url of [
    'https://config.example.org/goals.yaml',
    'http://127.0.0.1:8080/goals.yaml',
    'http://localhost/goals.yaml',
    'http://[::1]/goals.yaml',
  ]) {
    assert.deepEqual(await fromOf(url), { kind: 'url', url });
  }
  for (const url of ['http://config.example.org/', 'http://127.0.0.1.example.org/']) {
    await assert.rejects(fromOf(url), /goals\.url: give https:\/\/; .* this machine/);
  }
});

test('what is no address, or has a password, is refused without repeating it', async () => {
  await assert.rejects(fromOf('ftp://x/'), /goals\.url: this is no address/);
  for (const url of ['https://ann:secret@x.org/', 'https://secret@x.org/', 'http://a:secret@[x/']) {
    await assert.rejects(fromOf(url), ({ message }: Error) => {
      assert.doesNotMatch(message, /secret/);
      return /goals\.url: (leave out the user name|this is no address)/.test(message);
    });
  }
});
