// The builds of a batch's solver, by node: which came out well, and the log of each.

import { useState } from 'preact/hooks';
import { call } from '../../../kernel/page/data/client.ts';
import { useAnswer } from '../../../kernel/page/data/query.ts';
import { hrefOf } from '../../../kernel/page/data/route.ts';
import { isOperator, me } from '../../../kernel/page/data/session.ts';
import { type Action, Actions } from '../../../kernel/page/parts/actions.tsx';
import { Command, Loaded, Panel, SearchField } from '../../../kernel/page/parts/basic.tsx';
import { OutputLines } from '../../../kernel/page/parts/output/output-lines.tsx';
import { useOutput } from '../../../kernel/page/parts/output/use-output.ts';
import { some } from '../../../kernel/page/pure/words.ts';
import type { BatchDetail } from '../api/batches.ts';
import { isOfBatches } from './events.ts';
import '../api/paths.ts';
import { firstStartOn, type Start } from './first-start.ts';

const PAGE_JOBS = 1000;
/** All jobs are looked through anew. */
const TOGETHER_MS = 10_000;

interface Build {
  readonly node: string;
  readonly isGood: boolean;
  /** The start that built it; null: it was built for another batch. */
  readonly start: Start | null;
}

export function Builds({ batch }: { batch: BatchDetail }) {
  const [shown, setShown] = useState<string | null>(null);
  const { failedBuilds, readyBuilds, title } = batch;
  const failed = failedBuilds.map(({ node, id, epoch }) => ({
    node,
    isGood: false,
    start: { id, epoch },
  }));
  const ready = readyBuilds.map((node) => ({ node, isGood: true, start: null }));
  const all: Build[] = [...failed, ...ready];
  if (all.length === 0) return null;
  const chosen = all.find(({ node }) => node === shown);
  const isOwn = me.value?.name === batch.owner || isOperator();
  const words = [
    failed.length > 0 ? `failed on ${some(failed.length, 'node')}` : '',
    ready.length > 0 ? `ready on ${some(ready.length, 'node')}` : '',
  ];
  return (
    <Panel
      title={`Builds, ${words.filter(Boolean).join(', ')}`}
      aside={
        isOwn ? (
          <Actions actions={[rebuild(batch)]} />
        ) : (
          <Command text={`weft batch show ${title}`} />
        )
      }
    >
      <ul class="words">
        {all.map(({ node, isGood }) => (
          <li key={node}>
            <a href={hrefOf(['nodes', node])}>{node}</a>{' '}
            <span class={isGood ? 'state good' : 'state bad'}>{isGood ? 'ready' : 'failed'}</span>{' '}
            <button
              type="button"
              class="copy"
              aria-expanded={shown === node}
              aria-label={`log of the build on ${node}`}
              onClick={() => setShown(shown === node ? null : node)}
            >
              log
            </button>
          </li>
        ))}
      </ul>
      {chosen && <BuildLog key={`${title} ${chosen.node}`} build={chosen} batch={batch} />}
    </Panel>
  );
}

function rebuild({ title, namespace, name, version }: BatchDetail): Action {
  const params = { namespace, name: version > 1 ? `${name}@${version}` : name };
  return {
    label: 'Build anew',
    command: `weft batch rebuild ${title}`,
    run: async () => {
      await call('rebuildBatch', { params });
      return `The solver of ${title} is built anew, also where it has failed.`;
    },
    warning: 'What runs goes on with the build that it has.',
  };
}

/** A build that came out well is told of by the first task of the batch on that node. */
function BuildLog({ build, batch }: { build: Build; batch: BatchDetail }) {
  const { namespace, name, version, title } = batch;
  const [found, setFound] = useState<Start | null>(null);
  const start = build.start ?? found;
  const params = { namespace, name: version > 1 ? `${name}@${version}` : name };
  const look = async (signal: AbortSignal): Promise<boolean> => {
    const first = await firstStartOn(build.node, (after) =>
      call('listBatchJobs', { params, query: { after, limit: PAGE_JOBS }, signal }),
    );
    setFound(first);
    return first !== null;
  };
  const wish = { idle: start !== null, when: isOfBatches, togetherMs: TOGETHER_MS };
  const looked = useAnswer(`build ${title} ${build.node}`, look, wish);
  if (start !== null) return <Log {...start} node={build.node} />;
  return (
    <Loaded answer={looked}>
      {() => <p class="faint">It was there before: no job of this batch has built it.</p>}
    </Loaded>
  );
}

function Log({ id, epoch, node }: { id: string; epoch: number; node: string }) {
  const [search, setSearch] = useState('');
  const source = { id, epoch, stream: 'stderr', nodeRank: 0 } as const;
  const output = useOutput(source);
  return (
    <>
      <div class="filters">
        <SearchField text={search} onText={setSearch} />
        <Command
          text={`weft logs --stderr --epoch ${epoch} '${id}'`}
          label={`the command that shows the build on ${node}`}
        />
      </div>
      <OutputLines output={output} source={source} search={search} empty="Nothing was written." />
    </>
  );
}
