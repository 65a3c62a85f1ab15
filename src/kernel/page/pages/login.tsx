// The login: a token, or how to come by a link.

import { signal } from '@preact/signals';
import { useState } from 'preact/hooks';
import { HeadError } from '../data/client.ts';
import { logIn } from '../data/login.ts';

/** Why the link in the address did not work. */
export const loginError = signal<HeadError | null>(null);

export function Login() {
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
