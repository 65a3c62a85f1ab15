// `weft backup`: a copy of the head, made by the head itself while it runs.

import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { headNow } from '../../../kernel/api/head-time.ts';
import { formatSize } from '../../../kernel/base/size.ts';
import type { Context } from '../../../kernel/cli/context.ts';
import { defineListing, type ListingOptions } from '../../../kernel/cli/output/listing.ts';
import type { Column } from '../../../kernel/cli/output/table.ts';
import { instantColumn } from '../../../kernel/cli/output/times.ts';
import { StatusLine } from '../../../kernel/cli/progress/status-line.ts';
import { defineVerb } from '../../../kernel/cli/verb.ts';
import { refuse } from '../../../kernel/model/errors.ts';
import { failure, usage } from '../../../kernel/model/failure.ts';
import type { BackupsReply, BackupView } from '../api/backups.ts';
import { isBucket, isPlace, PLACE_WORDS } from '../core/place.ts';
import { amountWords, jobWords } from './words.ts';

interface Options extends ListingOptions {
  readonly to?: string;
  readonly list?: boolean;
}

/** Between two looks at a backup that is being made. */
const LOOK_MS = 200;

export const verb = defineVerb<Options>({
  define(command) {
    command.option(
      '--to <folder>',
      "folder on the head's machine, or s3://BUCKET/PREFIX; default: backup.to",
    );
    command.option('--list', 'show the backups that are there; make none');
    defineListing(command);
  },
  async run({ context, options }) {
    const to = options.to === undefined ? undefined : placeOf(context, options.to);
    return options.list === true ? list(context, to, options) : make(context, to);
  },
});

/** The empty name of a variable that is not set would be the folder where one is. */
function placeOf(context: Context, named: string): string {
  if (named.trim() === '') throw usage('--to: the name of the folder is empty');
  const place = isBucket(named) ? named.replace(/\/+$/, '') : path.resolve(context.cwd, named);
  if (isPlace(place)) return place;
  throw usage(`--to: '${named}' is not ${PLACE_WORDS}`);
}

async function make(context: Context, to: string | undefined): Promise<number> {
  const api = await context.api();
  const body = to === undefined ? {} : { to };
  const { name, folder } = await api.call('makeBackup', { body });
  const { recent } = await untilOver(context, name);
  if (recent?.name !== name) throw failedIn(folder, 'the head was stopped');
  const { made, why } = recent;
  if (made === null) throw failedIn(folder, why ?? 'nobody knows why');
  context.print(`Backup ${made.folder}: ${amountWords(made)}; ${jobWords(made)}.`);
  for (const one of made.leftOut ?? []) context.note(`left out of it: ${one}`);
  return 0;
}

async function untilOver(context: Context, name: string): Promise<BackupsReply> {
  const api = await context.api();
  const line = new StatusLine(context, () => performance.now());
  try {
    for (;;) {
      const now = await api.call('showBackups');
      if (now.running?.name !== name) return now;
      line.show(`${name}: ${now.running.entries} files, ${formatSize(now.running.bytes)}`);
      await sleep(LOOK_MS);
    }
  } finally {
    line.close();
  }
}

const failedIn = (folder: string, why: string) => failure(refuse('backup.failed', { folder, why }));

const NOWHERE = 'No backups: name a folder with --to, or set backup.to in the configuration.';

async function list(context: Context, to: string | undefined, options: Options): Promise<number> {
  const api = await context.api();
  const { folder, backups } = await api.call('listBackups', {
    query: to === undefined ? {} : { in: to },
  });
  const listing = {
    rows: backups,
    columns: columnsAt(headNow()),
    name: ({ name }: BackupView) => name,
    empty: folder === null ? NOWHERE : `No backup is in ${folder}.`,
  };
  await context.list(listing, options.output);
  return 0;
}

function columnsAt(now: number): Column<BackupView>[] {
  return [
    { title: 'NAME', value: ({ name }) => name },
    instantColumn('MADE', ({ madeAt }) => madeAt, { now }),
    { title: 'CLUSTER', value: ({ cluster }) => cluster },
    { title: 'SIZE', value: ({ bytes }) => formatSize(bytes), align: 'right' },
    { title: 'NEW', value: ({ newBytes }) => formatSize(newBytes), align: 'right' },
    { title: 'JOBS', value: ({ lastJobId }) => String(lastJobId), align: 'right' },
    { title: 'RELEASE', value: ({ weft }) => weft, wide: true },
  ];
}
