// A real X server that shows nothing (Xvfb), with a cookie of its own, and keys on it by xdotool.

import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process';
import type { Socket } from 'node:net';
import path from 'node:path';
import { whenKilled } from './when-killed.ts';

/**
 * Why no such server can be had; false: it can. In CI all is installed, and nothing is left out.
 */
export const NO_X: string | false =
  process.env['CI'] !== 'true' &&
  ['Xvfb', 'xdotool', 'xauth'].some((name) => spawnSync('which', [name]).status !== 0) &&
  'Xvfb, xdotool or xauth is not installed';

export interface RealX {
  readonly display: string;
  /** What the programs of its session have in their environment. */
  readonly environment: { readonly DISPLAY: string; readonly XAUTHORITY: string };
  press(): void;
  moveMouse(): void;
  stop(): Promise<void>;
}

const COOKIE = '0123456789abcdef0123456789abcdef';

/** `folder` holds its cookie. */
export async function startX(folder: string): Promise<RealX> {
  const authority = path.join(folder, 'Xauthority');
  // The server matches only the cookie itself; its number is not known before it runs.
  execFileSync('xauth', ['-f', authority, 'add', ':0', '.', COOKIE], { stdio: 'pipe' });
  // Without -noreset it begins anew when its last client goes, and drops who connects meanwhile.
  const server = spawn(
    'Xvfb',
    [
      '-noreset',
      '-displayfd',
      '3',
      '-screen',
      '0',
      '320x240x8',
      '-nolisten',
      'tcp',
      '-auth',
      authority,
    ],
    { stdio: ['ignore', 'ignore', 'inherit', 'pipe'] },
  );
  // Where no test of a file is chosen its hook `after` does not run: the server neither keeps this
  // process from ending nor outlives it.
  const end = (): void => void server.kill('SIGKILL');
  const forget = whenKilled(end);
  process.once('exit', end);
  server.once('exit', () => {
    forget();
    process.off('exit', end);
  });
  const display = `:${await firstLine(server)}`;
  server.unref();
  (server.stdio[3] as Socket).unref();
  execFileSync('xauth', ['-f', authority, 'add', display, '.', COOKIE], { stdio: 'pipe' });
  const environment = { DISPLAY: display, XAUTHORITY: authority };
  const run = (...args: string[]): void => {
    execFileSync('xdotool', args, { env: { ...process.env, ...environment }, stdio: 'pipe' });
  };
  return {
    display,
    environment,
    press: () => run('key', 'a'),
    moveMouse: () => run('mousemove_relative', '3', '4'),
    stop: () => stop(server),
  };
}

function firstLine(server: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = '';
    server.once('error', reject);
    server.once('exit', (code) => reject(new Error(`Xvfb ended with ${code}`)));
    server.stdio[3]?.on('data', (piece: Buffer) => {
      text += piece.toString();
      if (text.includes('\n')) resolve(text.trim());
    });
  });
}

function stop(server: ChildProcess): Promise<void> {
  if (server.exitCode !== null || server.signalCode !== null) return Promise.resolve();
  return new Promise((resolve) => {
    server.once('exit', () => resolve());
    server.kill('SIGTERM');
  });
}
