// The house rules of tools/tidy.ts, each on a small file that breaks it and one that does not.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, it } from 'node:test';
import { checkFalling, FALLING } from '../../../tools/tidy/falling.ts';
import { checkBuilt } from '../../../tools/tidy/files.ts';
import { checkFolderCycles, checkKnownCycles } from '../../../tools/tidy/folder-cycles.ts';
import { checkComments, checkPages } from '../../../tools/tidy/pages.ts';
import { checkPureProject, PURE_PROJECT } from '../../../tools/tidy/projects.ts';
import { readSource } from '../../../tools/tidy/source.ts';
import { tidy } from '../../../tools/tidy.ts';
import { ROOT } from '../../../tools/tree.ts';

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
    const text = "import { decide } from '../machine/decide.ts';\n";
    assertOne({ 'src/kernel/model/job.ts': text }, 'src/kernel/model/job.ts:2', /may import base/);
  });

  it('a forbidden import of a type alone is found too', () => {
    const text = "import type {\n  Store,\n} from '../store/sqlite.ts';\n";
    assertOne(
      { 'src/kernel/head/head.ts': text },
      'src/kernel/head/head.ts:4',
      /head may not import store/,
    );
  });

  it('a forbidden import inside a type expression or at run time is found', () => {
    const inType = "export type A = import('../os/clock.ts').Clock;\n";
    assertOne({ 'src/kernel/agent/a.ts': inType }, 'src/kernel/agent/a.ts:2', /may not import os/);
    const later = "const os = await import('../os/clock.ts');\n";
    assertOne({ 'src/kernel/agent/b.ts': later }, 'src/kernel/agent/b.ts:2', /may not import os/);
  });

  it('a room imports none that lies above it in the same folder', () => {
    const upward = "import { plan } from '../cycle/plan.ts';\n";
    const place = 'src/kernel/scheduler/room/lane.ts';
    assertOne({ [place]: upward }, `${place}:2`, /the room 'cycle', which lies above/);
    const downward = "import { Queue } from '../line/queue.ts';\n";
    assert.deepEqual(errorsOf({ [place]: downward }), []);
  });

  it('a forbidden re-export is found', () => {
    const text = "export { x } from '../cli/x.ts';\nexport const y = 1;\n";
    assertOne({ 'src/kernel/sdk/x.ts': text }, 'src/kernel/sdk/x.ts:2', /sdk may not import cli/);
  });

  it('sources may not reach into tests or tools', () => {
    const text = "import { x } from '../../../test/x.ts';\n";
    assertOne({ 'src/kernel/head/x.ts': text }, 'src/kernel/head/x.ts:2', /may not import test/);
  });

  it('the table allows what it lists, and bin anything', () => {
    const files = {
      'src/kernel/head/head.ts': "import type { Store } from '../ports/store.ts';\n",
      'src/bin/weft.ts': "import { open } from '../store/sqlite.ts';\nimport '../os/clock.ts';\n",
      'sim/world.ts': "import { Head } from '../src/kernel/head/head.ts';\n",
      'test/unit/a.test.ts': "import '../../src/kernel/os/clock.ts';\n",
    };
    assert.deepEqual(errorsOf(files), []);
  });

  it('core imports no package, not even for a type', () => {
    const text = "import type { Stats } from 'node:fs';\n";
    assertOne({ 'src/kernel/base/a.ts': text }, 'src/kernel/base/a.ts:2', /it is pure/);
  });

  it('a folder that is not in the layout is named', () => {
    assertOne({ 'src/helpers/a.ts': 'export {};\n' }, 'src/helpers/a.ts:1', /layout/);
  });

  it('an import that stands in a string or a comment is no import', () => {
    const text =
      "// import '../os/a.ts';\nexport const text = `\nimport x from '../os/a.ts';\n`;\n";
    assert.deepEqual(errorsOf({ 'src/kernel/head/a.ts': text }), []);
  });

  it('folders that need each other are found, each import of the cycle', () => {
    const files = {
      'src/kernel/head/logs/a.ts': "import { b } from '../http/deep/b.ts';\n",
      'src/kernel/head/http/c.ts': "import { d } from '../archive/d.ts';\n",
      'src/kernel/head/archive/d.ts': "import { e } from '../logs/e.ts';\n",
    };
    const errors = errorsOf(files);
    assert.equal(errors.length, 3, errors.join('\n'));
    assert.match(errors[0] ?? '', /head\/logs and src\/kernel\/head\/http need each other/);
  });

  it('a file beside folders may import them, and they may import it', () => {
    const files = {
      'src/kernel/head/head.ts': "import { a } from './logs/a.ts';\n",
      'src/kernel/head/logs/b.ts': "import { Head } from '../head.ts';\n",
    };
    assert.deepEqual(errorsOf(files), []);
  });

  it('a known cycle of folders is let pass, and named once it is none', () => {
    const files = {
      'src/kernel/head/logs/a.ts': "import { b } from '../http/b.ts';\n",
      'src/kernel/head/http/b.ts': "import type { C } from '../logs/c.ts';\n",
    };
    const sources = Object.entries(files).map(([file, text]) => readSource(file, text));
    const known = ['src/kernel/head/logs', 'src/kernel/head/http'];
    assert.deepEqual(checkFolderCycles(sources, known), []);
    assert.deepEqual(checkKnownCycles(sources, known), []);
    const stale = checkKnownCycles(sources.slice(1), known);
    assert.match(stale[0]?.message ?? '', /logs is in no cycle any more/);
  });

  it('a cycle is found once, with the whole round', () => {
    const files = {
      'src/kernel/wire/a.ts': "import type { B } from './b.ts';\n",
      'src/kernel/wire/b.ts': "import { c } from './c.ts';\n",
      'src/kernel/wire/c.ts': "import { a } from './a.ts';\n",
    };
    assertOne(
      files,
      'src/kernel/wire/c.ts:2',
      /a\.ts -> src\/kernel\/wire\/b\.ts -> src\/kernel\/wire\/c\.ts -> src/,
    );
  });
});

describe('tidy on numbers that may only fall', () => {
  const counted = (texts: readonly string[]) => {
    const sources = texts.map((text, index) =>
      readSource(`src/kernel/base/${index}.ts`, HEAD + text),
    );
    return checkFalling(
      sources,
      FALLING.map((rule) => ({ ...rule, max: 1 })),
    );
  };
  const opening = '/** Its size. */\nexport const a = 1;\n';
  const boolean = 'export function a(size: number, isOld: boolean, how = { x: true }): void {}\n';

  it('as many as there may be are no finding', () => {
    assert.deepEqual(counted([opening, boolean]), []);
  });

  it('one more is an error, with the remedy', () => {
    const findings = counted([opening, boolean, opening]);
    assert.deepEqual(
      findings.map(({ level }) => level),
      ['error'],
    );
    assert.match(findings[0]?.message ?? '', /^2 doc comments .* 1 may; begin with the noun/);
    assert.match(
      counted([opening, boolean, boolean])[0]?.message ?? '',
      /^2 parameters .* named option/,
    );
  });

  it('one fewer is a warning: the number may be lowered', () => {
    const findings = counted([boolean]);
    assert.deepEqual(
      findings.map(({ level }) => level),
      ['warning'],
    );
    assert.match(findings[0]?.message ?? '', /lower the number/);
  });
});

describe('tidy on words', () => {
  const impure = ['Date.now()', 'new Date(0)', 'Math.random()', 'Promise.resolve()'];
  for (const expression of [...impure, 'async () => 1', 'await value']) {
    it(`${expression} is banned in core and only there`, () => {
      const text = `export const x = ${expression};\n`;
      assertOne({ 'src/kernel/base/a.ts': text }, 'src/kernel/base/a.ts:2', /core /);
      assert.deepEqual(errorsOf({ 'src/kernel/os/a.ts': text }), []);
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
    ['const x = { ...{ a, b }, c };\n', /not checked/],
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

  it('an import of node:http is an error in programs, and one of its types is none', () => {
    const text = "import { request } from 'node:http';\n";
    assertOne({ 'src/kernel/os/a.ts': text }, 'src/kernel/os/a.ts:2', /getBuiltinModule/);
    const types = "import type { Server } from 'node:http';\n";
    assert.deepEqual(errorsOf({ 'src/kernel/os/a.ts': types, 'test/unit/a.test.ts': text }), []);
  });

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
    assert.deepEqual(errorsOf({ 'src/kernel/base/a.ts': text.join('\n') }), []);
  });

  it('code after a template, a regex and a division is still seen', () => {
    const text = `const a = \`\${1}\`; const b = /\`/; const c = 4 / 2; const d = Date.now();\n`;
    assertOne({ 'src/kernel/base/a.ts': text }, 'src/kernel/base/a.ts:2', /clock/);
  });
});

describe('tidy on files', () => {
  it('a file without a comment at its top is an error', () => {
    const findings = tidy(new Map([['src/kernel/wire/a.ts', 'export const a = 1;\n']]));
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
    assertOne({ 'src/kernel/wire/all.ts': gather }, 'src/kernel/wire/all.ts:1', /barrel/);
    assertOne(
      { 'src/kernel/wire/index.ts': 'export const a = 1;\n' },
      'src/kernel/wire/index.ts:1',
      /barrel/,
    );
    assertOne(
      { 'src/kernel/wire/b.ts': "export * from './a.ts';\n" },
      'src/kernel/wire/b.ts:2',
      /export \*/,
    );
    assert.deepEqual(errorsOf({ 'src/library.ts': gather }), []);
  });

  it('a name that is not kebab-case is an error with the right name', () => {
    assertOne({ 'src/kernel/wire/myCodec.ts': '' }, 'src/kernel/wire/myCodec.ts:1', /my-codec\.ts/);
  });

  it('a long file is a warning, not an error', () => {
    const text = `${HEAD}${'const a = 1;\n'.repeat(300)}`;
    const findings = tidy(new Map([['src/kernel/wire/a.ts', text]]));
    assert.deepEqual(
      findings.map((finding) => finding.level),
      ['warning'],
    );
  });
});

describe('tidy on what is built', () => {
  it('what lies beside its source is an error, other scripts are none', () => {
    const beside = ['src/kernel/wire/a.ts', 'src/kernel/wire/a.js', 'src/kernel/wire/a.d.ts'];
    const found = checkBuilt([...beside, 'bin/weft.mjs', 'src/own.js', 'src/own.d.ts']);
    assert.deepEqual(
      found.map(({ path }) => path),
      ['src/kernel/wire/a.js', 'src/kernel/wire/a.d.ts'],
    );
    assert.match(found[0]?.message ?? '', /built from src\/kernel\/wire\/a\.ts: remove it/);
  });
});

describe('tidy on projects', () => {
  const project = readFileSync(path.join(ROOT, PURE_PROJECT), 'utf8');

  it('the pure project has the pure layers', () => {
    assert.deepEqual(checkPureProject(project), []);
  });

  it('a layer too few and one too many are both named', () => {
    const [found, other] = checkPureProject(project.replace('kernel/base', 'kernel/os'));
    assert.match(found?.message ?? '', /include 'kernel\/base\/\*\*\/\*\.ts'/);
    assert.match(other?.message ?? '', /do not include 'kernel\/os/);
  });
});

describe('tidy on houses', () => {
  const wing = (name: string, needs: string) => ({
    [`src/wings/${name}/wing.ts`]: `export const wing = { name: '${name}', needs: [${needs}] };\n`,
  });

  it('the kernel may not know a wing', () => {
    const text = "import { a } from '../../wings/batches/head/a.ts';\n";
    assertOne({ 'src/kernel/head/x.ts': text }, 'src/kernel/head/x.ts:2', /knows no wing/);
  });

  it('a wing may know the kernel, and another wing only where it says so', () => {
    const kernel = "import { a } from '../../../kernel/head/a.ts';\n";
    assert.deepEqual(errorsOf({ 'src/wings/batches/head/x.ts': kernel }), []);
    const other = {
      'src/wings/batches/head/x.ts': "import { a } from '../../notify/head/a.ts';\n",
    };
    assert.deepEqual(errorsOf({ ...other, ...wing('batches', "'notify'") }), []);
    const place = 'src/wings/batches/head/x.ts:2';
    assertOne({ ...other, ...wing('batches', '') }, place, /does not say that it needs 'notify'/);
  });

  it("a wing's own list knows no other wing but those that it says", () => {
    const place = 'src/wings/batches/wing.ts';
    const text = (needs: string) =>
      `import '../notify/core/a.ts';\nexport const wing = { needs: [${needs}] };\n`;
    assert.deepEqual(errorsOf({ [place]: text("'notify'") }), []);
    assertOne({ [place]: text('') }, `${place}:2`, /does not say that it needs 'notify'/);
  });

  it('neither knows the lists that name every wing', () => {
    const wings = "import { WINGS } from '../../wings.ts';\n";
    assertOne({ 'src/kernel/head/x.ts': wings }, 'src/kernel/head/x.ts:2', /only programs may/);
    assert.deepEqual(errorsOf({ 'src/bin/x.ts': wings.replace('../../', '../') }), []);
    const library = "import { connect } from '../../../library.ts';\n";
    const place = 'src/wings/batches/cli/x.ts';
    assertOne({ [place]: library }, `${place}:2`, /only programs may/);
  });

  it('so it is with the web page, whatever text stands in it', () => {
    const text =
      "import { A } from '../../../wings/calls/page/a.tsx';\nexport const b = <p>It's</p>;\n";
    const place = 'src/kernel/page/parts/x.tsx';
    assertOne({ [place]: text }, `${place}:2`, /knows no wing/);
  });

  it('neither knows the programs that start it', () => {
    const text = "import { a } from '../../bin/a.ts';\n";
    assertOne({ 'src/kernel/bin/x.ts': text }, 'src/kernel/bin/x.ts:1', /layout/);
    assertOne({ 'src/kernel/head/x.ts': text }, 'src/kernel/head/x.ts:2', /may not import bin/);
  });
});

describe('tidy on pages', () => {
  const files = new Map([
    ['src/kernel/api/jobs.ts', 'export const jobView = 1;\n'],
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
      'See `src/kernel/api`,\n`api/jobs.ts` and `jobs.ts`, not `src/job.ts` or `test/issues/`.\n';
    assert.deepEqual(onPage('CONTRIBUTING.md', text), [
      '2 there is no `src/job.ts`; mend the path',
      '2 there is no `test/issues/`; mend the path',
    ]);
    assert.deepEqual(onPage('docs/install.md', text), []);
  });

  it('a comment names files that are there, and strings may name others', () => {
    const text =
      "// See api/jobs.ts and NOUN/x.ts.\nconst a = 'no/string.ts'; // Not in no/jobs.ts.\n";
    const [found, ...others] = checkComments([readSource('src/a.ts', text)], [...files.keys()]);
    assert.deepEqual([found?.line, found?.message], [2, 'there is no no/jobs.ts; mend the path']);
    assert.deepEqual(others, []);
  });

  it('in front of a placeholder the folder must be there', () => {
    const [found, ...others] = onPage(
      'docs/checklists/new.md',
      '`src/kernel/api/NOUN.ts`, `src/no/VERB.ts`',
    );
    assert.match(found ?? '', /no `src\/no\/VERB.ts`/);
    assert.deepEqual(others, []);
  });

  it('a name must stand in the file that it is said to be in', () => {
    const text = '`leases_end` in `launcher/lease.c`, `jobViews` in `src/kernel/api/jobs.ts`\n';
    const message = '1 `src/kernel/api/jobs.ts` has no `jobViews`; mend the name';
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
