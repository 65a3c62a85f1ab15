// The wing in the program of a head.

import { Worker } from 'node:worker_threads';
import { VERSION } from '../../../kernel/cli/version.ts';
import type { HeadPart } from '../../../kernel/head/part.ts';
import { systemClock } from '../../../kernel/os/clock.ts';
import type { HeadProgram } from '../../../kernel/wing.ts';
import { type BackupOptions, backupOptions } from '../config/backup-options.ts';
import { type BackupMaker, Backups, type MadeBackup } from '../head/backups.ts';
import { backupsHead } from '../head/part.ts';
import { headIdentity } from './make-backup.ts';
import type { BackupOrder, LookOrder, Said } from './order.ts';

const LOOK_MS = 30_000;
/** For a head whose options were written before there were backups. */
const NONE: BackupOptions = { to: null, everyMs: 3_600_000, keep: 24, configuration: [] };

export function headOf({ options, log, onReload, onEnd }: HeadProgram): HeadPart {
  const threads = new Threads();
  const { directory, clusterName } = options;
  const plan = options.backup ?? NONE;
  let { configuration, keysFile = null } = plan;
  const maker: BackupMaker = {
    make(order, tell) {
      const about = {
        from: directory,
        cluster: clusterName,
        weft: VERSION,
        configuration,
        keysFile,
      };
      return threads.make({ ...order, ...about }, tell);
    },
    list: (look, whose) =>
      threads.look(
        whose === 'own' ? { look, keysFile, head: headIdentity(directory) } : { look, keysFile },
      ),
  };
  const backups = new Backups(maker, plan, { clock: systemClock, log });
  onReload((config) => {
    const changed = backupOptions(config);
    return () => {
      ({ configuration, keysFile = null } = changed);
      backups.change(changed);
    };
  });
  onEnd(() => threads.end());
  return backupsHead(backups);
}

class Threads {
  readonly #running = new Set<Worker>();

  make(order: BackupOrder, tell: Parameters<BackupMaker['make']>[1]): Promise<MadeBackup> {
    return this.#run(order, null, (said) => {
      if (said.kind === 'progress') tell(said.progress);
      return said.kind === 'made' ? said.made : undefined;
    });
  }

  /** A disk that does not answer holds up nobody else. */
  look(order: LookOrder): Promise<readonly MadeBackup[]> {
    return this.#run(order, LOOK_MS, (said) => {
      if (said.kind !== 'listed') return undefined;
      return said.listed.map((one) => ({ ...one, left: null }));
    });
  }

  #run<T>(
    order: BackupOrder | LookOrder,
    timeoutMs: number | null,
    answer: (said: Said) => T | undefined,
  ): Promise<T> {
    const thread = new Worker(threadUrl(), { workerData: order, name: 'weft-backup' });
    this.#running.add(thread);
    const folder = 'look' in order ? order.look : order.to;
    let timer: NodeJS.Timeout | undefined;
    return new Promise<T>((done, failed) => {
      thread.on('message', (said: Said) => {
        const value = answer(said);
        if (value !== undefined) done(value);
        else if (said.kind === 'failed') failed(new Error(failureTextOf(said, folder)));
      });
      thread.once('error', failed);
      thread.once('exit', () => failed(new Error('it was cut off: the head stopped')));
      if (timeoutMs === null) return;
      timer = setTimeout(() => failed(new Error(`${folder} does not answer`)), timeoutMs);
    }).finally(() => {
      clearTimeout(timer);
      this.#running.delete(thread);
      void thread.terminate();
    });
  }

  /** A head that stops waits for no backup; the next one removes what there is of it. */
  end(): void {
    for (const thread of this.#running) void thread.terminate();
  }
}

function failureTextOf(
  { code, message }: Extract<Said, { kind: 'failed' }>,
  folder: string,
): string {
  if (code === null) return message;
  const advice =
    'the head writes it as its own user: check the folder, its owner and mode, and with systemd ReadWritePaths';
  return `${message.replace(/^E[A-Z]+: /, '')}; ${advice} (${folder})`;
}

/** The compiler rewrites the ends of imports, but not of this name. */
function threadUrl(): URL {
  return new URL(import.meta.url.endsWith('.ts') ? './worker.ts' : './worker.js', import.meta.url);
}
