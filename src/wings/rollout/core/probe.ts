// What a machine says of itself before anything is done to it. The script is POSIX sh; what shells
// of users print at login is passed over.

import { err, ok, type Result } from '../../../kernel/base/result.ts';

export interface Probe {
  readonly host: string;
  /** What `uname -s` and `uname -m` say. */
  readonly system: string;
  readonly machine: string;
  readonly libc: 'glibc' | 'other';
  readonly rights: 'root' | 'sudo' | 'none';
  readonly hasSystemd: boolean;
  /** Free where programs go, of root and of the user. */
  readonly freeBytes: number;
  /** The release that an earlier run has put there; null: none has. */
  readonly release: string | null;
  /** SHA-256 of the Node.js that came with it; null: none did, or one before it was noted. */
  readonly nodejs: string | null;
  /** What it is a member of: the head's fingerprint, and its name there; null: of nothing. */
  readonly member: { readonly fingerprint: string; readonly name: string } | null;
  /**
   * The machine whose node lies there: another one where both have the same home. Null: none, or
   * one of a release that did not say so.
   */
  readonly owner: string | null;
  /** The release with which its agent was started last; null: none was. */
  readonly started: string | null;
  readonly isRunning: boolean;
}

const MARK = 'weft-says';

/** Standard output of this is for `parseProbe`. */
const SCRIPT = `
say() { printf '${MARK} %s %s\\n' "$1" "$2"; }
say host "$(uname -n)"
say system "$(uname -s)"
say machine "$(uname -m)"
if ldd --version 2>&1 | head -n 1 | grep -qi -e glibc -e 'gnu libc'; then say libc glibc; else say libc other; fi
if [ "$forced" = none ]; then rights=none
elif [ "$(id -u)" = 0 ]; then rights=root
elif sudo -n true 2>/dev/null; then rights=sudo
else rights=none; fi
say rights "$rights"
if [ -d /run/systemd/system ]; then say systemd yes; else say systemd no; fi
for try in sudo none; do
  case $rights,$try in
    none,none) programs=$HOME/.local/share/weft; state=$HOME/.local/state/weft-node; as=;;
    root,sudo) programs=/opt/weft; state=/var/lib/weft/node; as=;;
    sudo,sudo) programs=/opt/weft; state=/var/lib/weft/node; as='sudo -n';;
    *) continue;;
  esac
  near=$programs
  while [ ! -d "$near" ]; do near=$(dirname "$near"); done
  say free "$(df -Pk "$near" | awk 'NR == 2 { print $4 }')"
  say release "$($as cat "$programs/release" 2>/dev/null)"
  if [ -x "$programs/now/node" ]; then say nodejs "$($as cat "$programs/now/node.sha256" 2>/dev/null)"; fi
  member=$($as cat "$state/membership.json" 2>/dev/null | tr -d ' \\n')
  say fingerprint "$(printf %s "$member" | sed -n 's/.*"fingerprint":"\\([0-9a-f]*\\)".*/\\1/p')"
  say name "$(printf %s "$member" | sed -n 's/.*"name":"\\([A-Za-z0-9._-]*\\)".*/\\1/p')"
  say owner "$($as cat "$state/machine" 2>/dev/null)"
  say started "$($as cat "$state/started" 2>/dev/null)"
  pid=$($as cat "$state/rollout.pid" 2>/dev/null)
  case "$(tr '\\0' ' ' < "/proc/\${pid:-none}/cmdline" 2>/dev/null)" in *" agent --dir $state "*) is=yes;; *) is=no;; esac
  if [ $is = yes ]; then say running yes
  elif [ "$rights" != none ] && systemctl is-active --quiet weft-agent 2>/dev/null; then say running yes
  else say running no; fi
done
say end here
`;

/** `withoutRoot`: nothing is to be done as root there, also where that would go. */
export function probeScript({ withoutRoot }: { readonly withoutRoot: boolean }): string {
  return `forced=${withoutRoot ? 'none' : 'no'}\n${SCRIPT}`;
}

export function parseProbe(output: string): Result<Probe, string> {
  const said = new Map<string, string>();
  for (const line of output.split('\n')) {
    const [mark, key = '', ...words] = line.split(' ');
    if (mark === MARK) said.set(key, words.join(' ').trim());
  }
  const { host = '', system = '', machine = '', free = '' } = Object.fromEntries(said);
  if (said.get('end') !== 'here' || host === '') return err('it did not say what it is');
  const rights = said.get('rights');
  const [fingerprint = '', name = ''] = [said.get('fingerprint'), said.get('name')];
  return ok({
    host,
    system,
    machine,
    libc: said.get('libc') === 'glibc' ? 'glibc' : 'other',
    rights: rights === 'root' || rights === 'sudo' ? rights : 'none',
    hasSystemd: said.get('systemd') === 'yes',
    freeBytes: Number(free) * 1024 || 0,
    release: said.get('release') || null,
    nodejs: said.get('nodejs') || null,
    member: fingerprint === '' ? null : { fingerprint, name },
    owner: said.get('owner') || null,
    started: said.get('started') || null,
    isRunning: said.get('running') === 'yes',
  });
}
