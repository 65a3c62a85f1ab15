// What is to be done to a machine that gets a part in a cluster, by what is there: nothing twice,
// and nothing where it cannot work.

import { err, ok, type Result } from '../../../../kernel/base/result.ts';
import { formatSize } from '../../../../kernel/base/size.ts';

export type Whose = 'machine' | 'user';

/** What is wrong, and the way out. */
export interface Problem {
  readonly what: string;
  readonly remedy: string;
}

/** What a machine is, whatever it is to be. */
export interface MachineSeen {
  /** For all users of the machine, or without root for one of them. */
  readonly whose: Whose;
  readonly isRoot: boolean;
  readonly hasSudo: boolean;
  /** That of the machine, or of the user. */
  readonly hasSystemd: boolean;
  /** Where its state goes, and how much is free there. */
  readonly state: string;
  readonly freeBytes: number;
}

export interface HeadSeen extends MachineSeen {
  /** The user `weft`. */
  readonly hasUser: boolean;
  /** And that user's own: an earlier run may have been cut off in between. */
  readonly hasFolder: boolean;
  readonly hasConfig: boolean;
  /** `weft-head.service`, wherever it came from. */
  readonly hasUnit: boolean;
  readonly lasts: Lasts;
}

/** `isRunning`: and is started by systemd; `lingers`: without a user who is logged in, too. */
interface Lasts {
  readonly isRunning: boolean;
  readonly lingers: boolean;
}

export interface NodeSeen extends MachineSeen {
  /** The cluster that it is a node of; null: none. */
  readonly member: { readonly name: string; readonly fingerprint: string } | null;
  /** Users of the machine find the head: by its socket, or by `client.yaml`. */
  readonly hasClient: boolean;
  readonly hasUnit: boolean;
  readonly lasts: Lasts;
}

export interface Step {
  readonly name: 'user' | 'folder' | 'config' | 'join' | 'client' | 'unit' | 'start' | 'linger';
  readonly words: string;
}

/** For the first records and files beside what is there. */
const SPARE_BYTES = 256 * 1_048_576;

export function planHead(seen: HeadSeen): Result<readonly Step[], Problem> {
  const problem = problemOf(seen, 'head');
  if (problem !== null) return err(problem);
  const { whose, state, hasUser, hasFolder, hasConfig, hasUnit, lasts } = seen;
  const isUsers = whose === 'user';
  return ok(
    lacking([
      [isUsers || hasUser, 'user', 'make the user weft, as whom the head runs'],
      [isUsers || hasFolder, 'folder', `make ${state}, where it keeps everything`],
      [hasConfig, 'config', `write ${state}/weft.yaml`],
      [hasUnit, 'unit', 'install its unit, weft-head.service'],
      ...lasting(whose, lasts, 'it'),
    ]),
  );
}

/** `fingerprint`: of the head that it is to join; null: of whichever it has joined. */
export function planNode(
  seen: NodeSeen,
  fingerprint: string | null,
): Result<readonly Step[], Problem> {
  const problem = problemOf(seen, 'node');
  if (problem !== null) return err(problem);
  const { whose, state, member, hasClient, hasUnit, lasts } = seen;
  if (member !== null && fingerprint !== null && member.fingerprint !== fingerprint) {
    const what = `this machine is node ${member.name} of another cluster`;
    const remedy = `Take it out there first: \`weft node remove ${member.name}\`, and remove ${state} here.`;
    return err({ what, remedy });
  }
  const isMember = member !== null;
  return ok(
    lacking([
      [isMember, 'join', `join the cluster; ${state} keeps the membership`],
      // Joining writes it, too.
      [
        whose === 'user' || hasClient || !isMember,
        'client',
        'tell users of this machine where the head is',
      ],
      [hasUnit, 'unit', 'install its units, weft-agent.service and weft-jobs.service'],
      ...lasting(whose, lasts, 'the agent'),
    ]),
  );
}

type Looked = readonly [isThere: boolean, name: Step['name'], words: string];

function lasting(whose: Whose, { isRunning, lingers }: Lasts, what: string): Looked[] {
  return [
    [
      whose === 'machine' || lingers,
      'linger',
      'let services of yours run while you are logged out',
    ],
    [isRunning, 'start', `start ${what}, now and after each boot`],
  ];
}

const lacking = (steps: readonly Looked[]): Step[] =>
  steps.flatMap(([isThere, name, words]) => (isThere ? [] : [{ name, words }]));

function problemOf(seen: MachineSeen, part: 'head' | 'node'): Problem | null {
  const { whose, isRoot, hasSystemd, state, freeBytes } = seen;
  if (whose === 'machine' && !isRoot) return notRoot(seen, part);
  if (whose === 'user' && isRoot) {
    return NOT_FOR_ROOT;
  }
  if (!hasSystemd) {
    const of = whose === 'user' ? ' for services of yours' : '';
    const remedy = 'docs/install.md has the same by hand; `weft up` needs nothing.';
    return { what: `there is no systemd here${of} to run it`, remedy };
  }
  if (freeBytes >= SPARE_BYTES) return null;
  const what = `${formatSize(freeBytes)} are free where ${state} goes, and ${formatSize(SPARE_BYTES)} are needed`;
  return { what, remedy: 'Make room there, and type the same again.' };
}

const NOT_FOR_ROOT: Problem = {
  what: '--user is for who is not root',
  remedy: 'Type it without.',
};

function notRoot({ hasSudo }: MachineSeen, part: 'head' | 'node'): Problem {
  const how = hasSudo
    ? 'Type it with sudo'
    : 'There is no sudo here: log in as root, or ask who may';
  const remedy = `${how}; for a ${part} of your own jobs alone give --user.`;
  return { what: `a ${part} of a machine is set up by root`, remedy };
}

/** What a machine's users are told of the head already, and by which file. */
export interface ClientSeen {
  readonly file: string;
  readonly head: string | null;
  readonly fingerprint: string | null;
  /** A head of this machine's own answers its users first. */
  readonly hasHead: boolean;
}

/** Whether the file is to be written; an error where it would not be what counts. */
export function planClient(
  { file, head, fingerprint, hasHead }: ClientSeen,
  wanted: { readonly head: string; readonly fingerprint: string | null },
): Result<boolean, Problem> {
  if (hasHead) {
    const what = 'this machine has a head of its own, which its users find first';
    return err({ what, remedy: 'Nothing needs to be set up here.' });
  }
  if (head === null) return ok(true);
  if (head === wanted.head && fingerprint === wanted.fingerprint) return ok(false);
  const what = `${file} names ${head === wanted.head ? 'another certificate' : `another head, ${head}`}`;
  return err({ what, remedy: `Remove it first when that one is gone: rm ${file}` });
}

/** What set-ups and packages have left on a machine. */
export interface LeftSeen extends Pick<MachineSeen, 'whose' | 'isRoot' | 'hasSudo'> {
  readonly units: readonly string[];
  readonly folders: readonly string[];
  /** Files that Weft wrote for users of the machine. */
  readonly files: readonly string[];
  /** The user `weft`. */
  readonly hasUser: boolean;
}

export interface Removal {
  readonly name: 'stop' | 'folders' | 'files' | 'user';
  readonly words: string;
}

/** Empty: nothing of it is there. */
export function planRemoval(seen: LeftSeen): Result<readonly Removal[], Problem> {
  const { whose, isRoot, hasSudo, units, folders, files, hasUser } = seen;
  if (whose === 'user' && isRoot) return err(NOT_FOR_ROOT);
  if (whose === 'machine' && !isRoot) {
    const remedy = hasSudo
      ? 'Type it with sudo; for services of yours give --user.'
      : 'Log in as root.';
    return err({ what: 'services of a machine are removed by root', remedy });
  }
  const stop = `stop ${units.join(', ')}; what runs by them ends`;
  const gone = `remove ${folders.join(', ')}: jobs, history, keys, results that nobody has pulled`;
  return ok([
    ...(units.length > 0 ? [{ name: 'stop', words: stop } as const] : []),
    ...(folders.length > 0 ? [{ name: 'folders', words: gone } as const] : []),
    ...(files.length > 0 ? [{ name: 'files', words: `remove ${files.join(', ')}` } as const] : []),
    ...(hasUser && whose === 'machine'
      ? [{ name: 'user', words: 'remove the user weft' } as const]
      : []),
  ]);
}
