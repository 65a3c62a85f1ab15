// What `npm pack` makes: installed into an empty folder it runs a cluster, without the sources.

import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { get } from 'node:http';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { after, before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { verbsOf } from '../../src/kernel/cli/verbs.ts';
import { WINGS } from '../../src/wings.ts';
import { filesBelow } from '../../tools/tree.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

interface Manifest {
  readonly version: string;
  readonly bin: Readonly<Record<string, string>>;
  readonly man: readonly string[];
  readonly dependencies: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
}

describe('the package, installed into an empty folder', () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'weft-package-'));
  const installed = path.join(folder, 'node_modules', 'weft');
  const state = path.join(folder, 'state');
  let manifest: Manifest;

  function run(program: string, ...args: string[]) {
    const script = path.join(installed, manifest.bin[program] ?? '');
    const environment = { PATH: process.env['PATH'], HOME: folder, WEFT_DIR: state };
    const options = { encoding: 'utf8', env: environment, cwd: folder } as const;
    const { status, stdout, stderr } = spawnSync(process.execPath, [script, ...args], options);
    return { status, stdout, stderr };
  }

  before(() => {
    // Builds first: `prepack`.
    execFileSync('npm', ['pack', '--pack-destination', folder], { cwd: ROOT, stdio: 'ignore' });
    mkdirSync(installed, { recursive: true });
    manifest = JSON.parse(readFileSync(path.join(ROOT, 'package.json'), 'utf8'));
    const archive = path.join(folder, `weft-${manifest.version}.tgz`);
    execFileSync('tar', ['-xzf', archive, '-C', installed, '--strip-components=1']);
    // As npm would have fetched them: those that the package names, and no others.
    for (const name of Object.keys(manifest.dependencies)) {
      const link = path.join(folder, 'node_modules', name);
      mkdirSync(path.dirname(link), { recursive: true });
      symlinkSync(path.join(ROOT, 'node_modules', name), link);
    }
  });

  after(() => {
    if (existsSync(state)) run('weft', 'down', '--clean', '--yes');
    rmSync(folder, { recursive: true, force: true });
  });

  test('it holds a manual page of every program and command', () => {
    for (const program of Object.keys(manifest.bin)) {
      assert.ok(manifest.man.includes(`dist/man/${program}.1`), program);
    }
    for (const page of manifest.man) {
      assert.match(
        readFileSync(path.join(installed, page), 'utf8'),
        /^\.TH (WEFT|CM|DISTRIBUTE)/,
        page,
      );
    }
  });

  test('it holds no sources, and every program starts', () => {
    assert.ok(!existsSync(path.join(installed, 'src')));
    for (const program of Object.keys(manifest.bin)) {
      const { status, stdout, stderr } = run(program, '--version');
      assert.deepEqual([status, stdout.trim(), stderr], [0, manifest.version, ''], program);
    }
  });

  test('every command loads, with those that wings add to it', () => {
    for (const { name } of verbsOf(WINGS)) {
      const { status, stdout, stderr } = run('weft', name, '--help');
      assert.deepEqual([status, stderr], [0, ''], name);
      assert.match(stdout, new RegExp(`^Usage: weft ${name} `), name);
    }
  });

  test('it holds the documents and units that its programs name, and no other Node', () => {
    const named = filesBelow('src').flatMap((file) =>
      readFileSync(path.join(ROOT, file), 'utf8').match(
        /\bdocs\/[\w./-]+\.md\b|deploy\/systemd\b/g,
      ),
    );
    const names = [...new Set(named.filter((name) => name !== null))];
    assert.ok(names.includes('deploy/systemd') && names.length > 20, String(names));
    assert.deepEqual(
      names.filter((name) => !existsSync(path.join(installed, name))),
      [],
    );
    const { bin, dependencies, optionalDependencies, peerDependencies } = manifest;
    const brought = { ...bin, ...dependencies, ...optionalDependencies, ...peerDependencies };
    assert.deepEqual(
      Object.keys(brought).filter((name) => /^node(-|$)/.test(name)),
      [],
    );
  });

  test('what people type all day loads one file, and of Node.js what it needs', () => {
    const spy = path.join(folder, 'spy.cjs');
    const tell = 'console.log([...process.moduleLoadList, ...Object.keys(require.cache)].join())';
    writeFileSync(spy, `process.on('exit', () => ${tell});`);
    const script = path.join(installed, manifest.bin['weft'] ?? '');
    const environment = { PATH: process.env['PATH'], HOME: folder, WEFT_DIR: state };
    const args = ['--require', spy, script, 'jobs'];
    const { stdout, stderr } = spawnSync(process.execPath, args, {
      encoding: 'utf8',
      env: environment,
    });
    assert.match(stderr, /No head answers/, 'it came as far as the head');
    const loaded = stdout.trim().split(/,(?:NativeModule )?/);
    const own = loaded.filter((name) => name.startsWith(path.join(installed, 'dist')));
    assert.deepEqual(own, [path.join(installed, 'dist', 'bin', 'quick.cjs')]);
    assert.deepEqual(
      loaded.filter((name) => name.includes('/node_modules/') && !name.startsWith(installed)),
      [],
      'a package that it does not need costs as much as all else',
    );
    const costly =
      /^(_?https?|http2|tls|crypto|child_process|dgram|perf_hooks|readline|worker_threads)\b/;
    const found = loaded.filter((name) => costly.test(name) || name === 'internal/fs/promises');
    assert.deepEqual(found, []);
    assert.ok(loaded.includes('net'), 'the spy sees what is loaded');
  });

  test('each daemon is one file, beside the libraries that it names', () => {
    const alone = path.join(folder, 'alone');
    const bin = path.join(alone, 'dist', 'bin');
    mkdirSync(bin, { recursive: true });
    symlinkSync(path.join(folder, 'node_modules'), path.join(alone, 'node_modules'));
    cpSync(path.join(installed, 'package.json'), path.join(alone, 'package.json'));
    for (const name of ['head', 'agent', 'agent-host']) {
      cpSync(path.join(installed, 'dist', 'bin', `${name}.js`), path.join(bin, `${name}.js`));
    }
    for (const name of ['head', 'agent']) {
      const { stderr } = spawnSync(process.execPath, [path.join(bin, `${name}.js`)], {
        encoding: 'utf8',
      });
      assert.match(stderr, new RegExp(`usage: ${name}\\.ts OPTIONS\\.json`));
      // With the line of the file before its words, as Node.js shows what nobody has caught.
      assert.ok(stderr.length < 4096, `${stderr.length} characters`);
    }
  });

  test('a cluster starts from it and runs a job', () => {
    const up = run('weft', 'up', '--nodes', '1');
    assert.equal(up.status, 0, up.stderr);
    const job = run('weft', 'run', '--wait', '--', 'sh', '-c', 'exit 7');
    assert.equal(job.status, 7, job.stderr);
  });

  test('it reads the records of that head, as before an upgrade', () => {
    const looked = run('weft', 'upgrade', '--check');
    assert.equal(looked.status, 0, looked.stdout + looked.stderr);
    assert.match(looked.stdout, /^ok +records +all \d+ records up to job 1 are read/m);
  });

  test('its head serves the documents of the package, page by page', async () => {
    const first = await read('/docs/index.html');
    assert.match(first, /<title>Documents - Weft<\/title>/);
    assert.match(await read('/docs/commands/run.html'), /<h1 id="weft-run">weft run<\/h1>/);
    const [, script = ''] = /<script defer src="([^"]+)"/.exec(first) ?? [];
    assert.match(await read(`/docs/${script}`), /weftParts/);
  });

  /** What the head of that cluster answers to anybody. */
  function read(url: string): Promise<string> {
    const from = { socketPath: path.join(state, 'weft.sock'), path: url };
    return new Promise((resolve, reject) => {
      const request = get(from, (answer) => void text(answer).then(resolve, reject));
      request.on('error', reject);
    });
  }

  /** Runs a program that uses the library on that cluster. */
  function program(file: string, source: string) {
    const script = path.join(folder, file);
    writeFileSync(script, source);
    const environment = { PATH: process.env['PATH'], HOME: folder, WEFT_DIR: state };
    const options = { encoding: 'utf8', env: environment, cwd: folder, timeout: 240_000 } as const;
    const { status, stdout, stderr } = spawnSync(process.execPath, [script], options);
    assert.equal(status, 0, `${stdout}${stderr}`);
    return stdout.trim();
  }

  const ON_THE_CLUSTER = `
    const { job, info } = await cluster.run(['sh', '-c', 'echo $X'], { env: { X: 'from a job' } });
    const refused = await cluster.info(999).catch((error) => error);
    console.log(info.outcome.kind, await job.output());
    console.log(refused instanceof WeftError, refused.code);`;
  const SAID = 'completed from a job\n\ntrue job.not_found';

  test('a module imports the library, and runs a job', () => {
    const text = `import { connect, WeftError } from 'weft';
      const cluster = await connect();${ON_THE_CLUSTER}
      cluster.close();`;
    assert.equal(program('consumer.mjs', text), SAID);
  });

  test('a CommonJS program requires it: the same classes, and no package that it does not need', () => {
    const text = `const { connect, WeftError } = require('weft');
      (async () => {
        const cluster = await connect();${ON_THE_CLUSTER}
        cluster.close();
        console.log((await import('weft')).WeftError === WeftError);
        console.log(Object.keys(require.cache).filter((file) => file !== __filename).join());
      })();`;
    const file = path.join(installed, 'dist', 'library.cjs');
    assert.equal(program('consumer.cjs', text), `${SAID}\ntrue\n${file}`);
  });

  test('functions run on workers of the package, and know their call', () => {
    const text = `const { call, connect } = require('weft');
      (async () => {
        const cluster = await connect();
        const pool = await cluster.pool({ workers: 1, memory: '256M' });
        const offset = new Map([['x', 40]]);
        console.log(await pool.run((x) => x + offset.get('x') + call.attempt, 1));
        await pool.close();
        cluster.close();
      })();`;
    assert.equal(program('functions.cjs', text), '42');
  });

  test('its types are there for every way of resolving modules', () => {
    const typed = `import { type Cluster, connect, JobFailed, type JobInfo } from 'weft';
      export async function use(): Promise<JobInfo> {
        const cluster: Cluster = await connect({ timeout: '5s' });
        try {
          return (await cluster.run(['true'], { cpus: 2, memory: '1G' })).info;
        } catch (error) {
          if (error instanceof JobFailed) return error.job;
          throw error;
        }
      }
      export const more = async (cluster: Cluster): Promise<number> => {
        const batch = await cluster.batch('b.yaml', { mode: 'resume' });
        const pool = await cluster.pool({ workers: (await batch.info()).jobCount });
        return pool.run((x: number) => x + 1, 2);
      };
      // @ts-expect-error -- there is no such option
      export const wrong = (cluster: Cluster) => cluster.submit('true', { cpu: 2 });
`;
    const types = path.join(folder, 'node_modules', '@types');
    mkdirSync(types, { recursive: true });
    symlinkSync(path.join(ROOT, 'node_modules', '@types', 'node'), path.join(types, 'node'));
    symlinkSync(
      path.join(ROOT, 'node_modules', 'undici-types'),
      path.join(types, '..', 'undici-types'),
    );
    const compiler = path.join(ROOT, 'node_modules', 'typescript', 'bin', 'tsc');
    const ways = [
      ['typed.mts', 'node16', 'node16'],
      ['typed.cts', 'node16', 'node16'],
      ['typed.ts', 'esnext', 'bundler'],
    ] as const;
    for (const [file, module, resolution] of ways) {
      writeFileSync(path.join(folder, file), typed);
      const way = ['--module', module, '--moduleResolution', resolution];
      const rest = ['--strict', '--noEmit', '--target', 'es2023', '--types', 'node'];
      const options = { encoding: 'utf8', cwd: folder } as const;
      const args = [compiler, ...way, ...rest, file];
      const { status, stdout, stderr } = spawnSync(process.execPath, args, options);
      assert.equal(status, 0, `${file}: ${stdout}${stderr}`);
    }
  });
});
