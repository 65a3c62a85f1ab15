// Where the head is: a URL, or the unix socket of a cluster on this machine.

import { existsSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { quoteWord } from '../base/shell-word.ts';
import type { Environment } from '../config/config.ts';
import { fileProblem } from '../config/file-problem.ts';
import { homeOf } from '../config/home.ts';
import { Failure, usage } from '../model/failure.ts';
import { type ClientFile, readClientFile } from './client-file.ts';

/** Where a multi-user head listens for the users of its machine. */
export const SYSTEM_SOCKET = '/run/weft/weft.sock';
/** sun_path of unix(7) has 108 bytes with the final NUL; the head may add a suffix for a lock. */
const SOCKET_PATH_MAX = 100;

/** Flags that every verb takes. */
export interface LocateOptions {
  readonly dir?: string;
  readonly head?: string;
  readonly fingerprint?: string;
  readonly tokenFile?: string;
}

export type Location =
  | { readonly kind: 'socket'; readonly path: string }
  | {
      readonly kind: 'url';
      readonly url: URL;
      /** SHA-256 of the certificate, hex; null = the machine's authorities decide. */
      readonly fingerprint: string | null;
      readonly token: string | null;
      /** The file that the token is from. */
      readonly tokenFile?: string;
    };

/** `--dir`, WEFT_DIR, or `weft` in the user's state directory. */
export function stateDirectory(options: LocateOptions, environment: Environment): string {
  if (options.dir === '') throw usage('--dir: the name of the directory is empty');
  const named = options.dir ?? environment['WEFT_DIR'];
  return named ? path.resolve(named) : usualDirectory(environment);
}

function usualDirectory(environment: Environment): string {
  return path.join(environment['XDG_STATE_HOME'] || usualState(environment), 'weft');
}

function usualState(environment: Environment): string {
  const home = homeOf(environment);
  if (home !== null) return path.join(home, '.local', 'state');
  const uid = process.getuid?.();
  throw usage(
    `HOME is not set, and uid ${uid} has no account on this machine`,
    'Set HOME to a directory of yours, or name one for the cluster with WEFT_DIR.',
  );
}

/**
 * What programs on this machine need to be told to find the head with this socket and directory;
 * null: they find it without, or not by a directory. Usual is a directory in the home that HOME
 * names and in that of the account, which a job with a clean environment has.
 */
export function headDirectoryOf(
  { socket, directory }: { readonly socket: string | null; readonly directory: string },
  environment: Environment,
  accountHome: string,
): string | null {
  const homes = [homeOf(environment), accountHome];
  const isUsual = homes.every((home) => directory === path.join(home ?? '', '.local/state/weft'));
  return isUsual || socket !== socketIn(directory) ? null : directory;
}

/** Loaded here, because hardly any command comes this way. */
const nodeOs = () => process.getBuiltinModule('node:os');

/**
 * The option that names this directory in a command to type next; none where it is the usual one.
 * A directory of WEFT_DIR is named too: a head without the option may serve the whole machine, on a
 * socket outside the directory, where commands with WEFT_DIR do not look.
 */
export function directoryOption(directory: string, environment: Environment): string {
  return directory === usualDirectory(environment) ? '' : ` --dir ${quoteWord(directory)}`;
}

/** The socket of the cluster in a directory; elsewhere when that path is too long for one. */
export function socketIn(directory: string): string {
  const inside = path.join(directory, 'weft.sock');
  if (Buffer.byteLength(inside) <= SOCKET_PATH_MAX) return inside;
  // Loaded here, because hardly any command comes this way.
  const { createHash } = process.getBuiltinModule('node:crypto');
  const hash = createHash('sha256').update(inside).digest('hex').slice(0, 16);
  return path.join(nodeOs().tmpdir(), `weft-${hash}.sock`);
}

/** Flags first, then the environment, then the sockets of this machine, then `client.yaml`. */
export function locateHead(options: LocateOptions, environment: Environment): Location {
  const url = options.head ?? (options.dir === undefined ? environment['WEFT_HEAD'] : undefined);
  if (url) return urlLocation(url, options, environment);
  const named = options.dir === undefined ? environment['WEFT_SOCKET'] : undefined;
  if (named) return { kind: 'socket', path: named };
  const own = socketIn(stateDirectory(options, environment));
  const asked = options.dir !== undefined || Boolean(environment['WEFT_DIR']);
  if (asked || existsSync(own)) return { kind: 'socket', path: own };
  // The head of this machine knows its users without a token.
  if (existsSync(SYSTEM_SOCKET)) return { kind: 'socket', path: SYSTEM_SOCKET };
  const told = readClientFile(environment);
  if (told?.socket !== undefined) return { kind: 'socket', path: told.socket };
  if (told?.head !== undefined) return urlLocation(told.head, options, environment, told);
  // Its folder alone is there while the head restarts.
  const isSystem = existsSync(path.dirname(SYSTEM_SOCKET));
  return { kind: 'socket', path: isSystem ? SYSTEM_SOCKET : own };
}

function urlLocation(
  text: string,
  options: LocateOptions,
  environment: Environment,
  told?: ClientFile,
): Location {
  const url = parseHead(text);
  if (url === null) {
    throw usage(`'${text}' is not the address of a head; write https://host:5001`);
  }
  // Variables that are set to nothing say nothing.
  const pinned = options.fingerprint ?? (environment['WEFT_FINGERPRINT'] || undefined);
  const own = readToken(options, environment);
  const known = told ?? (own === null ? toldOf(url, pinned, environment) : {});
  const found = own ?? tokenOf(known, environment);
  return {
    kind: 'url',
    url,
    fingerprint: pinned ?? known.fingerprint ?? null,
    token: found?.token ?? null,
    ...(found?.file === undefined ? {} : { tokenFile: found.file }),
  };
}

/** An address with the port that counts where none is written; null: it is none of a head. */
export function parseHead(text: string): URL | null {
  const full = text.includes('://') ? text : `https://${text}`;
  const url = URL.parse(full);
  if (url === null || url.protocol !== 'https:') return null;
  if (url.port === '' && !/:\d+\/?$/.test(full)) url.port = '5001';
  return url;
}

/**
 * The fingerprint and token that `client.yaml` has for the head at this address. Empty where it
 * names another head or another certificate: the token would go to whoever has that.
 */
function toldOf(url: URL, pinned: string | undefined, environment: Environment): ClientFile {
  const told = readClientFile(environment);
  if (told?.head === undefined || parseHead(told.head)?.origin !== url.origin) return {};
  const isSame = pinned === undefined || plainPin(pinned) === plainPin(told.fingerprint ?? '');
  return isSame ? told : {};
}

const plainPin = (pin: string): string => pin.replaceAll(':', '').toLowerCase();

interface FoundToken {
  readonly token: string;
  readonly file?: string;
}

/** Null where the user has none yet: not everybody of a machine does. */
function tokenOf({ token_file: named }: ClientFile, environment: Environment): FoundToken | null {
  const home = homeOf(environment) ?? '/';
  const file = named?.replace(/^~(?=\/)/, home);
  return file === undefined || isAbsent(file) ? null : readTokenFile(file, 'token_file');
}

/** False for one that is there and cannot be reached, as in the home of somebody else. */
function isAbsent(file: string): boolean {
  try {
    statSync(file);
    return false;
  } catch (error) {
    return ['ENOENT', 'ENOTDIR'].includes((error as NodeJS.ErrnoException).code ?? '');
  }
}

function readTokenFile(file: string, what: string): FoundToken {
  try {
    return { token: tokenIn(readFileSync(file, 'utf8'), file), file };
  } catch (cause) {
    if (cause instanceof Failure) throw cause;
    throw usage(`${what}: cannot read ${file}: ${fileProblem(cause)}`);
  }
}

/** A warning that others of the machine may read the token's file; null: they may not. */
export function exposedToken(location: Location): string | null {
  const file = location.kind === 'url' ? location.tokenFile : undefined;
  if (file === undefined) return null;
  const { mode, uid, isFile } = lookAt(file);
  // Only the owner can mend the mode: ssh, too, looks at files of one's own alone.
  if (!isFile || uid !== process.getuid?.() || (mode & 0o066) === 0) return null;
  const bits = (mode & 0o777).toString(8).padStart(4, '0');
  return `others may read or change ${file}, which has your token (mode ${bits}): chmod 600 ${quoteWord(file)}`;
}

function lookAt(file: string) {
  const found = statSync(file, { throwIfNoEntry: false });
  return { mode: found?.mode ?? 0, uid: found?.uid, isFile: found?.isFile() ?? false };
}

// Never as a flag: everybody on a machine can read everybody's arguments.
function readToken(options: LocateOptions, environment: Environment): FoundToken | null {
  const file = options.tokenFile ?? (environment['WEFT_TOKEN_FILE'] || undefined);
  if (file !== undefined) return readTokenFile(file, '--token-file');
  const text = environment['WEFT_TOKEN'];
  return text ? { token: tokenIn(text, 'WEFT_TOKEN') } : null;
}

/** What goes into a header as it is. The text itself is a secret: nothing of it is told. */
function tokenIn(text: string, from: string): string {
  const token = text.trim();
  if (/^[\x21-\x7e]*$/.test(token)) return token;
  const what = `${from} holds no token: it has ${token.includes('\n') ? 'several lines' : 'blanks or other characters that no token has'}`;
  throw usage(
    what,
    'Expected the one word that begins with wt_, as `weft token create` prints it.',
  );
}
