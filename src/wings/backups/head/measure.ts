// Figures of backups for Prometheus: an alert on the first one is worth waking for.

import { type Scrape, value } from '../../../kernel/head/http/scrape.ts';
import type { Services } from '../../../kernel/head/http/services.ts';

export function measure({ backups }: Services, scrape: Scrape): void {
  const { last, failure } = backups.view();
  if (last !== null) {
    const help = 'When the last backup was begun, in seconds since 1970.';
    value(scrape, 'weft_backup_last_timestamp_seconds', help, last.madeAt / 1000);
    value(scrape, 'weft_backup_last_bytes', 'Bytes of the last backup.', last.bytes);
  }
  const failed = failure === null ? 0 : 1;
  value(scrape, 'weft_backup_failed', 'Whether the last attempt to make a backup failed.', failed);
}
