#!/bin/sh
# `head` or `node`. The head leaves a join token where nodes of the same compose project find it;
# each node exchanges it for a secret of its own, once, and keeps that in its state directory.
# Everything else is configured by environment variables, such as WEFT_NODE_SHARED for node.shared.
set -eu
role="${1:?usage: entrypoint.sh head|node}"
ticket=/run/weft-join/ticket
# Not in the image's environment: there it would be a user's choice of cluster, too.
WEFT_DIR=/var/lib/weft
export WEFT_DIR
umask 022

# Of everybody who may submit. A wrong name is told, and keeps nothing from starting.
/usr/local/sbin/weft-accounts || echo 'entrypoint.sh: not all accounts of WEFT_USERS are there' >&2

# A token lives for a year and is made anew after ten months, at the start of the head.
leave_ticket() {
  [ -z "$(find "$ticket" -mtime -300 2>/dev/null)" ] || return 0
  # The token needs a head that answers; the head itself stays this container's main process.
  until WEFT_DIR= weft token join --label compose --expires 365d > "$ticket.new" 2>/dev/null; do
    sleep 0.2
  done
  chmod 0600 "$ticket.new"
  mv "$ticket.new" "$ticket"
}

case "$role" in
head)
  if [ ! -e "$WEFT_DIR/weft.yaml" ]; then
    rm -f "$ticket" # An earlier head's: this one has another certificate.
    weft init
  fi
  # In parentheses it becomes a child of the container's first process, which reaps it.
  (leave_ticket &)
  exec weft head
  ;;
node)
  if [ ! -e "$WEFT_DIR/membership.json" ]; then
    until [ -s "$ticket" ]; do sleep 0.2; done
    # From standard input: everybody can read the arguments of a program.
    weft join - < "$ticket"
  fi
  exec weft agent
  ;;
*)
  echo "entrypoint.sh: '$role' is neither head nor node" >&2
  exit 2
  ;;
esac
