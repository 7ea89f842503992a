"""Ten cells of the student's own, each of which ends the kernel."""

# %% reparametrise

# %% own
import os

os._exit(0)

# %% own
import os

os._exit(1)

# %% own
import os

os._exit(2)

# %% own
import os

os._exit(3)

# %% own
import os

os._exit(4)

# %% own
import os

os._exit(5)

# %% own
import os

os._exit(6)

# %% own
import os

os._exit(7)

# %% own
import os

os._exit(8)

# %% own
import os

os._exit(9)

# %% log-posterior

# %% log-prior
