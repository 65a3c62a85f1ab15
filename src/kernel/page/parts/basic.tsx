// Small parts that every page uses: words of state, times, errors, empty places, text to copy.

import type { ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { HeadError } from '../data/client.ts';
import { now } from '../data/clock.ts';
import type { Answered } from '../data/query.ts';
import { type NodeWord, nodeTone, type Tone, toneOf } from '../pure/state.ts';
import { fullInstant, instantWords, plainWord, spanWords } from '../pure/words.ts';

const COPIED_MS = 1500;

export function State({ word }: { word: string }) {
  return <span class={`state ${toneOf(word)}`}>{plainWord(word)}</span>;
}

export function NodeState({ word }: { word: NodeWord }) {
  return <span class={`state ${nodeTone(word)}`}>{word}</span>;
}

export function Time({ at, none = '' }: { at: number | null; none?: string }) {
  if (at === null) return <span class="faint">{none}</span>;
  return (
    <time dateTime={new Date(at).toISOString()} title={fullInstant(at)}>
      {instantWords(at, now.value)}
    </time>
  );
}

/** From then until the end, or until now and growing. */
export function Span({ from, until }: { from: number | null; until: number | null }) {
  if (from === null) return <span class="faint">–</span>;
  return <span class="number">{spanWords((until ?? now.value) - from)}</span>;
}

export function Problem({ error, again }: { error: HeadError | null; again?: () => void }) {
  if (error === null) return null;
  return (
    <div class="problem" role="alert">
      <strong>{error.message}</strong> {error.hint}
      {again && (
        <button type="button" onClick={again}>
          Try again
        </button>
      )}
    </div>
  );
}

export function Empty({ children }: { children: ComponentChildren }) {
  return <div class="empty">{children}</div>;
}

/** What an answer shows: nothing yet, its error, or what is made of it. */
export function Loaded<T>({
  answer,
  children,
}: {
  answer: Answered<T>;
  children: (value: T) => ComponentChildren;
}) {
  const { value, error, again } = answer;
  return (
    <>
      <Problem error={error} again={again} />
      {value === null ? error === null && <p class="loading">Loading…</p> : children(value)}
    </>
  );
}

/** A command, as it is typed, with a button that copies it. */
export function Command({ text, label = 'the command' }: { text: string; label?: string }) {
  return (
    <span class="command">
      <code>{text}</code>
      <CopyButton text={text} label={`${label}: ${text}`} />
    </span>
  );
}

export function CopyButton({ text, label }: { text: string; label: string }) {
  const [isCopied, setCopied] = useState(false);
  useEffect(() => {
    if (!isCopied) return undefined;
    const timer = setTimeout(() => setCopied(false), COPIED_MS);
    return () => clearTimeout(timer);
  }, [isCopied]);
  const copy = async (): Promise<void> => {
    await copyText(text);
    setCopied(true);
  };
  return (
    <button
      type="button"
      class="copy"
      title={`copy ${label}`}
      aria-label={`copy ${label}`}
      onClick={() => void copy()}
    >
      {isCopied ? 'copied' : 'copy'}
    </button>
  );
}

async function copyText(text: string): Promise<void> {
  // Pages without TLS on another host than this one have no clipboard.
  if (navigator.clipboard !== undefined) return navigator.clipboard.writeText(text);
  const area = document.createElement('textarea');
  area.value = text;
  document.body.append(area);
  area.select();
  document.execCommand('copy');
  area.remove();
}

export function Panel({
  title,
  children,
  aside,
  wide,
}: {
  title: string;
  children: ComponentChildren;
  aside?: ComponentChildren;
  wide?: boolean;
}) {
  return (
    <section class={wide === true ? 'panel wide' : 'panel'} aria-label={title}>
      <header>
        <h2>{title}</h2>
        {aside}
      </header>
      {children}
    </section>
  );
}

/** How much of something is taken, with its words. */
export function Bar({
  part,
  whole,
  label,
  tone = 'run',
}: {
  part: number;
  whole: number;
  label: string;
  tone?: Tone;
}) {
  const share = whole === 0 ? 0 : Math.min(1, part / whole);
  return (
    <span class="bar" role="img" aria-label={label} title={label}>
      <span class={tone} style={{ width: `${share * 100}%` }} />
    </span>
  );
}

/** A question before something is done, over the page. */
export function Dialog({
  title,
  children,
  onClose,
}: {
  title: string;
  children: ComponentChildren;
  onClose: () => void;
}) {
  const box = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    const before = document.activeElement;
    box.current?.showModal();
    // Not on what would do it: whoever presses Enter twice has not read the question.
    box.current?.querySelector<HTMLElement>('.leave')?.focus();
    return () => {
      if (before instanceof HTMLElement && before.isConnected) before.focus();
    };
  }, []);
  return (
    <dialog ref={box} aria-label={title} onClose={onClose}>
      <h2>{title}</h2>
      {children}
    </dialog>
  );
}

/** Narrows down what is shown, while one types. */
export function SearchField({
  text,
  hint = '',
  onText,
}: {
  text: string;
  hint?: string;
  onText: (text: string) => void;
}) {
  return (
    <label class="grow">
      Search
      <input
        type="search"
        value={text}
        placeholder={hint}
        onInput={(event) => onText(event.currentTarget.value)}
      />
    </label>
  );
}
