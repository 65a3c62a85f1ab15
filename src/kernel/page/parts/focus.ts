// Where the keyboard goes on after a change of view: at the heading of what is new, as after a page
// that was loaded.

/**
 * Now, or as soon as there is a heading, unless the reader has gone elsewhere meanwhile. Returns
 * how to stop.
 */
export function focusHeading(): () => void {
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
