// This process's terminal, arguments and programs, for the command line.

import { once } from 'node:events';
import { writeSync } from 'node:fs';
import { isatty } from 'node:tty';
import { fileURLToPath } from 'node:url';
import type { Invocation } from '../kernel/cli/main.ts';
import type { RawTerminal } from '../kernel/cli/raw-terminal.ts';
import type { OpenScreen, Screen, ScreenEvents } from '../kernel/cli/screen.ts';
import type { Programs } from '../kernel/config/daemon-options.ts';
import { fileProblem } from '../kernel/config/file-problem.ts';
import { EXIT_OWN_FAILURE } from '../kernel/model/failure.ts';
import { WINGS } from '../wings.ts';
import { standardInput } from './input.ts';
import { forgetNpm } from './npm-variables.ts';

/** This process's streams and terminal, for commands that put another program in their place. */
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
      out: (text, ifLost) => void process.stdout.write(text, tellLost(ifLost)),
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

/** Before the stream itself tells of the error, and ends the process. */
function tellLost(words: string | undefined): ((error?: Error | null) => void) | undefined {
  if (words === undefined) return undefined;
  return (error) => {
    if (error != null) writeError(words);
  };
}

/** Returns null when it was removed, or its folders are closed to us. Few commands need it. */
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

// The terminal of this process as a screen (ECMA-48; xterm's alternate buffer, ctlseqs).

const ENTER = '\u001b[?1049h\u001b[?25l\u001b[?7l\u001b[2J';
const LEAVE = '\u001b[?7h\u001b[?25h\u001b[?1049l';
const REST_OF_LINE = '\u001b[K';
/** Size of a terminal that does not say. */
const USUAL = { columns: 80, rows: 24 };

/** Standard input and output; the caller has seen that both are a terminal. */
const standardScreen: Screen = {
  size: () => {
    const { columns, rows } = process.stdout;
    return columns > 0 && rows > 0 ? { columns, rows } : USUAL;
  },
  open: (events) => openScreen(events),
  sleep: () => void process.kill(process.pid, 'SIGSTOP'),
};

const ENDS = ['SIGTERM', 'SIGHUP', 'SIGINT'] as const;

function openScreen(events: ScreenEvents): OpenScreen {
  const { stdin, stdout } = process;
  let shown: readonly string[] = [];
  let isOpen = true;
  const onData = (text: string) => events.keys(text);
  const onResize = () => {
    shown = [];
    stdout.write('\u001b[2J');
    events.resized();
  };
  const onEnd = () => events.ended();
  stdin.setRawMode(true);
  stdin.setEncoding('utf8').on('data', onData).on('end', onEnd).on('error', onEnd).resume();
  stdout.on('resize', onResize);
  for (const signal of ENDS) process.on(signal, onEnd);
  stdout.write(ENTER);
  return {
    show: (lines) => {
      stdout.write(changes(shown, lines));
      shown = lines;
    },
    forget: () => {
      shown = [];
      stdout.write('\u001b[2J');
    },
    close: () => {
      if (!isOpen) return;
      isOpen = false;
      stdin.off('data', onData).off('end', onEnd).off('error', onEnd).pause();
      stdout.off('resize', onResize);
      for (const signal of ENDS) process.off(signal, onEnd);
      stdout.write(LEAVE);
      if (!stdin.destroyed) stdin.setRawMode(false);
    },
  };
}

/** What makes the second picture of the first; empty when they are the same. */
function changes(before: readonly string[], after: readonly string[]): string {
  let text = '';
  for (let row = 0; row < Math.max(before.length, after.length); row += 1) {
    const line = after[row] ?? '';
    if (line !== (before[row] ?? '')) text += `\u001b[${row + 1};1H${line}${REST_OF_LINE}`;
  }
  return text;
}
