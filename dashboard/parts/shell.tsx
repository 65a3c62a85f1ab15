// The frame of all pages.

import { logOut } from '../data/login.ts';
import { useCall } from '../data/query.ts';
import { me } from '../data/session.ts';

export function Shell() {
  const info = useCall('info');
  return (
    <main>
      <h1>{info.value?.clusterName ?? 'Weft'}</h1>
      <p>{me.value?.name}</p>
      <button type="button" onClick={() => void logOut()}>
        Log out
      </button>
    </main>
  );
}
