// A bare client of a head's unix socket: proves its uid by making a directory, then sends JSON.

import { mkdirSync } from 'node:fs';
import type { Agent as HttpAgent } from 'node:http';
import { identityAt } from '../../src/kernel/api/held-socket.ts';
import { proofName } from '../../src/kernel/api/local-login.ts';

/**
 * Not imported: an import reads every name of the module, and one of them loads a WebSocket client.
 */
const { Agent, request } = process.getBuiltinModule('node:http');

/** A JSON request as the calling user. Rejects with `CallError` on any error status. */
export type Call = <T>(method: string, path: string, body?: unknown) => Promise<T>;

/** What the head answered instead of a result. */
export class CallError extends Error {
  readonly status: number;
  readonly code: string;

  constructor(status: number, text: string) {
    super(text);
    this.status = status;
    this.code = codeIn(text);
  }
}

function codeIn(text: string): string {
  try {
    return (JSON.parse(text) as { error: { code: string } }).error.code;
  } catch {
    return 'unreadable';
  }
}

export interface LocalClient {
  readonly call: Call;
  close(): void;
}

/** Logs in on the socket as the user that this process runs as. */
export async function connectLocally(socketPath: string, connections = 32): Promise<LocalClient> {
  const agent = new Agent({ keepAlive: true, maxSockets: connections });
  const plain = caller(agent, socketPath, null);
  const begun = await plain<{ challenge: string; path: string }>('POST', '/v1/auth/local/begin');
  mkdirSync(proofName(begun.path, identityAt(socketPath)), { mode: 0o700 });
  const { challenge } = begun;
  const { token } = await plain<{ token: string }>('POST', '/v1/auth/local/finish', { challenge });
  return { call: caller(agent, socketPath, token), close: () => agent.destroy() };
}

function caller(agent: HttpAgent, socketPath: string, token: string | null): Call {
  return (method, path, body) =>
    new Promise((resolve, reject) => {
      const payload = body === undefined ? '' : JSON.stringify(body);
      const headers: Record<string, string> = {
        'content-length': String(Buffer.byteLength(payload)),
      };
      if (payload !== '') headers['content-type'] = 'application/json';
      if (token !== null) headers.authorization = `Bearer ${token}`;
      const sent = request({ agent, socketPath, method, path, headers }, (reply) => {
        const chunks: Buffer[] = [];
        reply.on('data', (chunk: Buffer) => chunks.push(chunk));
        reply.on('end', () => {
          const text = Buffer.concat(chunks).toString();
          const status = reply.statusCode ?? 500;
          if (status >= 400) reject(new CallError(status, text));
          else resolve(text === '' ? undefined : JSON.parse(text));
        });
      });
      sent.on('error', reject);
      sent.end(payload);
    });
}
