// `weft attach --stdin`: what is typed or piped here goes to a task that was submitted to take it.

import { constants } from 'node:os';
import type { JobDetail } from '../../../kernel/api/jobs.ts';
import { asClause } from '../../../kernel/base/sentence.ts';
import type { Context } from '../../../kernel/cli/context.ts';
import { waitFor } from '../../../kernel/cli/jobs/wait-for.ts';
import { usage } from '../../../kernel/model/failure.ts';
import { ATTACHED_STDIN } from '../../../kernel/model/job.ts';
import { BRINGING, inputWords } from '../core/input.ts';
import { StepClient } from '../sdk/step-client.ts';
import { startIn } from './start-step.ts';
import { startedAgain } from './started-again.ts';

/** Somebody whose line is lost keeps the input from others for so long. */
const LINGER_MS = 30_000;

/** Between the end of a task's step and that of the task, as they are told. */
const SETTLED_MS = 3000;
const LOST = 'what you sent last may be lost, and nothing more is taken: attach once more to go on';
const AGAIN = 'it was started again, and waits for its input: bring all of it once more';
const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/**
 * Waits until the task has begun. Resolves with what is to be called when it is over, or nobody
 * looks any more, and says whether all was taken. Throws where it takes no input.
 */
export async function bringInput(
  context: Context,
  { id, job }: { readonly id: string; readonly job: JobDetail },
): Promise<() => Promise<boolean>> {
  const { input } = context.terminal;
  if (job.files.stdin !== ATTACHED_STDIN)
    throw usage(
      `job ${id} takes no input from here`,
      `Say so when it is submitted: weft run --stdin ${ATTACHED_STDIN}`,
    );
  if (input === undefined || input.kind === 'nothing')
    throw usage('there is no standard input here that could be brought');
  if (job.array !== null && !id.includes('['))
    throw usage(`job ${id} is an array; name one of its tasks, as ${id}[0]`);
  const { job: begun, task } = await waitFor(context, { id, until: 'started' });
  let isWhole = true;
  const tell = (words: string): void => {
    isWhole = false;
    context.note(`job ${id}: ${words}`);
  };
  const { kind } = input;
  let isSent = false;
  const tellUnread = (): void => {
    // Where somebody sits, they have seen what was answered.
    if (kind === 'terminal') return;
    // A task that ends at the end of its input may end what brings it before that has said so.
    if (isSent) tell('it has ended; whether it took all of your input is not known');
    else tell('it has ended before your input had');
  };
  if ((task ?? begun).state === 'done') {
    tellUnread();
    return () => Promise.resolve(isWhole);
  }
  const { client, epoch, isTaken } = await startBringing(context, id);
  const stream = input.open();
  stream.on('data', (bytes: Buffer) => {
    stream.pause();
    void client.input(bytes).then(() => stream.resume());
  });
  let isLeft = false;
  const leave = (): void => {
    // Said twice it would not wait for the node to hear of it.
    if (!isLeft) client.leave('left');
    isLeft = true;
  };
  // A terminal that hangs up ends before its SIGHUP is here, and is none any more: nobody has said
  // that the input is over.
  stream.on('end', () => {
    if (input.kind !== kind) return leave();
    isSent = true;
    client.endInput();
  });
  stream.on('error', leave);
  const onSignal = (name: NodeJS.Signals): void => {
    leave();
    void client.done.then(() => process.exit(128 + constants.signals[name]));
  };
  for (const name of SIGNALS) process.once(name, onSignal);
  const over = Promise.withResolvers<void>();
  const told = client.done.then(async ({ code, why }) => {
    stream.destroy();
    const words = why === null ? inputWords(code) : `${asClause(why)}; ${LOST}`;
    if (!isTaken() && words !== null) {
      // The step of a task that ends is over before that is told.
      const isOver = why !== null && (await isWithin(over.promise, SETTLED_MS));
      if (isOver) return tellUnread();
      tell(words);
    }
    if (await startedAgain(context, { id, epoch }, over.promise)) tell(AGAIN);
  });
  return async () => {
    over.resolve();
    client.leave('its task has ended');
    for (const name of SIGNALS) process.off(name, onSignal);
    await told;
    return isWhole;
  };
}

async function isWithin(done: Promise<void>, ms: number): Promise<boolean> {
  const late = Promise.withResolvers<boolean>();
  const timer = setTimeout(late.resolve, ms, false);
  const isDone = await Promise.race([done.then(() => true), late.promise]);
  clearTimeout(timer);
  return isDone;
}

interface Begun {
  readonly client: StepClient;
  /** The start of the task that it is brought to. */
  readonly epoch: number;
  /** All of it, and its end. */
  readonly isTaken: () => boolean;
}

async function startBringing(context: Context, id: string): Promise<Begun> {
  const api = await context.api();
  const argv = ['/bin/sh', '-c', BRINGING];
  const title = 'input of weft attach';
  const step = await startIn(api, id, { argv, title, lingerMs: LINGER_MS });
  const nothing = async (): Promise<void> => undefined;
  let isTaken = false;
  const out = async (): Promise<void> => {
    isTaken = true;
  };
  const sink = { out, error: nothing, note: (line: string) => context.note(line) };
  const place = { id: step.id, rank: 0, epochId: step.epochId, lingerMs: LINGER_MS };
  const epoch = Number(step.epochId?.split('#')[1] ?? Number.POSITIVE_INFINITY);
  return { client: new StepClient(api, place, sink), epoch, isTaken: () => isTaken };
}
