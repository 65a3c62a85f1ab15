// The web page: who one is, then the pages. `src/pages.tsx` opens it.

import { signal } from '@preact/signals';
import { render } from 'preact';
import { asRetried, HeadError } from './data/client.ts';
import { keepLive } from './data/live.ts';
import { enter, hasLink } from './data/login.ts';
import { me, onStored } from './data/session.ts';
import { Login, loginError } from './pages/login.tsx';
import type { PagePart } from './part.ts';
import { Problem } from './parts/basic.tsx';
import { Shell } from './shell.tsx';

const RETRY_MS = 1000;

/** Why it takes so long. */
const problem = signal<HeadError | null>(null);

function App({ parts }: { parts: readonly PagePart[] }) {
  const who = me.value;
  if (who === undefined) {
    return (
      <div class="opening">
        <p>Opening…</p>
        <Problem error={problem.value} />
      </div>
    );
  }
  return who === null ? <Login /> : <Shell parts={parts} />;
}

async function start(): Promise<void> {
  try {
    await enter();
    problem.value = null;
  } catch (error) {
    if (!(error instanceof HeadError)) throw error;
    if (error.kind === 'unavailable') {
      problem.value = asRetried(error);
      setTimeout(start, RETRY_MS);
      return;
    }
    loginError.value = error;
    me.value = null;
  }
}

/** Shows it, with what wings add. */
export function openPage(parts: readonly PagePart[]): void {
  render(<App parts={parts} />, document.getElementById('app') as HTMLElement);
  keepLive();
  addEventListener('storage', ({ key, newValue }) => onStored(key, newValue));
  addEventListener('hashchange', () => {
    if (hasLink()) void start();
  });
  void start();
}
