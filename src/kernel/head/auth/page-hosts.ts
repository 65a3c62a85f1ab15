// The names under which browsers may have the page: a name of somebody else that leads to this
// machine (DNS rebinding) would make a page of theirs one of ours.

import { isIP } from 'node:net';
import { type Refusal, refuse } from '../../model/errors.ts';

export class PageHosts {
  readonly #names: ReadonlySet<string>;

  /** Names by which the head is known. */
  constructor(names: readonly string[]) {
    this.#names = new Set(['localhost', ...names].map(plain));
  }

  /** By the header `Host`. Null: it is ours. An address is nobody's name: nothing can rebind it. */
  refuse(host: string | undefined): Refusal | null {
    const name = plain(withoutPort(host ?? ''));
    if (isIP(name) !== 0 || this.#names.has(name)) return null;
    const hint = 'Use the address that `weft ui` says. If the name is yours, add it to head.names.';
    return refuse('auth.foreign_host', { host: `'${name.slice(0, 200)}'` }, hint);
  }
}

function withoutPort(host: string): string {
  const match = /^(?:\[([^\]]*)\]|([^:]*))(?::\d*)?$/.exec(host.trim());
  return match?.[1] ?? match?.[2] ?? host;
}

function plain(name: string): string {
  return name.toLowerCase().replace(/\.$/, '');
}
