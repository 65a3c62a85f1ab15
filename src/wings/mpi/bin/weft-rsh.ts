// Starts a command on another node of its own task, as rsh and ssh do: `weft-rsh HOST COMMAND...`.
// What MPI launchers are given as their remote shell (docs/mpi.md).

import { spawn } from 'node:child_process';
import { constants } from 'node:os';
import { PASSES_SIGNALS } from '../../../kernel/base/passes-signals.ts';
import { type Allocation, findNode, readAllocation } from '../steps/allocation.ts';
import {
  asSaidElsewhere,
  COMMAND_VARIABLE,
  type RemoteCommand,
  readArguments,
} from '../steps/arguments.ts';
import { connectTo } from '../steps/connect.ts';
import type { StepEnd } from '../steps/frames.ts';
import { startRemote } from '../steps/remote.ts';

/** Exit code for failures of its own, the same that ssh has, beside every code of the command. */
const EXIT_OWN_FAILURE = 255;
const PASSED_ON = ['SIGHUP', 'SIGINT', 'SIGQUIT', 'SIGTERM', 'SIGUSR1', 'SIGUSR2'] as const;

process.title = PASSES_SIGNALS;
await main();

async function main(): Promise<void> {
  const wish = readArguments(process.argv.slice(2), process.env);
  // It is for this program alone: what is started here, and starts others in turn, says its own.
  delete process.env[COMMAND_VARIABLE];
  if (!wish.ok) return fail(wish.error);
  const allocation = readAllocation(process.env);
  if (!allocation.ok) return fail(allocation.error);
  const node = findNode(allocation.value, wish.value.host);
  if (!node.ok) return fail(node.error);
  if (node.value === allocation.value.self) runHere(wish.value);
  else await runThere(allocation.value, node.value, wish.value);
}

/** The node itself needs nobody to be asked. */
function runHere({ command, takesInput }: RemoteCommand): void {
  const stdio = [takesInput ? 'inherit' : 'ignore', 'inherit', 'inherit'] as const;
  const child = spawn('/bin/sh', ['-c', command], { stdio: [...stdio] });
  for (const name of PASSED_ON) process.on(name, () => child.kill(name));
  child.on('error', (error) => fail(error.message));
  child.on('close', (code, signal) => finish(signal === null ? { code: code ?? 0 } : { signal }));
}

async function runThere(allocation: Allocation, node: string, wish: RemoteCommand): Promise<void> {
  const found = await connectTo(allocation, node);
  if (!found.ok) return fail(found.error);
  const stdin = wish.takesInput ? process.stdin : null;
  const { stdout, stderr } = process;
  const command = asSaidElsewhere(wish.command, process.env['WEFT_RSH']);
  const step = startRemote(found.value, command, { stdin, stdout, stderr });
  for (const name of PASSED_ON) process.on(name, () => step.signal(name));
  try {
    finish(await step.ended);
  } catch (error) {
    fail(`${node}: ${error instanceof Error ? error.message : String(error)}`);
  }
}

function finish({ code, signal, problem }: StepEnd): void {
  if (problem !== undefined) return fail(problem);
  const number = constants.signals[signal as NodeJS.Signals] ?? 0;
  process.exitCode = code ?? 128 + number;
}

function fail(why: string): void {
  process.stderr.write(`weft-rsh: ${why}\n`);
  process.exitCode = EXIT_OWN_FAILURE;
}
