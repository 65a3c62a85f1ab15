// The Standard Workload Format, version 2: a line per job, 18 numbers each, comments after `;`
// (Chapin et al. 1999; cs.huji.ac.il/labs/parallel/workload/swf.html). Text in, jobs out.

/** One job of a trace, as the trace tells it. */
export interface SwfJob {
  /** Field 1, as written. */
  readonly id: string;
  /** Field 2. */
  readonly submitS: number;
  /** Field 4; not above 0 when the trace does not know it. */
  readonly runS: number;
  /** Field 8, else field 5; not above 0 when the trace knows neither. */
  readonly processors: number;
  /** Field 9; null when the trace does not know it. */
  readonly estimateS: number | null;
  /** Field 10, of each processor; null when the trace does not know it. */
  readonly memoryKib: number | null;
}

/** A line that is no job. */
export interface BrokenLine {
  /** From 1, comments counted. */
  readonly line: number;
  readonly reason: string;
}

export interface SwfTrace {
  readonly jobs: readonly SwfJob[];
  readonly broken: readonly BrokenLine[];
}

const FIELD_COUNT = 18;
/** The fields that are read, by their number in the standard. */
const FIELDS = {
  submit: [2, 'submit time'],
  run: [4, 'run time'],
  allocated: [5, 'allocated processors'],
  requested: [8, 'requested processors'],
  estimate: [9, 'requested time'],
  memory: [10, 'requested memory'],
} as const;

/** Broken lines are told and left out; more than 18 fields are fine. */
export function parseSwf(text: string): SwfTrace {
  const jobs: SwfJob[] = [];
  const broken: BrokenLine[] = [];
  let line = 0;
  for (const written of text.split('\n')) {
    line += 1;
    const content = written.trim();
    if (content === '' || content.startsWith(';')) continue;
    const job = parseLine(content);
    if (typeof job === 'string') broken.push({ line, reason: job });
    else jobs.push(job);
  }
  return { jobs, broken };
}

/** The job, or what is wrong with the line. */
function parseLine(content: string): SwfJob | string {
  const words = content.split(/\s+/, FIELD_COUNT);
  if (words.length < FIELD_COUNT) {
    return `${words.length} fields, a job has ${FIELD_COUNT}`;
  }
  const values = {} as Record<keyof typeof FIELDS, number>;
  for (const [key, [field, title]] of Object.entries(FIELDS)) {
    const word = words[field - 1] as string;
    const value = numberOf(word);
    if (value === null) return `field ${field} (${title}) is no number: '${word.slice(0, 40)}'`;
    values[key as keyof typeof FIELDS] = value;
  }
  if (values.submit < 0) return 'field 2 (submit time) is not known';
  return {
    id: words[0] as string,
    submitS: values.submit,
    runS: values.run,
    processors: values.requested > 0 ? values.requested : values.allocated,
    estimateS: values.estimate > 0 ? values.estimate : null,
    memoryKib: values.memory > 0 ? values.memory : null,
  };
}

/** Decimal only: `Number` alone would take `0x10` and an empty word. */
function numberOf(word: string): number | null {
  return /^[-+]?\d+(\.\d*)?([eE][-+]?\d+)?$/.test(word) ? Number(word) : null;
}
