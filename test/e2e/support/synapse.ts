// A Matrix homeserver for tests: Synapse from PyPI, on loopback, with SQLite in a folder of its
// own.

import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { createHmac, randomBytes } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setUpVenv } from '../../../tools/python-venv.ts';
import { endNow, whenKilled } from '../../support/when-killed.ts';
import { until } from './hosts.ts';

/** The last release that was tried. */
const REQUIREMENTS = ['matrix-synapse==1.163.2'];

export function setUpSynapse() {
  return setUpVenv('synapse', REQUIREMENTS);
}

const SECRET = 'of this test';

/** One who is logged in. */
export interface MatrixUser {
  readonly id: string;
  readonly token: string;
}

export class Synapse {
  readonly url: string;
  readonly #folder: string;
  readonly #child: ChildProcess;
  readonly #forget: () => void;

  /** `bin`: where its Python is. */
  static async start(bin: string): Promise<Synapse> {
    const port = await freePort();
    const synapse = new Synapse(bin, port);
    try {
      await until('Synapse answers', async () => {
        if (synapse.#child.exitCode !== null) throw new Error(synapse.#log());
        const answer = await fetch(`${synapse.url}/_matrix/client/versions`).catch(() => null);
        return answer?.ok || undefined;
      });
    } catch (error) {
      synapse.close();
      throw error;
    }
    return synapse;
  }

  private constructor(bin: string, port: number) {
    this.url = `http://127.0.0.1:${port}`;
    this.#folder = mkdtempSync(path.join(tmpdir(), 'weft-synapse-'));
    const at = (name: string): string => path.join(this.#folder, name);
    writeFileSync(at('signing.key'), `ed25519 a_test ${base64(randomBytes(32))}\n`);
    const rates = { per_second: 1000, burst_count: 1000 };
    const config = {
      server_name: 'lab',
      pid_file: at('pid'),
      listeners: [
        {
          port,
          bind_addresses: ['127.0.0.1'],
          type: 'http',
          tls: false,
          resources: [{ names: ['client'] }],
        },
      ],
      database: { name: 'sqlite3', args: { database: at('homeserver.db') } },
      signing_key_path: at('signing.key'),
      media_store_path: at('media'),
      registration_shared_secret: SECRET,
      macaroon_secret_key: SECRET,
      form_secret: SECRET,
      report_stats: false,
      trusted_key_servers: [],
      suppress_key_server_warning: true,
      federation_domain_whitelist: [],
      rc_message: rates,
      rc_registration: rates,
    };
    // JSON is YAML.
    writeFileSync(at('homeserver.yaml'), JSON.stringify(config));
    const program = [path.join(bin, 'python'), '-m', 'synapse.app.homeserver'];
    const [file = '', ...args] = [...program, '-c', at('homeserver.yaml')];
    this.#child = spawn('sh', ['-c', 'exec "$@" > log 2>&1', 'sh', file, ...args], {
      cwd: this.#folder,
      stdio: 'ignore',
    });
    this.#forget = whenKilled(() => this.#remove());
  }

  close(): void {
    this.#forget();
    this.#remove();
  }

  #remove(): void {
    if (this.#child.pid !== undefined) endNow(this.#child.pid, 'SIGKILL');
    rmSync(this.#folder, { recursive: true, force: true });
  }

  #log(): string {
    return readFileSync(path.join(this.#folder, 'log'), 'utf8').slice(-2000);
  }

  async register(name: string): Promise<MatrixUser> {
    const place = '/_synapse/admin/v1/register';
    const { nonce } = await this.#fetch<{ nonce: string }>('GET', place);
    const words = [nonce, name, 'word', 'notadmin'].join('\0');
    const mac = createHmac('sha1', SECRET).update(words).digest('hex');
    const user = { nonce, username: name, password: 'word', admin: false, mac };
    const made = await this.#fetch<{ user_id: string; access_token: string }>('POST', place, user);
    return { id: made.user_id, token: made.access_token };
  }

  /** The client-server API as this user. */
  as({ token }: MatrixUser) {
    return <T>(method: string, place: string, body?: object): Promise<T> =>
      this.#fetch<T>(method, `/_matrix/client/v3${place}`, body, token);
  }

  async #fetch<T>(method: string, place: string, body?: object, token?: string): Promise<T> {
    const answer = await fetch(`${this.url}${place}`, {
      method,
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      ...(token === undefined ? {} : { headers: { authorization: `Bearer ${token}` } }),
    });
    const text = await answer.text();
    assert.ok(answer.ok, `${method} ${place}: ${answer.status} ${text}`);
    return JSON.parse(text) as T;
  }
}

function base64(bytes: Buffer): string {
  return bytes.toString('base64').replace(/=+$/, '');
}

function freePort(): Promise<number> {
  const server = createServer();
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address() as { port: number };
      server.close(() => resolve(port));
    });
  });
}
