// A form for a new job: checked while one types, with the head's own answer to when and where it would
// start, and the command and the script that it stands for.

import { useEffect, useRef, useState } from 'preact/hooks';
import type { ReplyOf } from '../../src/api/routes.ts';
import { call, HeadError } from '../data/client.ts';
import { now } from '../data/clock.ts';
import { keep, readKept } from '../data/kept.ts';
import { useCall } from '../data/query.ts';
import { go } from '../data/route.ts';
import { me, TYPED } from '../data/session.ts';
import { perform } from '../parts/actions.tsx';
import { Command, CopyButton, Panel, Problem } from '../parts/basic.tsx';
import { type JobForm, runCommand, submitScript } from '../pure/command-line.ts';
import { problemsOf, submissionOf } from '../pure/job-form.ts';
import { readForm, writeForm } from '../pure/kept.ts';
import { ownClock } from '../pure/words.ts';

/** After the last key. */
const QUIET_MS = 300;

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
  const key = useRef(crypto.randomUUID());
  const submit = (event: Event): void => {
    event.preventDefault();
    const run = async (): Promise<string> => {
      // The same key if it is sent again: one job, whatever the line does.
      const headers = { 'idempotency-key': key.current };
      const { jobId } = await call('submitJob', { body: submissionOf(form), headers });
      key.current = crypto.randomUUID();
      keep('tab', TYPED, null);
      go(['jobs', jobId]);
      return `Job ${jobId} is submitted.`;
    };
    void perform({ run });
  };
  return (
    <div class="page">
      <h1>Submit</h1>
      <div class="panels">
        <Panel title="What is to run">
          <form class="form" onSubmit={submit}>
            <Fields form={form} problems={problems} onChange={change} />
            <button type="submit" class="main" disabled={!isGood}>
              Submit
            </button>
          </form>
        </Panel>
        <div class="column">
          <Panel title="What the head says to it">
            <Answer answer={answer} isGood={isGood} />
          </Panel>
          <Panel title="The same in a shell">
            <Command text={runCommand(form)} />
          </Panel>
          <Panel
            title="The same as a script for weft submit"
            aside={<CopyButton text={submitScript(form)} label="the script" />}
          >
            <pre class="log">{submitScript(form)}</pre>
          </Panel>
        </div>
      </div>
    </div>
  );
}

function userName(): string {
  return me.value?.name ?? '';
}

function Fields({
  form,
  problems,
  onChange,
}: {
  form: JobForm;
  problems: Partial<Record<keyof JobForm, string>>;
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
      {field('name', 'Name', 'the first word')}
      {field('time', 'Time limit', '90s, 1h30m or none')}
      {field('nodes', 'Nodes', '1')}
      {field('cpus', 'Cpus per node', '1')}
      {field('memory', 'Memory per node', '512M, 4G')}
      {field('gpus', 'Gpus per node', '0')}
      {field('array', 'Array', '0-99, 0-99%10')}
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
        if (error instanceof HeadError && !gone.signal.aborted) setAnswer(error);
      }
    };
    const timer = setTimeout(() => void ask(), QUIET_MS);
    return () => {
      gone.abort();
      clearTimeout(timer);
    };
  }, [name, isGood]);
  return answer;
}

function Answer({ answer, isGood }: { answer: Rehearsed | HeadError | null; isGood: boolean }) {
  if (!isGood) return <p class="faint">It is asked when the form is whole.</p>;
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
