// A cluster made by the compose files, and what its users and its operator do with it.

import { join } from 'node:path';
import { ROOT } from '../../../tools/tree.ts';
import type { DockerDaemon, Ran } from './docker-daemon.ts';
import { until } from './hosts.ts';

export interface ProjectOptions {
  /** Names the project's containers, networks and volumes. */
  readonly name: string;
  /** In `deploy/`, laid over each other in this order. */
  readonly files: readonly string[];
  /** What an operator would set in the shell. */
  readonly variables: Readonly<Record<string, string>>;
}

/** A node in the API's form; only what the tests read. */
export interface NodeShown {
  readonly name: string;
  readonly state: string;
  readonly facts: { readonly limits: string; readonly launcher: string } | null;
  readonly running: readonly unknown[];
}

export class DockerProject {
  readonly #daemon: DockerDaemon;
  readonly #options: ProjectOptions;

  constructor(daemon: DockerDaemon, options: ProjectOptions) {
    this.#daemon = daemon;
    this.#options = options;
  }

  /** Rejects with what the containers wrote when the nodes do not come up. */
  async up(nodeCount: number): Promise<void> {
    await this.compose('up', '-d', '--scale', `node=${nodeCount}`);
    await this.#mustComeUp(nodeCount);
  }

  /** The same by the Makefile; `variables` as an operator writes them behind `make run`. */
  async makeRun(nodeCount: number, ...variables: string[]): Promise<void> {
    await this.make('run', `NODES=${nodeCount}`, ...variables);
    await this.#mustComeUp(nodeCount);
  }

  async #mustComeUp(nodeCount: number): Promise<void> {
    try {
      await this.nodesBecome(`${nodeCount} nodes are up`, areUp(nodeCount));
    } catch (error) {
      throw new Error(`${String(error)}\n${await this.logs()}`);
    }
  }

  /** Removes containers, networks and volumes. */
  async down(): Promise<void> {
    await this.compose('down', '--volumes', '--timeout', '2');
  }

  compose(...args: string[]): Promise<string> {
    const { name, files, variables } = this.#options;
    const named = files.flatMap((file) => ['-f', join(ROOT, 'deploy', file)]);
    const all = ['-p', name, ...named, ...args];
    return this.#daemon.run('docker-compose', all, { env: variables });
  }

  /** Runs a target of `deploy/Makefile` on this project. */
  make(...args: string[]): Promise<string> {
    const { name, files, variables } = this.#options;
    const env = { ...variables, COMPOSE_PROJECT_NAME: name, COMPOSE_FILES: files.join(' ') };
    return this.#daemon.run('make', ['--no-print-directory', '-C', join(ROOT, 'deploy'), ...args], {
      env,
    });
  }

  /** The full name of the only, or of this, container of a service. */
  container(service: string, index = 1): string {
    return `${this.#options.name}_${service}_${index}`;
  }

  /** Runs a command as a user on the head, in that user's home directory. */
  as(user: string, ...command: string[]): Promise<Ran> {
    const place = ['-u', user, '-w', user === 'root' ? '/root' : `/home/${user}`];
    return this.#daemon.try('docker', ['exec', ...place, this.container('head'), ...command]);
  }

  /** The same, and it must exit with 0. */
  async mustAs(user: string, ...command: string[]): Promise<string> {
    const { code, stdout, stderr } = await this.as(user, ...command);
    if (code === 0) return stdout;
    throw new Error(`${command.join(' ')} exited with ${code}\n${stdout}${stderr}`);
  }

  async nodes(): Promise<NodeShown[]> {
    const text = await this.compose('exec', '-T', 'head', 'weft', 'node', 'list', '-o', 'json');
    return JSON.parse(text) as NodeShown[];
  }

  nodesUp(count: number): Promise<void> {
    return this.nodesBecome(`${count} nodes are up`, areUp(count));
  }

  async nodesBecome(what: string, isSo: (nodes: NodeShown[]) => boolean): Promise<void> {
    const look = async () => {
      const { code, stdout } = await this.as('root', 'weft', 'node', 'list', '-o', 'json');
      // Right after its start the head does not answer yet.
      return code === 0 && isSo(JSON.parse(stdout) as NodeShown[]) ? true : undefined;
    };
    await until(what, look);
  }

  /** What all containers wrote, for the message of a failed test. */
  logs(): Promise<string> {
    return this.compose('logs', '--no-color', '--tail', '20');
  }
}

function areUp(count: number): (nodes: NodeShown[]) => boolean {
  return (nodes) => nodes.filter((node) => node.state === 'up').length === count;
}
