// A connection to the head: over its unix socket, or over TLS with a pinned certificate.

import { X509Certificate } from 'node:crypto';
import { connect as connectUnix, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { connect as connectTls, type TLSSocket } from 'node:tls';
import { formatDuration } from '../base/duration.ts';
import { identityShown } from '../base/pinned-certificate.ts';

/** Where a head is. */
export type HeadPlace =
  | {
      readonly url: string;
      /** The same head by other names and addresses, known there by its fingerprint. */
      readonly others?: readonly string[];
      readonly fingerprint?: string;
    }
  | { readonly socketPath: string };

/** The address at which a head answered last, by the first of its addresses. */
const answered = new Map<string, string>();

/** The address to begin with. */
export function urlOf({ url }: { readonly url: string }): string {
  return answered.get(url) ?? url;
}

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
  const begin = urlOf(head);
  const urls = [...new Set([begin, head.url, ...(head.others ?? [])])];
  const problems: unknown[] = [];
  for (const url of urls) {
    try {
      const stream = await openAt(url, head.fingerprint, timeoutMs);
      answered.set(head.url, url);
      return stream;
    } catch (error) {
      problems.push(error);
    }
  }
  throw allOf(problems);
}

function allOf(problems: readonly unknown[]): unknown {
  if (problems.length === 1) return problems[0];
  const words = problems.map((one) => (one instanceof Error ? one.message : String(one)));
  return new Error(words.join('; '));
}

async function openAt(
  url: string,
  pinned: string | undefined,
  timeoutMs: number,
): Promise<{ host: string; stream: Socket }> {
  const { hostname, port, host } = new URL(url);
  const stream = connectTls({
    host: hostname.replace(/^\[|\]$/g, ''),
    port: Number(port || 443),
    // A pinned certificate is its own proof; without a pin the system's authorities decide.
    rejectUnauthorized: pinned === undefined,
    ...(/^[\d.]+$|:/.test(hostname) ? {} : { servername: hostname }),
  });
  await connected(stream, 'secureConnect', host, timeoutMs);
  if (pinned !== undefined) checkFingerprint(stream, pinned, host);
  return { host, stream };
}

function checkFingerprint(stream: TLSSocket, expected: string, host: string): void {
  const actual = identityShown(stream.getPeerX509Certificate(), certificateIn);
  if (actual === plain(expected)) return;
  stream.destroy();
  throw new Error(`the head at ${host} shows certificate ${actual}, expected ${plain(expected)}`);
}

/** The text is base64url. */
export function certificateIn(text: string): X509Certificate {
  return new X509Certificate(Buffer.from(text, 'base64url'));
}

/** `AB:CD…` as openssl prints it, or plain hex. */
function plain(fingerprint: string): string {
  return fingerprint.replaceAll(':', '').toLowerCase();
}

function connected(stream: Duplex, event: string, where: string, timeoutMs: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      stream.destroy(new Error(`no connection to ${where} within ${formatDuration(timeoutMs)}`));
    }, timeoutMs);
    const settle = (act: () => void): void => {
      clearTimeout(timer);
      act();
    };
    stream.once(event, () => settle(resolve));
    stream.on('error', (error) => settle(() => reject(error)));
  });
}
