// Reading the configuration again while the head runs: all of it is right, or nothing changes.

import type { ReloadReply } from '../kernel/api/partitions.ts';
import { err, ok, type Result } from '../kernel/base/result.ts';
import { compareWritten, writtenOf } from '../kernel/config/compare.ts';
import { loadConfig } from '../kernel/config/config.ts';
import { liveOptions } from '../kernel/config/head-options.ts';
import { optionsOf } from '../kernel/config/part.ts';
import { schemaOf } from '../kernel/config/schema.ts';
import type { Head } from '../kernel/head/head.ts';
import { type Refusal, refuse } from '../kernel/model/errors.ts';
import { Failure } from '../kernel/model/failure.ts';
import type { Log } from '../kernel/ports/log.ts';
import { WINGS } from '../wings.ts';
import type { HeadOptions } from './head-options.ts';
import type { HeadWings } from './head-wings.ts';

export type Reload = () => Promise<Result<ReloadReply, Refusal>>;

/** The same file, flags and environment as at the start. */
export function reloadOf(
  { config: origin }: HeadOptions,
  { head, wings }: { readonly head: Head; readonly wings: Pick<HeadWings, 'reread'> },
  log: Log,
): Reload {
  let before = origin.written;
  return async () => {
    try {
      const { file, directory } = origin;
      const flags = new Map(origin.flags);
      const sources = { flags, environment: process.env, file, directory, wings: WINGS };
      const config = await loadConfig(sources);
      const { settings, heartbeatMs } = liveOptions(config, await optionsOf(WINGS));
      const apply = wings.reread(config);
      const after = writtenOf(config);
      const { changed, afterRestart } = compareWritten(
        { before, after },
        (await schemaOf(WINGS)).atStart,
      );
      head.change({ settings, heartbeatMs });
      apply();
      // What waits for a restart is told again at the next reload.
      const kept = afterRestart.map((change) => [change.key, change.before ?? ''] as const);
      before = { ...after, ...Object.fromEntries(kept) };
      log.info({ file: config.file, changed, afterRestart }, 'the new configuration is in force');
      return ok({ file: config.file, changed, afterRestart });
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      log.warn(
        { what: error.message },
        'the new configuration was refused; the old one stays in force',
      );
      const hint = 'Correct the file and reload again; docs/config.md lists all keys.';
      return err(refuse('config.not_taken', { what: error.message }, hint));
    }
  };
}

/** SIGHUP asks for it as well, as of other daemons. The returned function ends that. */
export function reloadOnHangUp(reload: Reload, log: Log): () => void {
  const onHangUp = (): void => {
    reload().catch((error: unknown) => log.error({ error }, 'the configuration could not be read'));
  };
  process.on('SIGHUP', onHangUp);
  return () => process.off('SIGHUP', onHangUp);
}
