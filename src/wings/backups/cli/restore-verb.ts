// `weft restore`: puts a backup where a head finds it. It asks no head: the one that was may be
// gone.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { plural } from '../../../kernel/base/plural.ts';
import type { Context } from '../../../kernel/cli/context.ts';
import { LocalPaths } from '../../../kernel/cli/daemons/local-paths.ts';
import { formatInstant } from '../../../kernel/cli/output/words.ts';
import { defineVerb } from '../../../kernel/cli/verb.ts';
import { refuse } from '../../../kernel/model/errors.ts';
import { failure, usage } from '../../../kernel/model/failure.ts';
import { CONFIGURATION_FOLDER, HEAD_FOLDER, HEADER_FILE, LIST_FILE } from '../api/backup-header.ts';
import { isBucket } from '../core/place.ts';
import { Bucket } from '../transfer/bucket.ts';
import { type BucketKeys, readBucketKeys } from '../transfer/bucket-keys.ts';
import { fetchBackup } from '../transfer/from-bucket.ts';
import {
  checkFree,
  type OpenBackup,
  openBackup,
  problemsOf,
  restore,
} from '../transfer/restore.ts';
import { amountWords, jobWords } from './words.ts';

interface Options {
  readonly check?: boolean;
  readonly keys?: string;
}

/** More of them help nobody. */
const PROBLEMS_SHOWN = 20;

const ENDING = ['SIGINT', 'SIGTERM'] as const;

export const verb = defineVerb<Options>({
  define(command) {
    command.argument(
      '<backup>',
      'folder of one backup, or its place in a bucket, as `weft backup` tells it',
    );
    command.option(
      '--keys <file>',
      'keys of its bucket: a file of mode 0600 (default: environment)',
    );
    command.option('--check', 'compare each of its files with what was written; put nothing back');
  },
  async run({ context, args: [name = ''], options }) {
    if (!isBucket(name)) {
      return putBack(context, openBackup(path.resolve(context.cwd, name)), options);
    }
    return restoreFromBucket(context, name.replace(/\/+$/, ''), options);
  },
});

async function restoreFromBucket(
  context: Context,
  named: string,
  options: Options,
): Promise<number> {
  const keys = keysOf(context, options);
  if (options.check !== true) checkFree(new LocalPaths(context.directory).head);
  const fetched = mkdtempSync(path.join(tmpdir(), 'weft-restore-'));
  // Its configuration is for whoever sets the new head up, and lies nowhere else on this machine.
  let isKept = false;
  // The head's keys are in it: none of it stays when somebody ends this before its time.
  const onSignal = (signal: NodeJS.Signals) => {
    rmSync(fetched, { recursive: true, force: true });
    process.exit(signal === 'SIGINT' ? 130 : 143);
  };
  for (const signal of ENDING) process.on(signal, onSignal);
  try {
    await fetchBackup(named, (place) => new Bucket(place, keys), fetched);
    const backup = openBackup(fetched);
    const code = putBack(context, backup, { ...options, named });
    isKept = options.check !== true && backup.header.configuration.length > 0;
    return code;
  } finally {
    const gone = isKept ? [HEAD_FOLDER, LIST_FILE, HEADER_FILE] : [''];
    for (const one of gone) rmSync(path.join(fetched, one), { recursive: true, force: true });
    for (const signal of ENDING) process.off(signal, onSignal);
  }
}

/** `named`: where the backup is, if it is not where it is read. */
function putBack(
  context: Context,
  backup: OpenBackup,
  { check: isCheck = false, named = backup.folder }: Options & { readonly named?: string },
): number {
  if (isCheck) return check(context, backup, named);
  const to = new LocalPaths(context.directory).head;
  restore(backup, to);
  for (const line of told(backup, { named, to, directory: context.directory })) context.print(line);
  return 0;
}

function keysOf(context: Context, { keys }: Options): BucketKeys {
  try {
    const file = keys === undefined ? null : path.resolve(context.cwd, keys);
    return readBucketKeys(context.environment, file);
  } catch (error) {
    throw usage((error as Error).message, 'Give a file of mode 0600 with --keys.');
  }
}

function check(context: Context, backup: OpenBackup, named: string): number {
  const problems = problemsOf(backup);
  if (problems.length === 0) {
    context.print(`${whatItIs(named, backup)}, is whole: ${amountWords(backup.header)}.`);
    return 0;
  }
  for (const problem of problems.slice(0, PROBLEMS_SHOWN)) context.note(problem);
  const what = `${plural(problems.length, 'file')} of it cannot be put back`;
  throw failure(refuse('backup.damaged', { folder: named, what }));
}

function whatItIs(named: string, { header }: OpenBackup): string {
  const at = formatInstant(header.madeAt, Date.now());
  return `${named}, the backup of ${header.cluster} of ${at} (release ${header.weft})`;
}

const SHARED_PLACE = /^\/etc\/|\/\.config\/weft\/weft\.yaml$/;

/** Where the head in `directory` reads this file: one of an old state directory goes into that. */
export function placeOf(file: string, directory: string): string {
  const isOfHead = path.basename(file) === 'weft.yaml' && !SHARED_PLACE.test(file);
  return isOfHead ? path.join(directory, 'weft.yaml') : file;
}

function told(
  backup: OpenBackup,
  { named, to, directory }: Readonly<Record<'named' | 'to' | 'directory', string>>,
): string[] {
  const { header, folder } = backup;
  const files = path.join(folder, CONFIGURATION_FOLDER);
  // Without it the head listens on this machine alone, and nobody would see why no node comes.
  const configured = header.configuration.flatMap((file, index) => [
    `Its configuration was ${file}; a copy is in ${files}.`,
    '  Without it the head starts with defaults, and no other machine reaches it. Put it back first:',
    `  cp -p ${path.join(files, `${index + 1}-${path.basename(file)}`)} ${placeOf(file, directory)}`,
  ]);
  return [
    `${to} is put back from ${whatItIs(named, backup)}:`,
    `  ${amountWords(header)}, each as it was written`,
    `  ${jobWords(header)}; what was accepted later is not in it`,
    ...configured,
    ...(header.leftOut ?? []).map((one) => `  left out when it was made: ${one}`),
    'Make sure that the head it was made of does not run any more. Then start this one once with',
    `  weft up --dir ${directory} --accept-loss       (all on this machine), or`,
    `  WEFT_DIR=${directory} weft head --accept-loss     (several machines; as the head's user)`,
  ];
}
