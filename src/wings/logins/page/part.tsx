// What logins add to the web page.

import { useState } from 'preact/hooks';
import type { ReplyOf } from '../../../kernel/api/routes.ts';
import { call } from '../../../kernel/page/data/client.ts';
import { useCall } from '../../../kernel/page/data/query.ts';
import { go } from '../../../kernel/page/data/route.ts';
import { me } from '../../../kernel/page/data/session.ts';
import type { PagePart } from '../../../kernel/page/part.ts';
import { type Action, Actions } from '../../../kernel/page/parts/actions.tsx';
import { Command, Loaded, Panel, Time } from '../../../kernel/page/parts/basic.tsx';
import { parseCode } from '../model/code.ts';
import '../api/paths.ts';

export const loginsPage: PagePart = {
  pages: [
    {
      path: 'login',
      title: 'A login',
      isApart: true,
      show: ([code]) => <Answer key={code} code={code ?? ''} />,
    },
  ],
};

/** A login on another machine, answered by whoever is shown its code: `weft login` there prints the address. */
function Answer({ code: typed }: { code: string }) {
  const code = parseCode(typed);
  return (
    <div class="page">
      <div class="title">
        <h1>A login on another machine</h1>
        <Command text={`weft login --approve ${code ?? 'CODE'}`} />
      </div>
      {code === null ? <AskCode /> : <Asked code={code} />}
    </div>
  );
}

function AskCode() {
  const [text, setText] = useState('');
  const code = parseCode(text);
  const submit = (event: Event): void => {
    event.preventDefault();
    if (code !== null) go(['login', code]);
  };
  return (
    <form onSubmit={submit}>
      <label for="code">Code, as that machine shows it</label>
      <input id="code" value={text} onInput={({ currentTarget }) => setText(currentTarget.value)} />
      <button type="submit" class="main" disabled={code === null}>
        Show it
      </button>
    </form>
  );
}

function Asked({ code }: { code: string }) {
  const asked = useCall('showLogin', { params: { code } }, { when: () => false });
  const [isAnswered, setAnswered] = useState(false);
  if (isAnswered) return <p>It is answered.</p>;
  return (
    <Loaded answer={asked}>
      {(login) => <Login login={login} onAnswered={() => setAnswered(true)} />}
    </Loaded>
  );
}

interface LoginOf {
  readonly login: ReplyOf<'showLogin'>;
  readonly onAnswered: () => void;
}

function Login({ login, onAnswered }: LoginOf) {
  const own = me.value?.name ?? '';
  const [user, setUser] = useState(own);
  return (
    <Panel title={login.code}>
      <dl>
        <div>
          <dt>Who asks</dt>
          <dd>
            <bdi>{login.label}</bdi>, as that machine says; from {login.address}
          </dd>
        </div>
        <div>
          <dt>Asked</dt>
          <dd>
            <Time at={login.askedAt} />, good until <Time at={login.expiresAt} />
          </dd>
        </div>
      </dl>
      <p>
        Say yes only when you see this code on a machine that you know: whoever has the token is{' '}
        {user} for the cluster.
      </p>
      {me.value?.role === 'admin' && (
        <p>
          <label for="user">User</label>{' '}
          <input
            id="user"
            value={user}
            onInput={({ currentTarget }) => setUser(currentTarget.value)}
          />
        </p>
      )}
      <Actions actions={[approval(login, { user, own, onAnswered }), refusal(login, onAnswered)]} />
    </Panel>
  );
}

interface Approving {
  readonly user: string;
  readonly own: string;
  readonly onAnswered: () => void;
}

function approval({ code, label }: LoginOf['login'], { user, own, onAnswered }: Approving): Action {
  const isOther = user !== own;
  return {
    label: 'Approve',
    command: `weft login --approve ${code}${isOther ? ` --user ${user}` : ''}`,
    question: `Give ${label} a token of ${user}?`,
    run: async () => {
      const body = isOther ? { approve: true, user } : { approve: true };
      await call('answerLogin', { params: { code }, body });
      onAnswered();
      return `${label} has a token of ${user} now.`;
    },
  };
}

function refusal({ code, label }: LoginOf['login'], onAnswered: () => void): Action {
  return {
    label: 'Refuse',
    command: `weft login --refuse ${code}`,
    isBad: true,
    run: async () => {
      await call('answerLogin', { params: { code }, body: { approve: false } });
      onAnswered();
      return `The login of ${label} is refused.`;
    },
  };
}
