// Somebody without rights on the machine, who reads all command lines as long as the run lasts.

import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { join } from 'node:path';
import type { Spied } from './evidence.ts';

const PROGRAM = join(import.meta.dirname, 'spy-program.ts');
/** Nobody of Debian. */
const NOBODY = 65_534;
/** A machine may be too busy to begin with the spy for some time. */
const DECOY_S = '60';

export class Spy {
  readonly #process;
  readonly #decoy = `decoy-${randomBytes(8).toString('hex')}`;
  #out = '';

  /** `secrets`: what nobody is to read. It is told on its standard input. */
  constructor(secrets: readonly string[]) {
    this.#process = spawn(process.execPath, [PROGRAM], {
      uid: NOBODY,
      gid: NOBODY,
      cwd: '/',
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    const { stdin, stdout } = this.#process;
    stdin?.write(`${JSON.stringify([this.#decoy, ...secrets])}\n`);
    stdout?.setEncoding('utf8').on('data', (text: string) => {
      this.#out += text;
    });
    spawn('sh', ['-c', `sleep ${DECOY_S}; :`, this.#decoy], { stdio: 'ignore' });
  }

  async end(): Promise<Spied> {
    const ended = once(this.#process, 'close');
    this.#process.stdin?.end();
    await ended;
    const { scans, lines, found } = JSON.parse(this.#out) as Report;
    const sawDecoy = found.some(({ secret }) => secret === 0);
    return {
      scans,
      lines,
      sawDecoy,
      found: found.filter(({ secret }) => secret !== 0).map(({ line }) => line),
    };
  }
}

interface Report {
  readonly scans: number;
  readonly lines: number;
  readonly found: readonly { readonly secret: number; readonly line: string }[];
}
