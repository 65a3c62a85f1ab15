// The helper of steps: a program between two pipes, in raw frames, under sanitizers.

import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { constants } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import {
  FROM_STEP,
  FrameReader,
  frame,
  inputFrames,
  readEnded,
  signalFrame,
  sizeFrame,
  TO_STEP,
} from '../../src/wings/steps/wire/frames.ts';
import { compileLauncher, newFolder, SANITIZED } from './harness.ts';

const { SIGINT, SIGTERM, SIGHUP, SIGKILL } = constants.signals;

/** Looking for leaks stops the process by ptrace(2), which some machines never end. */
const NO_LEAKS = { ASAN_OPTIONS: 'detect_leaks=0' };

describe('the helper of steps', { timeout: 240_000 }, () => {
  const folder = newFolder();
  let program = '';
  before(() => {
    [program = ''] = compileLauncher(join(folder, 'launcher'), SANITIZED);
  });
  after(() => rmSync(folder, { recursive: true }));

  /** Runs it to its end; what it said is by kind. */
  function start(argv: readonly string[], env: NodeJS.ProcessEnv = {}) {
    const child: ChildProcess = spawn(program, ['--step', ...argv], {
      env: { PATH: process.env['PATH'], WEFT_STEP_MARK: 'mark:1', ...NO_LEAKS, ...env },
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    const reader = new FrameReader();
    const said = new Map<number, Buffer>();
    const waits = new Set<() => void>();
    child.stdin?.on('error', () => undefined);
    child.stdout?.on('data', (bytes: Buffer) => {
      const frames = reader.take(bytes);
      assert.ok(frames.ok);
      for (const { kind, payload } of frames.value)
        said.set(kind, Buffer.concat([said.get(kind) ?? Buffer.alloc(0), payload]));
      for (const wake of [...waits]) wake();
    });
    const closed = once(child, 'close');
    const output = (): string => said.get(FROM_STEP.output)?.toString() ?? '';
    return {
      child,
      send: (...bytes: Buffer[]) => void child.stdin?.write(Buffer.concat(bytes)),
      says: async (pattern: RegExp) => {
        while (!pattern.test(output())) {
          await new Promise<void>((resolve) => {
            const wake = (): void => {
              waits.delete(wake);
              resolve();
            };
            waits.add(wake);
          });
        }
      },
      ended: async () => {
        await closed;
        const end = said.get(FROM_STEP.ended);
        const errors = said.get(FROM_STEP.errors)?.toString() ?? '';
        const failed = said.get(FROM_STEP.failed)?.readUInt32LE(0) ?? null;
        return { exit: end && readEnded(end)?.exit, output: output(), errors, failed };
      },
    };
  }

  test('[Z1] a program has input, output, errors and an exit code', async () => {
    const step = start(['sh', '-c', 'cat; echo "$WEFT_LAUNCH" >&2; exit 3']);
    step.send(...inputFrames(Buffer.from('in and out')), frame(TO_STEP.end));
    const { exit, output, errors } = await step.ended();
    assert.deepEqual([exit, output, errors], [{ code: 3 }, 'in and out', 'mark:1\n']);
  });

  test('[V32] a step fails without its own cpus, and does without those of its task', async () => {
    const none = { WEFT_CPUSET: '1000-1010' };
    const bound = await start(['true'], { ...none, WEFT_STEP_BOUND: '1' }).ended();
    assert.deepEqual([bound.failed, bound.exit], [constants.errno.EINVAL, undefined]);
    const { output } = await start(['sh', '-c', 'env | grep -c WEFT_CPUSET'], none).ended();
    assert.equal(output, '0\n');
    const own = { WEFT_CPUSET: '0-1000', WEFT_STEP_BOUND: '1' };
    const said = await start(['sh', '-c', 'echo "$WEFT_CPUSET $WEFT_STEP_BOUND"'], own).ended();
    assert.equal(said.output, '0-1000 \n');
  });

  test('a program that is not there is told by its error', async () => {
    const { failed, exit } = await start(['no-such-program']).ended();
    assert.deepEqual([failed, exit], [constants.errno.ENOENT, undefined]);
  });

  test('much goes through in both directions, whatever is left in the background', async () => {
    const step = start(['sh', '-c', 'sleep 600 & cat; kill $!']);
    const much = Buffer.alloc(1_000_000, 'x');
    step.send(...inputFrames(much), frame(TO_STEP.end));
    assert.equal((await step.ended()).output.length, much.length);
    const left = start(['sh', '-c', 'sleep 2 & echo done']);
    assert.deepEqual((await left.ended()).exit, { code: 0 });
  });

  test('signals reach the program, and a hang-up ends also who stands still', async () => {
    const ended = start(['sleep', '600']);
    ended.send(signalFrame(SIGTERM));
    assert.deepEqual((await ended.ended()).exit, { signal: SIGTERM });
    const stopped = start(['sh', '-c', 'echo up; kill -STOP $$; sleep 600']);
    await stopped.says(/up/);
    stopped.send(signalFrame(SIGHUP));
    assert.deepEqual((await stopped.ended()).exit, { signal: SIGHUP });
    const deaf = start(['sh', '-c', "trap '' HUP; echo up; while :; do sleep 1; done"]);
    await deaf.says(/up/);
    deaf.send(signalFrame(SIGHUP));
    assert.deepEqual((await deaf.ended()).exit, { signal: SIGKILL });
  });

  test('[Z6] a terminal has a size, also none, and keys that are signals', async () => {
    // A key that comes while a program of the shell's is ending is for that program alone.
    const script = 'tty; stty size; read x; stty size; echo asleep; exec sleep 600';
    const step = start(['sh', '-c', script], { WEFT_STEP_PTY: '24x80' });
    await step.says(/24 80/);
    step.send(sizeFrame({ rows: 50, columns: 132 }), ...inputFrames(Buffer.from('go\r')));
    await step.says(/50 132\s+asleep/);
    step.send(...inputFrames(Buffer.from('\u0003')));
    const { exit, output } = await step.ended();
    assert.match(output, /^\/dev\/pts\/\d+/);
    assert.deepEqual(exit, { signal: SIGINT });
    const none = await start(['stty', 'size'], { WEFT_STEP_PTY: '0x0' }).ended();
    assert.deepEqual([none.output, none.exit], ['0 0\r\n', { code: 0 }]);
  });

  test('[Z6] the end of input is one for a terminal, too', async () => {
    const step = start(['cat'], { WEFT_STEP_PTY: '24x80' });
    step.send(...inputFrames(Buffer.from('line\r')));
    await step.says(/line\r\n.*line/s);
    step.send(frame(TO_STEP.end));
    assert.deepEqual((await step.ended()).exit, { code: 0 });
  });

  test('[Z7] without its agent it hangs the program up', async () => {
    const step = start(['sh', '-c', 'echo $$; sleep 600']);
    await step.says(/\d\n/);
    step.child.stdin?.destroy();
    step.child.stdout?.destroy();
    await once(step.child, 'exit');
  });

  test('what is no frame ends it', async () => {
    const step = start(['sleep', '600']);
    step.send(Buffer.alloc(40_000, 0xff));
    assert.deepEqual((await step.ended()).exit ?? { signal: SIGHUP }, { signal: SIGHUP });
  });
});
