// `weft mcp` as programs use it: by the client of the protocol's own SDK, on a real cluster.

import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { LocalCluster, repository } from './support/local-cluster.ts';

describe('a cluster for programs that act for people', () => {
  let cluster: LocalCluster;
  const clients: Client[] = [];
  before(async () => {
    cluster = await LocalCluster.start('--nodes', '2', '--listen', 'none');
  });
  after(async () => {
    for (const client of clients) await client.close();
    await cluster.close();
  });

  async function connect(...options: string[]): Promise<Client> {
    const args = [join(repository, 'bin', 'weft.mjs'), 'mcp', ...options];
    const env = cluster.env as Record<string, string>;
    const transport = new StdioClientTransport({
      command: process.execPath,
      args,
      env,
      cwd: cluster.work,
    });
    const client = new Client({ name: 'test', version: '1' });
    await client.connect(transport);
    clients.push(client);
    return client;
  }

  interface Said {
    readonly text: string;
    readonly isError: boolean;
  }

  async function call(client: Client, name: string, given: object = {}): Promise<Said> {
    const reply = await client.callTool({ name, arguments: { ...given } });
    const [first] = reply.content as { type: string; text: string }[];
    return { text: first?.text ?? '', isError: reply.isError === true };
  }

  it('previews, submits, waits, reads and explains', async () => {
    const client = await connect();
    const preview = await call(client, 'preview', { command: 'echo hello', cpus: 1 });
    assert.equal(preview.isError, false, preview.text);
    assert.match(preview.text, /start/);
    assert.equal(await cluster.jobCount(), 0);
    const submitted = await call(client, 'submit', { command: 'echo hello; exit 3', key: 'one' });
    const job = submitted.text.trim();
    assert.equal(
      (await call(client, 'submit', { command: 'echo hello; exit 3', key: 'one' })).text.trim(),
      job,
    );
    const waited = await call(client, 'wait', { job, seconds: 60 });
    assert.match(waited.text, /failed \(exit 3\)/);
    assert.equal(waited.isError, false);
    assert.equal((await call(client, 'logs', { job })).text, 'hello\n');
    assert.match((await call(client, 'triage', { job })).text, /exited with code 3[\s\S]*Used:/);
    const [resource] = (await client.readResource({ uri: `weft://jobs/${job}/logs` })).contents;
    assert.equal((resource as { text?: string }).text, 'hello\n');
  });

  it('runs sweeps, and says what a request lacks', async () => {
    const client = await connect();
    const sweep = { command: 'echo {a}-{b}', sweep: 'a=1,2 b=0:1' };
    const { text } = await call(client, 'sweep', sweep);
    const job = text.trim().split('\n').at(-1) ?? '';
    await call(client, 'wait', { job, seconds: 60 });
    assert.match((await call(client, 'logs', { job })).text, /a=2 b=1: 2-1/);
    const tooBig = await call(client, 'preview', { command: 'true', cpus: 1000 });
    assert.equal(tooBig.isError, true);
    assert.match(tooBig.text, /can never hold .* nearest node/);
  });

  it('cancels only what was confirmed', async () => {
    const client = await connect();
    const job = (await call(client, 'submit', { command: 'sleep 600' })).text.trim();
    const late = await call(client, 'wait', { job, seconds: 1 });
    assert.match(late.text, /The wait ended after 1 s[^\n]*\n.+/);
    const asked = await call(client, 'cancel', { job });
    assert.match(asked.text, new RegExp(`^Would cancel job ${job} `));
    assert.notEqual((await cluster.job(job)).state, 'done');
    await call(client, 'cancel', { job, confirm: true });
    assert.match((await call(client, 'wait', { job, seconds: 60 })).text, /cancelled/);
  });

  it('with --read-only nothing can be changed', async () => {
    const client = await connect('--read-only');
    const { tools } = await client.listTools();
    const names = tools.map(({ name }) => name);
    for (const name of ['submit', 'sweep', 'cancel']) assert.ok(!names.includes(name), name);
    assert.ok(tools.every(({ annotations }) => annotations?.readOnlyHint === true));
    await assert.rejects(call(client, 'submit', { command: 'true' }), /there is no tool submit/);
  });

  it('bounds its answers, and survives hostile arguments', async () => {
    const client = await connect();
    const job = (await call(client, 'submit', { command: 'seq 100000' })).text.trim();
    await call(client, 'wait', { job, seconds: 60 });
    const { text } = await call(client, 'logs', { job });
    assert.ok(text.length <= 20_000);
    assert.match(text, /^\d*\n[\d\n]+\n100000\n.* before that are left out by --last\n$/);
    for (const bad of ['-h', '42; rm -rf /', '../..', '42\n43', '9'.repeat(400)]) {
      await assert.rejects(call(client, 'why', { job: bad }), /why: job: /, bad);
    }
    const directory = await call(client, 'submit', {
      command: 'true',
      directory: '/proc/../nowhere',
    });
    assert.equal(directory.isError, true);
    assert.match((await call(client, 'cluster')).text, /^Cluster /);
  });
});
