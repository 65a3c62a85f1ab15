// A child of a supervisor for tests: calls by function, their ends as promises, and the child's own
// end.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { bytesOf, letGo, type PassedValue } from '../../../../../../src/wings/calls/core/near.ts';
import {
  type Captured,
  captureForCalls,
  packArguments,
  unpackResult,
} from '../../../../../../src/wings/calls/functions/serialization/values.ts';
import { withVariables } from '../../../../../../src/wings/calls/functions/serialization/variables.ts';
import {
  Child,
  type ChildOptions,
} from '../../../../../../src/wings/calls/functions/supervisor/child-process.ts';

import { processes } from '../../../../../../src/wings/calls/os/processes.ts';

// biome-ignore lint/suspicious/noExplicitAny: functions of any shape are called here.
type Any = any;

/** How a call ended. */
export type End =
  | { readonly value: unknown }
  | { readonly error: unknown }
  | 'started and lost'
  | 'not started';

export interface TestChild extends AsyncDisposable {
  readonly child: Child;
  readonly stderr: () => string;
  /**
   * Resolves once standard error says so: it comes on a way of its own, later than the end of a
   * call.
   */
  readonly says: (pattern: RegExp) => Promise<void>;
  readonly died: Promise<string>;
  readonly worn: Promise<string>;
  readonly progress: unknown[];
  /** How each result came that was no error: through memory, or the pipe. */
  readonly ways: ('memory' | 'pipe')[];
  /** How often the child's supervisor was told that no room can be made. */
  readonly roomless: () => number;
  /** The run of a call that has just been started. */
  readonly started: (run: number) => Promise<void>;
  call(fn: Any, ...args: unknown[]): Promise<End>;
  send(code: Captured, ...args: unknown[]): { run: number; end: Promise<End> };
  /** A call whose arguments have been packed, and may lie in memory. */
  sendPacked(code: Captured, payload: PassedValue): { run: number; end: Promise<End> };
}

interface Open {
  readonly settle: (end: End) => void;
  readonly onStart: () => void;
  readonly isStarted: Promise<void>;
  hasStarted: boolean;
}

export async function startChild(options: Partial<ChildOptions> = {}): Promise<TestChild> {
  const scratch = mkdtempSync(join(tmpdir(), 'weft-child-'));
  const open = new Map<number, Open>();
  const loaded = new Set<string>();
  const progress: unknown[] = [];
  const ways: TestChild['ways'] = [];
  const readers: (() => void)[] = [];
  let text = '';
  let roomless = 0;
  let next = 1;
  const ready = Promise.withResolvers<void>();
  const died = Promise.withResolvers<string>();
  const worn = Promise.withResolvers<string>();
  const settle = (run: number, end: End): void => {
    open.get(run)?.settle(end);
    open.delete(run);
  };
  const child = new Child(
    {
      scratch,
      processes,
      callsMax: 0,
      bytesMax: 0,
      env: { ...process.env },
      onStderr: (chunk: Uint8Array) => {
        text += Buffer.from(chunk).toString();
        for (const wake of readers.splice(0)) wake();
      },
      ...options,
    },
    {
      ready: () => ready.resolve(),
      starting: (run) => {
        const call = open.get(run);
        if (call !== undefined) call.hasStarted = true;
        call?.onStart();
      },
      ended: (run, ok, value) => {
        const result = unpackResult(bytesOf(value));
        if (ok) ways.push(value instanceof Uint8Array ? 'pipe' : 'memory');
        letGo(value);
        settle(run, ok ? { value: result } : { error: result });
      },
      progress: (_run, bytes) => progress.push(unpackResult(bytes)),
      gaveBack: (runs) => {
        for (const run of runs) settle(run, 'not started');
      },
      withoutRooms: () => {
        roomless += 1;
      },
      worn: (why) => worn.resolve(why),
      died: (detail) => {
        for (const [run, { hasStarted }] of [...open])
          settle(run, hasStarted ? 'started and lost' : 'not started');
        died.resolve(detail);
      },
    },
  );
  const give = (code: Captured, payload: PassedValue, needed: readonly string[]) => {
    const run = next++;
    if (!loaded.has(code.sha256)) child.load(code.sha256, code.code);
    loaded.add(code.sha256);
    const end = Promise.withResolvers<End>();
    const start = Promise.withResolvers<void>();
    open.set(run, {
      settle: end.resolve,
      onStart: start.resolve,
      isStarted: start.promise,
      hasStarted: false,
    });
    child.run({ run, call: 100 + run, attempt: 1, code: code.sha256, shared: needed, payload });
    return { run, end: end.promise };
  };
  const send = (code: Captured, ...args: unknown[]) => {
    const { bytes, shared } = packArguments(args);
    const { variables } = code;
    const payload = variables === null ? bytes : withVariables(variables, bytes);
    return give(code, payload, [...code.shared, ...shared]);
  };
  await Promise.race([ready.promise, died.promise]);
  return {
    child,
    died: died.promise,
    worn: worn.promise,
    progress,
    ways,
    roomless: () => roomless,
    send,
    sendPacked: (code, payload) => give(code, payload, code.shared),
    stderr: () => text,
    says: async (pattern) => {
      while (!pattern.test(text)) await new Promise<void>((resolve) => readers.push(resolve));
    },
    started: (run) => open.get(run)?.isStarted ?? Promise.resolve(),
    call: (fn, ...args) => send(captureForCalls(fn), ...args).end,
    [Symbol.asyncDispose]: async () => {
      child.kill();
      await died.promise;
      rmSync(scratch, { recursive: true });
    },
  };
}
