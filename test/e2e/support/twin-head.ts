// A second head that runs beside the one of a hosted cluster, from a copy of its folder as it was
// at one instant. Nodes speak to the first unless a test moves them.

import { execFileSync } from 'node:child_process';
import { existsSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { HeadOptions } from '../../../src/kernel/config/daemon-options.ts';
import { daemonScript } from '../../support/daemon-script.ts';
import { connectLocally, type LocalClient } from '../../support/local-client.ts';
import type { HostedCluster, Member } from './hosted-cluster.ts';
import { until } from './hosts.ts';

const PORT = 5001;

export class TwinHead {
  readonly client: LocalClient;
  readonly #cluster: HostedCluster;
  readonly #url: string;
  readonly #fenced: string;

  private constructor(
    cluster: HostedCluster,
    of: { readonly client: LocalClient; readonly url: string; readonly fenced: string },
  ) {
    this.#cluster = cluster;
    this.client = of.client;
    this.#url = of.url;
    this.#fenced = of.fenced;
  }

  /** With a fence command, which leaves a file. */
  static async start(cluster: HostedCluster): Promise<TwinHead> {
    const { directory } = cluster;
    const copy = join(directory, 'twin');
    const { program } = cluster.head;
    process.kill(program.pid, 'SIGSTOP');
    // The one letter after the name, in parentheses.
    const stat = `/proc/${program.pid}/stat`;
    await until('the head stands still', () => readFileSync(stat, 'utf8').includes(') T '));
    execFileSync('cp', ['-a', cluster.headDirectory, copy]);
    program.resume();
    const place = '/var/lib/weft-twin';
    const host = await cluster.lan.addHost('twin', { from: copy, to: place }, ['/tmp']);
    const fenced = join(directory, 'fenced');
    const file = join(directory, 'twin.json');
    const own: Partial<HeadOptions> = {
      directory: place,
      socketPath: join(directory, 'twin.sock'),
      logFile: join(directory, 'twin.log'),
      auditFile: join(directory, 'twin-audit.log'),
      publicNames: [host.address],
      fence: { command: ['touch', fenced], timeoutMs: 5000 },
    };
    const options = JSON.parse(readFileSync(join(directory, 'head.json'), 'utf8')) as HeadOptions;
    writeFileSync(file, JSON.stringify({ ...options, ...own }), { mode: 0o600 });
    const stderr = openSync(join(directory, 'twin.stderr.log'), 'a');
    await host.start(process.execPath, [daemonScript('head'), file], { stderr });
    const client = await until('the twin answers', async () => {
      return (await connectLocally(own.socketPath as string).catch(() => null)) ?? undefined;
    });
    return new TwinHead(cluster, { client, url: `https://${host.address}:${PORT}`, fenced });
  }

  get hasFenced(): boolean {
    return existsSync(this.#fenced);
  }

  /** The agent of a node is started anew, with this head; resolves with what brings it back. */
  async attract(member: Member): Promise<() => Promise<void>> {
    const before = readFileSync(member.optionsFile, 'utf8');
    const options = JSON.parse(before) as { head: object };
    const head = { ...options.head, url: this.#url };
    const startWith = async (text: string): Promise<void> => {
      await this.#cluster.killAgent(member);
      writeFileSync(member.optionsFile, text);
      await this.#cluster.startAgent(member);
    };
    await startWith(JSON.stringify({ ...options, head }));
    return () => startWith(before);
  }

  async close(): Promise<void> {
    this.client.close();
    const host = this.#cluster.lan.hosts.find(({ name }) => name === 'twin');
    await host?.powerOff();
  }
}
