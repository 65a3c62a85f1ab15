// What helpers in the sessions of users tell of their displays (`weft node watch-session`): only a
// program of the session itself is told by the X server when somebody last typed there.

import type { Sign } from '../../../kernel/model/presence.ts';
import type { Now } from '../../../kernel/runner/epoch.ts';

/** How long ago somebody typed there, or why the helper cannot know. */
export interface SessionReport {
  readonly display: string;
  readonly user: string;
  readonly seen: { readonly idleMs: number } | { readonly why: string };
}

/** Helpers report every ten seconds: one that was silent for so long is gone, with its session. */
const FRESH_MS = 60_000;
/** Only owners may report, but they may do it by mistake. */
const DISPLAYS_MAX = 16;

export class SessionReports {
  readonly #heard = new Map<string, { readonly sign: Sign; readonly at: number }>();

  note({ display, user, seen }: SessionReport, now: Now): void {
    const by = `display ${display}`;
    this.#forgetOld(now);
    if (!this.#heard.has(by) && this.#heard.size >= DISPLAYS_MAX) return;
    this.#heard.set(by, { at: now.monotonic, sign: signOf(by, `${display} (${user})`, seen, now) });
  }

  /** In place of what the displays themselves do not tell. */
  laidOver(signs: readonly Sign[], now: Now): Sign[] {
    this.#forgetOld(now);
    const others = signs.filter(({ by }) => !this.#heard.has(by));
    return [...others, ...[...this.#heard.values()].map(({ sign }) => sign)];
  }

  #forgetOld({ monotonic }: Now): void {
    for (const [by, { at }] of this.#heard) if (monotonic - at > FRESH_MS) this.#heard.delete(by);
  }
}

function signOf(by: string, where: string, seen: SessionReport['seen'], now: Now): Sign {
  if ('why' in seen) return { kind: 'blind', by, of: 'input', why: seen.why };
  const { at, monotonic } = now;
  const last = { at: at - seen.idleMs, monotonic: monotonic - seen.idleMs };
  return { kind: 'input', by, what: `keyboard or mouse on ${where}`, last };
}
