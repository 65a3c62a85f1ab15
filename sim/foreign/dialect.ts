// The ways in which the simulated batch system is talked to: commands with words and JSON of its
// own, or the contract of programs of operators (docs/adaptors.md), so that the adaptor for those
// reads it.

import type { SiteMode, SiteNode } from '../../src/kernel/model/site.ts';
import type { Command } from '../../src/kernel/ports/commands.ts';
import type { Adaptor } from '../../src/wings/sites/adaptors/adaptor.ts';
import { OPERATIONS } from '../../src/wings/sites/adaptors/script/contract.ts';
import { script } from '../../src/wings/sites/adaptors/script/script.ts';
import type { Dice } from '../chance.ts';
import { foreignAdaptor, type Said } from './adaptor.ts';
import type { SiteDisk } from './disk.ts';
import type { ForeignWeather } from './weather.ts';

/** What a command asks, in the words of answers.ts. */
interface Asked {
  readonly words: readonly string[];
  /** What it is to submit. */
  readonly input: string;
}

export interface Dialect {
  readonly adaptor: Adaptor;
  asked(command: Command): Asked;
  told(words: readonly string[], said: Said): string;
  /** What is no answer; but for one thing it may be whole. */
  rubbish(dice: Dice, answer: string | null): string;
}

export function dialectOf(
  { contract, hasAccounting, takeover, hasTickets }: ForeignWeather,
  mode: SiteMode,
  disk: SiteDisk,
): Dialect {
  if (contract === 'script') return scriptDialect(mode, disk);
  const way = hasTickets ? 'tickets' : takeover;
  const adaptor = foreignAdaptor(hasAccounting, mode === 'steer' ? way : null);
  return {
    adaptor,
    asked: ({ argv, input = '' }) => ({ words: argv.slice(1), input }),
    told: (_, said) => JSON.stringify(said),
    rubbish: () => PAGE,
  };
}

const PAGE = '<html>Please log in</html>';

function scriptDialect(mode: SiteMode, disk: SiteDisk): Dialect {
  return {
    adaptor: script(['fb'], { steers: mode === 'steer' }),
    asked({ input = '' }) {
      const question = JSON.parse(input) as Question;
      const script = question.scriptFile === undefined ? '' : disk.script(question.scriptFile);
      return { words: commandWordsOf(question), input: script };
    },
    told: (words, said) => JSON.stringify({ contract: 1, ...answerOf(words[0] ?? '', said) }),
    rubbish: (dice, answer) => (answer === null ? PAGE : spoilt(answer, dice)),
  };
}

/** A question in the words of docs/adaptors.md; of each operation some are there. */
interface Question {
  readonly operation: string;
  readonly name?: string;
  readonly scriptFile?: string;
  readonly directory?: string;
  readonly cpuCount?: number;
  readonly walltimeMs?: number | null;
  readonly job?: string;
  readonly node?: string;
  readonly nodes?: readonly string[];
  readonly change?: 'stop' | 'restore';
  readonly reason?: string | null;
}

function commandWordsOf(question: Question): string[] {
  const { operation, name = '', job = '', nodes = [] } = question;
  switch (operation) {
    case 'submit': {
      const { directory = '', cpuCount, walltimeMs } = question;
      return ['submit', name, directory, String(cpuCount), String(walltimeMs)];
    }
    case 'named':
      return ['named', name];
    case 'set-node':
      return ['node', question.node ?? '', question.change === 'stop' ? `${question.reason}` : ''];
    case 'capabilities':
      return ['quiet'];
    case 'start':
      return ['start', job, nodes.join()];
    case 'cancel':
    case 'end':
    case 'known':
    case 'take-back':
      return [operation, job];
    default:
      return [operation];
  }
}

/** By the word for the question: the key of what it asked for. */
const KEYS: Readonly<Record<string, string>> = {
  jobs: 'jobs',
  queues: 'queues',
  submit: 'job',
  named: 'jobs',
  end: 'end',
  known: 'known',
};

function answerOf(word: string, said: Said): object {
  if ('problem' in said) return { problem: { kind: said.problem, text: said.text } };
  if (word === 'nodes') return { nodes: (said.value as readonly SiteNode[]).map(listedNode) };
  if (word === 'quiet') {
    const requirement = { what: 'its own scheduler is off', remedy: 'switch it off' };
    return { operations: OPERATIONS, requirements: [{ ...requirement, met: said.value }] };
  }
  const key = KEYS[word];
  return key === undefined ? {} : { [key]: said.value };
}

function listedNode({ parts, ...node }: SiteNode): object {
  return { ...node, isStopped: parts?.some(({ isOpen }) => !isOpen) };
}

/** One thing in it is not as it must be, and so nothing of it may be believed. */
function spoilt(answer: string, dice: Dice): string {
  const whole = JSON.parse(answer) as Record<string, unknown>;
  const { contract, ...rest } = whole;
  const lists = Object.entries(rest).filter(
    ([, value]) => Array.isArray(value) && value.length > 0,
  );
  const [key, list] = dice.pick(lists) ?? [];
  const how = dice.pick(['contract', 'no contract', 'stranger', 'entry', 'entry'] as const);
  if (how === 'contract') return JSON.stringify({ ...rest, contract: 2 });
  if (how === 'no contract') return JSON.stringify(rest);
  if (how === 'stranger' || key === undefined) {
    return JSON.stringify({ ...whole, debug: 'slow answer' });
  }
  const entries = [...(list as readonly unknown[])];
  entries[dice.whole(0, entries.length - 1)] = dice.pick([null, 7, {}]);
  return JSON.stringify({ ...whole, [key]: entries });
}
