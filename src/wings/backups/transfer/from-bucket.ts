// Backups in a bucket: which there are, and one of them brought to a folder, where it is as if it
// had been made there.

import { createHash } from 'node:crypto';
import {
  chmodSync,
  closeSync,
  mkdirSync,
  openSync,
  statfsSync,
  utimesSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { formatSize } from '../../../kernel/base/size.ts';
import { refuse } from '../../../kernel/model/errors.ts';
import { Failure, failure, usage } from '../../../kernel/model/failure.ts';
import {
  type BackupHeader,
  CONFIGURATION_FOLDER,
  HEAD_FOLDER,
  HEADER_FILE,
  LIST_FILE,
  parseHeader,
} from '../api/backup-header.ts';
import {
  INDEX_BYTES_MAX,
  type Indexed,
  namesIn,
  PIECE_BYTES,
  piecesOf,
  unpackIndex,
} from '../api/bucket-index.ts';
import { instantOf } from '../core/backup-name.ts';
import { type BucketPlace, parseBucket } from '../core/place.ts';
import { atOnce } from './at-once.ts';
import type { Bucket } from './bucket.ts';
import { entriesOf, HEADER_BYTES_MAX, type WholeBackup } from './read-backups.ts';

const HEADS_MAX = 1000;
const HEAD = /^[0-9a-f]{16}$/;

/** The oldest first; of one head, where `head` says which. `place`: as it was named. */
export async function bucketBackups(
  bucket: Bucket,
  place: string,
  head?: string,
): Promise<WholeBackup[]> {
  const heads = head === undefined ? await bucket.folders() : [head];
  const found: WholeBackup[] = [];
  for (const one of heads.filter((name) => HEAD.test(name)).slice(0, HEADS_MAX)) {
    for (const key of (await bucket.list(`${one}/weft-`)).keys()) {
      const name = key.slice(one.length + 1).replace(/\.json$/, '');
      if (!key.endsWith('.json') || instantOf(name) === null) continue;
      const header = parseHeader((await bucket.get(key, HEADER_BYTES_MAX))?.toString('utf8') ?? '');
      if (header.ok) found.push({ name, folder: `${place}/${one}/${name}`, header: header.value });
    }
  }
  return found.sort((one, other) => (one.name < other.name ? -1 : 1));
}

type Open = (place: BucketPlace) => Bucket;

const LOOK =
  'Look whether the keys, AWS_REGION and AWS_ENDPOINT_URL are right, the keys may list and get ' +
  'objects there, and this machine reaches it and has the right time.';

/** `named`: `s3://BUCKET/PREFIX/HEAD/NAME`; `to`: an empty folder. Throws a failure. */
export async function fetchBackup(named: string, open: Open, to: string): Promise<void> {
  try {
    await fetchInto(to, named, open);
  } catch (error) {
    if (error instanceof Failure) throw error;
    const what = `${named} cannot be read: ${(error as Error).message}`;
    throw failure(refuse('argument.invalid', { what }, LOOK), error);
  }
}

async function fetchInto(to: string, named: string, open: Open): Promise<void> {
  const [, place = '', head = '', name = ''] = /^(.*)\/([^/]+)\/([^/]+)$/.exec(named) ?? [];
  const at = parseBucket(place);
  if (at === null || !HEAD.test(head) || instantOf(name) === null)
    throw await noBackup(named, open);
  const bucket = open(at);
  const names = namesIn(head);
  const said = await bucket.get(names.header(name), HEADER_BYTES_MAX);
  if (said === null) throw usage(`there is no backup ${named}`);
  const header = parseHeader(said.toString('utf8'));
  if (!header.ok) throw damaged(named, `${name}.json ${header.error}`);
  checkRoom(header.value.bytes, to);
  const packed = await bucket.get(names.index(name), INDEX_BYTES_MAX);
  if (packed === null) throw damaged(named, 'its index is missing');
  for (const folder of [HEAD_FOLDER, CONFIGURATION_FOLDER]) mkdirSync(join(to, folder));
  await atOnce(indexOf(named, packed), async (file) => {
    const problem = await fetchFile(file, { bucket, piece: names.piece, to: join(to, file.path) });
    if (problem !== null) throw damaged(named, `${file.path} ${problem}; nothing was put back`);
  });
  try {
    setAsListed(to, header.value);
  } catch {
    throw damaged(named, `${LIST_FILE} is not its list of files; nothing was put back`);
  }
  writeFileSync(join(to, HEADER_FILE), said, { mode: 0o600 });
}

/** Throws where the list is another one, or has what did not come. */
function setAsListed(folder: string, header: BackupHeader): void {
  for (const entry of entriesOf({ folder, header })) {
    if (entry.kind !== 'file') continue;
    const path = join(folder, HEAD_FOLDER, entry.path);
    chmodSync(path, entry.mode);
    utimesSync(path, entry.mtimeMs / 1000, entry.mtimeMs / 1000);
  }
}

function indexOf(named: string, packed: Buffer): Indexed[] {
  try {
    return unpackIndex(packed);
  } catch (error) {
    throw damaged(named, `its index is none: ${(error as Error).message.split('\n', 1)[0]}`);
  }
}

/** What is wrong with it, as the end of a sentence; null: it is there. */
async function fetchFile(
  file: Indexed,
  { bucket, piece, to }: { bucket: Bucket; piece(digest: string): string; to: string },
): Promise<string | null> {
  mkdirSync(dirname(to), { recursive: true, mode: 0o700 });
  const open = openSync(to, 'wx', 0o600);
  try {
    for (const digest of piecesOf(file)) {
      const bytes = await bucket.get(piece(digest), PIECE_BYTES);
      if (bytes === null) return 'is missing';
      const is = createHash('sha256').update(bytes).digest('hex');
      if (is !== digest) return 'differs from what was written';
      for (let end = 0; end < bytes.length; ) end += writeSync(open, bytes, end);
    }
    return null;
  } finally {
    closeSync(open);
  }
}

function checkRoom(bytes: number, folder: string): void {
  const { bavail, bsize } = statfsSync(folder);
  const free = bavail * bsize;
  if (bytes <= free) return;
  const sizes = { needed: formatSize(bytes), free: formatSize(free) };
  throw failure(refuse('restore.no_room', { folder, ...sizes }));
}

const damaged = (folder: string, what: string) =>
  failure(refuse('backup.damaged', { folder, what }));

const SHOWN = 8;

async function noBackup(named: string, open: Open): Promise<Error> {
  const at = parseBucket(named);
  if (at === null) return usage(`${named} is no place in a bucket: s3://BUCKET/PREFIX/HEAD/NAME`);
  const all = await bucketBackups(open(at), named);
  if (all.length === 0) return usage(`${named} is no backup, and has none`);
  const newest = all.slice(-SHOWN).map(({ folder }) => folder);
  return usage(`${named} has backups; name one of them: ${newest.join(', ')}`);
}
