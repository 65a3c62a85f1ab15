// A connection to the head: over its unix socket, or over TLS with a pinned certificate.

import { createHash } from 'node:crypto';
import { connect as connectUnix, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { connect as connectTls, type TLSSocket } from 'node:tls';

/** Where a head is. */
export type HeadPlace =
  | { readonly url: string; readonly fingerprint?: string }
  | { readonly socketPath: string };

/** Connected, and for TLS verified, before a WebSocket handshake says who we are. */
export async function openStream(
  head: HeadPlace,
  timeoutMs: number,
): Promise<{ host: string; stream: Socket }> {
  if ('socketPath' in head) {
    const stream = connectUnix(head.socketPath);
    await connected(stream, 'connect', head.socketPath, timeoutMs);
    return { host: 'localhost', stream };
  }
  const { hostname, port, host } = new URL(head.url);
  const pinned = head.fingerprint;
  const stream = connectTls({
    ...{ host: hostname.replace(/^\[|\]$/g, ''), port: Number(port || 443) },
    // A pinned certificate is its own proof; without a pin the system's authorities decide.
    rejectUnauthorized: pinned === undefined,
    ...(/^[\d.]+$|:/.test(hostname) ? {} : { servername: hostname }),
  });
  await connected(stream, 'secureConnect', host, timeoutMs);
  if (pinned !== undefined) checkFingerprint(stream, pinned, host);
  return { host, stream };
}

function checkFingerprint(stream: TLSSocket, expected: string, host: string): void {
  const { raw } = stream.getPeerCertificate();
  const actual = raw === undefined ? 'none' : createHash('sha256').update(raw).digest('hex');
  if (actual === plain(expected)) return;
  stream.destroy();
  throw new Error(`the head at ${host} shows certificate ${actual}, expected ${plain(expected)}`);
}

/** `AB:CD…` as openssl prints it, or plain hex. */
function plain(fingerprint: string): string {
  return fingerprint.replaceAll(':', '').toLowerCase();
}

function connected(stream: Duplex, event: string, where: string, timeoutMs: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      stream.destroy(new Error(`no connection to ${where} within ${timeoutMs} ms`));
    }, timeoutMs);
    const settle = (act: () => void): void => {
      clearTimeout(timer);
      act();
    };
    stream.once(event, () => settle(resolve));
    stream.on('error', (error) => settle(() => reject(error)));
  });
}
