// How many files a process of this user may have open: a head needs one for each connection, an
// agent a few for each task that it starts.

import { readFileSync } from 'node:fs';
import { readLiveMark } from '../../connect/process-file.ts';
import type { LocalPaths } from '../daemons/local-paths.ts';
import type { Finding } from './finding.ts';

/** Below it a busy head or agent comes to its limit. */
const OPEN_FILES_MIN = 1024;
/** More names make nothing clearer. */
const NAMES_SHOWN_MAX = 6;

/**
 * Limits of who asks, which a head or agent gets that is started now, and of those that run: they
 * may have been started elsewhere. Node has raised the limit as far as the system lets it.
 */
export function openFiles(paths: LocalPaths, limits = limitsOf): Finding[] {
  const own = mostIn(limits('self') ?? '');
  const first = finding('a process may', own);
  const names = new Map<string, string[]>();
  for (const { name, pid } of daemonsOf(paths)) {
    const text = limits(`${pid}`);
    const most = text === null ? own : mostIn(text);
    if (most !== own) names.set(most, [...(names.get(most) ?? []), name]);
  }
  return [first, ...[...names].map(([most, all]) => finding(shown(all), most))];
}

/** Returns null when it has ended meanwhile. */
function limitsOf(pid: string): string | null {
  try {
    return readFileSync(`/proc/${pid}/limits`, 'utf8');
  } catch {
    return null;
  }
}

function mostIn(limits: string): string {
  return /^Max open files\s+(\S+)/m.exec(limits)?.[1] ?? '';
}

/** Head and agents of this folder that live: an agent of many nodes has a mark for each. */
function daemonsOf(paths: LocalPaths): { readonly name: string; readonly pid: number }[] {
  const names = paths.daemons().sort((a, b) => a.localeCompare(b, 'en', { numeric: true }));
  return names.flatMap((name) => {
    const mark = readLiveMark(paths.mark(name));
    return mark === null ? [] : [{ name, pid: mark.pid }];
  });
}

function shown(names: readonly string[]): string {
  const more = names.length - NAMES_SHOWN_MAX;
  const rest = more > 0 ? [`${more} more`] : [];
  const all = [...names.slice(0, NAMES_SHOWN_MAX), ...rest].join(', ');
  return `${all} may${names.length > 1 ? ' each' : ''}`;
}

function finding(whoMay: string, most: string): Finding {
  const text = `${whoMay} have ${most} files open`;
  if (most === 'unlimited' || Number(most) >= OPEN_FILES_MIN) return { state: 'ok', text };
  const remedy =
    `Raise the limit to ${OPEN_FILES_MIN} or more for those who start head and agents ` +
    '(ulimit -Hn, /etc/security/limits.conf, LimitNOFILE= of a unit), and restart these.';
  return {
    state: 'note',
    text: `${text}: connections and starts of tasks wait beyond that`,
    remedy,
  };
}
