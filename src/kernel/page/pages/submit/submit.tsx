// A form for a new job: checked while one types, with the head's own answer to when and where it would
// start, and the command and the script that it stands for.

import { useEffect, useState } from 'preact/hooks';
import type { ReplyOf } from '../../../api/routes.ts';
import { asRetried, call, HeadError } from '../../data/client.ts';
import { now } from '../../data/clock.ts';
import { keep, readKept } from '../../data/kept.ts';
import { useCall } from '../../data/query.ts';
import { me, TYPED } from '../../data/session.ts';
import { Command, CopyButton, Panel, Problem } from '../../parts/basic.tsx';
import { runCommand, submitScript } from '../../pure/command-line.ts';
import {
  FORM_ROWS,
  type JobForm,
  type Problems,
  problemsOf,
  submissionOf,
} from '../../pure/job-form.ts';
import { readForm, writeForm } from '../../pure/kept.ts';
import { ownClock } from '../../pure/words.ts';
import { Sending, useSending, wishOf } from './sending.tsx';

/** After the last key. */
const QUIET_MS = 300;
/** After a question that had no answer. */
const RETRY_MS = 3000;

type Rehearsed = ReplyOf<'rehearseJob'>;

export function Submit() {
  const [form, setForm] = useState<JobForm>(() => readForm(readKept('tab', TYPED), userName()));
  const problems = problemsOf(form);
  const isGood = Object.keys(problems).length === 0;
  const answer = useRehearsal(form, isGood);
  const change = (name: keyof JobForm, value: string): void => {
    const next = { ...form, [name]: value };
    // Not lost by a look at another page.
    keep('tab', TYPED, writeForm(next, userName()));
    setForm(next);
  };
  const wish = isGood ? wishOf(form) : null;
  const sending = useSending();
  const submit = (event: Event): void => {
    event.preventDefault();
    if (wish !== null) sending.send(wish);
  };
  return (
    <div class="page">
      <h1>Submit</h1>
      <div class="panels">
        <Panel title="What is to run">
          <form class="form" onSubmit={submit}>
            <Fields form={form} problems={problems} onChange={change} />
            <button type="submit" class="main" disabled={!isGood || sending.isBusy}>
              {sending.isBusy ? 'Sending…' : 'Submit'}
            </button>
          </form>
          <Sending sending={sending} wish={wish} />
        </Panel>
        <div class="column">
          <Panel title="When it would start">
            <Answer answer={answer} isGood={isGood} />
          </Panel>
          {form.command.trim() !== '' && <SameInShell form={form} />}
        </div>
      </div>
    </div>
  );
}

/** Of a form without a command there is nothing to copy. */
function SameInShell({ form }: { form: JobForm }) {
  return (
    <>
      <Panel title="The same in a shell">
        <Command text={runCommand(form)} />
      </Panel>
      <Panel
        title="The same as a script for weft submit"
        aside={<CopyButton text={submitScript(form)} label="the script" />}
      >
        <pre class="log">{submitScript(form)}</pre>
      </Panel>
    </>
  );
}

function userName(): string {
  return me.value?.name ?? '';
}

function useRehearsal(form: JobForm, isGood: boolean): Rehearsed | HeadError | null {
  const [answer, setAnswer] = useState<Rehearsed | HeadError | null>(null);
  const name = JSON.stringify(form);
  useEffect(() => {
    setAnswer(null);
    if (!isGood) return undefined;
    const gone = new AbortController();
    const ask = async (): Promise<void> => {
      try {
        const body = submissionOf(form);
        setAnswer(await call('rehearseJob', { body, signal: gone.signal }));
      } catch (error) {
        if (!(error instanceof HeadError) || gone.signal.aborted) return;
        setAnswer(asRetried(error));
        if (error.kind === 'unavailable') timer = setTimeout(() => void ask(), RETRY_MS);
      }
    };
    let timer = setTimeout(() => void ask(), QUIET_MS);
    return () => {
      gone.abort();
      clearTimeout(timer);
    };
  }, [name, isGood]);
  return answer;
}

function Answer({ answer, isGood }: { answer: Rehearsed | HeadError | null; isGood: boolean }) {
  if (!isGood)
    return <p class="faint">You see it here once the form has a command and nothing wrong.</p>;
  if (answer === null) return <p class="faint">Asking…</p>;
  if (answer instanceof HeadError) return <Problem error={answer} />;
  return (
    <>
      {answer.words.split('\n').map((line) => (
        <p key={line} class="why">
          {ownClock(line, now.value)}
        </p>
      ))}
    </>
  );
}

/** The fields of a new job, each with what is wrong with it. */
function Fields({
  form,
  problems,
  onChange,
}: {
  form: JobForm;
  problems: Problems;
  onChange: (name: keyof JobForm, value: string) => void;
}) {
  const { value } = useCall('listPartitions', {}, { when: ({ kind }) => /^partition/.test(kind) });
  const field = (name: keyof JobForm, label: string, hint: string) => (
    <label key={name}>
      {label}
      <input
        value={form[name]}
        placeholder={hint}
        spellcheck={false}
        aria-invalid={problems[name] !== undefined}
        aria-describedby={problems[name] === undefined ? undefined : `wrong-${name}`}
        onInput={(event) => onChange(name, event.currentTarget.value)}
      />
      {problems[name] && (
        <span class="wrong" id={`wrong-${name}`}>
          {problems[name]}
        </span>
      )}
    </label>
  );
  return (
    <>
      <label class="whole">
        Command, as one line for a shell or several
        <textarea
          rows={4}
          value={form.command}
          spellcheck={false}
          onInput={(event) => onChange('command', event.currentTarget.value)}
        />
      </label>
      {FORM_ROWS.filter(({ name }) => name !== 'partition').map(({ name, form: { label, hint } }) =>
        field(name, label, hint),
      )}
      {field('chdir', 'Shared directory', 'one of its own on the node')}
      <label>
        Partition
        <select
          value={form.partition}
          onChange={(event) => onChange('partition', event.currentTarget.value)}
        >
          <option value="">the default</option>
          {(value?.partitions ?? []).map(({ name }) => (
            <option key={name}>{name}</option>
          ))}
        </select>
      </label>
    </>
  );
}
