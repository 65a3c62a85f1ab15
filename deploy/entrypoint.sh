#!/bin/sh
# `head` or `node`. The head leaves a join token where nodes of the same compose project find it;
# each node exchanges it for a secret of its own, once, and keeps that in its state directory.
set -eu
role="${1:?usage: entrypoint.sh head|node}"
ticket=/run/weft-join/ticket

case "$role" in
head)
  [ -e "$WEFT_DIR/weft.yaml" ] || weft init --listen 0.0.0.0:5001 --names "${WEFT_HEAD_NAME:-head}"
  rm -f "$ticket"
  # The token needs a head that answers; the head itself stays this container's main process.
  (
    until weft token join --expires 365d > "$ticket.new" 2>/dev/null; do sleep 0.2; done
    mv "$ticket.new" "$ticket"
  ) &
  exec weft head
  ;;
node)
  if [ ! -e "$WEFT_DIR/joined" ]; then
    until [ -s "$ticket" ]; do sleep 0.2; done
    weft join "$(cat "$ticket")" ${WEFT_SHARED:+--shared "$WEFT_SHARED"} \
      ${WEFT_CPUS:+--cpus "$WEFT_CPUS"} ${WEFT_MEMORY:+--memory "$WEFT_MEMORY"}
    : > "$WEFT_DIR/joined"
  fi
  exec weft agent
  ;;
*)
  echo "entrypoint.sh: '$role' is neither head nor node" >&2
  exit 2
  ;;
esac
