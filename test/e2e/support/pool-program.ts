// A program on a host of its own: opens a pool over TLS as a user, makes a call for each name, and
// writes into a file what became of each, one line of JSON for every end.

import { appendFileSync } from 'node:fs';
import { connect, type WeftError } from '../../../src/library.ts';

interface Wish {
  readonly pool: string | number;
  readonly directory: string;
  readonly names: readonly string[];
  readonly report: string;
}

/** Says that it runs, and ends when the test says so. */
export async function hold(directory: string, name: string): Promise<string> {
  const { appendFileSync: note, existsSync } = await import('node:fs');
  const { hostname } = await import('node:os');
  note(`${directory}/${name}`, `${hostname()}\n`);
  while (!existsSync(`${directory}/go-${name}`)) {
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  return hostname();
}

if (process.argv[2] !== undefined) {
  const { pool: name, directory, names, report } = JSON.parse(process.argv[2]) as Wish;
  const tell = (line: object): void => appendFileSync(report, `${JSON.stringify(line)}\n`);
  try {
    await using cluster = await connect();
    const pool = await cluster.pool({ name: String(name) });
    const calls = names.map((one) => ({ one, call: pool.submit(hold, directory, one) }));
    await Promise.all(
      calls.map(({ one, call }) =>
        call.then(
          (value) => tell({ name: one, value }),
          (error: WeftError) => tell({ name: one, error: error.name, message: error.message }),
        ),
      ),
    );
    await pool.close();
  } catch (error) {
    tell({ error: (error as WeftError).code, message: (error as WeftError).message });
  }
}
