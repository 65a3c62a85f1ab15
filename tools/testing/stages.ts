// The stages of `npm test`: cheap and general first, real programs last.

/** A program whose exit code is one check, or which says itself `N passed, N failed` at its end. */
export interface ProgramStage {
  readonly kind: 'program';
  readonly name: string;
  /** Script and arguments for Node, from the top of the repository. */
  readonly command: readonly [script: string, ...args: string[]];
  /** Served by the processors last: it has what all others leave idle. */
  readonly isPatient?: boolean;
}

/**
 * Folders of `*.test.ts` files: those with real processes each in a process of its own, those that
 * only compute in one.
 */
export interface TestStage {
  readonly kind: 'tests';
  readonly name: string;
  readonly folder: string;
  /** Files at a time. */
  readonly concurrency: number;
  /** A file that takes longer hangs; its process is ended and it counts as failed. */
  readonly fileTimeoutMs: number;
}

/** One step of the whole test run. */
export type Stage = ProgramStage | TestStage;

/** Far more than the longest takes on a busy machine: it ends what hangs, and judges no speed. */
const FILE_MS_MAX = 2_400_000;

/**
 * The stages row by row; those of one row run beside each other, as one that waits or uses one
 * core leaves the machine idle.
 */
export const ROWS: readonly (readonly Stage[])[] = [
  [
    // One checker: several do part of their work twice, and the row has other work.
    program('typecheck', 'node_modules/typescript/bin/tsc', '-b', '--checkers', '1'),
    program('tidy', 'tools/tidy.ts'),
    program('biome', 'node_modules/@biomejs/biome/bin/biome', 'check', '.'),
    program('unused', 'node_modules/knip/bin/knip.js', '--no-progress'),
  ],
  [
    // Not beside the typecheck, which builds into the same folders.
    program('build', 'tools/build.ts', '--compiled'),
    tests('launcher', 1),
    tests('traces', 1),
    tests('records', 1),
  ],
  [
    tests('unit', 2),
    tests('contract', 1),
    program('package', 'node_modules/publint/src/cli.js', '--strict'),
  ],
  // Clusters wait more than they work; what fails beside others runs once more at the end, alone.
  [tests('e2e', 8)],
];

/**
 * What only computes, and needs neither packages nor what is built: it takes the processors from
 * the first moment on whenever the rows leave them idle.
 */
export const BESIDE: readonly Stage[] = [
  patient(program('simulation', 'sim/main.ts', 'check')),
  patient(program('wings', 'tools/without-wings.ts')),
];

/** All stages. A test file in a folder that is not listed here fails the run. */
export const STAGES: readonly Stage[] = [...ROWS.flat(), ...BESIDE];

function program(name: string, script: string, ...args: string[]): ProgramStage {
  return { kind: 'program', name, command: [script, ...args] };
}

function patient(stage: ProgramStage): ProgramStage {
  return { ...stage, isPatient: true };
}

function tests(name: string, concurrency: number): TestStage {
  return { kind: 'tests', name, folder: `test/${name}`, concurrency, fileTimeoutMs: FILE_MS_MAX };
}

/**
 * Folders whose tests are functions of their input and leave nothing behind in their process: what
 * fails there once is wrong.
 */
const PURE =
  /^test\/unit\/(?:sim|kernel\/(?:base|model|scheduler|files|machine|runner|wire|api)|wings\/[\w-]+\/(?:model|core|machine|runner|wire))\//;

/**
 * True for a test file that starts processes or talks through sockets. One that fails is run once
 * more alone: a race is named and mended, and does not hold other work up.
 */
export function usesRealProcesses(file: string): boolean {
  const folders = ['unit', 'contract', 'launcher', 'e2e'];
  return folders.some((folder) => file.startsWith(`test/${folder}/`)) && !PURE.test(file);
}

/** What a text names that asks the system for more than its files, or waits for its clock. */
const ASKS = [
  /from 'node:(?!(?:test|assert|buffer|crypto|events|fs|os|path|stream|url|util|zlib)['/])/,
  /\bprocess\.|\bset(?:Timeout|Interval)\(|Worker\(/,
];

/** Hooks of a whole file: a shared process would run them for the tests of all its files. */
const HOOKS = /^(?:before|after)(?:Each)?\(/m;

/** Flags of V8 are those of a whole process, and who collects its garbage by hand collects all. */
const FLAGS = /\bsetFlagsFromString\(/;

/**
 * True for a test file that can share its process with others: without hooks and flags, one of a
 * pure folder, and each unit file whose own text asks the system for no more than files.
 */
export function sharesProcess(
  file: string,
  text: string,
  isRacy: (file: string) => boolean = usesRealProcesses,
): boolean {
  if (HOOKS.test(text) || FLAGS.test(text)) return false;
  const asks = ASKS.some((pattern) => pattern.test(text));
  return !isRacy(file) || (file.startsWith('test/unit/') && !asks);
}

/**
 * Files that take a minute, the longest first: begun last they would run while nothing else is
 * left.
 */
const LONGEST = [
  ...['virtual-machine', 'documents', 'first-steps', 'compose', 'pilots', 'steer-oar'],
  ...['slurm-front', 'pilots-docker', 'debian-package', 'rollout', 'steer-sge', 'setup', 'users'],
  ...['steer', 'lab', 'pool-hosts', 'site-maintenance', 'restart', 'steps', 'samples', 'hosts'],
  ...['python-package', 'batch-hosts', 'pilots-users', 'odd-machines', 'weft-site', 'mpi'],
  ...['three-sites', 'yield', 'notifications', 'brokerage', 'package', 'documented-sites'],
  ...['container-nodes', 'mpi-nodes', 'ui', 'gpus', 'slurmrestd', 'backups', 'batch-cluster'],
];

/** The order in which the files of a stage begin. */
export function inOrder(files: readonly string[]): string[] {
  const rank = (file: string) => {
    const place = LONGEST.findIndex((name) => file.endsWith(`/e2e/${name}.test.ts`));
    return place === -1 ? LONGEST.length : place;
  };
  return files.toSorted((one, other) => rank(one) - rank(other));
}

/** Test files that no stage would run. */
export function strayTests(testFiles: readonly string[]): string[] {
  const folders = STAGES.flatMap((stage) => (stage.kind === 'tests' ? [`${stage.folder}/`] : []));
  return testFiles.filter((file) => !folders.some((folder) => file.startsWith(folder)));
}
