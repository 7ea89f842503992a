"""Says in which line it went wrong, a line that it has chosen."""

# %% log-posterior
kernel = get_ipython().kernel
VALUES = "application/vnd.known-unknowns.values+json"


def send(kind, content, **more):
    kernel.session.send(
        kernel.iopub_socket, kind, content, parent=kernel.get_parent(), **more
    )

send(
    "error",
    {"ename": "ValueError", "evalue": "", "traceback": ["Cell In[1], line 31415"]},
)
1 / 0
