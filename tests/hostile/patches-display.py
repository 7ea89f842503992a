"""Whatever is displayed is displayed twice, and never as it is."""

# %% log-posterior
import IPython.display
from IPython.display import publish_display_data


def twice(data, **kwargs):
    for _ in range(2):
        publish_display_data({kind: {"task": "x", "values": []} for kind in data})


IPython.display.publish_display_data = twice
get_ipython().displayhook = None


def log_posterior(w, mu, rho):
    return 0.0 * (w + mu + rho)
