// Which gpus a submission asks for, from the options that say it.

import { formatSize } from '../../base/size.ts';
import type { GpuKind } from '../../model/cards.ts';
import { isSliceType, parseGpuTypes, readGpus } from '../../model/gpu-wish.ts';
import { MEMORY_PER_NODE_MAX } from '../../model/limits.ts';
import type { Submission } from '../../model/submission.ts';
import { whole, wrong } from './wrong.ts';

interface Asked {
  readonly count: number;
  /** Null: any whole ones. */
  readonly kind: GpuKind | null;
}

/** `countDefault`: of jobs that say nothing of gpus. */
export function askedGpus(wish: Submission, countDefault: number): Asked {
  const types = typesOf(wish);
  const memoryBytesMin = bytesOf('--gpu-memory', wish.gpuMemoryBytes);
  const shareBytes = bytesOf('--gpu-share', wish.gpuShareBytes);
  const isJoined = wish.gpuLinks === 'nvlink';
  const isAny = types === null && memoryBytesMin === null && shareBytes === null && !isJoined;
  const count = countOf(wish) ?? (isAny ? countDefault : Math.max(1, countDefault));
  if (isAny) return { count, kind: null };
  if (count === 0) {
    wrong('the job asks for 0 gpus and says which; leave --gpus out, or what says which gpus');
  }
  if (shareBytes !== null && wish.exclusive === true) {
    wrong('a job with whole nodes has their gpus whole; leave --gpu-share or --exclusive out');
  }
  if (isJoined && wish.exclusive === true) {
    wrong(
      'a job with whole nodes has all of their gpus, joined or not; leave --gpu-links or --exclusive out',
    );
  }
  const kind = { types, memoryBytesMin, shareBytes };
  return { count, kind: isJoined ? joined(count, kind) : kind };
}

/** Only what may be joined is. */
function joined(count: number, kind: GpuKind): GpuKind {
  const slice = kind.types?.find(isSliceType);
  if (slice !== undefined) {
    wrong(`${slice} is a slice of a gpu, which is joined with nothing; leave --gpu-links out`);
  }
  if (kind.shareBytes !== null) {
    wrong('a job with gpus that are joined has them whole; leave --gpu-share or --gpu-links out');
  }
  if (count < 2) {
    wrong(
      'one gpu is joined with nothing; ask for 2 or more with --gpus, or leave --gpu-links out',
    );
  }
  return { ...kind, links: 'nvlink' };
}

function countOf({ gpuCount }: Submission): number | null {
  return gpuCount === undefined ? null : readWish(gpuCount).count;
}

function readWish(wish: NonNullable<Submission['gpuCount']>) {
  const asked = readGpus(wish);
  return asked.ok ? asked.value : wrong(`gpus: ${asked.error}`);
}

/** Null: any. */
function typesOf({ gpuCount, gpuTypes = [] }: Submission): readonly string[] | null {
  const own = gpuCount === undefined ? null : readWish(gpuCount).type;
  const read = gpuTypes.length === 0 ? null : parseGpuTypes(gpuTypes.join('|'));
  if (read !== null && !read.ok) return wrong(`gpu types: ${read.error}`);
  const others = read?.value ?? [];
  if (own !== null && others.length > 0 && !(others.length === 1 && others[0] === own)) {
    wrong(`--gpus names the type ${own} and --gpu-type ${others.join('|')}; leave one out`);
  }
  const types = own === null ? others : [own];
  const slices = types.filter(isSliceType);
  if (slices.length > 0 && slices.length < types.length) {
    const others = types.filter((type) => !isSliceType(type));
    wrong(
      `${slices.join(', ')} are slices of gpus and ${others.join(', ')} are whole ones; ask for either`,
    );
  }
  return types.length === 0 ? null : types;
}

/** 0 is as not said. */
function bytesOf(flag: string, bytes: number | undefined): number | null {
  if (bytes === undefined || bytes === 0) return null;
  whole(`${flag} in bytes`, bytes, 0, MEMORY_PER_NODE_MAX);
  if (bytes < 1_048_576) {
    wrong(`${flag} ${formatSize(bytes)} bytes is too little for any program; is the unit missing?`);
  }
  return bytes;
}
