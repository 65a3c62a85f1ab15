// The seed's `cmlogs/<node>/<job>/<process>.out.txt` in the working directory. A small shell
// program around the command makes the folders on the node, as the user, where the node's name is known.

import type { Program } from '../../core/model/job.ts';

const AROUND = [
  'n=$(printf %s "$WEFT_NODELIST" | cut -d, -f$((WEFT_NODE_RANK + 1)))',
  'd=cmlogs/$n/$WEFT_JOB_ID',
  'mkdir -p "$d" || exit 126',
  'exec "$@" >"$d/$CM_PROC_RANK.out.txt" 2>"$d/$CM_PROC_RANK.err.txt"',
].join('; ');

/** Marks where the user's words begin: $0 of the shell program. */
const MARK = 'cmrun';

/** The program with its output in cmlogs. Words reach it unchanged, as "$@". */
export function withCmlogs(program: Program): Program {
  const argv = program.kind === 'argv' ? program.argv : ['/bin/sh', '-c', lineOf(program)];
  return { kind: 'argv', argv: ['/bin/sh', '-c', AROUND, MARK, ...argv] };
}

function lineOf(program: Exclude<Program, { kind: 'argv' }>): string {
  return program.kind === 'shell' ? program.line : program.text;
}

/** What the user typed, out of the command that the head shows. */
export function withoutCmlogs(command: string): string {
  const at = command.indexOf(` ${MARK} `);
  if (!command.startsWith('/bin/sh -c ') || !command.includes('cmlogs/') || at === -1)
    return command;
  const typed = command.slice(at + MARK.length + 2);
  const line = /^\/bin\/sh -c (.*)$/s.exec(typed)?.[1];
  return line === undefined ? typed : line.replace(/^'(.*)'$/s, '$1').replaceAll(`'\\''`, "'");
}
