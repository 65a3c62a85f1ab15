// Notifications as their users see them: a real Matrix homeserver, a webhook, a command of the site
// and a mail program, told by the head of a real cluster that is killed meanwhile.

import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';
import type { JobDetail } from '../../src/kernel/api/jobs.ts';
import type { ListNotificationsReply } from '../../src/wings/notify/api/notifications.ts';
import { until } from './support/hosts.ts';
import { LocalCluster } from './support/local-cluster.ts';
import { type MatrixUser, Synapse, setUpSynapse } from './support/synapse.ts';

const { bin, reason } = setUpSynapse();
// CI must not lose the test; without a network a developer is told why.
const skip = bin === null && process.env['CI'] !== 'true' && reason;

interface Hooked {
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  readonly response: ServerResponse;
}

interface RoomEvent {
  readonly type: string;
  readonly sender: string;
  readonly content: { readonly body?: string };
}

describe('notifications', { skip }, () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'weft-notify-'));
  const at = (name: string): string => path.join(folder, name);
  const write = (name: string, text: string, mode = 0o600): void => {
    writeFileSync(at(name), text, { mode });
    chmodSync(at(name), mode);
  };
  const cluster = new LocalCluster({ WEFT_CONFIG: at('weft.yaml') });
  const hooked: Hooked[] = [];
  /** Null: it keeps them waiting. */
  let hookStatus: number | null = 200;
  const hook = createServer((incoming, response) => {
    let body = '';
    incoming.setEncoding('utf8').on('data', (text: string) => {
      body += text;
    });
    incoming.on('end', () => {
      hooked.push({ headers: incoming.headers, body, response });
      if (hookStatus !== null) response.writeHead(hookStatus).end();
    });
  });
  let hookUrl = '';
  let synapse: Synapse;
  let bot: MatrixUser;
  let ann: MatrixUser;

  before(async () => {
    assert.notEqual(bin, null, reason);
    await new Promise<void>((resolve) => hook.listen(0, '127.0.0.1', resolve));
    hookUrl = `http://127.0.0.1:${(hook.address() as AddressInfo).port}`;
    synapse = await Synapse.start(bin ?? '');
    bot = await synapse.register('weft');
    ann = await synapse.register('ann');
    write('token', bot.token);
    write('secret', 'hush');
    write('tell', `#!/bin/sh\nexec cat >> ${at('told')}\n`, 0o755);
    write('sendmail', `#!/bin/sh\necho "$@" >> ${at('mail')}; cat >> ${at('mail')}\n`, 0o755);
    write('weft.yaml', CONFIG.replaceAll('$', folder).replace('URL', synapse.url));
    await cluster.up('--nodes', '1', '--listen', 'none');
  });
  after(async () => {
    await cluster.close();
    synapse?.close();
    hook.closeAllConnections();
    hook.close();
    rmSync(folder, { recursive: true, force: true });
  });

  const run = (...args: string[]): Promise<string> => cluster.ok('run', ...args);
  const notified = async (id: string): Promise<NonNullable<JobDetail['notifications']>> => {
    const job = await cluster.client.call<JobDetail>('GET', `/v1/jobs/${id}`);
    return job.notifications ?? [];
  };
  const told = (id: string) =>
    until(`those who wait for job ${id} were told`, async () => {
      const all = await notified(id);
      return all.length > 0 && all.every(({ state }) => state === 'told') ? all : undefined;
    });
  const roomsOf = async (user: MatrixUser): Promise<string[]> => {
    const ask = synapse.as(user);
    return (await ask<{ joined_rooms: string[] }>('GET', '/joined_rooms')).joined_rooms;
  };
  /** What the bot has said to Ann, oldest first; she accepts its invitation. */
  const messages = async (): Promise<string[]> => {
    const ask = synapse.as(ann);
    const { rooms } = await ask<{ rooms?: { invite?: object } }>('GET', '/sync');
    for (const room of Object.keys(rooms?.invite ?? {})) {
      await ask('POST', `/join/${encodeURIComponent(room)}`, {});
    }
    const texts: string[] = [];
    for (const room of await roomsOf(ann)) {
      const place = `/rooms/${encodeURIComponent(room)}/messages?dir=f&limit=100`;
      const { chunk } = await ask<{ chunk: RoomEvent[] }>('GET', place);
      for (const { type, sender, content } of chunk) {
        if (type === 'm.room.message' && sender === bot.id) texts.push(content.body ?? '');
      }
    }
    return texts;
  };

  it('[T1] all four means tell of one job', async () => {
    const whom = [
      'matrix:@ann:lab',
      `webhook:${hookUrl}/ci?key=1`,
      'command:tell',
      'mail:ann@lab.example',
    ];
    const id = await run(
      ...whom.flatMap((one) => ['--notify', one]),
      '--name',
      'train',
      '--',
      'exit 3',
    );
    const words = (await told(id)).map((one) => one.words.replace(/ at .*/, ''));
    assert.deepEqual(words, [
      ...['notified matrix:@ann:lab', `notified webhook:${hookUrl}/…`, 'notified command:tell'],
      'notified mail:ann@lab.example',
    ]);
    assert.match(await cluster.ok('job', id), /Notify: +notified matrix:@ann:lab at /);
    const title = `Job ${id} (train) failed: exited with code 3 on n1`;
    const [said = ''] = await messages();
    assert.match(
      said,
      new RegExp(`^${title.replace(/[()]/g, '\\$&')}\nCluster .*\nOutput: weft logs ${id}$`),
    );
    const [request] = hooked;
    assert.ok(request !== undefined);
    const { headers, body } = request;
    const signature = createHmac('sha256', 'hush').update(body).digest('hex');
    assert.equal(headers['weft-signature'], `sha256=${signature}`);
    assert.equal(JSON.parse(body).title, title);
    assert.equal(JSON.parse(readFileSync(at('told'), 'utf8')).title, title);
    assert.match(
      readFileSync(at('mail'), 'utf8'),
      /^-i -f weft@lab\.example -- ann@lab\.example\nFrom: /,
    );
  });

  it('an array tells once, in the same room, and a room that has invited the bot hears it too', async () => {
    const wish = { invite: [bot.id], room_alias_name: 'ops' };
    const made = await synapse.as(ann)<{ room_id: string }>('POST', '/createRoom', wish);
    const room = `matrix:${made.room_id}`;
    const whom = ['--notify', 'matrix:@ann:lab', '--notify', room, '--notify', 'matrix:#ops:lab'];
    const id = await run('--array', '0-2', ...whom, '--', 'exit $((WEFT_ARRAY_INDEX == 1))');
    await told(id);
    const title = `Job ${id} (exit): 2 of 3 tasks completed, 1 failed`;
    const heard = (await messages()).filter((text) => text.startsWith(title));
    assert.equal(heard.length, 3);
    assert.equal((await roomsOf(bot)).length, 2, 'one for Ann, and hers');
  });

  it('[T2] a wrong token is shown, delays nobody else, and is tried again when it is right', async () => {
    write('token', 'wrong');
    const whom = ['--notify', 'matrix:@ann:lab', '--notify', 'command:tell'];
    const id = await run(...whom, '--', 'true');
    const refused = await until('the homeserver has refused', async () => {
      const [matrix, command] = await notified(id);
      return matrix?.why == null || command?.state !== 'told' ? undefined : matrix;
    });
    assert.match(
      refused.words,
      /^not yet notified matrix:@ann:lab: the homeserver answered 401 M_UNKNOWN_TOKEN .*; 1 attempt, next one in \d+s$/,
    );
    const doctor = (await cluster.weft('doctor')).out;
    assert.match(
      doctor,
      /note +notifications +matrix: failed .*M_UNKNOWN_TOKEN.*; 1 message waiting/,
    );
    assert.match(doctor, /ok +notifications +command: last used /);
    write('token', bot.token);
    await told(id);
    assert.equal((await messages()).filter((text) => text.startsWith(`Job ${id} `)).length, 1);
  });

  it('[T1] a head that is killed while it tells, tells again by the same id', async () => {
    hooked.length = 0;
    hookStatus = null;
    const id = await run('--notify', `webhook:${hookUrl}/kill`, '--', 'true');
    await until('the webhook is called', () => (hooked.length > 0 ? true : undefined));
    // It hangs; what else there is to tell and to run goes on.
    await told(await run('--notify', 'command:tell', '--', 'true'));
    await cluster.kill('head');
    hookStatus = 200;
    await until('the head is back', () =>
      cluster.connect().then(
        () => true,
        () => undefined,
      ),
    );
    await told(id);
    const ids = hooked.map(({ headers }) => headers['weft-delivery']);
    // More than twice where an attempt has hung for its ten seconds before the kill.
    assert.ok(ids.length >= 2, ids.join());
    assert.equal(new Set(ids).size, 1);
    const { notifications } = await cluster.client.call<ListNotificationsReply>(
      'GET',
      '/v1/notifications',
    );
    assert.equal(notifications.filter(({ subject }) => subject === `job ${id}`).length, 1);
  });

  it('[T3] whom the site does not allow is refused with what it allows', async () => {
    const { error } = await cluster.refused('weft', 'run', '--notify', 'matrix:@eve:evil', 'true');
    assert.match(error, /does not notify matrix:@eve:evil; it may notify \*:lab, !\*/);
    const webhook = await cluster.refused(
      'weft',
      'run',
      '--notify',
      'webhook:https://evil/',
      'true',
    );
    assert.match(
      webhook.error,
      /does not notify webhook:https:\/\/evil\/…; it may notify 127\.0\.0\.1/,
    );
    const command = await cluster.refused('weft', 'run', '--notify', 'command:tall', 'true');
    assert.match(command.error, /No notification command tall; this cluster has tell/);
  });
});

const CONFIG = `notify:
  matrix_homeserver: URL
  matrix_token_file: $/token
  matrix_to: ['*:lab', '!*']
  webhook_hosts: [127.0.0.1]
  webhook_networks: [127.0.0.0/8]
  webhook_secret_file: $/secret
  commands: {tell: $/tell}
  mail_program: $/sendmail
  mail_from: weft@lab.example
`;
