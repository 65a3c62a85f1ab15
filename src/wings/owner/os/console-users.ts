// Who is logged in at this machine's own screen and keyboard, as logind's files and who(1) tell it.
// Either may be missing; both are asked.

import { readdirSync, readFileSync } from 'node:fs';
import type { Commands } from '../../../kernel/ports/commands.ts';
import type { ProvenUser } from '../../../kernel/ports/proofs.ts';

const SESSIONS = '/run/systemd/sessions';
/** Virtual consoles, serial ones of machines without a screen, and the first X display. */
const CONSOLE_LINE = /^(tty(S|AMA)?\d+|hvc\d+|console|:0(\.\d+)?)$/;
const WHO = { argv: ['who'], timeoutMs: 5000, keep: { part: 'first', length: 65_536 } } as const;

export function atConsole(commands: Commands): (user: ProvenUser) => Promise<boolean> {
  return async ({ name, uid }) => {
    if (readSessions().some((text) => isSeatOf(text, uid))) return true;
    const { output } = await commands.run(WHO);
    return consoleNames(output).has(name);
  };
}

/** One file of logind's: whether the user of it is at a seat, and there now. */
export function isSeatOf(session: string, uid: number): boolean {
  const field = (name: string): string | undefined =>
    session.match(new RegExp(`^${name}=(.*)$`, 'm'))?.[1];
  const isHere = field('REMOTE') !== '1' && Boolean(field('SEAT'));
  return isHere && field('UID') === String(uid) && field('STATE') !== 'closing';
}

/** Names in the output of who(1) whose terminal is the machine's own. */
export function consoleNames(output: string): Set<string> {
  const names = new Set<string>();
  for (const line of output.split('\n')) {
    const [name, terminal] = line.split(/\s+/);
    if (name && terminal !== undefined && CONSOLE_LINE.test(terminal)) names.add(name);
  }
  return names;
}

/** None where there is no logind. */
function readSessions(): string[] {
  try {
    const files = readdirSync(SESSIONS).filter((name) => !name.includes('.'));
    return files.map((name) => readFileSync(`${SESSIONS}/${name}`, 'utf8'));
  } catch {
    return []; // A session may also end between the two looks: who(1) is asked as well.
  }
}
