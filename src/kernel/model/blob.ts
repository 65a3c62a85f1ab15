// Content by its SHA-256: equal content has one name everywhere, and lies once.

import type { Brand } from '../base/brand.ts';

/** 64 lower-case hex digits, as sha256sum(1) prints them: one name has one form. */
export type BlobHash = Brand<string, 'BlobHash'>;

export const BLOB_HASH = /^[0-9a-f]{64}$/;
