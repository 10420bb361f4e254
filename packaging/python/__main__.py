"""`python -m tabwire` runs the program."""

import os
import sys

from tabwire import program_path

os.execv(program_path(), ["tabwire", *sys.argv[1:]])
