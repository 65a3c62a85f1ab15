// The form of a new job: what is wrong with it, and the submission that it stands for.

import type { Body } from '../../api/routes.ts';
import { parseDuration } from '../../base/duration.ts';
import { parseSize } from '../../base/size.ts';
import type { JobForm } from './command-line.ts';

/** What is not said is as on the command line: the cluster has its defaults. */
export const EMPTY_FORM: JobForm = {
  command: '',
  name: '',
  nodes: '',
  cpus: '',
  memory: '',
  gpus: '',
  time: '',
  partition: '',
  array: '',
  chdir: '',
};

export type Problems = Partial<Record<keyof JobForm, string>>;

/** By field; empty: nothing is wrong that the page can see. */
export function problemsOf(form: JobForm): Problems {
  const whole = (text: string, least: number): string | null =>
    text.trim() === '' || (/^\d{1,9}$/.test(text.trim()) && Number(text) >= least)
      ? null
      : `a whole number from ${least}`;
  const time = form.time.trim();
  const all: Record<string, string | null> = {
    command: form.command.trim() === '' ? 'what is to run' : null,
    nodes: whole(form.nodes, 1),
    cpus: whole(form.cpus, 0),
    gpus: whole(form.gpus, 0),
    memory: wrong(form.memory, parseSize),
    time: time === 'none' ? null : wrong(time, parseDuration),
    array: /^[\d,:%\-\s]*$/.test(form.array) ? null : 'indices such as 0-99, 1,5,7 or 0-99:2%10',
    chdir: form.chdir.trim() === '' || form.chdir.trim().startsWith('/') ? null : 'a path from /',
  };
  const found = Object.entries(all).filter((pair): pair is [string, string] => pair[1] !== null);
  return Object.fromEntries(found) as Problems;
}

function wrong(
  text: string,
  parse: (text: string) => { readonly ok: true } | { readonly ok: false; readonly error: string },
): string | null {
  if (text.trim() === '') return null;
  const parsed = parse(text);
  return parsed.ok ? null : parsed.error;
}

/** Only of a form without problems. */
export function submissionOf(form: JobForm): Body<'submitJob'> {
  const number = (key: string, text: string) => (text.trim() === '' ? {} : { [key]: Number(text) });
  const memory = parseSize(form.memory);
  const time = parseDuration(form.time);
  const [indices = '', atOnce] = form.array.replace(/\s/g, '').split('%');
  return {
    program: { kind: 'shell', line: form.command },
    directory:
      form.chdir.trim() === '' ? { kind: 'private' } : { kind: 'shared', path: form.chdir.trim() },
    ...(form.name.trim() === '' ? {} : { name: form.name.trim() }),
    ...number('nodeCount', form.nodes),
    ...number('cpuCount', form.cpus),
    ...number('gpuCount', form.gpus),
    ...(memory.ok ? { memoryBytes: memory.value } : {}),
    ...(form.time.trim() === 'none' ? { walltimeMs: null } : {}),
    ...(time.ok ? { walltimeMs: time.value } : {}),
    ...(form.partition === '' ? {} : { partition: form.partition }),
    ...(indices === ''
      ? {}
      : { array: { indices, ...(atOnce ? { runningMax: Number(atOnce) } : {}) } }),
  };
}
