// Outputs that real systems gave (test/recorded), and others in the form that documents give
// (test/documented), as a gateway would hand them to an adaptor.

import { readdirSync, readFileSync } from 'node:fs';
import type { SiteOutput } from '../../../../../src/wings/sites/adaptors/adaptor.ts';

const FOLDER = new URL('../../../../recorded/', import.meta.url);
const DOCUMENTED = new URL('../../../../documented/', import.meta.url);

/** @param name as `slurm/running.squeue-json.txt` */
export function recorded(name: string): SiteOutput {
  return outputIn(new URL(name, FOLDER));
}

/** @param name like `pbs/jobs.txt` */
export function documented(name: string): SiteOutput {
  return outputIn(new URL(name, DOCUMENTED));
}

function outputIn(file: URL): SiteOutput {
  const lines = readFileSync(file, 'utf8').split('\n').slice(1);
  const streams: { stdout: string[]; stderr: string[] } = { stdout: [], stderr: [] };
  let behind: keyof typeof streams = 'stdout';
  let code = 0;
  for (const line of lines) {
    const [, word, rest = ''] = /^# (stderr|rc): ?(.*)$/.exec(line) ?? [];
    const [, exit] = /^--- exit (\d+),/.exec(line) ?? [];
    if (word === 'rc' || exit !== undefined) code = Number(exit ?? rest);
    else if (line === '--- stderr') behind = 'stderr';
    else if (word === 'stderr') streams.stderr.push(rest);
    else streams[behind].push(line);
  }
  const [stdout, stderr] = [streams.stdout.join('\n'), streams.stderr.join('\n')];
  // timeout(1) ends a command that hangs, and says so by this code.
  return { stdout, stderr, code: code === 124 ? null : code };
}

/** Names of a system's records that end so. */
export function recordedNames(system: string, ending: string): string[] {
  const names = readdirSync(new URL(`${system}/`, FOLDER)).sort();
  return names.filter((name) => name.endsWith(ending)).map((name) => `${system}/${name}`);
}
