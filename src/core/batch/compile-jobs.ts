// The jobs of a written batch: its list, each entry once for every combination of the sweep.

import { parseDuration } from '../base/duration.ts';
import { didYouMean } from '../base/nearest-word.ts';
import { plural } from '../base/plural.ts';
import { parseSize } from '../base/size.ts';
import { utf8Length } from '../base/utf8.ts';
import { isWhole } from '../base/whole.ts';
import {
  BATCH_JOBS_MAX,
  CPUS_PER_NODE_MAX,
  LAUNCH_BYTES_MAX,
  LAUNCH_STRING_BYTES_MAX,
  MEMORY_PER_NODE_MAX,
  RETRIES_MAX,
} from '../model/limits.ts';
import type { BatchJob, Solver } from './batch.ts';
import { compileFile, compileFiles } from './compile-files.ts';
import { compileSlurm } from './compile-slurm.ts';
import type { Findings } from './findings.ts';
import { jobNameProblem } from './names.ts';
import { CPUS, fillIn, placeholdersIn } from './placeholders.ts';
import type { Place } from './problem.ts';
import { checkSweep, combinations, sweepName, sweepSize, type Values } from './sweep.ts';
import type { WrittenBatch, WrittenDefaults, WrittenJob, WrittenLimits } from './written.ts';

export interface JobsReading {
  readonly solver: Solver | null;
  /** The seed has no `{{…}}`: what looks like one is text. */
  readonly fills: boolean;
  readonly findings: Findings;
}

const ONCE: Values = new Map();

/** All jobs, in the order of the file. */
export function compileJobs(written: WrittenBatch, reading: JobsReading): BatchJob[] {
  const { sweep, defaults = {} } = written;
  const { findings } = reading;
  if (sweep !== undefined) {
    for (const { at, what, isKey } of checkSweep(sweep)) findings.problem(at, what, isKey);
  }
  checkLimits(defaults, ['defaults'], findings);
  const entries = written.jobs ?? (sweep === undefined ? [] : [{}]);
  if (entries.length === 0) findings.problem(['jobs'], 'a batch needs at least one job');
  const size = sweep === undefined ? 1 : sweepSize(sweep);
  if (entries.length * size > BATCH_JOBS_MAX) {
    const what = `makes ${plural(entries.length * size, 'job')}; a batch has at most ${BATCH_JOBS_MAX}`;
    findings.problem([sweep === undefined ? 'jobs' : 'sweep'], what);
    return [];
  }
  const every = sweep === undefined ? [ONCE] : combinations(sweep);
  const names = new Map<string, number>();
  return entries.flatMap((entry, index) => {
    const at: Place = written.jobs === undefined ? ['defaults'] : ['jobs', index];
    const job = new JobReader(entry, { at, index, defaults, names, swept: sweep, reading });
    return every.map((values) => job.read(values));
  });
}

interface JobPlace {
  readonly at: Place;
  readonly index: number;
  readonly defaults: WrittenDefaults;
  /** Jobs so far, and which entry each is of. */
  readonly names: Map<string, number>;
  readonly swept: WrittenBatch['sweep'];
  readonly reading: JobsReading;
}

class JobReader {
  readonly #entry: WrittenJob;
  readonly #of: JobPlace;
  readonly #limits: ReturnType<typeof readLimits>;

  constructor(entry: WrittenJob, of: JobPlace) {
    this.#entry = entry;
    this.#of = of;
    // Those of `defaults` are checked once, not with each job.
    if (of.at[0] === 'jobs') checkLimits(entry, of.at, of.reading.findings);
    this.#limits = readLimits({ ...of.defaults, ...entry });
  }

  read(values: Values): BatchJob {
    const { at, reading, defaults } = this.#of;
    const { findings, solver } = reading;
    const fill = (text: string, where: Place) => this.#fill(text, where, values);
    const name = this.#name(values);
    const run = this.#entry.run ?? defaults.run;
    const runAt = this.#entry.run === undefined ? ['defaults', 'run'] : [...at, 'run'];
    const isContainer = solver !== null && solver.kind !== 'build';
    if (run === undefined && !isContainer) {
      findings.problem(at, "needs 'run': the program of this job");
    } else if (run !== undefined && isContainer) {
      const what = 'a container runs its own program; leave this out, and give it `args`';
      findings.problem(runAt, what, true);
    }
    const program = { must: 'program', fill, findings } as const;
    return {
      name,
      run: run === undefined ? null : compileFile(run, runAt, program),
      args: this.#args(fill),
      files: compileFiles(this.#entry.files ?? [], [...at, 'files'], {
        ...{ must: 'file or folder', fill, findings },
      }),
      ...this.#limits,
      slurm: compileSlurm(this.#entry.slurm ?? {}, [...at, 'slurm'], findings),
    };
  }

  #name(values: Values): string {
    const { at, names, index, swept, reading } = this.#of;
    const { findings } = reading;
    const nameAt = this.#entry.name === undefined ? at : [...at, 'name'];
    const given = this.#entry.name === undefined ? null : String(this.#entry.name);
    if (given === null && swept === undefined) {
      findings.problem(at, "needs 'name'");
      return '';
    }
    const name = this.#nameOf(given, values);
    findings.problem(nameAt, jobNameProblem(name));
    const other = names.get(name);
    const isUnfilled = reading.fills && placeholdersIn(name).length > 0;
    if (other === index && !isUnfilled) {
      const what = `'${name}' comes more than once out of the sweep; let the name have all of its keys`;
      findings.problem(nameAt, what);
    } else if (other !== undefined && other !== index) {
      findings.problem(nameAt, `'${name}' is the name of job ${other + 1} already`);
    }
    names.set(name, index);
    return name;
  }

  #nameOf(given: string | null, values: Values): string {
    if (given === null) return sweepName(values);
    if (!this.#of.reading.fills || this.#of.swept === undefined) {
      return this.#fill(given, [...this.#of.at, 'name'], values);
    }
    const isFilled = placeholdersIn(given).length > 0;
    if (isFilled) return this.#fill(given, [...this.#of.at, 'name'], values);
    return `${given}-${sweepName(values)}`;
  }

  #args(fill: (text: string, at: Place) => string): string[] {
    const { at, defaults, reading } = this.#of;
    const own = this.#entry.args;
    const written = own ?? defaults.args;
    if (written === undefined) return [`{{${CPUS}}}`];
    const argsAt: Place = own === undefined ? ['defaults', 'args'] : [...at, 'args'];
    const args = written.map((word, index) => fill(String(word), [...argsAt, index]));
    let total = 0;
    for (const [index, text] of args.entries()) {
      reading.findings.problem([...argsAt, index], argumentProblem(text));
      total += utf8Length(text) + 1;
    }
    if (total > LAUNCH_BYTES_MAX) {
      const what = `${total} bytes of arguments; at most ${LAUNCH_BYTES_MAX}: put them into a file`;
      reading.findings.problem(argsAt, what);
    }
    return args;
  }

  #fill(text: string, at: Place, values: Values): string {
    const { reading, swept } = this.#of;
    if (!reading.fills) return text;
    for (const name of placeholdersIn(text)) {
      if (Object.hasOwn(swept ?? {}, name) || (name === CPUS && at.includes('args'))) continue;
      reading.findings.problem(at, unknownPlaceholder(name, Object.keys(swept ?? {})));
    }
    return fillIn(text, values);
  }
}

function unknownPlaceholder(name: string, keys: readonly string[]): string {
  if (name === CPUS) return '{{cpus}} is known only when the job starts; it may stand in args';
  const known = didYouMean(name, keys);
  return `{{${name}}} is no key of the sweep.${known}`;
}

function argumentProblem(text: string): string | null {
  if (text.includes('\0')) return 'the argument has a NUL character in it';
  const bytes = utf8Length(text);
  if (bytes < LAUNCH_STRING_BYTES_MAX) return null;
  return `the argument has ${bytes} bytes; at most ${LAUNCH_STRING_BYTES_MAX - 1}`;
}

function checkLimits(written: WrittenLimits, at: Place, findings: Findings): void {
  const { cpus, retries } = written;
  if (cpus !== undefined && !isWhole(cpus, 1, CPUS_PER_NODE_MAX)) {
    findings.problem([...at, 'cpus'], `'${cpus}': expected a whole number, at least 1`);
  }
  if (retries !== undefined && !isWhole(retries, 0, RETRIES_MAX)) {
    const what = `'${retries}': expected a whole number from 0 to ${RETRIES_MAX}`;
    findings.problem([...at, 'retries'], what);
  }
  const { memory, time } = readAmounts(written);
  if (memory !== null && !memory.ok) findings.problem([...at, 'memory'], memory.error);
  if (time !== null && !time.ok) findings.problem([...at, 'time'], time.error);
}

function readAmounts({ memory, time }: WrittenLimits) {
  return {
    memory: memory === undefined ? null : parseMemory(String(memory)),
    time: time === undefined || time === 'none' ? null : parseTime(String(time)),
  };
}

function parseMemory(text: string) {
  const wrong = (error: string) => ({ ok: false, error }) as const;
  if (/^\d+$/.test(text)) return wrong(`'${text}' has no unit; write ${text}M or ${text}G`);
  const size = parseSize(text);
  if (!size.ok) return size;
  if (size.value < 1) return wrong(`'${text}' is nothing; leave it out for no limit`);
  return size.value > MEMORY_PER_NODE_MAX ? wrong(`'${text}' is larger than any node`) : size;
}

/** A duration that is more than nothing. */
export function parseTime(text: string) {
  const time = parseDuration(text);
  if (!time.ok || time.value > 0) return time;
  return { ok: false, error: `'${text}' is no time; write none for no limit` } as const;
}

function readLimits(written: WrittenLimits) {
  const { memory, time } = readAmounts(written);
  return {
    cpuCount: written.cpus ?? null,
    memoryBytes: memory?.ok ? memory.value : null,
    walltimeMs: time?.ok ? time.value : null,
    retriesMax: written.retries ?? 0,
  };
}
