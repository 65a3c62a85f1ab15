// The programs by name, for the files in which a package has them whole. Loading one starts it.

export const PROGRAMS: Readonly<Record<string, () => Promise<unknown>>> = {
  weft: () => import('./weft.ts'),
  cminfo: () => import('./cminfo.ts'),
  cmrun: () => import('./cmrun.ts'),
  cmkill: () => import('./cmkill.ts'),
  cmconfigure: () => import('./cmconfigure.ts'),
  cmdaemon: () => import('./cmdaemon.ts'),
  distribute: () => import('./distribute.ts'),
};
