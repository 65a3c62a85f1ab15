// What a machine says when it is compared with the others: its clock, accounts, directories, and
// how its agent is. The script is POSIX sh; what shells of users print at login is passed over.

import { quoteWord } from '../../../../kernel/base/shell-word.ts';

export interface Account {
  readonly uid: number;
  readonly group: string;
  /** All, by name, in order. */
  readonly groups: readonly string[];
  readonly home: string;
  /** Whose the home is; null: it is not there. */
  readonly homeUid: number | null;
}

export interface Directory {
  /** The same on all machines that have one file system; null: it is not there. */
  readonly inode: string | null;
  /** `nfs`, `ext2/ext3`. */
  readonly kind: string;
}

/** How the node's agent is, and what it can reach. */
export interface AgentLook {
  readonly isRunning: boolean;
  /** `0.1.0`; null: no Weft is found. */
  readonly release: string | null;
  readonly isMember: boolean;
  /** Addresses of the head, and what became of an attempt: `ok`, `ECONNREFUSED`. */
  readonly dialled: readonly { readonly address: string; readonly outcome: string }[];
}

export interface Survey {
  /** Seconds since 1970. */
  readonly clock: number;
  /** Null when it has no such account. */
  readonly accounts: ReadonlyMap<string, Account | null>;
  readonly directories: ReadonlyMap<string, Directory>;
  readonly agent: AgentLook;
}

export interface Wanted {
  readonly users: readonly string[];
  readonly directories: readonly string[];
  /** Whether to try the addresses of the head from there. */
  readonly dials: boolean;
}

const MARK = 'weft-says';
/** A firewall that drops answers to nothing. */
const DIAL_MS = 4000;

/** Tries each address that the node has of its head. Words in sh's single quotes: none is in it. */
const DIAL = `const {url, others = []} = JSON.parse(require("fs").readFileSync(process.argv[1]));
for (const one of [url, ...others].slice(0, 8)) {
  const {hostname, port} = new URL(one.includes("://") ? one : "https://" + one);
  const host = hostname.replace(/^\\[|\\]$/g, "");
  const say = (what) => { console.log(["${MARK}", "dial", hostname + ":" + port, what].join("\\t")); socket.destroy(); };
  const socket = require("net").connect({host, port: Number(port)});
  socket.setTimeout(${DIAL_MS}, () => say("ETIMEDOUT"));
  socket.once("connect", () => say("ok"));
  socket.once("error", (error) => say(error.code));
}`;

/** Standard output of this is for `parseSurvey`. */
export function surveyScript({ users, directories, dials }: Wanted): string {
  return `say() { printf '${MARK}'; for word in "$@"; do printf '\\t%s' "$word"; done; printf '\\n'; }
as=; [ "$(id -u)" = 0 ] || if sudo -n true 2>/dev/null; then as='sudo -n'; fi
for user in ${users.map(quoteWord).join(' ')}; do
  line=$(getent passwd -- "$user") || { say account "$user"; continue; }
  home=$(printf %s "$line" | cut -d: -f6)
  say account "$user" "$(printf %s "$line" | cut -d: -f3)" "$(id -gn -- "$user")" "$(id -Gn -- "$user")" \\
    "$home" "$($as stat -Lc %u -- "$home" 2>/dev/null)"
done
for directory in ${directories.map(quoteWord).join(' ')}; do
  say directory "$directory" "$($as stat -Lc %i -- "$directory" 2>/dev/null)" \\
    "$($as stat -Lf -c %T -- "$directory" 2>/dev/null)"
done
running=no
for process in /proc/[0-9]*; do
  case "$(tr '\\0' ' ' < "$process/cmdline" 2>/dev/null)" in *weft*" agent "*) running=yes;; esac
done
say running "$running"
for programs in /opt/weft/now "$HOME/.local/share/weft/now" /usr; do
  case $programs in /usr) weft=weft;; *) weft=$programs/weft;; esac
  release=$("$weft" --version 2>/dev/null) && { say release "$release"; break; }
done
for state in /var/lib/weft/node "$HOME/.local/state/weft-node"; do
  $as test -e "$state/membership.json" || continue
  say member yes
  node=$programs/node; [ -x "$node" ] || node=node
  ${dials ? `$as "$node" -e '${DIAL}' "$state/membership.json" 2>/dev/null || true` : ':'}
  break
done
say clock "$(date +%s)"
say end here
`;
}

/** Returns null when it has not answered to the end. */
export function parseSurvey(output: string): Survey | null {
  const lines = output.split('\n').flatMap((line) => {
    const [mark, ...words] = line.split('\t');
    return mark === MARK ? [words] : [];
  });
  const all = (kind: string) => lines.flatMap(([word, ...rest]) => (word === kind ? [rest] : []));
  if (all('end').length === 0) return null;
  return {
    clock: Number(all('clock')[0]?.[0]),
    accounts: new Map(all('account').map(([name = '', ...words]) => [name, accountOf(words)])),
    directories: new Map(
      all('directory').map(([name = '', inode = '', kind = '']) => {
        return [name, { inode: inode === '' ? null : inode, kind }];
      }),
    ),
    agent: {
      isRunning: all('running')[0]?.[0] === 'yes',
      release: /\d+\.\d+\.\d+\S*/.exec(all('release')[0]?.[0] ?? '')?.[0] ?? null,
      isMember: all('member').length > 0,
      dialled: all('dial').map(([address = '', outcome = '']) => ({ address, outcome })),
    },
  };
}

function accountOf([
  uid,
  group = '',
  groups = '',
  home = '',
  owner = '',
]: string[]): Account | null {
  if (uid === undefined || uid === '') return null;
  return {
    uid: Number(uid),
    group,
    groups: groups.split(' ').filter(Boolean).sort(),
    home,
    homeUid: owner === '' ? null : Number(owner),
  };
}
