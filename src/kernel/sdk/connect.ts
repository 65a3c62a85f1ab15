// The entrance of the library: finds the head as the command line does, and says who this program
// is.

import { exposedToken, type Location, locateHead } from '../connect/locate.ts';
import type { Duration } from '../model/options/types.ts';
import { Cluster } from './cluster.ts';
import { asWeftError, wrongArgument } from './errors.ts';
import { checkOptions, type KnownOptions } from './known-options.ts';
import { HeadConnection } from './line.ts';
import { dropUndefined, durationMs } from './submission.ts';

/** Where the head is and who this program is. Everything is optional. */
export interface ConnectOptions {
  /** Address of a head: `https://head.example:5001`. Default: the variable WEFT_HEAD. */
  readonly head?: string;
  /**
   * SHA-256 of its certificate in hex, where no authority vouches for it. Default:
   * WEFT_FINGERPRINT.
   */
  readonly fingerprint?: string;
  /** A token of a user, for `head`. Default: WEFT_TOKEN, or the file that WEFT_TOKEN_FILE names. */
  readonly token?: string;
  /** Unix socket of a head on this machine. Default: WEFT_SOCKET. */
  readonly socket?: string;
  /**
   * State directory of a cluster of `weft up`. Default: WEFT_DIR, else the usual one of this user,
   * else the head that serves all users of this machine.
   */
  readonly directory?: string;
  /** Longest time that the head may take for one answer; 0: any. Default: 30 s. */
  readonly timeout?: Duration;
  /**
   * How long calls go on trying while the head is away, as when it restarts. Default: 2 minutes.
   */
  readonly patience?: Duration;
  /** Instead of this program's variables. */
  readonly environment?: Readonly<Record<string, string | undefined>>;
}

const CONNECT_OPTIONS: KnownOptions<ConnectOptions> = {
  head: true,
  fingerprint: true,
  token: true,
  socket: true,
  directory: true,
  timeout: true,
  patience: true,
  environment: true,
};

const TIMEOUT_MS = 30_000;
/** A head that restarts is back within seconds; a line that works again may take longer. */
const PATIENCE_MS = 120_000;

/**
 * Connects to a cluster: to the one that the options name, else to the one that `weft` commands
 * would use here.
 *
 * ```ts
 * await using cluster = await connect();
 * ```
 *
 * Throws `WeftError`: `head.unreachable` when nothing answers there, `auth.required` when the head
 * wants a token, `argument.invalid` when an option is wrong.
 */
export async function connect(options: ConnectOptions = {}): Promise<Cluster> {
  checkOptions('connect', options, CONNECT_OPTIONS);
  const environment = options.environment ?? process.env;
  const timeoutMs = durationMs('timeout', options.timeout ?? TIMEOUT_MS);
  const patienceMs = durationMs('patience', options.patience ?? PATIENCE_MS);
  const location = locate(options, environment);
  // Who has said how long to be patient means it; else a job is waited for as long as it takes.
  const waitPatienceMs = options.patience === undefined ? Number.POSITIVE_INFINITY : patienceMs;
  const line = new HeadConnection({ location, environment, timeoutMs, patienceMs, waitPatienceMs });
  try {
    const { name } = await line.call('whoami');
    return new Cluster(line, name);
  } catch (error) {
    line.close();
    throw error;
  }
}

function locate(
  { head, fingerprint, token, socket, directory }: ConnectOptions,
  environment: Readonly<Record<string, string | undefined>>,
): Location {
  if (socket !== undefined && head !== undefined) {
    throw wrongArgument('head and socket name two places; give one of them');
  }
  if (socket !== undefined) return { kind: 'socket', path: socket };
  try {
    const found = locateHead(dropUndefined({ dir: directory, head, fingerprint }), environment);
    if (found.kind === 'url') {
      if (token !== undefined) return { ...found, token };
      const exposed = exposedToken(found);
      if (exposed !== null) process.emitWarning(exposed, 'WeftWarning');
      return found;
    }
    if (token === undefined) return found;
    throw wrongArgument('token: it is for a head with an address; its socket says who you are');
  } catch (error) {
    throw asWeftError(error);
  }
}
