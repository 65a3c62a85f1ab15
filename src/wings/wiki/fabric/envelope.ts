// Who signed a request and when, around what it asks for: `CK=… TS=… AUTH=… [CLIENT=…] DT=…`, or
// the bare `CMD=…` of a client without a key.

import { err, ok, type Result } from '../../../kernel/base/result.ts';
import { wikiChecksum } from './checksum.ts';
import { type WikiProblem, wikiProblem } from './codes.ts';

/** Slurm's bound for requests; Maui takes replies within an hour. */
export const WIKI_STAMP_DIFFERENCE_MAX_S = 300;

export interface WikiTrust {
  /** Null when nobody can sign. */
  readonly key: number | null;
  /** Whether a request without a signature is taken. */
  readonly unsigned: boolean;
  /** Seconds since 1970. */
  readonly nowS: number;
}

export interface WikiEnvelope {
  /** Null when it was not signed. */
  readonly user: string | null;
  readonly client: string | null;
  /** `CMD=…`. */
  readonly data: string;
}

const SIGNED =
  /^CK=(?<checksum>[0-9a-fA-F]{16})[ \t]+(?<signed>TS=(?<stamp>\d{1,15})[ \t]+AUTH=(?<user>\S+)[ \t]+(?:CLIENT=(?<client>\S+)[ \t]+)?DT=(?<data>.*))$/s;

export function openWikiEnvelope(
  text: string,
  trust: WikiTrust,
): Result<WikiEnvelope, WikiProblem> {
  if (/^CMD=/.test(text)) return openUnsigned(text, trust);
  const groups = SIGNED.exec(text)?.groups;
  if (groups === undefined) {
    const words = 'expected CK=<16 hex digits> TS=<seconds> AUTH=<user> DT=CMD=…, or CMD=…';
    return err(wikiProblem('malformed', words));
  }
  const { checksum = '', signed = '', stamp = '', user = '', client, data = '' } = groups;
  if (trust.key === null) {
    return err(wikiProblem('checksum', 'signed, but no key is set here: see wiki.key_file'));
  }
  if (wikiChecksum(new TextEncoder().encode(signed), trust.key) !== checksum.toLowerCase()) {
    return err(wikiProblem('checksum', 'the checksum is wrong: do both sides have the same key?'));
  }
  const offS = Number(stamp) - trust.nowS;
  if (Math.abs(offS) > WIKI_STAMP_DIFFERENCE_MAX_S) {
    const side = offS < 0 ? 'behind' : 'ahead of';
    const words = `the stamp is ${Math.abs(offS)} s ${side} this clock; at most ${WIKI_STAMP_DIFFERENCE_MAX_S} s are allowed`;
    return err(wikiProblem('stamp', words));
  }
  return ok({ user, client: client ?? null, data });
}

function openUnsigned(data: string, { unsigned }: WikiTrust): Result<WikiEnvelope, WikiProblem> {
  if (unsigned) return ok({ user: null, client: null, data });
  return err(wikiProblem('checksum', 'not signed: set wiki.unsigned to take such requests'));
}

/**
 * A reply in the form in which it was asked: signed where there is a key to sign with.
 * @param data `SC=…`
 */
export function sealWikiReply(
  data: string,
  {
    key,
    nowS,
    user,
  }: { readonly key: number | null; readonly nowS: number; readonly user: string },
): string {
  if (key === null) return data;
  const signed = `TS=${nowS} AUTH=${user} DT=${data}`;
  return `CK=${wikiChecksum(new TextEncoder().encode(signed), key)} ${signed}`;
}
