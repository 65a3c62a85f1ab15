// The pretended cards of a machine, as a scenario file says: what the tools of drivers that stand
// beside this file print. `FAKE_GPUS` is the path of the file; a test that writes another one
// changes the world.

import { spawn } from 'node:child_process';
import { appendFileSync, readFileSync, renameSync, writeFileSync } from 'node:fs';

export interface FakeCard {
  readonly index: number;
  readonly uuid: string;
  /** `0A:00.0`. */
  readonly bus: string;
  readonly name: string;
  /** MiB. */
  readonly memory: number;
  readonly used?: number;
  /** Percent. */
  readonly busy?: number;
  /** The part of the machine's memory that is near it, as tools of AMD say it. */
  readonly numa?: number;
  /** Set when the card has fallen off the bus, in these words. */
  readonly lost?: string;
  /** Cells by field, in place of the usual ones. */
  readonly cells?: Readonly<Record<string, string>>;
  /** Slices that the card is cut into. */
  readonly slices?: readonly { readonly profile: string; readonly uuid: string }[];
}

export interface FakeProcess {
  /** Uuid of its card, or of the slice. */
  readonly card: string;
  readonly pid: number;
  readonly program: string;
  /** MiB. */
  readonly memory: number;
}

export interface FakeWorld {
  readonly driver?: string;
  readonly cuda?: string;
  readonly nvidia?: readonly FakeCard[];
  readonly amd?: readonly FakeCard[];
  readonly processes?: readonly FakeProcess[];
  readonly rocm?: string;
  /** Indices of cards that are joined by NVLink or xGMI, by group. */
  readonly links?: readonly (readonly number[])[];
  /** Fields that this driver does not know. */
  readonly unknown?: readonly string[];
  /** In place of any answer. */
  readonly says?: { readonly text: string; readonly exit: number };
  /**
   * Every call hangs, deaf to what would end it kindly, with a child that keeps its output open.
   */
  readonly hangs?: true;
}

export function readWorld(): FakeWorld {
  return JSON.parse(readFileSync(scenarioFile(), 'utf8')) as FakeWorld;
}

/** At once: no tool sees half of it. */
export function writeWorld(world: FakeWorld): void {
  const file = scenarioFile();
  writeFileSync(`${file}.new`, JSON.stringify(world));
  renameSync(`${file}.new`, file);
}

function scenarioFile(): string {
  const file = process.env['FAKE_GPUS'];
  if (file === undefined) throw new Error('FAKE_GPUS names no scenario');
  return file;
}

/** Where those that hang leave their pids, for whoever ends them. */
export function pidsFile(scenario: string): string {
  return `${scenario}.pids`;
}

/** Longer than anybody waits for a tool, short enough to be gone soon. */
const HANG_S = 60;

/** False: the tool has said what it says, or hangs. */
export function answers({ says, hangs }: FakeWorld): boolean {
  if (hangs === true) {
    process.on('SIGTERM', () => undefined);
    const child = spawn('sleep', [String(HANG_S)], { stdio: ['ignore', 'inherit', 'inherit'] });
    appendFileSync(pidsFile(scenarioFile()), `${process.pid}\n${child.pid}\n`);
    setTimeout(() => process.exit(0), HANG_S * 1000);
    return false;
  }
  if (says === undefined) return true;
  process.stdout.write(says.text);
  process.exitCode = says.exit;
  return false;
}
