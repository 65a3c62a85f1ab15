// What the configuration says of notifications, and every mistake in it.

import assert from 'node:assert/strict';
import { chmodSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { type TestContext, test } from 'node:test';
import { loadConfig } from '../../../../../src/kernel/config/config.ts';
import { liveOptions } from '../../../../../src/kernel/config/head-options.ts';
import { options } from '../../../../../src/wings/notify/config/notify-options.ts';
import { WINGS } from '../../../../../src/wings.ts';
import { makeFolder } from '../../../../support/folder.ts';

async function optionsOf(t: TestContext, text: string) {
  const folder = makeFolder(t, { token: 'syt_x\n', empty: '\n', open: 'x', tell: '#!/bin/sh\n' });
  for (const name of ['token', 'empty']) chmodSync(path.join(folder, name), 0o600);
  const file = path.join(folder, 'weft.yaml');
  writeFileSync(file, text.replaceAll('$', folder));
  const sources = { environment: {}, file, directory: folder, wings: WINGS };
  const live = liveOptions(await loadConfig(sources), [options]);
  return { folder, notify: live.notify, rules: live.settings.notify };
}

test('a site that sets nothing up notifies nobody', async (t) => {
  const { notify, rules } = await optionsOf(t, 'cluster: {name: lab}\n');
  assert.deepEqual(notify, {
    matrix: null,
    webhook: null,
    commands: {},
    mail: null,
    timeoutMs: 10_000,
  });
  assert.deepEqual(rules, {
    matrix: null,
    webhook: null,
    command: null,
    mail: null,
    giveUpMs: 86_400_000,
  });
});

test('everything that a site can set up', async (t) => {
  const text = `notify:
  matrix_homeserver: https://matrix.lab/
  matrix_token_file: $/token
  matrix_to: ["@*:lab", "!ops:lab"]
  webhook_hosts: ["*.lab"]
  webhook_networks: [10.0.0.0/8, "fd00::/8"]
  webhook_secret_file: $/token
  commands:
    page: [$/tell, --loud]
    note: $/tell
  mail_program: $/tell
  mail_from: weft@lab
  timeout: 3s
  give_up_after: 2h
`;
  const { folder, notify, rules } = await optionsOf(t, text);
  const [tokenFile, program] = [path.join(folder, 'token'), path.join(folder, 'tell')];
  assert.deepEqual(notify, {
    matrix: { homeserver: 'https://matrix.lab', tokenFile },
    webhook: { networks: ['10.0.0.0/8', 'fd00::/8'], secretFile: tokenFile },
    commands: { page: [program, '--loud'], note: [program] },
    mail: { program, from: 'weft@lab' },
    timeoutMs: 3000,
  });
  assert.deepEqual(rules, {
    matrix: ['@*:lab', '!ops:lab'],
    webhook: ['*.lab'],
    command: ['page', 'note'],
    mail: ['*'],
    giveUpMs: 7_200_000,
  });
});

const MATRIX = 'matrix_homeserver: https://m.lab';
const HOOKS = "webhook_hosts: ['*']";
const WRONG: readonly (readonly [text: string, what: RegExp])[] = [
  ['matrix_homserver: x', /yaml:2:3: unknown key .* Did you mean 'notify.matrix_homeserver'/],
  ['matrix_homeserver: m.lab', /yaml:2:22: notify.matrix_homeserver: 'm.lab' is not the address/],
  ['matrix_token_file: token', /yaml:2:22: .* 'token' is not an absolute path/],
  [MATRIX, /yaml:2: notify.matrix_homeserver needs notify.matrix_token_file as well/],
  [`${MATRIX}\n  matrix_token_file: $/none`, /yaml:3: .*none cannot be read: no such file/],
  [`${MATRIX}\n  matrix_token_file: $/open`, /yaml:3: .* others can read .*; run `chmod 600/],
  [`${MATRIX}\n  matrix_token_file: $/empty`, /yaml:3: .* is empty/],
  [HOOKS, /yaml:2: notify.webhook_hosts needs notify.webhook_secret_file/],
  ['webhook_networks: [localhost]', /yaml:2:21: .* 'localhost' is not a network/],
  ['webhook_networks: [10.0.0.999/8]', /yaml:2: .* '10.0.0.999\/8' is not a network/],
  ['commands: {tell: [tell]}', /notify.commands.tell cannot be run: tell is not found in PATH/],
  ['commands: {tell: $/token}', /notify.commands.tell cannot be run: .*permission denied/],
  ['commands: {-x: /bin/true}', /yaml:2:14: '-x' is not a name for a command/],
  ['commands: {tell: }', /yaml:2:20: notify.commands.tell: expected a list of texts/],
  ['mail_from: weft@lab', /yaml:2: notify.mail_from needs notify.mail_program as well/],
  ['mail_from: "a@b, c@d"', /yaml:2:14: .* is not an address/],
  ['timeout: 1h', /yaml:2:12: notify.timeout: '1h' is too large/],
];

for (const [text, what] of WRONG) {
  test(`what is wrong with ${text.replaceAll('\n', ' ')}`, async (t) => {
    await assert.rejects(optionsOf(t, `notify:\n  ${text}\n`), what);
  });
}
