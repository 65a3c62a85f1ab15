// All nodes, as a grid and as a table.

import { useMemo } from 'preact/hooks';
import { gpusInUse } from '../../api/gpus-in-use.ts';
import { headNow } from '../../api/head-time.ts';
import type { NodeView } from '../../api/nodes.ts';
import { labelsForPeople } from '../../model/own-labels.ts';
import { now } from '../data/clock.ts';
import { useCall } from '../data/query.ts';
import { hrefOf, useChosen } from '../data/route.ts';
import { Bar, Command, Loaded, NodeState, Panel, SearchField } from '../parts/basic.tsx';
import { type Column, LongTable } from '../parts/long-table.tsx';
import { NodeGrid } from '../parts/node-grid.tsx';
import { bySorting, sortingOf } from '../pure/sorting.ts';
import { nodeWord } from '../pure/state.ts';
import { ownClock, sizeWords, spanWords } from '../pure/words.ts';

const EVERY_MS = 15_000;

const KEYS = ['name', 'state', 'cpus', 'memory', 'running'] as const;
type Key = (typeof KEYS)[number];

const COLUMNS: readonly Column<NodeView, Key>[] = [
  {
    title: 'Node',
    width: '16%',
    sort: 'name',
    cell: ({ name }) => <a href={hrefOf(['nodes', name])}>{name}</a>,
  },
  {
    title: 'State',
    width: '112px',
    sort: 'state',
    cell: (node) => <NodeState word={nodeWord(node)} />,
  },
  {
    title: 'Cpus',
    width: '130px',
    sort: 'cpus',
    number: true,
    cell: ({ total, free }) => (
      <Amount part={total.cpuCount - free.cpuCount} whole={total.cpuCount} words={String} />
    ),
  },
  {
    title: 'Memory',
    width: '150px',
    sort: 'memory',
    number: true,
    spare: true,
    cell: ({ total, free }) => (
      <Amount
        part={total.memoryBytes - free.memoryBytes}
        whole={total.memoryBytes}
        words={sizeWords}
      />
    ),
  },
  {
    title: 'Gpus',
    width: '60px',
    number: true,
    spare: true,
    cell: (node) => (node.total.gpuCount === 0 ? '' : `${gpusInUse(node)}/${node.total.gpuCount}`),
  },
  {
    title: 'Load',
    width: '60px',
    number: true,
    spare: true,
    cell: ({ load }) => load?.load1.toFixed(1) ?? '',
  },
  {
    title: 'Tasks',
    width: '70px',
    sort: 'running',
    number: true,
    cell: ({ running }) => running.length,
  },
  { title: 'Remark', spare: true, cell: remarkOf },
];

function remarkOf(node: NodeView): string {
  if (node.reason !== null) return ownClock(node.reason, headNow());
  if (node.maintenance === null) return labelsForPeople(node.labels).join(', ');
  const { from, reason } = node.maintenance;
  return `maintenance in ${spanWords(Math.max(0, from - now.value))}: ${reason}`;
}

function Amount({
  part,
  whole,
  words,
}: {
  part: number;
  whole: number;
  words: (amount: number) => string;
}) {
  const label = `${words(part)} of ${words(whole)}`;
  return (
    <span class="amount">
      {label.replace(' of ', '/')} <Bar part={part} whole={whole} label={label} />
    </span>
  );
}

export function Nodes() {
  const nodes = useCall(
    'listNodes',
    {},
    {
      when: ({ kind }) => /^(node|part|task|maintenance)_/.test(kind),
      everyMs: EVERY_MS,
      togetherMs: 1000,
    },
  );
  return (
    <div class="page fill">
      <h1>Nodes</h1>
      <Loaded answer={nodes}>{(value) => <Shown nodes={value.nodes} />}</Loaded>
    </div>
  );
}

function Shown({ nodes }: { nodes: readonly NodeView[] }) {
  const [by, setBy] = useChosen('by', 'name');
  const sorting = sortingOf(by, KEYS);
  const [search, setSearch] = useChosen('search');
  const rows = useMemo(() => sorted(nodes, search, sorting), [nodes, search, by]);
  return (
    <>
      <Panel title="All nodes" aside={<Command text="weft node list" />}>
        <div class="grid-box">
          <NodeGrid nodes={nodes} />
        </div>
      </Panel>
      <search class="filters">
        <SearchField text={search} hint="name, state, label" onText={setSearch} />
      </search>
      <LongTable
        label="Nodes"
        rows={rows}
        columns={COLUMNS}
        idOf={({ name }) => name}
        sorting={sorting}
        onSort={(key) => setBy(bySorting({ key, down: sorting.key === key && !sorting.down }))}
      />
    </>
  );
}

function sorted(
  nodes: readonly NodeView[],
  search: string,
  { key, down }: { key: Key; down: boolean },
) {
  const wanted = search.toLowerCase();
  const found = nodes.filter((node) =>
    [node.name, nodeWord(node), ...node.labels].join('\n').toLowerCase().includes(wanted),
  );
  const value = (node: NodeView): number | string => {
    if (key === 'name') return node.name;
    if (key === 'state') return nodeWord(node);
    if (key === 'running') return node.running.length;
    return key === 'cpus' ? node.free.cpuCount : node.free.memoryBytes;
  };
  const byName = new Intl.Collator('en', { numeric: true }).compare;
  const compare = (one: NodeView, other: NodeView): number => {
    const [a, b] = [value(one), value(other)];
    const order =
      typeof a === 'number' && typeof b === 'number' ? a - b : byName(String(a), String(b));
    return (down ? -order : order) || byName(one.name, other.name);
  };
  return found.sort(compare);
}
