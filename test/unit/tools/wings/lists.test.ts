// What is taken out of the lists when wings are deleted, in a made-up house.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { needsOf, withoutProject, withoutWings } from '../../../../tools/wings/lists.ts';

test('a list without wings has none of their imports, exports and entries', () => {
  const list = `// The list.

import type { Wing } from './kernel/wing.ts';
import { tea } from './wings/tea/wing.ts';
import { type Cup, pot as kettle } from './wings/pots/wing.ts';
import './wings/tea/wing.ts';

export { a } from './kernel/a.ts';
export {
  b,
  type C,
} from './wings/tea/c.ts';
export const WINGS: readonly Wing[] = [tea, kettle];
`;
  assert.equal(
    withoutWings(list),
    `// The list.

import type { Wing } from './kernel/wing.ts';

export { a } from './kernel/a.ts';
export const WINGS: readonly Wing[] = [];
`,
  );
});

test('a project without wings names none of their folders, and leaves them out', () => {
  const project = { include: ['**/*.ts', '../../wings/*/page/*.ts'], exclude: ['wings/*/core/*'] };
  assert.deepEqual(JSON.parse(withoutProject(JSON.stringify(project))), {
    include: ['**/*.ts'],
    exclude: ['wings/**'],
  });
});

test('a wing stands with all that it needs, however far down', () => {
  const wings = [
    { name: 'tea', needs: ['pots'] },
    { name: 'pots', needs: ['clay'] },
    { name: 'clay', needs: [] },
    { name: 'milk', needs: [] },
  ];
  assert.deepEqual(needsOf('tea', wings), ['tea', 'pots', 'clay']);
});
