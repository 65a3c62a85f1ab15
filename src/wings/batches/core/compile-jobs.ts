// The jobs of a written batch: its list, each entry once for every combination of the sweep.

import { didYouMean } from '../../../kernel/base/nearest-word.ts';
import { plural } from '../../../kernel/base/plural.ts';
import { utf8Length } from '../../../kernel/base/utf8.ts';
import type { Findings } from '../../../kernel/files/findings.ts';
import { jobNameProblem } from '../../../kernel/files/names.ts';
import type { ProblemPath } from '../../../kernel/files/problem.ts';
import {
  checkSweep,
  combinations,
  sweepName,
  sweepSize,
  type Values,
} from '../../../kernel/files/sweep.ts';
import { BATCH_JOBS_MAX, LAUNCH_BYTES_MAX } from '../../../kernel/model/limits.ts';
import { checkArrays } from './arrays.ts';
import type { BatchJob, Solver } from './batch.ts';
import { checkAsk, readAsk } from './compile-ask.ts';
import { compileDefaults, type Defaults } from './compile-defaults.ts';
import { compileEnvironment, stringProblem } from './compile-environment.ts';
import { compileFile, compileFiles } from './compile-files.ts';
import { compileNeeds } from './compile-needs.ts';
import { checkOrder } from './compile-order.ts';
import { compileSlurm } from './compile-slurm.ts';
import { gpuProblem, linksProblem } from './gpu-needs.ts';
import { CPUS, fillIn, placeholdersIn } from './placeholders.ts';
import type { WrittenBatch, WrittenJob } from './written.ts';

export interface JobsReading {
  readonly solver: Solver | null;
  /** The seed has no `{{…}}`: what looks like one is text. */
  readonly fills: boolean;
  readonly findings: Findings;
}

const ONCE: Values = new Map();

/** All jobs, in the order of the file. */
export function compileJobs(written: WrittenBatch, reading: JobsReading): BatchJob[] {
  const { sweep } = written;
  const { findings } = reading;
  if (sweep !== undefined) {
    for (const { at, what, isKey } of checkSweep(sweep))
      findings.problem(at, what, isKey ? 'key' : 'value');
  }
  const defaults = compileDefaults(written, findings);
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
  const places: ProblemPath[] = [];
  const jobs = entries.flatMap((entry, index) => {
    const at: ProblemPath = written.jobs === undefined ? ['defaults'] : ['jobs', index];
    const of = { at, index, defaults, names, swept: sweep, batchNeeds: written.needs ?? [] };
    const job = new JobReader(entry, { ...of, reading });
    for (const _ of every) places.push(at);
    return every.map((values) => job.read(values));
  });
  checkOrder(jobs, places, findings);
  checkArrays(jobs, findings);
  return jobs;
}

interface JobPlace {
  readonly at: ProblemPath;
  readonly index: number;
  readonly defaults: Defaults;
  /** Jobs so far, and which entry each is of. */
  readonly names: Map<string, number>;
  readonly swept: WrittenBatch['sweep'];
  readonly batchNeeds: readonly string[];
  readonly reading: JobsReading;
}

class JobReader {
  readonly #entry: WrittenJob;
  readonly #of: JobPlace;
  readonly #ask: ReturnType<typeof readAsk>;
  readonly #needs: readonly string[];

  constructor(entry: WrittenJob, of: JobPlace) {
    this.#entry = entry;
    this.#of = of;
    // Those of `defaults` are checked once, not with each job.
    if (of.at[0] === 'jobs') checkAsk(entry, of.at, of.reading.findings);
    this.#ask = readAsk({ ...of.defaults.values, ...entry });
    this.#needs = compileNeeds(entry.needs ?? [], [...of.at, 'needs'], of.reading.findings);
    this.#checkGpus();
  }

  read(values: Values): BatchJob {
    const { at, reading, defaults } = this.#of;
    const { findings, solver } = reading;
    const fill = (text: string, where: ProblemPath) => this.#fill(text, where, values);
    const name = this.#name(values);
    const run = this.#entry.run ?? defaults.values.run;
    const runAt = this.#entry.run === undefined ? ['defaults', 'run'] : [...at, 'run'];
    const isContainer = solver !== null && solver.kind !== 'build';
    if (run === undefined && !isContainer) {
      findings.problem(at, "needs 'run': the program of this job");
    } else if (run !== undefined && isContainer) {
      const what = 'a container runs its own program; leave this out, and give it `args`';
      findings.problem(runAt, what, 'key');
    }
    const program = { must: 'program', fill, findings } as const;
    return {
      name,
      run: run === undefined ? null : compileFile(run, runAt, program),
      args: this.#args(fill),
      files: compileFiles(this.#entry.files ?? [], [...at, 'files'], {
        must: 'file or folder',
        fill,
        findings,
      }),
      env: compileEnvironment(this.#entry.env, [...at, 'env'], { solver, fill, findings }),
      after: (this.#entry.after ?? []).map((one, index) => {
        return fill(String(one), [...at, 'after', index]);
      }),
      needs: this.#needs,
      ...this.#ask,
      slurm: compileSlurm(this.#entry.slurm ?? {}, [...at, 'slurm'], findings),
    };
  }

  /** A job with cpus gets the gpus that it asks for, and no others. */
  #checkGpus(): void {
    const { at, defaults, reading, batchNeeds } = this.#of;
    const isOwn = this.#entry.cpus !== undefined || defaults.values.cpus === undefined;
    const cpusAt = isOwn ? [...at, 'cpus'] : defaults.at('cpus');
    const needs = [...batchNeeds, ...this.#needs];
    const { cpuCount, gpuCount } = this.#ask;
    const of = { needs, solver: reading.solver, cpuCount, gpuCount };
    reading.findings.problem(cpusAt, gpuProblem(of));
    const isOwnLink = this.#entry.gpuLinks !== undefined;
    const linksAt = isOwnLink ? [...at, 'gpuLinks'] : defaults.at('gpuLinks');
    reading.findings.problem(linksAt, linksProblem(this.#ask));
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

  #args(fill: (text: string, at: ProblemPath) => string): string[] {
    const { at, defaults, reading } = this.#of;
    const own = this.#entry.args;
    const written = own ?? defaults.values.args;
    if (written === undefined) return [`{{${CPUS}}}`];
    const argsAt: ProblemPath = own === undefined ? ['defaults', 'args'] : [...at, 'args'];
    const args = written.map((word, index) => fill(String(word), [...argsAt, index]));
    let total = 0;
    for (const [index, text] of args.entries()) {
      reading.findings.problem([...argsAt, index], stringProblem(text, 'the argument'));
      total += utf8Length(text) + 1;
    }
    if (total > LAUNCH_BYTES_MAX) {
      const what = `${total} bytes of arguments; at most ${LAUNCH_BYTES_MAX}: put them into a file`;
      reading.findings.problem(argsAt, what);
    }
    return args;
  }

  #fill(text: string, at: ProblemPath, values: Values): string {
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
