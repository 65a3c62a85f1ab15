"""The module under its old name, so that scripts written for distribute go on as they are."""

from weft_batch import *  # noqa: F401,F403
from weft_batch import __all__  # noqa: F401
