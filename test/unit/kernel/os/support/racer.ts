// One of two processes that race for a claim: told a path it claims it, told `release` it lets go.

import { claim } from '../../../../../src/kernel/os/claim.ts';

let claimed: { release(): void } | null = null;

function answer(word: string): string {
  if (word === 'ready') return word;
  if (word === 'release') {
    claimed?.release();
    claimed = null;
    return word;
  }
  try {
    claimed = claim(word, 'it');
    return 'won';
  } catch (error) {
    return (error as Error).message;
  }
}

process.on('message', (word: string) => process.send?.(answer(word)));
