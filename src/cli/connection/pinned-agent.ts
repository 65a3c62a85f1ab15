// TLS connections that are handed to HTTP only after the certificate was compared with the
// fingerprint: not one byte of a request, and so no token, reaches a stranger.

import { createHash } from 'node:crypto';
import { Agent } from 'node:http';
import type { Duplex } from 'node:stream';
import { connect } from 'node:tls';
import { refuse } from '../../core/model/errors.ts';
import { failure } from '../failure.ts';

export interface Pin {
  /** For messages. */
  readonly address: string;
  /** SHA-256 of the certificate's DER, hex, colons allowed; null = the machine's authorities. */
  readonly fingerprint: string | null;
}

/** An agent for `node:http` that speaks TLS by itself. */
export function createPinnedAgent(pin: Pin): Agent {
  return new PinnedAgent(pin);
}

class PinnedAgent extends Agent {
  readonly #pin: Pin;

  constructor(pin: Pin) {
    super({ keepAlive: true });
    this.#pin = pin;
  }

  override createConnection(
    options: { host?: string | null; port?: number | string | null },
    done?: (error: Error | null, stream: Duplex) => void,
  ): Duplex | null {
    const { host = 'localhost', port } = options;
    const secure = connect({
      host: host ?? 'localhost',
      port: Number(port),
      rejectUnauthorized: this.#pin.fingerprint === null,
      ...(isAddress(host ?? '') ? {} : { servername: host ?? '' }),
    });
    const fail = (error: Error) => done?.(error, secure);
    secure.once('error', fail);
    secure.once('secureConnect', () => {
      secure.off('error', fail);
      const wrong = checkCertificate(secure.getPeerCertificate().raw, this.#pin);
      if (wrong === null) return done?.(null, secure);
      secure.destroy();
      fail(wrong);
    });
    return null;
  }
}

function isAddress(host: string): boolean {
  return host.includes(':') || /^[\d.]+$/.test(host);
}

function checkCertificate(raw: Buffer | undefined, pin: Pin): Error | null {
  if (pin.fingerprint === null) return null;
  const actual = createHash('sha256').update(raw ?? '').digest('hex');
  const expected = pin.fingerprint.replaceAll(':', '').toLowerCase();
  if (actual === expected) return null;
  const details = { address: pin.address, actual, expected };
  return failure(
    refuse('auth.fingerprint_mismatch', details, 'Nothing was sent. Ask for the right fingerprint.'),
  );
}
