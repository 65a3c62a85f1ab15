// The fields of a new job, each with what is wrong with it.

import { useCall } from '../../data/query.ts';
import type { JobForm } from '../../pure/command-line.ts';
import type { Problems } from '../../pure/job-form.ts';

export function Fields({
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
      {field('name', 'Name', 'the first word')}
      {field('time', 'Time limit', 'none; 90s, 1h30m')}
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
