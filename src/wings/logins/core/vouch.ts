// What a node's agent and the head say to each other of a user whom the node vouches for.

import { err, ok, type Result } from '../../../kernel/base/result.ts';
import { type Refusal, refuse } from '../../../kernel/model/errors.ts';
import { parseCode } from '../model/code.ts';

export const WING = 'logins';
/** Longest text that one side has for people at the other. */
const TEXT_LENGTH_MAX = 1000;

/** The kernel of the node's machine says that this user is at the agent's socket. */
export interface Vouched {
  /** Drawn by the agent for each; the answer has it, too. */
  readonly ask: string;
  readonly code: string;
  readonly user: string;
  readonly uid: number;
}

export interface VouchAnswer {
  readonly ask: string;
  /** Why not, for whoever asked; null: the login is approved. */
  readonly why: string | null;
}

/** Null: it is no answer. */
export function readVouchAnswer(body: unknown): VouchAnswer | null {
  const { ask, why } = (body ?? {}) as { readonly ask?: unknown; readonly why?: unknown };
  if (typeof ask !== 'string') return null;
  if (why === null) return { ask, why };
  return typeof why === 'string' ? { ask, why: why.slice(0, TEXT_LENGTH_MAX) } : null;
}

/** What a user of the machine asks of the agent: for which login, and of which head. */
export interface VouchWish {
  readonly code: string;
  readonly fingerprint: string;
}

export function readVouchWish(body: Readonly<Record<string, unknown>>): Result<VouchWish, Refusal> {
  const { code, fingerprint } = body;
  const known = typeof code === 'string' ? parseCode(code) : null;
  const print = typeof fingerprint === 'string' ? plainFingerprint(fingerprint) : '';
  if (known === null || print === '') {
    const what = 'the code of a login and the fingerprint of its head are expected';
    return err(refuse('request.malformed', { what }));
  }
  return ok({ code: known, fingerprint: print });
}

/** However it was written: with colons or without. */
export function plainFingerprint(text: string): string {
  return text.replaceAll(':', '').trim().toLowerCase();
}
