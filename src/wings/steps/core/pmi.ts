// How processes of one step find each other: the wire protocol of PMI-1, as MPICH and its kin speak
// it. One space of keys and values, in which each process puts its addresses; a barrier; and then
// each reads those of the others. Whoever started the step answers.

/** What each side may say, as the processes are told. */
const KEY_MAX = 64;
const VALUE_MAX = 1024;
const NAME_MAX = 256;
/** Longer is no line of the protocol. */
const LINE_MAX = 8 * 1024;
/** Bytes of keys and values of all processes together. */
const KEPT_BYTES_MAX = 64 * 1024 * 1024;

export interface PmiAnswer {
  readonly rank: number;
  readonly text: string;
}

export interface RankEnd {
  readonly rank: number;
  readonly code: number;
}

export class PmiSpace {
  readonly #nodes: readonly string[];
  readonly #name: string;
  readonly #values = new Map<string, string>();
  readonly #rests = new Map<number, string>();
  readonly #waiting = new Set<number>();
  readonly #begun = new Set<number>();
  readonly #finished = new Set<number>();
  /** The exit code of each that is gone. */
  readonly #ended = new Map<number, number>();
  #keptBytes = 0;
  #aborted: RankEnd | null = null;

  /** `nodes`: of each process, by rank. */
  constructor(name: string, nodes: readonly string[]) {
    this.#name = name;
    this.#nodes = nodes;
    this.#values.set('PMI_process_mapping', mappingOf(nodes));
  }

  /** A process has asked the others to end with this code. */
  get aborted(): RankEnd | null {
    return this.#aborted;
  }

  /** None of its processes speaks the protocol. */
  get isUnused(): boolean {
    return this.#begun.size === 0;
  }

  /** A process is gone. */
  end(rank: number, code: number): void {
    this.#ended.set(rank, code);
  }

  /**
   * The first that is gone and has not said that it is done, also before it began: those that have
   * begun would wait for it for ever. Null: none, or nobody speaks the protocol so far.
   */
  get missed(): RankEnd | null {
    if (this.isUnused) return null;
    for (const [rank, code] of this.#ended) if (!this.#finished.has(rank)) return { rank, code };
    return null;
  }

  hear(rank: number, bytes: string): PmiAnswer[] {
    const lines = ((this.#rests.get(rank) ?? '') + bytes).split('\n');
    const rest = lines.pop() ?? '';
    this.#rests.set(rank, rest.slice(0, LINE_MAX));
    return lines.flatMap((line) => this.#answer(rank, line));
  }

  #answer(rank: number, line: string): PmiAnswer[] {
    const said = wordsOf(line);
    const command = said.get('cmd') ?? said.get('mcmd') ?? '';
    const one = (text: string): PmiAnswer[] => [{ rank, text: `${text}\n` }];
    switch (command) {
      case 'init':
        this.#begun.add(rank);
        return one('cmd=response_to_init pmi_version=1 pmi_subversion=1 rc=0');
      case 'get_maxes':
        return one(
          `cmd=maxes kvsname_max=${NAME_MAX} keylen_max=${KEY_MAX} vallen_max=${VALUE_MAX}`,
        );
      case 'get_appnum':
        return one('cmd=appnum appnum=0');
      case 'get_universe_size':
        return one(`cmd=universe_size size=${this.#nodes.length}`);
      case 'get_my_kvsname':
        return one(`cmd=my_kvsname kvsname=${this.#name}`);
      case 'put':
        return one(this.#put(said));
      case 'get':
        return one(this.#get(said.get('key') ?? ''));
      case 'barrier_in':
        return this.#barrier(rank);
      case 'finalize':
        this.#finished.add(rank);
        return one('cmd=finalize_ack rc=0');
      case 'abort':
        this.#aborted ??= { rank, code: Number(said.get('exitcode') ?? 1) || 1 };
        return [];
      case 'endcmd':
        return [];
      default:
        return one(`cmd=${ANSWERS[command] ?? `${command}_result`} rc=-1 msg=not_here`);
    }
  }

  #put(said: ReadonlyMap<string, string>): string {
    const [key = '', value = ''] = [said.get('key'), said.get('value')];
    const isGood = key !== '' && key.length <= KEY_MAX && value.length <= VALUE_MAX;
    this.#keptBytes += key.length + value.length;
    if (!isGood || this.#keptBytes > KEPT_BYTES_MAX) return 'cmd=put_result rc=-1 msg=too_long';
    this.#values.set(key, value);
    return 'cmd=put_result rc=0 msg=success';
  }

  #get(key: string): string {
    const value = this.#values.get(key);
    if (value === undefined) return 'cmd=get_result rc=-1 msg=key_not_found value=unknown';
    return `cmd=get_result rc=0 msg=success value=${value}`;
  }

  #barrier(rank: number): PmiAnswer[] {
    this.#waiting.add(rank);
    if (this.#waiting.size < this.#nodes.length) return [];
    const all = [...this.#waiting].map((one) => ({ rank: one, text: 'cmd=barrier_out rc=0\n' }));
    this.#waiting.clear();
    return all;
  }
}

/** What the answer is called where it is not `…_result`. */
const ANSWERS: Readonly<Record<string, string>> = { getbyidx: 'getbyidx_results' };

function wordsOf(line: string): ReadonlyMap<string, string> {
  const words = new Map<string, string>();
  for (const word of line.slice(0, LINE_MAX).split(' ')) {
    const at = word.indexOf('=');
    if (at > 0) words.set(word.slice(0, at), word.slice(at + 1));
  }
  return words;
}

/** `(vector,(0,2,4),(2,1,1))`: from node 0 on two nodes of four processes each, then one of one. */
function mappingOf(nodes: readonly string[]): string {
  const counts: number[] = [];
  for (const [rank, node] of nodes.entries()) {
    if (rank > 0 && nodes[rank - 1] === node) counts[counts.length - 1] = (counts.at(-1) ?? 0) + 1;
    else counts.push(1);
  }
  const blocks: string[] = [];
  for (let at = 0; at < counts.length; ) {
    let until = at + 1;
    while (counts[until] === counts[at]) until += 1;
    blocks.push(`(${at},${until - at},${counts[at]})`);
    at = until;
  }
  return `(vector,${blocks.join(',')})`;
}
