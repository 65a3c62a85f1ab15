// Nodes as a grid of cells, readable with thousands: the colour says how a node is, the filling how
// much of it is used.

import type { NodeView } from '../../api/nodes.ts';
import { hrefOf } from '../data/route.ts';
import { nodeTone, nodeWord } from '../pure/state.ts';
import { shareWords, sizeWords, some } from '../pure/words.ts';
import { Command, Empty } from './basic.tsx';

/** With more of them cells have no names. */
const NAMED_MAX = 60;

export function NodeGrid({ nodes }: { nodes: readonly NodeView[] }) {
  if (nodes.length === 0) {
    return (
      <Empty>
        No node has joined. On the head’s machine <Command text="weft token join" /> says what to
        type on the others.
      </Empty>
    );
  }
  const counts = new Map<string, number>();
  for (const node of nodes) counts.set(nodeWord(node), (counts.get(nodeWord(node)) ?? 0) + 1);
  return (
    <>
      <p class="faint tallies">
        {some(nodes.length, 'node')}:{' '}
        {[...counts].map(([word, count]) => (
          <span key={word} class="key">
            <i class={nodeTone(word as ReturnType<typeof nodeWord>)} /> {count} {word}
          </span>
        ))}
        <span class="spare">filled as far as cpus, memory and gpus are in use</span>
      </p>
      <ul class={nodes.length > NAMED_MAX ? 'grid small' : 'grid'}>
        {nodes.map((node) => (
          <li key={node.name}>
            <Cell node={node} isNamed={nodes.length <= NAMED_MAX} />
          </li>
        ))}
      </ul>
    </>
  );
}

function Cell({ node, isNamed }: { node: NodeView; isNamed: boolean }) {
  const { name, total, free } = node;
  const word = nodeWord(node);
  const cpus = total.cpuCount - free.cpuCount;
  const memory = total.memoryBytes - free.memoryBytes;
  const gpus = total.gpuCount - free.gpuCount;
  const words = [
    `${name}: ${word}`,
    `${cpus} of ${some(total.cpuCount, 'cpu')}`,
    `${sizeWords(memory)} of ${sizeWords(total.memoryBytes)} memory`,
    ...(total.gpuCount > 0 ? [`${gpus} of ${some(total.gpuCount, 'gpu')}`] : []),
    ...(node.reason === null ? [] : [node.reason]),
  ].join(', ');
  const share = (part: number, whole: number) => ({ height: shareWords(part, whole) });
  return (
    <a
      class={`node ${nodeTone(word)}`}
      href={hrefOf(['nodes', name])}
      title={words}
      aria-label={words}
    >
      <span class="fills" aria-hidden="true">
        <i style={share(cpus, total.cpuCount)} />
        <i style={share(memory, total.memoryBytes)} />
        {total.gpuCount > 0 && <i style={share(gpus, total.gpuCount)} />}
      </span>
      {isNamed && <span class="name">{name}</span>}
    </a>
  );
}
