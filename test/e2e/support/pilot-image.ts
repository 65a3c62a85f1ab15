// The image of examples/pilots, built without a network: what it is made of comes from this
// machine.

import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, realpathSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { DockerDaemon } from './docker-daemon.ts';
import { makeBaseFolder } from './docker-image.ts';
import { repository } from './local-cluster.ts';

/** `directory` is empty, and becomes its own. */
export async function buildPilotImage(
  daemon: DockerDaemon,
  directory: string,
  name: string,
): Promise<void> {
  const base = join(directory, 'base');
  makeBaseFolder(base);
  addNpm(base);
  await daemon.importFolder(base, 'weft-base');
  const context = join(directory, 'context');
  mkdirSync(context);
  packWhole(directory, context);
  await daemon.run('docker', [
    ...['build', '--network', 'none', '--build-arg', 'BASE=weft-base', '-t', name],
    ...['-f', join(repository, 'examples/pilots/Dockerfile'), context],
  ]);
}

function addNpm(root: string): void {
  const found = execFileSync('sh', ['-c', 'command -v npm'], { encoding: 'utf8' }).trim();
  const folder = dirname(dirname(realpathSync(found)));
  cpSync(folder, join(root, 'usr/local/lib/node_modules/npm'), { recursive: true });
  const program = '../lib/node_modules/npm/bin/npm-cli.js';
  symlinkSync(program, join(root, 'usr/local/bin/npm'));
  writeFileSync(join(root, 'root/.npmrc'), 'offline=true\n');
}

/** What `npm pack` makes, with the packages in it that npm would have fetched. */
function packWhole(directory: string, target: string): void {
  const run = (file: string, ...args: string[]): string =>
    execFileSync(file, args, {
      cwd: repository,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    });
  // Builds first: `prepack`.
  run('npm', 'pack', '--pack-destination', directory);
  const manifest = join(directory, 'package/package.json');
  const { version } = JSON.parse(readFileSync(join(repository, 'package.json'), 'utf8'));
  const archive = `weft-${version}.tgz`;
  run('tar', '-xzf', join(directory, archive), '-C', directory);
  const places = runtimePackages();
  for (const place of places) {
    cpSync(join(repository, place), join(directory, 'package', place), { recursive: true });
  }
  const bundleDependencies = places.map((place) => place.slice('node_modules/'.length));
  const own = JSON.parse(readFileSync(manifest, 'utf8'));
  writeFileSync(manifest, JSON.stringify({ ...own, bundleDependencies }));
  run('tar', '-czf', join(target, archive), '-C', directory, 'package');
}

/** Folders of the packages that Weft needs where it runs, as the lockfile has them. */
function runtimePackages(): string[] {
  const text = readFileSync(join(repository, 'package-lock.json'), 'utf8');
  const { packages } = JSON.parse(text) as { packages: Record<string, Record<string, unknown>> };
  const isElsewhere = ['dev', 'optional', 'devOptional', 'peer'];
  return Object.entries(packages).flatMap(([place, about]) =>
    place === '' || isElsewhere.some((word) => about[word] === true) ? [] : [place],
  );
}
