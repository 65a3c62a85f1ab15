// Whom to tell when a job or batch is over, and what is told: the words `matrix:@ann:lab`,
// `webhook:https://…`, `command:NAME` and `mail:ADDRESS`, read in one place.

import { didYouMean } from '../base/nearest-word.ts';
import { err, ok, type Result } from '../base/result.ts';
import type { JobId, UserName } from './ids.ts';
import type { ExitStatus, OutcomeKind } from './job.ts';

export const NOTIFIER_KINDS = ['matrix', 'webhook', 'command', 'mail'] as const;
export type NotifierKind = (typeof NOTIFIER_KINDS)[number];

/** The receiver of a notification, and by what means. */
export interface Target {
  readonly kind: NotifierKind;
  /** A Matrix id, a URL, the name of a command, an address. */
  readonly to: string;
}

/** What somebody is told about. */
export type Subject =
  | { readonly kind: 'job'; readonly jobId: JobId }
  /** The batch's namespace, name and version as people write them. */
  | { readonly kind: 'batch'; readonly batch: string };

/** What is told: all of it, so that the job or batch may leave memory meanwhile. */
export interface News {
  readonly subject: Subject;
  readonly name: string;
  readonly owner: UserName;
  readonly outcome: OutcomeKind;
  readonly exit?: ExitStatus;
  readonly detail?: string;
  /** How many tasks of an array, or jobs of a batch, ended in which way. */
  readonly counts?: Readonly<Partial<Record<OutcomeKind, number>>>;
  readonly submittedAt: number;
  readonly startedAt: number | null;
  readonly endedAt: number;
}

/** How an attempt to tell somebody went. */
export type Attempt =
  | { readonly kind: 'told' }
  /** `afterMs`: the other side wants to be left alone so long. */
  | { readonly kind: 'failed'; readonly why: string; readonly afterMs?: number };

/** What the site allows, from its configuration. Absent means of telling are null. */
export interface NotifyRules {
  /** Patterns of ids, as `@*:lab.example`. */
  readonly matrix: readonly string[] | null;
  /** Patterns of hosts. */
  readonly webhook: readonly string[] | null;
  /** Names of the commands that are configured. */
  readonly command: readonly string[] | null;
  /** Patterns of addresses. */
  readonly mail: readonly string[] | null;
  /** After so long what could not be told is given up. */
  readonly giveUpMs: number;
}

const SERVER = String.raw`(?:[A-Za-z0-9.-]{1,253}|\[[0-9A-Fa-f:.]{2,45}\])(?::\d{1,5})?`;

/** Rooms of version 12 and later have no server in their id. */
const FORMS: Readonly<Record<NotifierKind, RegExp>> = {
  matrix: new RegExp(
    String.raw`^(?:@[A-Za-z0-9._=/+-]{1,200}:${SERVER}|![A-Za-z0-9._~+/=-]{1,200}(?::${SERVER})?|#[^\s:#!@]{1,200}:${SERVER})$`,
  ),
  // No user in it, whose password would lie in the journal, and no fragment, which is never sent.
  webhook:
    /^https?:\/\/(?:[A-Za-z0-9.-]{1,253}|\[[0-9A-Fa-f:.]{2,45}\])(?::\d{1,5})?(?:[/?][!-~]*)?$/,
  command: /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/,
  mail: /^[A-Za-z0-9_][A-Za-z0-9.!#$%&'*+/=?^_`{|}~-]{0,63}@[A-Za-z0-9](?:[A-Za-z0-9.-]{0,188}[A-Za-z0-9])?$/,
};

const EXPECTED: Readonly<Record<NotifierKind, string>> = {
  matrix: 'write a user, @ann:example.org, or a room, !id:example.org or #lab:example.org',
  webhook: 'write a URL without user and fragment, https://example.org/hook',
  command: 'write the name of a command that the site has configured',
  mail: 'write an address, ann@example.org',
};

/** Longest text of a target: a URL with a token in it, not a document. */
export const TARGET_LENGTH_MAX = 2000;

/** Reads `matrix:@ann:lab`. */
export function parseTarget(text: string): Result<Target, string> {
  const [, word = '', to = ''] = /^([a-z]*):(.*)$/s.exec(text) ?? [];
  const kind = NOTIFIER_KINDS.find((one) => one === word);
  if (kind === undefined) {
    const meant = didYouMean(word, NOTIFIER_KINDS);
    return err(`'${text.slice(0, 100)}' says nobody to tell; write ${TARGET_FORMS}.${meant}`);
  }
  const target = { kind, to: kind === 'webhook' ? encodedPath(to) : to };
  const isLong = formatTarget(target).length > TARGET_LENGTH_MAX;
  if (isLong || !FORMS[kind].test(target.to) || target.to.includes('#', 1)) {
    const strange = isLong ? null : strangeIn(target);
    const why = strange === null ? '' : `: it may not have ${JSON.stringify(strange)}`;
    return err(`'${text.slice(0, 100)}' is not readable${why}; ${EXPECTED[kind]}`);
  }
  return ok(target);
}

/** A URL as sent: letters beyond ASCII in what follows the host are written as their bytes. */
function encodedPath(url: string): string {
  const [, host = '', path = ''] = /^([a-z]+:\/\/[^/?#]*)(.*)$/is.exec(url) ?? [];
  if (host === '' || /\p{Surrogate}/u.test(path)) return url;
  return host + path.replace(/[^\0-\x7f]+/gu, encodeURIComponent);
}

/** The first letter that no URL or address has; null: it is wrong in another way. */
function strangeIn({ kind, to }: Target): string | null {
  if (kind === 'matrix') return null;
  return /[^!-~]/u.exec(to)?.[0] ?? null;
}

export const TARGET_FORMS =
  'matrix:@ann:example.org, webhook:https://…, command:NAME or mail:ADDRESS';

export function formatTarget({ kind, to }: Target): string {
  return `${kind}:${to}`;
}

/** Without what may be a secret: the path of a URL is often the right to use it. */
export function shownTarget(text: string): string {
  return text.replace(/^(webhook:https?:\/\/[^/?]+).*$/, '$1/…');
}

/** The host of a webhook, in lower case, as rules name it. */
export function hostOf({ to }: Target): string {
  const host = /^https?:\/\/(\[[^\]]*\]|[^:/?]+)/.exec(to)?.[1] ?? '';
  return host.toLowerCase();
}

/** `*` stands for any characters, also none; upper and lower case are one. */
export function matchesPattern(text: string, pattern: string): boolean {
  const parts = pattern.toLowerCase().split('*');
  const [first = '', ...rest] = parts;
  const word = text.toLowerCase();
  if (rest.length === 0) return word === first;
  const last = rest.pop() ?? '';
  if (!word.startsWith(first) || word.length < first.length + last.length) return false;
  let at = first.length;
  for (const part of rest) {
    const found = word.indexOf(part, at);
    if (found < 0) return false;
    at = found + part.length;
  }
  return word.endsWith(last) && word.length - last.length >= at;
}

/** Text for what a message is about: `job 42`, `batch lab/heat@2`; unique among all of them. */
export function formatSubject(subject: Subject): string {
  return subject.kind === 'job' ? `job ${subject.jobId}` : `batch ${subject.batch}`;
}
