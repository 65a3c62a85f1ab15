// `distribute server`: what its flags come to for the head.

import assert from 'node:assert/strict';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { type TestContext, test } from 'node:test';
import type { HeadOptions } from '../../../../../src/kernel/config/daemon-options.ts';
import { makeFolder } from '../../../../support/folder.ts';
import type { Said } from '../../../kernel/cli/fake-head.ts';
import { distributeIn } from './typed.ts';

/** Starts a head that ends at once, and has its options. */
async function started(
  at: { readonly cwd: string; readonly environment?: Readonly<Record<string, string>> },
  ...argv: string[]
): Promise<Said & { readonly options: HeadOptions | null }> {
  let options: HeadOptions | null = null;
  const runHead = async (given: HeadOptions) => {
    options = given;
  };
  const said = await distributeIn({ ...at, programs: { runHead } }, 'server', ...argv);
  return { ...said, options };
}

test('server refuses what is wrong before it starts anything', async (context) => {
  const cwd = makeFolder(context, {});
  const refused = async (...argv: string[]) => {
    const { code, error } = await distributeIn({ cwd }, 'server', ...argv);
    assert.equal(code, 2, error);
    return error;
  };
  assert.match(await refused('--nodes-file', 'no.yaml'), /no\.yaml: no such file/);
  assert.match(await refused('-p', 'x'), /--port: 'x' is no port/);
  assert.match(
    await refused('--save-path', 'a', '--dir', 'b'),
    /--save-path and --dir are the same/,
  );
  assert.ok(!existsSync(path.join(cwd, 'a')));
});

test('server listens on 8952, on what -p says, or on head.listen, and keeps its state in the save path', async (context) => {
  const cwd = makeFolder(context, {});
  const listening = async (environment: Record<string, string>, ...argv: string[]) => {
    const { code, error, options } = await started({ cwd, environment }, ...argv);
    assert.equal(code, 0, error);
    return options;
  };
  const usual = await listening({}, '--save-path', 'results');
  assert.deepEqual(usual?.listen, { host: '0.0.0.0', port: 8952 });
  assert.ok(existsSync(path.join(cwd, 'results', 'head')));
  assert.equal(usual?.logFile ?? null, null);
  const other = await listening({}, '-p', '9000', '--save-log');
  assert.deepEqual(other?.listen, { host: '0.0.0.0', port: 9000 });
  assert.equal(other?.logFile, path.join(cwd, 'output.log'));
  const set = { WEFT_HEAD_LISTEN: '127.0.0.1:7000' };
  assert.equal((await listening(set))?.listen?.port, 7000);
  assert.equal((await listening(set, '-p', '9000'))?.listen?.port, 9000);
});

test('--names of server go into the certificate and join tokens, before head.names', async (context) => {
  const cwd = makeFolder(context, {});
  const environment = { WEFT_HEAD_NAMES: 'configured.lab' };
  const names = async (...argv: string[]) => {
    const { code, error, options } = await started({ cwd, environment }, ...argv);
    assert.equal(code, 0, error);
    return options?.publicNames;
  };
  assert.deepEqual(await names('--names', 'head.lab,192.0.2.7'), ['head.lab', '192.0.2.7']);
  assert.deepEqual(await names('--names', ' head.lab , fd00::2 '), ['head.lab', 'fd00::2']);
  assert.deepEqual(await names(), ['configured.lab']);
});

const ACCOUNT = { matrix_username: 'lab', matrix_password: 's3cret', matrix_id: '@lab:x' };

/** A homeserver that knows one account; `logins` counts. */
async function homeserver(context: TestContext): Promise<{ url: string; logins: string[] }> {
  const logins: string[] = [];
  const server = createServer((request, response) => {
    let text = '';
    request.setEncoding('utf8').on('data', (part: string) => {
      text += part;
    });
    request.on('end', () => {
      const { identifier, password } = JSON.parse(text);
      logins.push(`${request.url} ${identifier.user}`);
      const isRight = identifier.user === 'lab' && password === 's3cret';
      response.writeHead(isRight ? 200 : 403, { 'content-type': 'application/json' });
      response.end(JSON.stringify(isRight ? { access_token: 'syt_x' } : { error: 'No such user' }));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  context.after(() => server.close());
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, logins };
}

test('--matrix-config logs in once, and keeps the token for the head alone', async (context) => {
  const { url, logins } = await homeserver(context);
  const file = JSON.stringify({ ...ACCOUNT, homeserver_url: `${url}/` });
  const cwd = makeFolder(context, { 'matrix.json': file });
  for (let start = 0; start < 2; start += 1) {
    const argv = ['--save-path', 's', '--matrix-config', 'matrix.json'];
    const { code, error, options } = await started({ cwd }, ...argv);
    assert.equal(code, 0, error);
    const matrix = options?.notify?.matrix;
    assert.equal(matrix?.homeserver, url);
    assert.equal(readFileSync(matrix?.tokenFile ?? '', 'utf8').trim(), 'syt_x');
    assert.equal(statSync(matrix?.tokenFile ?? '').mode & 0o777, 0o600);
  }
  assert.deepEqual(logins, ['/_matrix/client/v3/login lab']);
});

test('--matrix-config that is wrong is told without its password, and nothing starts', async (context) => {
  const { url } = await homeserver(context);
  const wrong = { ...ACCOUNT, homeserver_url: url, matrix_password: 'oth3r' };
  const { matrix_username: _, ...nameless } = wrong;
  const cwd = makeFolder(context, {
    'refused.json': JSON.stringify(wrong),
    'nameless.json': JSON.stringify(nameless),
    'more.json': JSON.stringify({ ...wrong, room: 'x' }),
    'broken.json': '{"matrix_password": "oth3r"',
    'away.json': JSON.stringify({ ...wrong, homeserver_url: 'http://127.0.0.1:1' }),
  });
  const said = async (name: string) => {
    const at = ['--save-path', 's', '-m', name];
    const { code, error, options } = await started({ cwd }, ...at);
    assert.deepEqual([code, options], [2, null], error);
    assert.doesNotMatch(error, /oth3r/);
    return error;
  };
  assert.match(await said('refused.json'), /refuses the login of lab \(403 No such user\)/);
  assert.match(await said('nameless.json'), /matrix_username: /);
  assert.match(await said('more.json'), /"room"/);
  assert.match(await said('broken.json'), /broken\.json: is not valid JSON/);
  assert.match(await said('away.json'), /http:\/\/127\.0\.0\.1:1 does not answer: /);
  assert.match(await said('none.json'), /none\.json: no such file/);
});
