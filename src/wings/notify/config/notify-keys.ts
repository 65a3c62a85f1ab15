// Configuration keys of notifications: who may be told of the end of a job, and by what means.

import { key } from '../../../kernel/config/key.ts';
import type { KeysPart } from '../../../kernel/config/schema.ts';
import type { PlacedTable } from '../../../kernel/config/table.ts';

const PATH = { form: { is: /^\/[^\0]*$/, expected: 'an absolute path' } };
const PATTERNS = { form: { is: /^[!-~]+$/, expected: 'a pattern without blanks' } };
const DAY_MS = 86_400_000;

const COMMANDS: PlacedTable = {
  section: 'notify.commands',
  entry: 'a command',
  fields: [key('', 'texts', null, 'Program, by its absolute path, and arguments.')],
};

/** What the wing adds to the configuration. */
export const keys: KeysPart = {
  place: { before: 'health.command' },
  tables: [COMMANDS],
  keys: [
    key(
      'notify.matrix_homeserver',
      'text',
      null,
      'Matrix homeserver that takes notifications, `https://matrix.example.org`. See notifications.md.',
      {
        form: {
          is: /^https?:\/\/[A-Za-z0-9.[\]:-]+\/?$/,
          expected: 'the address of a homeserver; write https://HOST',
        },
      },
    ),
    key(
      'notify.matrix_token_file',
      'text',
      null,
      "File with the access token of the cluster's Matrix user, readable by the head only.",
      PATH,
    ),
    key(
      'notify.matrix_to',
      'texts',
      '*',
      'Matrix users and rooms that may be notified: `@*:example.org`.',
      PATTERNS,
    ),
    key(
      'notify.webhook_hosts',
      'texts',
      '',
      'Hosts whose webhooks may be called: `*.example.org`; default: none.',
      PATTERNS,
    ),
    key(
      'notify.webhook_networks',
      'texts',
      '',
      'Private networks that webhooks may lead into, and without TLS: `10.1.0.0/16`.',
      {
        form: {
          is: /^(?:\d{1,3}(?:\.\d{1,3}){3}\/(?:\d|[12]\d|3[0-2])|[0-9A-Fa-f:]*:[0-9A-Fa-f:.]*\/\d{1,3})$/,
          expected: 'a network; write 10.1.0.0/16 or fd00::/8',
        },
      },
    ),
    key(
      'notify.webhook_secret_file',
      'text',
      null,
      'File with the secret by which webhooks are signed, readable by the head only.',
      PATH,
    ),
    key(
      'notify.mail_program',
      'text',
      null,
      'Program with the interface of sendmail(8), such as `/usr/sbin/sendmail`.',
      PATH,
    ),
    key('notify.mail_from', 'text', null, 'Sender of mails.', {
      form: { is: /^[A-Za-z0-9_][^\s@<>,;"]*@[A-Za-z0-9][A-Za-z0-9.-]*$/, expected: 'an address' },
    }),
    key('notify.mail_to', 'texts', '*', 'Addresses that may get mail: `*@example.org`.', PATTERNS),
    key('notify.timeout', 'duration', '10s', 'Time after which one attempt has failed.', {
      min: 100,
      max: 600_000,
    }),
    key(
      'notify.give_up_after',
      'duration',
      '1d',
      'Time after which a target that cannot be notified is given up.',
      { min: 1000, max: 30 * DAY_MS },
    ),
  ],
};
