// A Slurm that behaves as it is told: takes jobs by `sbatch`, lists them, loses answers, talks
// rubbish.

import { spawnSync } from 'node:child_process';
import type { Command, CommandEnd, Commands } from '../../../../../../src/kernel/ports/commands.ts';

/**
 * `late`: it says yes, and does it when told to; `hangs late`: it says nothing, and does it then.
 */
type Mood = 'lost' | 'cut' | 'hangs' | 'refuses' | 'rubbish' | 'late' | 'hangs late';

interface Job {
  readonly id: number;
  readonly name: string;
  readonly script: string;
  state: string;
  exit: number;
  nodes: string;
  /** More of what is listed of it. */
  more?: Readonly<Record<string, unknown>>;
}

export class FakeSlurm implements Commands {
  readonly jobs: Job[] = [];
  /** In no listing, though they are there. */
  readonly #hidden = new Set<number>();
  readonly ran: string[][] = [];
  /** How the next commands of this name end; then as usual. */
  readonly moods = new Map<string, Mood[]>();
  readonly #late: (() => unknown)[] = [];

  readonly nodes: Record<string, unknown>[] = [
    { name: 'n1', state: 'idle', cpus: 2, alloc_cpus: 0, real_memory: 1000 },
  ];

  /** Whether commands that hang are there after their end. */
  stuck = false;

  /** Commands that it refuses whatever its moods. */
  refuses = (_argv: readonly string[]): boolean => false;

  /** What the site does before the end of a connection is noticed. */
  onCut = (): void => undefined;

  async run({ argv, input = '' }: Command): Promise<CommandEnd> {
    this.ran.push([...argv]);
    const mood = this.moods.get(argv[0] ?? '')?.shift();
    if (mood === 'hangs') return { ...end(null, '', ''), isThere: () => this.stuck };
    if (mood === 'refuses' || this.refuses(argv))
      return end(1, '', `${argv[0]}: error: Invalid qos specification`);
    if (mood === 'rubbish') return end(0, '<html>Please log in</html>', '');
    if (mood === 'late' || mood === 'hangs late') {
      this.#late.push(() => this.#answer(argv, input));
      return end(mood === 'late' ? 0 : null, '', '');
    }
    const answer = this.#answer(argv, input);
    // As of ssh when its connection ends after the site has heard all.
    if (mood === 'cut') {
      this.onCut();
      return end(255, '', 'client_loop: send disconnect: Broken pipe');
    }
    return mood === 'lost' ? end(null, '', '') : answer;
  }

  #answer(argv: readonly string[], input: string): CommandEnd {
    switch (argv[0]) {
      case 'sbatch': {
        const name = /^--job-name=(.*)$/.exec(argv[3] ?? '')?.[1] ?? '';
        const id = this.jobs.length + 101;
        this.jobs.push({ id, name, script: input, state: 'PENDING', exit: 0, nodes: '' });
        return end(0, `${id}\n`, '');
      }
      case 'scancel': {
        const job = this.jobs.find(({ id }) => String(id) === argv[1]);
        if (job !== undefined && job.state !== 'COMPLETED') job.state = 'CANCELLED';
        return end(0, '', '');
      }
      case 'sinfo':
        return end(0, JSON.stringify({ errors: [], nodes: this.nodes }), '');
      case 'scontrol':
        return this.#update(argv);
      default:
        return argv.includes('--json') ? this.#list() : this.#named(argv);
    }
  }

  /** Drains nodes, and undoes it; a drained node keeps the reason. */
  #update(argv: readonly string[]): CommandEnd {
    const value = (name: string): string | undefined =>
      argv.find((word) => word.startsWith(`${name}=`))?.slice(name.length + 1);
    const job = this.jobs.find(({ id }) => String(id) === value('jobid'));
    const comment = value('AdminComment');
    if (job !== undefined && comment !== undefined)
      job.more = { ...job.more, admin_comment: comment };
    const node = this.nodes.find(({ name }) => name === value('nodename'));
    if (node === undefined) return end(0, '', '');
    const [state, reason] = [value('state'), value('reason')];
    if (state === 'drain') Object.assign(node, { state_flags: ['DRAIN'], reason });
    else if (state === 'undrain') Object.assign(node, { state_flags: [], reason: '' });
    else if (reason !== undefined) Object.assign(node, { reason });
    return end(0, '', '');
  }

  #list(): CommandEnd {
    // One that is purged has left its place only.
    const seen = this.jobs.filter(({ id }) => id > 0 && !this.#hidden.has(id));
    const jobs = seen.map(({ id, name, state, exit, nodes, more }) => ({
      job_id: id,
      name,
      user_name: 'ann',
      job_state: state,
      state_reason: 'None',
      exit_code: exit,
      nodes,
      node_count: 1,
      cpus: 1,
      start_time: 1,
      end_time: 2,
      ...more,
    }));
    return end(0, JSON.stringify({ errors: [], jobs }), '');
  }

  #known(id: string): CommandEnd {
    const isThere = this.jobs.some((one) => String(one.id) === id);
    if (isThere) return end(0, `${id}\n`, '');
    return end(1, '', 'slurm_load_jobs error: Invalid job id specified');
  }

  #named(argv: readonly string[]): CommandEnd {
    const at = argv.indexOf('-j');
    if (at >= 0) return this.#known(argv[at + 1] ?? '');
    const wanted = argv.find((word) => word.startsWith('--name='))?.slice('--name='.length);
    const found = this.jobs.filter(({ name }) => name === wanted);
    return end(0, found.map(({ id }) => `${id}\n`).join(''), '');
  }

  /** A job of one of its own users; its id. */
  give(name: string): number {
    const id = this.jobs.length + 101;
    this.jobs.push({ id, name, script: '', state: 'PENDING', exit: 0, nodes: '' });
    return id;
  }

  set(id: number, change: Partial<Pick<Job, 'state' | 'exit' | 'nodes' | 'more'>>): void {
    Object.assign(this.jobs.find((one) => one.id === id) ?? {}, change);
  }

  /** What was put off is done now. */
  doLate(): void {
    for (const act of this.#late.splice(0)) act();
  }

  hide(id: number): void {
    this.#hidden.add(id);
  }

  /** Runs its script to the end, as a node of the site would. */
  execute(id: number): void {
    const job = this.jobs.find((one) => one.id === id);
    if (job === undefined) throw new Error(`no job ${id}`);
    job.nodes = 'n1';
    const { status } = spawnSync('sh', { input: job.script });
    Object.assign(job, { state: 'COMPLETED', exit: (status ?? 255) << 8 });
  }

  /** Finished long ago: it is forgotten. */
  purge(id: number): void {
    const at = this.jobs.findIndex((one) => one.id === id);
    this.jobs.splice(at, 1, {
      id: -1,
      name: '',
      script: '',
      state: 'COMPLETED',
      exit: 0,
      nodes: '',
    });
  }
}

function end(code: number | null, output: string, errors: string): CommandEnd {
  const how = code === null ? 'it took longer' : `exit code ${code}`;
  return { succeeded: code === 0, code, how, output, errors, isThere: () => false };
}
