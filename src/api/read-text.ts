// The whole body of an answer as text.

import type { IncomingMessage } from 'node:http';
import { unreachableError } from './api-error.ts';

/** Rejects with `head.unreachable` when the connection ends before the answer does. */
export function readText(answer: IncomingMessage, address: string): Promise<string> {
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
