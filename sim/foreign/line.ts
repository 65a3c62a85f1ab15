// The way from a gateway to its batch system: commands take time, hang, come back as rubbish, and
// are carried out though their answer is lost. It never says anything false that is whole.

import type { Command, CommandEnd, Commands } from '../../src/kernel/ports/commands.ts';
import type { Dice, Streams } from '../chance.ts';
import type { Life, Time } from '../clock.ts';
import type { Said } from './adaptor.ts';
import { answer } from './answers.ts';
import type { Dialect } from './dialect.ts';
import type { ForeignSystem } from './system.ts';

export interface LineWorld {
  readonly time: Time;
  readonly streams: Streams;
  readonly system: ForeignSystem;
  readonly dialect: Dialect;
  /** Share of commands that go wrong; none once everything is healed. */
  readonly lies: () => number;
  /** What the system answered to a gateway that heard it. */
  readonly onHeard: (words: readonly string[], said: Said) => void;
}

type Mood = 'dead' | 'lost' | 'garbage' | 'empty' | 'half' | 'breaks' | 'slow' | 'untrue no';
const MOODS: readonly Mood[] = [
  ...['dead', 'lost', 'lost', 'garbage', 'empty', 'half', 'breaks', 'slow', 'untrue no'],
] as readonly Mood[];
/**
 * What changes nodes is done at once or never: a late stop would be nobody's to take back, and a
 * late ticket.
 */
const AT_ONCE = ['node', 'ticket', 'pass', 'keep', 'let'];
/** What the system does with a command after its caller has given up: soon, if ever. */
const LATE_MS = 8000;

/** Takes effect, or does not, and ends. */
interface Course {
  readonly effectAfterMs: number | null;
  readonly endsAfterMs: number;
  /** How it ends by what the system has answered; null: nothing. */
  readonly end: (answer: string | null) => CommandEnd;
}

/** Called with the true time of a listing of nodes that whoever asked for it has heard. */
export type Listed = (at: number) => void;

interface Caller {
  readonly life: Life;
  readonly onListed: Listed;
}

export class SiteLine {
  /** True time until which the system says nothing. */
  silentUntil = 0;
  readonly #world: LineWorld;

  constructor(world: LineWorld) {
    this.#world = world;
  }

  /** The commands of one life of a gateway: who is gone hears no answer. */
  commandsOf(life: Life, onListed: Listed = () => undefined): Commands {
    return {
      run: (command) =>
        new Promise((resolve) => {
          if (life.alive) this.#run(command, { life, onListed }, resolve);
        }),
    };
  }

  #run(command: Command, { life, onListed }: Caller, resolve: (end: CommandEnd) => void): void {
    const { time, system, dialect, onHeard } = this.#world;
    const { words, input } = dialect.asked(command);
    const [word = ''] = words;
    const course = this.#courseOf(word, command.timeoutMs);
    const sentAt = time.now;
    let said: Said | null = null;
    let saidAt = sentAt;
    if (course.effectAfterMs !== null) {
      time.after(course.effectAfterMs, () => {
        said = answer(system, { words, input, sentAt });
        saidAt = time.now;
      });
    }
    time.after(Math.min(course.endsAfterMs, command.timeoutMs), () => {
      if (!life.alive) return;
      const told = said === null ? null : dialect.told(words, said);
      const end = course.endsAfterMs > command.timeoutMs ? ended(null, '') : course.end(told);
      if (word !== 'jobs' && word !== 'nodes') {
        const { code, output } = end;
        system.world.note(`${system.world.site}: ${words.join(' ')} says ${code} ${output}`);
      }
      if (end.code === 0 && said !== null) {
        onHeard(words, said);
        if (word === 'nodes') onListed(saidAt);
      }
      resolve(end);
    });
  }

  #courseOf(word: string, timeoutMs: number): Course {
    const { time, streams, lies } = this.#world;
    const dice = streams.of(word);
    const wayMs = dice.whole(5, 60);
    const isSilent = time.now < this.silentUntil;
    const usual = { effectAfterMs: wayMs, endsAfterMs: 2 * wayMs, end: whole };
    const isWrong = dice.happens(lies());
    const mood = dice.pick(MOODS);
    const lateMs = AT_ONCE.includes(word) ? wayMs : timeoutMs + LATE_MS;
    if (isSilent) return this.#hang(dice, lateMs);
    return isWrong ? this.#wrong(mood, word, { dice, timeoutMs, lateMs, usual }) : usual;
  }

  /** The asker waits for an answer in vain, and has been heard or not. */
  #hang(dice: Dice, lateMs: number): Course {
    const at = dice.whole(5, lateMs);
    const effectAfterMs = dice.happens(0.4) ? at : null;
    return { effectAfterMs, endsAfterMs: Number.POSITIVE_INFINITY, end: whole };
  }

  #wrong(
    mood: Mood,
    word: string,
    of: {
      readonly dice: Dice;
      readonly timeoutMs: number;
      readonly lateMs: number;
      readonly usual: Course;
    },
  ): Course {
    const { dice, timeoutMs, lateMs, usual } = of;
    const { dialect, streams } = this.#world;
    const effectAfterMs = dice.happens(0.6) ? usual.effectAfterMs : null;
    switch (mood) {
      case 'dead':
        return { ...usual, effectAfterMs: null, endsAfterMs: Number.POSITIVE_INFINITY };
      case 'lost':
        return this.#hang(dice, lateMs);
      case 'garbage':
        return {
          ...usual,
          effectAfterMs,
          end: (answer) => ended(0, dialect.rubbish(streams.of('rubbish'), answer)),
        };
      case 'empty':
        return { ...usual, effectAfterMs, end: () => ended(0, '') };
      case 'half':
        return { ...usual, end: (answer) => half(answer ?? 'null') };
      case 'breaks':
        return { ...usual, effectAfterMs, end: () => ended(255, '') };
      case 'untrue no':
        return word === 'submit'
          ? { ...usual, effectAfterMs, end: () => ended(0, dialect.told([word], NO)) }
          : usual;
      default:
        return { ...usual, endsAfterMs: dice.whole(1000, 2 * timeoutMs) };
    }
  }
}

/** Word of a wrapper that says no to a job which its system has. */
const NO: Said = { problem: 'refused', text: 'no more jobs today' };

function whole(answer: string | null): CommandEnd {
  return answer === null ? ended(null, '') : ended(0, answer);
}

function half(answer: string): CommandEnd {
  return ended(0, answer.slice(0, Math.floor(answer.length / 2)));
}

function ended(code: number | null, output: string): CommandEnd {
  const how = code === null ? 'it took longer' : `exit code ${code}`;
  return { succeeded: code === 0, code, how, output, errors: '', isThere: () => false };
}
