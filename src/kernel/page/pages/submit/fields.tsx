// The fields of a new job, each with what is wrong with it.

import { useCall } from '../../data/query.ts';
import { FORM_ROWS, type JobForm, type Problems } from '../../pure/job-form.ts';

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
