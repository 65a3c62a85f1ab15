// Docker and podman of a test's own as the nodes of one machine find them: by a folder on their
// PATH.

import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Kind, type OwnEngine, startDocker, startPodman } from './container-engines.ts';

const WHERE = ['DOCKER_HOST', 'DOCKER_CONFIG', 'CONTAINERS_CONF', 'CONTAINERS_STORAGE_CONF'];

export interface EnginesOnPath {
  readonly engines: Readonly<Record<Kind, OwnEngine>>;
  /** A folder with a program for each, which becomes the engine. */
  readonly folder: string;
  close(): Promise<void>;
}

export async function startEngines(directory: string): Promise<EnginesOnPath> {
  const folder = join(directory, 'bin');
  mkdirSync(folder, { recursive: true });
  const docker = await startDocker(join(directory, 'docker'));
  const engines = { docker, podman: startPodman(join(directory, 'podman')) };
  for (const { kind, env } of Object.values(engines)) {
    const known = WHERE.filter((name) => env[name] !== undefined);
    const lines = known.map((name) => `export ${name}='${env[name]}'`);
    const program = execFileSync('sh', ['-c', `command -v ${kind}`], { encoding: 'utf8' }).trim();
    const file = join(folder, kind);
    writeFileSync(file, `#!/bin/sh\n${lines.join('\n')}\nexec ${program} "$@"\n`);
    chmodSync(file, 0o755);
  }
  const close = async (): Promise<void> => {
    await Promise.all(Object.values(engines).map((engine) => engine.close()));
  };
  return { engines, folder, close };
}
