// The Executor of the Python package on two workers, beside ProcessPoolExecutor (and Dask, where
// the Python has it): `python.ts CALLS [PYTHON]`. `executor.py` has the figures.

import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { startCluster } from './cluster.ts';

const [calls = '10000', python = 'python3'] = process.argv.slice(2);
const root = join(import.meta.dirname, '..');
const cluster = await startCluster({ nodes: 2, cpus: 1 });
try {
  const script = join(import.meta.dirname, 'executor.py');
  const env = {
    ...process.env,
    WEFT_SOCKET: cluster.socketPath,
    PYTHONPATH: join(root, 'python/src'),
  };
  execFileSync(python, [script, calls], { stdio: 'inherit', env });
} finally {
  cluster.stop();
}
