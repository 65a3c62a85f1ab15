// Standard input of a site's jobs: a named pipe ends at its machine, so that what a client sends is
// written to a file that the site's nodes share, and a job's script reads it as it grows
// (fabric/site/script.ts).

import {
  closeSync,
  constants,
  fchownSync,
  fstatSync,
  openSync,
  readSync,
  rmSync,
  writeSync,
} from 'node:fs';
import { open } from 'node:fs/promises';
import type { FeedPipe, Pipes } from '../../../kernel/ports/pipes.ts';
import { INPUT_HEAD_BYTES, inputHead, parseInputHead } from '../ports/input-file.ts';

const { O_CREAT, O_NOFOLLOW, O_RDWR, O_TRUNC } = constants;

export const inputFiles: Pipes = {
  make(path, owner) {
    const file = openSync(path, O_CREAT | O_TRUNC | O_RDWR | O_NOFOLLOW, 0o600);
    try {
      if (owner !== null) fchownSync(file, owner.uid, owner.gid);
      writeSync(file, inputHead(null));
    } finally {
      closeSync(file);
    }
    return Promise.resolve(inputFile(path, 0));
  },
  resume(path) {
    const file = openSync(path, O_RDWR | O_NOFOLLOW);
    try {
      const head = Buffer.alloc(INPUT_HEAD_BYTES);
      readSync(file, head, 0, INPUT_HEAD_BYTES, 0);
      const all = parseInputHead(head.toString());
      const bytes = all ?? Math.max(0, fstatSync(file).size - INPUT_HEAD_BYTES);
      return { pipe: inputFile(path, bytes), bytes, isEnded: all !== null };
    } finally {
      closeSync(file);
    }
  },
};

/** @param written bytes of input that the file has */
function inputFile(path: string, written: number): FeedPipe {
  let at = written;
  const put = async (bytes: Uint8Array, position: number): Promise<void> => {
    const file = await open(path, O_RDWR | O_NOFOLLOW);
    try {
      for (let done = 0; done < bytes.length; ) {
        const rest = bytes.subarray(done);
        done += (await file.write(rest, 0, rest.length, position + done)).bytesWritten;
      }
      // Other machines see on their file server what is there, not what this one keeps.
      await file.datasync();
    } finally {
      await file.close();
    }
  };
  return {
    async write(bytes) {
      await put(bytes, INPUT_HEAD_BYTES + at);
      at += bytes.length;
    },
    end: () => put(Buffer.from(inputHead(at)), 0),
    remove: () => rmSync(path, { force: true }),
  };
}
