// Server-sent events out of pieces of text (WHATWG HTML, section 9.2), as far as a head writes
// them.

export interface StreamEvent {
  /** Number of the record; a reader that is cut off goes on after it. */
  readonly id: string | null;
  readonly data: string;
}

/** Takes text as it comes, and gives whole events. */
export class EventReader {
  #rest = '';

  push(text: string): StreamEvent[] {
    const blocks = (this.#rest + text).split('\n\n');
    this.#rest = blocks.pop() ?? '';
    return blocks.map(readBlock);
  }
}

function readBlock(block: string): StreamEvent {
  let id: string | null = null;
  const data: string[] = [];
  for (const line of block.split('\n')) {
    if (line.startsWith('id: ')) id = line.slice(4);
    else if (line.startsWith('data: ')) data.push(line.slice(6));
  }
  return { id, data: data.join('\n') };
}
