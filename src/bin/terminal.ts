// This process's terminal, arguments and programs, for the command line.

import { once } from 'node:events';
import { writeSync } from 'node:fs';
import { isatty } from 'node:tty';
import { fileURLToPath } from 'node:url';
import type { Invocation } from '../kernel/cli/main.ts';
import type { RawTerminal } from '../kernel/cli/raw-terminal.ts';
import type { Programs } from '../kernel/config/daemon-options.ts';
import { fileProblem } from '../kernel/config/file-problem.ts';
import { EXIT_OWN_FAILURE } from '../kernel/model/failure.ts';
import { WINGS } from '../wings.ts';
import { standardInput } from './input.ts';
import { forgetNpm } from './npm-variables.ts';
import { standardScreen } from './screen.ts';

/**
 * The streams and the terminal of this process, for commands that put another program in their
 * place.
 */
const standardRaw: RawTerminal = {
  out: (bytes) => written(process.stdout, bytes),
  error: (bytes) => written(process.stderr, bytes),
  size: () => {
    const { rows = 0, columns = 0 } = process.stdout;
    return { rows, columns };
  },
  onResize: (changed) => {
    process.stdout.on('resize', changed);
    return () => void process.stdout.off('resize', changed);
  },
  takeKeys: () => {
    process.stdin.setRawMode(true);
    // Node leaves it to the terminal to add a CR to each LF, which the terminal on the node has
    // done where it was wanted. What was there before comes back with the mode.
    // Not imported: hardly any command comes this way.
    const { spawnSync } = process.getBuiltinModule('node:child_process');
    spawnSync('stty', ['-opost'], { stdio: ['inherit', 'ignore', 'ignore'] });
    return () => {
      if (!process.stdin.destroyed) process.stdin.setRawMode(false);
    };
  },
};

function written(stream: NodeJS.WriteStream, bytes: Uint8Array): Promise<void> {
  return new Promise((resolve) => {
    stream.write(bytes, () => resolve());
  });
}

const here = (name: string) => fileURLToPath(new URL(name, import.meta.url));
// In the package the programs are compiled and end in .js, as this file does there.
const extension = import.meta.url.endsWith('.ts') ? 'ts' : 'js';

const PROGRAMS: Programs = {
  headScript: here(`./head.${extension}`),
  agentScript: here(`./agent.${extension}`),
  runHead: async (options, onServing) => {
    isDaemon = true;
    await (await import('./head.ts')).runHead(options, onServing);
  },
  runAgent: async (options) => (await import('./agent-host.ts')).runAgents([options]),
  machineIdentity: async (agentFolder) => {
    const bootId = (await import('../kernel/os/detect.ts')).readBootId();
    const { readMachineMarks } = await import('../kernel/os/machine-marks.ts');
    const folder = agentFolder === null ? undefined : readMachineMarks(agentFolder).folder;
    return { bootId, ...(folder === undefined ? {} : { folder }) };
  },
  detectMachine: async () => {
    const { cpuCount, memoryBytes, gpuCount } = await (
      await import('../kernel/os/detect.ts')
    ).detectMachine();
    return { cpuCount, memoryBytes, gpuCount, counted: {} };
  },
  endMarked: async (variable) => (await import('../kernel/os/marks.ts')).killByMark(variable),
  findContainerRuntimes: async () => {
    return (await import('../kernel/os/container-runtimes.ts')).findContainerRuntimes(null);
  },
  readStore: async (directory) => (await import('./read-store.ts')).readStore(directory),
  readJournals: async (directory) => (await import('./read-store.ts')).readJournals(directory),
};

/** A head that could not start must not stay because something of it is still open. */
let isDaemon = false;

/** What this process was started with. */
export function invocation(program: string): Invocation {
  // As nohup(1) has it, which Node undoes: without a terminal a hang-up is none of this program's.
  if (![0, 1, 2].some((file) => isatty(file))) process.on('SIGHUP', () => undefined);
  // Before any of it goes with a job, or to a daemon.
  forgetNpm(process.env);
  return {
    program,
    argv: process.argv.slice(2),
    terminal: {
      out: (text) => void process.stdout.write(text),
      error: writeError,
      // Asked of the descriptors: a stream of each would take longer to load than most commands
      // run.
      outIsTerminal: isatty(1),
      errorIsTerminal: isatty(2),
      columns: () => process.stdout.columns,
      input: standardInput,
      raw: standardRaw,
      ...(isatty(0) && isatty(1) ? { screen: standardScreen } : {}),
      ...(isatty(0) && isatty(2) ? { ask } : {}),
    },
    environment: process.env,
    cwd: currentFolder(),
    programs: PROGRAMS,
    wings: WINGS,
  };
}

/**
 * Returns null when it was removed, or its folders are closed to us. Only some commands need it.
 */
function currentFolder(): string | null {
  try {
    return process.cwd();
  } catch {
    return null;
  }
}

/** Ends this process with the exit code once everything is written. */
export async function finish(work: Promise<number>): Promise<void> {
  // `weft jobs | head -1` closes the pipe: what is not read need not be written.
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') process.exit(141);
    writeError(`weft: its output cannot be written: ${fileProblem(error)}\n`);
    process.exit(EXIT_OWN_FAILURE);
  });
  process.exitCode = await work;
  if (isDaemon) process.exit();
}

/** On standard error, so that what is piped stays what was asked for. The end of input is a no. */
async function ask(question: string): Promise<string> {
  const { createInterface } = await import('node:readline/promises');
  const lines = createInterface({ input: process.stdin, output: process.stderr });
  try {
    const ended = once(lines, 'close').then(() => '');
    return await Promise.race([lines.question(question), ended]);
  } finally {
    lines.close();
  }
}

function writeError(text: string | Uint8Array): void {
  try {
    writeSync(2, text as string);
  } catch (error) {
    // A full pipe that nobody reads right now: leave it to the stream, which waits.
    if ((error as NodeJS.ErrnoException).code === 'EAGAIN') process.stderr.write(text);
  }
}
