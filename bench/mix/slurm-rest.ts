// A slurmrestd for a Slurm of one measurement or test, with a token of root's: on loopback, as an
// ordinary user, because it refuses to be root's.

import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { findFreePort } from '../../test/support/free-port.ts';
import type { Slurm, SlurmPlace } from './slurm.ts';

const NOBODY = 65_534;
const TRIES = 300;
const FIRST_PORT = 18_000 + (process.pid % 500) * 4;

export interface SlurmRest {
  /** With the version. */
  readonly url: string;
  /** Words of a curl that has the token. */
  readonly curl: readonly string[];
  readonly pid: number;
  /** Writes a token that nobody gave, or a good one again. */
  setToken(token: string | null): void;
  stop(): Promise<void>;
  /** After an end, on the same port. */
  start(): Promise<void>;
}

/** For the Slurm that is to have one. @param folder where its key goes */
export function placeForRest(folder: string): SlurmPlace {
  const key = join(folder, 'jwt.key');
  writeFileSync(key, randomBytes(32), { mode: 0o600 });
  return {
    more: ['AuthAltTypes=auth/jwt', `AuthAltParameters=jwt_key=${key}`],
    controller: 'slurmctld',
  };
}

export async function startSlurmRest(slurm: Slurm, folder: string): Promise<SlurmRest> {
  const port = await findFreePort({ host: '127.0.0.1', port: FIRST_PORT });
  const said = await slurm.command('scontrol', 'token', 'username=root', 'lifespan=7200');
  const good = said.trim().replace(/^SLURM_JWT=/, '');
  const file = join(folder, 'slurm.curl');
  const setToken = (token: string | null): void => {
    const lines = [`X-SLURM-USER-TOKEN: ${token ?? good}`, 'X-SLURM-USER-NAME: root'];
    writeFileSync(file, lines.map((line) => `header = "${line}"\n`).join(''), { mode: 0o600 });
  };
  setToken(null);
  let child: ChildProcess;
  const start = async (): Promise<void> => {
    child = spawn(
      'slurmrestd',
      ['-s', 'openapi/v0.0.38', '-a', 'rest_auth/jwt', `127.0.0.1:${port}`],
      {
        env: { ...slurm.environment, SLURM_JWT: 'daemon' },
        uid: NOBODY,
        gid: NOBODY,
        stdio: 'ignore',
      },
    );
    for (let tries = 0; tries < TRIES; tries += 1) {
      const answer = await fetch(`http://127.0.0.1:${port}/openapi`).catch(() => null);
      if (answer !== null) return void (await answer.arrayBuffer());
      await sleep(100);
    }
    throw new Error('waited in vain until slurmrestd answers');
  };
  await start();
  return {
    url: `http://127.0.0.1:${port}/slurm/v0.0.38`,
    curl: ['curl', '--config', file],
    get pid() {
      return child.pid ?? 0;
    },
    setToken,
    start,
    async stop() {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const over = new Promise((resolve) => child.once('exit', resolve));
      child.kill('SIGKILL');
      await over;
    },
  };
}
