// `weft batch submit FILE`: the files go to the head, as far as it lacks them, then all jobs at
// once.

import { plural } from '../../../../kernel/base/plural.ts';
import { withPatience } from '../../../../kernel/cli/connection/patience.ts';
import { transferOf } from '../../../../kernel/cli/connection/transfer-context.ts';
import type { Context } from '../../../../kernel/cli/context.ts';
import { defineVerb } from '../../../../kernel/cli/verb.ts';
import { freshKey } from '../../../../kernel/connect/fresh-key.ts';
import { Failure, usage } from '../../../../kernel/model/failure.ts';
import type { BatchFile } from '../../core/batch.ts';
import { isOwnProgram } from '../../core/targets.ts';
import { sendParts } from '../../transfer/send-batch.ts';
import { batchFileOf, defineBatchFile } from '../operand.ts';

type Made = Readonly<{ namespace: string; name: string; version: number }>;

interface Options {
  readonly resume?: boolean;
  readonly newVersion?: boolean;
  readonly wait?: boolean;
}

export const submit = defineVerb<Options>({
  define(command) {
    defineBatchFile(command);
    command.option('--resume', 'run only what did not complete, in the same batch');
    command.option('--new-version', 'begin beside the one that is there, as NAME@2');
    command.option('--wait', 'wait until it is done; exit code 0 when every job completed');
  },
  async run({ context, args: [given], options }) {
    const { readBatch } = await import('../../batch/read/read-batch.ts');
    const mode = modeOf(options);
    const reading = readBatch(batchFileOf(context, given));
    const made = await sendUntold(context, reading, mode);
    const again = options.resume === true ? ' again' : '';
    context.print(`${made.title}: ${plural(made.jobCount, 'job')} submitted${again}.`);
    for (const what of left(reading.batch)) context.note(what);
    if (!options.wait) return 0;
    const { waitForBatch } = await import('./wait.ts');
    return waitForBatch(context, versionedParams(made));
  },
});

type Reading = Parameters<typeof sendParts>[1];

/** A seed's file names whom its head told; one that tells nobody runs the batch all the same. */
async function sendUntold(context: Context, reading: Reading, mode: Mode) {
  try {
    return await send(context, reading, mode);
  } catch (error) {
    const isUntold = error instanceof Failure && error.code === 'notification.not_set_up';
    if (!isUntold || reading.batch.origin !== 'distribute') throw error;
    context.note(`${error.message} Nobody will be notified of this batch.`);
    return send(context, { ...reading, batch: { ...reading.batch, notices: [] } }, mode);
  }
}

async function send(context: Context, reading: Reading, mode: Mode) {
  const parts = await sendParts(transferOf(context), reading);
  const { namespace, name, origin, after } = reading.batch;
  const body = {
    namespace,
    name,
    origin,
    mode,
    ...parts,
    after: after.map((other) => `${other.namespace}/${other.name}`),
  };
  const api = await context.api();
  const key = freshKey();
  return withPatience(context, PATIENCE, () => api.call('submitBatch', { body: body, key }));
}

/** For a head that is away. */
const PATIENCE = { totalMs: 120_000, note: 'Waiting for the head to come back.' };

/** This one, whatever becomes the newest meanwhile. */
function versionedParams({ namespace, name, version }: Made) {
  return { namespace, name: `${name}@${version}` };
}

type Mode = 'new' | 'resume' | 'new_version';

function modeOf({ resume, newVersion }: Options): Mode {
  if (resume && newVersion) {
    throw usage('--resume goes on with what is there, --new-version begins beside it: write one');
  }
  if (resume) return 'resume';
  return newVersion ? 'new_version' : 'new';
}

/** What is in the file and has no effect here. */
function left({ notices }: BatchFile): string[] {
  return notices.flatMap((notice) => {
    if (notice.kind !== 'command' || !isOwnProgram(notice.command)) return [];
    return [`notify: a head runs no ${notice.command}, only commands that its site has configured`];
  });
}
