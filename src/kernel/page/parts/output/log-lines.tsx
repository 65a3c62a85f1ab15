// Lines of output; each piece is text, whatever is in it.

import type { LogLine } from '../../pure/log-text.ts';
import { some } from '../../pure/words.ts';

export function LogLines({ lines }: { lines: readonly LogLine[] }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by the keyboard
    <pre class="log" tabIndex={0}>
      {lines.map(({ pieces, cut }, at) => (
        <div key={at} class="row">
          {pieces.map(({ text, look }) => (look === '' ? text : <span class={look}>{text}</span>))}
          {cut > 0 && <em> … {some(cut, 'character')} more; the download has all</em>}
        </div>
      ))}
    </pre>
  );
}
