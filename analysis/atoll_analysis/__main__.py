"""`python3 -m atoll_analysis OUT.h5` is `atoll-report OUT.h5`."""

import sys

from atoll_analysis.cli import main

sys.exit(main())
