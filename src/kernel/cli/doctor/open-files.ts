// How many files a process of this user may have open: a head needs one for each connection, an
// agent a few for each task that it starts.

import { readFileSync } from 'node:fs';
import type { Finding } from './finding.ts';

/** Below it a busy head or agent comes to its limit. */
const OPEN_FILES_MIN = 1024;

/** Node has raised the limit as far as the system lets it. */
export function openFiles(limits = readFileSync('/proc/self/limits', 'utf8')): Finding[] {
  const [, most = ''] = /^Max open files\s+(\S+)/m.exec(limits) ?? [];
  const text = `a process may have ${most} files open`;
  if (most === 'unlimited' || Number(most) >= OPEN_FILES_MIN) return [{ state: 'ok', text }];
  const remedy =
    `Raise the limit to ${OPEN_FILES_MIN} or more for those who start head and agents ` +
    '(ulimit -Hn, /etc/security/limits.conf, LimitNOFILE= of a unit), and restart these.';
  return [
    { state: 'note', text: `${text}: connections and starts of tasks wait beyond that`, remedy },
  ];
}
