// Where things are on a machine, for its shell.

export interface Places {
  readonly programs: string;
  readonly state: string;
  readonly link: string;
}

export function placesFor(whose: 'system' | 'user'): Places {
  return whose === 'system'
    ? { programs: '/opt/weft', state: '/var/lib/weft/node', link: '/usr/local/bin/weft' }
    : {
        programs: '$HOME/.local/share/weft',
        state: '$HOME/.local/state/weft-node',
        link: '$HOME/.local/bin/weft',
      };
}
