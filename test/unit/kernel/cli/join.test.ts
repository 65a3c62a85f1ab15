// What `weft join` says comes next, and the first recipe for a site, as its readers type it.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { PassThrough } from 'node:stream';
import { test } from 'node:test';
import { askedToken, startWords } from '../../../../src/kernel/cli/commands/join.ts';
import { agentRuns } from '../../../../src/kernel/cli/daemons/agent-failure.ts';
import { runWeft } from '../../../../src/kernel/cli/main.ts';
import { loadConfig } from '../../../../src/kernel/config/config.ts';
import type { AgentOptions } from '../../../../src/kernel/config/daemon-options.ts';
import { WINGS } from '../../../../src/wings.ts';
import { capture } from './fake-head.ts';

const DOCS = path.resolve(import.meta.dirname, '../../../../docs');

/** No terminal at either end. */
const NOWHERE = { out() {}, error() {}, outIsTerminal: false, errorIsTerminal: false };

function contextAt(directory: string) {
  const environment = { HOME: directory, XDG_CONFIG_HOME: path.join(directory, 'none') };
  const config = () => loadConfig({ wings: WINGS, environment, file: null, directory });
  return { directory, environment, config };
}

test('[N22] who joins is told the command that starts what has joined', async () => {
  const directory = mkdtempSync(path.join(tmpdir(), 'weft-join-'));
  try {
    const context = contextAt(directory);
    assert.equal(await startWords(context), `Start it: weft agent --dir ${directory}`);
    writeFileSync(path.join(directory, 'weft.yaml'), 'site: {system: slurm}\n');
    assert.equal(await startWords(context), `Start it: weft gateway --dir ${directory}`);
  } finally {
    rmSync(directory, { recursive: true });
  }
});

test('[N22] who types no token is told where it is read, whether or not anything comes', async () => {
  const said = async (word?: '-', ask?: () => Promise<string>) => {
    const notes: string[] = [];
    const input = new PassThrough();
    const terminal = ask === undefined ? NOWHERE : { ...NOWHERE, ask };
    const token = askedToken({ note: (line) => void notes.push(line), terminal }, word, input);
    // So far nothing has come, and the input stays open.
    const [note = ''] = notes.splice(0);
    input.write('\n weft-join:abc \n');
    assert.equal(await token, 'weft-join:abc');
    assert.deepEqual(notes, []);
    return note;
  };
  assert.match(await said(), /^reading a join token .* from standard input$/);
  assert.equal(await said('-'), '', 'a script that says so needs no words');
  const ask = () => Promise.resolve('');
  for (const word of [undefined, '-'] as const) assert.match(await said(word, ask), /^paste/);
});

test('[N22] the first recipe for a site puts its file where its gateway reads it', async () => {
  const scratch = mkdtempSync(path.join(tmpdir(), 'weft-recipe-'));
  try {
    const page = readFileSync(path.join(DOCS, 'sites.md'), 'utf8');
    const recipe = page.split('```sh\n')[1]?.split('```')[0] ?? '';
    const folder = path.join(scratch, 'shared');
    const script = `weft() { :; }\n${recipe.replaceAll('/shared/weft', folder)}`;
    execFileSync('sh', ['-e', '-c', script], { cwd: scratch });
    assert.ok(recipe.includes('weft gateway --dir /shared/weft'));
    const config = await contextAt(folder).config();
    assert.deepEqual([config.text('site.system'), config.text('site.queue')], ['slurm', 'batch']);
  } finally {
    rmSync(scratch, { recursive: true });
  }
});

test('node.path is the PATH that an agent gives its jobs, and another node.name is said', async () => {
  const directory = mkdtempSync(path.join(tmpdir(), 'weft-join-'));
  try {
    const membership = { name: 'n1', url: 'https://h:1', fingerprint: 'f', secret: 's' };
    writeFileSync(path.join(directory, 'membership.json'), JSON.stringify(membership));
    const started: AgentOptions[] = [];
    const start = async (config: string) => {
      writeFileSync(path.join(directory, 'weft.yaml'), config);
      const programs = {
        runAgent: (options: AgentOptions) => {
          started.push(options);
          return Promise.resolve();
        },
      };
      const { code, error } = await capture(
        directory,
        { program: 'weft', argv: ['agent'], programs },
        runWeft,
      );
      assert.equal(code, 0, error);
    };
    await start('node: {path: /opt/site/bin:/usr/bin}');
    await start('{}');
    await start('node: {name: n2}');
    await start('node: {name: n1}');
    assert.deepEqual(
      started.slice(0, 2).map(({ jobPath }) => jobPath),
      ['/opt/site/bin:/usr/bin', '/usr/local/bin:/usr/bin:/bin'],
    );
    assert.deepEqual(
      started.map(({ name, otherName }) => [name, otherName]),
      [
        ['n1', undefined],
        ['n1', undefined],
        ['n1', 'node.name is n2, but this machine joined as n1 and stays that until it joins anew'],
        ['n1', undefined],
      ],
    );
  } finally {
    rmSync(directory, { recursive: true });
  }
});

test('an agent that another process has, or without room, ends as a head does: try again', async (t) => {
  const directory = mkdtempSync(path.join(tmpdir(), 'weft-join-'));
  t.after(() => rmSync(directory, { recursive: true }));
  const membership = { name: 'n1', url: 'https://h:1', fingerprint: 'f', secret: 's' };
  writeFileSync(path.join(directory, 'membership.json'), JSON.stringify(membership));
  const start = (runAgent: () => Promise<void>) =>
    capture(directory, { program: 'weft', argv: ['agent'], programs: { runAgent } }, runWeft);
  let second = { code: 0, error: '' };
  await start(async () => {
    second = await start(() => Promise.resolve());
  });
  assert.equal(second.code, 75);
  const pid = String(process.pid);
  assert.equal(
    second.error,
    `weft: The agent of n1 cannot start: it already runs, as process ${pid}.\n`,
  );
  const refused = { code: 'ENOSPC', syscall: 'write', path: '/s/journal' };
  assert.equal(agentRuns('n1', pid).code, 'agent.failed');
  const full = await start(() => Promise.reject(Object.assign(new Error('ENOSPC'), refused)));
  assert.equal(full.code, 75);
  assert.match(full.error, /n1 cannot start: \/s\/journal: the disk is full\.\n +Make room there/);
});
