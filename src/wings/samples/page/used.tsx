// What a job used of what it asked for: words, and curves where it has one part.

import type { JobDetail } from '../../../kernel/api/jobs.ts';
import { Panel } from '../../../kernel/page/parts/basic.tsx';
import { Curves } from '../../../kernel/page/parts/curves.tsx';
import { sizeWords } from '../../../kernel/page/pure/words.ts';
import { cpuUsedWords, diskUsedWords, gpuUsedWords, memoryUsedWords } from '../model/used-words.ts';

const STEPS_MIN = 3;

export function Used({ job: { used } }: { readonly job: JobDetail }) {
  if (used == null) return null;
  const { from, stepMs, cpuMilli, memoryBytes, gpuMilli } = used;
  const disk = diskUsedWords(used);
  const gpus = gpuMilli?.curve.map((point) => (point === null ? null : point / 1000)) ?? [];
  const times = cpuMilli.curve.map((_, at) => from + at * stepMs);
  const cpus = cpuMilli.curve.map((point) => (point === null ? null : point / 1000));
  return (
    <Panel title="Used" wide>
      <dl>
        <div>
          <dt>Cpus</dt>
          <dd>{cpuUsedWords(cpuMilli)}</dd>
        </div>
        <div>
          <dt>Memory</dt>
          <dd>{memoryUsedWords(memoryBytes)}</dd>
        </div>
        {disk !== '' && (
          <div>
            <dt>Disk</dt>
            <dd>{disk}</dd>
          </div>
        )}
        {gpuMilli && (
          <div>
            <dt>Gpus</dt>
            <dd>{gpuUsedWords(gpuMilli)}</dd>
          </div>
        )}
      </dl>
      {times.length >= STEPS_MIN && (
        <>
          <Curves
            label="Cpus that it used over time"
            times={times}
            curves={[{ name: 'cpus', tone: 'run', values: cpus, isArea: true }]}
          />
          <Curves
            label="Memory that it used over time"
            times={times}
            curves={[{ name: 'memory', tone: 'wait', values: memoryBytes.curve, isArea: true }]}
            format={sizeWords}
          />
          {gpus.length > 0 && (
            <Curves
              label="Gpus that it used over time"
              times={times}
              curves={[{ name: 'gpus', tone: 'good', values: gpus, isArea: true }]}
            />
          )}
        </>
      )}
    </Panel>
  );
}
