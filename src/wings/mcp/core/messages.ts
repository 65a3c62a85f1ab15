// JSON-RPC 2.0 as the Model Context Protocol uses it (modelcontextprotocol.io, revision
// 2025-06-18): one message a line, requests with an id, notifications without.

import { err, ok, type Result } from '../../../kernel/base/result.ts';

export type Id = string | number;

/** `id` undefined: a notification, which gets no answer. */
export interface Request {
  readonly id: Id | undefined;
  readonly method: string;
  readonly params: Readonly<Record<string, unknown>>;
}

export interface Fault {
  readonly code: number;
  readonly message: string;
}

/** Codes of JSON-RPC 2.0, section 5.1. */
export const FAULTS = {
  parse: -32_700,
  request: -32_600,
  method: -32_601,
  params: -32_602,
  internal: -32_603,
} as const;

/** Null: an answer to us, who never ask. The fault goes with the id, where the line has one. */
export function parseMessage(
  line: string,
): Result<Request | null, { readonly id: Id | null; readonly fault: Fault }> {
  let read: unknown;
  try {
    read = JSON.parse(line);
  } catch (error) {
    const message = `this is no JSON: ${(error as Error).message}`;
    return err({ id: null, fault: { code: FAULTS.parse, message } });
  }
  const message = isObject(read) ? read : {};
  const { jsonrpc, id, method, params = {} } = message;
  const known = typeof id === 'string' || typeof id === 'number' ? id : undefined;
  const bad = (what: string) =>
    err({ id: known ?? null, fault: { code: FAULTS.request, message: what } });
  if (!isObject(read) || jsonrpc !== '2.0') return bad('expected one message of JSON-RPC 2.0');
  if (method === undefined && known !== undefined) return ok(null);
  if (typeof method !== 'string') return bad('expected a method');
  if (id !== undefined && known === undefined)
    return bad('expected an id that is text or a number');
  if (!isObject(params)) return bad('expected params that are an object');
  return ok({ id: known, method, params });
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function formatResult(id: Id, result: object): string {
  return `${JSON.stringify({ jsonrpc: '2.0', id, result })}\n`;
}

export function formatFault(id: Id | null, error: Fault): string {
  return `${JSON.stringify({ jsonrpc: '2.0', id, error })}\n`;
}
