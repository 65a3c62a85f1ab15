// A month of a cluster as one page that is read in a mail: who used what, how well, and who waited.

import { plural } from '../../../kernel/base/plural.ts';

/** Sums of what ended in the month. */
export interface Used {
  readonly key: string;
  readonly tasks: number;
  readonly cpuHours: number;
  readonly usedCpuHours: number;
  readonly gibHours: number;
  readonly gpuHours?: number | undefined;
}

/** One job of the month. */
export interface Waited {
  readonly owner: string;
  readonly waitedMs: number;
}

export interface Month {
  /** `November 2026`. */
  readonly title: string;
  readonly cluster: string;
  readonly byUser: readonly Used[];
  readonly byOutcome: readonly Used[];
  readonly waits: readonly Waited[];
  /** The month has more jobs than were looked at for waits. */
  readonly isCut: boolean;
}

/** A user with more cpu hours than this, of which less than this share was work, is named. */
const NOTED_CPU_HOURS = 10;
const NOTED_SHARE = 0.25;
/** Rows of a table; the rest is one row. */
const USERS_MAX = 50;

/** Markdown, which is plain text too. */
export function reportText(month: Month): string {
  const { title, cluster, byUser, byOutcome } = month;
  const heading = `# ${title} on ${cluster}`;
  if (byUser.length === 0) return `${heading}\n\nNothing ended in that month.\n`;
  return [
    heading,
    summary(byUser, byOutcome),
    usersTable(month),
    outcomesTable(byOutcome),
    ...remarks(byUser),
    ...(month.isCut ? [`Waits are those of the newest ${month.waits.length} jobs.`] : []),
  ]
    .join('\n\n')
    .concat('\n');
}

function summary(byUser: readonly Used[], byOutcome: readonly Used[]): string {
  const all = sumOf('all', byUser);
  const completed = byOutcome.find(({ key }) => key === 'completed')?.tasks ?? 0;
  const used = `${hours(all.cpuHours)} cpu hours, of which ${share(all)} were worked`;
  const well = `${percent(completed, all.tasks)} of the tasks completed`;
  return `${plural(byUser.length, 'user')}, ${plural(all.tasks, 'task')}: ${used}; ${well}.`;
}

function usersTable({ byUser, waits }: Month): string {
  const sorted = [...byUser].sort((a, b) => b.cpuHours - a.cpuHours);
  const shown = sorted.slice(0, USERS_MAX);
  const rest = sorted.slice(USERS_MAX);
  const rows = shown.map((used) => {
    const own = waits.filter(({ owner }) => owner === used.key).map(({ waitedMs }) => waitedMs);
    return [...amounts(used), span(middle(own)), span(Math.max(0, ...own))];
  });
  if (rest.length > 0) {
    rows.push([...amounts(sumOf(`${rest.length} others`, rest)), '', '']);
  }
  const titles = [
    'user',
    'tasks',
    'cpu hours',
    'worked',
    'GiB hours',
    'gpu hours',
    'half waited',
    'longest',
  ];
  return table(titles, rows);
}

function outcomesTable(byOutcome: readonly Used[]): string {
  const sorted = [...byOutcome].sort((a, b) => b.tasks - a.tasks);
  const rows = sorted.map(({ key, tasks, cpuHours }) => [key, String(tasks), hours(cpuHours)]);
  return table(['outcome', 'tasks', 'cpu hours'], rows);
}

function remarks(byUser: readonly Used[]): string[] {
  const idle = byUser.filter(({ cpuHours, usedCpuHours }) => {
    return cpuHours >= NOTED_CPU_HOURS && usedCpuHours < cpuHours * NOTED_SHARE;
  });
  return idle.map((used) => {
    const words = `worked ${share(used)} of the cpus that they held`;
    return `- Jobs of ${cell(used.key)} ${words}: fewer cpus would do (\`weft history -u ${cell(used.key)}\`).`;
  });
}

const amounts = (used: Used): string[] => [
  used.key,
  String(used.tasks),
  hours(used.cpuHours),
  share(used),
  hours(used.gibHours),
  hours(used.gpuHours ?? 0),
];

function sumOf(key: string, all: readonly Used[]): Used {
  const sum = (of: (used: Used) => number): number =>
    all.reduce((total, one) => total + of(one), 0);
  return {
    key,
    tasks: sum(({ tasks }) => tasks),
    cpuHours: sum(({ cpuHours }) => cpuHours),
    usedCpuHours: sum(({ usedCpuHours }) => usedCpuHours),
    gibHours: sum(({ gibHours }) => gibHours),
    gpuHours: sum(({ gpuHours = 0 }) => gpuHours),
  };
}

function table(titles: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string => `| ${cells.map(cell).join(' | ')} |`;
  const rule = `|${titles.map((_, at) => (at === 0 ? '---|' : '---:|')).join('')}`;
  return [line(titles), rule, ...rows.map(line)].join('\n');
}

/** A name that somebody else chose breaks no table. */
const cell = (text: string): string => text.replace(/[|\\`\r\n]/g, '?');

/** Three digits that say something. */
function hours(amount: number): string {
  if (amount === 0) return '0';
  return amount < 0.01 ? '<0.01' : String(Number(amount.toPrecision(3)));
}

const percent = (part: number, all: number): string =>
  all === 0 ? '-' : `${Math.round((part / all) * 100)} %`;

const share = ({ cpuHours, usedCpuHours }: Used): string => percent(usedCpuHours, cpuHours);

function middle(all: readonly number[]): number {
  return [...all].sort((a, b) => a - b)[Math.floor((all.length - 1) / 2)] ?? 0;
}

function span(ms: number): string {
  const minutes = ms / 60_000;
  if (minutes < 1) return `${Math.round(ms / 1000)}s`;
  if (minutes < 120) return `${Math.round(minutes)}m`;
  return minutes < 2880 ? `${Math.round(minutes / 60)}h` : `${Math.round(minutes / 1440)}d`;
}
