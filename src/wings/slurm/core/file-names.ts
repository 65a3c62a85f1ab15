// Names of files with Slurm's patterns, in ours.

import { ATTACHED_STDIN, CLIENT_STDIN } from '../../../kernel/model/job.ts';
import { bad } from './bad.ts';
import type { BatchOption } from './batch-options.ts';

/** Where ranks of a job are. */
interface Ranks {
  readonly nodes: number;
  readonly perNode: number;
}

export function ranksOf({
  nodes,
  ranksPerNode = '1',
}: {
  readonly nodes: string;
  readonly ranksPerNode?: string;
}): Ranks {
  return { nodes: Number(nodes), perNode: Number(ranksPerNode) };
}

/** Where a file's name is said; `ranks` is null for that of a script, which is one program. */
interface FilePlace {
  readonly isArray: boolean;
  readonly ranks: Ranks | null;
}

/** The number of a rank in our words: there is none of several ranks on each of several nodes. */
function rankField({ nodes, perNode }: Ranks): string | null {
  if (nodes > 1 && perNode > 1) return null;
  return nodes > 1 ? '%n' : '%p';
}

/** A file's name with Slurm's patterns in ours: in an array `%j` is each task's own. */
export function fileOf(name: BatchOption, text: string, { isArray, ranks }: FilePlace): string {
  // As in Slurm: nothing stands for anything in a name with one of these, and they are left out.
  if (text.includes('\\')) return text.replaceAll('\\', '').replaceAll('%', '%%');
  const rank = ranks === null ? '0' : rankField(ranks);
  const id = isArray ? '%j_%a' : '%j';
  const FIELDS: Readonly<Record<string, string>> = {
    A: '%j',
    j: id,
    J: ranks === null ? id : `${id}.0`,
    a: isArray ? '%a' : '4294967294',
    N: '%N',
    n: '%n',
    u: '%u',
    x: '%x',
    s: ranks === null ? 'batch' : '0',
    '%': '%%',
    ...(rank !== null && { t: rank }),
  };
  return text.replace(/%(\d*)(.?)/gs, (said, width: string, letter: string) => {
    if (letter === 't' && rank === null)
      bad(`--${name}: %t of several ranks on each of several nodes is honoured in a script alone`);
    const field = FIELDS[letter] ?? bad(`--${name}: ${said} stands for nothing here`);
    // Numbers alone have leading zeros, ten of them at most.
    const zeros = Math.min(10, Number(width));
    if (/^\d+$/.test(field)) return field.padStart(zeros, '0');
    return zeros > 0 && /[AjJant]/.test(letter) ? field.replace('%', `%${zeros}`) : field;
  });
}

/** In Slurm every word names a file, also those that name none here. */
export function inputFile(name: string): string {
  return name === ATTACHED_STDIN || name === CLIENT_STDIN ? `./${name}` : name;
}
