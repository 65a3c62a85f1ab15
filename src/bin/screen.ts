// The terminal of this process as a screen (ECMA-48; xterm's alternate buffer, ctlseqs).

import type { OpenScreen, Screen, ScreenEvents } from '../kernel/cli/screen.ts';

const ENTER = '\u001b[?1049h\u001b[?25l\u001b[?7l\u001b[2J';
const LEAVE = '\u001b[?7h\u001b[?25h\u001b[?1049l';
const REST_OF_LINE = '\u001b[K';
/** Size of a terminal that does not say. */
const USUAL = { columns: 80, rows: 24 };

/** Standard input and output; the caller has seen that both are a terminal. */
export const standardScreen: Screen = {
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
export function changes(before: readonly string[], after: readonly string[]): string {
  let text = '';
  for (let row = 0; row < Math.max(before.length, after.length); row += 1) {
    const line = after[row] ?? '';
    if (line !== (before[row] ?? '')) text += `\u001b[${row + 1};1H${line}${REST_OF_LINE}`;
  }
  return text;
}
