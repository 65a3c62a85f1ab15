// What happens to users, their tokens and their usage.

import type { Role } from '../../model/actor.ts';
import type { OwnCaps } from '../../model/caps.ts';
import type { NodeName, UserName } from '../../model/ids.ts';
import type { BillingWeights } from '../../model/scheduling.ts';

export type UserEvent =
  /** The site's rule for fading usage is another from here on. */
  | { readonly kind: 'half_life_changed'; readonly halfLifeMs: number }
  /** And what it counts. */
  | { readonly kind: 'billing_changed'; readonly weights: BillingWeights }
  /** Their usage has faded, and nothing of theirs is left. */
  | { readonly kind: 'usage_forgotten'; readonly users: readonly UserName[] }
  | {
      readonly kind: 'user_set';
      readonly user: UserName;
      readonly role: Role;
      /** Absent: none. */
      readonly groups?: readonly string[];
      /** Absent: as others. */
      readonly filesBytesMax?: number;
      /** Absent: as others. */
      readonly caps?: OwnCaps;
      readonly by: string;
    }
  | { readonly kind: 'user_removed'; readonly user: UserName; readonly by: string }
  | {
      readonly kind: 'token_created';
      readonly tokenId: string;
      readonly hash: string;
      readonly purpose: 'user' | 'join';
      readonly user: UserName;
      readonly label: string;
      readonly expiresAt: number | null;
      /** Absent: of no node's word. */
      readonly through?: NodeName;
      readonly by: string;
    }
  | { readonly kind: 'token_revoked'; readonly tokenId: string; readonly by: string };
