// What npm sets for a program goes no further; what the user has set does.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { forgetNpm } from '../../../src/bin/npm-variables.ts';

const USERS = { HOME: '/h', PATH: '/opt/node_modules/.bin:/usr/bin', npmrc: 'x' };
const GYP = '/usr/lib/node_modules/npm/node_modules/@npmcli/run-script/lib/node-gyp-bin';

/** Environment in which npm 11 runs a program in `/h/weft`. */
function byNpm(event: string, name = 'weft'): NodeJS.ProcessEnv {
  const own = ['/h/weft/node_modules/.bin', '/h/node_modules/.bin', '/node_modules/.bin', GYP];
  return {
    ...USERS,
    PATH: [...own, USERS.PATH].join(':'),
    npm_command: 'exec',
    npm_lifecycle_event: event,
    npm_package_name: name,
    npm_config_cache: '/h/.npm',
    npm_node_execpath: '/usr/bin/node',
    NODE: '/usr/bin/node',
    INIT_CWD: '/h/weft',
    COLOR: '0',
  };
}

function left(environment: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  forgetNpm(environment);
  return environment;
}

test('a program that npx runs has what its user has, and no more', () => {
  assert.deepEqual(left(byNpm('npx')), USERS);
  assert.deepEqual(left(byNpm('npx', 'theirs')), USERS);
});

test('scripts of Weft itself, as `npm start`, have no programs of its packages before the rest', () => {
  assert.deepEqual(left(byNpm('start')), USERS);
});

test("a script of the user's own package finds the programs of that package", () => {
  const { PATH, ...rest } = left(byNpm('sweep', 'theirs'));
  assert.match(PATH ?? '', /^\/h\/weft\/node_modules\/\.bin:/);
  assert.deepEqual({ ...rest, PATH: USERS.PATH }, USERS);
});

test('what a user has set is left where npm does not run the program', () => {
  const own = { ...USERS, npm_config_registry: 'https://r', NODE: '/n', INIT_CWD: '/x' };
  assert.deepEqual(left({ ...own }), own);
  const other = left({ ...byNpm('npx'), NODE: '/n' });
  assert.equal(other['NODE'], '/n');
});
