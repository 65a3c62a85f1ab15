// The frame of all pages: where one can go, how the line to the head is, and who one is.

import { useEffect, useRef, useState } from 'preact/hooks';
import { asSentence } from '../base/sentence.ts';
import { certificateWords } from '../model/certificate-words.ts';
import { now } from './data/clock.ts';
import { type LiveEvent, line } from './data/live.ts';
import { logOut, switched } from './data/login.ts';
import { useCall } from './data/query.ts';
import { hrefOf, place } from './data/route.ts';
import { me } from './data/session.ts';
import { pagesWith } from './pages/pages.tsx';
import type { Elsewhere, Page, PagePart } from './part.ts';
import { forgetTold, ToldLine } from './parts/actions.tsx';
import { Added } from './parts/added.ts';
import { Empty } from './parts/basic.tsx';
import { spanWords, zoneName } from './pure/words.ts';

/** Not everybody is told of all that happens to a head. */
const HEAD_MS = 30_000;
const TOGETHER_MS = 2000;
/** A head learns that it is behind from a node that connects. */
const ofHead = ({ kind }: LiveEvent): boolean => /^head_|^clock_|^node_connected$/.test(kind);

export function Shell({ parts: added }: { parts: readonly PagePart[] }) {
  const { parts } = place.value;
  const [first = '', ...rest] = parts;
  const pages = pagesWith(added.flatMap((part) => part.pages ?? []));
  const others = added.flatMap(({ elsewhere }) => elsewhere ?? []);
  const page = pages.find(({ path }) => path === first);
  const info = useCall('info', {}, { when: ofHead, everyMs: HEAD_MS, togetherMs: TOGETHER_MS });
  const cluster = info.value?.clusterName ?? 'Weft';
  const title = rest.length > 0 ? rest.join(' ') : (page?.title ?? 'Not found');
  useEffect(() => {
    document.title = `${title} – ${cluster}`;
  }, [title, cluster]);
  useView(parts.join('/'));
  return (
    <div class="shell">
      <button type="button" class="skip" onClick={skip}>
        To the content
      </button>
      <header class="top">
        <a class="brand" href={hrefOf([])}>
          {cluster}
        </a>
        <Menu
          pages={pages.filter(({ isApart }) => isApart !== true)}
          others={others}
          first={first}
          title={page?.title ?? 'Pages'}
        />
        <Line />
        <Who />
      </header>
      <SwitchLine />
      <HeadLine what="Stuck" words={info.value?.obstacle ?? null} />
      <HeadLine what="Behind" words={info.value?.behind ?? null} />
      <HeadLine
        what="Certificate"
        words={certificateWords(info.value?.head.certificateUntil, now.value)}
      />
      <ClockLine steps={info.value?.clockSteps ?? []} />
      {added.map(({ Banner }) => Banner && <Banner key={Banner} />)}
      <main id="content" tabIndex={-1}>
        {page === undefined ? (
          <Empty>
            <h1>There is no such page</h1> <a href={hrefOf([])}>To the overview</a>
          </Empty>
        ) : (
          <Added.Provider value={added}>{page.show(rest)}</Added.Provider>
        )}
      </main>
      <ToldLine />
    </div>
  );
}

/** Where one is, for whoever comes to another view: its top, and its heading read aloud. */
function useView(address: string): void {
  const before = useRef(address);
  useEffect(() => {
    forgetTold();
    document.getElementById('content')?.scrollTo(0, 0);
    if (before.current === address) return undefined;
    before.current = address;
    return focusHeading();
  }, [address]);
}

interface MenuOf {
  readonly pages: readonly Page[];
  readonly others: readonly Elsewhere[];
  readonly first: string;
  readonly title: string;
}

/** In a row, or behind a button where there is no room for a row. */
function Menu({ pages, others, first, title }: MenuOf) {
  const [isOpen, setOpen] = useState(false);
  useEffect(() => setOpen(false), [place.value]);
  const close = (event: KeyboardEvent): void => {
    if (event.key === 'Escape') setOpen(false);
  };
  return (
    <>
      <button
        type="button"
        class="menu"
        aria-expanded={isOpen}
        aria-controls="pages"
        onClick={() => setOpen(!isOpen)}
      >
        <span aria-hidden="true">{isOpen ? '▴' : '▾'}</span> Menu: {title}
      </button>
      <nav id="pages" aria-label="Pages" class={isOpen ? 'open' : ''} onKeyDown={close}>
        {pages.map(({ path, title: name }) => (
          <a key={path} href={hrefOf([path])} aria-current={path === first ? 'page' : undefined}>
            {name}
          </a>
        ))}
        {others.map(({ title: name, href }) => (
          <a key={href} href={href}>
            {name}
          </a>
        ))}
      </nav>
    </>
  );
}

function skip(): void {
  document.getElementById('content')?.focus();
}

/** What cannot be reached, and what holds the line and says nothing on it. */
const CUT = { lost: 'head away for', silent: 'head silent for' } as const;

function Line() {
  const how = line.value;
  const words =
    'since' in how
      ? `${CUT[how.kind]} ${spanWords(Math.max(0, now.value - how.since))}`
      : how.kind === 'live'
        ? 'live'
        : 'connecting';
  return (
    <span
      class={`line ${'since' in how ? 'lost' : how.kind}`}
      role="status"
      title="Whether this page hears of what happens"
    >
      {words}
    </span>
  );
}

function Who() {
  const who = me.value;
  return (
    <div class="who">
      <span class="spare faint" title="Times are in your zone">
        {zoneName(now.value)}
      </span>
      <span title={`role ${who?.role}`}>
        {who?.name}
        {who?.role === 'user' ? '' : ` (${who?.role})`}
      </span>
      <button type="button" onClick={() => void logOut()}>
        Log out
      </button>
    </div>
  );
}

/** Stays until it is closed: it must not be overlooked. */
function SwitchLine() {
  const words = switched.value;
  if (words === null) return null;
  const close = (): void => {
    switched.value = null;
  };
  return (
    <p class="notice" role="alert">
      {words}{' '}
      <button type="button" onClick={close}>
        Close
      </button>
    </p>
  );
}

/** As long as the head lacks records, or can write none: whatever else the page shows may be old. */
function HeadLine({ what, words }: { what: string; words: string | null }) {
  if (words === null) return null;
  return (
    <p class="notice bad" role="alert">
      <strong>{what}:</strong> {asSentence(words)}
    </p>
  );
}

/** How long a set clock is mentioned: the next day people still want to know. */
const CLOCK_TOLD_MS = 86_400_000;

function ClockLine({ steps }: { steps: readonly { at: number; byMs: number }[] }) {
  const last = steps.at(-1);
  if (last === undefined || now.value - last.at > CLOCK_TOLD_MS) return null;
  const way = last.byMs < 0 ? 'back' : 'forward';
  return (
    <p class="notice">
      <strong>Clock:</strong> that of the head was set {way} by {spanWords(Math.abs(last.byMs))},{' '}
      {spanWords(Math.max(0, now.value - last.at))} ago.
    </p>
  );
}

/** Now, or with the next heading, unless the reader has gone elsewhere. Returns how to stop. */
function focusHeading(): () => void {
  const content = document.getElementById('content');
  if (content === null) return () => undefined;
  content.focus({ preventScroll: true });
  const watch = new MutationObserver(() => look());
  const look = (): boolean => {
    const { activeElement } = document;
    const isElsewhere = activeElement !== content && activeElement !== document.body;
    const heading = content.querySelector<HTMLElement>('h1');
    if (isElsewhere || heading !== null) watch.disconnect();
    if (isElsewhere || heading === null) return false;
    heading.tabIndex = -1;
    heading.focus({ preventScroll: true });
    return true;
  };
  if (!look()) watch.observe(content, { childList: true, subtree: true });
  return () => watch.disconnect();
}
