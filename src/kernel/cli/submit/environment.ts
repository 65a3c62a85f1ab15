// Which variables of the submitter go with a job.

import { usage } from '../../model/failure.ts';

/** Variables of the submitter's terminal or login, wrong elsewhere or for a process without one. */
const LEFT_OUT = /^(?:TERM_SESSION_ID|STY|TMUX|TMUX_PANE|WINDOWID|SHLVL|_|OLDPWD|PWD)$/;
/** Ours for reaching the head: a job must not get its submitter's token. Also a job's own ids. */
const PRIVATE = /^WEFT_/;

/** The whole environment, or with `--clean-env` nothing; then what `--env` says. */
export function jobEnvironment(
  options: { readonly env?: readonly string[]; readonly cleanEnv?: boolean },
  from: Readonly<Record<string, string | undefined>>,
): Record<string, string> {
  const chosen: Record<string, string> = {};
  if (!options.cleanEnv) {
    for (const [name, value] of Object.entries(from)) {
      if (value !== undefined && passes(name)) chosen[name] = value;
    }
  }
  for (const text of options.env ?? []) addVariable(chosen, text, from);
  return chosen;
}

function passes(name: string): boolean {
  return name !== '' && !LEFT_OUT.test(name) && !PRIVATE.test(name);
}

function addVariable(
  chosen: Record<string, string>,
  text: string,
  from: Readonly<Record<string, string | undefined>>,
): void {
  const at = text.indexOf('=');
  const name = at === -1 ? text : text.slice(0, at);
  const value = at === -1 ? from[name] : text.slice(at + 1);
  if (name === '') throw usage(`--env: '${text}' has no name; write NAME=value or NAME`);
  if (value === undefined) throw usage(`--env: ${name} is not set here; write ${name}=value`);
  chosen[name] = value;
}
