// The wing in the program of a head.

import { Worker } from 'node:worker_threads';
import { VERSION } from '../../../kernel/cli/version.ts';
import type { HeadPart } from '../../../kernel/head/part.ts';
import { systemClock } from '../../../kernel/os/clock.ts';
import type { HeadProgram } from '../../../kernel/wing.ts';
import { type BackupOptions, backupOptions } from '../config/backup-options.ts';
import { type BackupMaker, Backups, type MadeBackup } from '../head/backups.ts';
import { backupsHead } from '../head/part.ts';
import { readBackups } from '../transfer/read-backups.ts';
import { headIdentity } from './make-backup.ts';
import type { BackupOrder, Said } from './order.ts';

/** For a head whose options were written before there were backups. */
const NONE: BackupOptions = { to: null, everyMs: 3_600_000, keep: 24, configuration: [] };

export function headOf({ options, log, onReload, onEnd }: HeadProgram): HeadPart {
  const threads = new Threads();
  const { directory, clusterName } = options;
  const plan = options.backup ?? NONE;
  let { configuration } = plan;
  const maker: BackupMaker = {
    make(order, tell) {
      const about = { from: directory, cluster: clusterName, weft: VERSION, configuration };
      return threads.run({ ...order, ...about }, tell);
    },
    async list(folder, whose) {
      return readBackups(folder, whose === 'own' ? headIdentity(directory) : undefined);
    },
  };
  const backups = new Backups(maker, plan, { clock: systemClock, log });
  onReload((config) => {
    const changed = backupOptions(config);
    return () => {
      ({ configuration } = changed);
      backups.change(changed);
    };
  });
  onEnd(() => threads.end());
  return backupsHead(backups);
}

class Threads {
  #running: Worker | null = null;

  run(order: BackupOrder, tell: Parameters<BackupMaker['make']>[1]): Promise<MadeBackup> {
    const thread = new Worker(threadUrl(), { workerData: order, name: 'weft-backup' });
    this.#running = thread;
    return new Promise<MadeBackup>((made, failed) => {
      thread.on('message', (said: Said) => {
        if (said.kind === 'progress') tell(said.progress);
        else if (said.kind === 'made') made(said.made);
        else failed(new Error(said.code === null ? said.message : wordsOf(said, order)));
      });
      thread.once('error', failed);
      thread.once('exit', () => failed(new Error('it was cut off: the head stopped')));
    }).finally(() => {
      this.#running = null;
    });
  }

  /** A head that stops does not wait for a backup; the next one removes what there is of it. */
  async end(): Promise<void> {
    await this.#running?.terminate();
  }
}

function wordsOf({ message }: Extract<Said, { kind: 'failed' }>, { to }: BackupOrder): string {
  const advice =
    'the head writes it as its own user: check the folder, its owner and mode, and with systemd ReadWritePaths';
  return `${message.replace(/^E[A-Z]+: /, '')}; ${advice} (${to})`;
}

/** The compiler rewrites the ends of imports, but not of this name. */
function threadUrl(): URL {
  return new URL(import.meta.url.endsWith('.ts') ? './worker.ts' : './worker.js', import.meta.url);
}
