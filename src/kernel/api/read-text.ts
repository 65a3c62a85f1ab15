// The whole body of an answer as text.

import { unreachableError } from './api-error.ts';
import type { Answer } from './exchange.ts';

/** Rejects with `head.unreachable` when the connection ends before the answer does. */
export function readText(answer: Answer, address: string): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = '';
    answer.setEncoding('utf8');
    answer.on('data', (piece: string) => {
      text += piece;
    });
    answer.on('end', () => resolve(text));
    answer.on('error', (error) => reject(unreachableError(address, error)));
  });
}
