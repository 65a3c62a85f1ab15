// Tools of drivers that were at work when their agent was killed.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { type TestContext, test } from 'node:test';
import { readStat } from '../../../../../src/kernel/os/process-list.ts';
import { endLeftTools } from '../../../../../src/wings/gpus/os/left-tools.ts';
import { SystemTool } from '../../../../../src/wings/gpus/os/tool.ts';
import { until } from '../../../../launcher/harness.ts';

const TOOL = path.join(import.meta.dirname, '../../../../../src/wings/gpus/os/tool.ts');
const NONE = { isThere: () => false };

/** A tool that never answers, as an agent runs it that is a process of its own. */
async function hangingTool(t: TestContext) {
  const folder = mkdtempSync(path.join(tmpdir(), 'weft-left-'));
  const [tool, said] = [path.join(folder, 'tool'), path.join(folder, 'pid')];
  writeFileSync(
    tool,
    `#!/bin/sh\necho $$ > ${said}.new && mv ${said}.new ${said}\nexec sleep 600\n`,
    {
      mode: 0o755,
    },
  );
  const line = `const { SystemTool } = await import(${JSON.stringify(TOOL)});
await new SystemTool(${JSON.stringify(tool)}, { isThere: () => false }).run();`;
  const agent = spawn(process.execPath, ['--input-type=module', '-e', line], { stdio: 'inherit' });
  await until('the tool runs', () => existsSync(said));
  const pid = Number(readFileSync(said, 'utf8'));
  t.after(() => {
    agent.kill('SIGKILL');
    if (readStat(pid)?.isAlive) process.kill(pid, 'SIGKILL');
    rmSync(folder, { recursive: true });
  });
  return { agent, pid, tool };
}

test('[V5] a tool that outlives its agent is ended by the next one, that of one that lives is not', async (t) => {
  const { agent, pid, tool } = await hangingTool(t);
  endLeftTools();
  assert.equal(readStat(pid)?.isAlive, true, 'its agent lives');
  agent.kill('SIGKILL');
  await once(agent, 'exit');
  const left = endLeftTools();
  await until('it is gone', () => readStat(pid)?.isAlive !== true);
  assert.equal(left.isThere(tool), false);
});

test('[V5] beside a tool that another agent has left in the kernel none is started', async () => {
  const left = { isThere: (program: string) => program === '/bin/true' };
  const said = await new SystemTool('/bin/true', left).run();
  assert.deepEqual(said, { kind: 'mute', words: '/bin/true hangs, and cannot be ended' });
  assert.equal((await new SystemTool('/bin/true', NONE).run()).kind, 'said');
});

test("[V5] what a tool has set free is not ended, and hangs in nobody's way", async (t) => {
  const folder = mkdtempSync(path.join(tmpdir(), 'weft-left-'));
  const [tool, said] = [path.join(folder, 'tool'), path.join(folder, 'pid')];
  const answer = path.join(folder, 'answer');
  const daemon = `sh -c 'trap "echo > ${answer}; exit" USR1
echo $$ > ${said}.new && mv ${said}.new ${said}
while :; do sleep 600 & wait; done'`;
  writeFileSync(tool, `#!/bin/sh\nsetsid ${daemon} > /dev/null 2>&1 &\n`, { mode: 0o755 });
  const line = `const { SystemTool } = await import(${JSON.stringify(TOOL)});
await new SystemTool(${JSON.stringify(tool)}, { isThere: () => false }).run();`;
  const agent = spawn(process.execPath, ['--input-type=module', '-e', line], { stdio: 'inherit' });
  const gone = once(agent, 'exit');
  await until('the daemon runs', () => existsSync(said));
  const pid = Number(readFileSync(said, 'utf8'));
  t.after(() => {
    process.kill(-pid, 'SIGKILL');
    rmSync(folder, { recursive: true });
  });
  assert.deepEqual(await gone, [0, null]);
  assert.equal(readStat(pid)?.session, pid, 'it leads a session of its own');
  const left = endLeftTools();
  assert.equal(left.isThere(tool), false);
  process.kill(pid, 'SIGUSR1');
  await until('it answers', () => existsSync(answer));
});

test('a tool has its words, and fails as itself', async () => {
  const said = await new SystemTool('/bin/sh', NONE).run(
    '-c',
    'echo "$1|$LC_ALL"; exit 3',
    'x',
    'a b',
  );
  assert.deepEqual(said, { kind: 'said', code: 3, text: 'a b|C\n' });
});
