// What verbs work with: the terminal, the environment, the configuration and the head.

import type { Command } from 'commander';
import type { JobDetail } from '../api/jobs.ts';
import type { Placed } from '../base/placed.ts';
import type { Config, Environment, Flags } from '../config/config.ts';
import type { Programs } from '../config/daemon-options.ts';
import { NO_FOLDER } from '../config/file-problem.ts';
import { mayHaveFiles } from '../config/files.ts';
import type { OptionsWing } from '../config/part.ts';
import type { KeysWing } from '../config/schema.ts';
import type { Api } from '../connect/api.ts';
import { exposedToken, type LocateOptions, locateHead, stateDirectory } from '../connect/locate.ts';
import { usage } from '../model/failure.ts';
import { CLIENT_TIMEOUT_MS } from '../model/limits.ts';
import type { Submission } from '../model/submission.ts';
import type { Offer } from './completion/offer.ts';
import type { Finding } from './doctor/finding.ts';
import type { Input } from './jobs/input.ts';
import type { Format, Listing } from './output/listing.ts';
import type { Titled } from './output/one.ts';
import { type Paint, paintFor } from './output/paint.ts';
import type { Look } from './output/table.ts';
import type { RawTerminal } from './raw-terminal.ts';
import type { Screen } from './screen.ts';
import type { SubmitOptions, Submitter } from './submit/options.ts';
import type { Template } from './template.ts';

/** Where text goes; a terminal, a pipe, or a test's array. */
export interface Terminal {
  /** `ifLost`: told on standard error where that cannot be written. */
  out(text: string | Uint8Array, ifLost?: string): void;
  error(text: string | Uint8Array): void;
  readonly outIsTerminal: boolean;
  readonly errorIsTerminal: boolean;
  /** How many there are now; absent where nobody knows. */
  columns?(): number | undefined;
  /** For views that fill the terminal; absent: input or output is none. */
  readonly screen?: Screen;
  /** Absent: there is none. */
  readonly input?: Input;
  /** For commands that put another program in their place; absent: only text can be written. */
  readonly raw?: RawTerminal;
  /** A line from whoever sits there; absent when nobody does. */
  ask?(question: string): Promise<string>;
}

/** Flags of every verb. */
export interface CommonOptions extends LocateOptions {
  readonly config?: string;
}

/** A signal as it was typed, and its number. */
export interface StepSignal {
  readonly name: string;
  readonly number: number;
}

/** What a wing does where a command of the kernel asks it. */
export interface Hooks {
  /** Checks of `weft doctor`. */
  readonly checks?: readonly (Check & Placed)[];
  /** What users are to see with `weft info` and after a submission. */
  glance?(context: Context): Promise<Glance>;
  /** The id of the job that this operand means, which is no id of ours; null: not the wing's. */
  jobId?(operand: string, context: Context): Promise<string | null>;
  /** What `weft job` shows of a job beside what the kernel knows. */
  ofJob?(): Promise<OfJob>;
  /** Configurations that `weft init --template` writes. */
  templates?(): Promise<readonly Template[]>;
  /** Runs the command of a submission with the terminal of this one; of one wing. */
  runAtTerminal?(context: Context, submission: Submission): Promise<number>;
  /** Ends a step, or signals it, and says so; of one wing. */
  endStep?(context: Context, step: string, signal: StepSignal | null): Promise<string>;
  /** Reads the options of scripts whose lines begin so, where a script has none of ours. */
  readonly scripts?: Readonly<Record<string, ScriptReader>>;
  /** What may stand for operands and options of these names, for completion. */
  readonly completions?: {
    readonly operands?: Readonly<Record<string, Completion>>;
    readonly options?: Readonly<Record<string, Completion>>;
  };
}

/** Throws what is wrong with the lines. */
export type ScriptReader = (context: Context, script: Script) => Promise<ReadScript>;

export interface Script {
  /** Name of the file, in the words that were typed. */
  readonly file: string;
  readonly text: string;
  /** What was typed, which wins. */
  readonly typed: SubmitOptions;
}

/** What the lines of a script ask for. */
export interface ReadScript {
  readonly options: SubmitOptions;
  /** With the environment that the other system would hand on. */
  readonly submitter: Submitter;
  /** Whether its end is waited for. */
  readonly wait: boolean;
  /** Whether it is only tried. */
  readonly dryRun: boolean;
  /** What our own options do not say. */
  readonly finish: (submission: Submission) => Submission;
}

/** One look of the doctor, which never throws. */
export interface Check {
  readonly name: string;
  check(context: Context, wish: CheckWish): Promise<Finding[]> | Finding[];
}

export interface CheckWish {
  /** Remove what is only in the way. */
  readonly fix: boolean;
  /** Compare the machines of the cluster: those of this file, or of its nodes (true). */
  readonly cluster: boolean | string;
}

/** What a wing shows of one job in full, for people. */
export interface OfJob {
  titled?(job: JobDetail): readonly Titled[];
  /** Lines below these. */
  below?(job: JobDetail, now: number, look: Look): readonly string[];
}

/** Fields of the JSON, and lines for people. */
export interface Glance {
  readonly fields: Readonly<Record<string, unknown>>;
  readonly lines: readonly string[];
}

export interface Completion {
  offers(context: Context): Promise<readonly Offer[]>;
  /** Several may stand there, separated by commas. */
  readonly isList?: boolean;
}

/** A wing as commands of the kernel know it. */
export interface HookWing extends KeysWing, OptionsWing {
  readonly cli?: Hooks;
}

export interface ContextParts {
  /** `weft`, or the seed's name that was typed. */
  readonly program: string;
  readonly terminal: Terminal;
  readonly environment: Environment;
  /** Null when it is gone. */
  readonly cwd: string | null;
  readonly programs: Programs;
  readonly options: CommonOptions;
  /** The commands by name, the one of this name in full: for completion. */
  readonly commands: (word: string) => Promise<Command>;
  readonly wings: readonly HookWing[];
  /** Runs another command line of this program for the user at `terminal`. Absent: none is. */
  readonly runLine?: RunLine | undefined;
  /** What is looked at in place of the user's own cluster, which no option named. */
  readonly service?: string;
}

/** Resolves with the exit code; never rejects. */
export type RunLine = (argv: readonly string[], terminal: Terminal) => Promise<number>;

export class Context {
  readonly program: string;
  readonly terminal: Terminal;
  readonly environment: Environment;
  readonly programs: Programs;
  readonly options: CommonOptions;
  readonly commands: ContextParts['commands'];
  readonly wings: readonly HookWing[];
  readonly runLine: RunLine | undefined;
  /** A line written anew while somebody waits; taken away before anything else is written. */
  statusLine: { clear(): void } | null = null;
  /** Where the command was started; null: it is gone. */
  readonly folder: string | null;
  readonly #service: string | undefined;
  #api: Promise<Api> | null = null;
  #config: Promise<Config> | null = null;

  constructor(parts: ContextParts) {
    this.program = parts.program;
    this.terminal = parts.terminal;
    this.environment = parts.environment;
    this.folder = parts.cwd;
    this.programs = parts.programs;
    this.options = parts.options;
    this.commands = parts.commands;
    this.wings = parts.wings;
    this.runLine = parts.runLine;
    this.#service = parts.service;
  }

  /** The folder that relative names are below. Throws a failure when it is gone. */
  get cwd(): string {
    if (this.folder === null) throw usage(NO_FOLDER);
    return this.folder;
  }

  /** State directory of the user's own cluster. */
  get directory(): string {
    return this.#service ?? stateDirectory(this.options, this.environment);
  }

  /** Whether whoever typed the command said which cluster's directory is meant. */
  get isNamed(): boolean {
    return this.options.dir !== undefined || Boolean(this.environment['WEFT_DIR']);
  }

  /** Colours of standard output. */
  get paint(): Paint {
    return paintFor(this.terminal.outIsTerminal ? 'terminal' : 'file', this.environment);
  }

  /** Columns of the terminal on standard output; null: there is none. */
  get width(): number | null {
    return this.terminal.outIsTerminal ? (this.terminal.columns?.() ?? null) : null;
  }

  /** On standard output, as it is. */
  out(text: string | Uint8Array): void {
    this.statusLine?.clear();
    this.terminal.out(text);
  }

  /** One line on standard output that is given once; `ifLost`: what to do where it gets lost. */
  printOnce(line: string, ifLost: string): void {
    this.statusLine?.clear();
    this.terminal.out(`${line}\n`, `${this.program}: ${ifLost}\n`);
  }

  /** On standard error, as it is. */
  error(text: string | Uint8Array): void {
    this.statusLine?.clear();
    this.terminal.error(text);
  }

  /** For tables on standard output. */
  get look(): Look {
    return { paint: this.paint, width: this.width };
  }

  /** One line on standard output. */
  print(line: string): void {
    this.out(`${line}\n`);
  }

  /** One line on standard error, for people: never part of the result. */
  note(line: string): void {
    this.error(`${this.program}: ${line}\n`);
  }

  /** The configuration with these flags over it. */
  async config(flags?: Flags): Promise<Config> {
    const { loadConfig } = await import('../config/config.ts');
    return loadConfig({
      ...(flags === undefined ? {} : { flags }),
      environment: this.environment,
      file: this.options.config ?? null,
      directory: this.directory,
      wings: this.wings,
    });
  }

  /**
   * For a command that helps to mend a wrong configuration: told, and the defaults are taken. Not
   * so with a file that was named, by `--config` or WEFT_CONFIG.
   */
  configOrDefaults(tell = (line: string) => this.note(line)): Promise<Config> {
    this.#config ??= this.#readConfig(tell);
    return this.#config;
  }

  /** The head, found by flags, environment or socket. */
  api(): Promise<Api> {
    this.#api ??= this.#connect();
    return this.#api;
  }

  /** Prints rows as `-o` says. */
  async list<Row extends object>(listing: Listing<Row>, output: string | undefined): Promise<void> {
    const { formatListing, parseFormat } = await import('./output/listing.ts');
    const format: Format = parseFormat(output);
    for (const line of formatListing(listing, format, this.look)) this.print(line);
  }

  close(): void {
    void this.#api?.then((api) => api.close()).catch(() => undefined);
  }

  async #readConfig(tell: (line: string) => void): Promise<Config> {
    try {
      return await this.config();
    } catch (error) {
      const { Failure } = await import('../model/failure.ts');
      const isNamed = Boolean(this.options.config ?? this.environment['WEFT_CONFIG']);
      if (!(error instanceof Failure) || isNamed) throw error;
      tell(`${error.message.split('\n')[0]} (this command uses the defaults)`);
      const { defaultConfig } = await import('../config/config.ts');
      return defaultConfig(this.wings);
    }
  }

  async #connect(): Promise<Api> {
    const location = locateHead(this.options, this.environment);
    const exposed = exposedToken(location);
    if (exposed !== null) this.note(`warning: ${exposed}`);
    const [{ Api }, { SessionCache }, timeoutMs] = await Promise.all([
      import('../connect/api.ts'),
      import('../connect/sessions.ts'),
      this.#timeoutMs(),
    ]);
    return new Api({ location, sessions: new SessionCache(this.environment), timeoutMs });
  }

  /**
   * Keys are of all wings: to load them takes a short command longer than what it does, and most
   * users configure nothing.
   */
  async #timeoutMs(): Promise<number> {
    const { environment, directory } = this;
    const places = { environment, directory, file: this.options.config ?? null };
    const isSaid = Boolean(environment['WEFT_CLIENT_TIMEOUT']) || mayHaveFiles(places);
    if (!isSaid) return CLIENT_TIMEOUT_MS;
    return (await this.configOrDefaults()).optionalNumber('client.timeout') ?? 0;
  }
}
