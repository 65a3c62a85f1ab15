// What readers of listings share: values that may be missing, and problems in words.

import { IntervalSet } from '../../../kernel/base/interval-set.ts';
import { err, ok, type Result } from '../../../kernel/base/result.ts';
import { parseNodeNames } from '../../../kernel/model/node-names.ts';
import type { SiteJob } from '../../../kernel/model/site.ts';
import type { SiteOutput, SiteProblem, SiteQuery } from './adaptor.ts';

const WORDS_MAX = 300;

export function siteProblem(kind: SiteProblem['kind'], text: string): Result<never, SiteProblem> {
  return err({ kind, text: oneLine(text) });
}

/** The system's own words for why a command did not succeed. */
export function saidBy({ stdout, stderr, code }: SiteOutput): string {
  const words = oneLine(stderr.trim() === '' ? stdout : stderr);
  if (words !== '') return words;
  return code === null ? 'no answer in time' : `exit code ${code} and no word`;
}

/** Why a job that waits is held here. */
export function notPlanned(what: string): string {
  return `it asks for ${what}, which Weft does not plan; without that it is planned`;
}

/** A shell, or ssh behind it, could not run the command: the system has said nothing. */
const NOT_RUN: ReadonlySet<number> = new Set([126, 127]);

/**
 * Makes of a command that did not succeed that its system is away, when it gave no answer or these
 * words, or that it refused.
 */
export function failureBy(away: RegExp) {
  return (program: string, output: SiteOutput): Result<never, SiteProblem> => {
    const words = saidBy(output);
    const isAway = output.code === null || NOT_RUN.has(output.code) || away.test(words);
    return siteProblem(isAway ? 'away' : 'refused', `${program}: ${words}`);
  };
}

/**
 * The ids of jobs of this name in a listing of all.
 * @param whole what is cancelled for the element of an array; absent: the element
 */
export function namedIn(
  { command, read }: SiteQuery<readonly SiteJob[]>,
  name: string,
  whole: (id: string) => string = (id) => id,
): SiteQuery<readonly string[]> {
  return {
    command,
    read(output) {
      const jobs = read(output);
      if (!jobs.ok) return jobs;
      const own = jobs.value.filter((job) => job.name === name);
      return ok([...new Set(own.map(({ id }) => whole(id)))]);
    },
  };
}

/** @param program as in `squeue` */
export function unreadable(program: string, what: string): Result<never, SiteProblem> {
  return siteProblem('unreadable', `${program}: ${what}`);
}

function oneLine(text: string): string {
  const line = text.replace(/\p{Cc}+/gu, ' ').trim();
  return line.length > WORDS_MAX ? `${line.slice(0, WORDS_MAX)}…` : line;
}

type Json = Readonly<Record<string, unknown>>;

export function isRecord(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Returns null when it is none. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/** Records of a list that may be missing. */
export function recordsOf(value: unknown): Json[] | null {
  return Array.isArray(value) && value.every(isRecord) ? value : null;
}

export function textOf(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? value : null;
}

/** Returns null when it is no count that a number has exactly. */
export function exactOf(value: unknown): number | null {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : null;
}

/** The year 2223 in seconds; as MiB its bytes are still a number that is exact. */
const WHOLE_MAX = 8_000_000_000;

/** Returns null when it is no count, or greater than any that is meant. */
export function wholeOf(value: unknown): number | null {
  const count = exactOf(value);
  return count !== null && count <= WHOLE_MAX ? count : null;
}

/** Digits only, as a count. */
export function wholeIn(text: string | null | undefined): number | null {
  return text !== null && text !== undefined && /^\d{1,10}$/.test(text)
    ? wholeOf(Number(text))
    : null;
}

/** Seconds since 1970 as the listings have them, where 0 is none; as ms. */
export function instantOf(seconds: number | null): number | null {
  return seconds === null || seconds === 0 ? null : seconds * 1000;
}

/** A list as `n[2-3],n7`; names that cannot be are left out. */
export function nodesOf(text: string | null): readonly string[] {
  const names = parseNodeNames(text ?? '');
  return names.ok ? names.value : [];
}

/** A wait status as wait(2) gives it. */
export function exitOfWaitStatus(status: number): { code?: number; signal?: number } {
  const signal = status & 0x7f;
  return signal === 0 ? { code: (status >> 8) & 0xff } : { signal };
}

const ELEMENTS_MAX = 1_000_000;

/** Indices as `1-4:1,7` or `1-9:2`, as IntervalSet text; null: they cannot be read. */
export function elementsOf(text: string): string | null {
  const found = new IntervalSet();
  for (const part of text.split(',').map((one) => one.trim())) {
    const [, from, to = from, step = '1'] =
      /^(\d{1,8})(?:-(\d{1,8}))?(?::(\d{1,8}))?$/.exec(part) ?? [];
    if (from === undefined || Number(step) < 1) return null;
    if (Number(to) < Number(from) || Number(to) - Number(from) >= ELEMENTS_MAX) return null;
    if (step === '1') found.addRange(Number(from), Number(to));
    else for (let at = Number(from); at <= Number(to); at += Number(step)) found.add(at);
  }
  return found.toString();
}

/** Seconds, or `1:02:03`; as ms. */
export function clockOf(text: string): number | null {
  if (!/^\d+(:\d+){0,2}$/.test(text)) return null;
  const seconds = wholeOf(text.split(':').reduce((sum, part) => sum * 60 + Number(part), 0));
  return seconds === null ? null : seconds * 1000;
}

/** `Sun Nov 22 02:19:03 2026`, as ctime(3) has it, in the command's zone: gateways set TZ=UTC. */
export function instantOfCtime(text: string | null | undefined): number | null {
  const isWhole = /^\w{3} \w{3} [ \d]\d \d\d:\d\d:\d\d \d{4}$/.test(text ?? '');
  const at = isWhole ? Date.parse(`${text} UTC`) : Number.NaN;
  return Number.isNaN(at) ? null : at;
}
