// Addresses that the configuration names, judged before anything is asked of them.

/** What is wrong with it, in words that do not repeat it; null: nothing. */
export function badAddress(text: string): string | null {
  const url = URL.parse(text);
  if (url === null || (url.protocol !== 'https:' && url.protocol !== 'http:')) {
    return 'this is no address; it begins with https:// or http://';
  }
  if (url.username === '' && url.password === '') return null;
  return 'leave out the user name and the password: everybody may see addresses';
}

/** Whether it stays on this machine. */
export function isLoopbackAddress(text: string): boolean {
  const { hostname } = new URL(text);
  return hostname === 'localhost' || hostname === '[::1]' || /^127(\.\d+){3}$/.test(hostname);
}
