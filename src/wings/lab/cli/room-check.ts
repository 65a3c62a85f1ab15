// What the doctor says of the head's disk: how full it is, and when it will be full.

import { formatSize } from '../../../kernel/base/size.ts';
import type { Context } from '../../../kernel/cli/context.ts';
import type { Finding } from '../../../kernel/cli/doctor/finding.ts';
import { Failure } from '../../../kernel/model/failure.ts';
import type { RoomReply } from '../api/room.ts';

const DAY_MS = 86_400_000;
/** A time in which somebody can buy a disk, and one in which somebody has to come. */
const SOON_DAYS = 60;
const NOW_DAYS = 7;
const REMEDY =
  'Keep less (history.keep, head.archive_age, head.archive_max, head.log_total, head.blobs_max), or give it a larger disk.';

/** Nothing when the head does not answer: the check of the head says that. */
export async function roomFindings(context: Context): Promise<Finding[]> {
  try {
    const api = await context.api();
    return findings(await api.call('showRoom', { timeoutMs: 3000 }), Date.now());
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    return [];
  }
}

export function findings(
  { freeBytes, totalBytes, lostBytesPerDay, fullAt }: RoomReply,
  now: number,
): Finding[] {
  if (totalBytes === 0) return [];
  const has = `the head's disk has ${formatSize(freeBytes)} of ${formatSize(totalBytes)} free`;
  const days = fullAt === null ? null : Math.max(0, (fullAt - now) / DAY_MS);
  if (days === null || lostBytesPerDay === null || days > SOON_DAYS) {
    const known = lostBytesPerDay === null ? '' : `, and is not full within ${SOON_DAYS} days`;
    return [{ state: 'ok', text: has + known }];
  }
  const loses = formatSize(Math.round(lostBytesPerDay));
  const when = days < 1 ? 'within a day' : `in ${Math.floor(days)} days`;
  const text = `${has}, loses ${loses} a day, and is full ${when} if that goes on`;
  return [{ state: days < NOW_DAYS ? 'bad' : 'note', text, remedy: REMEDY }];
}
