// The house rules of tools/tidy.ts, each on a small file that breaks it and one that does not.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { checkBuilt } from '../../../tools/tidy/files.ts';
import { checkPages } from '../../../tools/tidy/pages.ts';
import { tidy } from '../../../tools/tidy.ts';

const HEAD = '// What lives here.\n';

/** Errors about files whose first line is the usual comment: `path:line message`. */
function errorsOf(files: Record<string, string>): string[] {
  const texts = Object.entries(files).map(([path, text]) => [path, HEAD + text] as const);
  return tidy(new Map(texts))
    .filter((finding) => finding.level === 'error')
    .map((finding) => `${finding.path}:${finding.line} ${finding.message}`);
}

/** Asserts exactly one error, in this file and line, whose message matches. */
function assertOne(files: Record<string, string>, place: string, message: RegExp): void {
  const errors = errorsOf(files);
  assert.equal(errors.length, 1, errors.join('\n'));
  assert.ok(errors[0]?.startsWith(`${place} `), errors[0]);
  assert.match(errors[0] ?? '', message);
}

describe('tidy on imports', () => {
  it('an import upward is found and the message names the row', () => {
    const text = "import { decide } from '../controller/decide.ts';\n";
    assertOne(
      { 'src/core/model/job.ts': text },
      'src/core/model/job.ts:2',
      /may import core\/base/,
    );
  });

  it('a forbidden import of a type alone is found too', () => {
    const text = "import type {\n  Store,\n} from '../store/sqlite.ts';\n";
    assertOne({ 'src/head/head.ts': text }, 'src/head/head.ts:4', /head may not import store/);
  });

  it('a forbidden import inside a type expression or at run time is found', () => {
    const inType = "export type A = import('../os/clock.ts').Clock;\n";
    assertOne({ 'src/agent/a.ts': inType }, 'src/agent/a.ts:2', /may not import os/);
    const later = "const os = await import('../os/clock.ts');\n";
    assertOne({ 'src/agent/b.ts': later }, 'src/agent/b.ts:2', /may not import os/);
  });

  it('a room imports none that lies above it in the same folder', () => {
    const upward = "import { plan } from '../cycle/plan.ts';\n";
    const place = 'src/core/scheduler/room/lane.ts';
    assertOne({ [place]: upward }, `${place}:2`, /the room 'cycle', which lies above/);
    const downward = "import { Queue } from '../line/queue.ts';\n";
    assert.deepEqual(errorsOf({ [place]: downward }), []);
  });

  it('a forbidden re-export is found', () => {
    const text = "export { x } from '../cli/x.ts';\nexport const y = 1;\n";
    assertOne({ 'src/sdk/x.ts': text }, 'src/sdk/x.ts:2', /sdk may not import cli/);
  });

  it('sources may not reach into tests or tools', () => {
    const text = "import { x } from '../../test/x.ts';\n";
    assertOne({ 'src/head/x.ts': text }, 'src/head/x.ts:2', /may not import test/);
  });

  it('the table allows what it lists, and bin anything', () => {
    const files = {
      'src/head/head.ts': "import type { Store } from '../ports/store.ts';\n",
      'src/bin/weft.ts': "import { open } from '../store/sqlite.ts';\nimport '../os/clock.ts';\n",
      'sim/world.ts': "import { Head } from '../src/head/head.ts';\n",
      'test/unit/a.test.ts': "import '../../src/os/clock.ts';\n",
    };
    assert.deepEqual(errorsOf(files), []);
  });

  it('core imports no package, not even for a type', () => {
    const text = "import type { Stats } from 'node:fs';\n";
    assertOne({ 'src/core/base/a.ts': text }, 'src/core/base/a.ts:2', /no package/);
  });

  it('a folder that is not in the layout is named', () => {
    assertOne({ 'src/helpers/a.ts': 'export {};\n' }, 'src/helpers/a.ts:1', /layout/);
  });

  it('an import that stands in a string or a comment is no import', () => {
    const text =
      "// import '../os/a.ts';\nexport const text = `\nimport x from '../os/a.ts';\n`;\n";
    assert.deepEqual(errorsOf({ 'src/head/a.ts': text }), []);
  });

  it('a cycle is found once, with the whole round', () => {
    const files = {
      'src/wire/a.ts': "import type { B } from './b.ts';\n",
      'src/wire/b.ts': "import { c } from './c.ts';\n",
      'src/wire/c.ts': "import { a } from './a.ts';\n",
    };
    assertOne(files, 'src/wire/c.ts:2', /a\.ts -> src\/wire\/b\.ts -> src\/wire\/c\.ts -> src/);
  });
});

describe('tidy on words', () => {
  const impure = ['Date.now()', 'new Date(0)', 'Math.random()', 'Promise.resolve()'];
  for (const expression of [...impure, 'async () => 1', 'await value']) {
    it(`${expression} is banned in core and only there`, () => {
      const text = `export const x = ${expression};\n`;
      assertOne({ 'src/core/base/a.ts': text }, 'src/core/base/a.ts:2', /core /);
      assert.deepEqual(errorsOf({ 'src/os/a.ts': text }), []);
    });
  }

  const everywhere: readonly (readonly [text: string, message: RegExp])[] = [
    ['// TODO: later\n', /issue/],
    ['/* FIXME */\n', /issue/],
    ['/** Of one request. */\n', /what the thing is/],
    ['/**\n * As it was typed.\n */\n', /what the thing is/],
    ["it.only('x', () => {});\n", /silences/],
    ["it.skip('x', () => {});\n", /proves nothing/],
    ['// @ts-ignore\n', /mend the type/],
    ['const x = y as any;\n', /unknown/],
    ['try { x(); } catch {}\n', /swallowed/],
    ['try { x(); } catch (error) {\n}\n', /swallowed/],
    [`const x = '${'/home'}/mike/weft';\n`, /one machine/],
    [`const x = 'https://registry.${'npmjs'}.org';\n`, /download host/],
  ];
  for (const [text, message] of everywhere) {
    it(`${JSON.stringify(text)} is an error`, () => {
      assertOne({ 'test/unit/a.test.ts': text }, 'test/unit/a.test.ts:2', message);
    });
  }

  it('what looks alike and is fine passes', () => {
    const text = [
      '// TODO(#12) and a Promise, as anybody would say it',
      "const title = 'Date.now() as any';",
      'const pattern = /[/"]new Date()/;',
      `const nested = \`\${"\`"} await \${{ a: 1 }.a} async\`;`,
      'try { x(); } catch { /* The socket was gone, which is what we wanted. */ }',
      "const home = '/home/alice/job';",
      '',
    ];
    assert.deepEqual(errorsOf({ 'src/core/base/a.ts': text.join('\n') }), []);
  });

  it('code after a template, a regex and a division is still seen', () => {
    const text = `const a = \`\${1}\`; const b = /\`/; const c = 4 / 2; const d = Date.now();\n`;
    assertOne({ 'src/core/base/a.ts': text }, 'src/core/base/a.ts:2', /clock/);
  });
});

describe('tidy on files', () => {
  it('a file without a comment at its top is an error', () => {
    const findings = tidy(new Map([['src/wire/a.ts', 'export const a = 1;\n']]));
    assert.deepEqual(
      findings.map(({ line, level }) => ({ line, level })),
      [{ line: 1, level: 'error' }],
    );
  });

  it('a shebang may stand before the comment', () => {
    const text = '#!/usr/bin/env node\n// A program.\n';
    assert.deepEqual(tidy(new Map([['tools/a.ts', text]])), []);
  });

  it('barrel files are errors, but the public face of the package is not', () => {
    const gather = "export { a } from './a.ts';\nexport type { B } from './b.ts';\n";
    assertOne({ 'src/wire/all.ts': gather }, 'src/wire/all.ts:1', /barrel/);
    assertOne({ 'src/wire/index.ts': 'export const a = 1;\n' }, 'src/wire/index.ts:1', /barrel/);
    assertOne({ 'src/wire/b.ts': "export * from './a.ts';\n" }, 'src/wire/b.ts:2', /export \*/);
    assert.deepEqual(errorsOf({ 'src/sdk/index.ts': gather }), []);
  });

  it('a name that is not kebab-case is an error with the right name', () => {
    assertOne({ 'src/wire/myCodec.ts': '' }, 'src/wire/myCodec.ts:1', /my-codec\.ts/);
  });

  it('a long file is a warning, not an error', () => {
    const text = `${HEAD}${'const a = 1;\n'.repeat(300)}`;
    const findings = tidy(new Map([['src/wire/a.ts', text]]));
    assert.deepEqual(
      findings.map((finding) => finding.level),
      ['warning'],
    );
  });
});

describe('tidy on what is built', () => {
  it('what lies beside its source is an error, other scripts are none', () => {
    const beside = ['src/wire/a.ts', 'src/wire/a.js', 'src/wire/a.d.ts'];
    const found = checkBuilt([...beside, 'bin/weft.mjs', 'src/own.js', 'src/own.d.ts']);
    assert.deepEqual(
      found.map(({ path }) => path),
      ['src/wire/a.js', 'src/wire/a.d.ts'],
    );
    assert.match(found[0]?.message ?? '', /built from src\/wire\/a\.ts: remove it/);
  });
});

describe('tidy on projects', () => {
  const tree = (references: string[]) => ({
    read: (file: string) =>
      ({
        'src/core/base/tsconfig.json': '{}',
        'src/ports/tsconfig.json': JSON.stringify({
          references: references.map((path) => ({ path })),
        }),
      })[file],
    hasCode: (folder: string) => folder === 'src/core/base' || folder === 'src/ports',
  });

  it('references as in the table pass', () => {
    assert.deepEqual(tidy(new Map(), tree(['../core/base'])), []);
  });

  it('a reference too few and one too many are both named', () => {
    const messages = tidy(new Map(), tree(['../head'])).map((finding) => finding.message);
    assert.equal(messages.length, 2);
    assert.match(messages[0] ?? '', /add a reference to src\/core\/base/);
    assert.match(messages[1] ?? '', /remove the reference to src\/head/);
  });

  it('a folder with code and no tsconfig is an error', () => {
    const bare = { read: () => undefined, hasCode: (folder: string) => folder === 'src/wire' };
    const paths = tidy(new Map(), bare).map((finding) => finding.path);
    assert.deepEqual(paths, ['src/wire/tsconfig.json']);
  });
});

describe('tidy on pages', () => {
  const files = new Map([
    ['src/api/jobs.ts', 'export const jobView = 1;\n'],
    ['launcher/lease.c', 'void leases_end(void) {}\n'],
  ]);

  /** `line message` of each finding about a page. */
  function onPage(path: string, text: string): string[] {
    const found = checkPages(new Map([[path, text]]), [...files.keys()], (file) =>
      String(files.get(file)),
    );
    return found.map(({ line, message }) => `${line} ${message}`);
  }

  it('a file or folder that is not there is named', () => {
    const text =
      'See `src/api`,\n`api/jobs.ts` and `jobs.ts`, not `src/job.ts` or `test/issues/`.\n';
    assert.deepEqual(onPage('CONTRIBUTING.md', text), [
      '2 there is no `src/job.ts`; mend the path',
      '2 there is no `test/issues/`; mend the path',
    ]);
    assert.deepEqual(onPage('docs/install.md', text), []);
  });

  it('in front of a placeholder the folder must be there', () => {
    const [found, ...others] = onPage(
      'docs/checklists/new.md',
      '`src/api/NOUN.ts`, `src/no/VERB.ts`',
    );
    assert.match(found ?? '', /no `src\/no\/VERB.ts`/);
    assert.deepEqual(others, []);
  });

  it('a name must stand in the file that it is said to be in', () => {
    const text = '`leases_end` in `launcher/lease.c`, `jobViews` in `src/api/jobs.ts`\n';
    const message = '1 `src/api/jobs.ts` has no `jobViews`; mend the name';
    assert.deepEqual(onPage('ARCHITECTURE.md', text), [message]);
  });

  it('what a block shows is no path', () => {
    assert.deepEqual(onPage('CONTRIBUTING.md', '```\nls `no/such.ts`\n```\n'), []);
  });

  it('a word stands once in the glossary', () => {
    const text = '| slot | a time |\n| lane | a future |\n| slot | a place |\n';
    const message = "3 'slot' stands here twice; one word has one meaning";
    assert.deepEqual(onPage('GLOSSARY.md', text), [message]);
  });
});
