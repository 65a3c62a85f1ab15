// The web page: who one is, then the pages. `src/pages.tsx` opens it.

import { signal } from '@preact/signals';
import { render } from 'preact';
import { useState } from 'preact/hooks';
import { asRetried, HeadError } from './data/client.ts';
import { keepLive } from './data/live.ts';
import { enter, hasLink, logIn } from './data/login.ts';
import { hasEnded, me, onStored } from './data/session.ts';
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
  keepLive(document);
  addEventListener('storage', ({ key, newValue }) => onStored(key, newValue));
  addEventListener('hashchange', () => {
    if (hasLink()) void start();
  });
  void start();
}

/** Why the link in the address did not work. */
const loginError = signal<HeadError | null>(null);

function Login() {
  const [token, setToken] = useState('');
  const [isBusy, setBusy] = useState(false);
  const error = loginError.value;
  const submit = async (event: Event): Promise<void> => {
    event.preventDefault();
    setBusy(true);
    try {
      await logIn({ token: token.trim() });
      loginError.value = null;
    } catch (cause) {
      if (!(cause instanceof HeadError)) throw cause;
      loginError.value = cause;
    }
    setBusy(false);
  };
  return (
    <main class="login">
      <h1>Weft</h1>
      <form onSubmit={submit}>
        <label for="token">Token</label>
        <input
          id="token"
          type="password"
          autocomplete="current-password"
          spellcheck={false}
          value={token}
          onInput={(event) => setToken(event.currentTarget.value)}
        />
        <button type="submit" class="main" disabled={isBusy || token.trim() === ''}>
          Log in
        </button>
      </form>
      {error === null && hasEnded.value && (
        <p role="status">
          Your session has ended: a week is over, or 12 hours without use, or its token was revoked
          or has expired.
        </p>
      )}
      {error && (
        <p role="alert" class="problem">
          {error.code === 'auth.token_invalid'
            ? 'This token or link is unknown, used or expired.'
            : error.message}
        </p>
      )}
      <p>
        On the head’s machine, <code>weft ui</code> logs you in without a token. Elsewhere,{' '}
        <code>weft token create</code> makes one.
      </p>
    </main>
  );
}
