// Join tokens for machines that are being added: each is for one machine, and good only while that
// joins.

import type { Api } from '../../../kernel/connect/api.ts';
import { refuse } from '../../../kernel/model/errors.ts';
import { Failure, failure } from '../../../kernel/model/failure.ts';

/** How long a token lasts whose command is killed. */
const JOIN_MS = 1_800_000;

export interface Ticket {
  readonly fingerprint: string;
  readonly addresses: readonly string[];
  readonly token: string;
}

export class Tickets {
  readonly #api: Pick<Api, 'call'>;

  constructor(api: Pick<Api, 'call'>) {
    this.#api = api;
  }

  /** Revoked when this is over. Fails where no other machine can reach the head. */
  async during<T>(use: (ticket: Ticket) => Promise<T>): Promise<T> {
    const body = { expiresInMs: JOIN_MS, label: 'weft node add' };
    const { id, fingerprint, addresses, token } = await this.#api.call('createJoinToken', { body });
    try {
      if (fingerprint === null || addresses.length === 0) throw unreachable();
      return await use({ fingerprint, addresses, token });
    } finally {
      await this.#revoke(id);
    }
  }

  /** What came of the machine counts; a token that is left ends by itself. */
  async #revoke(id: string): Promise<void> {
    try {
      await this.#api.call('revokeToken', { params: { id } });
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
    }
  }
}

function unreachable(): Failure {
  const what = 'no machine can join: this head listens on no port';
  const remedy = 'Give it one: `weft up --listen HOST:5001`, or head.listen for `weft head`.';
  return failure(refuse('argument.invalid', { what }, remedy));
}
