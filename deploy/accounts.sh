#!/bin/sh
# Makes accounts with their home directories: those of WEFT_USERS, those named here, and those whose
# home is there already. `anna` or `anna:2001`. Run as root, through weft-accounts.
# Every container makes the same uid of the same name, so that nothing has to be shared for it.
set -eu
umask 022

# Homes in the shared /home outlive their containers: uid and name are found again.
homes() {
  for home in /home/*; do
    [ -d "$home" ] && [ ! -L "$home" ] || continue
    uid=$(stat -c %u "$home")
    if [ "$uid" -ge 1000 ]; then echo "${home#/home/}:$uid"; fi
  done
}

add() {
  name=${1%%:*}
  uid=${1#"$name"}
  uid=${uid#:}
  case "$name" in
  '' | [!a-z_]* | *[!a-z0-9_-]*)
    echo "weft-accounts: '$name' is not a login name; use a-z, 0-9, _ and -" >&2
    return 1
    ;;
  esac
  if ! grep -q "^$name:" /etc/passwd; then
    if [ -z "$uid" ]; then uid=$((10000 + 0x$(printf %s "$name" | sha256sum | cut -c 1-7) % 50000)); fi
    case "$uid" in
    0* | *[!0-9]* | ? | ?? | ???)
      echo "weft-accounts: '$uid' is not a uid of a user; use a number from 1000" >&2
      return 1
      ;;
    esac
    if grep -q "^[^:]*:[^:]*:$uid:" /etc/passwd; then
      echo "weft-accounts: uid $uid of $name is taken; write $name:UID with another" >&2
      return 1
    fi
    shell=/bin/sh
    if [ -x /bin/bash ]; then shell=/bin/bash; fi
    echo "$name:x:$uid:" >> /etc/group
    if [ -e /etc/shadow ]; then echo "$name:!:1::::::" >> /etc/shadow; fi
    echo "$name:x:$uid:$uid::/home/$name:$shell" >> /etc/passwd
  fi
  # Never what somebody else has made there.
  if [ ! -e "/home/$name" ]; then
    mkdir -m 0700 "/home/$name"
    chown "$(id -u "$name"):$(id -g "$name")" "/home/$name"
  fi
}

# Two runs at once may write a line twice, which is the same account: names decide the uids.
failed=0
for account in weft $(homes) ${WEFT_USERS:-} "$@"; do add "$account" || failed=1; done
exit "$failed"
