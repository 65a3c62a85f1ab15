// Content by its SHA-256: equal content has one name everywhere, and lies once.

import type { Brand } from '../base/brand.ts';
import { err, ok, type Result } from '../base/result.ts';

/** 64 lower-case hex digits. */
export type BlobHash = Brand<string, 'BlobHash'>;

export const BLOB_HASH = /^[0-9a-f]{64}$/;

/** Reads a hash as sha256sum(1) prints it; capitals are refused, as one name has one form. */
export function parseBlobHash(text: string): Result<BlobHash, string> {
  if (BLOB_HASH.test(text)) return ok(text as BlobHash);
  const shown = text.length > 80 ? `${text.slice(0, 80)}…` : text;
  return err(`'${shown}' is not a SHA-256; write its 64 lower-case hex digits`);
}
