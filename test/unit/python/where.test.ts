// The Python package finds its head, and its token, as commands do.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, test } from 'node:test';
import { exposedToken, locateHead } from '../../../src/kernel/connect/locate.ts';
import { ROOT } from '../../../tools/tree.ts';

const skip = spawnSync('python3', ['--version']).status === 0 ? false : 'no python3 here';

const home = mkdtempSync(path.join(tmpdir(), 'weft-where-'));
after(() => rmSync(home, { recursive: true }));
const environment = { HOME: home, WEFT_CLIENT_FILE: path.join(home, 'none') };
const token = path.join(home, 'token');
mkdirSync(path.join(home, '.config', 'weft'), { recursive: true });
writeFileSync(token, 'wt_1\n', { mode: 0o600 });
const own = path.join(home, '.config', 'weft', 'client.yaml');
writeFileSync(own, `head: "https://lab.example"\nfingerprint: "abcd"\ntoken_file: "${token}"\n`);

interface Asked {
  readonly head?: string;
  readonly fingerprint?: string;
}

const PROGRAM = `import json, sys
sys.path.insert(0, ${JSON.stringify(path.join(ROOT, 'python', 'src'))})
from weft._where import Said, locate
asked, environment = json.loads(sys.argv[1])
places = [locate(Said(**said), environment) for said in asked]
print(json.dumps([[place.host, place.port, place.fingerprint, place.token] for place in places]))`;

function python(asked: readonly Asked[]) {
  const words = ['-I', '-B', '-c', PROGRAM, JSON.stringify([asked, environment])];
  const { stdout, stderr } = spawnSync('python3', words, { encoding: 'utf8' });
  return { found: JSON.parse(stdout || 'null'), stderr };
}

const ASKED: readonly (readonly [Asked, readonly [string | null, string | null]])[] = [
  [{}, ['abcd', 'wt_1']],
  [{ head: 'lab.example' }, ['abcd', 'wt_1']],
  [{ head: 'https://lab.example:5001', fingerprint: 'AB:CD' }, ['AB:CD', 'wt_1']],
  // Whoever has another certificate, or another port, is not given the token.
  [{ head: 'lab.example', fingerprint: 'abce' }, ['abce', null]],
  [{ head: 'lab.example:5002' }, [null, null]],
];

test('[N22] a head that is named has the token that client.yaml has for it, and no other', () => {
  for (const [asked, expected] of ASKED) {
    const place = locateHead(asked, environment);
    assert.ok(place.kind === 'url');
    assert.deepEqual([place.fingerprint, place.token], expected, JSON.stringify(asked));
  }
});

test('the Python package finds the same', { skip }, () => {
  const { found, stderr } = python(ASKED.map(([asked]) => asked));
  assert.equal(stderr, '');
  const tokens = (found as string[][]).map(([, , ...rest]) => rest);
  assert.deepEqual(
    tokens,
    ASKED.map(([, expected]) => expected),
  );
});

test('a token that others may read is warned of, with what to do', { skip }, (t) => {
  assert.equal(exposedToken(locateHead({}, environment)), null);
  t.after(() => chmodSync(token, 0o600));
  chmodSync(token, 0o644);
  const warning = /others may read or change .*\/token, .* \(mode 0644\): chmod 600 \S+\/token$/m;
  assert.match(exposedToken(locateHead({}, environment)) ?? '', warning);
  assert.match(python([{}]).stderr, warning);
});
