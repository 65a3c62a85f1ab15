// From what was written to a batch, with everything that is wrong with it: whatever the problems,
// the reading goes on to the end, so that all of them are told at once.

import { type FileUse, Findings } from '../../../kernel/files/findings.ts';
import type { Glob } from '../../../kernel/files/glob.ts';
import { batchNameProblem, nameProblem } from '../../../kernel/files/names.ts';
import { keepsNothing, parseOutputPattern } from '../../../kernel/files/output-patterns.ts';
import type { Problem, ProblemPath } from '../../../kernel/files/problem.ts';
import type { BatchFile, Notice, Solver } from './batch.ts';
import { parseTime } from './compile-ask.ts';
import { compileEnvironment } from './compile-environment.ts';
import { compileFiles, compileSolver } from './compile-files.ts';
import { compileJobs } from './compile-jobs.ts';
import { compileNeeds } from './compile-needs.ts';
import { compileSlurm } from './compile-slurm.ts';
import { isEngineSolver } from './containers.ts';
import { placeholdersIn } from './placeholders.ts';
import { isOwnProgram } from './targets.ts';
import type { WrittenBatch, WrittenNotice, WrittenSolver } from './written.ts';

export interface Compiled {
  /** To be used only without problems. */
  readonly batch: BatchFile;
  readonly problems: readonly Problem[];
  /** Every file that the batch names, for whoever can look whether it is there. */
  readonly uses: readonly FileUse[];
}

export function compileBatch(written: WrittenBatch, origin: BatchFile['origin']): Compiled {
  const findings = new Findings();
  const fills = origin === 'weft';
  const fill = (text: string, at: ProblemPath): string => {
    if (fills && placeholdersIn(text).length > 0) {
      findings.problem(at, '{{…}} stands for a value of the sweep, which only jobs have');
    }
    return text;
  };
  const files = { must: 'file or folder', fill, findings } as const;
  const namespace = String(written.namespace);
  const name = String(written.name);
  findings.problem(['namespace'], nameProblem(namespace));
  findings.problem(['name'], batchNameProblem(name));
  const solver = compileSolver(written.solver, files);
  const batch: BatchFile = {
    namespace,
    name,
    origin,
    needs: compileNeeds(written.needs ?? [], ['needs'], findings),
    env: compileEnvironment(written.env, ['env'], { solver, ...files }),
    solver,
    ...compileBuildTime(written.solver, solver, findings),
    files: compileFiles(written.files ?? [], ['files'], files),
    jobs: compileJobs(written, { solver, fills, findings }),
    outputs: compileOutputs(written.outputs ?? ['**'], findings),
    after: compileAfter(written.after ?? [], findings),
    notices: compileNotices(written.notify ?? [], findings),
    slurm: compileSlurm(written.slurm ?? {}, ['slurm'], findings),
  };
  return { batch, problems: findings.problems, uses: findings.uses };
}

function compileOutputs(outputs: readonly string[], findings: Findings): readonly string[] {
  const globs: Glob[] = [];
  for (const [index, text] of outputs.entries()) {
    const glob = parseOutputPattern(text);
    if (glob.ok) globs.push(glob.value);
    else findings.problem(['outputs', index], glob.error);
  }
  const nothing = keepsNothing(globs);
  if (nothing !== null) findings.problem(['outputs'], `${nothing}; [] says that nothing is kept`);
  return outputs;
}

function compileAfter(after: readonly string[], findings: Findings): BatchFile['after'] {
  return after.map((text, index) => {
    const [namespace = '', name = '', ...more] = text.split('/');
    const wrong = nameProblem(namespace) ?? nameProblem(name);
    if (wrong !== null || more.length > 0) {
      const what = `'${text}': expected NAMESPACE/NAME of another batch, as alice_wing/mesh_01`;
      findings.problem(['after', index], what);
    }
    return { namespace, name };
  });
}

const NOTICES: Readonly<
  Record<keyof WrittenNotice, { readonly form: RegExp; readonly expected: string }>
> = {
  matrix: {
    form: /^([@#][^\s:]+:\S+|!\S+)$/,
    expected: 'a Matrix user or room, as @alice:example.org, !id:example.org or #lab:example.org',
  },
  webhook: { form: /^https?:\/\/\S+$/, expected: 'a URL that begins with https:// or http://' },
  command: { form: /\S/, expected: 'the name of a command of the site' },
  mail: { form: /^[^\s@]+@[^\s@]+$/, expected: 'an address, as alice@example.org' },
};
const KINDS = Object.keys(NOTICES) as (keyof WrittenNotice)[];

function compileNotices(notify: readonly WrittenNotice[], findings: Findings): Notice[] {
  return notify.flatMap((written, index) => {
    const at = ['notify', index];
    const [kind, ...others] = KINDS.filter((one) => written[one] !== undefined);
    if (kind === undefined || others.length > 0) {
      findings.problem(at, `needs exactly one of ${KINDS.join(', ')}`);
      return [];
    }
    const text = written[kind] ?? '';
    const { form, expected } = NOTICES[kind];
    if (!form.test(text)) findings.problem([...at, kind], `'${text}': expected ${expected}`);
    else if (kind === 'command' && isOwnProgram(text))
      findings.use({ path: text, at: [...at, kind], must: 'program' });
    return [noticeOf(kind, text)];
  });
}

function noticeOf(kind: keyof WrittenNotice, text: string): Notice {
  if (kind === 'matrix') return { kind, user: text };
  if (kind === 'webhook') return { kind, url: text };
  return kind === 'command' ? { kind, command: text } : { kind, address: text };
}

/** How long a node may take to build the solver of a batch, or to fetch its image. */
function compileBuildTime(
  written: WrittenSolver | undefined,
  solver: Solver | null,
  findings: Findings,
): Pick<BatchFile, 'buildMs'> {
  if (written?.time === undefined) return {};
  const at = ['solver', 'time'];
  if (solver !== null && solver.kind !== 'build' && !isEngineSolver(solver)) {
    findings.problem(at, 'nothing is built or fetched for an image of apptainer', 'key');
    return {};
  }
  const time = parseTime(String(written.time));
  if (!time.ok) findings.problem(at, time.error);
  else if (time.value < 1000) findings.problem(at, `'${written.time}' is less than a second`);
  return time.ok ? { buildMs: time.value } : {};
}
