// Who waits for a call that has failed. Its error is made when the head speaks, which is nobody's
// call; who waits is known to the engine, and costs nothing as long as nothing fails.

import { WeftError } from '../../../kernel/sdk/errors.ts';

/** Before those frames, the function that adds them. */
const OWN_FRAMES = 1;
/** Between it and them, how it came to go on. */
const ENGINE = 'node:internal/process/task_queues';

/** The stack of the error becomes that of whoever awaits it. */
export function addCaller(error: unknown): void {
  if (!(error instanceof WeftError)) return;
  const holder: { stack?: string } = {};
  Error.captureStackTrace(holder, addCaller);
  const all = holder.stack?.split('\n').slice(1 + OWN_FRAMES) ?? [];
  const frames = all.filter((frame) => !frame.includes(ENGINE));
  if (frames.length > 0) error.stack = [`${error.name}: ${error.message}`, ...frames].join('\n');
}
