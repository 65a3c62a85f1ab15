// Buttons that change something: each says the command that does the same, tells what came of it,
// and asks first where something is lost.

import { signal } from '@preact/signals';
import { useEffect, useState } from 'preact/hooks';
import { HeadError } from '../data/client.ts';
import { Command, Dialog } from './basic.tsx';

export interface Action {
  readonly label: string;
  /** The same for a shell. */
  readonly command: string;
  /** Words of what came of it. Throws `HeadError`. */
  readonly run: () => Promise<string>;
  /** What is lost by it. */
  readonly warning?: string;
  /** What is asked before it is done, by name: `Cancel job 204 solver of anna?` Absent: the label. */
  readonly question?: string;
  /** The things it is about, where the question has only their number. */
  readonly about?: readonly string[];
  /** The two answers. A button `Cancel` beside one `Back` would be either. */
  readonly agree?: string;
  readonly leave?: string;
  readonly isBad?: boolean;
}

/** How long the notice of a success stays over the page; a failure's stays until closed. */
const TOLD_MS = 12_000;

/** What came of the last action; said aloud by screen readers. */
export const told = signal<ActionNotice | null>(null);

interface ActionNotice {
  readonly words: string;
  readonly isBad: boolean;
  /** Where it was told: an action may lead to another page. */
  readonly address: string;
}

/** What was told elsewhere is old. */
export function forgetTold(): void {
  if (told.value?.address !== location.hash) told.value = null;
}

export function Actions({ actions }: { actions: readonly Action[] }) {
  const [asked, setAsked] = useState<Action | null>(null);
  if (actions.length === 0) return null;
  return (
    <div class="actions">
      {actions.map((action) => (
        <button
          type="button"
          key={action.label}
          class={action.isBad === true ? 'bad' : ''}
          title={action.command}
          onClick={() => setAsked(action)}
        >
          {action.label}
        </button>
      ))}
      {asked && <Ask action={asked} onClose={() => setAsked(null)} />}
    </div>
  );
}

function Ask({ action, onClose }: { action: Action; onClose: () => void }) {
  const { label, command, warning, question, about = [], agree, leave, isBad } = action;
  const act = (): void => {
    onClose();
    void perform(action);
  };
  return (
    <Dialog title={question ?? `${label}?`} onClose={onClose}>
      {about.length > 0 && (
        <ul class="about">
          {about.map((words) => (
            <li key={words}>
              <bdi>{words}</bdi>
            </li>
          ))}
        </ul>
      )}
      {warning && <p>{warning}</p>}
      <p>
        The same in a shell: <Command text={command} />
      </p>
      <div class="actions end">
        <button type="button" class="leave" onClick={onClose}>
          {leave ?? 'Leave it'}
        </button>
        <button type="button" class={isBad === true ? 'main bad' : 'main'} onClick={act}>
          {agree ?? label}
        </button>
      </div>
    </Dialog>
  );
}

/** Does it and says what came of it. */
export async function perform({ run }: Pick<Action, 'run'>): Promise<boolean> {
  try {
    tell(await run(), 'good');
    return true;
  } catch (error) {
    if (!(error instanceof HeadError)) throw error;
    tell(`${error.message} ${error.hint ?? ''}`.trim(), 'bad');
    return false;
  }
}

function tell(words: string, news: 'good' | 'bad'): void {
  told.value = { words, isBad: news === 'bad', address: location.hash };
}

export function ToldLine() {
  const what = told.value;
  useEffect(() => {
    if (what === null || what.isBad) return undefined;
    const timer = setTimeout(() => {
      if (told.value === what) told.value = null;
    }, TOLD_MS);
    return () => clearTimeout(timer);
  }, [what]);
  return (
    <div class="toasts" role="status">
      {what && (
        <div class={what.isBad ? 'told bad' : 'told'}>
          {what.words}
          <button type="button" onClick={() => (told.value = null)}>
            Close
          </button>
        </div>
      )}
    </div>
  );
}
