"""Starts the process that runs functions of Python programs; a worker of a pool starts this file.

Run by the user's own interpreter, whatever is installed there: `weft` is that of this very folder.
"""

import os
import sys

_OLDEST = (3, 9)


def _start() -> None:
    if sys.version_info < _OLDEST:
        sys.exit(
            "weft: %s is Python %d.%d; workers need 3.9 or newer" % ((sys.executable,) + sys.version_info[:2])
        )
    here = os.path.dirname(os.path.abspath(__file__))
    own = os.path.dirname(here)
    # Python puts the folder of a script in front: our files would hide modules of the user.
    sys.path[:] = [place for place in sys.path if os.path.abspath(place) != here]
    sys.path.insert(0, own)
    from weft import _child

    sys.path.remove(own)
    sys.path.insert(0, os.getcwd())
    sys.path.append(own)
    _child.main(sys.argv[1])


if __name__ == "__main__":
    _start()
